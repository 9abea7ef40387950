"""Pictures: when one is due, where it is kept, and how many become a video."""

from ptp.frames.camera import Camera
from ptp.frames.pictures import Picture
from ptp.frames.profiles import StorageProfile, find_profile
from ptp.frames.shots import Counts
from ptp.frames.video import VideoWriter, video_of_run

__all__ = ["Camera", "Counts", "Picture", "StorageProfile", "VideoWriter", "find_profile", "video_of_run"]
