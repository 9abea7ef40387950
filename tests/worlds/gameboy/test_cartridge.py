"""Cartridge files: what their headers say, and what is refused."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from ptp.errors import ConfigError
from ptp.worlds.gameboy.cartridge import header_checksum, read_battery, read_cartridge
from tests.worlds.gameboy.roms import make_rom, write_rom


def refusal(path: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        read_cartridge(path)
    message = str(caught.value)
    assert "\n" not in message
    assert path.name in message
    return message


def written(folder: Path, data: bytes | bytearray, name: str = "game.gb") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def test_a_header_tells_title_type_and_battery(tmp_path: Path) -> None:
    cartridge = read_cartridge(write_rom(tmp_path, "POKEMON RED", kind=0x13, ram=3))
    assert (cartridge.title, cartridge.kind, cartridge.ram_size) == ("POKEMON RED", 0x13, 0x8000)
    assert cartridge.has_battery
    assert not cartridge.has_clock
    assert cartridge.sha1 == hashlib.sha1(make_rom("POKEMON RED", 0x13, 3)).hexdigest()


def test_the_colour_flag_is_no_part_of_the_title(tmp_path: Path) -> None:
    rom = bytearray(make_rom("ABCDEFGHIJKLMNO"))
    rom[0x143] = 0x80
    rom[0x14D] = header_checksum(rom)
    assert read_cartridge(written(tmp_path, rom)).title == "ABCDEFGHIJKLMNO"


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    assert "No such file" in refusal(tmp_path / "nothing.gb")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert "directory" in refusal(tmp_path).lower()


@pytest.mark.parametrize("size", [0, 1, 0x14F])
def test_a_file_too_short_for_a_header_is_refused(tmp_path: Path, size: int) -> None:
    assert "too short" in refusal(written(tmp_path, make_rom()[:size]))


@pytest.mark.parametrize("size", [0x150, 0x4000, 0x7FFF, 0x8001, 0x10000])
def test_a_size_that_is_not_the_headers_is_refused(tmp_path: Path, size: int) -> None:
    message = refusal(written(tmp_path, make_rom().ljust(0x10000, b"\0")[:size]))
    assert f"{size} bytes" in message
    assert "32768" in message


def test_an_impossible_size_code_is_refused(tmp_path: Path) -> None:
    rom = bytearray(make_rom())
    rom[0x148] = 0x52
    rom[0x14D] = header_checksum(rom)
    assert "size code 52" in refusal(written(tmp_path, rom))


def test_a_bad_header_checksum_is_refused_with_both_values(tmp_path: Path) -> None:
    rom = bytearray(make_rom())
    rom[0x134] ^= 1
    message = refusal(written(tmp_path, rom))
    assert "bad header checksum" in message
    assert f"{header_checksum(rom):02X}" in message


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n" + bytes(40000), b"to be or not to be " * 2000])
def test_a_picture_or_a_text_is_not_a_cartridge(tmp_path: Path, data: bytes) -> None:
    assert "not a Game Boy cartridge" in refusal(written(tmp_path, data))


def test_battery_ram_is_read_as_whole_banks(tmp_path: Path) -> None:
    cartridge = read_cartridge(write_rom(tmp_path, kind=0x03, ram=1))
    battery = read_battery(written(tmp_path, b"\x07" * 0x800, "game.sav"), cartridge)
    assert battery == b"\x07" * 0x800 + bytes(0x1800)


def test_battery_ram_of_another_size_is_refused(tmp_path: Path) -> None:
    cartridge = read_cartridge(write_rom(tmp_path, kind=0x03, ram=2))
    with pytest.raises(ConfigError, match=r"game.sav: 8191 bytes, but the battery RAM of game.gb has 8192"):
        read_battery(written(tmp_path, bytes(8191), "game.sav"), cartridge)


@pytest.mark.parametrize("footer", [0, 44, 48])
def test_what_other_emulators_append_for_the_clock_is_left_out(tmp_path: Path, footer: int) -> None:
    cartridge = read_cartridge(write_rom(tmp_path, kind=0x10, ram=2))
    assert cartridge.has_clock
    assert len(read_battery(written(tmp_path, bytes(0x2000 + footer), "game.sav"), cartridge)) == 0x2000


def test_a_save_file_for_a_cartridge_without_battery_is_refused(tmp_path: Path) -> None:
    cartridge = read_cartridge(write_rom(tmp_path))
    with pytest.raises(ConfigError, match="no battery RAM"):
        read_battery(tmp_path / "game.sav", cartridge)
