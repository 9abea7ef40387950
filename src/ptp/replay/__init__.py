"""A tape becomes the same run again."""

from ptp.replay.replay import Difference, Replay, Replayed
from ptp.replay.tape import Tape, TapeStep

__all__ = ["Difference", "Replay", "Replayed", "Tape", "TapeStep"]
