"""`ptp metrics`: tell the figures of a run."""

from __future__ import annotations

from ptp.cli.parser import Parser

DESCRIPTION = """Tell the figures of a run as they are now.

examples:
  ptp metrics
  ptp metrics --run latest --json
"""


def main(argv: list[str]) -> int:
    """Run the verb."""
    import msgspec

    from ptp.cli.output import number, print_json, print_table
    from ptp.cli.reading import parse_run
    from ptp.runs.metrics import read_metrics

    options, _, directory, _ = parse_run(Parser("ptp metrics", DESCRIPTION), argv)
    metrics = read_metrics(directory)
    if options.json:
        print_json(metrics)
        return 0
    figures = {
        "tick": metrics.tick,
        **msgspec.structs.asdict(metrics.performance),
        **msgspec.structs.asdict(metrics.game),
    }
    print_table(("metric", "value"), [(name, number(value)) for name, value in figures.items()], right=("value",))
    return 0
