"""What the documentation promises is true, and what exists is documented."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

import ptp
from ptp.agents.registry import AGENTS
from ptp.cli.parser import make_parser
from ptp.cli.verb import walk
from ptp.cli.verbs import VERBS
from ptp.config import SETTINGS
from ptp.worlds.registry import WORLDS

ROOT = Path(__file__).parent.parent
REFERENCE = (ROOT / "docs" / "reference.md").read_text()
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_the_reference_is_what_the_code_says() -> None:
    generated = runpy.run_path(str(ROOT / "docs" / "generate.py"))["reference"]()
    assert generated == REFERENCE, "run `make docs`"


def test_every_flag_verb_world_and_agent_is_in_the_reference() -> None:
    names = [item.flag for item in SETTINGS] + [f"ptp {name}" for name, _ in walk(VERBS)] + list(WORLDS) + list(AGENTS)
    names += [
        argument.names[-1]
        for _, verb in walk(VERBS)
        for argument in verb.arguments
        if not argument.place and argument.is_shown
    ]
    assert [name for name in names if f"`{name}`" not in REFERENCE] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_in_the_documentation_has_a_verb_and_options_that_exist(page: Path) -> None:
    verbs = {verb.name for verb in VERBS}
    known = {option for named in walk(VERBS) for option in make_parser(*named)._option_string_actions}
    for command in re.findall(r"(?:^|[\s`/])ptp ([a-z]+[^`\n|]*)", page.read_text(), flags=re.M):
        verb = command.split()[0]
        if verb in verbs or "--" in command:
            assert verb in verbs, command
            assert set(re.findall(r"(?<!\S)--[a-z-]+", command)) <= known, command


def test_the_changelog_has_a_place_for_what_comes_next() -> None:
    assert "## [Unreleased]" in (ROOT / "CHANGELOG.md").read_text()


def test_the_lock_files_have_hashes_and_name_no_host() -> None:
    for name in ("requirements.lock", "requirements-dev.lock", "benchmarks/peers.lock"):
        text = (ROOT / name).read_text()
        assert "://" not in text
        pins = [line for line in text.splitlines() if re.match(r"^[a-z0-9]", line)]
        assert pins
        assert all("==" in line and line.endswith("\\") for line in pins)


def test_every_picture_the_readme_shows_is_there() -> None:
    pictures = re.findall(r"!\[[^]]*\]\(([^)]+)\)", (ROOT / "README.md").read_text())
    assert pictures
    for picture in pictures:
        assert (ROOT / picture).stat().st_size > 1000


def test_every_public_name_is_documented_and_can_be_had() -> None:
    page = (ROOT / "docs" / "python.md").read_text()
    for name in ptp.__all__:
        if not name.startswith("_"):
            assert f"`ptp.{name}`" in page, name
            assert getattr(ptp, name).__doc__, name
