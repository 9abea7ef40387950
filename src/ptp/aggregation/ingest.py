"""Bringing runs into the central database: one transaction each, and a run that comes again replaces itself.

The central database keeps one row of a run, one for each of its decisions and one for each of its battles.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal
from uuid import NAMESPACE_URL, UUID, uuid5

import msgspec

from ptp.aggregation.central import PostgreSQL, changing
from ptp.errors import CentralError, RunUnreadable
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.records import Metadata
from ptp.versioning.migration import migrate
from ptp.versioning.stamp import known_version, read_version

if TYPE_CHECKING:
    import psycopg

TABLES = ("aggregated_runs", "aggregated_decisions", "aggregated_battles", "run_rollups")
VIEWS = ("model_comparison", "battle_analysis", "cost_analysis")
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
_PERFORMANCE = """
INSERT INTO model_performance
SELECT run.model_name, count(*), avg(run.total_cost), avg(run.duration_seconds), avg(run.battles_won),
       avg(run.badges_earned), sum(run.battles_won)::numeric / nullif(sum(run.battles_won + run.battles_lost), 0),
       avg((run.errors_count > 0)::integer), now()
FROM aggregated_runs AS run WHERE run.model_name IS NOT NULL GROUP BY run.model_name
"""


class Ingested(msgspec.Struct, frozen=True):
    """What became of one run."""

    run_id: str
    outcome: Literal["added", "replaced", "skipped"]
    decisions: int = 0
    battles: int = 0


def prepare(connection: psycopg.Connection, where: object) -> None:
    """Make sure that runs can come in: an empty database gets its tables, an old one has to be migrated first."""
    db = PostgreSQL(connection, where)
    newest = db.schemas.newest
    if read_version(db) is None:
        migrate(db, newest)
    elif (version := known_version(db)) != newest:
        raise CentralError(
            f"{where} has central schema {version}, and runs come into {newest}; bring it there with "
            "`ptp schema migrate --central`"
        )


def ingest(connection: psycopg.Connection, directory: RunDirectory, *, only_new: bool = False) -> Ingested:
    """Bring one run in, of whatever schema it is; with *only_new*, one that is there and has ended is skipped."""
    metadata = directory.read_metadata()
    if only_new:
        query = "SELECT 1 FROM aggregated_runs WHERE run_id = %s AND status = %s AND completed_at = %s::timestamp"
        facts = (read_id(metadata, directory), metadata.status, metadata.completed_at)
        if connection.execute(query, facts).fetchone() is not None:
            return Ingested(metadata.run_id, "skipped")
    with Database(directory.database) as database:
        extract = Extract(directory, metadata, database)
        with changing(connection):
            # whoever else brings the same run in waits here
            connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (str(extract.run_id),))
            removals = (f"DELETE FROM {table} WHERE run_id = %s" for table in TABLES)
            removed = [connection.execute(removal, (extract.run_id,)).rowcount for removal in removals]
            _copy(connection, "aggregated_runs", RUN_COLUMNS, [extract.run()])
            found = extract.rows("decisions", _DECISIONS, documents=1)
            decisions = _copy(connection, "aggregated_decisions", DECISION_COLUMNS, found)
            found = extract.rows("battles", _BATTLES, documents=2)
            battles = _copy(connection, "aggregated_battles", BATTLE_COLUMNS, found)
            query = "INSERT INTO run_rollups SELECT * FROM run_figures WHERE run_id = %s"
            connection.execute(query, (extract.run_id,))
    return Ingested(metadata.run_id, "replaced" if removed[0] else "added", decisions, battles)


def refresh(connection: psycopg.Connection) -> None:
    """Count anew what spans many runs."""
    with changing(connection):
        connection.execute("LOCK TABLE model_performance IN SHARE ROW EXCLUSIVE MODE")
        connection.execute("DELETE FROM model_performance")
        connection.execute(_PERFORMANCE)
        for view in VIEWS:
            connection.execute(f"REFRESH MATERIALIZED VIEW {view}")


def _copy(connection: psycopg.Connection, table: str, columns: Sequence[str], rows: Iterable[Row]) -> int:
    count = 0
    with connection.cursor() as cursor, cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)
            count += 1
    return count


class Extract:
    """A run, read at one moment of it, as rows for the central database."""

    def __init__(self, directory: RunDirectory, metadata: Metadata, database: Database) -> None:
        self.metadata = metadata
        self.run_id = read_id(metadata, directory)
        self._database = database
        list(database.rows("BEGIN"))  # a live run is read as it is now
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
        ticks = metadata.ticks if ticks is None else ticks
        cost = metadata.total_cost if cost is None else cost
        has_game = metadata.facts.origin.get("profile", "raw") != "raw"
        game = self._database.row(_GAME) if has_game else (None,) * 4
        seconds = None if metadata.elapsed_seconds is None else round(metadata.elapsed_seconds)
        return (
            self.run_id, self._experiment, self._model, rom or metadata.facts.origin.get("rom_sha1"),
            metadata.started_at, metadata.completed_at, seconds, ticks, cost, level, *game, errors, metadata.status,
            as_json(config), metadata.world.name, metadata.agent,
        )  # fmt: skip

    def rows(self, table: str, query: str, documents: int) -> Iterator[Row]:
        """Return the rows of a query, the first value of which is an id, and the last ones JSON."""
        facts = (str(self.run_id), str(self._experiment), self._model)
        for number, *values in self._database.rows(query, *facts):
            try:
                key = UUID(number)
            except ValueError:
                key = uuid5(self.run_id, f"{table}/{number}")  # the same whenever the run comes again
            yield (key, *values[:-documents], *map(as_json, values[-documents:]))


def read_id(metadata: Metadata, directory: RunDirectory) -> UUID:
    """Return the run's id, by which it is known in the central database."""
    try:
        return UUID(metadata.run_id)
    except ValueError:
        told = f"{directory.path} has the run id {metadata.run_id!r}, which is not a UUID"
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
