"""One whole run: world, agent, engine and recorder, from start to end."""

from ptp.runner.run import RunResult, run

__all__ = ["RunResult", "run"]
