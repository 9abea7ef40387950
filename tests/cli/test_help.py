"""Help is short, shows how a verb is used, and says something about everything that can be given."""

from __future__ import annotations

import argparse
import re
import sys

import pytest

from ptp.cli.main import VERBS, main
from ptp.cli.parser import Parser

INNER = [
    *(f"snapshot {verb}" for verb in ("create", "list", "show", "restore", "delete", "verify", "export", "import")),
    *(f"screenshot {verb}" for verb in ("latest", "show", "list", "export")),
    *(f"config {verb}" for verb in ("show", "validate", "migrate", "schema")),
    *(f"schema {verb}" for verb in ("migrate", "verify", "history")),
    *(f"db {verb}" for verb in ("ingest", "refresh", "status")),
    *("drift config", "drift schema", "cleanup screenshots"),
]
EVERY = [*VERBS, *INNER]


def help_of(verb: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main([*verb.split(), "--help"]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_shows_how_it_is_used_before_its_flags(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = help_of(verb, capsys)
    shown = [line for line in told.splitlines() if line.startswith(("  ptp ", "  source <(ptp "))]
    assert shown
    assert told.index(shown[0]) < told.find("flags:") or "flags:" not in told


@pytest.mark.parametrize("verb", EVERY)
def test_every_flag_and_word_has_a_sentence(
    verb: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[argparse.Action] = []

    def remember(parser: Parser) -> str:
        seen.extend(parser._actions)
        return ""

    monkeypatch.setattr(Parser, "format_help", remember)
    help_of(verb, capsys)
    assert seen or verb in {"snapshot", "screenshot", "config", "schema", "db", "drift", "cleanup"}
    for action in seen:
        assert action.help, f"{action.option_strings or action.metavar} says nothing"
        assert re.search(r"[.)]$", action.help), f"{action.help!r} is no sentence"


@pytest.mark.parametrize("columns", [60, 80, 160])
@pytest.mark.parametrize("verb", ["", *EVERY])
def test_help_fits_the_terminal(
    verb: str, columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    too_long = [line for line in help_of(verb, capsys).splitlines() if len(line) > columns]
    assert [line for line in too_long if not re.match(r"  +(ptp|source|--|-\w)", line)] == []


def test_help_of_a_verb_within_a_verb_is_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "snapshot", "create"]) == 0
    assert capsys.readouterr().out.startswith("usage: ptp snapshot create ")


@pytest.mark.parametrize("switch", ["-q", "--quiet", "-v", "--verbose"])
def test_a_switch_leaves_the_next_word_alone(switch: str) -> None:
    from ptp.cli.common import parse_common

    parser = Parser("ptp show", "Tell.")
    parser.add_argument("run", help="A run.")
    options, system = parse_common(parser, [switch, "latest"])
    assert options.run == "latest"
    assert (system.quiet, system.verbose) == (switch in {"-q", "--quiet"}, switch in {"-v", "--verbose"})


def test_a_switch_still_takes_its_own_value() -> None:
    from ptp.cli.common import parse_common

    assert not parse_common(Parser("ptp runs", "List."), ["-q", "false"])[1].quiet
    assert not parse_common(Parser("ptp runs", "List."), ["--quiet=false"])[1].quiet


def test_commands_in_a_message_can_be_run_as_they_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    from ptp.cli.output import runnable

    monkeypatch.setattr(sys, "argv", ["elsewhere/bin/ptp"])
    monkeypatch.setenv("PATH", "/nowhere")
    told = "no run named 'x'; see `ptp runs`, or `ptp show --help`"
    assert runnable(told, ["show", "x"]) == told.replace("`ptp", "`elsewhere/bin/ptp")
    assert "`elsewhere/bin/ptp runs --data-dir 'my runs'`" in runnable(told, ["show", "--data-dir", "my runs"])
    assert "show --help`" in runnable(told, ["show", "--data-dir=x"])
