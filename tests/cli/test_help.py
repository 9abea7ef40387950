"""Help is short, shows how a verb is used, and says something about everything that can be given."""

from __future__ import annotations

import re
import shlex
import sys
from argparse import SUPPRESS
from importlib import import_module

import pytest

from ptp.cli.main import find_verb, main
from ptp.cli.output import runnable
from ptp.cli.parser import Options, Parser, make_parser
from ptp.cli.verb import Verb, walk
from ptp.cli.verbs import VERBS
from ptp.config.flags import add_common_flags
from ptp.config.load import CHANGEABLE
from ptp.config.tree import BY_FLAG
from ptp.runs.exports import FORMATS, WHATS

EVERY = dict(walk(VERBS))
WITH_BODIES = {name: verb for name, verb in EVERY.items() if not verb.verbs}


def help_of(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main([*name.split(), "--help"]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_a_verb_shows_how_it_is_used_before_its_options(verb: Verb, capsys: pytest.CaptureFixture[str]) -> None:
    shown = help_of(verb.name, capsys)
    used = [line for line in shown.splitlines() if line.startswith(("  ptp ", "  source <(ptp "))]
    assert used
    assert shown.index(used[0]) < shown.find("options:") or "options:" not in shown


@pytest.mark.parametrize("name", EVERY)
def test_a_summary_is_one_sentence_that_fits_a_line(name: str) -> None:
    assert re.fullmatch(r"[A-Z][^.]+\.", EVERY[name].summary)
    assert len(EVERY[name].summary) <= 95


@pytest.mark.parametrize("name", WITH_BODIES)
def test_every_option_and_argument_has_a_sentence(name: str) -> None:
    for action in make_parser(name, EVERY[name])._actions:
        assert action.help, f"{action.option_strings or action.metavar} says nothing"
        assert action.help == SUPPRESS or re.search(r"[.)]$", action.help), f"{action.help!r} is no sentence"


@pytest.mark.parametrize("name", WITH_BODIES)
def test_every_verb_has_a_body_that_can_be_loaded(name: str) -> None:
    module, _, function = EVERY[name].body.partition(":")
    assert callable(getattr(import_module(f"ptp.cli.{module}"), function))


@pytest.mark.parametrize("example", [line for verb in EVERY.values() for line in verb.examples])
def test_every_example_can_be_parsed(example: str) -> None:
    _, *words = shlex.split(re.split(r" [|>]|\) ", example.removeprefix("source <("))[0], comments=True)
    name, verb, rest = find_verb(words)
    assert verb is not None
    make_parser(name, verb).parse(rest)


def test_choices_are_those_of_the_rooms_that_take_them() -> None:
    def choices(name: str, option: str) -> object:
        return make_parser(name, EVERY[name])._option_string_actions[option].choices

    assert choices("export", "--format") == FORMATS
    assert choices("export", "--what") == WHATS
    assert choices("screenshot export", "--format") == BY_FLAG["--screenshot-format"].choices
    changeable = {item.flag for item in BY_FLAG.values() if item.section in CHANGEABLE}
    assert changeable <= set(make_parser("set", EVERY["set"])._option_string_actions)


@pytest.mark.parametrize("columns", [60, 80, 160])
@pytest.mark.parametrize("name", ["", *EVERY])
def test_help_fits_the_terminal(
    name: str, columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    too_long = [line for line in help_of(name, capsys).splitlines() if len(line) > columns]
    assert [line for line in too_long if not re.match(r"  +(ptp|source|--|-\w)", line)] == []


def test_help_of_a_verb_within_a_verb_is_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "snapshot", "create"]) == 0
    assert capsys.readouterr().out.startswith("usage: ptp snapshot create ")


def parsed(*words: str) -> Options:
    parser = Parser("ptp show", "Show.")
    parser.add_argument("run", nargs="?", help="A run.")
    add_common_flags(parser)
    return parser.parse(words)


@pytest.mark.parametrize("switch", ["-q", "--quiet", "-v", "--verbose"])
def test_a_switch_leaves_the_next_argument_alone(switch: str) -> None:
    options = parsed(switch, "latest")
    assert options.run == "latest"
    assert options.config.system.quiet == (switch in {"-q", "--quiet"})
    assert options.config.system.verbose == (switch in {"-v", "--verbose"})


def test_a_switch_still_takes_its_own_value() -> None:
    assert not parsed("-q", "false").config.system.quiet
    assert not parsed("--quiet=false").config.system.quiet


RUN_VERBS = ["actions", "status", "watch", "metrics", "export", "logs", "pause", "stop", "snapshot list",
             "snapshot create", "snapshot verify", "screenshot latest", "screenshot list"]  # fmt: skip


@pytest.mark.parametrize("name", RUN_VERBS)
def test_a_run_is_an_argument_or_an_option_or_left_out(name: str) -> None:
    parser = make_parser(name, EVERY[name])
    if name == "export":  # of several runs
        assert parser.parse(["01a1", "01a2"]).runs == ["01a1", "01a2"]
        return
    assert parser.parse(["01a1"]).run == parser.parse(["--run", "01a1"]).run == parser.parse(["--json", "01a1"]).run
    assert parser.parse([]).run in {None, "latest"}


def test_a_run_may_follow_other_arguments_and_options_in_between() -> None:
    options = make_parser("step", EVERY["step"]).parse(["5", "--json", "01a1"])
    assert (options.ticks, options.run, options.json) == (5, "01a1", True)
    options = make_parser("snapshot show", EVERY["snapshot show"]).parse(["mark", "01a1"])
    assert (options.snapshot, options.run) == ("mark", "01a1")


def test_commands_in_a_message_can_be_run_as_they_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["elsewhere/bin/ptp"])
    monkeypatch.setenv("PATH", "/nowhere")
    message = "no run named 'x'; see `ptp runs`, or `ptp show --help`"
    assert runnable(message, ["show", "x"]) == message.replace("`ptp", "`elsewhere/bin/ptp")
    assert "`elsewhere/bin/ptp runs --data-dir 'my runs'`" in runnable(message, ["show", "--data-dir", "my runs"])
    assert "show --help`" in runnable(message, ["show", "--data-dir=x"])
