"""What is kept for how long: how large runs are, which may go, and how they become smaller."""

from ptp.retention.plan import Limits, Plan, RunSize, measure_runs, plan_pruning
from ptp.retention.prune import prune

__all__ = ["Limits", "Plan", "RunSize", "measure_runs", "plan_pruning", "prune"]
