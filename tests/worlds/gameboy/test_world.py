"""The world on the real emulator: exact, deterministic, and quiet on the user's disk."""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from ptp.errors import BadCommand, ConfigError, UnknownName, WorldError
from ptp.records import WorldSpec
from ptp.worlds import Signals, make_world
from ptp.worlds.gameboy import addresses as at
from ptp.worlds.gameboy.cartridge import header_checksum, read_cartridge
from ptp.worlds.gameboy.env import GameBoyEnv, pack, unpack
from ptp.worlds.gameboy.state import GameState
from ptp.worlds.gameboy.world import GameBoyWorld
from tests.worlds.gameboy.roms import PASSABLE, make_rom, write_rom

ENTRY = "ptp.worlds.gameboy.world:GameBoyWorld"
PLAY = [1, 0, (5, 24), (5, 24), 6, (1, 1), 3, (8, 23), 0, 7, 2, 4]


@contextmanager
def made(rom: Path | str, **options: Any) -> Iterator[GameBoyWorld]:
    world = make_world(WorldSpec("game", ENTRY, {"rom": str(rom), **options}))
    assert isinstance(world, GameBoyWorld)
    try:
        yield world
    finally:
        world.close()


@pytest.fixture
def rom(tmp_path: Path) -> Path:
    folder = tmp_path / "roms"
    folder.mkdir()
    return write_rom(folder)


def played(world: GameBoyWorld, commands: list[Any]) -> list[str]:
    hashes = []
    for command in commands:
        outcome = world.step(command)
        hashes.append(
            world.state_hash(outcome.observation, outcome.reward, outcome.terminated, outcome.truncated)
        )  # fmt: skip
    return hashes


def byte(world: GameBoyWorld, address: int) -> int:
    value: int = world.env.pyboy.memory[address]
    return value


# -- playing ---------------------------------------------------------------------------------------------------


def test_the_facts_say_what_a_replay_depends_on(rom: Path) -> None:
    with made(rom) as world:
        facts = world.facts
        assert (facts.family, facts.snapshot, facts.render_mode) == ("gameboy", "state", "rgb_array")
        assert facts.origin["profile"] == "raw"
        assert facts.origin["rom_sha1"] == world.cartridge.sha1
        assert {"pyboy", "pyboy_state"} <= facts.origin.keys()
        assert int(facts.origin["pyboy_state"]) == world.env.save()[0]
        assert facts.signals == ()


def test_a_known_game_tells_its_signals(tmp_path: Path) -> None:
    with made(write_rom(tmp_path, "POKEMON RED")) as world:
        assert world.facts.signals == ("caught", "owned", "badges", "level")
        assert world.facts.commands[:2] == ("none", "a")
        assert world.facts.origin["profile"] == "pokemon-red"


def test_the_environment_is_one_that_gymnasium_accepts(rom: Path) -> None:
    env = GameBoyEnv(read_cartridge(rom))
    check_env(env, skip_render_check=True)
    env.close()


def test_a_command_with_a_length_of_its_own_takes_that_many_frames_and_presses_what_it_says(rom: Path) -> None:
    with made(rom) as world:
        world.reset(0)
        pyboy, states = world.env.pyboy, world.env._states
        seen: list[tuple[Any, ...]] = []
        down: set[str] = set()

        class Watched:
            def button_press(self, button: str) -> None:
                down.add(button)
                pyboy.button_press(button)

            def button_release(self, button: str) -> None:
                down.discard(button)
                pyboy.button_release(button)

            def tick(self, frames: int, render: bool) -> bool:
                seen.append((frames, *sorted(down)))
                return states.tick(frames, render)

        before = pyboy.frame_count
        world.env.pyboy = world.env._states = Watched()  # type: ignore[assignment]
        try:
            for text in ("a:10/130", "none/60", "b+up:8/24", "b:7/7"):
                world.step(world.parse(text))
        finally:
            world.env.pyboy, world.env._states = pyboy, states
        assert seen == [(10, "a"), (120,), (60,), (8, "b", "up"), (16, "b"), (7, "b")]
        assert pyboy.frame_count - before == 130 + 60 + 24 + 7
        assert down == set()


def test_a_button_reaches_the_game_and_is_released(rom: Path) -> None:
    with made(rom) as world:
        world.reset(0)
        played(world, [0] * 20)  # the boot screen
        assert (byte(world, 0xC000), byte(world, 0xC001)) == (0, 0)
        down = {1: (0, 1), 2: (0, 2), 4: (0, 4), 3: (0, 8), 8: (1, 0), 7: (2, 0), 5: (4, 0), 6: (8, 0)}
        for button, bits in down.items():
            world.env.pyboy.button_press(world.env.codec.resolve(button)[0])
            world.env.pyboy.tick(2, False)
            assert (byte(world, 0xC000), byte(world, 0xC001)) == bits
            world.env.pyboy.button_release(world.env.codec.resolve(button)[0])
            world.step(button)
            assert (byte(world, 0xC000), byte(world, 0xC001)) == (0, 0)


def test_a_button_held_for_the_whole_tick_is_released_with_the_next(rom: Path) -> None:
    with made(rom) as world:
        world.reset(0)
        played(world, [0] * 20)
        world.step((1, 24))
        assert byte(world, 0xC001) == 1
        world.step(0)
        assert byte(world, 0xC001) == 0


@pytest.mark.parametrize("frames", [1, 8, 24])
def test_a_tick_is_so_many_frames(rom: Path, frames: int) -> None:
    with made(rom, frames_per_tick=frames) as world:
        world.reset(0)
        for command in (0, 1, (1, 1), (1, frames)):
            before = world.env.pyboy.frame_count
            world.step(command)
            assert world.env.pyboy.frame_count - before == frames


def test_a_picture_is_a_copy_and_an_observation_a_view(rom: Path) -> None:
    with made(rom) as world:
        observation = world.reset(0)
        frame = world.frame()
        assert frame.shape == observation.shape == (144, 160, 3)
        assert frame.flags.owndata
        np.testing.assert_array_equal(world.raw_frame()[:, :, :3], frame)
        np.testing.assert_array_equal(frame, observation)
        kept = frame.copy()
        played(world, [0] * 20 + [(1, 24)])
        np.testing.assert_array_equal(frame, kept)
        np.testing.assert_array_equal(world.frame(), observation)
        assert not observation.flags.writeable
        assert world.observe() is observation


def test_a_command_that_is_none_is_refused(rom: Path) -> None:
    with made(rom) as world, pytest.raises(BadCommand):
        world.step(99)


def test_only_pictures_are_rendered(rom: Path) -> None:
    with pytest.raises(WorldError, match="can't render 'ansi'; it offers: rgb_array"):
        make_world(WorldSpec("game", ENTRY, {"rom": str(rom)}), "ansi")


# -- exactness -------------------------------------------------------------------------------------------------


def test_the_same_commands_give_the_same_hashes_in_another_world_and_after_a_reset(rom: Path) -> None:
    commands = [0] * 15 + PLAY * 5
    with made(rom) as one, made(rom) as other:
        one.reset(1)
        other.reset(2)
        first = played(one, commands)
        assert played(other, commands) == first
        one.reset(3)
        assert played(one, commands) == first
        assert len(set(first)) > 5


def test_other_commands_give_other_hashes(rom: Path) -> None:
    with made(rom) as world:
        world.reset(0)
        first = played(world, [0] * 20 + [(1, 24)])
        world.reset(0)
        assert played(world, [0] * 20 + [(2, 24)]) != first


@pytest.mark.parametrize("last", [0, 1, (1, 24)])
def test_a_saved_state_goes_on_exactly_in_a_new_world(rom: Path, last: Any) -> None:
    with made(rom) as world:
        world.reset(0)
        played(world, [*PLAY, *PLAY, last])
        saved, shown = world.save(), world.state_hash(None, 0.0, False, False)
        expected = played(world, PLAY)
        with made(rom) as other:
            other.load(saved)
            assert other.state_hash(None, 0.0, False, False) == shown
            assert played(other, PLAY) == expected
        world.load(saved)
        assert played(world, PLAY) == expected


def test_a_cartridge_with_a_clock_tells_no_time(tmp_path: Path) -> None:
    path = write_rom(tmp_path, kind=0x10, ram=2)
    with made(path) as one, made(path) as other:
        one.reset(0)
        other.reset(0)
        assert played(one, PLAY * 2) == played(other, PLAY * 2)
        other.load(one.save())
        assert played(one, PLAY) == played(other, PLAY)


@pytest.mark.parametrize("damage", ["short", "long", "magic", "version", "empty", "other"])
def test_a_damaged_state_is_refused_and_the_world_goes_on(rom: Path, damage: str, tmp_path: Path) -> None:
    with made(rom) as world, made(rom) as untouched:
        world.reset(0)
        untouched.reset(0)
        saved = world.save()
        start = len(saved) - len(world.env.save())
        broken = {
            "short": saved[:-1],
            "long": saved + b"\0",
            "magic": b"x" + saved[1:],
            "version": saved[:start] + b"\xfe" + saved[start + 1 :],
            "empty": b"",
            "other": saved[:start],
        }[damage]
        with pytest.raises(WorldError):
            world.load(broken)
        assert played(world, PLAY) == played(untouched, PLAY)


# -- start states and save files -------------------------------------------------------------------------------


def plain_state(rom: Path, commands: list[Any]) -> bytes:
    with made(rom) as world:
        world.reset(0)
        played(world, commands)
        file = io.BytesIO()
        world.env.pyboy.save_state(file)
        return file.getvalue()


def test_a_run_can_start_from_a_plain_state(rom: Path, tmp_path: Path) -> None:
    path = tmp_path / "here.state"
    path.write_bytes(plain_state(rom, [0] * 20))
    with made(rom) as world, made(rom, start_state=str(path)) as other:
        world.reset(0)
        played(world, [0] * 20)
        for _ in range(2):
            other.reset(0)
            assert byte(other, 0xC002) == byte(world, 0xC002)
        assert played(other, PLAY) == played(world, PLAY)


def test_a_run_can_start_from_a_saved_world(rom: Path, tmp_path: Path) -> None:
    path = tmp_path / "here.world"
    with made(rom) as world:
        world.reset(0)
        played(world, [*PLAY, (1, 24)])
        path.write_bytes(world.save())
        with made(rom, start_state=str(path)) as other:
            other.reset(0)
            assert played(other, PLAY) == played(world, PLAY)


def refused_state(rom: Path, folder: Path, data: bytes) -> str:
    path = folder / "here.state"
    path.write_bytes(data)
    with pytest.raises(ConfigError) as caught, made(rom, start_state=str(path)):
        pass
    message = str(caught.value)
    assert message.startswith("here.state: ")
    assert "\n" not in message
    return message


def test_a_pickled_state_of_another_tool_is_refused_with_the_reason(rom: Path, tmp_path: Path) -> None:
    message = refused_state(rom, tmp_path, pickle.dumps({"ram": b"1234"}))
    assert "pickle" in message
    assert "runs code" in message


def test_a_state_of_a_newer_emulator_is_refused(rom: Path, tmp_path: Path) -> None:
    state = plain_state(rom, [])
    assert "version 30" in refused_state(rom, tmp_path, bytes([state[0] + 1]) + state[1:])


def test_half_a_state_is_refused(rom: Path, tmp_path: Path) -> None:
    state = plain_state(rom, [])
    assert f"has {len(state)}" in refused_state(rom, tmp_path, state[: len(state) // 2])


@pytest.mark.parametrize("size", [100, 1_000_000])
def test_an_old_state_of_another_size_is_refused(rom: Path, tmp_path: Path, size: int) -> None:
    assert "can't load" in refused_state(rom, tmp_path, bytes([20]) + bytes(size))


@pytest.mark.parametrize("data", [b"", b"garbage", b"\x00" * 1000, b"\xff" * 1000])
def test_garbage_is_no_state(rom: Path, tmp_path: Path, data: bytes) -> None:
    refused_state(rom, tmp_path, data)


def test_a_missing_state_is_refused_by_name(rom: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.state: No such file"), made(rom, start_state="none.state"):
        pass


def test_a_run_can_start_with_battery_ram(tmp_path: Path) -> None:
    path = write_rom(tmp_path, kind=0x03, ram=2)
    battery = tmp_path / "game.sav"
    battery.write_bytes(bytes([0, 0x5A]) * 0x1000)
    with made(path, save_file=str(battery)) as world:
        world.reset(0)
        played(world, [0] * 20)
        assert byte(world, 0xA001) == 0x5A


# -- the user's files ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [0x00, 0x03, 0x10, 0x13])
def test_nothing_is_written_or_read_beside_the_cartridge(tmp_path: Path, kind: int) -> None:
    path = write_rom(tmp_path, kind=kind, ram=2 if kind else 0)
    decoy = tmp_path / "game.gb.ram"
    decoy.write_bytes(b"\x77" * 0x2000)
    before = {entry.name: (entry.read_bytes(), entry.stat().st_mtime_ns) for entry in tmp_path.iterdir()}
    with made(path) as world:
        world.reset(0)
        played(world, [0] * 20 + PLAY)
        world.load(world.save())
        assert byte(world, 0xA001) != 0x77
    after = {entry.name: (entry.read_bytes(), entry.stat().st_mtime_ns) for entry in tmp_path.iterdir()}
    assert after == before


# -- what is refused -------------------------------------------------------------------------------------------


def test_a_cartridge_the_emulator_can_not_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WorldError, match=r"game\.gb: the emulator can't run it"), made(write_rom(tmp_path, kind=0xFC)):
        pass


def test_an_unknown_profile_is_refused(rom: Path) -> None:
    with pytest.raises(UnknownName, match="no profile named 'tallgras'"), made(rom, profile="tallgras"):
        pass


@pytest.mark.parametrize("options", [{"frames": 3}, {"frames_per_tick": "many"}, {"frames_per_tick": 0}])
def test_an_option_that_is_none_is_refused(rom: Path, options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="world 'game'"), made(rom, **options):
        pass


# -- what a world tells ----------------------------------------------------------------------------------------


def test_an_unknown_game_has_pixels_and_nothing_else(rom: Path) -> None:
    with made(rom) as world:
        world.reset(0)
        world.step(1)
        assert world.state(None) == GameState("raw")
        assert (world.context(), world.signals(), world.surroundings()) == ("", Signals(), None)


def poke(world: GameBoyWorld, address: int, *values: int) -> None:
    for offset, value in enumerate(values):
        world.env.pyboy.memory[address + offset] = value


@pytest.fixture
def red(tmp_path: Path) -> Iterator[GameBoyWorld]:
    """A cartridge that is called Pokemon Red, and leaves the memory above C005 alone."""
    with made(write_rom(tmp_path, "POKEMON RED")) as world:
        world.reset(0)
        played(world, [0] * 20)
        poke(world, 0xD368, 18, 10)
        poke(world, 0xD35E, 12)
        poke(world, 0xD163, 2, 0x99)
        poke(world, 0xD16B, 0x99, 0, 20)
        poke(world, 0xD16B + 0x21, 7, 0, 20)
        poke(world, 0xD16B + 0x2C + 0x21, 9)
        world.step(0)
        yield world


def test_context_and_signals_follow_the_game(red: GameBoyWorld) -> None:
    assert red.context() == "overworld:ROUTE 1"
    poke(red, 0xD356, 0b101)
    poke(red, 0xD2F7, 0b11)
    poke(red, 0xD057, 1)
    poke(red, 0xD059, 0xA5)
    poke(red, 0xCFE5, 0xA5, 0, 12)
    poke(red, 0xCFF4, 0, 12)
    red.step(0)
    assert red.context() == "battle"
    assert red.signals() == Signals(engaged=True, values={"caught": 0, "owned": 2, "badges": 2, "level": 9})
    assert set(red.signals().values) == set(red.facts.signals) <= {gauge.name for gauge in red.facts.gauges}


def test_what_happened_is_told_with_the_tick(red: GameBoyWorld) -> None:
    poke(red, 0xD057, 1)
    poke(red, 0xD059, 0xA5)
    poke(red, 0xCFE5, 0xA5, 0, 12)
    poke(red, 0xCFF4, 0, 12)
    red.step(0)
    assert [event.kind for event in red.events] == ["BattleStarted", "Encounter"]
    assert red.events[1].title == "a wild RATTATA (level 0) appeared"
    assert red.state(None).battle.turn == 1
    poke(red, 0xD057, 0)
    red.step(0)
    assert [event.kind for event in red.events] == ["PartySeen", "BattleEnded"]
    red.step(0)
    assert not red.events


def test_the_turn_of_a_battle_survives_saving(red: GameBoyWorld, tmp_path: Path) -> None:
    poke(red, 0xD057, 1)
    poke(red, 0xD059, 0xA5)
    poke(red, 0xCFE5, 0xA5, 0, 12)
    poke(red, 0xCFF4, 0, 12)
    poke(red, 0xD125, 0x0B)
    poke(red, 0xC3A0, 0x80)
    red.step(0)
    poke(red, 0xCFE6, 0, 5)
    red.step(0)
    assert red.state(None).battle.turn == 2
    with made(tmp_path / "game.gb") as other:
        other.load(red.save())
        assert other.state(None) == red.state(None)


def flags_set(world: GameBoyWorld) -> list[tuple[int, str | None]]:
    return [(event.detail.flag, event.detail.name) for event in world.events if event.kind == "FlagSet"]


def test_a_flag_of_the_story_is_told_when_it_is_set_and_not_when_it_is_cleared(red: GameBoyWorld) -> None:
    poke(red, at.EVENTS, 0b1010)
    red.step(0)
    assert flags_set(red) == [(1, None), (3, "EVENT_HALL_OF_FAME_DEX_RATING")]
    assert red.events[-1].title == "set EVENT_HALL_OF_FAME_DEX_RATING"
    red.step(0)
    assert not red.events
    poke(red, at.EVENTS, 0b0110)
    red.step(0)
    assert flags_set(red) == [(2, None)]


def test_a_flag_that_was_set_in_a_state_half_written_is_told_after_loading_it(
    red: GameBoyWorld, tmp_path: Path
) -> None:
    poke(red, 0xD057, 1)
    poke(red, at.EVENTS, 0b1000)
    red.step(0)
    assert not red.events, "the battle is marked, and the enemy is not there yet"
    with made(tmp_path / "game.gb") as other:
        other.load(red.save())
        for world in (red, other):
            poke(world, 0xD057, 0)
            world.step(0)
            assert flags_set(world) == [(3, "EVENT_HALL_OF_FAME_DEX_RATING")]


def catch(world: GameBoyWorld, slot: int, dvs: int) -> None:
    """Let a creature join in a wild battle."""
    base = 0xD16B + 0x2C * slot
    poke(world, 0xD057, 1)
    poke(world, 0xD059, 0xA5)
    poke(world, 0xCFE5, 0xA5, 0, 12)
    poke(world, 0xCFF4, 0, 12)
    world.step(0)
    poke(world, 0xD164 + slot, 0xA5)
    poke(world, base, 0xA5, 0, 9)
    poke(world, base + 0x1B, 0, dvs)
    poke(world, base + 0x21, 3, 0, 9)
    poke(world, 0xD163, slot + 1)
    world.step(0)
    poke(world, 0xD057, 0)
    world.step(0)


def test_a_catch_counts_and_what_is_given_does_not(red: GameBoyWorld, tmp_path: Path) -> None:
    before = red.save()
    assert (red.signals().values["caught"], len(red.state(None).party)) == (0, 2)
    catch(red, 2, 7)
    assert (red.signals().values["caught"], red.state(None).caught) == (1, 1)
    poke(red, 0xD2F7, 0b1111)  # three more are owned
    red.step(0)
    assert red.signals().values == {"caught": 1, "owned": 4, "badges": 0, "level": 9}
    with made(tmp_path / "game.gb") as other:
        other.load(red.save())
        assert other.signals() == red.signals()
        other.load(before)
        assert other.signals().values["caught"] == 0
    red.reset(0)
    assert red.state(None).caught in (0, None)


def test_a_world_saved_before_catches_were_counted_does_not_know_them(red: GameBoyWorld) -> None:
    memory, state = unpack(red.save())
    older = {name: value for name, value in msgspec.json.decode(memory).items() if name != "caught"}
    red.load(pack(msgspec.json.encode(older), state))
    catch(red, 2, 7)
    assert red.state(None).caught is None
    assert "caught" not in red.signals().values


def test_the_clock_does_not_change_the_hash_and_everything_else_does(red: GameBoyWorld) -> None:
    saved = red.save()

    def hashed(address: int, value: int) -> str:
        red.load(saved)
        poke(red, address, value)
        red.step(0)
        return red.state_hash(None, 0.0, False, False)

    same = hashed(0xFFFE, 0)
    assert hashed(0xDA44, 30) == same
    assert hashed(0xD362, 3) != same


def test_a_tick_without_change_keeps_the_state_and_only_winds_its_clock(red: GameBoyWorld) -> None:
    before = red.state(None)
    red.step(0)
    assert red.state(None) is before
    poke(red, 0xDA41, 1, 0, 2, 3)
    red.step(0)
    after = red.state(None)
    assert (after.play_time.hours, after.play_time.minutes, after.play_time.seconds) == (1, 2, 3)
    assert msgspec.structs.replace(after, play_time=before.play_time) == before


def test_raw_memory_can_be_read(rom: Path) -> None:
    with made(rom) as world:
        world.reset(0)
        played(world, [0] * 20 + [(1, 24)])
        assert world.read_memory(0xC000, 0xC002) == b"\x00\x01"


def test_standing_still_is_noticed(red: GameBoyWorld) -> None:
    told = [(red.step(0), red.movement)[1] for _ in range(40)]
    assert (told[0], told[-1]) == ("moving", "stuck")


def test_the_state_is_json(red: GameBoyWorld) -> None:
    encoded = msgspec.json.encode(red.state(None))
    assert msgspec.json.decode(encoded, type=GameState) == red.state(None)


def test_the_squares_around_the_player(red: GameBoyWorld) -> None:
    poke(red, 0xD530, PASSABLE & 255, PASSABLE >> 8)
    red.step(0)
    around = red.surroundings()
    assert around is not None
    assert around.walkable == ((True,) * 10,) * 9


# -- the built-in game -----------------------------------------------------------------------------------------


def test_tallgrass_is_built_in() -> None:
    with made("tallgrass") as world:
        world.reset(0)
        assert world.facts.origin["profile"] == "tallgrass"
        played(world, [0] * 20)
        state = world.state(None)
        assert (state.screen_type, state.party, state.location) == ("menu", (), None)


def test_a_damaged_header_is_refused_by_the_world_too(tmp_path: Path) -> None:
    rom = bytearray(make_rom())
    rom[0x14D] ^= 1
    assert rom[0x14D] != header_checksum(rom)
    path = tmp_path / "bad.gb"
    path.write_bytes(rom)
    with pytest.raises(ConfigError, match=r"bad\.gb: bad header checksum"), made(path):
        pass
