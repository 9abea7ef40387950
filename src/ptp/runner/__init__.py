"""One whole run: world, agent, engine and recorder, from start to end."""

from ptp.runner.run import fork, resume, run
from ptp.runner.session import RunResult, Watcher

__all__ = ["RunResult", "Watcher", "fork", "resume", "run"]
