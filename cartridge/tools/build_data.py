"""Write the C data of Tallgrass from its CSV tables, drawings and maps.

usage: build_data.py TABLES ART MAPS OUT
"""

import sys
from pathlib import Path

import art
from c_source import Writer, constant
from maps import Squares, write_maps
from tables import Tables, write_tables


def write_tiles(out, folder, squares):
    out.bytes("passable_outdoor", [*sorted(squares.passable["o"]), 255])
    out.bytes("passable_indoor", [*sorted(squares.passable["i"]), 255])
    out.define("TILE_GRASS", squares.special["grass"])
    out.define("TILE_COUNTER", squares.special["counter"])
    out.define("MAP_TILE_COUNT", len(squares.tiles))
    out.bytes("map_tiles", packed(squares.tiles))
    glyphs, blank = art.font(folder), ((0,) * 8,) * 8
    out.bytes("font_tiles", art.pack([b for code in range(0x60, 0x100) for b in art.one_bit(glyphs.get(code, blank))]))


def write_people(out, folder):
    """Write the sprite sheet; return the number of each kind of person."""
    kinds, sheet = {}, []
    for number, (name, pictures) in enumerate(art.people(folder / "people.txt")):
        kinds[name] = number + 1
        out.define(constant("SPRITE", name), number + 1)
        out.define(constant("SPRITE_TILE", name), len(sheet))
        for picture in pictures:
            sheet += [art.cut(picture, x, y) for y in (0, 8) for x in (0, 8)]
    out.define("SPRITE_TILE_COUNT", len(sheet))
    out.bytes("sprite_tiles", packed(sheet))
    return kinds


def write_portraits(out, folder, tables):
    names = [row["picture"] for row in tables["species_stats"]]
    for name in names:
        out.static_bytes(f"picture_{name}", packed(art.creature_tiles(folder / "creatures" / f"{name}.txt")))
    out.header.append("extern const uint8_t *const pictures[];")
    out.source.append("const uint8_t *const pictures[] = {" + ", ".join(f"picture_{n}" for n in names) + "};")


def packed(tiles):
    return art.pack([b for tile in tiles for b in art.two_bit(tile)])


def main():
    tables_folder, art_folder, maps_folder, target = map(Path, sys.argv[1:])
    out, tables, squares = Writer(), Tables(tables_folder), Squares(art_folder)
    write_tables(out, tables)
    write_tiles(out, art_folder, squares)
    kinds = write_people(out, art_folder)
    write_portraits(out, art_folder, tables)
    write_maps(out, maps_folder, squares, kinds, tables)
    out.save(target)


if __name__ == "__main__":
    main()
