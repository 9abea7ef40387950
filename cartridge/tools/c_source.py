"""The generated C: a header and a source, and names in the game's characters."""

PUNCTUATION = dict(zip(" ():'-?!./,", (0x7F, 0x9A, 0x9B, 0x9C, 0xE0, 0xE3, 0xE6, 0xE7, 0xE8, 0xF3, 0xF4), strict=True))
NOTICE = "/* Written by tools/build_data.py: change the tables, not this file. */"


def encode(text):
    """Encode a name in the game's characters, with its end mark."""
    out = []
    for c in text:
        if "A" <= c <= "Z":
            out.append(0x80 + ord(c) - ord("A"))
        elif "a" <= c <= "z":
            out.append(0xA0 + ord(c) - ord("a"))
        elif "0" <= c <= "9":
            out.append(0xF6 + ord(c) - ord("0"))
        else:
            out.append(PUNCTUATION[c])
    return [*out, 0x50]


def constant(prefix, name):
    """Return the C name of a table's row."""
    return prefix + "_" + "".join(c if c.isalnum() else "_" for c in name.upper())


def bcd(number):
    """Four decimal digits in two bytes, as the game keeps prices."""
    return [number // 1000 << 4 | number // 100 % 10, number // 10 % 10 << 4 | number % 10]


BANK, BANK_START, BANK_SIZE = 2, 0x4000, 0x4000


class Writer:
    """Collects the header, the source and the switched bank that are written at the end."""

    def __init__(self):
        self.bank = bytearray()
        self.header = [NOTICE, "#pragma once", '#include "types.h"']
        self.source = [NOTICE, '#include "data.h"']

    def define(self, name, value):
        self.header.append(f"#define {name} {value}")

    def bytes(self, name, values):
        self.header.append(f"extern const uint8_t {name}[{len(values)}];")
        self.static_bytes(name, values, "")

    def static_bytes(self, name, values, storage="static "):
        rows = [", ".join(str(v) for v in values[i : i + 24]) for i in range(0, len(values), 24)]
        self.source.append(f"{storage}const uint8_t {name}[{len(values)}] = {{\n  " + ",\n  ".join(rows) + "\n};")

    def banked(self, name, values):
        """Place bytes in the bank that is switched in only to read them; the name is their address there."""
        self.define(name, f"((const uint8_t *){BANK_START + len(self.bank):#06x})")
        self.bank += bytes(values)
        if len(self.bank) > BANK_SIZE:
            raise SystemExit(f"bank {BANK} needs {len(self.bank):#x} bytes, it has {BANK_SIZE:#x}")

    def static_structs(self, kind, name, rows):
        self.source.append(f"static const {kind} {name}[] = {{" + ", ".join(rows) + "};")

    def names(self, name, texts):
        """One packed list; the game skips end marks to find the n-th."""
        self.bytes(name, [b for text in texts for b in encode(text)])

    def save(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "data.h").write_text("\n".join(self.header) + "\n")
        (folder / "bank.bin").write_bytes(self.bank)
        (folder / "data.c").write_text("\n".join(self.source) + "\n")
