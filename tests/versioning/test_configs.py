"""Config files of every version."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptp._util import yaml
from ptp.config.files import dump, read_values
from ptp.config.tree import BY_PATH, VERSION, build, values_of
from ptp.config.versions import migrate_file
from ptp.errors import ConfigError, UnknownName
from ptp.versioning.configs import (
    CONFIG_VERSION,
    VERSIONS,
    Rule,
    accepted_names,
    apply_rules,
    check_version,
    inverse,
    known_names,
    migrate_entries,
    newest_name,
    parse_rules,
)
from ptp.versioning.document import parse, render
from ptp.versioning.schema import find_path
from tests.config.values import TOGETHER, value_of
from tests.versioning.databases import FIXTURES

CONFIGS = sorted((FIXTURES / "configs").iterdir())


def test_the_newest_version_is_the_one_that_settings_are_declared_in() -> None:
    assert CONFIG_VERSION == VERSION == list(VERSIONS)[-1]


def test_every_pair_of_versions_has_a_path() -> None:
    for start in VERSIONS:
        for goal in VERSIONS:
            assert [start, *(step.goal for step in find_path(VERSIONS, start, goal))][-1] == goal


def test_every_old_name_leads_to_a_setting_of_today() -> None:
    for version in ("1.0", "2.0"):
        for name in known_names(version):
            assert newest_name(name, version) in BY_PATH


def test_versions_know_their_own_names() -> None:
    assert "tick_rate_base" in known_names("1.0")
    assert known_names("2.0") - known_names("1.0") == {"tick_rate_overworld", "tick_rate_battle"}
    assert known_names("1.0") - known_names("2.0") == {"tick_rate_base"}
    assert {"screenshot_interval", "max_ticks", "rollback_on_error"} <= known_names("1.0")
    with pytest.raises(UnknownName, match=r"no config version named '4\.0'"):
        check_version("4.0")


# --- rules


def test_rules_are_read_from_text() -> None:
    text = 'SET a = b -- copied\nSET c = 2\nSET d = "x"\n\nMOVE a TO s.a\nRENAME b TO c\nREMOVE d\n-- end'
    assert parse_rules(text) == (
        Rule("SET", "a", "b"), Rule("SET", "c", None, 2), Rule("SET", "d", None, "x"), Rule("MOVE", "a", "s.a"),
        Rule("MOVE", "b", "c"), Rule("REMOVE", "d"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("COPY a TO b", "rules:1: 'COPY a TO b' is not a rule; write SET name = value, MOVE name TO name"),
        ("REMOVE x\nMOVE a b", "rules:2: 'MOVE a b' is not a rule"),
        ("SET a 3", "'SET a 3' is not a rule"),
        ("SET a = 'x'", "neither a name nor a value in JSON"),
        ("REMOVE a.b.c", "'REMOVE a.b.c' is not a rule"),
    ],
)
def test_a_wrong_rule_is_named_with_its_line(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse_rules(text)
    assert message in str(error.value)


def test_rules_change_entries_in_place() -> None:
    rules = parse_rules("SET new = old\nREMOVE old\nMOVE a TO s.a\nSET b = 5\nSET c = 6\nSET e = nothing")
    assert apply_rules(rules, {"old": 1, "a": 2, "c": 3}, lambda value: value) == {"s.a": 2, "c": 3, "new": 1, "b": 5}
    assert apply_rules(inverse(rules), {"s.a": 2, "new": 1}, lambda value: value) == {"a": 2, "old": 1}


def test_two_names_of_one_setting_are_refused() -> None:
    with pytest.raises(ConfigError, match="a and b are the same setting; keep one"):
        apply_rules(parse_rules("RENAME a TO b"), {"a": 1, "b": 2}, lambda value: value)


# --- loading


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_a_config_of_every_version_loads_and_an_old_one_says_so_once(path: Path) -> None:
    notes: list[str] = []
    values = {item.path: value for item, value in read_values(path, notes.append).items()}
    build({BY_PATH[name]: value for name, value in values.items()})
    assert values["tick_rate.normal"] in (15, 20)
    if path.stem == "3.0":
        assert notes == []
    else:
        (note,) = notes
        assert f"update it with `ptp config migrate {path}`" in note
        assert values["screenshot.quality"] == 85
        assert values["tick_rate.battle"] == (1 if path.stem == "2.0" else 2)


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "c.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("tick_rate_bas: 3\n", ":1:1", "did you mean 'tick_rate_base'?"),
        ('version: "2.0"\nmax_tick: 3\n', ":2:1", "no setting in version 2.0 named 'max_tick'; did you mean"),
        ("tick_rate_base: fast\n", ":1:1", "tick_rate.normal: 'fast' is not allowed"),
        ("tick_rate_base: 3\ntick_rate_overworld: 4\n", "", "are the same setting; keep one"),
        ('version: "2.0"\ntick_rate:\n  normal: 3\n', ":2:1", "has no sections such as 'tick_rate'; write version"),
        ("version: [1]\n", "", "this ptp reads 1.0, 2.0, 3.0"),
    ],
)  # fmt: skip
def test_a_bad_old_file_is_named(tmp_path: Path, text: str, place: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as error:
        read_values(path, lambda _: None)
    assert str(error.value).startswith(f"{path}{place}")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_version_needs_no_quotes(tmp_path: Path) -> None:
    assert read_values(written(tmp_path, "version: 3.0\ntick_rate: {normal: 3}\n"))[BY_PATH["tick_rate.normal"]] == 3
    notes: list[str] = []
    read_values(written(tmp_path, "version: 1.0\ntick_rate_base: 3\n"), notes.append)
    assert len(notes) == 1


def test_a_name_that_came_later_is_taken_too(tmp_path: Path) -> None:
    values = read_values(written(tmp_path, "tick_rate_overworld: 9\ntick_rate_battle: 4\n"), lambda _: None)
    assert values[BY_PATH["tick_rate.normal"]] == 9
    assert values[BY_PATH["tick_rate.battle"]] == 4


# --- migrating files


def test_the_example_of_a_first_config_becomes_the_newest(tmp_path: Path) -> None:
    path = written(
        tmp_path, '# mine\nversion: "1.0"\ntick_rate_base: 15   # quick\n\n# pictures\nscreenshot_interval: 50\n'
    )
    done = migrate_file(path, "3.0", write=True)
    assert path.read_text() == (
        '# mine\nversion: "3.0"\ntick_rate:\n  normal: 15         # quick\n  battle: 2\n\nscreenshot:\n  # pictures\n'
        "  interval: 50\n  on_change: false\n  quality: 85\n"
    )
    assert (done.from_version, done.to_version, done.written, done.dropped) == ("1.0", "3.0", True, [])
    assert "-tick_rate_base: 15   # quick\n" in done.diff
    assert "+  normal: 15         # quick\n" in done.diff


def test_what_an_older_version_cant_hold_is_dropped_by_name(tmp_path: Path) -> None:
    path = written(tmp_path, 'version: "3.0"\ntick_rate:\n  normal: 3\n  battle: 4\nworld:\n  profile: raw\n')
    done = migrate_file(path, "1.0", write=True)
    assert path.read_text() == 'version: "1.0"\ntick_rate_base: 3\n'
    assert done.dropped == [
        "world.profile: version 2.0 has no such setting",
        "tick_rate_battle: version 1.0 has no such setting",
    ]


def test_a_dry_run_and_a_wrong_file_change_nothing(tmp_path: Path) -> None:
    path = written(tmp_path, "tick_rate_base: 15\n")
    assert migrate_file(path, "3.0", write=False).diff
    assert path.read_text() == "tick_rate_base: 15\n"
    path.write_text("tick_rate_base: fast\n")
    with pytest.raises(ConfigError):
        migrate_file(path, "3.0", write=True)
    assert path.read_text() == "tick_rate_base: fast\n"
    assert [each.name for each in tmp_path.iterdir()] == ["c.yaml"]


def test_a_link_and_the_rights_of_a_file_stay(tmp_path: Path) -> None:
    path = written(tmp_path, "tick_rate_base: 15\n")
    path.chmod(0o600)
    link = tmp_path / "link.yaml"
    link.symlink_to(path)
    migrate_file(link, "3.0", write=True)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o600
    assert "normal: 15" in path.read_text()


def test_a_file_of_the_wanted_version_stays_byte_for_byte(tmp_path: Path) -> None:
    text = 'version:   "3.0"\ntick_rate: {normal:   3}'
    path = written(tmp_path, text)
    done = migrate_file(path, "3.0", write=True)
    assert (done.diff, done.written, path.read_text()) == ("", False, text)


ODD = {
    "flow": '{"version": "1.0", "tick_rate_base": 3, "snapshot_on_event": []}\n',
    "marker": "---\n# head\ntick_rate_base: 3\n",
    "list": "snapshot_on_event:\n  - catch   # yes\n  # between\n  - badge\nmax_ticks: 3\n",
    "flat list": "snapshot_on_event:\n- catch\n- badge\nmax_ticks: 3\n",
    "block text": "experiment_name: |-\n  one\n\n  # no remark\n# a remark\nmax_ticks: 3\n",
    "anchors": "tick_rate_base: &a 5\nmax_ticks: 7\ntick_rate_battle: *a\nmax_level: *a\n",
    "alias first": "max_ticks: &a 5\ntick_rate_base: 1\nmax_time: *a\ntick_rate_battle: *a\n",
    "quoted names": "\"tick_rate_base\": 3\n'max_ticks': 4\n",
    "explicit names": "? tick_rate_base\n: 3\n",
    "crlf": "tick_rate_base: 3\r\n# x\r\nmax_ticks: 4\r\n",
    "version last": 'max_ticks: 4\ntick_rate_base: 3\nversion: "1.0"\n',
    "end marker": "tick_rate_base: 3\nmax_ticks: 4\n...\n",
    "list with comments": "snapshot_on_event:   # why\n  # first\n  - catch # a\n  - badge # b\n# c\nmax_ticks: 3\n",
    "flow list": "snapshot_on_event: [catch,\n  badge]  # why\n# next\nmax_ticks: 3\n",
    "merged": "<<: {max_ticks: 3}\ntick_rate_base: 3\n",
    "nothing": "max_time: null\nmax_cost: ~\nmax_level:\n# more\nmax_ticks: 3\n",
    "words": "tick_rate_adaptive: yes\nscreenshot_async: on\n",
    "large number": "max_cost: 1.0e+16\n",
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
def test_odd_files_mean_the_same_after_going_up_and_down(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, text)
    before = read_values(path, lambda _: None)
    migrate_file(path, "3.0", write=True)
    assert read_values(path, pytest.fail) == before
    migrate_file(path, "2.0", write=True)
    assert read_values(path, lambda _: None) == before


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_a_file_is_taken_apart_and_put_together_again(path: Path) -> None:
    assert render(parse(path.read_text())) == path.read_text()


@pytest.mark.parametrize("path", [path for path in CONFIGS if "#" in path.read_text()], ids=lambda path: path.stem)
def test_every_comment_survives_the_way_up_and_down(tmp_path: Path, path: Path) -> None:
    copy = written(tmp_path, path.read_text())
    comments = sorted(line[line.index("#") :] for line in path.read_text().splitlines() if "#" in line)
    for goal in ("3.0", "2.0", "3.0"):
        migrate_file(copy, goal, write=True)
        assert sorted(line[line.index("#") :] for line in copy.read_text().splitlines() if "#" in line) == comments


def flat_values(version: str) -> st.SearchStrategy[dict[str, Any]]:
    items = {name: BY_PATH[newest_name(name, version)] for name in sorted(known_names(version))}
    return st.fixed_dictionaries(
        {}, optional={name: value_of(item) for name, item in items.items() if item.flag not in TOGETHER}
    )


def plain(values: dict[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["1.0", "2.0"]).flatmap(lambda version: st.tuples(st.just(version), flat_values(version))))
def test_any_old_config_can_go_up_be_loaded_dumped_and_loaded_again(drawn: tuple[str, dict[str, Any]]) -> None:
    version, values = drawn
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "c.yaml")
        path.write_text(yaml.dump({"version": version, **plain(values)}), encoding="utf-8")
        in_memory = build(read_values(path, lambda _: None))
        migrate_file(path, "3.0", write=True)
        loaded = build(read_values(path, pytest.fail))
        assert loaded == in_memory
        path.write_text(dump(loaded), encoding="utf-8")
        assert build(read_values(path, pytest.fail)) == loaded
        assert migrate_file(path, version, write=True).written
        dropped = {name for name in BY_PATH if name not in _held(version)}
        back = {item.path: value for item, value in read_values(path, lambda _: None).items()}
        for item, value in values_of(loaded).items():
            if item.path not in dropped:
                assert back[item.path] == value


def _held(version: str) -> set[str]:
    return {newest_name(name, version) for name in known_names(version)}


def test_a_step_down_names_every_setting_that_came_later() -> None:
    later = BY_PATH.keys() - _held("2.0")
    _, dropped = migrate_entries(dict.fromkeys(BY_PATH, 1), "3.0", "2.0", lambda value: value)
    assert {drop.partition(":")[0] for drop in dropped} == later
    assert accepted_names("1.0") == known_names("1.0") | known_names("2.0")
