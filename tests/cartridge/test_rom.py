"""The cartridge as a file: header, checksums, and that the sources give these bytes."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cartridge.player import PROFILE, ROM

CARTRIDGE = Path(__file__).parents[2] / "cartridge"
LOGO = bytes.fromhex("ceed6666cc0d000b03730083000c000d0008111f8889000edccc6ee6ddddd999bbbb67636e0eecccdddc999fbbb9333e")


def need(condition: bool, reason: str) -> None:
    """Skip with a reason; where everything is required, fail instead."""
    if not condition:
        (pytest.fail if os.environ.get("PTP_REQUIRE_ALL") == "1" else pytest.skip)(reason)


def test_the_rom_is_64_kib_and_named_tallgrass() -> None:
    rom = ROM.read_bytes()
    assert len(rom) == 0x10000
    assert rom[0x134:0x144].rstrip(b"\0") == b"TALLGRASS"


def test_the_header_passes_the_boot_roms_checks() -> None:
    rom = ROM.read_bytes()
    assert rom[0x104:0x134] == LOGO
    assert rom[0x14D] == -sum(b + 1 for b in rom[0x134:0x14D]) & 0xFF
    assert int.from_bytes(rom[0x14E:0x150], "big") == sum(rom) - rom[0x14E] - rom[0x14F] & 0xFFFF


def test_the_header_asks_for_battery_ram_and_four_banks() -> None:
    rom = ROM.read_bytes()
    assert (rom[0x147], rom[0x148], rom[0x149]) == (0x03, 0x01, 0x02)


def test_the_sources_give_the_shipped_bytes(tmp_path: Path) -> None:
    need(shutil.which("sdcc") is not None, "sdcc is not installed")
    pinned = re.search(r"sdcc (\d+\.\d+\.\d+ #\d+)", (CARTRIDGE / "README.md").read_text())
    assert pinned, "cartridge/README.md names no sdcc version"
    version = subprocess.run(["sdcc", "--version"], capture_output=True, text=True, check=True).stdout
    need(pinned[1] in version, f"sdcc is not {pinned[1]}: {version.splitlines()[0]}")
    work = tmp_path / "somewhere else" / "cartridge"
    shutil.copytree(CARTRIDGE, work, ignore=shutil.ignore_patterns("build", "__pycache__"))
    subprocess.run(["make", "-j2", "-C", work, f"PROFILE={PROFILE}"], check=True, capture_output=True)
    assert (work / "build/tallgrass.gb").read_bytes() == ROM.read_bytes()


def test_every_line_of_text_fits_its_box() -> None:
    """18 letters on the first row of a page, 17 beside the prompt arrow on the second."""
    widths = {"1": 11, "2": 13, "3": 3, "4": 7, "5": 4}  # the longest name each mark stands for
    short_enough = {r"Take \3 \1s.", r"\2\nsends \1!"}  # said of short names only
    too_long = []
    for path in [*CARTRIDGE.glob("src/*.c"), *CARTRIDGE.glob("maps/*.txt")]:
        for text in spoken(path):
            for page in text.split(r"\f"):
                for row, line in enumerate(page.split(r"\n")):
                    if page in short_enough or line in short_enough:
                        continue
                    size = len(re.sub(r"\\([1-5])", lambda m: "x" * widths[m[1]], line))
                    if size > 18 - row % 2:
                        too_long.append((path.name, size, line))
    assert not too_long


def spoken(path: Path) -> list[str]:
    source = path.read_text()
    if path.suffix == ".txt":
        return [line.split(" ", 3)[3] for line in source.splitlines() if line.startswith("sign ")]
    return [text for text in re.findall(r'"((?:[^"\\]|\\.)*)"', source) if not text.endswith(".h")]
