"""Events in a few words, for runs of schemas that did not keep the words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _name(detail: dict[str, Any], *fields: str) -> str:
    return next((str(detail[field]) for field in fields if detail.get(field) is not None), "something")


TITLES: dict[str, Callable[[dict[str, Any]], str]] = {
    "Encounter": lambda d: f"a wild {_name(d, 'species')} (level {d.get('level')}) appeared",
    "MapChanged": lambda d: f"went to {_name(d, 'to_location', 'to_map')}",
    "DialogShown": lambda d: f"“{' '.join(str(d.get('text', '')).split())}”",
    "BattleStarted": lambda d: f"battle with {_name(d, 'trainer', 'enemy_species', 'kind')} began",
    "BattleTurn": lambda d: f"turn {d.get('number')}: {_name(d, 'player_move', 'player_action')}, {d.get('result')}",
    "BattleEnded": lambda d: f"battle with {_name(d, 'trainer', 'enemy_species', 'kind')}: {_name(d, 'outcome')}",
    "Joined": lambda d: f"{_name(d, 'nickname', 'species')} joined the party",
    "PartySeen": lambda d: f"party of {len(d.get('members') or ())}",
    "Caught": lambda d: f"caught {_name(d, 'species')} (level {d.get('level')})",
    "Fainted": lambda d: f"{'own' if d.get('side') == 'own' else 'enemy'} {_name(d, 'species')} fainted",
    "LevelUp": lambda d: f"{_name(d, 'nickname', 'species')} reached level {d.get('to_level')}",
    "Evolved": lambda d: f"{_name(d, 'from_species')} became {_name(d, 'to_species')}",
    "BadgeEarned": lambda d: f"earned the {_name(d, 'name')} badge",
    "ItemChanged": lambda d: f"{d.get('action')} {d.get('quantity')} {_name(d, 'item', 'item_id')}",
    "MoneyChanged": lambda d: f"money {d.get('change', 0):+d}",
}


def title_of(kind: str, detail: dict[str, Any]) -> str:
    """Return an event in a few words."""
    return TITLES[kind](detail) if kind in TITLES else kind
