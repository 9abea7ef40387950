"""What the API answers; the fields, their types and the words about them are declared here once, by topic."""

from ptp.records import DecisionMade, Event, Step
from ptp.records import Status as RunStatus
from ptp.runs.answers.metrics import Game, Metrics, Performance, Series, SeriesList
from ptp.runs.answers.runs import DamagedRun, Health, LogLevel, LogLine, LogLines, RunDetail, RunList, Settings
from ptp.runs.answers.screenshots import (
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
from ptp.runs.answers.status import DecisionPipeline, DecisionStatus, Status, SystemHealth
from ptp.runs.answers.steering import Restored, SnapshotLine, SnapshotList, Steered
from ptp.runs.answers.ticks import Action, ActionList, DecisionList, EventList, Tick
from ptp.runs.summary import RunSummary

__all__ = [
    "Action",
    "ActionList",
    "Annotations",
    "DamagedRun",
    "DecisionList",
    "DecisionMade",
    "DecisionPipeline",
    "DecisionStatus",
    "DetectedSprite",
    "DetectedText",
    "Event",
    "EventList",
    "Game",
    "Health",
    "LogLevel",
    "LogLine",
    "LogLines",
    "MenuRegion",
    "Metrics",
    "Performance",
    "Resolution",
    "Restored",
    "RunDetail",
    "RunList",
    "RunStatus",
    "RunSummary",
    "Screenshot",
    "ScreenshotDiff",
    "ScreenshotLine",
    "ScreenshotList",
    "Series",
    "SeriesList",
    "Settings",
    "SnapshotLine",
    "SnapshotList",
    "Status",
    "Steered",
    "Step",
    "SystemHealth",
    "Tick",
]
