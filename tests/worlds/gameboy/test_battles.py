"""Battles as a whole: turns, outcome, items, money."""

from __future__ import annotations

import pytest

from ptp.errors import WorldError
from ptp.worlds.gameboy.battles import BattleLog
from ptp.worlds.gameboy.events import BattleEnded, BattleTurn, Caught, GameEvent
from tests.worlds.gameboy.images import box, fight, member, put, show, started, state


def say(image: bytearray, text: str) -> None:
    """Write words, whose lines a | parts, into the message box."""
    image[0xC3A0 + 12 * 20 : 0xC3A0 + 18 * 20] = bytes([0x7F] * 120)
    box(image, 12, 0, 6, 20)
    for row, line in enumerate(text.split("|") if text else ()):
        show(image, 14 + 2 * row, 1, line)


class Game:
    """A game whose memory is written tick by tick while a log watches."""

    def __init__(self, kind: int = 1) -> None:
        self.log = BattleLog()
        self.image = started()
        self.kind = kind
        member(self.image, 0, dvs=1)
        put(self.image, 0xD31D, 1, 4, 5)
        put(self.image, 0xD347, 0, 0x10, 0)
        put(self.image, 0xD01C, 33, 45)
        put(self.image, 0xD02D, 35, 40)
        self.events: list[GameEvent] = []
        self.tick()
        fight(self.image, kind)
        put(self.image, 0xD125, 1)
        self.tick()
        self.menu()

    def tick(self) -> None:
        self.events += self.log.feed(state(self.image))

    def menu(self) -> None:
        put(self.image, 0xD125, 0x0B)
        self.tick()

    def tell(self) -> None:
        put(self.image, 0xD125, 0x01)
        self.tick()

    def attack(self, enemy_hp: int, own_hp: int = 20) -> None:
        self.image[0xD02D] -= 1
        self.tell()
        put(self.image, 0xCFE6, 0, enemy_hp)
        self.tell()
        put(self.image, 0xD015, 0, own_hp)
        self.tell()

    def end(self, result: int) -> None:
        put(self.image, 0xCF0B, result)
        put(self.image, 0xD057, 0)
        self.tick()

    @property
    def turns(self) -> list[BattleTurn]:
        return [event for event in self.events if isinstance(event, BattleTurn)]

    @property
    def ended(self) -> BattleEnded:
        (event,) = (event for event in self.events if isinstance(event, BattleEnded))
        return event


def test_a_turn_is_from_menu_to_menu() -> None:
    game = Game()
    assert game.log.turn == 1
    game.attack(enemy_hp=7, own_hp=16)
    assert game.turns == []
    game.menu()
    assert game.log.turn == 2
    assert game.turns == [
        BattleTurn(
            number=1,
            player_action="move",
            player_move="TACKLE",
            player_target="RATTATA",
            player_damage=5,
            enemy_action="move",
            enemy_move=None,
            enemy_damage=4,
            player_hp_after=16,
            enemy_hp_after=7,
            result="goes on",
        )
    ]


def test_the_enemys_move_is_the_one_it_chose() -> None:
    game = Game()
    put(game.image, 0xCCDD, 45)
    game.attack(enemy_hp=7, own_hp=16)
    game.menu()
    assert (game.turns[0].enemy_action, game.turns[0].enemy_move) == ("move", "GROWL")


def test_an_enemy_that_fell_before_its_turn_did_nothing() -> None:
    game = Game()
    put(game.image, 0xCCDD, 45)
    game.attack(enemy_hp=0)
    game.end(0)
    assert (game.turns[0].enemy_action, game.turns[0].enemy_move) == (None, None)


@pytest.mark.parametrize("text", ["Enemy RATTATA|used GROWL!", "Foe RATTATA u"])
def test_what_the_enemy_does_without_harm_is_known_from_the_text(text: str) -> None:
    game = Game()
    put(game.image, 0xCCDD, 45)
    say(game.image, text)
    game.attack(enemy_hp=7)
    say(game.image, "")
    game.menu()
    game.attack(enemy_hp=5)
    game.menu()
    assert [turn.enemy_move for turn in game.turns] == ["GROWL", None]


def test_a_second_one_of_a_kind_that_finds_no_place_is_caught_by_the_words() -> None:
    game = Game()
    put(game.image, 0xD31F, 4)
    say(game.image, "RATTATA was|caught!")
    game.tell()
    game.end(2)
    assert game.ended.outcome == "caught"
    assert [event for event in game.events if isinstance(event, Caught)] == [
        Caught("RATTATA", 0xA5, 3, "PALLET TOWN", False)
    ]


def test_a_catch_that_is_only_shown_to_the_player_is_none() -> None:
    game = Game()
    put(game.image, 0xD05A, 1)
    say(game.image, "RATTATA was|caught!")
    game.tell()
    game.end(2)
    assert game.ended.outcome == "flee"


def test_looking_into_the_bag_is_no_turn() -> None:
    game = Game()
    game.tell()
    game.menu()
    assert (game.turns, game.log.turn) == ([], 1)


def test_a_won_battle() -> None:
    game = Game()
    game.attack(enemy_hp=5)
    game.menu()
    game.attack(enemy_hp=0)
    game.end(0)
    assert [(turn.number, turn.player_damage, turn.result) for turn in game.turns] == [
        (1, 7, "goes on"),
        (2, 5, "enemy fainted"),
    ]
    assert game.ended == BattleEnded(
        kind="wild",
        outcome="win",
        turns=2,
        enemy_species="RATTATA",
        enemy_level=3,
        trainer=None,
        player_pokemon="BULBASAUR",
        used_items=[],
        money_earned=0,
    )
    assert game.log.turn is None


def test_the_prize_of_a_trainer() -> None:
    game = Game(kind=2)
    game.attack(enemy_hp=0)
    put(game.image, 0xD347, 0, 0x11, 0x50)
    game.end(0)
    assert (game.ended.kind, game.ended.money_earned) == ("trainer", 150)


def test_the_next_creature_of_a_trainer_does_not_hide_the_damage() -> None:
    game = Game(kind=2)
    game.attack(enemy_hp=0)
    put(game.image, 0xCFE5, 0x24, 0, 18)
    game.tell()
    game.menu()
    (turn,) = game.turns
    assert (turn.player_damage, turn.enemy_hp_after, turn.result) == (12, 0, "enemy fainted")
    game.end(0)
    assert game.ended.enemy_species == "RATTATA"


@pytest.mark.parametrize("mark", ["result", "battle"])
def test_a_lost_battle(mark: str) -> None:
    game = Game()
    game.attack(enemy_hp=12, own_hp=0)
    if mark == "battle":
        put(game.image, 0xD057, 0xFF)
        game.tell()
    game.end(1 if mark == "result" else 0)
    assert (game.ended.kind, game.ended.outcome, game.turns[-1].result) == ("wild", "loss", "lost")


def test_running_away_is_a_turn() -> None:
    game = Game()
    game.tell()
    game.end(2)
    assert (game.ended.outcome, game.ended.turns) == ("flee", 1)
    assert (game.turns[0].player_action, game.turns[0].result) == ("run", "fled")


def test_both_fainting_is_a_draw() -> None:
    game = Game()
    game.attack(enemy_hp=0, own_hp=0)
    game.end(2)
    assert game.ended.outcome == "draw"
    assert game.turns[-1].result == "both fainted"


def test_a_catch() -> None:
    game = Game()
    put(game.image, 0xD31F, 4)
    game.tell()
    member(game.image, 1, species=0xA5, dvs=2)
    game.tell()
    game.end(2)
    assert (game.ended.outcome, game.ended.used_items) == ("caught", ["POKé BALL"])
    assert (game.turns[0].player_action, game.turns[0].player_move) == ("item", "POKé BALL")
    assert not any(isinstance(event, Caught) for event in game.events)  # the party's difference tells it


def test_a_catch_that_finds_no_place_in_the_party_is_told_here() -> None:
    game = Game()
    put(game.image, 0xD31F, 4)
    put(game.image, 0xD2F7, 1)
    game.tell()
    game.end(2)
    assert game.ended.outcome == "caught"
    assert [event for event in game.events if isinstance(event, Caught)] == [
        Caught("RATTATA", 0xA5, 3, "PALLET TOWN", False)
    ]


def test_a_switch() -> None:
    game = Game()
    put(game.image, 0xCC2F, 1)
    put(game.image, 0xD014, 0xB0)
    game.tell()
    game.menu()
    assert (game.turns[0].player_action, game.turns[0].player_move) == ("switch", "CHARMANDER")


def test_healing_hides_the_damage() -> None:
    game = Game()
    game.attack(enemy_hp=12, own_hp=20)
    put(game.image, 0xD015, 0, 25)
    game.tell()
    game.menu()
    assert game.turns[0].enemy_damage is None


def test_a_result_nobody_knows_has_no_name() -> None:
    game = Game()
    game.attack(enemy_hp=0)
    game.end(9)
    assert game.ended.outcome is None


def test_an_open_battle_survives_saving() -> None:
    game = Game()
    game.attack(enemy_hp=5)
    game.menu()
    other = BattleLog()
    other.load(game.log.save())
    assert other.turn == 2
    game.attack(enemy_hp=0)
    put(game.image, 0xD057, 0)
    assert other.feed(state(game.image)) != []
    assert other.turn is None


def test_a_damaged_battle_is_refused() -> None:
    with pytest.raises(WorldError, match="not a saved battle"):
        BattleLog().load(b"{}")
