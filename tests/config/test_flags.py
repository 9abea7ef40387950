"""Flags on the command line."""

from __future__ import annotations

import pytest

from ptp.cli.parser import Parser
from ptp.config import SETTINGS
from ptp.config.flags import add_common_flags, add_config_flags, add_experiment_flags, given_values
from ptp.config.setting import Setting
from ptp.config.tree import BY_FLAG, EXPERIMENT_SETTINGS, SECTIONS
from ptp.errors import UnknownName, UsageError


def parser() -> Parser:
    made = Parser("ptp run", "Play.")
    add_config_flags(made)
    return made


def values(*words: str) -> dict[str, object]:
    return {item.flag: value for item, value in given_values(parser().parse(words)).items()}


def test_only_what_was_given_is_returned() -> None:
    assert values() == {}
    assert values("--max-ticks", "5") == {"--max-ticks": 5}


def test_a_boolean_takes_no_value_or_one() -> None:
    assert values("--tick-rate-adaptive") == {"--tick-rate-adaptive": True}
    assert values("--command-interrupt-battle", "False") == {"--command-interrupt-battle": False}
    assert values("--command-interrupt-battle=no") == {"--command-interrupt-battle": False}


def test_options_are_gathered_from_every_flag() -> None:
    given = values("--agent-option", "a=1", "--agent-option=b=x", "--agent-option", "a=2", "--world-option", "c=[]")
    assert given == {"--agent-option": {"a": 2, "b": "x"}, "--world-option": {"c": []}}


@pytest.mark.parametrize("item", EXPERIMENT_SETTINGS, ids=lambda item: item.flag)
def test_a_flag_of_an_experiment_is_answered_with_its_verb(item: Setting) -> None:
    with pytest.raises(
        UsageError, match=f"{item.flag} is an option of `ptp experiment run`; leave it out of `ptp run`"
    ):
        values(f"{item.flag}=1")
    assert item.flag not in parser().format_help()
    plan = Parser("ptp experiment run", "Play many runs.")
    add_experiment_flags(plan)
    assert given_values(plan.parse([item.flag, str(item.default)])) == {item: item.default}


def test_v_and_q_are_short_for_verbose_and_quiet() -> None:
    assert values("-v") == {"--verbose": True}
    assert values("-q") == {"--quiet": True}


def test_an_unknown_flag_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean '--tick-rate-base'"):
        values("--tick-rate-bsae", "3")


def test_a_flag_like_nothing_known_points_to_the_help() -> None:
    with pytest.raises(UnknownName, match="see `ptp run --help`"):
        values("--zzzzqqqq")


def test_a_beginning_of_a_flag_is_not_enough() -> None:
    with pytest.raises(UnknownName, match="--max-ticks"):
        values("--max-tick", "3")


def test_a_stray_argument_is_refused() -> None:
    with pytest.raises(UsageError, match="unexpected argument 'now'"):
        values("now")


def test_a_flag_without_its_value_is_refused() -> None:
    with pytest.raises(UsageError, match="expected one argument"):
        values("--max-ticks")


def test_help_groups_every_flag_with_a_sentence_and_its_default() -> None:
    text = " ".join(parser().format_help().split())
    for section in SECTIONS:
        assert f"{section.replace('_', ' ')}: " in text
    for item in SETTINGS:
        assert item.flag in text
        assert " ".join(item.help.split()) in text, item.flag
    assert "(default: 10" in text
    assert "%%" not in text


def test_common_flags_are_on_every_verb() -> None:
    made = Parser("ptp runs", "List.")
    add_common_flags(made)
    options = made.parse(["--data-dir", "x", "-v", "--json"])
    assert given_values(options) == {BY_FLAG["--data-dir"]: "x", BY_FLAG["--verbose"]: True}
    assert options.json
