"""The one declaration of every setting; flags, YAML, environment, JSON Schema and docs come from it."""

# Annotations are read as live objects here, so they must not be postponed to text.
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from ptp.config.setting import Setting, read_type, setting
from ptp.errors import ConfigError

VERSION = "3.0"


@dataclass(frozen=True)
class World:
    """The game that is played."""

    name: str | None = setting(None, "World to play: a Gymnasium id or a name from `ptp worlds`.", flag="--world")
    rom: str | None = setting(None, "Game Boy cartridge file to play.", flag="--rom")
    profile: str | None = setting(
        None, "What the cartridge's memory means: pokemon-red, tallgrass or raw; else told by the cartridge.",
        flag="--profile",
    )  # fmt: skip
    frames_per_tick: int = setting(24, "Game Boy frames per tick.", flag="--frames-per-tick", least=1, most=3600)
    start_state: str | None = setting(
        None, "PyBoy state or ptp snapshot that a cartridge begins from.", flag="--start-state"
    )
    save_file: str | None = setting(None, "Battery RAM that a cartridge begins with.", flag="--save-file")
    render_mode: str | None = setting(
        None, "Picture the world must be able to give: ansi or rgb_array.", flag="--render-mode"
    )
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Agent:
    """Who plays it."""

    name: str = setting("random", "Agent that plays: a name from `ptp agents`.", flag="--agent")
    script: str | None = setting(None, "File of actions for the script agent, one per line.", flag="--script")
    options: dict[str, Any] = field(default_factory=dict)
    model: str | None = None
    base_url: str | None = None


@dataclass(frozen=True)
class TickRate:
    """How fast the game runs."""

    normal: int = setting(
        10, "Ticks per second outside battles; 0 is as fast as possible.", flag="--tick-rate-base", least=0
    )
    battle: int = setting(
        2,
        "Ticks per second during battles; 0 is as fast as possible. Ignored when --tick-rate-base is 0.",
        least=0,
    )
    timeout: int = setting(
        30, "Stop after this many seconds of play without a change of state; 0 never stops.", least=0
    )
    adaptive: bool = setting(False, "Slow down to the speed at which the agent decides.")
    budget: Literal["hourly", "daily", "run"] | None = setting(
        None, "Period that --tick-rate-budget-limit is for; hours and days are those of UTC."
    )
    budget_limit: float | None = setting(None, "Dollars that may be spent per budget period.", least=0)


@dataclass(frozen=True)
class Screenshot:
    """Which pictures are kept."""

    interval: int = setting(100, "Keep a picture every N ticks.", least=1)
    battle_turn: int = setting(1, "Pictures per battle turn.", least=0)
    on_error: int = setting(1, "Pictures per tick with an error.", least=0)
    on_change: bool = setting(False, "Keep a picture at every change of state.")
    quality: int = setting(85, "JPEG quality.", least=0, most=100)
    max_storage: float = setting(50.0, "Gigabytes that pictures may take.", least=0)
    in_background: bool = setting(
        False,
        "Encode pictures in the background; some may be dropped.",
        flag="--screenshot-async",
        key="async",
    )
    compress: bool = setting(False, "Compress old pictures.")
    format: Literal["jpeg", "png", "webp"] | None = setting(
        None, "Format of pictures; without one, that of the storage profile."
    )


@dataclass(frozen=True)
class Video:
    """The video of the run."""

    record: bool = setting(False, "Record a video of every tick.", flag="--record-video")


@dataclass(frozen=True)
class Storage:
    """How pictures are kept, and for how long runs are."""

    profile: str | None = setting(None, "Storage profile; without one, that of the world.", flag="--storage-profile")
    profiles: str | None = setting(None, "YAML file with storage profiles of your own.", flag="--storage-profiles")
    frame_sink: str | None = setting(None, "Forward each picture to this HTTP address.", flag="--frame-sink")
    prune_on_start: bool = setting(False, "Prune old runs before this one begins.", flag="--prune-on-start")
    max_record_bytes: int = setting(
        2_000_000_000, "Bytes that all runs may take, when pruned at the start.", flag="--max-record-bytes", least=0
    )
    max_sessions: int | None = setting(
        None, "Runs that may stay, when pruned at the start.", flag="--max-sessions", least=0
    )


@dataclass(frozen=True)
class Command:
    """The queue of commands between the agent and the world."""

    buffer_size: int = setting(10, "Commands that may wait; an agent with more is asked again later.", least=1)
    timeout: int = setting(5, "Drop a command that has waited this many seconds.", least=1)
    validate: bool = setting(False, "Drop a command when the state is no longer the one it was meant for.")
    rollback_history: int = setting(100, "Applied commands that are remembered for a rollback.", least=0)
    interrupt_battle: bool = setting(True, "Clear the queue when a battle starts.")
    stale_threshold: int = setting(2, "Warn of a command that has waited this many seconds.", least=0)


@dataclass(frozen=True)
class Limits:
    """When the run ends."""

    max_time: int | None = setting(None, "Stop after this many seconds.", least=1)
    max_ticks: int | None = setting(None, "Stop after exactly this many ticks.", least=1)
    episodes: int | None = setting(None, "Stop after this many episodes.", least=1)
    max_cost: float | None = setting(None, "Stop when this many dollars are spent.", least=0)
    max_pokemon_caught: int | None = setting(None, "Stop after this many creatures are caught.", least=1)
    max_badges: int | None = setting(None, "Stop after this many badges.", least=1)
    max_level: int | None = setting(None, "Stop when a creature reaches this level.", least=1)
    on_limit: Literal["save-and-exit", "save-only", "abort"] = setting(
        "save-and-exit",
        "At a limit: save and report (exit 0), save without a report (exit 0), or end at once (exit 1).",
    )
    grace_period: int = setting(
        30, "Seconds in which the current decision may be finished.", flag="--limit-grace-period", least=0
    )


Event = Literal["catch", "battle", "badge", "death"]


@dataclass(frozen=True)
class Snapshot:
    """How the run can go back."""

    memory: int = setting(10, "Snapshots kept in memory.", least=0)
    disk: int = setting(1000, "Write a snapshot every N ticks.", least=0)
    on_event: tuple[Event, ...] = setting((), "Events that take a snapshot, joined by commas.")
    max_disk: float = setting(20.0, "Gigabytes that snapshots may take.", least=0)
    compress: bool = setting(False, "Compress snapshots on disk.")
    validate: bool = setting(False, "Check that each snapshot can be restored.")
    rollback_on_error: bool = setting(
        False, "Go back to the last good snapshot on an error.", flag="--rollback-on-error"
    )
    rollback_grace: int = setting(3, "Snapshots that an error may go back.", flag="--rollback-grace", least=1)
    share: bool = setting(False, "Let others fetch the snapshots of this run through `ptp dashboard`.")
    name: str | None = setting(None, "Name of the snapshot taken at the end.")


@dataclass(frozen=True)
class Experiment:
    """Many runs as one plan."""

    name: str = setting("default", "Experiment that the run belongs to.", flag="--experiment-name")
    parallel_workers: int = setting(
        1, "Games played at the same time.", flag="--parallel-workers", least=1, needs="experiments"
    )
    sequential_retry: int = setting(
        3, "Retries of a failed run.", flag="--sequential-retry", least=0, needs="experiments"
    )
    parallel_memory_limit: float = setting(
        8.0, "Gigabytes of memory per worker.", flag="--parallel-memory-limit", least=0, needs="experiments"
    )
    parallel_api_rate_limit: int = setting(
        100, "Model calls per minute, all workers together.", flag="--parallel-api-rate-limit", least=1,
        needs="experiments",
    )  # fmt: skip
    aggregate_stats: bool = setting(
        False, "Compute mean and deviation over the runs.", flag="--aggregate-stats", needs="experiments"
    )
    fail_mode: Literal["continue", "fast-fail", "retry"] = setting(
        "continue", "What a failed run does to the experiment.", flag="--fail-mode", needs="experiments"
    )
    checkpoint_frequency: int = setting(
        10000, "Runs between checkpoints of an experiment.", flag="--checkpoint-frequency", least=0,
        needs="experiments",
    )  # fmt: skip
    resume_from: str | None = setting(
        None, "Checkpoint of an experiment to go on from.", flag="--resume-from", needs="experiments"
    )
    export_results: bool = setting(
        False, "Export the results of an experiment.", flag="--export-results", needs="experiments"
    )
    results_format: Literal["json", "csv", "parquet"] = setting(
        "json", "Format of exported results.", flag="--results-format", needs="experiments"
    )


@dataclass(frozen=True)
class System:
    """Where things go, and how much is said."""

    data_dir: str = setting("var", "Folder for everything ptp writes.", flag="--data-dir")
    log_file: str | None = setting(None, "Write the log to this file too.", flag="--log-file")
    random_seed: int | None = setting(
        None, "Seed of the run; without one, one is drawn and recorded.", flag="--random-seed", least=0, most=2**31 - 1
    )
    verbose: bool = setting(False, "Say more.", flag="--verbose")
    quiet: bool = setting(False, "Say nothing but errors.", flag="--quiet")


@dataclass(frozen=True)
class RunConfig:
    """Every setting of a run."""

    world: World = field(default_factory=World)
    agent: Agent = field(default_factory=Agent)
    tick_rate: TickRate = field(default_factory=TickRate)
    screenshot: Screenshot = field(default_factory=Screenshot)
    video: Video = field(default_factory=Video)
    storage: Storage = field(default_factory=Storage)
    command: Command = field(default_factory=Command)
    limits: Limits = field(default_factory=Limits)
    snapshot: Snapshot = field(default_factory=Snapshot)
    experiment: Experiment = field(default_factory=Experiment)
    system: System = field(default_factory=System)


SECTIONS: dict[str, type] = {f.name: f.default_factory for f in fields(RunConfig)}  # type: ignore[misc]
_PREFIXES = {"tick_rate": "tick-rate-", "screenshot": "screenshot-", "command": "command-", "snapshot": "snapshot-"}


def _settings() -> tuple[Setting, ...]:
    found = []
    for section, cls in SECTIONS.items():
        for item in fields(cls):
            if not item.metadata:
                continue
            kind, optional, choices = read_type(item.type)
            facts = dict(item.metadata)
            flag = facts.pop("flag") or "--" + _PREFIXES.get(section, "") + item.name.replace("_", "-")
            key = facts.pop("key") or item.name
            found.append(Setting(section, item.name, key, flag, kind, optional, item.default, choices=choices, **facts))
    return tuple(found)


SETTINGS = _settings()
SIGNAL_LIMITS = {"max_pokemon_caught": "caught", "max_badges": "badges", "max_level": "level"}
BY_PATH = {setting.path: setting for setting in SETTINGS}
BY_FLAG = {setting.flag: setting for setting in SETTINGS}
BY_ENV = {setting.env: setting for setting in SETTINGS}

Values = dict[Setting, Any]


def build(values: Values) -> RunConfig:
    """Make a RunConfig from checked values, defaults elsewhere, and check what concerns several settings."""
    for item, value in values.items():
        if item.needs and value != item.default:
            raise ConfigError(f"{item.flag} is not available yet: {item.needs} come in a later version; leave it out")
    sections = {
        section: cls(**{item.name: values[item] for item in values if item.section == section})
        for section, cls in SECTIONS.items()
    }
    config = RunConfig(**sections)
    if config.system.verbose and config.system.quiet:
        raise ConfigError("--verbose and --quiet exclude each other; leave one out")
    if (config.tick_rate.budget is None) != (config.tick_rate.budget_limit is None):
        raise ConfigError("--tick-rate-budget and --tick-rate-budget-limit belong together; give both or neither")
    return config


def as_tree(config: RunConfig) -> dict[str, Any]:
    """Return the config as plain nested data, in the order of the declaration."""
    tree: dict[str, Any] = {"version": VERSION}
    for item in SETTINGS:
        value = getattr(getattr(config, item.section), item.name)
        tree.setdefault(item.section, {})[item.key] = list(value) if item.type is tuple else value
    return tree
