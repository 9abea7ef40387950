"""Write the C data of Tallgrass from its CSV tables, drawings and maps.

usage: build_data.py TABLES ART MAPS OUT
"""

import sys
from pathlib import Path

import art
from c_source import BANK, Writer, constant
from maps import Squares, write_maps
from tables import Tables, write_tables


def write_tiles(out, folder, squares):
    out.bytes("passable_outdoor", [*sorted(squares.passable["o"]), 255])
    out.bytes("passable_indoor", [*sorted(squares.passable["i"]), 255])
    for kind in ("grass", "counter", "door", "mat", "ledge", "slide"):
        out.define(constant("TILE", kind), squares.special[kind])
    out.define("MAP_TILE_COUNT", len(squares.tiles))
    out.banked("map_tiles", packed(squares.tiles))
    glyphs, blank = art.font(folder), ((0,) * 8,) * 8
    out.banked("font_tiles", art.pack([b for code in range(0x60, 0x100) for b in art.one_bit(glyphs.get(code, blank))]))


def write_people(out, people):
    sheet = []
    for number, (name, pictures) in enumerate(people, 1):
        out.define(constant("SPRITE", name), number)
        out.define(constant("SPRITE_TILE", name), len(sheet))
        for picture in pictures:
            sheet += [art.cut(picture, x, y) for y in (0, 8) for x in (0, 8)]
    out.define("SPRITE_TILE_COUNT", len(sheet))
    out.banked("sprite_tiles", packed(sheet))


def write_portraits(out, folder, tables):
    names = [row["picture"] for row in tables["species_stats"]]
    for name in names:
        out.banked(f"picture_{name}", packed(art.creature_tiles(folder / "creatures" / f"{name}.txt")))
    out.header.append("extern const uint8_t *const pictures[];")
    out.source.append("const uint8_t *const pictures[] = {" + ", ".join(f"picture_{n}" for n in names) + "};")


def packed(tiles):
    return art.pack([b for tile in tiles for b in art.two_bit(tile)])


def main():
    tables_folder, art_folder, maps_folder, target = map(Path, sys.argv[1:])
    out, tables, squares = Writer(), Tables(tables_folder), Squares(art_folder)
    out.define("DATA_BANK", BANK)
    write_tables(out, tables)
    people = art.people(art_folder / "people.txt")
    write_maps(out, maps_folder, squares, {name: number for number, (name, _) in enumerate(people, 1)}, tables)
    write_people(out, people)
    write_tiles(out, art_folder, squares)
    write_portraits(out, art_folder, tables)
    out.save(target)


if __name__ == "__main__":
    main()
