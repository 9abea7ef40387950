"""Two readers that share no line read the same game and must agree, at every tick and at every frame of a tick."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from ptp.worlds.gameboy.profiles import load_profile
from ptp.worlds.gameboy.reader import read_state
from tests.cartridge import walkthrough
from tests.cartridge.player import HOLD, TICK, Player
from tests.contract.runs import Shelf, commands_of
from tests.contract.second_reader import Image, SecondReader, expected, flat
from tests.contract.witness import Followed, follow_run, press, slowed
from tests.web.parts import record

TALLGRASS = load_profile("tallgrass")


class Watched(Player):
    """A player whose every tick both readers look at."""

    def __init__(self) -> None:
        super().__init__()
        self.reader, self.followed = SecondReader(), Followed()

    def press(self, button: str | None, hold: int = HOLD, frames: int = TICK) -> None:
        for _ in press(self.pyboy, button, hold, frames):
            self.reader.follow(self.memory)
        self.followed.compare(self.reader, self.memory, state_in(self))


def state_in(player: Player) -> dict[str, object]:
    image = bytearray(0x10000)
    for part in (slice(0xC000, 0xE000), slice(0xFF00, 0x10000)):
        image[part] = bytes(player.memory[part])
    state: dict[str, object] = msgspec.to_builtins(read_state(image, TALLGRASS))
    return state


def test_both_readers_agree_from_power_on_to_the_badge() -> None:
    player = Watched()
    walkthrough.play(player, lambda _: None)
    player.close()
    assert player.followed.wrong == []
    assert player.followed.places > 1000
    assert player.followed.fights > 300


def test_both_readers_agree_at_every_tick_of_the_recorded_runs(shelf: Shelf) -> None:
    for name in ("explorer", "resumed", "forked", "lost"):
        followed = follow_run(shelf.path(name))
        assert followed.wrong == [], name
        assert followed.places > 50, name


@pytest.mark.parametrize(("frames", "ticks"), [(4, 3000), (1, 3600)])
def test_both_readers_agree_when_ticks_end_in_the_middle_of_things(
    tmp_path: Path, shelf: Shelf, frames: int, ticks: int
) -> None:
    script = tmp_path / "script.txt"
    script.write_text("\n".join(slowed(commands_of(shelf.path("explorer")), frames)[:ticks]))
    run = record(tmp_path, world="tallgrass", agent="script", script=str(script), frames_per_tick=frames)
    followed = follow_run(run.path)
    assert followed.ticks == ticks
    assert followed.wrong == []
    assert followed.changing > 10, "no tick ended while a map was being loaded"


def test_a_reader_that_trusts_the_map_number_too_early_is_found_out() -> None:
    memory = bytearray(0x10000)
    reader = SecondReader()
    memory[0xD369], memory[0xFF40], memory[0xFF47] = 10, 0x80, 0xE4
    reader.follow(memory)
    memory[0xD35E] = 5
    reader.follow(memory)
    state = msgspec.to_builtins(read_state(memory, TALLGRASS)) | {
        "map_id": 5, "coordinates": {"x": 0, "y": 0}, "location": "A TOWN", "screen_type": "overworld",
    }  # fmt: skip
    first, second = reader.wrong(Image.of(memory), state)
    assert "is a place while map 5 is being loaded" in first
    assert "'overworld' while a map is being loaded" in second


def test_every_value_that_memory_holds_is_one_that_states_have(shelf: Shelf) -> None:
    """A path that no state has would be compared with nothing."""
    seen = {path for state in shelf.states("explorer") for path, value in flat(state).items() if value is not None}
    memory = bytearray(0x10000)
    memory[0xD163], memory[0xD057] = 1, 2
    assert set(expected(Image.of(memory))) - seen == set()
