"""Settings in YAML files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ptp.config import SETTINGS, RunConfig, load_config
from ptp.config.files import dump, read_values
from ptp.config.tree import BY_FLAG, ExperimentConfig, Values, build
from ptp.errors import ConfigError
from tests.config.values import TOGETHER, value_of


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


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a busy machine proves nothing
@given(st.fixed_dictionaries({item: value_of(item) for item in SETTINGS if item.flag not in TOGETHER}))
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
        ('version: "3.0"\ntick_rate:\n  normal: fast\n', ":3:3", "'fast' is not allowed"),
        ('version: "3.0"\ntick_rate:\n  nrmal: 3\n', ":3:3", "did you mean 'normal'"),
        ('version: "3.0"\ntick_rat:\n  normal: 3\n', ":2:1", "did you mean 'tick_rate'"),
        ('version: "3.0"\ntick_rate:\n  normal: 3\n  normal: 4\n', ":4:3", "duplicate key"),
        ('version: "3.0"\nagent:\n  options: {a: 1, a: 2}\n', ":3:19", "duplicate key"),
        ('version: "3.0"\nagent:\n  options: [a]\n', ":3:3", "agent.options: ['a'] is not allowed"),
        ('version: "3.0"\nagent:\n  options: {when: 2020-01-01}\n', ":3:3", "is not allowed"),
        ('version: "3.0"\nagent:\n  options: &a {b: *a}\n', ":3:3", "is not allowed"),
        ('version: "3.0"\ntick_rate: 3\n', ":2:1", "expected names with values"),
        ("- a\n- b\n", ":1:1", "expected names with values"),
        ("tick_rate:\n  normal: 3\n", ":1:1", "version 1.0 has no sections"),
        ('version: "9.0"\n', ":1:1", "version '9.0'"),
        ("[" * 2_000, "", "not valid YAML"),
        ("", "", "empty"),
        (
            'version: "3.0"\nlimits:\n  max_ticks: !!python/name:os.system\n',
            ":3:14",
            "could not determine a constructor",
        ),
    ],
)
def test_a_bad_file_is_named_with_line_and_column(tmp_path: Path, text: str, place: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as error:
        read_values(path)
    assert str(error.value).startswith(f"{path}{place}")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_may_say_yes_as_a_flag_does(tmp_path: Path) -> None:
    path = written(
        tmp_path, 'version: "3.0"\ntick_rate:\n  adaptive: yes\nscreenshot:\n  async: &on true\n  compress: *on\n'
    )
    assert list(read_values(path).values()) == [True, True, True]


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


def test_options_of_later_sources_override_single_options_of_earlier_ones(tmp_path: Path) -> None:
    path = written(tmp_path, 'version: "3.0"\nagent: {name: bdi, options: {alpha: 0.1, depth: [1, 2]}}\n')
    environ = {"PTP_AGENT_OPTION": '{"alpha": 0.2, "name": "x"}', "PTP_WORLD_OPTION": '{"map_name": "8x8"}'}
    config = load_config({BY_FLAG["--agent-option"]: {"alpha": 0.3}}, str(path), None, environ)
    assert config.agent.options == {"alpha": 0.3, "depth": [1, 2], "name": "x"}
    assert config.world.options == {"map_name": "8x8"}
    assert build(read_values(written(tmp_path, dump(config)))) == config


def test_options_go_with_the_agent_they_were_for(tmp_path: Path) -> None:
    path = written(tmp_path, 'version: "3.0"\nagent: {name: bdi, options: {alpha: 0.1}}\n')
    flags = {BY_FLAG["--agent"]: "random"}
    assert load_config(flags, str(path), environ={}).agent.options == {}
    assert load_config({BY_FLAG["--agent"]: "bdi"}, str(path), environ={}).agent.options == {"alpha": 0.1}
    assert load_config(flags, environ={"PTP_AGENT_OPTION": '{"a": 1}'}).agent.options == {"a": 1}


def test_a_config_knows_which_settings_were_chosen(tmp_path: Path) -> None:
    path = written(tmp_path, dump(build({BY_FLAG["--max-ticks"]: 5})))
    flags = {BY_FLAG["--frames-per-tick"]: 24}
    config = load_config(flags, str(path), environ={"PTP_RANDOM_SEED": "1"})
    assert config.given == {"world.frames_per_tick", "system.random_seed", "limits.max_ticks"}
    assert config == build({BY_FLAG["--max-ticks"]: 5, BY_FLAG["--random-seed"]: 1})
    assert "given" not in dump(config)


def test_a_run_ignores_the_plan_of_an_experiment_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = 'version: "3.0"\nexperiment: {name: mine, parallel_workers: 8, sequential_retry: 3}\n'
    path = written(tmp_path, text)
    config = load_config({}, None, str(path), {})
    assert config.experiment.name == "mine"
    note = f"ptp: {path}: experiment.parallel_workers is for `ptp experiment run`; a single run ignores it\n"
    assert capsys.readouterr().err == note
    load_config({BY_FLAG["--quiet"]: True}, None, str(path), {})
    assert capsys.readouterr().err == ""
    plan = ExperimentConfig.of(read_values(path))
    assert (plan.name, plan.parallel_workers, plan.sequential_retry) == ("mine", 8, 3)


def test_a_wrong_setting_of_an_experiment_is_refused_in_any_file(tmp_path: Path) -> None:
    path = written(tmp_path, 'version: "3.0"\nexperiment: {parallel_workers: 0}\n')
    with pytest.raises(ConfigError, match="parallel_workers: 0 is not allowed"):
        load_config({}, str(path), environ={})


def test_a_start_without_files_imports_no_yaml() -> None:
    code = "import sys; from ptp.config import load_config; import ptp.config.files; load_config(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not [name for name in done.stdout.split() if "yaml" in name and not name.startswith("ptp.")]
