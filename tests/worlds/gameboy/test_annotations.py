"""What a Game Boy picture shows is told with boxes that fit the pixels."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ptp.config.tree import Screenshot
from ptp.records import WorldSpec
from ptp.worlds import World, find_world, make_world
from ptp.worlds.gameboy.annotations import Annotations, find_menus
from ptp.worlds.gameboy.world import GameBoyWorld
from tests.frames.playing import play

TALLGRASS = WorldSpec("tallgrass", "ptp.worlds.gameboy.world:GameBoyWorld", {"rom": "tallgrass"})


def played_until(found: Callable[[GameBoyWorld], bool]) -> GameBoyWorld:
    world = make_world(TALLGRASS)
    assert isinstance(world, GameBoyWorld)
    world.reset(1)
    for tick in range(600):
        if found(world):
            return world
        world.step(world.parse("start" if tick % 9 == 0 else "a"))
    raise AssertionError("the game never came there")


def annotate_game(world: GameBoyWorld) -> Annotations:
    found = world.annotations()
    assert found is not None
    return found


def words(world: GameBoyWorld) -> dict[str, Any]:
    return {each.text: each for each in annotate_game(world).detected_text}


def test_text_is_found_where_its_pixels_are() -> None:
    world = played_until(lambda w: any("name" in text for text in words(w)))
    picture = world.frame()
    texts = words(world)
    for text, found in texts.items():
        left, top, right, bottom = found.bbox
        assert (right - left, bottom - top) == (8 * len(text), 8)
        assert picture[top:bottom, left:right].min() < 100, text
    world.close()


def test_a_menu_is_a_framed_box_with_a_cursor() -> None:
    world = played_until(lambda w: any(region.type == "menu" for region in annotate_game(w).menu_regions))
    regions = annotate_game(world).menu_regions
    assert {region.type for region in regions} <= {"menu", "text_box"}
    picture = world.frame()
    for region in regions:
        left, top, right, bottom = region.bbox
        assert 0 <= left < right <= 160
        assert 0 <= top < bottom <= 144
        assert picture[top + 2 : bottom - 2, left : left + 8].min() < 100
    world.close()


def test_the_player_is_found_on_the_map() -> None:
    world = played_until(lambda w: bool(annotate_game(w).detected_sprites))
    player = annotate_game(world).detected_sprites[0]
    assert (player.name, player.bbox) == ("player", (64, 60, 80, 76))
    world.close()


def test_a_frame_that_breaks_off_is_no_box() -> None:
    whole = bytes([0x79, 0x7A, 0x7B, 0x7C, 0xED, 0x7C, 0x7D, 0x7A, 0x7E])
    (region,) = find_menus(whole, 3, "battle")
    assert (region.type, region.bbox) == ("battle_menu", (0, 0, 24, 24))
    for place in (1, 2, 3, 6, 8):
        broken = bytearray(whole)
        broken[place] = 0
        assert list(find_menus(bytes(broken), 3, "")) == []


def test_the_annotations_are_kept_in_the_form_that_was_asked_for(tmp_path: Path) -> None:
    run = play(tmp_path, make_world(TALLGRASS), 60, Screenshot(interval=10))
    rows = run.rows("SELECT screen_type, annotations FROM screenshots ORDER BY tick")
    assert rows
    for _, text in rows:
        found = json.loads(text)
        assert list(found) == ["detected_text", "detected_sprites", "menu_regions"]
        for each in [*found["detected_text"], *found["menu_regions"]]:
            assert len(each["bbox"]) == 4
            assert each["confidence"] == 1.0


def test_other_worlds_and_unknown_games_are_not_annotated() -> None:
    lake = make_world(find_world("FrozenLake-v1"))
    assert lake.annotations() is None
    lake.close()
    raw: World = make_world(WorldSpec("raw", TALLGRASS.entry, {"rom": "tallgrass", "profile": "raw"}))
    assert raw.annotations() is None
    raw.close()
