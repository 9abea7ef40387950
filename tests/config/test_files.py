"""Settings in YAML files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptp.config import SETTINGS, RunConfig, load_config
from ptp.config.files import dump, read_values
from ptp.config.setting import Setting
from ptp.config.tree import BY_FLAG, Values, build
from ptp.errors import ConfigError


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    return path


def test_a_file_gives_the_settings_it_names(tmp_path: Path) -> None:
    path = written(tmp_path, 'version: "3.0"\ntick_rate:\n  normal: 15\nsnapshot:\n  on_event: []\n')
    assert read_values(path) == {BY_FLAG["--tick-rate-base"]: 15, BY_FLAG["--snapshot-on-event"]: ()}


def test_the_defaults_survive_being_written_and_read(tmp_path: Path) -> None:
    path = written(tmp_path, dump(RunConfig()))
    assert build(read_values(path)) == RunConfig()


def value_of(item: Setting) -> st.SearchStrategy[object]:
    if item.needs:
        return st.just(item.default)
    if item.type is bool:
        strategy: st.SearchStrategy[object] = st.booleans()
    elif item.type is tuple:
        strategy = st.lists(st.sampled_from(item.choices), unique=True).map(tuple)
    elif item.choices:
        strategy = st.sampled_from(item.choices)
    elif item.type is int:
        strategy = st.integers(int(item.least or 0), int(item.most or 10**9))
    elif item.type is float:
        strategy = st.floats(item.least or 0, 1e9)
    else:
        strategy = st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=20)
    return st.one_of(st.none(), strategy) if item.optional else strategy


SKIPPED = {"--verbose", "--quiet", "--tick-rate-budget", "--tick-rate-budget-limit"}  # these depend on each other


@given(st.fixed_dictionaries({item: value_of(item) for item in SETTINGS if item.flag not in SKIPPED}))
def test_any_valid_config_survives_being_written_and_read(values: Values) -> None:
    import tempfile

    config = build(values)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "config.yaml")
        path.write_text(dump(config), encoding="utf-8")
        assert build(read_values(path)) == config


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("version: [\n", ":2:1", "not valid YAML"),
        ('version: "3.0"\ntick_rate:\n  normal: fast\n', ":3:11", "'fast' is not allowed"),
        ('version: "3.0"\ntick_rate:\n  nrmal: 3\n', ":3", "did you mean 'normal'"),
        ('version: "3.0"\ntick_rat:\n  normal: 3\n', ":3", "did you mean 'tick_rate'"),
        ('version: "3.0"\ntick_rate:\n  normal: 3\n  normal: 4\n', ":4:3", "given twice"),
        ('version: "3.0"\ntick_rate: 3\n', ":2:12", "expected names with values"),
        ("- a\n- b\n", ":1:1", "expected names with values"),
        ("tick_rate:\n  normal: 3\n", "", "no version"),
        ('version: "9.0"\n', "", "version '9.0'"),
        ("", "", "empty"),
        ('version: "3.0"\nlimits:\n  max_ticks: !!python/name:os.system\n', ":3", "could not determine a constructor"),
    ],
)
def test_a_bad_file_is_named_with_line_and_column(tmp_path: Path, text: str, place: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as error:
        read_values(path)
    assert str(error.value).startswith(f"{path}{place}")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_cant_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        read_values(tmp_path / "none.yaml")
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="not UTF-8"):
        read_values(tmp_path / "bytes.yaml")


def test_later_sources_override_earlier_ones(tmp_path: Path) -> None:
    base = written(
        tmp_path, 'version: "3.0"\ntick_rate:\n  normal: 1\n  battle: 1\n  timeout: 1\nlimits:\n  max_ticks: 1\n'
    )
    experiment = tmp_path / "experiment.yaml"
    experiment.write_text('version: "3.0"\ntick_rate:\n  battle: 2\n  timeout: 2\nlimits:\n  max_ticks: 2\n')
    environ = {"PTP_TICK_RATE_TIMEOUT": "3", "PTP_MAX_TICKS": "3", "PTP_MAX_TIME": ""}
    config = load_config({BY_FLAG["--max-ticks"]: 4}, str(base), str(experiment), environ)
    assert (config.tick_rate.normal, config.tick_rate.battle, config.tick_rate.timeout) == (1, 2, 3)
    assert config.limits.max_ticks == 4
    assert config.limits.max_time is None


def test_a_bad_variable_is_named() -> None:
    with pytest.raises(ConfigError, match="PTP_MAX_TICKS: 'many' is not allowed"):
        load_config(environ={"PTP_MAX_TICKS": "many"})
