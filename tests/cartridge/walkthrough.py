"""The whole of Tallgrass, from power-on to the badge and on to the ridge, by reading memory only."""

from collections.abc import Callable

from tests.cartridge.player import ITEMS, MAPS, Player

WILD_WANTED = 3
LEVEL_WANTED = 8
NEAR_GRASS = 21  # the first row of the tall grass nearest to the town

Mark = Callable[[str], None]


def play(player: Player, mark: Mark) -> None:
    """Finish the game; *mark* is called with the name of each stage as it begins."""
    begin(player, mark)
    fetch_the_pass(player, mark)
    to_road(player)
    mark("road")
    while not ready(player):
        hunt(player)
    player.rest()
    to_road(player)
    player.talk(20, 17)
    player.settle()
    mark("before ramblers")
    player.walk_to((18, 9))
    player.settle()
    while not player.byte(0xD356):
        face_warden(player, mark)
    mark("badge")
    climb(player, mark)
    mark("end")


def begin(player: Player, mark: Mark) -> None:
    """Wake up, try to leave alone, and take a first kin along."""
    player.start()
    mark("bedroom")
    player.take_warp(1, 6)
    player.walk_to((4, 3))
    mark("home")
    player.talk(4, 5)
    player.settle()
    player.take_warp(7, 3)
    mark("town")
    try_to_leave_alone(player)
    player.take_warp(12, 6)
    mark("study")
    player.take_orb(3)
    player.take_warp(7, 4)
    mark("starter")


def try_to_leave_alone(player: Player) -> None:
    player.walk_to((2, 9))
    player.press("up")
    player.settle()
    assert player.here == (MAPS["FERNHOLLOW"], 14, 6)


def fetch_the_pass(player: Player, mark: Mark) -> None:
    """Bring IVES the parcel from the shop."""
    player.take_warp(10, 14)
    player.talk(2, 0, reach=2)
    player.settle()
    mark("shop")
    player.buy(ITEMS["TONIC"], 4, 1)
    player.take_warp(7, 3)
    player.take_warp(12, 6)
    player.talk(2, 5)
    player.settle()
    player.take_warp(7, 4)


def ready(player: Player) -> bool:
    return len(player.owned) > WILD_WANTED and player.party()[0]["level"] >= LEVEL_WANTED


def shop(player: Player, item: int, count: int, index: int) -> None:
    player.take_warp(10, 14)
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
    if needs_rest(player) or player.here[0] != MAPS["MEADOW ROAD"]:
        player.rest()
        if len(player.owned) <= WILD_WANTED and ITEMS["CATCH ORB"] not in player.bag():
            shop(player, ITEMS["CATCH ORB"], 4, 0)
        to_road(player)
    squares = [square for square in player.grass() if square[0] >= NEAR_GRASS]
    meet_wild(player, squares[0], squares[3])


def meet_wild(player: Player, *ends: tuple[int, int]) -> None:
    while not player.in_battle:
        goal = ends[player.here[1:] == ends[0]]
        path = player.path({goal})
        assert path
        player.press(path[0])
    player.fight()
    player.settle()


def show_the_pass(player: Player) -> None:
    if not player.event("EVENT_SHOWED_PASS"):
        player.talk(16, 18)
        player.settle()


def cross_the_wood(player: Player, mark: Mark) -> None:
    """From the southern half of the road to the northern one."""
    show_the_pass(player)
    player.take_warp(16, 19)
    mark("wood")
    player.take_warp(3, 0)
    mark("north")


def face_warden(player: Player, mark: Mark) -> None:
    if player.here[0] != MAPS["MEADOW ROAD"] or needs_rest(player):
        player.rest()
        to_road(player)
    if player.here[1] > 13:
        cross_the_wood(player, mark)
    if player.here[0] != MAPS["MEADOW ROAD"]:
        return  # lost on the way
    player.walk_to((8, 9))
    player.settle()
    if player.here[0] != MAPS["MEADOW ROAD"]:
        return
    player.take_warp(3, 9)
    mark("hall")
    player.walk_to((6, 3))
    player.press("up")  # over the glazed floor
    player.settle()
    player.take_warp(1, 3)
    mark("loft")
    player.talk(2, 4)
    player.settle()
    if not player.byte(0xD356):
        for _ in range(3):
            hunt(player)


def climb(player: Player, mark: Mark) -> None:
    """Past the guard, who is gone now, to the ridge: rest there and catch who lives there."""
    player.take_warp(8, 3)
    player.walk_to((2, 3))
    player.press("down")
    player.settle()
    player.take_warp(9, 4)
    player.cross("up", (15, 16))
    mark("ridge")
    player.walk_to((6, 9))
    player.settle()
    player.take_warp(4, 3)
    player.talk(2, 4, reach=2)
    player.settle()
    player.talk(5, 8)
    player.settle()
    player.take_warp(7, 4)
    meet_wild(player, (5, 10), (5, 13))
