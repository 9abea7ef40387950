"""What the central database keeps of a run: one row of the run, one per decision and one per battle."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

import msgspec

from ptp.errors import RunUnreadable
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.records import Metadata

RUN_COLUMNS = (
    "run_id", "experiment_id", "model_name", "rom_hash", "started_at", "completed_at", "duration_seconds",
    "duration_ticks", "total_cost", "final_level", "pokemon_caught", "battles_won", "battles_lost", "badges_earned",
    "errors_count", "status", "config_snapshot", "world", "agent",
)  # fmt: skip
DECISION_COLUMNS = (
    "decision_id", "run_id", "experiment_id", "model_name", "decision_type", "timestamp", "tick", "latency_ms",
    "tokens_used", "cost", "confidence", "context",
)  # fmt: skip
BATTLE_COLUMNS = (
    "battle_id", "run_id", "experiment_id", "model_name", "battle_type", "pokemon_enemy", "pokemon_enemy_level",
    "outcome", "turns_taken", "pokemon_died", "items_used", "moves_used",
)  # fmt: skip

Row = tuple[Any, ...]

_RUN = """
SELECT run.model_name, run.rom_hash, coalesce(run.duration_ticks, (SELECT max(tick) FROM steps)),
       coalesce(run.final_level, (SELECT max(level) FROM pokemon_party)),
       coalesce(run.total_cost, (SELECT sum(api_cost) FROM action_history)), session.experiment_name,
       session.config_snapshot, (SELECT count(*) FROM errors)
FROM runs AS run LEFT JOIN sessions AS session ON session.session_id = run.session_id LIMIT 1
"""
_GAME = """
SELECT (SELECT count(*) FROM objectives WHERE objective_type = 'catch' AND status = 'completed'),
       (SELECT count(*) FROM battles WHERE outcome = 'win'), (SELECT count(*) FROM battles WHERE outcome = 'loss'),
       (SELECT count(*) FROM objectives WHERE objective_type = 'badge' AND status = 'completed')
"""
# ?1 is the run, ?2 its experiment, ?3 its model; the columns are in the order of the tuples above.
_DECISIONS = """
SELECT decision_id, ?1, ?2, coalesce(model_used, ?3), decision_type, timestamp, tick,
       CAST(round(decision_latency_ms) AS INTEGER), tokens_used, api_cost, confidence_score, decision_context
FROM action_history ORDER BY decision_id
"""
_BATTLES = """
SELECT battle_id, ?1, ?2, ?3, battle_type, enemy_species, enemy_level, outcome, turns_taken,
       (SELECT max(player_hp_after = 0) FROM battle_turns AS turn WHERE turn.battle_id = battle.battle_id), used_items,
       (SELECT json_group_array(player_move ORDER BY turn_number) FROM battle_turns AS turn
        WHERE turn.battle_id = battle.battle_id AND player_action = 'move')
FROM battles AS battle ORDER BY battle_id
"""


class Extract:
    """A run, read at one moment of it, as rows for the central database."""

    def __init__(self, directory: RunDirectory, metadata: Metadata, database: Database) -> None:
        self.metadata = metadata
        self.run_id = read_id(metadata, directory)
        self._database = database
        list(database.rows("BEGIN"))  # a run that goes on is read as it is now
        facts = next(database.rows(_RUN), None)
        if facts is None:
            raise RunUnreadable(f"{directory.database} has no row in runs; restore it from a copy")
        self._facts = facts
        self._experiment = uuid5(NAMESPACE_URL, facts[5] or metadata.experiment_name)
        self._model = facts[0] or metadata.agent

    def run(self) -> Row:
        """Return the run's own row; what its world does not have is None."""
        metadata = self.metadata
        _, rom, ticks, level, cost, _, config, errors = self._facts
        seconds = None if metadata.elapsed_seconds is None else round(metadata.elapsed_seconds)
        return (
            self.run_id, self._experiment, self._model, rom or metadata.facts.origin.get("rom_sha1"),
            metadata.started_at, metadata.completed_at, seconds, _first(ticks, metadata.ticks),
            _first(cost, metadata.total_cost), level, *self._game(), errors, metadata.status, as_json(config),
            metadata.world.name, metadata.agent,
        )  # fmt: skip

    def _game(self) -> Row:
        """Return what was caught, won, lost and earned, if the run's game tells."""
        is_told = self.metadata.facts.origin.get("profile", "raw") != "raw"
        return self._database.row(_GAME) if is_told else (None,) * 4

    def decisions(self) -> Iterator[Row]:
        """Return a row for each decision."""
        return self._rows("decisions", _DECISIONS, documents=1)

    def battles(self) -> Iterator[Row]:
        """Return a row for each battle."""
        return self._rows("battles", _BATTLES, documents=2)

    def _rows(self, table: str, query: str, documents: int) -> Iterator[Row]:
        """Return the rows of a query, the first value of which is an id, and the last ones JSON."""
        facts = (str(self.run_id), str(self._experiment), self._model)
        for number, *values in self._database.rows(query, *facts):
            yield (self._key(table, number), *values[:-documents], *map(as_json, values[-documents:]))

    def _key(self, table: str, text: str) -> UUID:
        """Return a row's own id if it is a UUID, else one that follows from it and the run."""
        try:
            return UUID(text)
        except ValueError:
            return uuid5(self.run_id, f"{table}/{text}")


def read_id(metadata: Metadata, directory: RunDirectory) -> UUID:
    """Return the run's id, by which it is known in the central database."""
    try:
        return UUID(metadata.run_id)
    except ValueError:
        told = f"{directory.path} has the run id {metadata.run_id!r}, which is no UUID"
        raise RunUnreadable(f"{told}; give it one in metadata.json") from None


def as_json(text: str | None) -> str | None:
    """Return JSON as it is, and any other text as a JSON string; PostgreSQL holds no zero characters."""
    if text is None:
        return None
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        text = json.dumps(text)
    return text.replace("\\u0000", "\\ufffd")


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)
