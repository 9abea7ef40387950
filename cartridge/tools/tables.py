"""The CSV tables as C data."""

import csv

from c_source import bcd, constant

EFFECTS = ("none", "poison", "sleep", "paralysis", "attack_down", "defence_down")
ITEM_KINDS = ("catch", "cure", "heal", "key")
KEY = {"price": 0, "effect": "key", "amount": 0}  # what has no effect is only shown to people
WILD_SLOTS = 10
TEAM_BYTES = 5  # two kin with their levels, and an end


class Tables:
    """The CSV files, each a list of rows, and the numbers that names stand for."""

    def __init__(self, folder):
        self.folder = folder
        self.types = {row["name"]: int(row["id"]) for row in self["types"]}
        self.moves = {row["name"]: int(row["id"]) for row in self["moves"]}
        self.species = {row["name"]: int(row["internal_index"]) for row in self["species"]}
        self.items = {row["id"]: row["name"] for row in self["items"]}

    def __getitem__(self, name):
        with (self.folder / f"{name}.csv").open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))


def write_tables(out, tables):
    write_constants(out, tables)
    write_species(out, tables)
    write_moves(out, tables)
    write_items(out, tables)
    write_trainers(out, tables)
    write_wild(out, tables)


def write_constants(out, tables):
    for row in tables["events"]:
        out.define(row["name"], row["flag"])
    for row in tables["maps"]:
        out.define(constant("MAP", row["name"]), row["id"])
    for prefix, numbers in (("TYPE", tables.types), ("MOVE", tables.moves), ("SPECIES", tables.species)):
        for name, number in numbers.items():
            out.define(constant(prefix, name), number)
    for number, name in enumerate(EFFECTS):
        out.define(constant("EFFECT", name), number)


def write_species(out, tables):
    out.names("species_names", tables.species)
    out.bytes("dex_numbers", [int(row["dex"]) for row in tables["species"]])
    stats = []
    for row in tables["species_stats"]:
        stats += [int(row[k]) for k in ("hp", "attack", "defence", "speed", "special")]
        stats += [tables.types[row["type1"]], tables.types[row["type2"]]]
        stats += [int(row["catch_rate"]), int(row["base_experience"])]
    out.bytes("species_stats", stats)
    learn = []
    for row in tables["learnset"]:
        learn += [int(row["internal_index"]), int(row["level"]), tables.moves[row["move"]]]
    out.bytes("learnset", [*learn, 0])


def write_moves(out, tables):
    out.names("move_names", tables.moves)
    effects = {row["id"]: row for row in tables["move_effects"]}
    records = []
    for row in tables["moves"]:
        effect = effects.get(row["id"], {"effect": "none", "chance_percent": 0})
        records += [tables.types[row["type"]], int(row["power"]), of_255(row["accuracy_percent"]), int(row["pp"])]
        records += [EFFECTS.index(effect["effect"]), of_255(effect["chance_percent"])]
    out.bytes("move_records", records)
    chart = []
    for row in tables["type_chart"]:
        chart += [tables.types[row["attacker"]], tables.types[row["defender"]], int(float(row["multiplier"]) * 10)]
    out.bytes("type_chart", [*chart, 255])


def of_255(percent):
    return int(percent) * 255 // 100


def write_items(out, tables):
    effects, records = {row["id"]: row for row in tables["item_effects"]}, []
    for number, name in tables.items.items():
        row = effects.get(number, KEY)
        records += [int(number), *bcd(int(row["price"])), ITEM_KINDS.index(row["effect"]), int(row["amount"])]
        out.define(constant("ITEM", name), number)
    out.bytes("item_records", [*records, 0])
    out.names("item_names", tables.items.values())


def write_trainers(out, tables):
    records = []
    for number, row in enumerate(tables["trainers"]):
        levels = map(int, row["levels"].split())
        team = [
            x for name, level in zip(row["species"].split(), levels, strict=True) for x in (tables.species[name], level)
        ]
        records += [int(row["class"]), int(row["number"]), *bcd(int(row["reward"]))]
        records += [*team, *[0] * (TEAM_BYTES - len(team))]
        out.define(constant("TRAINER", row["name"]), number)
    out.bytes("trainer_records", records)
    out.names("trainer_names", [row["class_name"] + " " + row["name"] for row in tables["trainers"]])


def write_wild(out, tables):
    """Write for each map with wild kin: its number, the chance of a step in tall grass, ten levels and species."""
    data = []
    for row in tables["wild"]:
        slots = [slot.split(":") for slot in row["slots"].split()]
        if len(slots) != WILD_SLOTS:
            raise SystemExit(f"wild.csv: map {row['map']} has {len(slots)} slots, not {WILD_SLOTS}")
        data += [int(row["map"]), int(row["rate"])]
        for name, level in slots:
            data += [int(level), tables.species[name]]
    out.bytes("wild_tables", [*data, 255])
