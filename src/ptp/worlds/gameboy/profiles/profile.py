"""What a game's numbers mean: name tables, read from the CSV files beside this module."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from ptp.worlds.gameboy.text import Charmap

HERE = Path(__file__).parent

Facts = TypeVar("Facts")


class Species(Struct, frozen=True):
    """A kind of creature."""

    name: str
    dex: int


class MoveFacts(Struct, frozen=True):
    """What a move is, apart from who knows it."""

    name: str
    type: str
    power: int
    accuracy: int = msgspec.field(name="accuracy_percent")
    pp: int


class ItemEffect(Struct, frozen=True):
    """What using an item does: catch, heal or cure, and how many HP it gives back."""

    effect: str
    amount: int


Shape = tuple[int, int, int]  # tileset, width and height in blocks
Trainer = tuple[int, int | None]  # class and number; None is any number


@dataclass(frozen=True, eq=False)
class GameProfile:
    """A game that can be read: its tables, or none for a game nobody has described."""

    name: str
    readable: bool = False
    charmap: Charmap = field(default_factory=lambda: Charmap({}))
    maps: dict[int, str] = field(default_factory=dict)
    shapes: dict[int, Shape] = field(default_factory=dict)
    """What a map is like once it is loaded."""
    species: dict[int, Species] = field(default_factory=dict)
    moves: dict[int, MoveFacts] = field(default_factory=dict)
    items: dict[int, str] = field(default_factory=dict)
    item_effects: dict[int, ItemEffect] = field(default_factory=dict)
    types: dict[int, str] = field(default_factory=dict)
    type_chart: dict[tuple[str, str], float] = field(default_factory=dict)
    events: dict[int, str] = field(default_factory=dict)
    badges: dict[int, str] = field(default_factory=dict)
    trainers: dict[Trainer, str] = field(default_factory=dict)
    leaders: frozenset[Trainer] = frozenset()
    event_bytes: int = 0
    """How many bytes of event flags the game uses."""

    def effectiveness(self, attack: str, defenders: tuple[str | None, ...]) -> float:
        """Return what the type chart multiplies damage by; a type counts once."""
        product = 1.0
        for defender in dict.fromkeys(defenders):
            if defender is not None:
                product *= self.type_chart.get((attack, defender), 1.0)
        return product


@dataclass(frozen=True)
class Game:
    """Where a game's tables are, how its cartridge is known, and the few facts that have no table."""

    name: str
    title: str
    event_bytes: int
    badges: tuple[str, ...]
    leaders: frozenset[Trainer]
    sha1: str | None = None


def read_profile(game: Game) -> GameProfile:
    """Read the tables of a game."""
    place = HERE / game.name.replace("-", "_")
    characters = _rows(HERE / "pokemon_red" / "charmap.csv")  # the later of two rows is what the western font shows
    return GameProfile(
        name=game.name,
        readable=True,
        charmap=Charmap({int(row["byte_hex"], 16): row["text"] for row in characters}),
        maps=_names(place / "maps.csv"),
        shapes=_shapes(place / "maps.csv"),
        species=_table(place / "species.csv", Species, "internal_index"),
        moves=_table(place / "moves.csv", MoveFacts),
        items=_names(place / "items.csv"),
        item_effects=_table(place / "item_effects.csv", ItemEffect),
        types=_names(place / "types.csv"),
        type_chart={
            (row["attacker"], row["defender"]): float(row["multiplier"]) for row in _rows(place / "type_chart.csv")
        },
        events=_names(place / "events.csv", "flag"),
        badges=dict(enumerate(game.badges)),
        trainers=_trainers(place),
        leaders=game.leaders,
        event_bytes=game.event_bytes,
    )


def _names(path: Path, key: str = "id") -> dict[int, str]:
    return {int(row[key]): row["name"] for row in _rows(path)}


def _shapes(path: Path) -> dict[int, Shape]:
    """Return the shapes of the maps that can be loaded; a map that the game does not have has no tileset."""
    return {
        int(row["id"]): (int(row["tileset"]), int(row["width_blocks"]), int(row["height_blocks"]))
        for row in _rows(path)
        if row["tileset"]
    }


def _table(path: Path, kind: type[Facts], key: str = "id") -> dict[int, Facts]:
    return {int(row[key]): msgspec.convert(row, kind, strict=False) for row in _rows(path)}


def _trainers(place: Path) -> dict[Trainer, str]:
    """Return trainers by class and number where each has a name, by class where only classes have."""
    if (place / "trainers.csv").exists():
        return {
            (int(row["class"]), int(row["number"])): f"{row['class_name']} {row['name']}"
            for row in _rows(place / "trainers.csv")
        }
    return {(number, None): name for number, name in _names(place / "trainer_classes.csv", "class").items()}


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
