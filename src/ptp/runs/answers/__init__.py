"""What the API answers; the fields, their types and the words about them are declared here once, by topic."""

from ptp.recording.summary import RunSummary
from ptp.records import Status as RunStatus
from ptp.runs.answers.metrics import Game, Metrics, Performance, Series, SeriesList
from ptp.runs.answers.runs import Health, LogLevel, LogLine, LogLines, RunDetail, RunList, Settings
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
    DecisionPipeline,
    DecisionStatus,
    Status,
    SystemHealth,
)
from ptp.runs.answers.ticks import Action, ActionList, Decision, DecisionList, Event, EventList, Tick
from ptp.worlds.knowledge import Coordinates, CurrentState, PartyMember

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
    "Game",
    "Health",
    "LogLevel",
    "LogLine",
    "LogLines",
    "MenuRegion",
    "Metrics",
    "PartyMember",
    "Performance",
    "Resolution",
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
    "Status",
    "SystemHealth",
    "Tick",
]
