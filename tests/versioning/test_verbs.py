"""The verbs that keep versions together, as a person or a program meets them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptp import __version__
from ptp.recording import RunDirectory
from ptp.versioning import SCHEMA_VERSION
from tests.versioning.databases import FIXTURES, OLD, VERSIONS, copy_run, opened, version_of

Call = Callable[..., tuple[int, str, str]]
Json = Callable[..., Any]


def test_one_run_is_migrated_and_its_header_follows(tmp_path: Path, ptp: Call) -> None:
    folder = copy_run("1.0", tmp_path / "var")
    code, out, _ = ptp("schema", "migrate", "latest", "--dry-run")
    assert code == 0
    assert "would migrate 1.0 -> 1.1 -> 1.2 -> 2.0 -> 2.1 -> 2.2" in out
    assert version_of(folder / "game_data.db") == "1.0"
    code, out, _ = ptp("schema", "migrate", "latest", "--from", "1.0", "--to", "2.0")
    assert code == 0
    assert "migrated 1.0 -> 1.1 -> 1.2 -> 2.0" in out
    assert json.loads((folder / "metadata.json").read_text())["schema_version"] == "2.0"
    assert "already has schema 2.0" in ptp("schema", "migrate", folder.name, "--to", "2.0")[1]
    assert ptp("schema", "verify")[0] == 0
    assert "good, schema 2.0" in ptp("schema", "verify", "latest")[1]


def test_a_downgrade_says_what_it_drops(tmp_path: Path, ptp: Call, ptp_json: Json) -> None:
    copy_run("2.0", tmp_path / "var")
    _, out, _ = ptp("schema", "migrate", "latest", "--to", "1.0", "--dry-run")
    assert "would drop column action_history.context_version (3 values)" in out
    told = ptp_json("schema", "migrate", "latest", "--to", "1.0", "--keep-backup")
    (done,) = told["migrations"]
    assert {"table": "performance_profiles", "column": None, "rows": 3} in done["dropped"]
    assert Path(done["backup"]).exists()
    code, out, _ = ptp("schema", "history", "latest")
    assert code == 0
    assert "column screenshots.metadata (3 values)" in out
    history = ptp_json("schema", "history", "latest")
    assert [each["to_version"] for each in history["migrations"]] == ["1.2", "1.1", "1.0"]


def test_without_a_run_every_run_is_meant_and_a_bad_one_does_not_stop_the_others(tmp_path: Path, ptp: Call) -> None:
    folders = [copy_run(version, tmp_path / "var") for version in OLD]
    (folders[1] / "game_data.db").write_bytes(b"broken" * 1000)
    code, out, err = ptp("schema", "migrate", "--from", "1.0")
    assert code == 1
    assert err.count("\n") == 1
    assert "is damaged" in err
    assert version_of(folders[0] / "game_data.db") == SCHEMA_VERSION
    assert version_of(folders[2] / "game_data.db") == "1.2"
    code, out, _ = ptp("schema", "migrate", *(str(folders[n]) for n in (0, 2, 3, 4)))
    assert code == 0
    assert out.count("migrated ") == 3
    assert ptp("schema", "verify")[0] == 1


def test_runs_are_found_by_pattern_directory_and_file(tmp_path: Path, ptp: Call) -> None:
    folders = [copy_run(version, tmp_path / "var") for version in ("1.0", "1.1", "2.0")]
    assert ptp("schema", "migrate", "018d0c2e-*1?", "--to", "1.2")[0] == 0
    assert [version_of(folder / "game_data.db") for folder in folders] == ["1.2", "1.2", "2.0"]
    assert ptp("schema", "migrate", f"{tmp_path}/var/records/*", "--to", "2.0")[0] == 0
    assert {version_of(folder / "game_data.db") for folder in folders} == {"2.0"}
    assert ptp("schema", "migrate", str(folders[0] / "game_data.db"))[0] == 0
    assert version_of(folders[0] / "game_data.db") == SCHEMA_VERSION
    assert json.loads((folders[0] / "metadata.json").read_text())["schema_version"] == SCHEMA_VERSION


def test_with_no_run_of_a_schema_there_is_nothing_to_do(tmp_path: Path, ptp: Call) -> None:
    copy_run("1.1", tmp_path / "var")
    code, out, _ = ptp("schema", "migrate", "--from", "1.0", "--to", "2.0")
    assert code == 0
    assert "no databases of schema 1.0" in out


def test_a_live_run_is_refused(tmp_path: Path, ptp: Call) -> None:
    directory = RunDirectory(copy_run("1.0", tmp_path / "var"))
    directory.acquire()
    code, _, err = ptp("schema", "migrate", "latest")
    assert code == 1
    assert "belongs to another process; wait for it or stop it first" in err
    directory.release()
    assert version_of(directory.database) == "1.0"


def test_a_header_that_was_left_behind_is_told_and_mended(tmp_path: Path, ptp: Call) -> None:
    folder = copy_run("1.0", tmp_path / "var")
    header = json.loads((folder / "metadata.json").read_text())
    (folder / "metadata.json").write_text(json.dumps(header | {"schema_version": "0.9"}))
    code, out, _ = ptp("schema", "verify", "latest")
    assert code == 1
    assert "says schema 0.9; let it follow with `ptp schema migrate" in out
    assert ptp("schema", "migrate", "latest", "--to", "1.0")[0] == 0
    assert ptp("schema", "verify", "latest")[0] == 0


def test_a_run_with_a_broken_header_is_left_alone(tmp_path: Path, ptp: Call) -> None:
    folder = copy_run("1.0", tmp_path / "var")
    (folder / "metadata.json").write_text("{")
    code, _, err = ptp("schema", "migrate", str(folder))
    assert code == 1
    assert "metadata.json can't be read" in err
    assert version_of(folder / "game_data.db") == "1.0"


def test_a_verification_finds_what_is_wrong(tmp_path: Path, ptp_json: Json) -> None:
    folder = copy_run("2.0", tmp_path / "var")
    ptp_json("schema", "migrate", "latest")
    with opened(folder / "game_data.db") as connection:
        connection.execute("UPDATE _migrations SET checksum = 'other'; UPDATE _migrations SET to_version = '2.0'")
        connection.execute("DROP TABLE objectives")
    (told,) = ptp_json("schema", "verify")
    assert told["good"] is False
    assert len(told["problems"]) == 4


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["schema", "migrat"], 2, "did you mean 'migrate'?"),
        (["schema", "migrate", "latest", "--to", "9.0"], 2, "no schema version named '9.0'"),
        (["schema", "migrate", "latest", "--from", "2.2"], 2, "has schema 1.0, not 2.2; leave out --from"),
        (["schema", "migrate", "nothing*"], 2, "nothing matches"),
        (["schema", "migrate", "ffff"], 2, "no run named 'ffff'"),
        (["schema", "verify", "--bogus"], 2, "no option named '--bogus'"),
        (["config", "migrate", "nowhere.yaml"], 2, "No such file"),
        (["config", "migrate"], 2, "required: FILE"),
        (["drift", "nothing"], 2, "no drift verb named 'nothing'"),
        (["version", "latest"], 2, "only compared with --check"),
    ],
)
def test_wrong_usage_is_one_line_with_the_remedy(
    tmp_path: Path, ptp: Call, words: list[str], code: int, message: str
) -> None:
    copy_run("1.0", tmp_path / "var")
    got, out, err = ptp(*words)
    assert (got, out) == (code, "")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("words", [["schema"], ["drift"], ["schema", "--help"], ["drift", "--help"]])
def test_a_verb_alone_tells_what_it_can_do(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    from ptp.cli import main

    assert main(words) == 0
    assert f"ptp {words[0]} " in capsys.readouterr().out


def test_an_empty_data_directory_is_no_failure(ptp: Call, ptp_json: Json) -> None:
    for verb in ("migrate", "verify"):
        code, out, _ = ptp("schema", verb)
        assert code == 0
        assert "no databases" in out
    assert [each["version"] for each in ptp_json("schema", "history")] == VERSIONS
    assert "the first twelve tables" in ptp("schema", "history")[1]
    assert ptp_json("version", "--check")["schema"]["found"] == "no runs"


def test_a_config_file_is_migrated_with_a_diff(tmp_path: Path, ptp: Call, ptp_json: Json) -> None:
    path = tmp_path / "c.yaml"
    path.write_bytes((FIXTURES / "configs" / "1.0.yaml").read_bytes())
    told = ptp_json("config", "migrate", str(path), "--dry-run")
    assert (told["from_version"], told["to_version"], told["written"]) == ("1.0", "3.0", False)
    code, out, _ = ptp("config", "migrate", str(path))
    assert code == 0
    assert "+  normal: 15" in out
    assert out.endswith(f"{path}: migrated from version 1.0 to 3.0\n")
    assert ptp("config", "migrate", str(path))[1] == f"{path} already has version 3.0\n"
    code, _, err = ptp("config", "migrate", str(path), "--to", "1.0")
    assert code == 0
    assert "dropped tick_rate_battle: version 1.0 has no such setting" in err


def test_a_run_takes_an_old_config_and_says_so_once(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("world: FrozenLake-v1\ntick_rate_base: 0\nmax_ticks: 5\n")
    words = ["run", "--config-file", str(path), "--data-dir", str(tmp_path / "var"), "--json"]
    done = subprocess.run([sys.executable, "-m", "ptp", *words], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["ticks"] == 5
    assert done.stderr.count("update it with") == 1


def test_every_version_is_told(ptp: Call, ptp_json: Json) -> None:
    told = ptp_json("version")
    assert {part: facts["here"] for part, facts in told.items() if part != "ROM profile"} == {
        "code": __version__, "schema": SCHEMA_VERSION, "config": "3.0", "central": "1.1", "snapshot format": "1",
        "PyBoy state": told["PyBoy state"]["here"],
    }  # fmt: skip
    assert told["PyBoy state"]["here"].isdigit()
    code, out, _ = ptp("version")
    assert code == 0
    assert "tallgrass" in out


def test_what_does_not_fit_is_told_with_what_to_run(tmp_path: Path, ptp: Call, ptp_json: Json) -> None:
    folder = copy_run("1.0", tmp_path / "var")
    told = ptp_json("version", "--check")
    assert (told["schema"]["found"], told["schema"]["run"]) == ("1 with 1.0", "ptp schema migrate")
    (folder / "config.yaml").write_text("tick_rate_base: 3\n")
    (folder / "snapshots").mkdir()
    (folder / "snapshots" / "a.ptpsnap").write_bytes(b"PTPSNAP\x09rest")
    header = json.loads((folder / "metadata.json").read_text())
    header["ptp_version"], header["facts"]["origin"] = "99.0", {"pyboy": "99.1", "profile": "crystal"}
    (folder / "metadata.json").write_text(json.dumps(header))
    told = ptp_json("version", "--check", "latest")
    assert {part: facts["run"] for part, facts in told.items()} == {
        "code": "pip install --upgrade ptp", "schema": "ptp schema migrate latest",
        "config": f"ptp config migrate {folder}/config.yaml", "central": None,
        "snapshot format": "pip install --upgrade ptp", "PyBoy state": "pip install pyboy==99.1",
        "ROM profile": "pip install --upgrade ptp",
    }  # fmt: skip
    code, out, err = ptp("version", "--check", "latest")
    assert code == 1
    assert "something is incompatible" in err
    assert "1 with 9" in out


@pytest.mark.parametrize(("state", "remedy"), [("0", None), ("255", "pip install pyboy==99.1"), ("odd", None)])
def test_a_run_whose_states_are_too_new_for_this_pyboy_is_told_which_one_reads_them(
    tmp_path: Path, ptp_json: Json, state: str, remedy: str | None
) -> None:
    folder = copy_run("2.0", tmp_path / "var")
    header = json.loads((folder / "metadata.json").read_text())
    header["facts"]["origin"] = {"pyboy": "99.1", "pyboy_state": state, "profile": "raw"}
    (folder / "metadata.json").write_text(json.dumps(header))
    told = ptp_json("version", "--check", "latest")["PyBoy state"]
    assert (told["found"], told["run"]) == (f"{state}, PyBoy 99.1", remedy)


def test_a_run_of_today_fits(ptp: Call, recorded: Callable[..., Path]) -> None:
    recorded(ticks=5)
    assert ptp("version", "--check")[0] == 0
    code, out, err = ptp("version", "--check", "latest")
    assert (code, err) == (0, "")
    assert "not a Game Boy" in out
