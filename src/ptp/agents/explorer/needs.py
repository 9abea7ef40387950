"""What the party and the bag need."""

from __future__ import annotations

from ptp.agents.explorer.memory import Area
from ptp.worlds.gameboy.profiles import GameProfile
from ptp.worlds.gameboy.state import GameState, Item, Member

STOCK = {"catch": 6, "heal": 4}
"""How many things of each effect to have in the bag."""
FEW_POINTS = 4
DULL_FIGHTS = 5
LEVELS_ABOVE_THE_WILD = 3
LEVELS_BELOW_THE_BEST = 2
QUIET_STEPS = 90  # in the grass without a battle: nothing lives there


def lead_of(state: GameState) -> Member | None:
    """Return who fights first: the first that can."""
    members = state.party or ()
    return next((member for member in members if member.hp), members[0] if members else None)


def is_weary(state: GameState) -> bool:
    """Whether the party should rest before it fights again."""
    if not state.party:
        return False
    lead = state.party[0]
    return lead.hp * 5 < lead.max_hp * 2 or lead.status is not None or attack_points(lead) <= FEW_POINTS


def is_fresh(state: GameState) -> bool:
    """Whether the party is fit for a hard battle."""
    lead = lead_of(state)
    return lead is not None and lead.hp * 5 >= lead.max_hp * 4


def attack_points(member: Member) -> int:
    """Return how often the creature can still attack."""
    return sum(move.pp for move in member.moves if move.power)


def vigour(state: GameState) -> int:
    """Return one number that only grows when somebody helps: hit points and move points of all, and their health."""
    members = state.party or ()
    return sum(member.hp + sum(move.pp for move in member.moves) + (member.status is None) for member in members)


def find_items(state: GameState, profile: GameProfile, effect: str) -> list[tuple[int, Item]]:
    """Return the things in the bag that have an effect, with their place in the bag."""
    bag = enumerate(state.inventory or ())
    return [(place, item) for place, item in bag if item.quantity and effect_of(profile, item.id) == effect]


def effect_of(profile: GameProfile, item: int) -> str | None:
    """Return what using a thing does, if the profile knows."""
    facts = profile.item_effects.get(item)
    return None if facts is None else facts.effect


def count_items(state: GameState, profile: GameProfile, effect: str) -> int:
    """Return how many things with an effect are in the bag."""
    return sum(item.quantity for _, item in find_items(state, profile, effect))


def choose_purchase(state: GameState, profile: GameProfile, goods: dict[int, int]) -> tuple[int, int] | None:
    """Return what to buy and how many of it: the cheapest of what the bag lacks."""
    for effect, wanted in STOCK.items():
        offers = [(price, item) for item, price in goods.items() if price and effect_of(profile, item) == effect]
        lacking = wanted - count_items(state, profile, effect)
        if not offers or lacking <= 0:
            continue
        price, item = min(offers)
        count = min(lacking, (state.money or 0) // price)
        if count > 0:
            return item, count
    return None


def has_run_out(state: GameState, profile: GameProfile) -> bool:
    """Whether something is all used up that should be in the bag."""
    return any(not count_items(state, profile, effect) for effect in STOCK)


def is_huntable(area: Area) -> bool:
    """Whether wild creatures may come in the tall grass of a map."""
    return bool(area.grass) and (area.wild or area.strongest > 0) and area.quiet < QUIET_STEPS


def wants_to_hunt(state: GameState, area: Area, level_wanted: int, best: int, profile: GameProfile) -> bool:
    """Whether the tall grass of a map still has something to give: new species, or strength.

    Strength comes fastest from the strongest: *best* is the highest level of the wild that is known and can be beaten.
    """
    lead = lead_of(state)
    if lead is None or not is_huntable(area):
        return False
    if area.dull_fights < DULL_FIGHTS and count_items(state, profile, "catch"):
        return True
    if area.strongest and area.strongest + LEVELS_BELOW_THE_BEST < best:
        return False
    return lead.level < max(level_wanted, area.strongest + LEVELS_ABOVE_THE_WILD if area.strongest else 0)
