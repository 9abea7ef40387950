"""`ptp metrics`."""

from __future__ import annotations

from msgspec import structs

from ptp.cli.common import opened_run
from ptp.cli.output import number, print_json, print_table
from ptp.cli.parser import Options
from ptp.runs.metrics import read_metrics


def main(options: Options) -> int:
    """Show the metrics of a run."""
    metrics = read_metrics(opened_run(options).directory)
    if options.json:
        print_json(metrics)
        return 0
    figures = {"tick": metrics.tick, **structs.asdict(metrics.performance), **structs.asdict(metrics.game)}
    print_table(("metric", "value"), [(name, number(value)) for name, value in figures.items()], right=("value",))
    return 0
