"""The parts of a state, each a pure function of the bytes it is kept in."""

from __future__ import annotations

from functools import lru_cache
from struct import Struct
from typing import NamedTuple

from ptp.worlds.gameboy import addresses as at
from ptp.worlds.gameboy.profiles import GameProfile
from ptp.worlds.gameboy.state import Battle, BattleKind, BattleStyle, Connection, Fighter, Item, Member, Move, Warp

SLEEP_BITS = 0x07
STATUS_BITS = ((0x08, "poison"), (0x10, "burn"), (0x20, "freeze"), (0x40, "paralysis"))
PP_BITS = 0x3F  # the two bits above count PP items used
SAME_MAP_AS_BEFORE = 0xFF
LOST = 0xFF
WILD, TRAINER = 1, 2
STYLES: dict[int, BattleStyle] = {0: "normal", 1: "old man", 2: "safari"}

# What a creature is changes rarely, and then little of it: the parts that did not change are not decoded again.
_MEMBER = Struct(">BHxB2sx4sH3s10xH4sBH4H")
_FIGHTER = Struct(">BHxB2sx4s2xBH8x4s")
assert _MEMBER.size == at.MEMBER_SIZE
assert _FIGHTER.size == at.FIGHTER_SIZE


class Facts(NamedTuple):
    """What changes rarely."""

    money: int | None
    coins: int | None
    player: str | None
    rival: str | None
    badges: int
    badge_names: tuple[str | None, ...]
    owned: int
    seen: int
    events: int


_FACTS = Struct("3s2s11s11sB19s19s")


def read_facts(data: bytes, profile: GameProfile) -> Facts:
    """Return the facts from: money, coins, both names, badges, both halves of the dex, event flags."""
    money, coins, player, rival, badges, owned, seen = _FACTS.unpack_from(data)
    return Facts(
        money=decode_bcd(money),
        coins=decode_bcd(coins),
        player=profile.charmap.decode(player),
        rival=profile.charmap.decode(rival),
        badges=badges.bit_count(),
        badge_names=tuple(profile.badges.get(bit) for bit in range(8) if badges & 1 << bit),
        owned=count_bits(owned),
        seen=count_bits(seen),
        events=count_bits(data[_FACTS.size :]),
    )


def decode_bcd(data: bytes | bytearray) -> int | None:
    """Return a number kept as two digits a byte; None when a digit is above 9."""
    digits = data.hex()
    return int(digits) if digits.isdecimal() else None


def count_bits(data: bytes) -> int:
    """Return how many flags are set."""
    return int.from_bytes(data, "big").bit_count()


def read_status(status: int) -> str | None:
    """Return what ails a creature; None when nothing does."""
    names = ["sleep"] if status & SLEEP_BITS else []
    names += [name for bit, name in STATUS_BITS if status & bit]
    return "+".join(names) or None


@lru_cache(1024)
def read_moves(ids: bytes, points: bytes, profile: GameProfile) -> tuple[Move, ...]:
    """Return the moves known; 0 is an empty place."""
    return tuple(_move(move, pp & PP_BITS, profile) for move, pp in zip(ids, points, strict=True) if move)


def _move(move: int, pp: int, profile: GameProfile) -> Move:
    facts = profile.moves.get(move)
    if facts is None:
        return Move(move, None, None, None, pp)
    return Move(move, facts.name, facts.type, facts.power, pp)


@lru_cache(1024)
def read_types(data: bytes, profile: GameProfile) -> tuple[str | None, ...]:
    """Return one type or two; a creature of one type has it twice in memory."""
    return tuple(profile.types.get(number) for number in dict.fromkeys(data))


@lru_cache(1024)
def read_member(data: bytes, nickname: bytes, profile: GameProfile) -> Member:
    """Return one creature of the party."""
    (species, hp, status, types, moves, trainer, experience, dvs, points,
     level, max_hp, attack, defence, speed, special) = _MEMBER.unpack(data)  # fmt: skip
    facts = profile.species.get(species)
    return Member(
        species_id=species,
        species=facts.name if facts else None,
        dex=facts.dex if facts else None,
        nickname=profile.charmap.decode(nickname),
        level=level,
        hp=hp,
        max_hp=max_hp,
        status=read_status(status),
        sleep_turns=status & SLEEP_BITS,
        types=read_types(types, profile),
        moves=read_moves(moves, points, profile),
        experience=int.from_bytes(experience, "big"),
        attack=attack,
        defence=defence,
        speed=speed,
        special=special,
        trainer_id=trainer,
        dvs=dvs,
    )


def read_party(data: bytes, profile: GameProfile) -> tuple[Member, ...] | None:
    """Return the party from the list of its species, its structs and its nicknames.

    None while the game writes it: somebody joins (the list is first), two change places, HP are more than they can be.
    """
    count = len(data) // (1 + at.MEMBER_SIZE + at.NAME_SIZE)
    names = count + count * at.MEMBER_SIZE
    structs = _cut(data[count:names], at.MEMBER_SIZE)
    if bytes(struct[0] for struct in structs) != data[:count] or len(set(structs)) < count:
        return None
    pairs = zip(structs, _cut(data[names:], at.NAME_SIZE), strict=True)
    party = tuple(read_member(struct, name, profile) for struct, name in pairs)
    return None if any(member.hp > member.max_hp for member in party) else party


def _cut(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


def read_items(data: bytes, profile: GameProfile) -> tuple[Item, ...]:
    """Return the items from (id, quantity) pairs."""
    return tuple(
        Item(item, profile.items.get(item), quantity) for item, quantity in zip(*[iter(data)] * 2, strict=True)
    )


def read_warps(data: bytes, profile: GameProfile) -> tuple[Warp, ...]:
    """Return the warps from the last map's id, followed by the entries."""
    last, *entries = data
    return tuple(
        Warp(x, y, number, profile.maps.get(last if number == SAME_MAP_AS_BEFORE else number), warp)
        for y, x, warp, number in zip(*[iter(entries)] * at.WARP_SIZE, strict=True)
    )


def read_connections(data: bytes, profile: GameProfile) -> tuple[Connection, ...]:
    """Return the maps beyond the edges from: which sides have one, then the map of each side."""
    sides = zip(at.CONNECTION_BITS.items(), data[1:], strict=True)
    return tuple(Connection(side, number, profile.maps.get(number)) for (side, bit), number in sides if data[0] & bit)


@lru_cache(1024)
def read_fighter(data: bytes, profile: GameProfile) -> Fighter | None:
    """Return a creature that is fighting; None before it is sent out."""
    species, hp, status, types, moves, level, max_hp, points = _FIGHTER.unpack(data)
    if not species:
        return None
    facts = profile.species.get(species)
    return Fighter(
        species_id=species,
        species=facts.name if facts else None,
        level=level,
        hp=hp,
        max_hp=max_hp,
        status=read_status(status),
        sleep_turns=status & SLEEP_BITS,
        types=read_types(types, profile),
        moves=read_moves(moves, points, profile),
    )


def read_battle(data: bytes, profile: GameProfile) -> Battle:
    """Return the fight from: in battle, type, class, number, slot, opponent, move, menu up, text, both fighters."""
    mark, style, trainer_class, number, slot, opponent, move, choosing, has_text = data[:9]
    enemy = read_fighter(data[9 : 9 + at.FIGHTER_SIZE], profile)
    chosen = profile.moves.get(move)
    # A wild battle is marked as one before its enemy is written; by the first text all is there.
    is_here = has_text or (enemy and enemy.species_id == opponent and 0 < enemy.hp == enemy.max_hp)
    by_trainer = mark == TRAINER
    trainer = (trainer_class, number)
    return Battle(
        kind=_kind(mark, trainer, profile),
        style=STYLES.get(style),
        lost=mark == LOST,
        trainer=profile.trainers.get(trainer, profile.trainers.get((trainer_class, None))) if by_trainer else None,
        trainer_class=trainer_class if by_trainer else None,
        trainer_number=number if by_trainer else None,
        enemy=enemy if is_here or mark != WILD else None,
        own=read_fighter(data[9 + at.FIGHTER_SIZE :], profile),
        active_slot=slot,
        choosing=bool(choosing),
        enemy_move=chosen.name if chosen else None,
    )


def _kind(mark: int, trainer: tuple[int, int], profile: GameProfile) -> BattleKind | None:
    if mark == WILD:
        return "wild"
    if mark != TRAINER:
        return None
    is_leader = trainer in profile.leaders or (trainer[0], None) in profile.leaders
    return "gym" if is_leader else "trainer"
