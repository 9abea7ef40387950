"""The tick: pacing, buffer, limits and budget; it returns records and does no I/O."""

from ptp.engine.engine import Engine
from ptp.engine.play import Play, Progress
from ptp.engine.state import EngineState

__all__ = ["Engine", "EngineState", "Play", "Progress"]
