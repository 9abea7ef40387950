"""Turn the linker's Intel HEX into a 32 KiB ROM with its two checksums.

usage: finish_rom.py IN.ihx OUT.gb
"""

import sys
from pathlib import Path

SIZE = 0x8000


def read_hex(path):
    """Return {address: byte} of an Intel HEX file."""
    memory = {}
    for line in path.read_text().splitlines():
        count, address, kind = int(line[1:3], 16), int(line[3:7], 16), int(line[7:9], 16)
        if kind == 0:
            for i in range(count):
                memory[address + i] = int(line[9 + 2 * i : 11 + 2 * i], 16)
    return memory


def main():
    source, target = map(Path, sys.argv[1:])
    memory = read_hex(source)
    if max(memory) >= SIZE:
        raise SystemExit(f"the game needs {max(memory) + 1:#x} bytes, the cartridge has {SIZE:#x}")
    rom = bytearray(SIZE)
    for address, value in memory.items():
        rom[address] = value
    rom[0x14D] = -sum(b + 1 for b in rom[0x134:0x14D]) & 0xFF
    rom[0x14E:0x150] = (sum(rom) & 0xFFFF).to_bytes(2, "big")
    target.write_bytes(rom)
    print(f"{target.name}: {max(memory) + 1} of {SIZE} bytes used")


if __name__ == "__main__":
    main()
