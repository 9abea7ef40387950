"""Cartridges made byte by byte: one that shows which buttons are down, and broken ones."""

from __future__ import annotations

from pathlib import Path

from ptp.worlds.gameboy.cartridge import LOGO, header_checksum

# Notes the buttons at C000 and C001 and colours the screen by them, scrolls for as long as one is down (C004, C005),
# so that the picture depends on all that was ever pressed, counts at C002, notes the divider at C003, and copies the
# count to battery RAM.
PASSABLE = 0x3F00  # a list of one passable tile
DRAW = bytes.fromhex("f321008006007d220520fb")  # a pattern, so that scrolling shows
PROGRAM = bytes.fromhex(
    "3e20e000f000f0002fe60fea00c0"  # directions
    "3e10e000f000f0002fe60fea01c0"  # buttons
    "eee4e047"  # palette
    "fa01c02104c08677e043"  # scroll right
    "fa00c02105c08677e042"  # scroll down
    "2102c034"  # count
    "f004ea03c0"  # divider
    "3e0aea0000fa02c0ea00a0"  # battery RAM
)
LOOP = bytes([0x18, 0x100 - len(PROGRAM) - 2])


def make_rom(title: str = "TEST", kind: int = 0, ram: int = 0) -> bytes:
    rom = bytearray(0x8000)
    rom[0x100:0x104] = bytes.fromhex("00c35001")
    rom[0x104:0x134] = LOGO
    rom[0x134 : 0x134 + len(title)] = title.encode()
    rom[0x147], rom[0x148], rom[0x149] = kind, 0, ram
    rom[0x14D] = header_checksum(rom)
    rom[PASSABLE : PASSABLE + 2] = bytes([0x00, 0xFF])
    code = DRAW + PROGRAM + LOOP
    rom[0x150 : 0x150 + len(code)] = code
    return bytes(rom)


def write_rom(folder: Path, title: str = "TEST", kind: int = 0, ram: int = 0) -> Path:
    path = folder / "game.gb"
    path.write_bytes(make_rom(title, kind, ram))
    return path
