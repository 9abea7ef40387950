"""A game as pokemon-gym's clients know it: the fields of its GameState, from what a world can tell."""

from __future__ import annotations

import base64
from typing import Any

from msgspec import Struct, field

from ptp.emulators.session import Session
from ptp.worlds.gameboy.state import Facing, GameState, Member
from ptp.worlds.gameboy.tiles import PLAYER, ROWS, Square, Surroundings
from ptp.worlds.gameboy.world import GameBoyWorld

NOT_SET = "Not yet set"
MOVES: dict[str, Square] = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
ARROWS: dict[Facing | None, str] = {"up": "↑", "down": "↓", "left": "←", "right": "→", None: "P"}
WALL, FREE, SPRITE = "█", "·", "S"
LEGEND = f"{WALL} wall   {FREE} free   {SPRITE} sprite   ↑ ↓ ← → player, and where it looks"
ON_MAP = frozenset({"overworld", "dialog", "menu", "pause"})


class Item(Struct, frozen=True):
    """Something in the bag."""

    item: str
    quantity: int


class Health(Struct, frozen=True):
    """Hit points."""

    current: int
    max: int


class Move(Struct, frozen=True):
    """A move that a creature knows."""

    name: str
    pp: int


class Pokemon(Struct, frozen=True):
    """A creature of the party."""

    nickname: str
    species: str
    level: int
    hp: Health
    types: list[str]
    moves: list[Move]
    status: str | None
    """SLEEP, PARALYSIS, FREEZE, BURN or POISON; null when nothing ails it."""


class GymState(Struct, kw_only=True):
    """The game after a step; what a world can't tell is empty, because clients rely on the types."""

    player_name: str = NOT_SET
    rival_name: str = NOT_SET
    money: int = 0
    location: str = ""
    """The place, in capitals; empty before the game begins, and in worlds without places."""
    coordinates: list[int] = field(default_factory=lambda: [0, 0])
    badges: list[str] = []
    valid_moves: list[str] = []
    """The directions in which the player can step."""
    inventory: list[Item] = []
    dialog: str | None = None
    pokemons: list[Pokemon] = []
    screenshot_base64: str = ""
    """A PNG file, 320 x 288 for a Game Boy; empty in a world without pictures."""
    collision_map: str | None = None
    """The squares on the screen as text; null with no player on it."""
    step_number: int = 0
    execution_time: float = 0.0
    """Seconds since the last answer."""
    score: float = 0.0


def read_state(session: Session, picture: bytes | None) -> GymState:
    """Return what the game is like now, with its picture."""
    state = GymState()
    known = session.play.state
    if isinstance(known, GameState) and isinstance(session.world, GameBoyWorld):
        _fill(state, known, session.world)
    if picture is not None:
        state.screenshot_base64 = base64.b64encode(picture).decode()
    return state


def _fill(state: GymState, known: GameState, world: GameBoyWorld) -> None:
    state.player_name, state.rival_name = known.player or NOT_SET, known.rival or NOT_SET
    state.money = known.money or 0
    state.location = place_name(known.location)
    if known.coordinates is not None:
        state.coordinates = [known.coordinates.x, known.coordinates.y]
    state.badges = [name for name in known.badge_names or () if name is not None]
    state.inventory = [Item(_name(it.name, it.id), it.quantity) for it in known.inventory or ()]
    state.dialog = known.dialog
    state.pokemons = [_pokemon(member) for member in known.party or ()]
    around = world.surroundings() if known.screen_type in ON_MAP and known.battle is None else None
    if around is not None and around.walkable is not None:
        state.valid_moves = [name for name, way in MOVES.items() if around.is_open(_beside(way))]
        state.collision_map = draw_map(around, known.facing)


def place_name(location: str | None) -> str:
    """Return a place in capitals, with spaces."""
    return (location or "").upper().replace("_", " ")


def _beside(way: Square) -> Square:
    return PLAYER[0] + way[0], PLAYER[1] + way[1]


def _name(name: str | None, number: int) -> str:
    return name or f"#{number}"


def _pokemon(member: Member) -> Pokemon:
    species = _name(member.species, member.species_id)
    return Pokemon(
        nickname=member.nickname or species,
        species=species,
        level=member.level,
        hp=Health(member.hp, member.max_hp),
        types=[kind for kind in member.types if kind is not None],
        moves=[Move(_name(move.name, move.id), move.pp) for move in member.moves],
        status=member.status.partition("+")[0].upper() if member.status else None,
    )


def draw_map(around: Surroundings, facing: Facing | None) -> str:
    """Return the squares on the screen as text in a border, with a legend."""
    walkable: Any = around.walkable
    edge = "+" + "-" * len(walkable[0]) + "+"
    lines = []
    for row in range(ROWS):
        squares = [FREE if is_free else WALL for is_free in walkable[row]]
        for column, line in around.sprites:
            if line == row:
                squares[column] = SPRITE
        if row == PLAYER[1]:
            squares[PLAYER[0]] = ARROWS[facing]
        lines.append(f"|{''.join(squares)}|")
    return "\n".join([edge, *lines, edge, "", LEGEND])
