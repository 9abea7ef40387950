"""Memory images made byte by byte. Addresses are written out here, so that they are tested and not repeated."""

from __future__ import annotations

from ptp.worlds.gameboy.profiles import load_profile
from ptp.worlds.gameboy.reader import read_state
from ptp.worlds.gameboy.state import GameState

RED = load_profile("pokemon-red")


def empty() -> bytearray:
    """Memory as it is when the power comes on."""
    return bytearray(0x10000)


def started() -> bytearray:
    """Memory of a game in which a map is loaded, and nothing else."""
    image = empty()
    image[0xD368], image[0xD369] = 9, 10
    image[0xFF40], image[0xFF47] = 0xE3, 0xE4
    return image


def move_to(image: bytearray, map_id: int) -> None:
    """Load another map."""
    image[0xD35E] = map_id
    image[0xD367], image[0xD369], image[0xD368] = RED.shapes[map_id]


def put(image: bytearray, address: int, *values: int) -> None:
    image[address : address + len(values)] = bytes(values)


def write(image: bytearray, address: int, text: str) -> None:
    """Write a name and its end."""
    data = RED.charmap.encode(text)
    image[address : address + len(data)] = data


def show(image: bytearray, row: int, column: int, text: str) -> None:
    """Put text on the tile map, with the font loaded."""
    data = RED.charmap.encode(text)[:-1]
    start = 0xC3A0 + 20 * row + column
    image[start : start + len(data)] = data
    image[0xCFC4] |= 1


def box(image: bytearray, row: int, column: int, height: int, width: int) -> None:
    """Draw the frame of a box of so many tiles."""
    rows = [b"\x79" + b"\x7a" * (width - 2) + b"\x7b"]
    rows += [b"\x7c" + b"\x7f" * (width - 2) + b"\x7c"] * (height - 2)
    rows += [b"\x7d" + b"\x7a" * (width - 2) + b"\x7e"]
    for offset, tiles in enumerate(rows):
        start = 0xC3A0 + 20 * (row + offset) + column
        image[start : start + width] = tiles
    image[0xCFC4] |= 1


def member(
    image: bytearray, slot: int, species: int = 0x99, level: int = 5, hp: int = 20, dvs: int | None = None
) -> int:
    """Put a creature into the party and return where its struct begins."""
    image[0xD163] = max(image[0xD163], slot + 1)
    image[0xD164 + slot] = species
    base = 0xD16B + 0x2C * slot
    put(image, base, species, hp >> 8, hp & 255)
    put(image, base + 0x1B, *divmod(slot if dvs is None else dvs, 256))
    image[base + 0x21] = level
    put(image, base + 0x22, *divmod(max(hp, 30), 256))
    write(image, 0xD2B5 + 11 * slot, f"NAME{slot}")
    return base


def fight(image: bytearray, kind: int = 1, species: int = 0xA5, level: int = 3, hp: int = 12) -> None:
    """Begin a battle against one enemy."""
    image[0xD057] = kind
    image[0xD059] = species
    put(image, 0xCFE5, species, 0, hp)
    image[0xCFF3] = level
    put(image, 0xCFF4, 0, 15)
    put(image, 0xD014, 0x99, 0, 20)
    image[0xD022] = 5
    put(image, 0xD023, 0, 20)
    image[0xD125] = 0x0B
    show(image, 0, 1, "ENEMY")


def state(image: bytearray) -> GameState:
    return read_state(bytes(image), RED)
