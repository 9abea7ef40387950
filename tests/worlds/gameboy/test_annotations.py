"""What a Game Boy picture shows is told with boxes that fit the pixels."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from ptp.config.tree import Screenshot
from ptp.records import WorldSpec
from ptp.worlds import World, find_world, make_world
from ptp.worlds.gameboy.annotations import Annotations, annotate, find_menus
from ptp.worlds.gameboy.state import Battle, Fighter
from ptp.worlds.gameboy.world import GameBoyWorld
from tests.frames.playing import play
from tests.worlds.gameboy.images import RED, started

_FIGHTER = Fighter(0x54, "PIKACHU", 5, 20, 20, None, 0, ("ELECTRIC",), ())
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


def test_in_a_battle_both_creatures_are_found_where_they_are_drawn() -> None:
    image, fighter = started(), partial(msgspec.structs.replace, _FIGHTER)
    for left, top, first in ((12, 0, 0x00), (1, 5, 0x31)):  # as the retail game draws them
        for place in range(49):
            image[0xC3A0 + (top + place % 7) * 20 + left + place // 7] = first + place
    tiles = bytes(image[0xC3A0:0xC508])
    battle = Battle("wild", "normal", False, None, None, None, fighter(species="MR. MIME"), fighter(), 0, False)
    found = annotate(tiles, "battle", None, RED.charmap, battle).detected_sprites
    assert [(each.type, each.name, each.bbox) for each in found] == [
        ("pokemon", "mr._mime_front", (96, 0, 152, 56)),
        ("pokemon", "pikachu_back", (8, 40, 64, 96)),
    ]
    unknown = msgspec.structs.replace(battle, own=None)
    assert len(annotate(tiles, "battle", None, RED.charmap, unknown).detected_sprites) == 1


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
