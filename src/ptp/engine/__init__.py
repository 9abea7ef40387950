"""The tick: pacing, buffer, limits and budget; it returns records and does no I/O."""

from ptp.engine.engine import Engine
from ptp.engine.limits import Progress
from ptp.engine.records import RECORD_VERSION, DecisionEnded, DecisionMade, EpisodeEnded, Happened, Notice, Record, Step

__all__ = [
    "RECORD_VERSION",
    "DecisionEnded",
    "DecisionMade",
    "Engine",
    "EpisodeEnded",
    "Happened",
    "Notice",
    "Progress",
    "Record",
    "Step",
]
