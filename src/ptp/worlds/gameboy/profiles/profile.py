"""What a game's numbers mean: name tables, read from the CSV files beside this module."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from pathlib import Path

from ptp.worlds.gameboy.text import Charmap

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Species:
    """A kind of creature."""

    name: str
    dex: int


@dataclass(frozen=True, slots=True)
class MoveFacts:
    """What a move is, apart from who knows it."""

    name: str
    type: str
    power: int
    accuracy: int
    pp: int


@dataclass(frozen=True, slots=True)
class Area:
    """A map and its size in blocks of 2 x 2 squares."""

    name: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class ItemEffect:
    """What using an item does: catch, heal or cure, and how many HP it gives back."""

    effect: str
    amount: int


Trainer = tuple[int, int | None]  # class and number; None is any number


@dataclass(frozen=True, eq=False)
class GameProfile:
    """A game that can be read: its tables, or none for a game nobody has described."""

    name: str
    readable: bool = False
    charmap: Charmap = field(default_factory=lambda: Charmap({}))
    maps: dict[int, Area] = field(default_factory=dict)
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
    folder: str
    title: str
    event_bytes: int
    badges: tuple[str, ...]
    leaders: frozenset[Trainer]
    sha1: str | None = None


def read_profile(game: Game) -> GameProfile:
    """Read the tables of a game."""
    place = HERE / game.folder
    return GameProfile(
        name=game.name,
        readable=True,
        charmap=read_charmap(HERE / "pokemon_red" / "charmap.csv"),
        maps={
            int(row["id"]): Area(row["name"], int(row["width_blocks"]), int(row["height_blocks"]))
            for row in _rows(place / "maps.csv")
        },
        species={
            int(row["internal_index"]): Species(row["name"], int(row["dex"])) for row in _rows(place / "species.csv")
        },
        moves={int(row["id"]): _move(row) for row in _rows(place / "moves.csv")},
        items={int(row["id"]): row["name"] for row in _rows(place / "items.csv")},
        item_effects={
            int(row["id"]): ItemEffect(row["effect"], int(row["amount"])) for row in _rows(place / "item_effects.csv")
        },
        types={int(row["id"]): row["name"] for row in _rows(place / "types.csv")},
        type_chart={
            (row["attacker"], row["defender"]): float(row["multiplier"]) for row in _rows(place / "type_chart.csv")
        },
        events={int(row["flag"]): row["name"] for row in _rows(place / "events.csv")},
        badges=dict(enumerate(game.badges)),
        trainers=_trainers(place),
        leaders=game.leaders,
        event_bytes=game.event_bytes,
    )


def _move(row: dict[str, str]) -> MoveFacts:
    return MoveFacts(row["name"], row["type"], int(row["power"]), int(row["accuracy_percent"]), int(row["pp"]))


def _trainers(place: Path) -> dict[Trainer, str]:
    """Return trainers by class and number where each has a name, by class where only classes have."""
    if (place / "trainers.csv").exists():
        return {
            (int(row["class"]), int(row["number"])): f"{row['class_name']} {row['name']}"
            for row in _rows(place / "trainers.csv")
        }
    return {(int(row["class"]), None): row["name"] for row in _rows(place / "trainer_classes.csv")}


def read_charmap(path: Path) -> Charmap:
    """Read which character each byte shows; the later of two rows is what the western font shows."""
    return Charmap({int(row["byte_hex"], 16): row["text"] for row in _rows(path)})


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
