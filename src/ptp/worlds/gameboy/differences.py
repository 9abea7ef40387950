"""Two states make a list of events; the same two states always make the same list."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from typing import Literal

from ptp.worlds.gameboy import events as game
from ptp.worlds.gameboy.events import GameEvent
from ptp.worlds.gameboy.state import Battle, GameState, Item, Member


def differences(before: GameState, after: GameState) -> list[GameEvent]:
    """Return what happened between two states."""
    if after.map_id is None:
        return []
    if before.map_id is None:  # a game was loaded or begun: who is there was not there to be seen before
        joined: list[GameEvent] = [_joined(slot, member, after) for slot, member in enumerate(after.party or ())]
        return [*joined, *_party_seen(after)] if joined else []
    events: list[GameEvent] = []
    if before.battle is not after.battle:
        events += _battle(before, after)
    happened = list(_party(before, after)) if before.party is not after.party else []
    events += happened
    has_shrunk = len(after.party or ()) < len(before.party or ())
    if happened or has_shrunk or (before.battle is not None and after.battle is None):
        events += _party_seen(after)
    if before.inventory is not after.inventory or before.money != after.money:
        events += _bag(before, after)
    if before.badge_names != after.badge_names:
        events += _badges(before, after)
    if before.map_id != after.map_id:
        places = (before.map_id, before.location, after.map_id, after.location)
        events.append(game.MapChanged(*places, before.facing, after.coordinates))
    if before.dialog and before.battle is None and not (after.dialog or "").startswith(before.dialog):
        # replaced or closed; until then it may still be being written, letter by letter
        events.append(game.DialogShown(before.dialog, before.location, before.coordinates))
    return events


def has_begun(battle: Battle) -> bool:
    """Whether the enemy is there; the game marks a wild battle before it is."""
    return battle.kind != "wild" or battle.enemy is not None


def is_whole(state: GameState) -> bool:
    """Whether nothing in a state is half written: only such states are compared."""
    if state.map_id is None:
        return state.screen_type != "map_change"
    return None not in (state.party, state.money) and (state.battle is None or has_begun(state.battle))


def _battle(before: GameState, after: GameState) -> Iterator[GameEvent]:
    battle, old = after.battle, before.battle
    if battle is None:
        return
    enemy = battle.enemy
    if not has_begun(battle):
        return
    if old is None or not has_begun(old):
        known = enemy if battle.kind == "wild" else None
        species, level = (known.species, known.level) if known else (None, None)
        first = next((slot for slot, member in enumerate(after.party or ()) if member.hp), None)
        yield game.BattleStarted(battle.kind, battle.trainer, species, level, after.location, first)
        if known:
            yield game.Encounter(known.species, known.species_id, known.level, after.location, after.coordinates)
    elif enemy and old.enemy and old.enemy.hp and not enemy.hp and enemy.species_id == old.enemy.species_id:
        yield game.Fainted("enemy", enemy.species, enemy.species_id, enemy.level, None)


def _party(before: GameState, after: GameState) -> Iterator[GameEvent]:
    if before.party is None or after.party is None:
        return
    pairs = list(_pair_members(before.party, after.party))
    gone = Counter(map(pokemon_id, before.party)) - Counter(map(pokemon_id, after.party))
    for slot, member, old in pairs:
        if old is None:
            yield _joined(slot, member, after)
            yield from _caught(member, before, after, [*gone])
            continue
        if old.hp and not member.hp:
            yield game.Fainted("own", member.species, member.species_id, member.level, slot)
        if member.level > old.level:
            yield game.LevelUp(slot, member.species, member.nickname, old.level, member.level)
        if member.species_id != old.species_id:
            yield game.Evolved(slot, old.species, member.species)


def _caught(member: Member, before: GameState, after: GameState, gone: list[str]) -> Iterator[game.Caught]:
    """Tell a newcomer that was caught, or that came in the moment another left and belonged to somebody else."""
    facts = (member.species, member.species_id, member.level, after.location, True)
    if before.battle is not None:
        if before.battle.kind == "wild":
            yield game.Caught(*facts)
    elif gone and gone[0][:4] != pokemon_id(member)[:4]:
        yield game.Caught(*facts, "trade", gone[0])


def pokemon_id(member: Member) -> str:
    """Return what tells a creature from the next: its first trainer and the numbers it was born with."""
    return f"{member.trainer_id:04x}-{member.dvs:04x}"


def _party_seen(after: GameState) -> list[GameEvent]:
    return [game.PartySeen(after.party, after.location)] if after.party else []


def _joined(slot: int, member: Member, after: GameState) -> game.Joined:
    return game.Joined(slot, member.species, member.species_id, member.nickname, member.level, after.location)


def _pair_members(before: tuple[Member, ...], after: tuple[Member, ...]) -> Iterator[tuple[int, Member, Member | None]]:
    """Yield each slot, who is there now, and the same creature before, wherever it was; None when it is new."""
    known: dict[tuple[int, int], deque[Member]] = defaultdict(deque)
    for member in before:
        known[member.trainer_id, member.dvs].append(member)
    for slot, member in enumerate(after):
        same = known[member.trainer_id, member.dvs]
        yield slot, member, same.popleft() if same else None


def count_items(items: tuple[Item, ...]) -> Counter[int]:
    """Return how many there are of each item; one item may fill several places."""
    counts: Counter[int] = Counter()
    for item in items:
        counts[item.id] += item.quantity
    return counts


def money_gained(before: GameState, after: GameState) -> int | None:
    """Return how much more money there is; None when either can't be read."""
    return None if before.money is None or after.money is None else after.money - before.money


def _bag(before: GameState, after: GameState) -> Iterator[GameEvent]:
    money = money_gained(before, after)
    items: list[game.ItemChanged] = []
    if before.inventory is not None and after.inventory is not None:
        items += _items(before, after, money or 0)
    yield from items
    if money and after.money is not None:
        shop = any(item.source == "shop" for item in items)
        won = before.battle is not None and money > 0
        yield game.MoneyChanged(money, after.money, "shop" if shop else "reward" if won else None)


def _items(before: GameState, after: GameState, money: int) -> Iterator[game.ItemChanged]:
    old, new = count_items(before.inventory or ()), count_items(after.inventory or ())
    names = {item.id: item.name for item in (*(before.inventory or ()), *(after.inventory or ()))}
    for item in sorted(old.keys() | new.keys()):
        change = new[item] - old[item]
        name, count = names[item], abs(change)
        if change and before.battle is not None:
            yield game.ItemChanged("add" if change > 0 else "use", name, item, count, "battle")
        elif change:
            traded = change * money < 0  # the one for the other, within one tick
            source: Literal["shop", "pickup"] | None = "shop" if traded else "pickup" if change > 0 else None
            yield game.ItemChanged("add" if change > 0 else "remove", name, item, count, source)


def _badges(before: GameState, after: GameState) -> Iterator[game.BadgeEarned]:
    had = Counter(before.badge_names or ())
    for name in (Counter(after.badge_names or ()) - had).elements():
        yield game.BadgeEarned(name, after.badges or 0)
