"""What is true of memory at every tick of a game that has begun."""

from tests.cartridge.player import MAPS, TYPES, Player


def broken_promises(player: Player) -> list[str]:
    """Return a sentence for each promise that memory breaks now."""
    if not player.byte(0xD368):
        return []  # the title: no map yet
    return [*_party(player), *_bag_and_money(player), *_map(player), *_battle(player), *_clock(player)]


def _party(player: Player) -> list[str]:
    out = []
    count, species = player.byte(0xD163), list(player.memory[0xD164:0xD16B])
    if count > 6 or species[count] != 0xFF:
        out.append(f"party of {count} ends in {species}")
    for slot, kin in enumerate(player.party()):
        at = 0xD16B + slot * 0x2C
        if kin["species"] != species[slot]:
            out.append(f"slot {slot}: species {kin['species']}, list {species}")
        if kin["level"] != player.byte(at + 3):
            out.append(f"slot {slot}: level {kin['level']}, box level {player.byte(at + 3)}")
        if not kin["max"] > 0 or kin["hp"] > kin["max"]:
            out.append(f"slot {slot}: health {kin['hp']} of {kin['max']}")
        experience = int.from_bytes(bytes(player.memory[at + 0x0E : at + 0x11]), "big")
        if not kin["level"] ** 3 <= experience < (kin["level"] + 1) ** 3 and not player.in_battle:
            out.append(f"slot {slot}: level {kin['level']} with experience {experience}")
        if not {player.byte(at + 5), player.byte(at + 6)} <= set(TYPES):
            out.append(f"slot {slot}: unknown type")
        if not player.name(0xD2B5 + slot * 11) or player.name(0xD273 + slot * 11) != player.name(0xD158):
            out.append(f"slot {slot}: no name")
    return out


def _bag_and_money(player: Player) -> list[str]:
    out = []
    count = player.byte(0xD31D)
    if count > 20 or player.byte(0xD31E + 2 * count) != 0xFF or len(player.bag()) != count:
        out.append(f"bag of {count} does not end")
    if not all(1 <= n <= 99 for n in player.bag().values()):
        out.append(f"bag holds {player.bag()}")
    if any(b >> 4 > 9 or b & 15 > 9 for b in player.memory[0xD347:0xD34A]):
        out.append("money is not decimal")
    return out


def _map(player: Player) -> list[str]:
    out = []
    area, y, x = player.here
    height, width = player.byte(0xD368) * 2, player.byte(0xD369) * 2
    if area not in MAPS.values() or y >= height or x >= width:
        out.append(f"player at {y}, {x} of map {area}, {height} x {width}")
    for wy, wx, _, target in player.warps():
        if wy >= height or wx >= width or target not in {*MAPS.values(), 0xFF}:
            out.append(f"warp {wy}, {wx} to {target}")
    signs = [(player.byte(0xD4B1 + 2 * i), player.byte(0xD4B2 + 2 * i)) for i in range(player.byte(0xD4B0))]
    if any(sy >= height or sx >= width for sy, sx in signs):
        out.append(f"signs at {signs}")
    if any(py >= height or px >= width for py, px in player.people()):
        out.append(f"people at {player.people()}")
    if player.byte(0xC109) not in (0, 4, 8, 12):
        out.append(f"facing {player.byte(0xC109)}")
    if not 0 < player.pointer(0xD530) < 0x4000:
        out.append("the collision list is not in bank 0")
    if (player.byte(0xD363), player.byte(0xD364)) != (y & 1, x & 1):
        out.append("half block and position differ")
    return out


def _battle(player: Player) -> list[str]:
    kind = player.in_battle
    if kind not in (0, 1, 2, 0xFF):
        return [f"battle kind {kind}"]
    if kind not in (1, 2) or player.byte(0xD125) != 0x0B:
        return []  # in the menu everything has been sent out
    out = []
    if player.word(0xCFE6) > player.word(0xCFF4):
        out.append("the foe has more health than it can have")
    slot = player.byte(0xCC2F)
    kin = player.party()[slot]
    if (kin["species"], kin["hp"], kin["max"], kin["level"]) != (
        player.byte(0xD014),
        player.word(0xD015),
        player.word(0xD023),
        player.byte(0xD022),
    ):
        out.append("the fighter differs from the party")
    opponent = player.byte(0xCFE5) if kind == 1 else 200 + player.byte(0xD031)
    if player.byte(0xD059) != opponent:
        out.append(f"opponent {player.byte(0xD059)}")
    return out


def _clock(player: Player) -> list[str]:
    hours, _, minutes, seconds, frames = player.memory[0xDA41:0xDA46]
    return [] if minutes < 60 and seconds < 60 and frames < 60 else [f"play time {hours}:{minutes}:{seconds}.{frames}"]


def screen_differs_from_blocks(player: Player) -> list[tuple[int, int]]:
    """Squares of the view whose deciding tile is not the block map's."""
    _, y, x = player.here
    return [
        (row, column)
        for row in range(9)
        for column in range(10)
        if player.byte(0xC3A0 + (row * 2 + 1) * 20 + column * 2) != player.square_tile(y - 4 + row, x - 4 + column)
    ]
