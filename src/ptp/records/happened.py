"""What can happen in a run, as one closed union of frozen types.

The engine reports it, sinks receive it, tables keep it, and the control socket and the browser pass it on: a step or a
decision has one shape everywhere. `decode` reads a record back from its JSON.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from ptp.records.table import Json, Kept, Moment, Number

RECORD_VERSION = "2.2"

Level = Literal["info", "warning", "error"]
DecisionStatus = Literal["pending", "success", "partial", "failed", "rolled_back"]


class Step(Kept, frozen=True, gc=False, tag=True, tag_field="record"):
    """One command applied to the world: a line of the tape."""

    table: ClassVar[str] = "steps"

    tick: int
    episode: int
    step: int
    command: str
    reward: float | None
    terminated: bool
    truncated: bool
    elapsed: float
    """Seconds since the run began."""
    state_hash: str
    state: Json = None
    """The state after the command; None when it is the one before."""
    info: Json = None
    """What the environment said beside; None when it said nothing."""
    actor: str | None = None
    """Who gave the command, where that is not the run's agent."""
    frame_ref: str | None = None
    """The kept picture of the tick."""


class EpisodeBegan(Kept, frozen=True, gc=False, tag=True, tag_field="record"):
    """The world was reset; the next step is the episode's first."""

    table: ClassVar[str] = "episode_starts"
    replaces: ClassVar[bool] = True

    episode: int
    tick: int
    """The last tick before it."""
    seed: int | None
    """The seed that the reset was given; None when the world continued with its own random numbers."""
    options: Json
    observation: Json
    state: Json
    info: Json = None


class EpisodeEnded(Kept, frozen=True, gc=False, tag=True, tag_field="record"):
    """The world said that an episode is over; it still shows the end."""

    table: ClassVar[str] = "episodes"
    renamed: ClassVar[dict[str, str]] = {"tick": "last_tick"}

    episode: int
    tick: int
    steps: int
    reward: float | None
    elapsed: float
    terminated: bool


class DecisionMade(Kept, frozen=True, gc=False, tag=True, tag_field="record"):
    """One call of the agent."""

    table: ClassVar[str] = "action_history"
    renamed: ClassVar[dict[str, str]] = {
        "number": "decision_id",
        "state": "game_state",
        "type": "decision_type",
        "context": "decision_context",
        "confidence": "confidence_score",
        "latency_ms": "decision_latency_ms",
        "tokens": "tokens_used",
        "cost": "api_cost",
        "model": "model_used",
        "status": "execution_status",
        "error": "execution_error",
        "duration_ms": "execution_duration_ms",
    }
    fixed: ClassVar[dict[str, str]] = {"context_version": f"'{RECORD_VERSION}'"}
    has_run: ClassVar[bool] = True

    number: Number
    at: Moment
    tick: int
    """The tick it was made after."""
    state: Json
    """The state it was made in."""
    type: str | None
    context: Json
    reasoning: str | None
    confidence: float | None
    latency_ms: float
    tokens: int | None
    cost: float | None
    model: str | None
    status: DecisionStatus | None
    error: str | None
    duration_ms: float | None


class DecisionEnded(msgspec.Struct, frozen=True, gc=False, tag=True, tag_field="record"):
    """The last command of a decision was applied or dropped; it completes the decision's row."""

    number: int
    status: DecisionStatus
    error: str | None
    duration_ms: float


class ModelCall(Kept, frozen=True, gc=False, tag=True, tag_field="record"):
    """One call of a model; a decision may need several."""

    table: ClassVar[str] = "model_calls"
    serial: ClassVar[str | None] = "call_id"
    has_run: ClassVar[bool] = True

    at: Moment
    tick: int
    decision: int | None
    """The number of the decision; None when the answer came too late to be used, or led to no command."""
    provider: str | None
    model: str
    parameters: Json
    tokens_in: int | None
    tokens_out: int | None
    tokens_cached: int | None
    cost: float | None
    """Dollars; None when the price is unknown."""
    latency_ms: float
    tools: Json
    prompt_hash: str | None
    answer_hash: str | None
    status: str
    error: str | None
    calls_remaining: int | None = None
    """How many more calls the provider allows for now; None when it does not say."""


class ModelText(Kept, frozen=True, gc=False, tag=True, tag_field="record"):
    """A text or picture that was sent to a model or came from one, kept once by its hash."""

    table: ClassVar[str] = "model_texts"
    replaces: ClassVar[bool] = True

    hash: str
    """The SHA-256 of what *body* unpacks to."""
    body: bytes
    """Compressed by zlib."""


class ModelConfigured(Kept, frozen=True, gc=False, tag=True, tag_field="record"):
    """How a model is asked; it has the same id whenever it is the same."""

    table: ClassVar[str] = "ai_model_configurations"
    renamed: ClassVar[dict[str, str]] = {"model": "model_name", "parameters": "model_parameters"}
    has_run: ClassVar[bool] = True
    replaces: ClassVar[bool] = True

    config_id: str
    model: str
    temperature: float | None
    max_tokens: int | None
    system_prompt: str
    parameters: Json


class Event(Kept, frozen=True, gc=False, tag=True, tag_field="record"):
    """Something the world itself calls an event."""

    table: ClassVar[str] = "events"
    renamed: ClassVar[dict[str, str]] = {"index": "place"}
    fixed: ClassVar[dict[str, str]] = {"event_id": "printf('{prefix}%012x/%02d', {tick}, {index})"}
    has_run: ClassVar[bool] = True

    at: Moment
    tick: int
    index: int
    """Its place among the events of its tick."""
    kind: str
    title: str
    """The event in a few words."""
    detail: Json


class Metric(Kept, frozen=True, gc=False, tag=True, tag_field="record"):
    """A measurement."""

    table: ClassVar[str] = "performance_metrics"
    renamed: ClassVar[dict[str, str]] = {"name": "metric_type"}
    serial: ClassVar[str | None] = "metric_id"
    has_run: ClassVar[bool] = True

    at: Moment
    tick: int
    name: str
    value: float | None
    unit: str


class ResourceUse(Kept, frozen=True, gc=False, tag=True, tag_field="record"):
    """What the run's process takes of the machine."""

    table: ClassVar[str] = "performance_profiles"
    renamed: ClassVar[dict[str, str]] = {"cpu": "cpu_usage", "memory": "memory_usage_mb", "disk": "disk_usage_bytes"}
    serial: ClassVar[str | None] = "profile_id"
    has_run: ClassVar[bool] = True

    at: Moment
    cpu: float
    """Per cent of one processor since the last time; several threads may take more than 100."""
    memory: int | None
    """Megabytes; None where the system does not tell."""
    disk: int
    """Bytes of the run directory."""


class Transition(Kept, frozen=True, gc=False, tag=True, tag_field="record"):
    """One step as a learner saw it, and what it taught."""

    table: ClassVar[str] = "transitions"

    tick: int
    episode: int
    state: Json
    """The observation before the command, as the learner tells it from others."""
    action: int
    reward: float
    next_state: Json
    terminated: bool
    td_error: float
    """How far the value of the command was from what came of it."""
    q_delta: float
    """How much its value was changed."""
    visits: int
    """How often the command was tried in this state; 0 where states are not told apart one by one."""


class EpisodeLearnt(Kept, frozen=True, gc=False, tag=True, tag_field="record"):
    """What a learner says of itself at the end of an episode."""

    table: ClassVar[str] = "learning"

    episode: int
    tick: int
    steps: int
    reward: float
    epsilon: float
    alpha: float
    td_error: float
    """The mean size of its errors."""
    convergence: float
    """1 when nothing surprises it any more, towards 0 when everything does."""
    average_reward: float
    """The mean return of the last 100 episodes."""
    success_rate: float
    """The share of the last 100 episodes whose return was above 0."""
    intentions: int
    """How many intentions it took up in the episode."""


class FrameKept(Kept, frozen=True, gc=False, tag=True, tag_field="record"):
    """A picture was kept; a tick has one at most, and one that is played again replaces it."""

    table: ClassVar[str] = "screenshots"
    renamed: ClassVar[dict[str, str]] = {"path": "file_path", "size": "file_size_bytes"}
    fixed: ClassVar[dict[str, str]] = {"screenshot_id": "printf('shot_%06d', {tick})"}
    has_run: ClassVar[bool] = True
    replaces: ClassVar[bool] = True

    tick: int
    at: Moment
    screen_type: str | None
    path: str
    """Relative to the run directory."""
    size: int
    annotations: Json
    """Text, sprites and menus that were found, each with its box."""
    metadata: Json
    """Resolution, compression, quality, hash of the pixels, trigger, and digest of the file."""


class FrameShrunk(msgspec.Struct, frozen=True, gc=False, tag=True, tag_field="record"):
    """An old picture takes less space now."""

    path: str
    size: int
    content: str
    """The digest of its file."""


class FrameRemoved(msgspec.Struct, frozen=True, gc=False, tag=True, tag_field="record"):
    """Pictures made room for newer ones; rows and steps that referred to them refer to none now."""

    path: str
    before: int | None = None
    """Only those of earlier ticks; None for all in an archive."""


class SnapshotTaken(Kept, frozen=True, gc=False, tag=True, tag_field="record"):
    """Everything needed to resume from a tick was saved."""

    table: ClassVar[str] = "snapshots"

    snapshot_id: str
    at: Moment
    tick: int
    reason: str
    name: str | None
    on_disk: bool
    save_ms: float


class ConfigChanged(Kept, frozen=True, gc=False, tag=True, tag_field="record"):
    """Settings were changed while the run played."""

    table: ClassVar[str] = "config_changes"
    serial: ClassVar[str | None] = "change_id"

    at: Moment
    tick: int
    settings: Json
    """The new values, by path."""


class Rewound(Kept, frozen=True, gc=False, tag=True, tag_field="record"):
    """The run went back and discarded what came after the tick, or returned to a snapshot in what was discarded."""

    table: ClassVar[str] = "rewinds"
    renamed: ClassVar[dict[str, str]] = {"number": "rewind", "dropped": "commands_dropped"}

    number: int
    at: Moment
    from_tick: int
    to_tick: int
    reason: str
    dropped: int
    """Queued commands that were dropped."""
    branch: int | None = None
    """Of a snapshot that was restored: how often the run had gone back when it was taken."""


class Notice(Kept, frozen=True, gc=False, tag=True, tag_field="record"):
    """Something a person should know."""

    table: ClassVar[str] = "notices"
    serial: ClassVar[str | None] = "notice_id"

    at: Moment
    tick: int
    level: Level
    kind: str
    message: str


class ErrorSeen(Kept, frozen=True, gc=False, tag=True, tag_field="record"):
    """Something went wrong."""

    table: ClassVar[str] = "errors"
    renamed: ClassVar[dict[str, str]] = {
        "type": "error_type",
        "message": "error_message",
        "trace": "stack_trace",
        "recovery": "recovery_action",
    }
    serial: ClassVar[str | None] = "error_id"
    fixed: ClassVar[dict[str, str]] = {"context": "json_object('tick', {tick})"}
    has_run: ClassVar[bool] = True

    at: Moment
    tick: int
    type: str
    message: str
    trace: str | None
    recovered: bool
    recovery: str | None


Record = (
    Step
    | EpisodeBegan
    | EpisodeEnded
    | DecisionMade
    | DecisionEnded
    | ModelCall
    | ModelText
    | ModelConfigured
    | Event
    | Metric
    | ResourceUse
    | Transition
    | EpisodeLearnt
    | FrameKept
    | FrameShrunk
    | FrameRemoved
    | SnapshotTaken
    | ConfigChanged
    | Rewound
    | Notice
    | ErrorSeen
)

_decoder: msgspec.json.Decoder[Record] = msgspec.json.Decoder(Record)
_encoder = msgspec.json.Encoder()


def encode(record: Record) -> bytes:
    """Return a record as JSON."""
    return _encoder.encode(record)


def decode(text: bytes | str) -> Record:
    """Return the record that a JSON text holds."""
    return _decoder.decode(text)
