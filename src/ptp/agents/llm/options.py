"""What the language-model agent can be told."""

from __future__ import annotations

from typing import Annotated

import msgspec

Positive = Annotated[int, msgspec.Meta(ge=1)]
Seconds = Annotated[float, msgspec.Meta(ge=0)]


class LLMOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the model is asked."""

    goal: str | None = None
    """What to play for; without it, the model plays as well as it can."""
    moves: Positive = 3
    """Moves of a plan."""
    temperature: float | None = None
    max_tokens: Positive | None = 4096
    """Tokens of an answer; with null the provider's own limit, and Anthropic's answers are streamed."""
    history_tokens: Positive = 40_000
    """A conversation whose prompt was longer is replaced by the model's own summary."""
    calls_per_decision: Positive = 10
    """Calls that may lead to one move."""
    malformed_answers: Positive = 3
    """Answers in a row that can't be used, or are refused, before the run ends."""
    retries: Annotated[int, msgspec.Meta(ge=0)] = 5
    """Times that a failed call is made again."""
    backoff: Seconds = 1.0
    """Seconds before the first of them; each next one waits twice as long."""
    timeout: Annotated[float, msgspec.Meta(gt=0)] = 120.0
    """Seconds for one call."""
    cooldown: Seconds = 0.0
    """Seconds between two plans."""
    llm_snapshot_retention: Positive = 3
    """Pictures that stay in the conversation; older ones are named by their hash."""
    calls_per_minute: Positive = 100
    """Calls that all runs of the data directory may make of one account."""
    dollars_per_hour: Annotated[float, msgspec.Meta(gt=0)] | None = None
    """Dollars that they may spend."""
