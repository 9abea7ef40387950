"""Reading a cartridge file, and refusing what is not one."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from ptp.errors import ConfigError

HEADER_END = 0x150
BANK = 0x4000
RAM_BANK = 0x2000

# The boot ROM compares these bytes before it starts a game, so every cartridge carries them.
LOGO = bytes.fromhex(
    "ceed6666cc0d000b03730083000c000d0008111f8889000e"
    "dccc6ee6ddddd999bbbb67636e0eecccdddc999fbbb9333e"
)  # fmt: skip
RAM_SIZES = {0: 0, 1: 0x800, 2: 0x2000, 3: 0x8000, 4: 0x20000, 5: 0x10000}
MBC2 = frozenset({0x05, 0x06})
MBC2_RAM = 0x200
WITH_BATTERY = frozenset({0x03, 0x06, 0x09, 0x0F, 0x10, 0x13, 0x1B, 0x1E})
WITH_CLOCK = frozenset({0x0F, 0x10})
CLOCK_FOOTERS = (44, 48)  # what other emulators append to battery RAM for the clock


class Cartridge(msgspec.Struct, frozen=True):
    """A Game Boy cartridge: its bytes and what its header says."""

    name: str
    """What to call it in messages: the file, or the built-in game."""
    title: str
    kind: int
    ram_size: int
    sha1: str
    data: bytes

    @property
    def has_battery(self) -> bool:
        """Whether its RAM outlives the power switch."""
        return self.kind in WITH_BATTERY

    @property
    def has_clock(self) -> bool:
        """Whether it tells the time of day."""
        return self.kind in WITH_CLOCK


def read_cartridge(path: Path) -> Cartridge:
    """Read a cartridge file; what a Game Boy would not start is refused, and the message says why."""
    data = read_file(path, "cartridge")
    _check(data, path.name)
    kind = data[0x147]
    ram_size = MBC2_RAM if kind in MBC2 else RAM_SIZES.get(data[0x149], 0)
    return Cartridge(path.name, _title(data), kind, ram_size, hashlib.sha1(data).hexdigest(), data)


def read_battery(path: Path, cartridge: Cartridge) -> bytes:
    """Read battery RAM for a cartridge, as whole banks."""
    if not cartridge.has_battery or not cartridge.ram_size:
        raise ConfigError(f"--save-file: {cartridge.name} has no battery RAM; leave it out")
    data = read_file(path, "save file")
    footers = CLOCK_FOOTERS if cartridge.has_clock else ()
    if len(data) - cartridge.ram_size not in (0, *footers):
        raise ConfigError(
            f"{path.name}: {len(data)} bytes, but the battery RAM of {cartridge.name} has {cartridge.ram_size}; "
            "name a save file of this game"
        )
    whole_banks = -cartridge.ram_size % RAM_BANK
    return data[: cartridge.ram_size] + bytes(whole_banks)


def read_file(path: Path, what: str) -> bytes:
    """Return the bytes of a file that a person named."""
    try:
        return path.read_bytes()
    except OSError as problem:
        raise ConfigError(f"{path}: {problem.strerror}; name a {what} that can be read") from None


def header_checksum(data: bytes | bytearray) -> int:
    """Return the checksum that byte 014D must have."""
    checksum = 0
    for byte in data[0x134:0x14D]:
        checksum = (checksum - byte - 1) & 0xFF
    return checksum


def _check(data: bytes, name: str) -> None:
    if len(data) < HEADER_END:
        raise ConfigError(f"{name}: {len(data)} bytes is too short for a Game Boy cartridge; the least is 32768")
    if data[0x104:0x134] != LOGO:
        raise ConfigError(f"{name}: not a Game Boy cartridge: no logo at 0104; name a .gb file")
    if data[0x14D] != header_checksum(data):
        raise ConfigError(
            f"{name}: bad header checksum: {data[0x14D]:02X} where {header_checksum(data):02X} is right; "
            "the file is damaged, get it again"
        )
    stated = 2 * BANK << data[0x148] if data[0x148] <= 8 else None
    if stated is None:
        raise ConfigError(f"{name}: its header says ROM size code {data[0x148]:02X}, which is none; get the file again")
    if len(data) != stated:
        raise ConfigError(f"{name}: {len(data)} bytes, but its header says {stated}; get the file again")


def _title(data: bytes) -> str:
    end = 0x143 if data[0x143] & 0x80 else 0x144  # the last byte of later titles is the colour flag
    return data[0x134:end].split(b"\0")[0].decode("ascii", "replace").strip()
