"""Playing a run's agent again: it decides anew at every recorded tick, with what its model answered then."""

from __future__ import annotations

from contextlib import closing

import msgspec

from ptp._util.clock import Clock
from ptp.agents import Decision
from ptp.config import RunConfig
from ptp.engine import Engine
from ptp.errors import PromptDiffers, UsageError
from ptp.recording import RunDirectory
from ptp.replay import Tape
from ptp.replay.answers import RecordedAnswers
from ptp.runner.run import engine_of
from ptp.snapshots.tape import compare

PATIENCE = 0.05  # seconds between two looks whether the agent has decided


class Rerun(msgspec.Struct):
    """What playing an agent again has found."""

    run_id: str
    ticks: int = 0
    calls: int = 0
    """Answers that were given from the record."""
    equal: bool = True
    difference: str | None = None
    """The first thing that the agent did otherwise."""
    diff: list[str] = []
    """The recorded prompt and the present one, where they differ."""


def rerun(directory: RunDirectory, config: RunConfig, *, trusted: bool = False) -> Rerun:
    """Let the agent of a run decide again at every tick, and stop at the first prompt or command that differs."""
    metadata = directory.read_metadata()
    answers = RecordedAnswers(directory, strict=True)
    engine = engine_of(directory, metadata, config, Clock(), trusted=trusted, answers=answers)
    result = Rerun(metadata.run_id)
    with closing(engine.world), closing(engine.agent), closing(Tape(directory)) as tape:
        if not engine.agent.repeatable:
            raise UsageError(f"--rerun-agent: agent {metadata.agent!r} does not decide the same again; leave it out")
        if metadata.parent is not None:
            raise UsageError(f"--rerun-agent: run {metadata.run_id} is a fork; name the run that it was forked from")
        for step in tape.steps():
            if step.step == 1:
                engine.play.begin(*tape.start(step.episode))
            if step.decision is not None:
                _compare(engine, step.command, result)
            if not result.equal:
                break
            compare(step.tick, step.state_hash, engine.follow(step.command))
            result.ticks += 1
    result.calls = answers.given
    return result


def _compare(engine: Engine, command: str, result: Rerun) -> None:
    tick = engine.progress.ticks
    try:
        decision = _decide(engine)
    except PromptDiffers as problem:
        result.equal, result.difference, result.diff = False, str(problem), problem.diff
        return
    commands = [engine.world.encode(it) for it in decision.commands]
    if commands[:1] != [command]:
        chosen = commands[0] if commands else decision.failure or "nothing"
        result.equal = False
        result.difference = f"the agent's command after tick {tick} was {command}, and is now {chosen}"


def _decide(engine: Engine) -> Decision:
    while (decision := engine.agent.decide(engine.look())) is None:
        engine.clock.sleep(PATIENCE)
    return decision
