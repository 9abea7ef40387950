"""What is said to a model."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from ptp.agents.contract import Observation
from ptp.worlds import WorldView

SUMMARY = (
    "The conversation has become long and will be replaced by your summary of it. Write down what you need to play on: "
    "what was tried, what came of it, what you know of the world, and what you were about to do. Answer in plain text."
)
NO_TOOL = "That answer used no tool that moves. Call act, or another tool."


def instruct(world: WorldView, goal: str | None, moves: int) -> str:
    """Return the system prompt; it stays the same for a whole run, so that providers can cache it."""
    facts = world.facts
    aim = goal or "Get as far, and collect as much reward, as you can."
    return "\n".join((
        f"You play {facts.name} ({facts.family}) through tools. {aim}",
        f"Work in rounds: look at the state, plan up to {moves} moves, and call act. The moves are played one by one; "
        "after each the state is checked, and you are asked again when the plan is done or something else happens.",
        "What you are shown now is true. Where it contradicts what you remember or concluded before, the state is "
        "right and the memory is wrong.",
        "Use remember for what will matter later: old parts of the conversation are summarised away.",
        "Every round ends with exactly one tool that moves.",
    ))  # fmt: skip


def describe(world: WorldView, observation: Observation, notes: dict[str, str], *, whole: bool) -> str:
    """Return the present situation as text: the state as JSON, and the screen where it is text."""
    said: dict[str, Any] = {
        "tick": observation.tick, "episode": observation.episode, "step": observation.step,
        "state": _without_nothing(msgspec.to_builtins(observation.state, str_keys=True)),
    }  # fmt: skip
    if context := world.context():
        said["situation"] = context
    if signals := world.signals().values:
        said["signals"] = signals
    if notes:
        said["notes" if whole else "names of notes"] = notes if whole else sorted(notes)
    text = json.dumps(said, ensure_ascii=False, default=str)
    screen = observation.frame() if observation.frame is not None else None
    return f"{text}\n{screen}" if isinstance(screen, str) else text


def _without_nothing(value: Any) -> Any:
    """Return data without what is null or empty, which only costs tokens."""
    if isinstance(value, dict):
        return {key: _without_nothing(item) for key, item in value.items() if item is not None and item not in ([], {})}
    return [_without_nothing(item) for item in value] if isinstance(value, list) else value
