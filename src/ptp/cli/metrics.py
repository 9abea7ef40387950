"""`ptp metrics`: tell the figures of a run."""

from __future__ import annotations

from ptp.config.flags import Parser


def main(argv: list[str]) -> int:
    """Run the verb."""
    import msgspec

    from ptp.cli.output import number, print_json, print_table
    from ptp.cli.reading import parse_run
    from ptp.dashboard.metrics import read_metrics

    options, _, directory, _ = parse_run(Parser("ptp metrics", "Tell the figures of a run as they are now."), argv)
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
