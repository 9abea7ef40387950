"""The early part of the retail game in small: what is closed when, who opens it, and maps whose parts do not meet."""

from __future__ import annotations

from collections.abc import Generator

from tests.agents.explorer.realm import BEFORE, MAPS, Ask, Fight, Map, Person, Realm, Script, nurse, says

(TOWN, LAB, ROAD, CITY, CENTRE, MART, HALVES, GATE, WOOD, FAR_GATE, STONE, GYM, REST, PASS, CAVE, DEEP, FALLS, LAKE,
 WATER_GYM, FIELD) = MAPS[:20]  # fmt: skip
LED, CHOSE, PARCEL, DEX, BOULDER, CASCADE = range(6)

Talking = Generator[str | Ask | Fight, bool, None]


def leads_to_the_lab(realm: Realm) -> Talking:
    if LED in realm.events:
        return
    yield "Hey! Wait!\nDon't go out!"
    realm.events.add(LED)
    realm.travel(LAB, (4, 5))


def offers(kind: str, name: str) -> Script:
    def script(realm: Realm) -> Talking:
        if LED not in realm.events:
            yield "Those are\nPOKé BALLs."
        elif (yield Ask(f"{kind} POKéMON,\n{name}?")):
            realm.events.add(CHOSE)
            realm.level = 5
            realm.chosen = name
            yield f"Received\n{name}!"

    return script


def professor(realm: Realm) -> Talking:
    if PARCEL in realm.events and DEX not in realm.events:
        yield "Ah! My parcel!"
        realm.events.add(DEX)
    yield "Go and see\nthe world!"


def clerk(realm: Realm) -> Talking:
    if PARCEL not in realm.events:
        yield "Take this to\nthe professor!"
        realm.events.add(PARCEL)
        return
    yield "Say hi to the\nprofessor!"


def is_closed_until(event: int, page: str) -> Script:
    def script(realm: Realm) -> Talking:
        if event not in realm.events:
            yield page
            realm.place = (realm.place[0], realm.place[1] + 1)

    return script


def leads_to_the_gym(realm: Realm) -> Talking:
    if BOULDER not in realm.events:
        yield "You're a trainer?\nFollow me!"
        realm.place = (4, 6)


def leader(event: int, level: int) -> Script:
    def script(realm: Realm) -> Talking:
        if event not in realm.events:
            yield "I am the leader!"
            yield Fight(level)
            realm.events.add(event)
            realm.badges += 1
        yield "You were strong!"

    return script


def journey() -> Realm:
    """Begin in the first town, with no creature."""
    maps = {
        TOWN: Map(
            ("####..#### #........# #.##..##.# #.##..##.# #........# #........# #........# ##########"),
            warps={(2, 3): (LAB, 0)},
            edges={"north": (ROAD, 0)},
            triggers=dict.fromkeys(((4, 1), (5, 1)), leads_to_the_lab),
            people=[Person((7, 5), says("Technology is\nincredible!"))],
            signs={(3, 4): "The first town"},
        ),
        LAB: Map(
            ("########## #........# #.....###. #........# #........# #........# #........# ##########"),
            warps={(4, 7): (BEFORE, 0), (5, 7): (BEFORE, 0)},
            people=[
                Person((5, 1), professor),
                Person((6, 2), offers("fire", "CHARMANDER"), CHOSE),
                Person((7, 2), offers("water", "SQUIRTLE"), CHOSE),
                Person((8, 2), offers("plant", "BULBASAUR"), CHOSE),
            ],
        ),
        ROAD: Map(
            (
                "####..#### #........# #GG....GG# #vvv.vvvv# #....GGGG# #GGGG....# #vvvvvvv.# #........# "
                "#...GG...# ####..####"
            ),
            edges={"south": (TOWN, 0), "north": (CITY, 2)},
            people=[Person((2, 7), says("Free samples!"))],
        ),
        CITY: Map(
            (
                "######..###### #####..####### #####..####### #............# ..##....##...# ..##....##...# "
                "#............# #............# #............# ######..######"
            ),
            warps={(3, 5): (CENTRE, 0), (9, 5): (MART, 0)},
            edges={"south": (ROAD, -2), "north": (HALVES, 0), "west": (FIELD, 0)},
            triggers=dict.fromkeys(((5, 2), (6, 2)), is_closed_until(DEX, "This is private\nproperty!")),
            signs={(10, 6): "The mart", (4, 6): "The centre"},
            people=[Person((11, 8), says("I like walks."))],
        ),
        FIELD: Map(
            ("######## #GGGGGG# #GGGGGG# #GGGGGG# #....... #....... #GGGGGG# ########"),
            edges={"east": (CITY, 0)},
            rate=0,
        ),
        CENTRE: Map(
            ("######## #......# ####.### #......# #......# #......# #......# ########"),
            warps={(3, 7): (BEFORE, 0), (4, 7): (BEFORE, 0)},
            people=[Person((3, 1), nurse), Person((6, 5), says("Relax!"))],
        ),
        MART: Map(
            ("######## #......# ##.##### #......# #......# #......# #......# ########"),
            warps={(3, 7): (BEFORE, 1), (4, 7): (BEFORE, 1)},
            people=[Person((2, 1), clerk)],
        ),
        HALVES: Map(
            (
                "######..###### #....G..G....# #....G..G....# #....##..##### #....##..##### ############## "
                "####.######### #.........GGG# #.........GGG# ######..######"
            ),
            warps={(4, 6): (GATE, 0), (8, 4): (FAR_GATE, 1)},
            edges={"south": (CITY, 0), "north": (STONE, 0)},
        ),
        GATE: Map(
            ("####.### #......# #......# #......# #......# #..##..# #......# ########"),
            warps={(3, 7): (BEFORE, 0), (4, 0): (WOOD, 0)},
            people=[Person((1, 3), says("The wood is a\nmaze."))],
        ),
        FAR_GATE: Map(
            ("####.### #......# #......# #......# #......# #..##..# #......# ########"),
            warps={(3, 7): (WOOD, 1), (4, 0): (BEFORE, 1)},
        ),
        WOOD: Map(
            (
                "####.########### #....###...GGGG# ####.###.#.GGGG# #....###.#.###.# #.######.#.###.# "
                "#.GGGGG#.#.#...# #.GGGGG..#.#.### #.####.#.#.#...# #.#..#.#...###.# #....#.#####...# "
                "######.........# ######.#########"
            ),
            warps={(6, 11): (GATE, 1), (4, 0): (FAR_GATE, 0)},
            people=[Person((14, 9), says("Bugs!"))],
            wild=5,
        ),
        STONE: Map(
            (
                "################ #..............# #..##....##....# #..##....##..... #..............# "
                "#......###.....# #..............# ######..########"
            ),
            warps={(4, 3): (GYM, 0), (10, 3): (REST, 0)},
            edges={"south": (HALVES, 0), "east": (PASS, 0)},
            triggers={(14, 3): leads_to_the_gym},
            people=[Person((2, 6), says("The leader is\nhard as rock."))],
        ),
        GYM: Map(
            ("######## #......# #.####.# #......# #......# #......# #......# ########"),
            warps={(3, 7): (BEFORE, 0), (4, 7): (BEFORE, 0)},
            people=[Person((3, 1), leader(BOULDER, 12))],
        ),
        REST: Map(
            ("######## #......# ####.### #......# #......# #......# #......# ########"),
            warps={(3, 7): (BEFORE, 1), (4, 7): (BEFORE, 1)},
            people=[Person((3, 1), nurse)],
        ),
        PASS: Map(
            ("############ #....#..#..# #....#..#..# ........##.# ###........# #GGG####...# #GGG####.### ############"),
            edges={"west": (STONE, 0)},
            warps={(9, 1): (CAVE, 0)},
            wild=8,
        ),
        CAVE: Map(
            ("############ #....##....# #....##....# #....##....# #....##....# #....##....# #....##....# ############"),
            warps={(1, 6): (PASS, 0), (4, 1): (DEEP, 0), (7, 1): (DEEP, 1), (10, 6): (FALLS, 0)},
        ),
        DEEP: Map(
            ("############ #..........# #.########.# #..........# #.########.# #..........# #..........# ############"),
            warps={(1, 1): (CAVE, 1), (10, 5): (CAVE, 2)},
        ),
        FALLS: Map(
            ("############ #.....##...# #.....##...# #vv######### #..........# #........... #GGGG......# ############"),
            warps={(2, 1): (CAVE, 3)},
            edges={"east": (LAKE, 0)},
            wild=10,
        ),
        LAKE: Map(
            ("############ #....##....# #....##....# #..........# #..........# ...........# #..........# ############"),
            warps={(5, 2): (WATER_GYM, 0)},
            edges={"west": (FALLS, 0)},
        ),
        WATER_GYM: Map(
            ("######## #......# #......# #......# #......# #......# #......# ########"),
            warps={(3, 7): (BEFORE, 0), (4, 7): (BEFORE, 0)},
            people=[Person((3, 1), leader(CASCADE, 16))],
        ),
    }
    return Realm(maps, TOWN, (4, 5), level=0, home=TOWN)
