"""Reading a whole state from memory."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

import msgspec

from ptp.worlds.gameboy import addresses as at
from ptp.worlds.gameboy import parts
from ptp.worlds.gameboy.memory import Bytes
from ptp.worlds.gameboy.profiles import GameProfile
from ptp.worlds.gameboy.state import Battle, Facing, GameState, Item, Member, Menu, PlayTime, Point, ScreenType, Warp
from ptp.worlds.gameboy.text import ARROW, CURSOR, ScreenRows, has_start_menu, message, screen_lines

T = TypeVar("T")

FACINGS: dict[int, Facing] = {0: "down", 4: "up", 8: "left", 12: "right"}
SCRIPTED = 0b1010_0000  # walk flags: the game moves the player, or ignores the buttons
BATTLE_MENU = 0x0B
ON_WARP = 0b100  # movement: the player stands on a warp
LCD_ON = 0x80
TILESET_BITS = 0x7F  # the bit above says only that the graphics are loaded already
ONE_SHADE = (0x00, 0xFF)  # palettes of a screen that is all white, or all black
NOWHERE: dict[str, Any] = {"screen_type": "map_change"} | dict.fromkeys(
    ("location", "map_id", "coordinates", "warps", "connections", "width", "height")
)
"""What a state says of the place while the map is changed."""

# Picked in one call each: looking up every address by name would take longer than reading it.
_values = itemgetter(
    at.FONT_LOADED, at.IN_BATTLE, at.BATTLE_RESULT, at.PLAYER_FACING, at.MAP_ID, at.PLAYER_X, at.PLAYER_Y,
    at.MAP_WIDTH, at.MAP_HEIGHT, at.INPUT_IGNORED, at.WALK_FLAGS,
    at.PLAY_HOURS, at.PLAY_MINUTES, at.PLAY_SECONDS,
)  # fmt: skip
_FACTS = (
    slice(at.MONEY, at.MONEY + at.MONEY_SIZE),
    slice(at.COINS, at.COINS + at.COINS_SIZE),
    slice(at.PLAYER_NAME, at.PLAYER_NAME + at.NAME_SIZE),
    slice(at.RIVAL_NAME, at.RIVAL_NAME + at.NAME_SIZE),
    slice(at.BADGES, at.BADGES + 1),
    slice(at.DEX_OWNED, at.DEX_SEEN + at.DEX_SIZE),
)
_stepping = itemgetter(
    at.PLAYER_FACING, at.PLAYER_X, at.PLAYER_Y, at.INPUT_IGNORED, at.WALK_FLAGS,
    at.PLAY_HOURS, at.PLAY_MINUTES, at.PLAY_SECONDS,
)  # fmt: skip
_clock = itemgetter(at.PLAY_HOURS, at.PLAY_MINUTES, at.PLAY_SECONDS)
_menu = itemgetter(at.TEXT_BOX, at.MENU_ITEM, at.MENU_LAST, at.MENU_X, at.MENU_Y, at.LIST_SCROLL)
_loading = itemgetter(at.TILESET, at.MOVEMENT, at.WARPED_FROM, at.LAST_MAP, at.LCD_CONTROL, at.PALETTE)
_edges = itemgetter(at.CONNECTIONS, *at.CONNECTION_HEADERS.values())
_fight = itemgetter(
    at.IN_BATTLE, at.BATTLE_TYPE, at.TRAINER_CLASS, at.TRAINER_NUMBER, at.ACTIVE_SLOT, at.OPPONENT, at.ENEMY_MOVE,
    at.TEXT_BOX,
    slice(at.ENEMY, at.ENEMY + at.FIGHTER_SIZE), slice(at.OWN, at.OWN + at.FIGHTER_SIZE),
)  # fmt: skip
_TILES = slice(at.TILE_MAP, at.TILE_MAP_END)


def read_state(image: Bytes, profile: GameProfile) -> GameState:
    """Return the state that is in memory: a pure function of its bytes."""
    return StateReader(profile).read(image)


def is_owned(image: Bytes, dex: int) -> bool:
    """Whether the creature of that dex number, from 1, was ever owned."""
    return bool(image[at.DEX_OWNED + (dex - 1) // 8] & 1 << (dex - 1) % 8)


def has_event(image: Bytes, flag: int) -> bool:
    """Whether an event flag is set."""
    return bool(image[at.EVENTS + flag // 8] & 1 << flag % 8)


class Shown(NamedTuple):
    """The text on the screen."""

    dialog: str | None
    lines: tuple[str, ...]
    waiting: bool
    has_cursor: bool
    has_start_menu: bool


class StateReader:
    """Reads states one after the other; a part whose bytes did not change is not decoded again."""

    def __init__(self, profile: GameProfile) -> None:
        self._profile = profile
        self._last: dict[str, tuple[Bytes, Any]] = {}
        self.caught: int | None = None
        """What the next states say of catches, which memory does not count."""
        self._rows = ScreenRows(profile.charmap)
        self._facts = itemgetter(*_FACTS, slice(at.EVENTS, at.EVENTS + profile.event_bytes))
        self._walking: tuple[bytes, GameState] | None = None

    def read(self, image: Bytes, constant: bytes | None = None) -> GameState:
        """Return the state that is in memory; with *constant* bytes as last time, the player only took a step."""
        profile = self._profile
        if not profile.readable:
            return GameState(profile.name)
        if constant is not None and self._walking is not None and self._walking[0] == constant:
            state = self._step(self._walking[1], image)
        else:
            state = self._read_all(image)
            walks = state.screen_type == "overworld"
            self._walking = (constant, state) if constant and walks else None
        if state.map_id is not None and _is_loading(image, state, profile):
            return msgspec.structs.replace(state, **NOWHERE)
        return state

    def _step(self, state: GameState, image: Bytes) -> GameState:
        facing, x, y, ignored, flags, *time = _stepping(image)
        return msgspec.structs.replace(
            state,
            coordinates=Point(x, y),
            facing=FACINGS.get(facing),
            input_blocked=bool(ignored or flags & SCRIPTED),
            caught=self.caught,
            play_time=PlayTime(*time),
        )

    def _read_all(self, image: Bytes) -> GameState:
        profile = self._profile
        (font, in_battle, result, facing, map_id, x, y, width, height, ignored, flags, hours, minutes,
         seconds) = _values(image)  # fmt: skip
        shown = self._same("shown", image[_TILES], self._read_shown) if font & 1 or in_battle else None
        menu = Menu(*_menu(image)) if shown else None
        if not (width and height):
            return _before_the_game(profile, shown, menu)
        facts = self._same("facts", b"".join(self._facts(image)), parts.read_facts)
        dialog, text, waiting = shown[:3] if shown else (None, None, False)
        return GameState(
            profile=profile.name,
            screen_type=_screen_type(in_battle, shown),
            location=profile.maps.get(map_id),
            map_id=map_id,
            coordinates=Point(x, y),
            facing=FACINGS.get(facing),
            party=self._party(image),
            inventory=self._inventory(image),
            money=facts.money,
            coins=facts.coins,
            badges=facts.badges,
            badge_names=facts.badge_names,
            caught=self.caught,
            owned=facts.owned,
            seen=facts.seen,
            events=facts.events,
            battle=self._battle(image, bool(text)) if in_battle else None,
            battle_result=result,
            dialog=dialog,
            text=text,
            waiting=waiting,
            menu=menu,
            input_blocked=bool(ignored or flags & SCRIPTED),
            warps=self._warps(image),
            connections=self._same("connections", bytes(_edges(image)), parts.read_connections)
            if image[at.CONNECTIONS]
            else (),
            width=width * 2,
            height=height * 2,
            player=facts.player,
            rival=facts.rival,
            play_time=PlayTime(hours, minutes, seconds),
        )

    def wind(self, state: GameState, image: Bytes) -> GameState:
        """Return the same state with the clock of now."""
        if state.play_time is None:
            return state
        time = PlayTime(*_clock(image))
        return state if time == state.play_time else msgspec.structs.replace(state, play_time=time)

    def _same(self, part: str, data: Bytes, read: Callable[[bytes, GameProfile], T]) -> T:
        last = self._last.get(part)
        if last is not None and last[0] == data:
            value: T = last[1]
            return value
        value = read(bytes(data), self._profile)
        self._last[part] = (data, value)
        return value

    def _read_shown(self, tiles: bytes, profile: GameProfile) -> Shown:
        rows = self._rows.read(tiles)
        return Shown(
            dialog=message(tiles, rows),
            lines=screen_lines(rows),
            waiting=tiles[at.PROMPT_ARROW - at.TILE_MAP] == ARROW,
            has_cursor=CURSOR in tiles,
            has_start_menu=has_start_menu(tiles),
        )

    def _party(self, image: Bytes) -> tuple[Member, ...] | None:
        count = image[at.PARTY_COUNT]
        if count > at.PARTY_MOST:
            return None
        species = image[at.PARTY_SPECIES : at.PARTY_SPECIES + count]
        members = image[at.PARTY : at.PARTY + at.MEMBER_SIZE * count]
        names = image[at.NICKNAMES : at.NICKNAMES + at.NAME_SIZE * count]
        return self._same("party", species + members + names, parts.read_party)

    def _inventory(self, image: Bytes) -> tuple[Item, ...] | None:
        count = image[at.BAG_COUNT]
        if count > at.BAG_MOST:
            return None
        return self._same("bag", image[at.BAG : at.BAG + 2 * count], parts.read_items)

    def _warps(self, image: Bytes) -> tuple[Warp, ...] | None:
        count = image[at.WARP_COUNT]
        if count > at.WARPS_MOST:
            return None
        entries = image[at.WARPS : at.WARPS + at.WARP_SIZE * count]
        return self._same("warps", bytes((image[at.LAST_MAP],)) + entries, parts.read_warps)

    def _battle(self, image: Bytes, has_text: bool) -> Battle:
        *head, text_box, enemy, own = _fight(image)
        data = bytes((*head, text_box == BATTLE_MENU, has_text)) + enemy + own
        return self._same("battle", data, parts.read_battle)


def _before_the_game(profile: GameProfile, shown: Shown | None, menu: Menu | None) -> GameState:
    """Return the state of a title or naming screen: nothing is owned, and there is no place to be."""
    dialog, text, waiting = shown[:3] if shown else (None, None, False)
    screen: ScreenType = "dialog" if dialog is not None and not (shown and shown.has_cursor) else "menu"
    return GameState(
        profile.name, screen, party=(), inventory=(), dialog=dialog, text=text, waiting=waiting, menu=menu
    )  # fmt: skip


def _is_loading(image: Bytes, state: GameState, profile: GameProfile) -> bool:
    """Whether the game is between two maps: the map's number is written first, the rest half a second later."""
    tileset, movement, came_from, last_map, lcd, palette = _loading(image)
    assert state.map_id is not None
    width, height = image[at.MAP_WIDTH], image[at.MAP_HEIGHT]
    shape, place = profile.shapes.get(state.map_id), state.coordinates
    assert place is not None
    if shape is not None and shape != (tileset & TILESET_BITS, width, height):
        return True
    if place.x >= 2 * width or place.y >= 2 * height:
        return True
    if movement & ON_WARP and came_from != state.map_id:  # maps of one shape: the warp underfoot was taken already
        under = (warp.map_id for warp in state.warps or () if (warp.x, warp.y) == (place.x, place.y))
        if any(state.map_id == (last_map if to == parts.SAME_MAP_AS_BEFORE else to) for to in under):
            return True
    return state.screen_type == "overworld" and (not lcd & LCD_ON or palette in ONE_SHADE)


def _screen_type(in_battle: int, shown: Shown | None) -> ScreenType:
    if in_battle:
        return "battle"
    if shown is None:
        return "overworld"
    if shown.has_cursor:
        return "pause" if shown.has_start_menu else "menu"
    return "menu" if shown.dialog is None else "dialog"
