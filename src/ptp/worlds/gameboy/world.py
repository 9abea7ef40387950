"""The Game Boy world: a cartridge, its emulator, and what its memory says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, get_args

import msgspec
import numpy as np
import xxhash

from ptp._util.loading import decode_options
from ptp.errors import WorldError
from ptp.records import Gauge, SnapshotKind, WorldFacts, WorldSpec
from ptp.worlds.contract import Outcome, Signals, World, WorldEvent, WorldView
from ptp.worlds.gameboy import addresses as at
from ptp.worlds.gameboy.annotations import Annotations, annotate
from ptp.worlds.gameboy.battles import BattleLog
from ptp.worlds.gameboy.cartridge import Cartridge, read_battery, read_cartridge
from ptp.worlds.gameboy.commands import BUTTONS
from ptp.worlds.gameboy.differences import differences, is_whole
from ptp.worlds.gameboy.env import SAVED, SAVED_BATTLE, GameBoyEnv, from_text, pack, to_text, unpack
from ptp.worlds.gameboy.events import Caught, FlagSet, GameEvent, title_of
from ptp.worlds.gameboy.memory import MemoryReader
from ptp.worlds.gameboy.paths import path_on_screen
from ptp.worlds.gameboy.profiles import BUILT_IN, find_profile
from ptp.worlds.gameboy.reader import StateReader
from ptp.worlds.gameboy.state import BattleKind, GameState
from ptp.worlds.gameboy.states import native_problem
from ptp.worlds.gameboy.tiles import NEEDED, Movement, Repetition, Surroundings, observe
from ptp.worlds.gym import package_versions

RAW_REMARK = "no profile knows {}: only pixels and raw memory are recorded; force one with --profile"
NATIVE_REMARK = "states are saved without the native part, which takes longer: {}"
NOTHING = msgspec.json.encode({"battle": None, "caught": 0})
"""What a world remembers that begins in a state of the emulator alone."""
NO_INFO: dict[str, Any] = {}


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a Game Boy world is made with."""

    rom: str
    """A file, or the name of a built-in cartridge."""
    profile: str | None = None
    frames_per_tick: Annotated[int, msgspec.Meta(ge=1)] = 24
    start_state: str | None = None
    save_file: str | None = None


class Unfinished(msgspec.Struct):
    """What a world remembers beside the emulator: the open battle, what the next state is compared with, catches."""

    battle: msgspec.Raw
    before: GameState | None = None
    """The last whole state; None when the present one is whole."""
    caught: int | None = None
    """None in a world that was saved before catches were counted."""
    flags: bytes | None = None
    """The event flags of the last whole state; None when the present one is whole."""


class GameBoyView(WorldView):
    """What an agent may see of a cartridge: the screen, and all that its memory tells."""

    def __init__(self, world: GameBoyWorld) -> None:
        super().__init__(world)
        self.timing = world.env.codec
        self.profile = world.profile
        self.surroundings = world.surroundings
        self.read_memory = self.memory = world.read_memory
        self.way_to = self._way_to
        self._movement: Callable[[], Movement] = lambda: world.movement

    def _way_to(self, x: int, y: int) -> list[str] | None:
        around = self.surroundings()
        if around is None:
            return None
        if around.player == (x, y):
            return []
        way = path_on_screen(around, around.to_screen((x, y)))
        return None if way is None else [*way]

    @property
    def movement(self) -> Movement:
        """Whether the player gets on, is stuck, or walks in circles."""
        return self._movement()


class GameBoyWorld(World):
    """A cartridge to play; a state is read after every tick."""

    Options: ClassVar[type[msgspec.Struct] | None] = Options
    gauges: ClassVar[tuple[Gauge, ...]] = (
        Gauge("caught", "Caught", "creatures", "Creatures caught in the wild or traded for."),
        Gauge("owned", "Species owned", "species", "Species that were ever owned, those that were given too."),
        Gauge("badges", "Badges", "badges", "Badges earned."),
        Gauge("level", "Highest level", "level", "The highest level in the party."),
        Gauge("stuck", "Stuck", "", "1 while the player does not get on."),
        Gauge("looping", "Looping", "", "1 while the player walks in circles."),
    )
    signal_names: ClassVar[tuple[str, ...]] = ("caught", "owned", "badges", "level")
    milestones: ClassVar[tuple[str, ...]] = ("BadgeEarned", "Caught", "Joined", "Evolved", "LevelUp", "MapChanged")
    state_fields: ClassVar[tuple[str, ...]] = GameState.__struct_fields__
    family: ClassVar[str] = "gameboy"
    storage_profile: ClassVar[str] = "gameboy"
    snapshot: ClassVar[SnapshotKind] = "state"
    releases_lock: ClassVar[bool] = True

    env: GameBoyEnv

    def __init__(self, spec: WorldSpec, render_mode: str | None = None) -> None:
        if render_mode not in (None, "rgb_array"):
            raise WorldError(f"world {spec.name!r} can't render {render_mode!r}; it offers: rgb_array")
        options = decode_options(f"world {spec.name!r}", spec.options, Options)
        self.spec = spec
        self.cartridge = read_cartridge(BUILT_IN.get(options.rom) or Path(options.rom))
        self.profile = find_profile(self.cartridge, options.profile)
        self.env = _make_env(self.cartridge, options)
        self.facts = self._describe()
        if not self.profile.readable:
            self.remarks = (RAW_REMARK.format(self.cartridge.name),)
        if native_problem() is not None:
            self.remarks = (*self.remarks, NATIVE_REMARK.format(native_problem()))
        codec = self.env.codec
        self.encode, self.decode, self.parse = codec.encode, codec.decode, codec.parse
        self.state_hash = self._state_hash
        self._reader = MemoryReader(self.env.pyboy.memory, self.profile.event_bytes, self.env.ram, self.env.open_memory)
        self._states = StateReader(self.profile)
        self._screen = self.env.pixels.data.cast("B")
        self._view = self.env.pixels[:, :, :3]
        self._view.flags.writeable = False
        self._state = GameState(self.profile.name)
        self._signals, self._signals_of = Signals(), self._state
        self._level: int | None = None
        self._begin()

    def _begin(
        self,
        battles: BattleLog | None = None,
        before: GameState | None = None,
        caught: int | None = 0,
        flags: bytes | None = None,
    ) -> None:
        self._states.caught = caught
        self._battles = battles or BattleLog()
        self._repetition = Repetition()
        self.events = ()
        self._data: tuple[bytes, bytes] | None = None
        self._before = before or GameState(self.profile.name)
        self._look()
        self._flags = self._read_flags() if flags is None else flags
        if is_whole(self._state):
            self._before = self._state
            if battles is None:
                self._battles.feed(self._state)
        self._describe_battle()

    def _describe(self) -> WorldFacts:
        facts, cartridge = super()._describe(), self.cartridge
        facts = msgspec.structs.replace(facts, version=cartridge.title or cartridge.name, commands=BUTTONS)
        if self.profile.readable:
            return facts
        gauges = tuple(gauge for gauge in self.gauges if gauge.name not in self.signal_names)
        return msgspec.structs.replace(facts, signals=(), gauges=gauges, milestones=())

    def _origin(self) -> dict[str, str]:
        from pyboy.utils import STATE_VERSION  # after the environment, which silences what SDL says on import

        emulator = package_versions("pyboy") | {"pyboy_state": str(STATE_VERSION)}
        return emulator | {"rom_sha1": self.cartridge.sha1, "profile": self.profile.name}

    def view(self) -> GameBoyView:
        """Return what an agent may see."""
        return GameBoyView(self)

    def reset(self, seed: int | None, options: dict[str, Any] | None = None) -> Any:
        """Go back to the start, or to the state in the options; the seed changes nothing: a cartridge has no dice."""
        self.env.reset(seed=seed)
        if options and "state" in options:
            data = from_text(options["state"])
            self.load(data if data.startswith((SAVED, SAVED_BATTLE)) else pack(NOTHING, data))
        else:
            self._begin()
        return self._view

    def step(self, command: Any) -> Outcome:
        """Press a button and let a tick pass; the picture is a view that the next step changes."""
        self.env.advance(command)
        self.events = ()
        if self._look():
            if is_whole(self._state):
                happened = differences(self._before, self._state) + self._battles.feed(self._state)
                flags = self._read_flags()
                if flags != self._flags:
                    happened += self._flags_set(flags)
                self.events = [_as_event(event) for event in happened]
                self._count([event for event in happened if type(event) is Caught])
            self._describe_battle()
        if is_whole(self._state):
            self._before = self._state
        self._repetition.feed(self._hash, command)
        return Outcome(self._view, 0.0, False, False, NO_INFO)

    def _look(self) -> bool:
        """Read the state; return whether anything but the clock changed."""
        data = self._reader.read() if self.profile.readable else b""
        digest = xxhash.xxh3_64(self._screen)
        digest.update(data)
        self._hash = digest.hexdigest()
        if (data, self._reader.signs) == self._data:
            self._state = self._states.wind(self._state, self._reader.image)
            return False
        self._data = data, self._reader.signs
        self._state = self._states.read(self._reader.image, self._reader.without_steps(data))
        return True

    def _read_flags(self) -> bytes:
        return bytes(self._reader.image[at.EVENTS : at.EVENTS + self.profile.event_bytes])

    def _flags_set(self, flags: bytes) -> list[GameEvent]:
        """Return the flags that are new, and know those that are set; a game that was just loaded has no new ones."""
        new = int.from_bytes(flags, "little") & ~int.from_bytes(self._flags, "little")
        self._flags = flags
        if self._before.map_id is None or self._state.map_id is None:
            return []
        return [FlagSet(flag, self.profile.events.get(flag)) for flag in range(new.bit_length()) if new >> flag & 1]

    def _count(self, catches: list[Caught]) -> None:
        if catches and self._states.caught is not None:
            self._states.caught += len(catches)
            self._state = msgspec.structs.replace(self._state, caught=self._states.caught)

    def _describe_battle(self) -> None:
        state, fought = self._state, self._state.battle
        if fought is not None:
            has_faced = self._battles.has_faced
            battle = msgspec.structs.replace(
                fought,
                turn=self._battles.turn,
                own=fought.own if has_faced else None,
                enemy=fought.enemy if has_faced or fought.kind == "wild" else None,
            )
            self._state = msgspec.structs.replace(state, battle=battle)

    def _state_hash(self, observation: Any, reward: float, terminated: bool, truncated: bool) -> str:
        """Return the hash of the screen and the state's bytes but the clock, as they are after the last step."""
        return self._hash

    def state(self, observation: Any) -> Any:
        """Return the state after the last step."""
        return self._state

    def context(self) -> str:
        """Return the kind of screen, and the place where one can walk."""
        state = self._state
        if state.screen_type == "overworld":
            return f"overworld:{state.location}"
        return state.screen_type or ""

    def signals(self) -> Signals:
        """Return what pacing and limits need to know; worked out only when the state is another."""
        state = self._state
        if state is not self._signals_of:
            last = self._signals_of
            self._signals_of = state
            if state.party is not None and state.party is not last.party:
                self._level = max((member.level for member in state.party), default=None)
            known = {"caught": state.caught, "owned": state.owned, "badges": state.badges, "level": self._level}
            values: dict[str, float] = {name: value for name, value in known.items() if value is not None}
            self._signals = Signals(state.battle is not None, values)
        return self._signals

    @property
    def movement(self) -> Movement:
        """Whether the player gets on, is stuck, or walks in circles."""
        return self._repetition.movement

    def trigger_values(self, trigger: str) -> Sequence[str]:
        """Return the names that a trigger can be given: those in the tables of the game."""
        game = self.profile
        species = [kind.name for kind in game.species.values()]
        tables: dict[str, Iterable[str]] = {
            "catch": species,
            "death": species,
            "battle": [*game.trainers.values(), *species, *get_args(BattleKind)],
            "badge": game.badges.values(),
            "location": game.maps.values(),
            "item": game.items.values(),
            "flag": game.events.values(),
        }
        return list(dict.fromkeys(tables.get(trigger, ())))

    def measurements(self) -> dict[str, float]:
        """Return whether the player is stuck, or walks in circles."""
        movement = self.movement
        return {"stuck": float(movement == "stuck"), "looping": float(movement == "looping")}

    def surroundings(self) -> Surroundings | None:
        """Return the squares around the player; None where there is no map to stand on."""
        if self._state.map_id is None:
            return None
        return observe(self._reader.read_more(*NEEDED), self.cartridge.data)

    def annotations(self) -> Annotations | None:
        """Return text, figures and menus on the screen; None for a game that nobody has described."""
        if not self.profile.readable:
            return None
        screen = self._state.screen_type or ""
        around = self.surroundings() if screen == "overworld" else None
        tiles, fought = self.read_memory(at.TILE_MAP, at.TILE_MAP_END), self._state.battle
        return annotate(tiles, screen, around, self.profile.charmap, fought)

    def read_memory(self, start: int, stop: int) -> bytes:
        """Return raw memory, for a game nobody has described."""
        return bytes(self.env.pyboy.memory[start:stop])

    def frame(self) -> np.ndarray[Any, Any]:
        """Return a copy of the picture."""
        return self.env.render()

    def raw_frame(self) -> np.ndarray[Any, Any]:
        """Return a copy of the picture with alpha, which is copied nine times as fast."""
        return self.env.pixels.copy()

    def observe(self) -> Any:
        """Return what the screen shows now."""
        return self._view

    def save(self) -> bytes:
        """Return the emulator's state, the open battle and the catches."""
        before, flags = (None, None) if is_whole(self._state) else (self._before, self._flags)
        memory = Unfinished(msgspec.Raw(self._battles.save()), before, self._states.caught, flags)
        return pack(msgspec.json.encode(memory), self.env.save())

    def load(self, data: bytes) -> None:
        """Return to a saved state, in this world or a new one of the same cartridge."""
        memory, state = unpack(data)
        try:
            unfinished = msgspec.json.decode(memory, type=Unfinished)
        except msgspec.DecodeError as problem:
            raise WorldError(f"not a saved Game Boy world: {problem}; take another snapshot") from None
        battles = BattleLog()
        battles.load(bytes(unfinished.battle))
        self.env.load(state)
        self._begin(battles, unfinished.before, unfinished.caught, unfinished.flags)

    def options_from(self, data: bytes) -> dict[str, Any]:
        """Return the options of a reset that begins in a saved world, or in a PyBoy state of this cartridge."""
        return {"state": to_text(data)}

    def close(self) -> None:
        """Switch the emulator off."""
        self.env.close()


def _as_event(event: GameEvent) -> WorldEvent:
    kind = type(event).__name__
    return WorldEvent(kind, title_of(kind, msgspec.structs.asdict(event)), event)


def _make_env(cartridge: Cartridge, options: Options) -> GameBoyEnv:
    battery = read_battery(Path(options.save_file), cartridge) if options.save_file else None
    env = GameBoyEnv(cartridge, options.frames_per_tick, battery)
    if options.start_state:
        env.start_from(Path(options.start_state))
    return env
