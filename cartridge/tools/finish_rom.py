"""Turn the linker's Intel HEX and the bank of data into a 64 KiB ROM with its two checksums.

usage: finish_rom.py IN.ihx BANK.bin OUT.gb
"""

import sys
from pathlib import Path

FIXED, SIZE = 0x8000, 0x10000  # banks 0 and 1 are always there; 2 holds the data; 3 is empty


def read_hex(path):
    """Return {address: byte} of an Intel HEX file."""
    memory = {}
    for line in path.read_text().splitlines():
        count, address, kind = int(line[1:3], 16), int(line[3:7], 16), int(line[7:9], 16)
        if kind == 0:
            for i in range(count):
                if address + i in memory:
                    raise SystemExit(f"two parts of the game are at {address + i:#x}: move --code-loc up")
                memory[address + i] = int(line[9 + 2 * i : 11 + 2 * i], 16)
    return memory


def main():
    source, bank, target = map(Path, sys.argv[1:])
    memory, data = read_hex(source), bank.read_bytes()
    if max(memory) >= FIXED:
        raise SystemExit(f"the game needs {max(memory) + 1:#x} bytes, banks 0 and 1 have {FIXED:#x}")
    rom = bytearray(SIZE)
    for address, value in memory.items():
        rom[address] = value
    rom[FIXED : FIXED + len(data)] = data
    rom[0x14D] = -sum(b + 1 for b in rom[0x134:0x14D]) & 0xFF
    rom[0x14E:0x150] = (sum(rom) & 0xFFFF).to_bytes(2, "big")
    target.write_bytes(rom)
    print(f"{target.name}: {max(memory) + 1} of {FIXED} bytes used, and {len(data)} of bank 2")


if __name__ == "__main__":
    main()
