"""What the API answers about how a run stands."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ptp.worlds.knowledge import CurrentState

DecisionStatus = Literal["pending", "processing", "completed", "failed"]


class DecisionPipeline(Struct):
    """The newest decision."""

    last_decision_at: str | None
    """When it was made, in UTC."""
    last_decision_type: str | None
    """What the agent calls it."""
    last_decision_confidence: float | None
    """How sure the agent was, from 0 to 1."""
    last_decision_latency_ms: float | None
    """How long the agent thought."""
    tokens_this_decision: int | None
    cost_this_decision: float | None
    current_decision_status: DecisionStatus | None
    """How it stands; null before the first one."""


class SystemHealth(Struct):
    """How the run itself does."""

    tick_rate_actual: float | None
    """Ticks per second, as last measured."""
    tick_rate_target: float | None
    """Ticks per second to keep; 0 is as fast as possible."""
    memory_usage_mb: float | None
    """Megabytes that the run's process holds."""
    api_calls_remaining: int | None
    """Model calls that the dollars left pay for, at the mean price of the newest thousand decisions: dollars of
    `--max-cost` or of the budget, whichever are fewer. Null where neither is set, or while nothing was paid for."""
    error_count: int
    snapshot_count: int


class Status(Struct):
    """A run at this moment."""

    run_id: str
    experiment_name: str
    """The plan it belongs to."""
    started_at: str
    """When it began, in UTC."""
    elapsed_seconds: float | None
    current_state: CurrentState
    decision_pipeline: DecisionPipeline
    system_health: SystemHealth
