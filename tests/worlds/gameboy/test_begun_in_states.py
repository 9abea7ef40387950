"""An episode can begin in a saved state, and the options that say so are data that a tape can hold."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path
from typing import Any

import pytest

from ptp.errors import WorldError
from ptp.worlds.gameboy.env import MOST_STATE
from ptp.worlds.gameboy.world import GameBoyWorld
from tests.worlds.gameboy.test_world import PLAY, made, played


def here(world: GameBoyWorld) -> tuple[Any, bytes]:
    return world.state(world.observe()), world.env.save()


@pytest.mark.parametrize("whole", [True, False], ids=["a saved world", "a state of PyBoy"])
def test_an_episode_that_begins_in_a_state_plays_on_from_there(whole: bool) -> None:
    with made("tallgrass") as world, made("tallgrass") as other:
        world.reset(0)
        played(world, [1] * 60)
        options = json.loads(json.dumps(world.options_from(world.save() if whole else world.env.save())))
        then = here(world)
        after = played(world, PLAY)
        for place in (world, other):
            place.reset(0, options)
            assert here(place) == then
            assert played(place, PLAY) == after
        other.reset(0)
        assert here(other) != then


def test_what_is_no_state_is_refused(tmp_path: Path) -> None:
    large = base64.b64encode(zlib.compress(bytes(MOST_STATE + 1))).decode()
    cut = base64.b64encode(zlib.compress(bytes(1000))[:-5]).decode()
    pickled = base64.b64encode(zlib.compress(b"\x80\x04N.")).decode()
    with made("tallgrass") as world:
        for text, reason in (
            ("?", "not a state as text"),
            (7, "not a state as text"),
            ("aGVsbG8=", "not a state as text"),
            (large, "too large"),
            (cut, "breaks off"),
            (pickled, "pickle"),
        ):
            with pytest.raises(WorldError, match=reason):
                world.reset(0, {"state": text})
