"""A tape becomes the same run again."""

from ptp.replay.tape import Difference, Replay, Replayed, Tape, TapeStep

__all__ = ["Difference", "Replay", "Replayed", "Tape", "TapeStep"]
