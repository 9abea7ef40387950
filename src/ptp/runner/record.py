"""Recording anybody's own loop: a wrapper around one environment, or around a vector of them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, SupportsFloat

import gymnasium
import msgspec
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv, VectorWrapper
from gymnasium.vector.utils import iterate

from ptp.config import RunConfig
from ptp.errors import UsageError
from ptp.records import RunResult, WorldSpec
from ptp.runner.lane import Lane, settings
from ptp.sinks import Sink
from ptp.worlds import Outcome, World
from ptp.worlds.registry import GYMNASIUM, WORLDS, find_world, world_class
from ptp.worlds.spaces import describe

Env = gymnasium.Env[Any, Any]


class Record(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Records everything that a loop does with an environment, as a run like any other.

    The environment behaves exactly as it does without: a reset that is given no seed goes on with the environment's
    own dice. Only if it never got one, it is given one, so that the run can be replayed.
    """

    def __init__(
        self,
        env: Env,
        *,
        data_dir: str | Path = "var",
        agent: str = "loop",
        world: str | None = None,
        seed: int | None = None,
        config: RunConfig | None = None,
        sinks: Sequence[Sink] = (),
    ) -> None:
        """Begin a run; *world* names the environment for replays, where Gymnasium can't make it again by itself."""
        super().__init__(env)
        self._lane = Lane(_world_around(env, world), settings(config, data_dir, seed), agent=agent, sinks=sinks)
        self._seeded = False

    @property
    def run_id(self) -> str:
        """The id of the run."""
        return self._lane.run.run_id

    @property
    def run_directory(self) -> Path:
        """Where the run is kept."""
        return self._lane.run.path

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset the environment and begin an episode."""
        given = seed
        if seed is None and not self._seeded:
            given = self._lane.play.next_seed()
        self._seeded = True
        observation, info = self.env.reset(seed=given, options=options)
        self._lane.play.world.info = info
        self._lane.began(observation, given, options)
        return observation, info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Step the environment."""
        lane = self._lane
        lane.before_step()
        observation, reward, terminated, truncated, info = self.env.step(action)
        lane.stepped(action, Outcome(observation, float(reward), bool(terminated), bool(truncated), info))
        return observation, reward, terminated, truncated, info

    def log(self, values: Mapping[str, float]) -> None:
        """Keep measurements of the loop at the present tick, such as its loss."""
        self._lane.log(dict(values))

    def close(self) -> None:
        """End the run and close the environment."""
        self._lane.close()
        super().close()

    @property
    def result(self) -> RunResult | None:
        """How the run ended, once it has."""
        return self._lane.result


class RecordVector(VectorWrapper):
    """Records a vector of environments: one run for each, all in one group."""

    def __init__(
        self,
        env: VectorEnv[Any, Any, Any],
        *,
        data_dir: str | Path = "var",
        agent: str = "loop",
        world: str | None = None,
        seed: int | None = None,
        config: RunConfig | None = None,
        sinks: Sequence[Sink] = (),
    ) -> None:
        """Begin a run for each environment."""
        super().__init__(env)
        base = env.unwrapped
        if not isinstance(base, SyncVectorEnv | AsyncVectorEnv):
            raise UsageError(
                f"{type(base).__name__} plays all its environments with shared dice, so none could be replayed alone; "
                'make it with vectorization_mode="sync" or "async"'
            )
        self._mode = AutoresetMode(env.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP))
        self._seeded = False
        self._lanes: list[Lane] = []
        for single in _singles(base):
            group = self._lanes[0].run.run_id if self._lanes else None
            chosen = settings(config, data_dir, None if seed is None else seed + len(self._lanes))
            lane_world = _world_around(single, world)
            if isinstance(base, AsyncVectorEnv):  # its picture is in another process; the tape can draw it
                lane_world.facts = msgspec.structs.replace(lane_world.facts, render_mode=None)
            self._lanes.append(Lane(lane_world, chosen, agent=agent, sinks=sinks, group=group))

    @property
    def run_ids(self) -> list[str]:
        """The ids of the runs, one for each environment."""
        return [lane.run.run_id for lane in self._lanes]

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset the environments, all or those that `options["reset_mask"]` names."""
        seeds = self._seeds(seed)
        given: Any = seeds if any(it is not None for it in seeds) else None
        observations, infos = self.env.reset(seed=given, options=options)
        mask = (options or {}).get("reset_mask")
        kept = {name: value for name, value in (options or {}).items() if name != "reset_mask"} or None
        for place, observation in enumerate(iterate(self.observation_space, observations)):
            if mask is None or mask[place]:
                self._begin(place, observation, seeds[place], kept, _info_of(infos, place))
        return observations, infos

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        """Return the seed of each environment; the first reset gives one to those that have none."""
        lanes = self._lanes
        seeds: list[int | None] = (
            [None if seed is None else seed + place for place in range(len(lanes))]
            if seed is None or isinstance(seed, int)
            else list(seed)
        )
        if not self._seeded:
            seeds = [lane.play.next_seed() if it is None else it for lane, it in zip(lanes, seeds, strict=True)]
        self._seeded = True
        return seeds

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step every environment."""
        for lane in self._lanes:
            lane.before_step()
        over = [lane.play.over for lane in self._lanes]
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        singles = list(iterate(self.observation_space, observations))
        commands = list(iterate(self.action_space, actions))
        for place, lane in enumerate(self._lanes):
            info = _info_of(infos, place)
            if over[place] and self._mode is AutoresetMode.NEXT_STEP:
                self._begin(place, singles[place], None, None, info)
                continue
            ended = bool(terminated[place] or truncated[place])
            final = ended and self._mode is AutoresetMode.SAME_STEP
            shown = infos["final_obs"][place] if final else singles[place]
            said = _info_of(infos.get("final_info", {}), place) if final else info
            reward = float(rewards[place])
            lane.stepped(commands[place], Outcome(shown, reward, bool(terminated[place]), bool(truncated[place]), said))
            if final:
                self._begin(place, singles[place], None, None, info)
        return observations, rewards, terminated, truncated, infos

    def _begin(
        self, place: int, observation: Any, seed: int | None, options: dict[str, Any] | None, info: dict[str, Any]
    ) -> None:
        lane = self._lanes[place]
        lane.play.world.info = info
        lane.began(observation, seed, options)

    def log(self, values: Mapping[str, float]) -> None:
        """Keep measurements of the loop with the first run of the group."""
        self._lanes[0].log(dict(values))

    def close(self, **kwargs: Any) -> None:
        """End every run and close the environments."""
        for lane in self._lanes:
            lane.close()
        super().close(**kwargs)


def _world_around(env: Env, name: str | None) -> World:
    """Return the world of an environment that is there already."""
    spec = _spec_of(env) if name is None else find_world(name)
    kind = world_class(spec) if spec.entry in WORLDS.values() else World
    assert issubclass(kind, World)
    return kind(spec, env=env)


def _spec_of(env: Env) -> WorldSpec:
    """Return how an environment is made again, with its arguments and wrappers."""
    if env.spec is None:
        kind = type(env.unwrapped)
        module = sys.modules[kind.__module__]
        own = kind.__module__ == "__main__" and getattr(module, "__file__", None)
        return WorldSpec(kind.__name__, f"{Path(own).absolute() if own else kind.__module__}:{kind.__qualname__}")
    return WorldSpec(env.spec.id, WORLDS.get(env.spec.id, GYMNASIUM), {"spec": _json_of(env.spec)})


def _json_of(spec: EnvSpec) -> str:
    """Return Gymnasium's JSON of an environment; its own fails at NumPy's numbers."""
    wrappers = tuple(replace(wrapper, kwargs=describe(wrapper.kwargs)) for wrapper in spec.additional_wrappers)
    try:
        return replace(spec, kwargs=describe(spec.kwargs), additional_wrappers=wrappers).to_json()
    except (TypeError, ValueError) as problem:
        raise UsageError(
            f"{spec.id} has a wrapper or an argument that can't be written down ({problem}); record it further inside, "
            "or name a world that makes it: ptp.Record(env, world='file.py:Class')"
        ) from None


def _singles(base: SyncVectorEnv | AsyncVectorEnv) -> list[Env]:
    """Return one environment for each lane, to tell what it is like; those of other processes are made once here."""
    if isinstance(base, SyncVectorEnv):
        return list(base.envs)
    return [make() for make in base.env_fns]


def _info_of(infos: Mapping[str, Any], place: int) -> dict[str, Any]:
    """Return what a vector of environments said of one of them."""
    found: dict[str, Any] = {}
    for name, values in infos.items():
        present = infos.get(f"_{name}")
        if name.startswith("_") or name in ("final_obs", "final_info") or (present is not None and not present[place]):
            continue
        if isinstance(values, Mapping):
            found[name] = _info_of(values, place)
        elif isinstance(values, np.ndarray | Sequence) and len(values) > place:
            found[name] = values[place]
    return found
