"""What a game is like at one moment, as frozen data; None where it can't be read."""

from __future__ import annotations

from typing import Literal

import msgspec

from ptp.worlds.gameboy.addresses import Side

ScreenType = Literal["overworld", "battle", "dialog", "menu", "pause", "map_change"]
Facing = Literal["down", "up", "left", "right"]
BattleKind = Literal["wild", "trainer", "gym"]
BattleStyle = Literal["normal", "old man", "safari"]


class Move(msgspec.Struct, frozen=True, gc=False):
    """A move that a creature knows; an id in no table has no name."""

    id: int
    name: str | None
    type: str | None
    power: int | None
    pp: int


class Member(msgspec.Struct, frozen=True, gc=False):
    """A creature of the party."""

    species_id: int
    species: str | None
    dex: int | None
    nickname: str | None
    level: int
    hp: int
    max_hp: int
    status: str | None
    sleep_turns: int
    types: tuple[str | None, ...]
    moves: tuple[Move, ...]
    experience: int
    attack: int
    defence: int
    speed: int
    special: int
    trainer_id: int
    dvs: int
    """Drawn at birth and never changed; with the trainer's id it tells a creature from the next."""


class Fighter(msgspec.Struct, frozen=True, gc=False):
    """A creature that is fighting."""

    species_id: int
    species: str | None
    level: int
    hp: int
    max_hp: int
    status: str | None
    sleep_turns: int
    types: tuple[str | None, ...]
    moves: tuple[Move, ...]


class Battle(msgspec.Struct, frozen=True, gc=False):
    """A fight."""

    kind: BattleKind | None
    """None once the game has marked the battle as lost."""
    style: BattleStyle | None
    lost: bool
    trainer: str | None
    trainer_class: int | None
    trainer_number: int | None
    enemy: Fighter | None
    own: Fighter | None
    active_slot: int
    choosing: bool
    """Whether the battle menu waits for the player."""
    enemy_move: str | None = None
    """The move that the enemy chose last."""
    turn: int | None = None
    """The number of the present turn, from 1; known only to one who saw the battle from its start."""


class Item(msgspec.Struct, frozen=True, gc=False):
    """Something in the bag."""

    id: int
    name: str | None
    quantity: int


class Point(msgspec.Struct, frozen=True, gc=False):
    """A square of the map."""

    x: int
    y: int


class Warp(msgspec.Struct, frozen=True, gc=False):
    """A door, stair or hole, and where it leads."""

    x: int
    y: int
    map_id: int
    location: str | None
    warp: int


class Connection(msgspec.Struct, frozen=True, gc=False):
    """The map beyond an edge."""

    side: Side
    map_id: int
    location: str | None


class Menu(msgspec.Struct, frozen=True, gc=False):
    """Where the cursor is."""

    text_box: int
    item: int
    last: int
    x: int
    y: int
    scroll: int


class PlayTime(msgspec.Struct, frozen=True, gc=False):
    """How long the game has been played, by its own clock."""

    hours: int
    minutes: int
    seconds: int


class GameState(msgspec.Struct, frozen=True, gc=False):
    """Everything that is read each tick; before a game is started, only what the screen shows."""

    profile: str
    screen_type: ScreenType | None = None
    location: str | None = None
    map_id: int | None = None
    coordinates: Point | None = None
    facing: Facing | None = None
    party: tuple[Member, ...] | None = None
    inventory: tuple[Item, ...] | None = None
    money: int | None = None
    coins: int | None = None
    badges: int | None = None
    badge_names: tuple[str | None, ...] | None = None
    caught: int | None = None
    """Creatures caught in the wild or traded for; known only to one who saw it."""
    owned: int | None = None
    """Species that were ever owned, those that were given too."""
    seen: int | None = None
    events: int | None = None
    """How many event flags are set."""
    battle: Battle | None = None
    battle_result: int | None = None
    """How the last battle ended, as the game notes it: 0 won, 1 lost, 2 neither."""
    dialog: str | None = None
    text: tuple[str, ...] | None = None
    """Every piece of text on the screen, while there is any."""
    waiting: bool | None = None
    """Whether a prompt arrow waits for a button."""
    menu: Menu | None = None
    input_blocked: bool | None = None
    warps: tuple[Warp, ...] | None = None
    connections: tuple[Connection, ...] | None = None
    width: int | None = None
    height: int | None = None
    player: str | None = None
    rival: str | None = None
    play_time: PlayTime | None = None
