"""Map drawings as blocks of tiles, warps, signs and people."""

import art
from c_source import constant

FACING = {"down": 0, "up": 4, "left": 8, "right": 12}
SHAPE = ("width_blocks", "height_blocks", "tileset")
TILESETS = ("outdoor", "indoor", "upstairs", "hall")  # all but the first are indoors, and drawn alike
NORTH, SOUTH, NO_MAP, NO_EVENT = 8, 4, 255, 255
MAX_MAP_TILE = 0x60  # tiles from here on are text: a person under a text box is hidden by them


class Squares:
    """Walking squares and the tiles, blocks and passable lists that come of them."""

    def __init__(self, folder):
        drawings = art.named_tiles(folder / "tiles.txt")
        self.tiles, self.blocks, self.by_letter, self.special = [], [], {}, {}
        self.passable = {"o": set(), "i": set()}
        deciding = {}
        for line in art.lines(folder / "squares.txt"):
            letter, _, entry, place, *names = line.split()
            self.by_letter[letter] = ids = [self._tile(drawings[name]) for name in names]
            # the lower left tile alone decides who may enter
            if deciding.setdefault((place, ids[2]), entry) != entry:
                raise SystemExit(f"squares.txt: {names[2]} is the lower left of both {entry} and another kind")
            if entry not in ("solid", "counter", "ledge"):
                self.passable[place].add(ids[2])
            self.special[entry] = ids[2]  # the last of its kind: those the game asks for have one tile each
        if len(self.tiles) > MAX_MAP_TILE:
            raise SystemExit(f"{len(self.tiles)} map tiles, room for {MAX_MAP_TILE}")

    def _tile(self, drawing):
        if drawing not in self.tiles:
            self.tiles.append(drawing)
        return self.tiles.index(drawing)

    def block(self, four):
        """Return the id of the block of four squares (two rows of two)."""
        ul, ur, ll, lr = (self.by_letter[c] for c in four)
        tiles = (*ul[:2], *ur[:2], *ul[2:], *ur[2:], *ll[:2], *lr[:2], *ll[2:], *lr[2:])
        if tiles not in self.blocks:
            self.blocks.append(tiles)
        return self.blocks.index(tiles)


def read_map(path):
    """Read one map drawing."""
    head, _, grid = path.read_text().partition("---\n")
    area = {"warp": [], "sign": [], "person": [], "name": path.stem, "rows": grid.splitlines()}
    for line in head.splitlines():
        key, _, value = line.partition(" ")
        if key in ("warp", "sign", "person"):
            area[key].append(value)
        else:
            area[key] = value
    area["width"], area["height"] = len(area["rows"][0]) // 2, len(area["rows"]) // 2
    return area


def write_maps(out, folder, squares, kinds, tables):
    shapes = {row["id"]: tuple(int(row[key]) for key in SHAPE) for row in tables["maps"]}
    areas = sorted((read_map(path) for path in folder.glob("*.txt")), key=lambda area: int(area["id"]))
    for area in areas:
        rows = area["rows"]
        corners = [(y * 2, x * 2) for y in range(area["height"]) for x in range(area["width"])]
        area["blocks"] = [squares.block(rows[y][x : x + 2] + rows[y + 1][x : x + 2]) for y, x in corners]
        area["border"] = squares.block(area["border"] * 4)
    out.banked("tile_blocks", [t for block in squares.blocks for t in block])  # first: draw_view knows where
    for area in areas:
        drawn = area["width"], area["height"], TILESETS.index(area["tileset"])
        if shapes[area["id"]] != drawn:
            raise SystemExit(f"{area['name']}: drawn {drawn}, maps.csv says {shapes[area['id']]}")
        write_area(out, area, kinds)
    scripts = [person.split()[0] for area in areas for person in area["person"]]
    for number, who in enumerate(dict.fromkeys(scripts)):
        out.define(constant("SCRIPT", who), number + 1)
    out.header.append("extern const area_t areas[];")
    out.source.append("const area_t areas[] = {\n  " + ",\n  ".join(record(area) for area in areas) + "\n};")


def write_area(out, area, kinds):
    name = area["name"]
    out.banked(f"blocks_{name}", area["blocks"])
    warps = []
    for line in area["warp"]:
        y, x, target, warp = map(int, line.split())
        warps += [y, x, warp, target]  # in the order the game keeps in memory
    out.static_bytes(f"warps_{name}", [len(area["warp"]), *warps])
    signs = [f'{{{y}, {x}, "{text}"}}' for y, x, text in (line.split(" ", 2) for line in area["sign"])]
    out.static_structs("sign_t", f"signs_{name}", signs or ["{0}"])
    out.static_structs("person_t", f"people_{name}", [person(line, kinds) for line in area["person"]] or ["{0}"])


def person(line, kinds):
    """Return the C initialiser of one person."""
    who, sprite, y, x, way, *options = line.split()
    option = dict(o.split("=") for o in options)
    values = [kinds[sprite], y, x, FACING[way], constant("SCRIPT", who), *option.get("trainer", "0,0").split(",")]
    values += [option.get("sight", 0), option.get("event", NO_EVENT), option.get("gone", NO_EVENT)]
    values += [option.get("walks", 0)]
    return "{" + ", ".join(map(str, values)) + "}"


def record(area):
    """Return the C initialiser of one map's header."""
    name = area["name"]
    links = (NORTH if "north" in area else 0) | (SOUTH if "south" in area else 0)
    values = [area["id"], TILESETS.index(area["tileset"]), area["height"], area["width"], f"blocks_{name}"]
    values += [area["border"], links, area.get("north", NO_MAP), area.get("south", NO_MAP)]
    values += [f"warps_{name}", len(area["sign"]), f"signs_{name}", len(area["person"]), f"people_{name}"]
    return "{" + ", ".join(map(str, values)) + "}"
