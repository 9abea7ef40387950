"""One whole run: world, agent, engine and sinks, from start to end."""

from ptp.runner.run import fork, resume, run

__all__ = ["fork", "resume", "run"]
