"""`ptp status`: tell how a run stands now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptp.cli.parser import Parser

if TYPE_CHECKING:
    from ptp.records import Metadata
    from ptp.runs.answers import Status

DESCRIPTION = """Tell how a run stands now: state, newest decision, health.

examples:
  ptp status
  ptp status --run latest --json
"""

BAR = 20  # characters of a full HP bar
BLOCKS, PLAIN = ("━", "┄"), ("#", "-")


def main(argv: list[str]) -> int:
    """Run the verb."""
    from ptp.cli.output import print_json
    from ptp.cli.reading import parse_run
    from ptp.runs.status import read_status

    parser = Parser("ptp status", DESCRIPTION)
    options, _, directory, metadata = parse_run(parser, argv)
    status = read_status(directory, metadata)
    if options.json:
        print_json(status)
    else:
        _tell(status, metadata)
    return 0


def _tell(status: Status, metadata: Metadata) -> None:
    from ptp.cli.output import BOLD, STATUS_COLORS, number, paint, print_facts, say

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
    from ptp.cli.output import GREEN, RED, YELLOW, can_print, paint

    full = round(width * hp / most) if most else 0
    color = GREEN if hp * 2 > most else YELLOW if hp * 5 > most else RED
    filled, empty = BLOCKS if can_print("".join(BLOCKS)) else PLAIN
    return paint(filled * full, color) + empty * (width - full)
