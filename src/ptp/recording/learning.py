"""What a learner says of itself as files: figures of each episode, and a table that grows every few episodes."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ptp.recording.database import Database
from ptp.recording.directory import RunDirectory
from ptp.records import EpisodeLearnt, Record
from ptp.sinks import RunContext, Sink

STATISTICS = "statistics.csv"
METRICS = "metrics.json"
COLUMNS = ("episode", "tick", "average_reward", "success_rate", "epsilon", "alpha", "td_error", "convergence")
MEASURED = {"average_reward": "", "success_rate": "", "epsilon": "", "convergence": ""}
_encode = msgspec.json.Encoder().encode


class LearningStatistics(Sink):
    """Writes a line of `episodes/statistics.csv` every few episodes, and measures the same figures."""

    inline = True

    def began(self, run: RunContext) -> None:
        """Cut off what lies beyond the tape, of a run that was killed."""
        self._run = run
        self._path = run.path / "episodes" / STATISTICS
        self.rewound(run.tick)

    def took(self, records: Sequence[Record]) -> None:
        """Write the lines that are due."""
        every = self._run.config.agent.statistics_episodes
        for record in records:
            if type(record) is EpisodeLearnt and every and record.episode % every == 0:
                self._path.parent.mkdir(exist_ok=True)
                _write(self._path, [_row(record)], append=self._path.exists())
                for name in MEASURED:
                    self._run.measure(name, getattr(record, name), "")

    def rewound(self, tick: int) -> None:
        """Cut off the lines of episodes that were discarded."""
        if self._path.exists():
            with open(self._path, newline="", encoding="utf-8") as file:
                rows = [row for row in list(csv.reader(file))[1:] if int(row[1]) <= tick]
            _write(self._path, rows)


def export_learning(directory: RunDirectory, every: int) -> None:
    """Write `episodes/episode_<n>/metrics.json` for each episode that a learner played, and all of the statistics."""
    folder = directory.path / "episodes"
    for path in folder.glob("episode_*/"):
        shutil.rmtree(path)
    with Database(directory.database) as database:
        names = EpisodeLearnt.__struct_fields__
        query = f"SELECT {', '.join(names)} FROM learning ORDER BY episode"
        learnt = [EpisodeLearnt(*row) for row in database.rows(query)]
    for one in learnt:
        (folder / f"episode_{one.episode}").mkdir()
        (folder / f"episode_{one.episode}" / METRICS).write_bytes(_encode(msgspec.structs.asdict(one)) + b"\n")
    if learnt and every:
        _write(folder / STATISTICS, [_row(one) for one in learnt if one.episode % every == 0])


def _row(record: EpisodeLearnt) -> list[Any]:
    return [getattr(record, name) for name in COLUMNS]


def _write(path: Path, rows: Iterable[Sequence[Any]], append: bool = False) -> None:
    with open(path, "a" if append else "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows if append else [COLUMNS, *rows])
