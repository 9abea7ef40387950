"""Pictures: when one is due, where it is kept, and how many become a video."""

from ptp.frames.entries import frame_statements
from ptp.frames.keeper import FrameKeeper
from ptp.frames.pictures import Picture
from ptp.frames.profiles import StorageProfile, find_profile
from ptp.frames.shots import Counts
from ptp.frames.video import VideoWriter, video_of_run

__all__ = [
    "Counts",
    "FrameKeeper",
    "Picture",
    "StorageProfile",
    "VideoWriter",
    "find_profile",
    "frame_statements",
    "video_of_run",
]
