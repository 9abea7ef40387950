"""What the API answers; the fields, their types and the words about them are declared here once."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

RunStatus = Literal["running", "completed", "crashed", "manual_stop"]
DecisionStatus = Literal["pending", "processing", "completed", "failed"]
LogLevel = Literal["info", "warning", "error"]
Box = tuple[float, float, float, float]


class Problem(Struct):
    """Why a request was refused."""

    error: str
    """A word for what is wrong."""
    message: str
    """What is wrong, and what to do about it."""


# -- runs ------------------------------------------------------------------------------------------------------


class RunLine(Struct):
    """One run in a list."""

    run_id: str
    """The run's id, a UUIDv7."""
    status: RunStatus
    """How it stands now; a run that says running but has no process is crashed."""
    world: str
    """The world that is played."""
    agent: str
    """Who plays it."""
    experiment_name: str
    """The plan it belongs to."""
    random_seed: int
    """Its seed."""
    started_at: str
    """When it began, in UTC."""
    completed_at: str | None
    """When it ended, in UTC."""
    ticks: int | None
    """Ticks played so far."""
    episodes: int | None
    """Whole episodes so far."""
    total_reward: float | None
    """The sum of all rewards."""
    total_cost: float | None
    """Dollars spent on decisions."""
    stopped_by: str | None
    """What ended it: the name of a limit, `agent`, `Ctrl-C`, and so on."""
    error: str | None
    """What went wrong, if something did."""
    parent: str | None
    """The run that it was forked from."""


class RunList(Struct):
    """A page of runs."""

    runs: list[RunLine]
    """The runs of this page."""
    total_count: int
    """Runs that the filter lets through."""
    page: int
    """The number of this page, from 1."""
    page_size: int
    """Runs per page."""
    statuses: dict[str, int]
    """How many runs have each status, before the filter."""
    worlds: list[str]
    """The worlds of all runs."""
    agents: list[str]
    """The agents of all runs."""
    unreadable: int
    """Folders that are no run, or whose header is damaged."""


class RunDetail(Struct):
    """Everything known of a run beside its ticks."""

    run: RunLine
    """The run in a line."""
    live: bool
    """Whether a process plays it now."""
    paused: bool | None
    """Whether it is held; null when it is not live."""
    elapsed_seconds: float | None
    """Seconds of play."""
    family: str
    """The kind of world: gameboy, toy_text, gymnasium."""
    render_mode: str | None
    """How the world draws itself: rgb_array, ansi, or null when it has no picture."""
    signals: list[str]
    """What the world can tell of itself: battle, caught, badges, level."""
    commands: list[str]
    """The commands that occur most among the newest, most often first."""
    rewinds: int
    """How often the run went back."""
    parent_tick: int | None
    """The tick at which it left its parent."""
    versions: dict[str, str]
    """The versions that a replay depends on."""
    screenshots: int
    """Pictures that were kept."""
    resume_with: str
    """The command that goes on with the run."""


# -- status ----------------------------------------------------------------------------------------------------


class Coordinates(Struct):
    """A square of the map."""

    x: int
    """Squares from the left."""
    y: int
    """Squares from the top."""


class PartyMember(Struct):
    """A creature of the party."""

    name: str | None
    """Its nickname, or its species; null when neither can be read."""
    level: int
    """Its level."""
    hp: int
    """Its HP."""
    max_hp: int
    """Its HP when it is well."""
    status: str | None
    """What ails it."""


class CurrentState(Struct):
    """What the game is like now; null where the world can't tell."""

    screen_type: Literal["overworld", "battle", "dialog", "menu", "pause"] | None
    """What the screen shows."""
    location: str | None
    """The name of the place."""
    coordinates: Coordinates | None
    """Where the player stands."""
    party: list[PartyMember] | None
    """The creatures that the player has along."""
    inventory: dict[str, int | None]
    """How many of each item; `pokeballs` and `potions` are sums over their kinds."""
    badges: int | None
    """Badges earned."""
    pokemon_caught: int | None
    """Kinds of creature that were caught."""


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
    """Tokens that it took."""
    cost_this_decision: float | None
    """Dollars that it cost."""
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
    """Calls that a quota still allows; null where there is no quota."""
    error_count: int
    """Errors so far."""
    snapshot_count: int
    """Snapshots on disk."""


class Status(Struct):
    """A run at this moment."""

    run_id: str
    """The run's id."""
    experiment_name: str
    """The plan it belongs to."""
    started_at: str
    """When it began, in UTC."""
    elapsed_seconds: float | None
    """Seconds of play."""
    current_state: CurrentState
    """What the game is like."""
    decision_pipeline: DecisionPipeline
    """The newest decision."""
    system_health: SystemHealth
    """How the run itself does."""


# -- actions, decisions, ticks ---------------------------------------------------------------------------------


class Action(Struct):
    """One line of the action log: a command that was applied, or something that happened."""

    timestamp: str
    """When, in UTC; that of a command is its decision's time plus the play since."""
    action: str
    """The command, or the kind of event, in capitals."""
    context: dict[str, Any]
    """The tick, and what else is known: where from and to, who was met."""
    confidence: float | None
    """How sure the agent was; null for events."""
    latency_ms: float | None
    """How long the agent thought; only at the first command of a decision."""
    cost: float | None
    """Dollars that the decision cost; only at its first command."""


class ActionList(Struct):
    """A page of the action log."""

    actions: list[Action]
    """The lines of this page."""
    total_count: int
    """Lines that the filter lets through."""
    page: int
    """The number of this page, from 1."""
    page_size: int
    """Lines per page."""


class Decision(Struct):
    """One call of the agent."""

    decision_id: str
    """Its id."""
    timestamp: str | None
    """When it was made, in UTC."""
    tick: int
    """The tick after which it was made."""
    type: str | None
    """What the agent calls it."""
    reasoning: str | None
    """Why, in the agent's words."""
    confidence: float | None
    """How sure the agent was, from 0 to 1."""
    latency_ms: float | None
    """How long the agent thought."""
    tokens: int | None
    """Tokens that it took."""
    cost: float | None
    """Dollars that it cost."""
    model: str | None
    """The language model that made it."""
    status: str | None
    """pending, success, partial, failed or rolled_back."""
    error: str | None
    """Why not all its commands were applied."""
    duration_ms: float | None
    """From the decision to its last command."""
    context: Any
    """What else the agent noted."""


class DecisionList(Struct):
    """A page of decisions, newest first."""

    decisions: list[Decision]
    """The decisions of this page."""
    next_before: str | None
    """What to give as `before` for the next page; null on the last one."""


class Event(Struct):
    """Something that happened: in the game, to the run, or because of a person."""

    tick: int
    """When."""
    kind: str
    """The world's word for it, or `Error`, or `Rewind`."""
    title: str
    """It in a few words."""
    timestamp: str | None
    """When, in UTC."""
    detail: Any
    """Everything that is known of it."""


class EventList(Struct):
    """Events in the order of their ticks."""

    events: list[Event]
    """The events."""
    total_count: int
    """Events that the filter lets through; more than are listed when there is a limit."""
    kinds: dict[str, int]
    """How many events of each kind the run has."""


class Tick(Struct):
    """One tick of a run."""

    tick: int
    """Its number."""
    last_tick: int
    """The newest tick of the run."""
    episode: int | None
    """The episode it is in; null at tick 0, before the first command."""
    step: int | None
    """Its place within the episode."""
    command: str | None
    """What was done."""
    reward: float | None
    """What the world gave for it."""
    terminated: bool
    """Whether the episode came to its end."""
    truncated: bool
    """Whether the episode was cut off."""
    elapsed: float | None
    """Seconds of play up to it."""
    state_hash: str | None
    """The hash that a replay must reach."""
    state: Any
    """The world's state after it."""
    decision: Decision | None
    """The decision that its command came from."""
    events: list[Event]
    """What happened in it."""
    screenshot_id: str | None
    """The picture that was kept of it."""


# -- screenshots -----------------------------------------------------------------------------------------------


class Resolution(Struct):
    """How large a picture is."""

    width: int
    """Pixels, or characters of a text."""
    height: int
    """Pixels, or lines of a text."""


class DetectedText(Struct):
    """Text that was found in a picture."""

    text: str
    """The text."""
    bbox: Box
    """Left, top, right, bottom."""
    confidence: float
    """From 0 to 1."""


class DetectedSprite(Struct):
    """A sprite that was found in a picture."""

    type: str
    """What kind of sprite."""
    name: str
    """Which one."""
    bbox: Box
    """Left, top, right, bottom."""
    confidence: float
    """From 0 to 1."""


class MenuRegion(Struct):
    """A menu that was found in a picture."""

    type: str
    """What kind of menu."""
    bbox: Box
    """Left, top, right, bottom."""
    confidence: float
    """From 0 to 1."""


class Annotations(Struct):
    """What was found in a picture."""

    detected_text: list[DetectedText] = []
    """Text."""
    detected_sprites: list[DetectedSprite] = []
    """Sprites."""
    menu_regions: list[MenuRegion] = []
    """Menus."""


class Screenshot(Struct):
    """What is known of a picture."""

    screenshot_id: str
    """Its id; `tick-N` is the picture of tick N, drawn from the tape."""
    timestamp: str | None
    """When it was taken, in UTC."""
    tick: int
    """The tick that it shows."""
    screen_type: str | None
    """The kind of situation, in the world's words."""
    resolution: Resolution
    """How large it is."""
    file_size_bytes: int
    """How large its file is."""
    compression: str
    """jpeg, png, webp or text."""
    quality: int | None
    """Of a lossy compression."""
    annotations: Annotations
    """What was found in it."""


class ScreenshotLine(Struct):
    """A picture in the timeline."""

    id: str
    """Its id."""
    timestamp: str | None
    """When it was taken, in UTC."""
    screen_type: str | None
    """The kind of situation, in the world's words."""
    thumbnail_url: str
    """Where a small form of it is."""


class ScreenshotList(Struct):
    """A page of the timeline of pictures."""

    screenshots: list[ScreenshotLine]
    """The pictures of this page."""
    total_count: int
    """Pictures of the run."""
    page: int
    """The number of this page, from 1."""
    page_size: int
    """Pictures per page."""


class ScreenshotDiff(Struct):
    """How two pictures differ."""

    a: str
    """The first picture."""
    b: str
    """The second picture."""
    comparable: bool
    """Whether both have the same size."""
    equal: bool
    """Whether every pixel is the same."""
    changed_pixels: int | None
    """Pixels that differ; null when the pictures can't be compared."""
    changed_share: float | None
    """Their share of all pixels, from 0 to 1."""
    bbox: tuple[int, int, int, int] | None
    """Left, top, right, bottom of the part that differs."""
    image_url: str
    """Where the difference is drawn."""


# -- metrics ---------------------------------------------------------------------------------------------------


class Performance(Struct):
    """How the run does; null where nothing was measured."""

    tick_rate_actual: float | None
    """Ticks per second, as last measured."""
    tick_rate_target: float | None
    """Ticks per second to keep; 0 is as fast as possible."""
    decision_latency_avg: float | None
    """Milliseconds that a decision took, on average over the newest thousand."""
    decision_latency_p95: float | None
    """Milliseconds that 95 of 100 of them stay below."""
    api_calls_per_minute: float | None
    """Model calls in the last minute of play."""
    api_cost_per_hour: float | None
    """Dollars per hour, at the rate of the last ten minutes."""
    memory_usage_mb: float | None
    """Megabytes that the run's process holds."""
    screenshot_queue_size: int | None
    """Pictures that wait to be written."""
    error_rate: float | None
    """Errors per thousand ticks."""


class Game(Struct):
    """How the player does; null where the world can't tell."""

    pokemon_caught: int | None
    """Kinds of creature that were caught."""
    battles_won: int | None
    """Battles won."""
    battles_lost: int | None
    """Battles lost."""
    battles_fled: int | None
    """Battles that were left."""
    badges_earned: int | None
    """Badges earned."""
    current_level: int | None
    """The highest level in the party."""
    pokemon_party_size: int | None
    """Creatures in the party."""
    money: int | None
    """Money."""


class Metrics(Struct):
    """The figures of a run at this moment."""

    run_id: str
    """The run's id."""
    tick: int
    """The newest tick."""
    performance: Performance
    """How the run does."""
    game: Game
    """How the player does."""


class Series(Struct):
    """One figure over the ticks."""

    name: str
    """Its name."""
    unit: str
    """What it is counted in."""
    points: list[tuple[int, float]]
    """Ticks and values."""


class SeriesList(Struct):
    """Figures over the ticks."""

    run_id: str
    """The run's id."""
    series: list[Series]
    """One for each name that was asked for and has points."""


# -- snapshots, settings, logs, control ------------------------------------------------------------------------


class SnapshotLine(Struct):
    """A snapshot in a list."""

    snapshot_id: str
    """Its id."""
    name: str | None
    """The name that a person gave it."""
    tick: int
    """The tick it was taken at."""
    episode: int
    """The episode it was taken in."""
    created_at: str
    """When, in UTC."""
    reason: str
    """What it was taken for."""
    message: str | None
    """What a person noted."""
    location: str
    """The kind of situation, in the world's words."""
    bytes: int
    """Its size on disk; 0 when it is in memory only."""
    on_disk: bool
    """Whether it outlives the run's process."""


class SnapshotList(Struct):
    """The snapshots of a run, newest first."""

    snapshots: list[SnapshotLine]
    """The snapshots."""
    total_count: int
    """How many there are."""


class Restored(Struct):
    """A run that went back."""

    run_id: str
    """The run."""
    tick: int
    """The tick it is at now."""
    live: bool
    """Whether it plays on by itself."""
    next: str | None
    """The command that goes on with it, when it is not live."""


class Forked(Struct):
    """A new run that was begun from another."""

    run_id: str
    """The new run."""
    parent: str
    """The run it came from."""
    tick: int
    """The last tick that both share."""


class Settings(Struct):
    """The settings a run was recorded with."""

    run_id: str
    """The run."""
    config: dict[str, Any]
    """Every setting, by section; as `--config-file` takes them."""


class LogLine(Struct):
    """One line of the log."""

    time: str | None
    """When, in UTC."""
    level: str
    """info, warning or error."""
    event: str
    """A word for what happened."""
    message: str
    """What happened."""
    tick: int | None
    """The tick, where there is one."""


class LogLines(Struct):
    """The end of the log."""

    lines: list[LogLine]
    """The lines, oldest first."""
    position: int
    """Bytes of the log that were read; give it as `after` for what comes next."""


class Steered(Struct):
    """What a live run answered."""

    run_id: str
    """The run."""
    tick: int
    """The tick it is at."""
    paused: bool | None
    """Whether it is held now."""
    snapshot: SnapshotLine | None = None
    """The snapshot that was taken or restored."""


class Health(Struct):
    """Whether the server serves."""

    status: Literal["ok"]
    """Always ok; a server that isn't does not answer."""
    version: str
    """The version of ptp."""
