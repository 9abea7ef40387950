"""Turn the text drawings in `art/` into Game Boy pixels.

A tile is a tuple of eight rows, a row a tuple of eight shades (0 white to 3 black).
"""

import math
from pathlib import Path

SHADES = {".": 0, ":": 1, "o": 2, "#": 3}
SIZE = 40  # creature portraits are 40 x 40 pixels


def lines(path):
    """Yield the lines of a drawing that are not comments."""
    for line in path.read_text().splitlines():
        if line and not line.startswith("# "):
            yield line


def two_bit(tile):
    """Encode one tile as the 16 bytes of tile memory."""
    out = []
    for row in tile:
        out.append(sum((shade & 1) << (7 - x) for x, shade in enumerate(row)))
        out.append(sum((shade >> 1) << (7 - x) for x, shade in enumerate(row)))
    return out


def one_bit(tile):
    """Encode a black-and-white tile as eight bytes."""
    return [sum((1 if shade else 0) << (7 - x) for x, shade in enumerate(row)) for row in tile]


def cut(picture, x, y):
    """Cut the tile at pixel (x, y) out of a picture."""
    return tuple(tuple(picture[y + j][x : x + 8]) for j in range(8))


def named_tiles(path):
    """Read a file of `tile NAME` headers, each followed by eight rows."""
    tiles, name = {}, None
    for line in lines(path):
        if line.startswith("tile "):
            name = line.split()[1]
            tiles[name] = []
        else:
            tiles[name].append(tuple(SHADES[c] for c in line))
    for name, rows in tiles.items():
        if len(rows) != 8 or any(len(row) != 8 for row in rows):
            raise SystemExit(f"{path.name}: tile {name} is not 8 x 8")
    return {name: tuple(rows) for name, rows in tiles.items()}


def font(folder):
    """Return {tile id: tile} for letters, marks and health bar segments."""
    glyphs = {}
    for line in lines(folder / "font.txt"):
        code, drawing = line.split()
        rows = [("." + row).ljust(8, ".") for row in drawing.split("/")]
        rows += ["." * 8] * (8 - len(rows))
        glyphs[int(code, 16)] = tuple(tuple(SHADES[c] for c in row) for row in rows)
    for name, tile in named_tiles(folder / "marks.txt").items():
        glyphs[int(name, 16)] = tile
    for fill in range(9):
        bar = (3,) * fill + (0,) * (8 - fill)
        edge, blank = (3,) * 8, (0,) * 8
        glyphs[0x63 + fill] = (blank, edge, bar, bar, bar, bar, edge, blank)
    return glyphs


def people(path):
    """Return the list of (kind, [16 x 16 pictures]) in the order of the file."""
    parts, kinds, current = {}, [], None
    for line in lines(path):
        word = line.split()
        if word and word[0] in ("head", "body"):
            current = parts.setdefault(tuple(word), [])
        elif word and word[0] == "kind":
            kinds.append(word[1:])
        elif word and word[0] == "picture":
            current = parts.setdefault(tuple(word[:2]), [])
            kinds.append([word[1], None, *word[2:]])
        else:
            current.append(line.ljust(16)[:16].lower().replace("f", "h"))
    out = []
    for name, head, *shades in kinds:
        part = dict(zip("hscl", map(int, shades), strict=True)) | {" ": 0, "k": 3}
        if head is None:
            drawings = [parts["picture", name]]
        else:
            poses = ("stand", "walk") if name == "player" else ("stand",)
            drawings = [
                parts["head", head, way] + parts["body", way, pose] for way in ("down", "up", "left") for pose in poses
            ]
        out.append((name, [[[part[c] for c in row] for row in d] for d in drawings]))
    return out


def creature(path):
    """Draw one creature portrait from its list of shapes."""
    canvas = [[0] * SIZE for _ in range(SIZE)]
    for line in lines(path):
        words = line.split()
        both = words[0] == "both"
        if both:
            words = words[1:]
        _shape(canvas, words, mirror=False)
        if both:
            _shape(canvas, words, mirror=True)
    return canvas


def _shape(canvas, words, mirror):
    def put(x, y, shade):
        x = SIZE - 1 - x if mirror else x
        if 0 <= x < SIZE and 0 <= y < SIZE:
            canvas[y][x] = shade

    kind, *rest = words
    if kind in ("ellipse", "blob"):
        fill, cx, cy, rx, ry = int(rest[0]), *map(float, rest[1:])
        _fill(
            put, lambda x, y: ((x - cx) / (rx + 0.4)) ** 2 + ((y - cy) / (ry + 0.4)) ** 2 <= 1, fill, kind == "ellipse"
        )
    elif kind in ("poly", "patch"):
        points = [tuple(map(float, p.split(","))) for p in rest[1:]]
        _fill(put, lambda x, y: _inside(points, x, y), int(rest[0]), kind == "poly")
    elif kind == "line":
        points = [tuple(map(int, p.split(","))) for p in rest]
        for start, end in zip(points, points[1:], strict=False):
            _line(put, start, end)
    elif kind == "eye":
        cx, cy = map(int, rest)
        for y in range(-3, 4):
            for x in range(-2, 3):
                if abs(x) + abs(y) < 5 and not (abs(x) == 2 and abs(y) > 2):
                    put(cx + x, cy + y, 3)
        for x, y in ((0, -2), (1, -2), (0, -1), (1, -1)):
            put(cx + x, cy + y, 0)
    else:
        raise SystemExit(f"unknown shape {kind!r}")


def _fill(put, inside, fill, outlined):
    grid = {(x, y) for y in range(SIZE) for x in range(SIZE) if inside(x, y)}
    for x, y in grid:
        edge = any((x + dx, y + dy) not in grid for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)))
        put(x, y, 3 if outlined and edge else fill)


def _inside(points, x, y):
    # a small nudge keeps whole-number corners on the inside, the same on every machine
    x, y, odd = x + 0.01, y + 0.01, False
    for (x1, y1), (x2, y2) in zip(points, points[1:] + points[:1], strict=True):
        if (y1 > y) != (y2 > y) and x < (x2 - x1) * (y - y1) / (y2 - y1) + x1:
            odd = not odd
    return odd


def _line(put, start, end):
    (x1, y1), (x2, y2) = start, end
    steps = max(abs(x2 - x1), abs(y2 - y1), 1)
    for i in range(steps + 1):
        put(math.floor(x1 + (x2 - x1) * i / steps + 0.5), math.floor(y1 + (y2 - y1) * i / steps + 0.5), 3)


def creature_tiles(path):
    """Return the 25 tiles of a portrait, column by column."""
    canvas = creature(Path(path))
    return [cut(canvas, x * 8, y * 8) for x in range(5) for y in range(5)]


def pack(data):
    """Run-length encode: n < 128 then n + 1 plain bytes, or 128 + n then one byte n + 2 times."""
    out, plain, i = [], [], 0

    def flush():
        if plain:
            out.extend([len(plain) - 1, *plain])
            plain.clear()

    while i < len(data):
        run = 1
        while i + run < len(data) and data[i + run] == data[i] and run < 129:
            run += 1
        if run >= 3 or (run == 2 and not plain):
            flush()
            out.extend([128 + run - 2, data[i]])
        else:
            plain.extend(data[i : i + run])
            if len(plain) > 120:
                flush()
        i += run
    flush()
    return out
