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

Env = gymnasium.Env[Any, Any]


class _Tap(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Notes what passes between an environment and whoever plays it."""

    def __init__(self, env: Env, lane: Lane) -> None:
        super().__init__(env)
        self._lane = lane
        self._seeded = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset the environment and begin an episode."""
        if seed is None and not self._seeded:
            seed = self._lane.play.next_seed()
        self._seeded = True
        observation, info = self.env.reset(seed=seed, options=options)
        self._lane.play.world.info = info
        self._lane.began(observation, seed, options)
        return observation, info

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Step the environment."""
        lane = self._lane
        lane.before_step()
        observation, reward, terminated, truncated, info = self.env.step(action)
        lane.stepped(action, Outcome(observation, float(reward), bool(terminated), bool(truncated), info))
        return observation, reward, terminated, truncated, info


class Record(_Tap):
    """Records everything that a loop does with an environment, as a run like any other.

    The environment behaves exactly as it does without: a reset that is given no seed goes on with the environment's
    own dice. Only if it never got one, it is given one, so that the run can be replayed. Wrappers that Gymnasium can't
    make again (they hold a function, say) stay outside of what is recorded.
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
        group: str | None = None,
    ) -> None:
        """Begin a run; *world* names the environment for replays, where Gymnasium can't make it again by itself."""
        outside, inner = (None, env) if world is not None else _innermost_unknown(env)
        lane = Lane(
            _world_around(inner, world), settings(config, data_dir, seed), agent=agent, sinks=sinks, group=group
        )
        super().__init__(env, lane)
        if outside is not None:
            outside.env = _Tap(inner, lane)
            self.reset, self.step = env.reset, env.step  # type: ignore[method-assign] # the tap inside notes it all
            message = f"{type(outside).__name__} can't be made again, so what is recorded is what is inside of it"
            lane.run.notice("info", "recorded_inside", message)

    @property
    def run_id(self) -> str:
        """The id of the run."""
        return self._lane.run.run_id

    @property
    def run_directory(self) -> Path:
        """Where the run is kept."""
        return self._lane.run.path

    @property
    def result(self) -> RunResult | None:
        """How the run ended, once it has."""
        return self._lane.result

    def log(self, values: Mapping[str, float]) -> None:
        """Keep measurements of the loop at the present tick, such as its loss."""
        self._lane.log(dict(values))

    def close(self) -> None:
        """End the run and close the environment."""
        self._lane.close()
        super().close()


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
        shared: dict[str, Any] = {"agent": agent, "sinks": sinks}
        self._runs: list[Record] = []
        self._lanes: list[_AsyncLane] = []
        if isinstance(base, SyncVectorEnv):
            for place, single in enumerate(base.envs):
                chosen = None if seed is None else seed + place
                group = self._runs[0].run_id if self._runs else None
                self._runs.append(
                    Record(single, data_dir=data_dir, world=world, seed=chosen, config=config, group=group, **shared)
                )
            base.envs = list(self._runs)
        elif isinstance(base, AsyncVectorEnv):
            for place, make in enumerate(base.env_fns):
                own = settings(config, data_dir, None if seed is None else seed + place)
                group = self._lanes[0].run.run_id if self._lanes else None
                self._lanes.append(_AsyncLane(_world_elsewhere(make(), world), own, group=group, **shared))
        else:
            raise UsageError(
                f"{type(base).__name__} shares its random numbers, so no environment could be replayed alone; "
                'make it with vectorization_mode="sync" or "async"'
            )
        self._mode = AutoresetMode(env.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP))

    @property
    def run_ids(self) -> list[str]:
        """The ids of the runs, one for each environment."""
        return [run.run_id for run in self._runs] or [lane.run.run_id for lane in self._lanes]

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset the environments, all or those that `options["reset_mask"]` names."""
        given: Any = seed
        seeds = self._seeds(seed)
        if any(it is not None for it in seeds):
            given = seeds
        observations, infos = self.env.reset(seed=given, options=options)
        mask = (options or {}).get("reset_mask")
        kept = {name: value for name, value in (options or {}).items() if name != "reset_mask"} or None
        for place, observation in enumerate(iterate(self.observation_space, observations) if self._lanes else ()):
            if mask is None or mask[place]:
                self._lanes[place].reset(observation, seeds[place], kept, _info_of(infos, place))
        return observations, infos

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        """Return the seed of each environment elsewhere; the first reset gives one to those that have none."""
        if isinstance(seed, int):
            seed = [seed + place for place in range(len(self._lanes))]
        return [lane.seed_of(None if seed is None else seed[place]) for place, lane in enumerate(self._lanes)]

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step every environment."""
        for lane in self._lanes:
            lane.before_step()
        told = self.env.step(actions)
        if self._lanes:
            self._note(actions, *told)
        return told

    def _note(self, actions: Any, observations: Any, rewards: Any, terminated: Any, truncated: Any, infos: Any) -> None:
        """Note what environments in other processes did."""
        singles = list(iterate(self.observation_space, observations))
        commands = list(iterate(self.action_space, actions))
        for place, lane in enumerate(self._lanes):
            info = _info_of(infos, place)
            if lane.play.over and self._mode is AutoresetMode.NEXT_STEP:
                lane.reset(singles[place], None, None, info)
                continue
            ended = bool(terminated[place] or truncated[place]) and self._mode is AutoresetMode.SAME_STEP
            shown = infos["final_obs"][place] if ended else singles[place]
            said = _info_of(infos.get("final_info", {}), place) if ended else info
            flags = bool(terminated[place]), bool(truncated[place])
            lane.stepped(commands[place], Outcome(shown, float(rewards[place]), *flags, said))
            if ended:
                lane.reset(singles[place], None, None, info)

    def log(self, values: Mapping[str, float]) -> None:
        """Keep measurements of the loop with the first run of the group."""
        (self._runs or self._lanes)[0].log(dict(values))

    def close(self, **kwargs: Any) -> None:
        """End every run and close the environments."""
        for run in self._runs or self._lanes:
            run.close()
        super().close(**kwargs)


class _AsyncLane(Lane):
    """The run of an environment that plays in another process."""

    _seeded = False

    def seed_of(self, given: int | None) -> int | None:
        """Return the seed that the environment is to be reset with."""
        first, self._seeded = not self._seeded, True
        return self.play.next_seed() if given is None and first else given

    def reset(self, observation: Any, seed: int | None, options: dict[str, Any] | None, info: dict[str, Any]) -> None:
        """Note that the environment was reset, or has reset itself."""
        self.play.world.info = info
        self.began(observation, seed, options)


def _innermost_unknown(env: Env) -> tuple[gymnasium.Wrapper[Any, Any, Any, Any] | None, Env]:
    """Return the innermost wrapper that can't be made again, if one is, and what is inside of it."""
    outside, inner, found = None, env, env
    while isinstance(found, gymnasium.Wrapper):
        spec = found.spec
        if spec is not None and not _is_writable(spec):
            outside, inner = found, found.env
        found = found.env
    return outside, inner


def _is_writable(spec: EnvSpec) -> bool:
    if any(wrapper.kwargs is None for wrapper in spec.additional_wrappers):
        return False
    try:
        _json_of(spec)
    except UsageError:
        return False
    return True


def _world_elsewhere(env: Env, name: str | None) -> World:
    """Return the world of an environment like the one in another process, whose picture only the tape can draw."""
    world = _world_around(env, name)
    world.facts = msgspec.structs.replace(world.facts, render_mode=None)
    return world


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
    try:
        wrappers = tuple(replace(wrapper, kwargs=_plain(wrapper.kwargs)) for wrapper in spec.additional_wrappers)
        return replace(spec, kwargs=_plain(spec.kwargs), additional_wrappers=wrappers).to_json()
    except (TypeError, ValueError) as problem:
        raise UsageError(
            f"{spec.id} has a wrapper or an argument that can't be written down ({problem}); record it further inside, "
            "or name a world that makes it: ptp.Record(env, world='file.py:Class')"
        ) from None


def _plain(value: Any) -> Any:
    """Return arguments as JSON has them; what it can't have is refused."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{value!r} can't be written as JSON")


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
