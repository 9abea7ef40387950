"""What a pokemon-gym server answers, as types; fields that a server adds are ignored."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec


class HitPoints(msgspec.Struct, frozen=True):
    """The health of a creature."""

    current: int
    max: int


class Move(msgspec.Struct, frozen=True):
    """A move of a creature, and how often it can still be used."""

    name: str
    pp: int


class Creature(msgspec.Struct, frozen=True):
    """A member of the party."""

    nickname: str
    species: str
    level: int
    hp: HitPoints
    types: list[str]
    moves: list[Move]
    status: str | None


class Item(msgspec.Struct, frozen=True):
    """A kind of item in the bag."""

    item: str
    quantity: int


class GameState(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to every input."""

    player_name: str
    rival_name: str
    money: int
    location: str
    coordinates: Annotated[list[int], msgspec.Meta(min_length=2, max_length=2)]
    badges: list[str]
    valid_moves: list[str]
    inventory: list[Item]
    dialog: str | None
    pokemons: list[Creature]
    screenshot_base64: str
    collision_map: str | None
    step_number: int
    """How many inputs were sent since the game began."""
    execution_time: float
    score: float = 0.0


class ServerStatus(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a game is being played, and how far it is."""

    status: Literal["not_initialized", "running"]
    steps_taken: int | None = None
    session_dir: str | None = None
    remaining_time_seconds: float | None = None
    score: float | None = None
    pokemon_count: int | None = None
    badges_count: int | None = None
    locations_count: int | None = None


class Stopped(msgspec.Struct, frozen=True, kw_only=True):
    """How a game ended that was stopped."""

    status: Literal["not_initialized", "stopped"]
    session_dir: str | None = None
    final_score: float | None = None
    pokemon_collected: list[str] = []
    badges_earned: list[str] = []
    locations_visited: list[str] = []


class Found(msgspec.Struct, frozen=True):
    """What was found of one kind."""

    count: int
    items: list[str]


class Evaluation(msgspec.Struct, frozen=True):
    """The score and what it is made of."""

    score: float
    pokemon: Found
    badges: Found
    locations: Found


class Saved(msgspec.Struct, frozen=True):
    """Where the server has kept a state."""

    status: str
    state_file: str


class Position(msgspec.Struct, frozen=True, kw_only=True):
    """Where a game on one of our servers stands."""

    world: str
    seed: int | None
    step: int
    """Commands since the episode began."""
    reward: float
    done: bool
    run_id: str | None
    """The run that it is recorded as."""
    state: Any


class Stepped(msgspec.Struct, frozen=True, kw_only=True):
    """What many commands did."""

    played: int
    """How many were applied: fewer than were sent when the episode ended."""
    position: Position
    rewards: list[float] | None = None
    states: list[Any] | None = None


class ScriptOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """How a script went."""

    success: bool
    checkpoints: list[str]
    failures: list[str]
    position: Position
