"""A game on a pokemon-gym server, ours or another, as a world."""

from __future__ import annotations

import fcntl
import os
import warnings
from pathlib import Path
from tempfile import gettempdir
from typing import IO, Annotated, Any, ClassVar

import gymnasium
import msgspec
import numpy as np
import xxhash
from gymnasium import spaces

from ptp._util.loading import decode_options
from ptp.emulators.answers import GameState
from ptp.emulators.client import PokemonGymClient, Timeouts
from ptp.emulators.game import WAIT, ServedGame
from ptp.emulators.inputs import KEYS, UNSTABLE, InputValidator, Picture
from ptp.emulators.monitor import Degradation, PerformanceMonitor
from ptp.emulators.recovery import ErrorRecoveryHandler, Rescue
from ptp.emulators.transport import split_login
from ptp.errors import WorldError
from ptp.records import Gauge, SnapshotKind, WorldFacts, WorldSpec
from ptp.worlds.contract import Outcome, Signals, World
from ptp.worlds.gym import package_versions
from ptp.worlds.spaces import CommandCodec

COMMANDS = (WAIT, *KEYS)
FRAMES_PER_KEY = 130  # a key is held for 10, then 120 pass
DAY = 86400
UNPROVEN = "{} is not ours: it can't save its game, and whether its runs replay depends on it; go back by the tape"
ENDS = "{} ends its session in {:.0f} s"


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a world on a server is made with."""

    id: str
    """The address of the server."""
    frames: Annotated[int, msgspec.Meta(ge=1, le=36_000)] = 60
    """The frames that the command `wait` lets pass."""
    timeout: Annotated[float, msgspec.Meta(gt=0)] = 30.0
    """The seconds that an input may take."""
    session: str | None = None
    """The session that the server is to keep the game in."""


class ServerEnv(gymnasium.Env[Picture, Any]):
    """What Gymnasium is to know of a game on a server."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 60}
    render_mode = "rgb_array"
    frames_per_tick = FRAMES_PER_KEY

    def __init__(self, picture: Picture) -> None:
        self.action_space = spaces.Discrete(len(COMMANDS))
        self.observation_space = spaces.Box(0, 255, picture.shape, np.uint8)


class PokemonGymAdapter(World):
    """A game on a pokemon-gym server: commands are keys and `wait`, and the observation is the screenshot.

    A server that fails is asked again, and a game that is lost is played again up to where it was; *rescue* can restart
    the server, or move it to another port.
    """

    Options: ClassVar[type[msgspec.Struct] | None] = Options
    family: ClassVar[str] = "pokemon-gym"
    storage_profile: ClassVar[str] = "gameboy"
    releases_lock: ClassVar[bool] = True
    gauges: ClassVar[tuple[Gauge, ...]] = (
        Gauge("badges", "Badges", "badges", "Badges earned."),
        Gauge("level", "Highest level", "level", "The highest level in the party."),
        Gauge("score", "Score", "", "The score that the server counts."),
        Gauge("server_ms", "Server", "ms", "How long the server takes for an input: the median of the newest."),
        Gauge("server_errors", "Server errors", "", "Requests that failed."),
    )
    signal_names: ClassVar[tuple[str, ...]] = ("badges", "level", "score")

    state_fields: ClassVar[tuple[str, ...]] = tuple(sorted({*GameState.__struct_fields__} - {*UNSTABLE, *signal_names}))

    def __init__(
        self,
        spec: WorldSpec,
        render_mode: str | None = None,
        *,
        monitor: PerformanceMonitor | None = None,
        validator: InputValidator | None = None,
        recovery: ErrorRecoveryHandler | None = None,
        rescue: Rescue | None = None,
    ) -> None:
        if render_mode not in (None, "rgb_array"):
            raise WorldError(f"world {spec.name!r} can't render {render_mode!r}; it offers: rgb_array")
        options = decode_options(f"world {spec.name!r}", spec.options, Options)
        self.spec = spec
        self.monitor = monitor or PerformanceMonitor(alert=self._warn)
        self.validator = validator or InputValidator()
        self.recovery = recovery or ErrorRecoveryHandler(rescue=rescue)
        self._lock = claim(split_login(options.id)[0])
        self.client = PokemonGymClient(
            options.id,
            Timeouts(action=options.timeout),
            token=os.environ.get("PTP_TOKEN") or None,
            monitor=self.monitor,
            validator=self.validator,
        )
        try:
            self._game = ServedGame(self.client, self.recovery, options.frames, options.session)
            self._look(self._game.state)
            self.remarks = self._remark()
        except BaseException:
            self.close()
            raise
        self.env = ServerEnv(self._picture)
        self.facts = self._describe()
        codec = CommandCodec(self.env.action_space, COMMANDS)
        self.encode, self.decode, self.parse = codec.encode, codec.decode, codec.parse
        self.state_hash = self._state_hash
        self._untouched = True

    def _remark(self) -> tuple[str, ...]:
        left = self.client.status().remaining_time_seconds
        ends = () if left is None or left > DAY else (ENDS.format(self.client.base_url, left),)
        return ends if self._game.has_snapshots else (*ends, UNPROVEN.format(self.client.base_url))

    def _warn(self, found: Degradation) -> None:
        warnings.warn(f"{self.client.base_url} gets slower: {found}", stacklevel=2)

    def _describe(self) -> WorldFacts:
        snapshot: SnapshotKind = "state" if self._game.has_snapshots else "tape"
        return msgspec.structs.replace(super()._describe(), snapshot=snapshot, commands=COMMANDS)

    def _origin(self) -> dict[str, str]:
        return package_versions("ptp") | {"server": self.client.base_url}

    def reset(self, seed: int | None, options: dict[str, Any] | None = None) -> Picture:
        """Begin the game anew; the seed changes nothing, for the protocol has none."""
        if options:
            raise WorldError(
                f"world {self.spec.name!r} takes no options for an episode; leave out {', '.join(options)}"
            )
        if not self._untouched:
            self._game.begin()
        self._untouched = False
        return self._look(self._game.state)

    def step(self, command: Any) -> Outcome:
        """Send one input; the protocol has no rewards, and its score is a signal."""
        name, self._untouched = COMMANDS[int(self.encode(command))], False
        return Outcome(self._look(self._game.apply(name)), 0.0, False, False, {})

    def _look(self, state: GameState) -> Picture:
        self._picture = self.validator.picture(self.client.base_url, state)
        self._state = self.validator.format_response(state)
        levels = [each.level for each in state.pokemons]
        known = {"badges": len(state.badges), "level": max(levels, default=None), "score": state.score}
        self._signals = Signals(False, {name: float(value) for name, value in known.items() if value is not None})
        return self._picture

    def _state_hash(self, observation: Any, reward: float, terminated: bool, truncated: bool) -> str:
        """Return the hash of the picture and of everything else that the server said of the game."""
        digest = xxhash.xxh3_64(self._picture.tobytes())
        digest.update(msgspec.json.encode(self._state))
        return digest.hexdigest()

    def state(self, observation: Any) -> Any:
        """Return what the server said of the game, without the picture."""
        return self._state

    def context(self) -> str:
        """Return whether somebody talks, and the place otherwise."""
        return "dialog" if self._state["dialog"] else f"overworld:{self._state['location']}"

    def signals(self) -> Signals:
        """Return badges, the highest level and the server's score."""
        return self._signals

    def measurements(self) -> dict[str, float]:
        """Return how the server does."""
        actions = self.monitor.summary().get("action")
        took = {} if actions is None else {"server_ms": actions.median * 1000}
        return took | {"server_errors": float(self.monitor.errors())}

    def frame(self) -> Picture:
        """Return the present picture."""
        return self._picture

    def observe(self) -> Picture:
        """Return the present picture."""
        return self._picture

    def save(self) -> bytes:
        """Return the game, where the server can save it."""
        return self._game.save() if self._game.has_snapshots else super().save()

    def load(self, data: bytes) -> None:
        """Return to a saved game, where the server can."""
        if not self._game.has_snapshots:
            super().load(data)
        self._untouched = False
        self._look(self._game.load(data))

    def close(self) -> None:
        """Close the connections; the game on the server stays as it is."""
        self.client.close()
        self._lock.close()


def claim(url: str) -> IO[str]:
    """Return the lock of a server: two worlds of this machine that play one game would spoil it for each other."""
    name = f"ptp-{os.getuid()}-{xxhash.xxh3_64_hexdigest(url.encode())}.lock"
    lock = os.open(Path(gettempdir(), name), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise WorldError(f"{url} is being played by another run here; give each run its own server") from None
    return os.fdopen(lock)
