"""`ptp status`."""

from __future__ import annotations

from ptp.cli.common import opened_run
from ptp.cli.output import (
    BOLD,
    GREEN,
    RED,
    STATUS_COLORS,
    YELLOW,
    can_print,
    number,
    paint,
    print_facts,
    print_json,
    say,
)  # fmt: skip
from ptp.cli.parser import Options
from ptp.records import Metadata
from ptp.runs.status import Status, read_status

BAR = 20  # characters of a full HP bar
BLOCKS, PLAIN = ("━", "┄"), ("#", "-")


def main(options: Options) -> int:
    """Show the status of a run."""
    directory = opened_run(options).directory
    metadata = directory.read_metadata()
    status = read_status(directory, metadata)
    if options.json:
        print_json(status)
    else:
        _print(status, metadata)
    return 0


def _print(status: Status, metadata: Metadata) -> None:
    say(f"{paint(f'{metadata.agent} in {metadata.world.name}', BOLD)}  "
        f"{paint(metadata.status, STATUS_COLORS[metadata.status])}")  # fmt: skip
    state, decision, health = status.current_state, status.decision_pipeline, status.system_health
    place = f" at {state.coordinates.x}, {state.coordinates.y}" if state.coordinates else ""
    items = ", ".join(f"{name} {count}" for name, count in state.inventory.items() if count)
    facts = {
        "run": status.run_id,
        "played": f"{number(status.elapsed_seconds)} s",
        "where": f"{state.location or '-'}{place}  ({state.screen_type or 'unknown screen'})",
        "badges": number(state.badges),
        "caught": number(state.pokemon_caught),
        "items": items or "-",
        "decision": f"{decision.last_decision_type or '-'}, {decision.current_decision_status or 'none yet'}, "
        f"{number(decision.last_decision_latency_ms)} ms",
        "ticks/s": f"{number(health.tick_rate_actual)} of {number(health.tick_rate_target)}",
        "memory": f"{number(health.memory_usage_mb)} MB",
        "errors": number(health.error_count),
        "snapshots": number(health.snapshot_count),
    }
    print_facts(facts)
    for member in state.party or ():
        bar = hp_bar(member.hp, member.max_hp)
        say(f"  {member.name or '?':<12} level {member.level:<3} {bar} {member.hp}/{member.max_hp}")


def hp_bar(hp: int, most: int, width: int = BAR) -> str:
    """Return health as a bar of characters."""
    full = round(width * hp / most) if most else 0
    color = GREEN if hp * 2 > most else YELLOW if hp * 5 > most else RED
    filled, empty = BLOCKS if can_print("".join(BLOCKS)) else PLAIN
    return paint(filled * full, color) + empty * (width - full)
