"""The central database as a person or a program meets it on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptp.aggregation.central import Central
from ptp.cli import main
from ptp.versioning.drift import SCHEMA_KINDS
from tests.versioning.databases import OLD, copy_run

Call = Callable[..., tuple[int, str, str]]
Json = Callable[..., Any]


def test_the_central_database_migrates_with_the_same_verbs(named: Central, ptp: Call, ptp_json: Json) -> None:
    code, out, _ = ptp("schema", "migrate", "--central", "--to", "1.0")
    assert (code, out) == (0, f"{named}: migrated nothing -> 1.0\n")
    assert ptp("schema", "migrate", "--central", "--dry-run")[1] == f"{named}: would migrate 1.0 -> 1.1\n"
    assert ptp_json("schema", "migrate", "--central")["migrations"][0]["steps"] == ["1.0 -> 1.1"]
    assert ptp("schema", "migrate", "--central")[1] == f"{named}: already has schema 1.1\n"
    assert ptp("schema", "verify", "--central") == (0, f"{named}: good, schema 1.1\n", "")
    (step,) = ptp_json("schema", "history", "--central")["migrations"]
    assert (step["from_version"], step["to_version"]) == ("1.0", "1.1")
    assert "1.0   1.1" in ptp("schema", "history", "--central")[1]


def test_runs_and_the_central_database_are_not_meant_at_once(named: Central, ptp: Call) -> None:
    for words in (("migrate", "latest"), ("verify", "latest"), ("history", "latest")):
        code, _, err = ptp("schema", *words, "--central")
        assert (code, err) == (2, "ptp: RUN and --central can't be combined; leave one out\n")
    assert "--keep-backup and --central" in ptp("schema", "migrate", "--central", "--keep-backup")[2]
    assert "--from and --central" in ptp("schema", "migrate", "--central", "--from", "1.0")[2]
    assert ptp("drift", "schema", "latest", "--central")[0] == 2


def test_drift_of_the_central_database_exits_with_1_and_is_grouped(named: Central, ptp: Call, ptp_json: Json) -> None:
    assert "has no tables yet; make them with" in ptp("drift", "schema", "--central")[2]
    ptp("schema", "migrate", "--central")
    assert ptp("drift", "schema", "--central") == (0, f"{named} (version 1.1) has no drift\n", "")
    with named.connected() as connection:
        connection.execute("DROP INDEX idx_aggregated_runs_model")
    code, out, _ = ptp("drift", "schema", "--central")
    assert code == 1
    assert "CREATE INDEX idx_aggregated_runs_model ON aggregated_runs(model_name);" in out
    told = ptp_json("drift", "schema", "--central")
    assert set(SCHEMA_KINDS) <= told.keys()
    assert (told["drift"], told["missing_indexes"][0]["name"]) == (True, "idx_aggregated_runs_model")
    assert ptp("schema", "verify", "--central")[0] == 1


def test_the_version_check_tells_how_the_central_database_stands(
    named: Central, ptp: Call, ptp_json: Json, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told(*words: str) -> tuple[str, str, str | None]:
        line = ptp_json("version", "--check", *words)["central"]
        return line["here"], line["found"], line["run"]

    assert told() == ("1.1", "empty", "ptp schema migrate --central")
    ptp("schema", "migrate", "--central", "--to", "1.0")
    assert told() == ("1.1", "1.0", "ptp schema migrate --central")
    assert ptp("version", "--check")[0] == 1
    ptp("schema", "migrate", "--central")
    assert told() == ("1.1", "1.1", None)
    assert told("--database-url", "postgresql://127.0.0.1:1/x") == ("1.1", "unreachable", "ptp db status")
    with named.connected() as connection:
        connection.execute("UPDATE _schema_version SET version = '9.0'")
    assert told() == ("1.1", "9.0", "pip install --upgrade ptp")
    monkeypatch.delenv("PTP_DATABASE_URL")
    assert told() == ("1.1", "not set up", None)
    assert not (tmp_path / "var" / "central").exists()


def test_runs_come_in_by_name_pattern_or_all_of_them(named: Central, tmp_path: Path, ptp: Call, ptp_json: Json) -> None:
    folders = [copy_run(version, tmp_path / "var") for version in OLD]
    code, out, _ = ptp("db", "ingest", "latest")
    assert code == 0
    assert f"{folders[-1].name}: added, 3 decisions, 3 battles" in out
    told = ptp_json("db", "ingest", f"{folders[0].parent}/*1?", "--no-refresh")
    assert (told["total"], told["successful"], told["failed"], told["skipped"]) == (3, 3, 0, 0)
    told = ptp_json("db", "ingest", "--incremental")
    assert (told["total"], told["successful"], told["skipped"]) == (5, 1, 4)
    assert ptp("db", "refresh") == (0, f"{named}: refreshed\n", "")
    told = ptp_json("db", "status")
    assert (told["version"], told["runs"], told["decisions"], told["battles"]) == ("1.1", 5, 15, 15)
    assert told["last_import"].endswith("Z")
    assert "5 runs, 15 decisions, 15 battles" in ptp("db", "status")[1]


def test_a_run_that_fails_does_not_keep_the_others_out(
    named: Central, tmp_path: Path, ptp: Call, ptp_json: Json
) -> None:
    folders = [copy_run(version, tmp_path / "var") for version in OLD]
    (folders[1] / "game_data.db").write_bytes(b"broken" * 1000)
    header = json.loads((folders[2] / "metadata.json").read_text()) | {"started_at": "yesterdayish"}
    (folders[2] / "metadata.json").write_text(json.dumps(header))
    code, out, err = ptp("db", "ingest")
    assert code == 1
    assert "loaded 3 of 5 runs" in out
    assert f"{folders[1]} was not loaded: " in err
    assert "is damaged" in err
    assert "yesterdayish" in err
    told = ptp_json("db", "ingest", "--incremental")
    assert (told["failed"], told["skipped"], len(told["errors"])) == (2, 3, 2)


def test_the_status_of_an_empty_database_has_no_counts(named: Central, ptp: Call, ptp_json: Json) -> None:
    assert ptp_json("db", "status")["runs"] is None
    assert "central schema none yet" in ptp("db", "status")[1]


def test_without_a_url_the_database_is_in_the_data_directory(server: object, open_folder: Path) -> None:
    folder = open_folder / "by-verb"
    copy_run("1.2", folder)
    assert main(["db", "ingest", "--data-dir", str(folder), "-q"]) == 0
    assert (folder / "central" / "pgdata").exists()
    assert not (folder / "central" / "pgdata" / "postmaster.pid").exists()


def test_the_verb_explains_itself(capsys: pytest.CaptureFixture[str], ptp: Call) -> None:
    assert main(["db"]) == 0
    assert "ptp db ingest" in capsys.readouterr().out
    assert "no db verb named 'ingset'; did you mean 'ingest'?" in ptp("db", "ingset")[2]
