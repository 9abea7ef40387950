"""Text fits the room there is, and what is meant to be copied stays whole."""

from __future__ import annotations

import pytest

from ptp.cli.layout import fit_table, fit_text, row_lines, total, widths, wrap

MENU = """Take and list snapshots of a run that is played now or has ended.

  ptp snapshot create [--run RUN] [--name NAME]   take one now, or at the end of a finished run
  run       play an agent in a world and record everything

examples:
  ptp snapshot create --name before-the-first-gym --message "worth another try"
"""


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_a_help_text_fits_but_for_commands_that_are_copied(width: int) -> None:
    lines = fit_text(MENU, width).splitlines()
    assert [line for line in lines if len(line) > width and not line.startswith("  ptp ")] == []
    assert '  ptp snapshot create --name before-the-first-gym --message "worth another try"' in lines
    assert " ".join(fit_text(MENU, width).split()) == " ".join(MENU.split())


def test_a_purpose_stays_beside_a_short_command_and_goes_below_a_long_one() -> None:
    lines = fit_text(MENU, 50).splitlines()
    assert "  run       play an agent in a world and record" in lines
    assert "            everything" in lines
    assert lines[lines.index("  ptp snapshot create [--run RUN] [--name NAME]") + 1].startswith("      take one now")


def test_a_wide_text_stays_as_it_is() -> None:
    assert fit_text(MENU, 120) == MENU


def test_long_words_stay_whole() -> None:
    assert wrap("see /a/very/long/path/that-has/hyphens-in-it now", 20) == [
        "see",
        "/a/very/long/path/that-has/hyphens-in-it",
        "now",
    ]


def test_a_table_leaves_out_what_can_be_spared_and_wraps_sentences() -> None:
    table = [["run", "why", "ticks", "reward"], ["01a1e290", "it began longer ago than was asked for", "12", "0.5"]]
    assert fit_table(table, 200, ("ticks", "reward"), ("reward",)) == table
    fitted = fit_table(table, 40, ("ticks", "reward"), ("reward",))
    assert fitted[0] == ["run", "why", "ticks"]
    assert total(widths(fitted)) <= 40
    assert fitted[1][1].replace("\n", " ") == table[1][1]


def test_a_row_has_as_many_lines_as_its_highest_cell() -> None:
    assert row_lines(["a", "one\ntwo", "7"], [3, 3, 2], [False, False, True]) == ["a    one   7", "     two"]
