"""The engine: every promise of a tick, with a clock that the test turns."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from ptp.agents import Decision, Observation
from ptp.config.tree import BY_FLAG, build
from ptp.engine import Engine, EngineState
from ptp.errors import AgentError, ConfigError
from ptp.records import DecisionEnded, DecisionMade, EpisodeEnded, Notice, Record, Step
from ptp.testing import FakeAgent, FakeWorld, ManualClock
from ptp.worlds import Signals, find_world, make_world


class Game:
    """An engine with a fake world, a fake agent and a clock."""

    def __init__(self, *decisions: Decision | Exception | None, episode_length: int = 1_000_000, **flags: Any) -> None:
        flags = {"tick_rate_base": 0, **flags}
        self.config = build({BY_FLAG["--" + name.replace("_", "-")]: value for name, value in flags.items()})
        self.clock = ManualClock()
        self.world = FakeWorld(episode_length)
        self.agent = FakeAgent(self.world, decisions)
        self.engine = Engine(self.world, self.agent, self.config, self.clock, seed=1)
        self.records: list[Record] = self.engine.start()

    def tick(self, times: int = 1) -> list[Record]:
        new: list[Record] = []
        for _ in range(times):
            if self.engine.stop is None:
                new += self.engine.tick()
        self.records += new
        return new

    def of(self, kind: type[Any]) -> list[Any]:
        return [record for record in self.records if isinstance(record, kind)]

    def notices(self) -> list[str]:
        return [notice.kind for notice in self.of(Notice)]


# -- one tick ------------------------------------------------------------------------------------------------------


def test_a_tick_applies_one_command_and_tells_what_happened() -> None:
    game = Game(Decision((2,), reasoning="because", confidence=0.5, tokens=7, cost=0.25, model="m", type="MOVE"))
    game.clock.turn(3)
    step, decision = game.tick()
    assert isinstance(step, Step)
    assert (step.tick, step.episode, step.step, step.command, step.reward) == (1, 1, 1, "2", 2.0)
    assert step.elapsed == 3.0
    assert step.state == {"observation": 2}
    assert isinstance(decision, DecisionMade)
    assert (decision.tick, decision.type, decision.reasoning, decision.status) == (0, "MOVE", "because", "success")
    assert (decision.tokens, decision.cost, decision.model, decision.confidence) == (7, 0.25, "m", 0.5)
    assert decision.state == {"observation": 0}
    assert game.engine.progress.cost == 0.25


def test_a_state_that_did_not_change_is_not_repeated() -> None:
    game = Game(Decision((0,)), Decision((1,)))
    first, _, second, _ = game.tick(2)
    assert isinstance(first, Step)
    assert isinstance(second, Step)
    assert first.state is None
    assert second.state is not None


def test_the_agent_sees_the_state_and_hears_the_outcome() -> None:
    game = Game(Decision((3,)), Decision((1,)))
    game.tick(2)
    assert [seen.value for seen in game.agent.seen] == [0, 3]
    assert [seen.state for seen in game.agent.seen] == [{"observation": 0}, {"observation": 3}]
    assert [outcome.reward for outcome in game.agent.outcomes] == [3.0, 1.0]


def test_a_decision_of_several_commands_is_recorded_at_once_and_closed_at_its_end() -> None:
    game = Game(Decision((1, 2, 3)))
    game.tick()
    assert [record.status for record in game.of(DecisionMade)] == ["pending"]
    game.tick()
    assert not game.of(DecisionEnded)
    game.clock.turn(2)
    game.tick()
    (ended,) = game.of(DecisionEnded)
    assert (ended.number, ended.status, ended.duration_ms) == (0, "success", 2000.0)
    assert len(game.agent.seen) == 1


def test_an_agent_with_no_commands_has_finished() -> None:
    game = Game(Decision((1,)), Decision(()))
    game.tick(5)
    assert game.engine.stop is not None
    assert game.engine.stop.kind == "finished"
    assert game.engine.progress.ticks == 1


def test_nothing_happens_while_the_agent_thinks_but_time_goes_on() -> None:
    game = Game(None, None, None, Decision((1,)), max_time=1)
    assert game.tick(3) == []
    assert game.engine.progress.ticks == 0
    assert sum(game.clock.slept) > 0
    (step, decision) = game.tick()
    assert isinstance(step, Step)
    assert isinstance(decision, DecisionMade)
    assert decision.latency_ms == pytest.approx(sum(game.clock.slept) * 1000)


def test_an_agent_that_fails_is_told_with_its_tick() -> None:
    game = Game(Decision((1,)), ValueError("lost"))
    game.tick()
    with pytest.raises(AgentError, match="at tick 1: ValueError: lost"):
        game.tick()


def test_a_bad_command_is_dropped_and_three_in_a_row_end_the_run() -> None:
    game = Game(Decision((9,)), Decision((1,)), Decision((9,)), Decision((9,)), Decision((9,)))
    game.tick(2)
    assert game.notices() == ["bad_command"]
    assert [record.status for record in game.of(DecisionMade)] == ["failed", "success"]
    game.tick(2)
    with pytest.raises(AgentError, match="3 commands in a row"):
        game.tick()


def test_a_replay_of_the_same_seed_gives_the_same_hashes() -> None:
    from ptp.agents import make_agent

    hashes = []
    for _ in range(2):
        world = make_world(find_world("FrozenLake-v1"))
        config = build({BY_FLAG["--tick-rate-base"]: 0})
        agent = make_agent("random", world, config.agent, 3)
        engine = Engine(world, agent, config, ManualClock(), seed=9)
        hashes.append([r.state_hash for _ in range(300) for r in engine.tick() if isinstance(r, Step)])
    assert hashes[0] == hashes[1]


# -- episodes ------------------------------------------------------------------------------------------------------


def test_an_episode_ends_and_the_next_begins() -> None:
    game = Game(*[Decision((2,))] * 4, episode_length=3)
    game.tick(4)
    (ended,) = game.of(EpisodeEnded)
    assert (ended.episode, ended.tick, ended.steps, ended.reward, ended.terminated) == (1, 3, 3, 6.0, True)
    assert game.agent.episodes == [(1, 6.0)]
    last = game.of(Step)[-1]
    assert (last.episode, last.step, last.tick) == (2, 1, 4)


def test_commands_meant_for_an_episode_that_is_over_are_dropped() -> None:
    game = Game(Decision((1, 1, 1, 1)), episode_length=2)
    game.tick(2)
    assert "episode_ended" in game.notices()
    (ended,) = game.of(DecisionEnded)
    assert ended.status == "partial"


# -- pacing --------------------------------------------------------------------------------------------------------


def test_ticks_keep_the_base_rate() -> None:
    game = Game(tick_rate_base=10)
    game.tick(21)
    assert sum(game.clock.slept) == pytest.approx(2.0)


def test_battles_have_their_own_rate() -> None:
    game = Game(tick_rate_base=10, tick_rate_battle=2, command_interrupt_battle=False)
    game.world.now = Signals(engaged=True)
    game.tick(2)
    before = sum(game.clock.slept)
    game.tick(4)
    assert sum(game.clock.slept) - before == pytest.approx(2.0)


def test_rate_0_never_sleeps_not_even_in_battles() -> None:
    game = Game(tick_rate_base=0)
    game.world.now = Signals(engaged=True)
    game.tick(50)
    assert game.clock.slept == []


def test_a_rate_that_is_given_for_battles_holds_in_an_unlimited_run() -> None:
    game = Game(tick_rate_base=0, tick_rate_battle=4)
    assert game.engine.pace.target(engaged=True, over_budget=False) == 4
    assert game.engine.pace.target(engaged=False, over_budget=False) == 0


def test_over_budget_in_a_battle_the_adaptive_rate_is_half_the_base() -> None:
    game = Game(tick_rate_base=10, tick_rate_battle=2, tick_rate_adaptive=True)
    assert game.engine.pace.target(engaged=True, over_budget=True) == 5


def test_the_adaptive_rate_of_an_unlimited_run_is_not_that_of_battles() -> None:
    game = Game(tick_rate_base=0, tick_rate_adaptive=True)
    game.engine.pace.heard(100.0)
    assert game.engine.pace.target(engaged=True, over_budget=False) == 10.0


def test_a_slow_tick_is_not_made_up_for_by_a_burst() -> None:
    game = Game(tick_rate_base=10)
    game.tick(2)
    game.clock.turn(5)
    game.clock.slept.clear()
    game.tick(11)
    assert sum(game.clock.slept) == pytest.approx(0.9, abs=0.11)


def test_adaptive_mode_slows_down_to_the_agent() -> None:
    class Slow(FakeAgent):
        def decide(self, observation: Observation) -> Decision | None:
            game.clock.turn(0.5)
            return super().decide(observation)

    game = Game(tick_rate_base=10, tick_rate_adaptive=True)
    game.engine.agent = Slow(game.world)
    game.tick(5)
    assert game.engine.pace.target(False, False) == pytest.approx(2.0)
    assert game.engine.pace.target(False, True) == 5.0
    fixed = Game(tick_rate_base=10)
    fixed.engine.pace.heard(500)
    assert fixed.engine.pace.target(False, True) == 10


def test_adaptive_mode_with_no_base_rate_follows_the_agent_alone() -> None:
    game = Game(tick_rate_base=0, tick_rate_adaptive=True)
    assert game.engine.pace.target(False, False) == 0
    game.engine.pace.heard(250)
    assert game.engine.pace.target(False, False) == 4


# -- no change of state --------------------------------------------------------------------------------------------


def still(seconds: float, game: Game) -> None:
    game.world.before_step = lambda: game.clock.turn(seconds)


def test_play_without_a_change_of_state_times_out() -> None:
    game = Game(*[Decision((0,))] * 100, tick_rate_timeout=30)
    still(1, game)
    game.tick(100)
    assert game.engine.stop is not None
    assert (game.engine.stop.kind, game.engine.stop.name) == ("timeout", "tick-rate-timeout")
    assert game.engine.progress.ticks == 32  # the first tick has nothing to compare with


def test_a_change_of_state_starts_the_timeout_anew() -> None:
    game = Game(*[Decision((0,))] * 20, Decision((1,)), *[Decision((0,))] * 20, tick_rate_timeout=30)
    still(1, game)
    game.tick(41)
    assert game.engine.stop is None


def test_thinking_does_not_count_towards_the_timeout() -> None:
    class Slow(FakeAgent):
        def decide(self, observation: Observation) -> Decision | None:
            game.clock.turn(100)
            return Decision((0,))

    game = Game(tick_rate_timeout=30)
    game.engine.agent = Slow(game.world)
    game.tick(10)
    assert game.engine.stop is None


def test_timeout_0_never_times_out() -> None:
    game = Game(*[Decision((0,))] * 50, tick_rate_timeout=0)
    still(100, game)
    game.tick(50)
    assert game.engine.stop is None


# -- the command buffer --------------------------------------------------------------------------------------------


def test_the_buffer_holds_so_many_commands_and_the_rest_waits_outside() -> None:
    game = Game(Decision(tuple([1] * 25)), command_buffer_size=10, command_timeout=5)
    game.tick(5)  # five go out, five more come in
    game.clock.turn(4)
    game.tick(5)
    game.clock.turn(4)
    game.tick(5)  # of the ten inside, the five older ones have waited 8 seconds, the others 4
    assert game.notices().count("command_timeout") == 5
    assert game.engine.progress.ticks == 15
    assert len(game.engine.buffer) == 5


def test_a_command_that_waited_too_long_is_dropped_and_told() -> None:
    game = Game(Decision((1, 2, 3)), command_timeout=5)
    game.tick()
    game.clock.turn(6)
    game.tick()
    assert game.notices().count("command_timeout") == 2
    (ended,) = game.of(DecisionEnded)
    assert ended.status == "partial"
    assert "waited 6.0 s" in ended.error
    assert game.engine.progress.ticks == 1


def test_a_stale_command_is_applied_with_a_warning() -> None:
    game = Game(Decision((1, 2)), command_stale_threshold=2)
    game.tick()
    game.clock.turn(3)
    game.tick()
    assert game.notices() == ["command_stale"]
    assert game.engine.progress.ticks == 2


def test_validation_drops_commands_meant_for_another_context() -> None:
    game = Game(Decision((1, 2, 3)), command_validate=True)
    game.tick()
    game.world.where = "elsewhere"
    game.engine.play.context = "elsewhere"
    game.tick()
    assert game.notices() == ["command_invalid"] * 2
    assert all(notice.message.startswith("Command may be invalid") for notice in game.of(Notice))
    assert game.engine.progress.ticks == 1


def test_validation_can_leave_commands_in_the_queue_and_warns_once_about_each() -> None:
    game = Game(Decision((1, 2, 3)), command_validate=True, command_remove_invalid=False)
    game.tick()
    game.world.where = "elsewhere"
    game.engine.play.context = "elsewhere"
    game.tick(2)
    assert game.notices() == ["command_doubtful"] * 2
    assert game.engine.progress.ticks == 3


def test_a_decision_that_takes_too_long_ends_the_run() -> None:
    game = Game(*[None] * 1000, decision_timeout=20)
    game.tick(1000)
    stop = game.engine.stop
    assert stop is not None
    assert (stop.kind, stop.name) == ("timeout", "decision-timeout")
    assert "--decision-timeout" in stop.message


def test_without_validation_the_context_does_not_matter() -> None:
    game = Game(Decision((1, 2, 3)))
    game.tick()
    game.world.where = "elsewhere"
    game.tick(2)
    assert game.engine.progress.ticks == 3


def battle_at_second_tick(game: Game) -> None:
    def begin() -> None:
        if game.engine.progress.ticks == 1:
            game.world.now = Signals(engaged=True)

    game.world.before_step = begin


def test_a_battle_clears_the_buffer() -> None:
    game = Game(Decision((1,) * 30))
    battle_at_second_tick(game)
    game.tick(3)
    (notice,) = game.of(Notice)
    assert notice.message == "Battle started, cleared 28 queued commands"
    assert len(game.agent.seen) == 2


def test_without_the_interrupt_commands_are_applied_until_the_situation_has_changed_to_the_battle() -> None:
    game = Game(Decision((1,) * 9), command_interrupt_battle=False)
    battle_at_second_tick(game)
    game.tick(4)
    assert game.of(Notice) == []
    game.world.where = "battle"
    game.tick()
    assert [notice.message for notice in game.of(Notice)] == ["Battle started, cleared 4 queued commands"]
    assert game.engine.progress.ticks == 5


def test_without_the_interrupt_a_battle_that_ends_before_it_is_seen_clears_nothing() -> None:
    game = Game(Decision((1,) * 9), command_interrupt_battle=False)
    battle_at_second_tick(game)
    game.tick(3)
    game.world.before_step = lambda: None
    game.world.now = Signals()
    game.tick()
    game.world.where = "elsewhere"
    game.tick()
    assert game.of(Notice) == []


def test_applied_commands_are_remembered_for_a_rollback() -> None:
    game = Game(*[Decision((n % 4,)) for n in range(9)], command_rollback_history=3)
    game.tick(9)
    assert list(game.engine.buffer.history) == [(7, "2"), (8, "3"), (9, "0")]


# -- limits --------------------------------------------------------------------------------------------------------


def test_max_ticks_is_exact_even_within_a_decision() -> None:
    game = Game(Decision((1,) * 10), max_ticks=7)
    game.tick(20)
    assert game.engine.progress.ticks == 7
    assert game.engine.stop is not None
    assert (game.engine.stop.kind, game.engine.stop.name) == ("limit", "max-ticks")


def test_episodes_is_exact() -> None:
    game = Game(episode_length=3, episodes=2)
    game.tick(20)
    assert game.engine.progress.ticks == 6
    assert game.engine.stop is not None
    assert game.engine.stop.name == "episodes"


@pytest.mark.parametrize(
    ("flag", "value", "signals"),
    [
        ("max_pokemon_caught", 3, Signals(values={"caught": 3})),
        ("max_badges", 1, Signals(values={"badges": 2})),
        ("max_level", 10, Signals(values={"level": 10})),
    ],
)
def test_a_goal_in_the_game_ends_the_run(flag: str, value: int, signals: Signals) -> None:
    game = Game(**{flag: value})
    game.tick(3)
    assert game.engine.stop is None
    game.world.now = signals
    game.tick()
    assert game.engine.stop is not None
    assert game.engine.stop.name == flag.replace("_", "-")


def test_a_goal_the_world_cant_tell_is_refused() -> None:
    world = make_world(find_world("FrozenLake-v1"))
    config = build({BY_FLAG["--max-badges"]: 1})
    with pytest.raises(ConfigError, match="--max-badges: world 'FrozenLake-v1' does not report this"):
        Engine(world, FakeAgent(world), config, ManualClock(), seed=1)


def test_max_time_ends_the_run_after_the_current_decision() -> None:
    game = Game(Decision((1, 1, 1)), max_time=10, limit_grace_period=30)
    game.tick()
    game.clock.turn(11)
    game.clock.turn(-7)  # still within the command timeout
    game.engine.play.started -= 7
    game.tick()
    assert "limit_reached" in game.notices()
    assert game.engine.stop is None
    game.tick()
    assert game.engine.stop is not None
    assert game.engine.progress.ticks == 3


def test_without_grace_a_limit_ends_the_run_at_once() -> None:
    game = Game(Decision((1,) * 10, cost=2.0), max_cost=1.0, limit_grace_period=0)
    game.tick(5)
    assert game.engine.progress.ticks == 1
    assert game.engine.stop is not None
    assert game.engine.stop.name == "max-cost"


def test_a_cost_that_is_just_spent_is_not_above_its_limit() -> None:
    game = Game(Decision((1,) * 10, cost=1.0), max_cost=1.0, limit_grace_period=0)
    game.tick(5)
    assert game.engine.stop is None


def test_grace_lets_a_thinking_agent_answer_and_then_ends() -> None:
    game = Game(Decision((1,)), None, None, None, Decision((2, 2)), max_time=10, limit_grace_period=30)
    game.tick(2)
    game.clock.turn(11)
    game.tick(2)
    assert game.engine.stop is None
    game.tick(5)
    assert game.engine.stop is not None
    assert game.engine.progress.ticks == 3
    assert len(game.of(DecisionMade)) == 2


def test_grace_ends_even_if_the_agent_goes_on_thinking() -> None:
    game = Game(Decision((1,)), *[None] * 1000, max_time=10, limit_grace_period=3)
    game.tick()
    game.clock.turn(11)
    began = game.clock.now
    game.tick(1000)
    assert game.engine.stop is not None
    assert game.clock.now - began == pytest.approx(3, abs=0.1)
    assert game.engine.progress.ticks == 1


# -- budgets -------------------------------------------------------------------------------------------------------

HOUR = 1_700_002_800.0  # 23:00 UTC


def spender(**flags: Any) -> Game:
    game = Game(*[Decision((1,), cost=0.6)] * 50, **flags)
    game.clock.now = HOUR + 100
    game.engine.play.started = game.engine._last_tick = game.clock.now
    return game


def test_a_spent_budget_warns_and_ends_the_run_after_its_grace() -> None:
    game = spender(tick_rate_budget="run", tick_rate_budget_limit=1.0, limit_grace_period=10)
    game.tick(2)
    assert game.notices() == ["budget_exceeded", "limit_reached"]
    game.tick(3)
    assert game.engine.stop is None
    game.clock.turn(11)
    game.tick()
    assert game.engine.stop is not None
    assert (game.engine.stop.kind, game.engine.stop.name) == ("budget", "tick-rate-budget-limit")


def test_a_spent_budget_without_grace_ends_the_run_at_once() -> None:
    game = spender(tick_rate_budget="run", tick_rate_budget_limit=1.0, limit_grace_period=0)
    game.tick(5)
    assert game.engine.progress.ticks == 2


@pytest.mark.parametrize(("mode", "period"), [("hourly", 3600), ("daily", 86400)])
def test_a_budget_is_new_in_the_next_period(mode: str, period: int) -> None:
    game = spender(tick_rate_budget=mode, tick_rate_budget_limit=1.0, limit_grace_period=100_000)
    game.tick(2)
    assert game.engine.ending.budget.exceeded()
    game.clock.turn(period)
    assert not game.engine.ending.budget.exceeded()
    game.tick()
    assert game.engine.ending.budget.spent == pytest.approx(0.6)
    assert game.engine.ending._coming is None


def test_a_budget_remembers_its_period_when_saved() -> None:
    game = spender(tick_rate_budget="hourly", tick_rate_budget_limit=1.0)
    game.tick(2)
    saved = game.engine.ending.budget.save()
    other = spender(tick_rate_budget="hourly", tick_rate_budget_limit=1.0)
    other.engine.ending.budget.load(saved)
    assert other.engine.ending.budget.exceeded()
    other.clock.turn(3600)
    assert not other.engine.ending.budget.exceeded()


def test_a_spent_budget_halves_an_adaptive_rate() -> None:
    game = spender(tick_rate_budget="run", tick_rate_budget_limit=1.0, tick_rate_base=10, tick_rate_adaptive=True)
    game.tick(3)
    game.clock.slept.clear()
    game.tick(1)
    assert game.clock.slept == [pytest.approx(0.2)]


# -- going back ----------------------------------------------------------------------------------------------------


def test_an_engine_goes_on_from_where_it_was_saved() -> None:
    game = Game(Decision((1, 2, 3), cost=0.5), max_cost=10.0)
    game.tick()
    game.clock.turn(1)
    saved = msgspec.json.decode(msgspec.json.encode(game.engine.save()), type=EngineState)
    later = [record for record in game.tick(3) if isinstance(record, Step)]

    other = Game(max_cost=10.0)
    other.world.reset(1)
    observation = other.world.step(1).observation
    other.engine.load(saved, observation)
    again = [record for record in other.tick(3) if isinstance(record, Step)]
    assert [(s.tick, s.step, s.command, s.state_hash) for s in again] == [
        (s.tick, s.step, s.command, s.state_hash) for s in later
    ]
    assert other.engine.progress.cost == 0.5
    assert [record.number for record in other.of(DecisionEnded)] == [0]
    assert other.engine.buffer.history[0] == (1, "1")


def test_going_back_does_not_give_back_what_was_spent() -> None:
    game = Game(*[Decision((1,), cost=1.0)] * 5, tick_rate_budget="run", tick_rate_budget_limit=100.0)
    game.tick()
    saved = game.engine.save()
    game.clock.turn(9)
    game.tick(3)
    game.engine.load(saved, 1)
    assert game.engine.progress.ticks == 1
    assert game.engine.progress.cost == 4.0
    assert game.engine.ending.budget.spent == 4.0
    assert game.engine.save().elapsed == pytest.approx(9)
    assert game.engine.save().decisions == 4
