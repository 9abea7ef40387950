"""The one declaration of every setting; flags, YAML, environment, JSON Schema and docs come from it."""

# Annotations are read as live objects here, so they must not be postponed to text.
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from ptp.config.setting import Frozen, Section, Setting, setting
from ptp.errors import ConfigError

VERSION = "3.0"


class World(Section, section="world"):
    """The game to play."""

    name: str | None = setting(
        None,
        "World to play: a name from `ptp worlds`, a Gymnasium id, the URL of a game server, or file.py:Class.",
        flag="--world",
    )
    options: Mapping[str, Any] = setting({}, "Option of the world, as name=value; repeatable.", flag="--world-option")
    rom: str | None = setting(None, "Game Boy cartridge to play.")
    profile: str | None = setting(None, "Memory map of the cartridge, such as raw; detected when left out.")
    frames_per_tick: int = setting(24, "Game Boy frames per tick.", least=1, most=3600)
    start_state: str | None = setting(None, "PyBoy state or ptp snapshot to start the cartridge from.")
    save_file: str | None = setting(None, "Battery RAM to start the cartridge with.")
    render_mode: str | None = setting(None, "Render mode that the world must support: ansi or rgb_array.")


class Agent(Section, section="agent"):
    """The agent that plays."""

    name: str = setting("random", "Agent to run: a name from `ptp agents`, or file.py:Class.", flag="--agent")
    options: Mapping[str, Any] = setting({}, "Option of the agent, as name=value; repeatable.", flag="--agent-option")
    model: str | None = setting(None, "Language model that the agent asks, as provider:name.")
    base_url: str | None = setting(None, "Address of the model's API, when not the provider's own.")
    snapshot_provider: Literal["auto", "world", "none"] = setting(
        "auto", "Where a model's pictures come from; auto is none in worlds of text.", flag="--snapshot-provider"
    )
    decision_timeout: int = setting(
        300, "Stop when one decision takes this many seconds; 0 never stops.", flag="--decision-timeout", least=0
    )
    step_interval_ms: int = setting(
        0, "Milliseconds from one command of the agent to the next, at least.", flag="--agent-step-interval-ms", least=0
    )
    statistics_episodes: int = setting(
        100, "Write statistics of a learner every N episodes; 0 writes none.", flag="--statistics-episodes", least=0
    )
    script: str | None = setting(
        None, "Script for the script agent: one command per line, or a program in the button language."
    )


class TickRate(Section, section="tick_rate", prefix="tick-rate-"):
    """How fast the game runs."""

    normal: int = setting(10, "Ticks per second outside battles; 0 is unlimited.", flag="--tick-rate-base", least=0)
    battle: int = setting(
        2,
        "Ticks per second in battles; 0 is unlimited. With --tick-rate-base 0 it counts only when it is given.",
        least=0,
    )
    timeout: int = setting(30, "Stop after this many seconds without a change of state; 0 never stops.", least=0)
    adaptive: bool = setting(False, "Slow down to the rate at which the agent decides.")
    budget: Literal["hourly", "daily", "run"] | None = setting(None, "Period of --tick-rate-budget-limit, in UTC.")
    budget_limit: float | None = setting(None, "Dollars to spend per budget period.", least=0)


class Screenshot(Section, section="screenshot", prefix="screenshot-"):
    """Which pictures to keep."""

    interval: int = setting(100, "Keep a picture every N ticks.", least=1)
    battle_turn: int = setting(1, "Pictures per battle turn.", least=0)
    on_error: int = setting(1, "Pictures per tick with an error.", least=0)
    on_change: bool = setting(False, "Keep a picture whenever the state changes.")
    quality: int = setting(85, "JPEG quality.", least=0, most=100)
    max_storage: float = setting(50.0, "Disk space for pictures, in gigabytes.", least=0)
    in_background: bool = setting(False, "Encode pictures in the background; some may be dropped.", key="async")
    compress: bool = setting(
        False, "Compress old pictures already at 80% of that space; otherwise only when it is used up."
    )
    format: Literal["jpeg", "png", "webp"] | None = setting(None, "Picture format; the profile's when left out.")


class Video(Section, section="video"):
    """The video of the run."""

    record: bool = setting(False, "Record a video of every tick.", flag="--record-video")


class Storage(Section, section="storage"):
    """How pictures are stored, and how long runs are kept."""

    profile: str | None = setting(None, "Storage profile; defaults to that of the world.", flag="--storage-profile")
    profiles: str | None = setting(None, "YAML file with your own storage profiles.", flag="--storage-profiles")
    frame_sink: str | None = setting(None, "HTTP address to forward each picture to.")
    prune_on_start: bool = setting(False, "Prune old runs while this one plays, as `ptp prune` does.")
    max_record_bytes: int = setting(2_000_000_000, "Disk space for all runs, in bytes, to prune down to.", least=0)
    max_sessions: int | None = setting(None, "Number of runs to prune down to.", least=0)


class Command(Section, section="command", prefix="command-"):
    """The queue of commands between the agent and the world."""

    buffer_size: int = setting(10, "Commands that may wait in the queue.", least=1)
    timeout: int = setting(5, "Drop a command that has waited this many seconds.", least=1)
    validate: bool = setting(False, "Warn about queued commands that were chosen in another situation.")
    remove_invalid: bool = setting(True, "Also remove the commands that --command-validate warns about.")
    rollback_history: int = setting(100, "Applied commands to remember for a rollback.", least=0)
    interrupt_battle: bool = setting(
        True, "Clear the queue as soon as a battle starts; otherwise once the situation has changed to the battle."
    )
    stale_threshold: int = setting(2, "Warn about a command that has waited this many seconds.", least=0)


class Limits(Section, section="limits"):
    """When the run ends."""

    max_time: int | None = setting(None, "Stop after this many seconds.", least=1)
    max_ticks: int | None = setting(None, "Stop after exactly this many ticks.", least=1)
    episodes: int | None = setting(None, "Stop after this many episodes.", least=1)
    max_cost: float | None = setting(None, "Stop after spending this many dollars.", least=0)
    max_pokemon_caught: int | None = setting(
        None, "Stop after this many creatures caught in the wild or traded for.", least=1, signal="caught"
    )
    max_badges: int | None = setting(None, "Stop after this many badges.", least=1, signal="badges")
    max_level: int | None = setting(None, "Stop when a creature reaches this level.", least=1, signal="level")
    on_limit: Literal["save-and-exit", "save-only", "abort"] = setting(
        "save-and-exit", "At a limit: save and write a report, save without a report, or fail at once (exit code 1)."
    )
    grace_period: int = setting(30, "Seconds for the current decision to finish.", flag="--limit-grace-period", least=0)


Event = Literal["catch", "battle", "badge", "death"]


class Snapshot(Section, section="snapshot", prefix="snapshot-"):
    """When snapshots are taken, and how a run rolls back."""

    memory: int = setting(10, "Snapshots to keep in memory.", least=0)
    disk: int = setting(1000, "Write a snapshot every N ticks.", least=0)
    on_event: tuple[Event | str, ...] = setting(
        (), "Events that trigger a snapshot, separated by commas; also location:NAME, item:NAME, flag:NAME, level:N.",
        further="WORD:NAME",
    )  # fmt: skip
    max_disk: float = setting(20.0, "Disk space for snapshots, in gigabytes.", least=0)
    compress: bool = setting(False, "Compress snapshots on disk.")
    validate: bool = setting(False, "Restore each snapshot in a second world, and write it again if it differs.")
    rollback_on_error: bool = setting(
        False, "Go back to the newest key state or snapshot on errors.", flag="--rollback-on-error"
    )
    rollback_grace: int = setting(3, "States to go back at most after an error.", flag="--rollback-grace", least=1)
    rewind_memory: int = setting(
        64, "Memory for going back to any tick, in megabytes; 0 keeps no key states.", flag="--rewind-memory", least=0
    )
    rewind_disk: float = setting(
        1.0, "Disk space for going back to any tick, in gigabytes.", flag="--rewind-disk", least=0
    )
    share: bool = setting(False, "Let others download the snapshots of this run from `ptp dashboard`.")
    name: str | None = setting(None, "Name of the snapshot taken at the end of the run.")


class Experiment(Section, section="experiment"):
    """The experiment that the run belongs to."""

    name: str = setting("default", "Experiment that the run belongs to.", flag="--experiment-name")


class ExperimentConfig(Experiment, section="experiment"):
    """Every setting of an experiment; its runs have a RunConfig each."""

    parallel_workers: int = setting(1, "Games to play at the same time.", least=1)
    sequential_retry: int = setting(3, "Retries of a failed run.", least=0)
    parallel_memory_limit: float = setting(8.0, "Memory per worker, in gigabytes.", least=0)
    parallel_api_rate_limit: int = setting(100, "Model calls per minute, all workers together.", least=1)
    aggregate_stats: bool = setting(False, "Compute statistics over the runs, such as mean and deviation.")
    fail_mode: Literal["continue", "fast-fail", "retry"] = setting("continue", "What to do when a run fails.")
    checkpoint_frequency: int = setting(10000, "Write a checkpoint every N runs; 0 writes none.", least=0)
    resume_from: str | None = setting(None, "Checkpoint to resume from.")
    export_results: bool = setting(False, "Export the results.")
    results_format: Literal["json", "csv", "parquet"] = setting("json", "Format of exported results.")


class Labels(Section, section="run"):
    """What the run is called."""

    name: str | None = setting(None, "Name of the run; verbs find it by its name, too.")
    tags: tuple[str, ...] = setting((), "Tags of the run, separated by commas.")
    notes: str | None = setting(None, "Notes about the run.")


class System(Section, section="system"):
    """Where files go, and how much is printed."""

    data_dir: str = setting("var", "Folder for everything that ptp writes.")
    sinks: str | None = setting(None, "Installed sinks that hear the run, joined by commas.", flag="--sink")
    log_file: str | None = setting(None, "Also write the log to this file.")
    random_seed: int | None = setting(None, "Seed of the run; drawn when left out.", least=0, most=2**31 - 1)
    verbose: bool = setting(False, "Print more detail.")
    quiet: bool = setting(False, "Print errors only.")


class RunConfig(Frozen):
    """Every setting of a run."""

    world: World = World()
    agent: Agent = Agent()
    tick_rate: TickRate = TickRate()
    screenshot: Screenshot = Screenshot()
    video: Video = Video()
    storage: Storage = Storage()
    command: Command = Command()
    limits: Limits = Limits()
    snapshot: Snapshot = Snapshot()
    experiment: Experiment = Experiment()
    run: Labels = Labels()
    system: System = System()
    given: frozenset[str] = frozenset()
    """Paths of the settings that were chosen: given by flag or variable, or different from their default."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(getattr(self, name) == getattr(other, name) for name in SECTIONS)


SECTIONS: dict[str, type[Section]] = {name: cls for name, cls in RunConfig.__annotations__.items() if name != "given"}
SETTINGS = tuple(item for section in SECTIONS.values() for item in section.settings)
EXPERIMENT_SETTINGS = ExperimentConfig.settings[len(Experiment.settings) :]
ALL_SETTINGS = SETTINGS + EXPERIMENT_SETTINGS
BY_PATH = {setting.path: setting for setting in ALL_SETTINGS}
BY_FLAG = {setting.flag: setting for setting in ALL_SETTINGS}
SIGNAL_LIMITS: dict[str, str] = {setting.name: setting.signal for setting in SETTINGS if setting.signal}
"""Limits on what a world reports: the name of each setting, and the signal that it watches."""

Values = dict[Setting, Any]


def build(values: Values, given: Iterable[Setting] = ()) -> RunConfig:
    """Make a RunConfig from checked values, defaults elsewhere, and check what concerns several settings.

    *given* are the settings that somebody chose even if they have their default; those of experiments are ignored.
    """
    sections: dict[str, Any] = {section: cls.of(values) for section, cls in SECTIONS.items()}
    chosen = {item for item in SETTINGS if values.get(item, item.default) != item.default} | set(given)
    config = RunConfig(**sections, given=frozenset(item.path for item in chosen))
    if config.system.verbose and config.system.quiet:
        raise ConfigError("--verbose and --quiet exclude each other; leave one out")
    if (config.tick_rate.budget is None) != (config.tick_rate.budget_limit is None):
        raise ConfigError("--tick-rate-budget and --tick-rate-budget-limit belong together; give both or neither")
    return config


def merge(*layers: Values) -> Values:
    """Let later settings override earlier ones; options do so one by one, unless another world or agent is named."""
    merged: Values = {}
    for layer in layers:
        for item in (item for item in SETTINGS if item.type is dict):
            owner = BY_PATH[f"{item.section}.name"]
            if owner in layer and owner in merged and layer[owner] != merged[owner]:
                merged.pop(item, None)
            layer = {**layer, item: merged.get(item, {}) | layer[item]} if item in layer else layer
        merged |= layer
    return merged


def values_of(config: RunConfig) -> Values:
    """Return the value of every setting, in the order of the declaration."""
    return {item: getattr(getattr(config, item.section), item.name) for item in SETTINGS}


def as_tree(config: RunConfig) -> dict[str, Any]:
    """Return the config as plain nested data."""
    tree: dict[str, Any] = {"version": VERSION}
    for item, value in values_of(config).items():
        tree.setdefault(item.section, {})[item.key] = list(value) if item.type is tuple else value
    return tree
