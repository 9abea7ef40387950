"""What a run takes snapshots at: words of the world, its events, and figures that are reached."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

import ptp
from ptp.engine.play import Progress
from ptp.errors import ConfigError, UnknownName
from ptp.records import Event
from ptp.snapshots.triggers import Triggers
from ptp.worlds import World, find_world, make_world
from ptp.worlds.contract import Signals
from ptp.worlds.gameboy import events as game
from ptp.worlds.knowledge import knowledge_of


@pytest.fixture(scope="module")
def grass() -> Iterator[World]:
    with closing(make_world(find_world("tallgrass"))) as world:
        yield world


@pytest.fixture(scope="module")
def pole() -> Iterator[World]:
    with closing(make_world(find_world("CartPole-v1"))) as world:
        yield world


def found(wanted: str, *happened: game.GameEvent, world: World) -> list[tuple[str, str]]:
    """Return what goes off; the events are as the world gives them, and then as a database has them."""
    live = [Event(0.0, 1, 0, type(event).__name__, "", event) for event in happened]
    written = [msgspec.structs.replace(event, detail=msgspec.to_builtins(event.detail)) for event in live]
    once, again = (list(Triggers(wanted.split(","), world).found(it, Progress())) for it in (live, written))
    assert once == again
    return [(item.word, item.name) for item in once]


CAUGHT = game.Caught("NIBBIN", 3, 4, "ROUTE", True)
TONIC = game.ItemChanged("add", "TONIC", 20, 1, "pickup")
WENT = game.MapChanged(0, "A", 1, "STONE GYM", None, None)


@pytest.mark.parametrize(
    ("wanted", "event", "name"),
    [
        ("catch", CAUGHT, "catch-NIBBIN"),
        ("catch:NIBBIN", CAUGHT, "catch-NIBBIN"),
        ("catch:EMBERET", CAUGHT, None),
        ("catch", game.Caught("NIDORAN♂", 3, 4, "ROUTE", True), "catch-NIDORAN-M"),
        ("catch", game.Caught(None, 3, 4, "ROUTE", True), "catch"),
        ("badge", game.BadgeEarned("SLATE", 1), "badge-1"),
        ("badge:slate", game.BadgeEarned("SLATE", 1), "badge-1"),
        ("battle", game.BattleStarted("wild", None, "NIBBIN", 3, "ROUTE"), "battle-1"),
        ("battle:gym", game.BattleStarted("wild", None, "NIBBIN", 3, "ROUTE"), None),
        ("battle:NIBBIN", game.BattleStarted("wild", None, "NIBBIN", 3, "ROUTE"), "battle-1"),
        ("death", game.Fainted("own", "EMBERET", 4, 5, 0), "death-EMBERET"),
        ("death", game.Fainted("enemy", "NIBBIN", 3, 4, None), None),
        ("catch", game.MoneyChanged(3, 3), None),
        ("item:TONIC", TONIC, "item-TONIC"),
        ("item:TONIC", game.ItemChanged("use", "TONIC", 20, 1, "battle"), None),
        ("item:TONIC", game.ItemChanged("add", "SUPER TONIC", 19, 1, "shop"), None),
        ("flag:EVENT_GOT_STARTER", game.FlagSet(1, "EVENT_GOT_STARTER"), "flag-EVENT_GOT_STARTER"),
        ("flag:EVENT_GOT_STARTER", game.FlagSet(99, None), None),
        ("event:MapChanged", WENT, "MapChanged"),
    ],
)
def test_an_event_goes_off(grass: World, wanted: str, event: game.GameEvent, name: str | None) -> None:
    assert [called for _, called in found(wanted, event, world=grass)] == ([] if name is None else [name])


def test_a_place_is_named_by_its_first_words(grass: World) -> None:
    place = next(name for name in grass.trigger_values("location") if " " in name)
    first = place.split()[0]
    went = game.MapChanged(0, "A", 1, place, None, None)
    assert found(f"location:{first.lower()}", went, world=grass) == [("location", f"location-{place}")]
    assert found(f"location:{place}", WENT, world=grass) == []


def test_one_event_takes_one_snapshot_and_each_name_is_given_once(grass: World) -> None:
    assert found("catch:NIBBIN,catch,item:TONIC", CAUGHT, TONIC, TONIC, world=grass) == [
        ("catch", "catch-NIBBIN"), ("item", "item-TONIC"),
    ]  # fmt: skip


def test_a_figure_goes_off_when_it_is_reached_and_again_after_going_back(grass: World) -> None:
    triggers = Triggers(["level:10", "reward:2.5"], grass)

    def at(level: float | None, reward: float = 0.0) -> list[str]:
        signals = Signals(values={} if level is None else {"level": level})
        return [item.name for item in triggers.found([], Progress(reward=reward, signals=signals))]

    assert [at(level) for level in (None, 9, 10, 11, 10)] == [[], [], ["level-10"], [], []]
    assert at(11, 2.5) == ["reward-2.5"]
    triggers.settle(Progress(signals=Signals(values={"level": 9})))
    assert at(12) == ["level-10"]
    triggers.settle(Progress(signals=Signals(values={"level": 20})))
    assert at(20) == []


def test_what_the_world_does_not_offer_is_refused_with_what_it_does(grass: World, pole: World) -> None:
    with pytest.raises(
        ConfigError, match="'weather:RAIN' is no trigger of 'tallgrass'; it offers catch, battle, "
    ) as no:
        Triggers(["weather:RAIN"], grass)
    assert all(offer in str(no.value) for offer in ("location:NAME", "flag:NAME", "event:LevelUp", "badges:N"))
    with pytest.raises(
        ConfigError, match=r"'location:X' is no trigger of 'CartPole-v1'; it offers reward:N, last_reward:"
    ):
        Triggers(["location:X"], pole)
    with pytest.raises(ConfigError, match="event:Rain"):
        Triggers(["event:Rain"], grass)
    with pytest.raises(UnknownName, match="no item of 'tallgrass' named 'TONCI'; did you mean 'TONIC'"):
        Triggers(["item:TONCI"], grass)
    for figure in ("level:high", "level:nan", "level:inf"):
        with pytest.raises(ConfigError, match="has no figure to reach; write it as level:10"):
            Triggers([figure], grass)
    assert not Triggers(["catch", "battle", "badge", "death"], pole), "they never happen there, and are no error"


def test_every_word_that_a_world_declares_is_about_facts_that_its_events_have(grass: World) -> None:
    for word, trigger in knowledge_of("gameboy").triggers.items():
        fields = getattr(game, trigger.kind).__struct_fields__
        assert set(trigger.about) | {name for name, _ in trigger.where} <= set(fields)
        assert trigger.called in (*fields, "1")
        assert grass.trigger_values(word)


# -- in runs -------------------------------------------------------------------------------------------------------


def test_a_cart_pole_is_kept_when_its_reward_is_reached(tmp_path: Path) -> None:
    run = ptp.run(
        "CartPole-v1", "random", max_ticks=60, random_seed=3, data_dir=str(tmp_path), snapshot_on_event=["reward:40"]
    )
    (kept,) = [header for header in run.snapshots() if "event" in header.tags]
    assert (kept.name, kept.tick, kept.reason, kept.tags) == ("reward-40-40", 40, "event reward", ("event", "reward"))
    assert run.restore("reward-40").tick == 40


def test_a_game_is_kept_at_places_items_and_story_flags(tmp_path: Path) -> None:
    wanted = ["event:MapChanged", "flag:EVENT_GOT_STARTER", "level:5"]
    run = ptp.run(
        "tallgrass", "explorer", max_ticks=700, random_seed=3, data_dir=str(tmp_path), tick_rate_base=0,
        snapshot_on_event=wanted,
    )  # fmt: skip
    events = {(event.kind, event.tick) for event in run.events()}
    flags = [event for event in run.events() if event.kind == "FlagSet"]
    (starter,) = [event.tick for event in flags if event.detail["name"] == "EVENT_GOT_STARTER"]
    names = {header.name for header in run.snapshots() if "event" in header.tags}
    assert f"flag-EVENT_GOT_STARTER-{starter}" in names
    went = {tick for kind, tick in events if kind == "MapChanged"}
    assert {f"MapChanged-{tick}" for tick in went} <= names
    assert any((name or "").startswith("level-5-") for name in names)


GOAL = """
from ptp.worlds import World, WorldEvent


class Goal(World):
    environment = "CartPole-v1"
    milestones = ("Goal",)

    def step(self, command):
        self.count = getattr(self, "count", 0) + 1
        self.events = [WorldEvent("Goal", "scored", {"count": self.count})] if self.count == 7 else []
        return super().step(command)
"""


def test_a_world_of_ones_own_offers_its_milestones(tmp_path: Path) -> None:
    (tmp_path / "goal.py").write_text(GOAL)
    world, wanted = f"{tmp_path}/goal.py:Goal", ["event:Goal"]
    run = ptp.run(world, "random", max_ticks=9, data_dir=str(tmp_path), snapshot_on_event=wanted)
    assert [header.name for header in run.snapshots() if "event" in header.tags] == ["Goal-7"]


def test_a_trigger_that_the_world_lacks_leaves_no_run_behind(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="it offers reward:N"):
        ptp.run("CartPole-v1", "random", max_ticks=5, data_dir=str(tmp_path), snapshot_on_event=["item:TONIC"])
    assert ptp.runs(tmp_path) == []
