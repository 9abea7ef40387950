"""What the API answers; the fields, their types and the words about them are declared here once, by topic."""

from ptp.records import DecisionMade, Event, Step
from ptp.records import Status as RunStatus
from ptp.runs.answers.metrics import Game, Metrics, Performance, Series, SeriesList
from ptp.runs.answers.runs import DamagedRun, Health, LogLevel, LogLine, LogLines, Problem, RunDetail, RunList, Settings
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
from ptp.runs.answers.status import (
    Coordinates,
    CurrentState,
    DecisionPipeline,
    DecisionStatus,
    PartyMember,
    ScreenType,
    Status,
    SystemHealth,
)
from ptp.runs.answers.steering import (
    Forked,
    Restored,
    SharedList,
    SharedSnapshot,
    SnapshotLine,
    SnapshotList,
    Steered,
)
from ptp.runs.answers.ticks import Action, ActionList, DecisionList, EventList, Tick
from ptp.runs.summary import RunSummary

__all__ = [
    "Action",
    "ActionList",
    "Annotations",
    "Coordinates",
    "CurrentState",
    "DamagedRun",
    "DecisionList",
    "DecisionMade",
    "DecisionPipeline",
    "DecisionStatus",
    "DetectedSprite",
    "DetectedText",
    "Event",
    "EventList",
    "Forked",
    "Game",
    "Health",
    "LogLevel",
    "LogLine",
    "LogLines",
    "MenuRegion",
    "Metrics",
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
    "Step",
    "SystemHealth",
    "Tick",
]
