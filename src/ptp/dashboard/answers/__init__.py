"""What the API answers; the fields, their types and the words about them are declared here once, by topic."""

from ptp.dashboard.answers.metrics import Game, Metrics, Performance, Series, SeriesList
from ptp.dashboard.answers.problems import Problem
from ptp.dashboard.answers.runs import Health, LogLevel, LogLine, LogLines, RunDetail, RunList, Settings
from ptp.dashboard.answers.screenshots import (
    Annotations,
    DetectedSprite,
    DetectedText,
    MenuRegion,
    Resolution,
    Screenshot,
    ScreenshotDiff,
    ScreenshotLine,
    ScreenshotList,
)
from ptp.dashboard.answers.sharing import SharedList, SharedSnapshot
from ptp.dashboard.answers.status import (
    Coordinates,
    CurrentState,
    DecisionPipeline,
    DecisionStatus,
    PartyMember,
    ScreenType,
    Status,
    SystemHealth,
)
from ptp.dashboard.answers.steering import Forked, Restored, SnapshotLine, SnapshotList, Steered
from ptp.dashboard.answers.streams import Frame, LiveActions, LiveEnd, LiveState, Now
from ptp.dashboard.answers.ticks import Action, ActionList, Decision, DecisionList, Event, EventList, Tick
from ptp.recording.directory import Status as RunStatus
from ptp.recording.summary import RunSummary

__all__ = [
    "Action",
    "ActionList",
    "Annotations",
    "Coordinates",
    "CurrentState",
    "Decision",
    "DecisionList",
    "DecisionPipeline",
    "DecisionStatus",
    "DetectedSprite",
    "DetectedText",
    "Event",
    "EventList",
    "Forked",
    "Frame",
    "Game",
    "Health",
    "LiveActions",
    "LiveEnd",
    "LiveState",
    "LogLevel",
    "LogLine",
    "LogLines",
    "MenuRegion",
    "Metrics",
    "Now",
    "PartyMember",
    "Performance",
    "Problem",
    "Resolution",
    "Restored",
    "RunDetail",
    "RunList",
    "RunStatus",
    "RunSummary",
    "ScreenType",
    "Screenshot",
    "ScreenshotDiff",
    "ScreenshotLine",
    "ScreenshotList",
    "Series",
    "SeriesList",
    "Settings",
    "SharedList",
    "SharedSnapshot",
    "SnapshotLine",
    "SnapshotList",
    "Status",
    "Steered",
    "SystemHealth",
    "Tick",
]
