"""Battles as a whole: turns, damage, items used, outcome. A battle is more than two states can tell."""

from __future__ import annotations

import msgspec

from ptp.errors import WorldError
from ptp.worlds.gameboy.differences import count_items, money_gained
from ptp.worlds.gameboy.events import BattleEnded, BattleTurn, Caught, GameEvent, Outcome, TurnAction, TurnResult
from ptp.worlds.gameboy.state import Battle, Fighter, GameState

OUTCOMES: dict[int, Outcome] = {0: "win", 1: "loss", 2: "flee"}
ENEMY_WORDS = ("Enemy", "Foe")  # what the texts of the games call the other side
_RESULTS: dict[Outcome | None, TurnResult] = {"flee": "fled", "caught": "caught", "loss": "lost"}


class OpenBattle(msgspec.Struct):
    """A battle that goes on."""

    first: GameState
    last: GameState
    faced: GameState | None = None
    """The first time the battle menu was up: then both sides had sent out their first."""
    menu: GameState | None = None
    """The last time the battle menu was up: a turn is what happens from one to the next."""
    own_hp: int | None = None
    """HP of the creature that fought when the menu was up, as long as it is there."""
    enemy_hp: int | None = None
    turns: int = 0
    used: dict[str, int] = {}
    enemy_acts: bool = False
    """Whether the text of the present turn says that the enemy does something."""
    says_caught: bool = False

    @property
    def then(self) -> Battle | None:
        """The fight as it was when the menu was up."""
        return self.menu.battle if self.menu else None

    def newcomers(self, state: GameState) -> int:
        """Return by how many the party has grown since the battle began."""
        return len(state.party or ()) - len(self.first.party or ())


class BattleLog:
    """Fed with every state, tells the turns and the ends of battles."""

    def __init__(self) -> None:
        self._open: OpenBattle | None = None

    @property
    def turn(self) -> int | None:
        """The number of the present turn, from 1; None outside battles."""
        return None if self._open is None else self._open.turns + 1

    @property
    def has_faced(self) -> bool:
        """Whether both sides have sent out their first: till then memory holds those of the battle before."""
        return self._open is not None and self._open.faced is not None

    def feed(self, state: GameState) -> list[GameEvent]:
        """Take in the next state."""
        now = state.battle
        if now is None:
            ended, self._open = self._open, None
            return [] if ended is None else _end(ended, state)
        battle = self._open = self._open or OpenBattle(state, state)
        _follow(battle, now)
        _read(battle, now, state.dialog)
        events: list[GameEvent] = []
        if now.choosing:
            if _acted(battle, state):
                events.append(_turn(battle, state, None))
            battle.faced, battle.menu, battle.enemy_acts = battle.faced or state, state, False
            battle.own_hp = now.own.hp if now.own else None
            battle.enemy_hp = now.enemy.hp if now.enemy else None
        battle.last = state
        return events

    def save(self) -> bytes:
        """Return the open battle as JSON."""
        return msgspec.json.encode(self._open)

    def load(self, data: bytes) -> None:
        """Return to a saved battle."""
        try:
            self._open = msgspec.json.decode(data, type=OpenBattle | None)
        except msgspec.DecodeError as problem:
            raise WorldError(f"not a saved battle: {problem}") from None


def _read(battle: OpenBattle, now: Battle, dialog: str | None) -> None:
    """Note what only the text tells: that the enemy acts, and that a creature was caught that does not join."""
    text = " ".join((dialog or "").split())
    if text.endswith("was caught!") and now.style != "old man":
        battle.says_caught = True
    if now.enemy and text.startswith(tuple(f"{word} {now.enemy.species} u" for word in ENEMY_WORDS)):
        battle.enemy_acts = True


def _follow(battle: OpenBattle, now: Battle) -> None:
    """Note the HP of the two that fight; one that has fallen, or was replaced, is not followed further."""
    then = battle.then
    if then is None:
        return
    if battle.enemy_hp and now.enemy and then.enemy and _is_same(now.enemy, then.enemy):
        battle.enemy_hp = now.enemy.hp
    if battle.own_hp and now.own and then.own and now.active_slot == then.active_slot:
        battle.own_hp = now.own.hp


def _is_same(one: Fighter, other: Fighter) -> bool:
    return (one.species_id, one.level, one.max_hp) == (other.species_id, other.level, other.max_hp)


def _acted(battle: OpenBattle, state: GameState) -> bool:
    """Whether anything happened since the menu was up; looking into the bag is not a turn."""
    then, now = battle.then, state.battle
    if battle.menu is None or then is None or now is None:
        return False
    changed = (now.own, now.enemy, now.active_slot) != (then.own, then.enemy, then.active_slot)
    return changed or battle.enemy_acts or bool(_items_used(battle.menu, state))


def _items_used(before: GameState, after: GameState) -> dict[str, int]:
    if before.inventory is after.inventory or before.inventory is None or after.inventory is None:
        return {}
    names = {item.id: item.name or f"item {item.id}" for item in before.inventory}
    gone = count_items(before.inventory) - count_items(after.inventory)
    return {names[item]: count for item, count in gone.items()}


def _turn(battle: OpenBattle, state: GameState, outcome: Outcome | None) -> BattleTurn:
    then, now = battle.then, state.battle
    assert battle.menu is not None
    assert then is not None
    own, enemy = then.own, then.enemy
    battle.turns += 1
    used = _items_used(battle.menu, state)
    for name, count in used.items():
        battle.used[name] = battle.used.get(name, 0) + count
    action, move = _player_action(battle, now, used, outcome)
    enemy_damage = _damage(own, battle.own_hp)
    enemy_acted = bool(enemy_damage) or battle.enemy_acts
    return BattleTurn(
        number=battle.turns,
        player_action=action,
        player_move=move,
        player_target=enemy.species if enemy and action == "move" else None,
        player_damage=_damage(enemy, battle.enemy_hp),
        enemy_action="move" if enemy_acted else None,
        enemy_move=now.enemy_move if now and enemy_acted else None,
        enemy_damage=enemy_damage,
        player_hp_after=battle.own_hp,
        enemy_hp_after=battle.enemy_hp,
        result=_result(battle, outcome),
    )


def _damage(fighter: Fighter | None, hp: int | None) -> int | None:
    """Return the HP lost; None when they grew, for then healing hides how many were lost."""
    return None if fighter is None or hp is None or hp > fighter.hp else fighter.hp - hp


def _player_action(
    battle: OpenBattle, now: Battle | None, used: dict[str, int], outcome: Outcome | None
) -> tuple[TurnAction | None, str | None]:
    then = battle.then
    if used:
        return "item", ", ".join(used)
    if outcome == "flee":
        return "run", None
    if then is None or now is None:
        return None, None
    move = _move_used(then.own, now.own)
    if move is not None:
        return "move", move
    if now.active_slot != then.active_slot and battle.own_hp:
        return "switch", now.own.species if now.own else None
    return None, None


def _move_used(before: Fighter | None, after: Fighter | None) -> str | None:
    """Return the move whose PP went down."""
    if before is None or after is None:
        return None
    now = {move.id: move.pp for move in after.moves}
    spent = (move for move in before.moves if now.get(move.id, move.pp) < move.pp)
    return next((move.name or f"move {move.id}" for move in spent), None)


def _result(battle: OpenBattle, outcome: Outcome | None) -> TurnResult:
    if outcome in _RESULTS:
        return _RESULTS[outcome]
    if battle.own_hp == 0:
        return "both fainted" if battle.enemy_hp == 0 else "own fainted"
    return "enemy fainted" if battle.enemy_hp == 0 else "goes on"


def _end(battle: OpenBattle, state: GameState) -> list[GameEvent]:
    outcome = _outcome(battle, state)
    events: list[GameEvent] = []
    if battle.menu is not None and (_acted(battle, battle.last) or outcome in ("flee", "caught")):
        events.append(_turn(battle, battle.last, outcome))
    first = battle.first.battle
    assert first is not None
    faced = battle.faced.battle if battle.faced else None
    enemy = first.enemy if first.kind == "wild" else faced.enemy if faced else None
    if outcome == "caught" and battle.newcomers(state) == 0 and enemy is not None:
        events.append(Caught(enemy.species, enemy.species_id, enemy.level, battle.first.location, False))
    ended = BattleEnded(
        kind=first.kind,
        outcome=outcome,
        turns=battle.turns,
        enemy_species=enemy.species if enemy else None,
        enemy_level=enemy.level if enemy else None,
        trainer=first.trainer,
        player_pokemon=faced.own.species if faced and faced.own else None,
        used_items=[name for name, count in battle.used.items() for _ in range(count)],
        money_earned=money_gained(battle.first, state),
    )
    return [*events, ended]


def _outcome(battle: OpenBattle, state: GameState) -> Outcome | None:
    last, result = battle.last.battle, state.battle_result
    if (last is not None and last.lost) or result == 1:
        return "loss"
    if battle.says_caught or battle.newcomers(state) > 0 or (state.owned or 0) > (battle.first.owned or 0):
        return "caught"
    if result == 2 and battle.own_hp == 0 and battle.enemy_hp == 0:
        return "draw"
    return None if result is None else OUTCOMES.get(result)
