"""The whole of Tallgrass, from power-on to the badge, by reading memory only."""

from collections.abc import Callable

from tests.cartridge.player import ITEMS, MAPS, Player

WILD_WANTED = 3
LEVEL_WANTED = 8
NEAR_GRASS = 21  # the first row of the tall grass nearest to the town


def play(player: Player, mark: Callable[[str], None]) -> None:
    """Finish the game; *mark* is called with the name of each stage as it begins."""
    player.start()
    mark("home")
    player.talk(4, 5)
    player.settle()
    player.take_warp(7, 3)
    mark("town")
    try_to_leave_alone(player)
    player.take_warp(12, 6)
    mark("study")
    player.talk(4, 3)
    player.settle()
    player.take_warp(7, 4)
    mark("starter")
    shop(player, ITEMS["TONIC"], 4, 1, mark)
    to_road(player)
    mark("road")
    while not ready(player):
        hunt(player)
    player.rest()
    to_road(player)
    player.talk(20, 17)
    player.settle()
    mark("before ramblers")
    meet_ramblers(player)
    while not player.byte(0xD356):
        face_warden(player, mark)
    mark("end")


def ready(player: Player) -> bool:
    return len(player.owned) > WILD_WANTED and player.party()[0]["level"] >= LEVEL_WANTED


def try_to_leave_alone(player: Player) -> None:
    player.walk_to((2, 9))
    player.press("up")
    player.settle()
    assert player.here == (MAPS["FERNHOLLOW"], 2, 9)


def shop(player: Player, item: int, count: int, index: int, mark: Callable[[str], None] = lambda _: None) -> None:
    player.take_warp(10, 14)
    mark("shop")
    player.buy(item, count, index)
    player.take_warp(7, 3)


def to_road(player: Player) -> None:
    if player.here[0] == MAPS["REST HOUSE"]:
        player.take_warp(7, 4)
    if player.here[0] == MAPS["FERNHOLLOW"]:
        player.cross("up", (9, 10))


def needs_rest(player: Player) -> bool:
    lead = player.party()[0]
    points = sum(player.byte(0xD188 + i) & 63 for i in range(4))
    return lead["hp"] * 2 < lead["max"] or lead["status"] != 0 or points < 12


def hunt(player: Player) -> None:
    """Walk in the tall grass until a battle was fought."""
    to_road(player)
    if needs_rest(player):
        player.rest()
        if len(player.owned) <= WILD_WANTED and ITEMS["CATCH ORB"] not in player.bag():
            shop(player, ITEMS["CATCH ORB"], 4, 0)
        to_road(player)
    squares = [square for square in player.grass() if square[0] >= NEAR_GRASS]
    ends = squares[0], squares[3]
    while not player.in_battle:
        goal = ends[player.here[1:] == ends[0]]
        path = player.path({goal})
        assert path
        player.press(path[0])
    player.fight()
    player.settle()


def meet_ramblers(player: Player) -> None:
    for y in (18, 10):
        player.walk_to((y, 9))
        player.settle()
        to_road(player)


def face_warden(player: Player, mark: Callable[[str], None]) -> None:
    to_road(player)
    if needs_rest(player):
        player.rest()
        to_road(player)
    player.take_warp(3, 9)
    mark("hall")
    player.talk(2, 4)
    player.settle()
    if not player.byte(0xD356):
        for _ in range(3):
            hunt(player)
