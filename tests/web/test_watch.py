"""`ptp watch` in a real terminal: a pseudo-terminal whose other end the test reads."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ptp.cli import main
from ptp.runs import Run
from tests.steering import ask
from tests.web.parts import playing, record, tick_of, wait_for

ENTER, LEAVE, SHOW_CURSOR = "\033[?1049h", "\033[?1049l", "\033[?25h"


class Terminal:
    """A terminal, and the program in it."""

    def __init__(self, process: subprocess.Popen[bytes], line: int) -> None:
        self.process, self.line = process, line
        self._data = b""

    def read(self) -> str:
        """Return everything that was shown so far."""
        try:
            while data := os.read(self.line, 1 << 16):
                self._data += data
        except (BlockingIOError, OSError):
            pass  # nothing more now, or the program has ended
        return self._data.decode("utf-8", "ignore")

    def shows(self, words: str) -> bool:
        return re.search(words, self.read()) is not None

    def press(self, key: str, words: str) -> None:
        """Press a key, and wait until the terminal shows what comes of it."""
        before = len(self.read())
        os.write(self.line, key.encode())
        wait_for(lambda: re.search(words, self.read()[before:]))

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.line, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process.send_signal(signal.SIGWINCH)

    def modes(self) -> int:
        """Return the local modes of the terminal, such as whether it waits for whole lines."""
        found: int = termios.tcgetattr(self.line)[3]
        return found

    def end(self) -> str:
        """Wait until the program ends, and return what was shown last."""
        wait_for(lambda: (self.read(), self.process.poll() is not None)[1])
        return self.read()


@contextmanager
def watching(data_dir: Path, columns: int = 100, rows: int = 30, **environment: str) -> Iterator[Terminal]:
    """Watch the run of a data directory in a terminal."""
    line, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    os.set_blocking(line, False)
    command = [sys.executable, "-m", "ptp", "watch", "--data-dir", str(data_dir)]
    plain = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "COLUMNS", "LINES"}}
    process = subprocess.Popen(
        command, stdin=inside, stdout=inside, stderr=inside, start_new_session=True,
        env={**plain, "TERM": "xterm-256color", "COLORTERM": "truecolor", **environment},
    )  # fmt: skip
    try:
        yield Terminal(process, line)
    finally:
        process.kill()
        process.wait()
        os.close(line)
        os.close(inside)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_the_terminal_shows_the_run_and_is_as_before_when_the_user_leaves(tmp_path: Path, end: signal.Signals) -> None:
    with playing(tmp_path) as directory, watching(tmp_path) as terminal:
        wait_for(lambda: terminal.shows("explorer in tallgrass") and terminal.shows(r"tick +[1-9]"))
        assert ENTER in terminal.read()
        assert "▀" in terminal.read()
        terminal.process.send_signal(end)
        last = terminal.end()
        assert terminal.process.returncode == 0
        assert last.rindex(LEAVE) > last.rindex(ENTER)
        assert last.rindex(SHOW_CURSOR) > last.rindex("▀")
        assert f"run {directory.run_id} continues after tick" in last
        at = tick_of(directory)
        wait_for(lambda: tick_of(directory) > at)


def test_keys_pause_step_snapshot_go_back_and_change_the_speed(tmp_path: Path) -> None:
    with playing(tmp_path, "--snapshot-disk", "20") as directory, watching(tmp_path) as terminal:
        wait_for(lambda: terminal.shows("space pause") and tick_of(directory) > 60)
        terminal.press(" ", "paused at tick")
        at = tick_of(directory)
        terminal.press("s", "one tick")
        wait_for(lambda: tick_of(directory) == at + 1)
        terminal.press("n", f"took snapshot .* at tick {at + 1}")
        assert Run(directory).snapshots()[0].tick == at + 1
        terminal.press("-", "25 ticks per second")
        terminal.press("+", "50 ticks per second")
        assert Run(directory).config.tick_rate.battle == 50
        terminal.press("b", f"went back to tick {at + 1}")
        terminal.press("b", "went back to tick [0-9]+")
        assert tick_of(directory) < at
        terminal.press("?", "quit; the run continues")
        terminal.press(" ", "resumed at tick")
        wait_for(lambda: tick_of(directory) > at)


HELD_LEFT = "\033[D"


def test_the_left_arrow_goes_back_while_it_is_held_and_the_run_plays_on_when_let_go(tmp_path: Path) -> None:
    with playing(tmp_path) as directory, watching(tmp_path) as terminal:
        wait_for(lambda: terminal.shows("hold ← rewind") and tick_of(directory) > 60)
        at = tick_of(directory)
        terminal.press(HELD_LEFT, "going back, tick")
        wait_for(lambda: (os.write(terminal.line, HELD_LEFT.encode()), tick_of(directory) < at - 10)[1])
        wait_for(lambda: terminal.shows("went back to tick") and not ask(directory, "status")["paused"])
        wait_for(lambda: tick_of(directory) > at)


def test_a_paused_run_stays_paused_and_its_start_is_as_far_as_it_goes(tmp_path: Path) -> None:
    with playing(tmp_path) as directory, watching(tmp_path) as terminal:
        wait_for(lambda: terminal.shows("hold ← rewind") and tick_of(directory) > 5)
        terminal.press(" ", "paused at tick")
        ask(directory, "rewind", to_tick=2)
        terminal.press(HELD_LEFT * 3, "going back, tick 1")  # what came meanwhile is one step
        terminal.press("\033OD", "this is the start of the run")
        terminal.press("\033[A\033[1;5C", "went back to tick 0")  # other arrows do nothing
        assert ask(directory, "status")["paused"]
        assert tick_of(directory) == 0


def test_who_leaves_while_going_back_leaves_the_run_playing(tmp_path: Path) -> None:
    with playing(tmp_path) as directory, watching(tmp_path) as terminal:
        wait_for(lambda: terminal.shows("hold ← rewind") and tick_of(directory) > 20)
        terminal.press(HELD_LEFT + "q", f"run {directory.run_id} continues")
        wait_for(lambda: not ask(directory, "status")["paused"])


def test_q_leaves_the_run_alone_and_gives_the_terminal_back(tmp_path: Path) -> None:
    with playing(tmp_path) as directory, watching(tmp_path) as terminal:
        wait_for(lambda: terminal.shows("space pause"))
        before = terminal.modes()
        terminal.press("q", f"run {directory.run_id} continues after tick")
        terminal.end()
        assert terminal.process.returncode == 0
        assert (before & termios.ICANON, terminal.modes() & termios.ICANON) == (0, termios.ICANON)
        assert tick_of(directory)


def test_who_comes_late_sees_what_happened_before(tmp_path: Path) -> None:
    with playing(tmp_path) as directory:
        wait_for(lambda: len(Run(directory).events()) > 3)
        ask(directory, "pause")
        title = Run(directory).events().to_list()[0].title
        with watching(tmp_path, 160, 45) as terminal:
            wait_for(lambda: title[:20] in plain(terminal.read()))
            wait_for(lambda: terminal.shows("commands and rewards"))


def test_a_picture_that_leaves_room_has_the_commands_below_it(tmp_path: Path) -> None:
    with playing(tmp_path, "--world", "CartPole-v1", "--agent", "random") as directory:
        wait_for(lambda: len(Run(directory).episodes()) > 40)
        ask(directory, "pause")
        with watching(tmp_path, 160, 45) as terminal:
            wait_for(lambda: terminal.shows("commands and rewards"))
            wait_for(lambda: terminal.shows(r"episode 30: reward"))
            shown = plain(terminal.read())
    last = shown[shown.rindex("random in CartPole-v1") :].split("\n")
    assert not any(name in shown for name in ("where", "badges", "party"))
    assert sum("│ " + " " * 100 in line for line in last[:44]) < 3


@pytest.mark.parametrize(("columns", "rows"), [(60, 30), (100, 12), (40, 10), (170, 50)])
def test_every_size_of_terminal_shows_tick_and_picture_within_its_width(
    tmp_path: Path, columns: int, rows: int
) -> None:
    with playing(tmp_path), watching(tmp_path, columns, rows) as terminal:
        wait_for(lambda: terminal.shows(r"tick +[1-9]") and terminal.shows("▀"))
        *lines, _ = plain(terminal.read()).split("\n")  # the last one may be cut within a code
    assert max(map(len, lines)) <= columns


def test_a_terminal_that_changes_its_size_is_drawn_anew_even_while_the_run_is_held(tmp_path: Path) -> None:
    with playing(tmp_path) as directory:
        ask(directory, "pause")
        with watching(tmp_path, 100, 30) as terminal:
            wait_for(lambda: terminal.shows("paused") and terminal.shows("ticks/s"))
            before = len(terminal.read())
            terminal.resize(60, 30)
            wait_for(lambda: re.search(r"\n│ tick [0-9,]+  0\.0", plain(terminal.read()[before:])))


def plain(text: str) -> str:
    """Return what was shown without codes; each picture begins with a new line."""
    return re.sub(r"\033\[[0-9;?]*[A-Za-z]", "", text.replace("\033[H", "\n")).replace("\r", "")


def test_without_colors_the_picture_is_drawn_in_shades(tmp_path: Path) -> None:
    with playing(tmp_path), watching(tmp_path, NO_COLOR="1") as terminal:
        wait_for(lambda: terminal.shows("[░▒▓]{5}"))
        assert "▀" not in terminal.read()
        assert "38;2" not in terminal.read()


def test_a_run_that_ends_gives_the_terminal_back_and_says_so(tmp_path: Path) -> None:
    with playing(tmp_path, "--max-ticks", "250") as directory, watching(tmp_path) as terminal:
        last = terminal.end()
    assert terminal.process.returncode == 0
    assert last.rindex(LEAVE) > last.rindex(ENTER)
    assert f"run {directory.run_id} has ended; see `ptp show {directory.run_id}`" in last


def test_a_run_that_has_ended_can_be_seen_otherwise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = record(tmp_path, world="FrozenLake-v1", max_ticks=5).run_id
    assert main(["watch", "--json", "--data-dir", str(tmp_path)]) == 1
    assert f"see it with `ptp show {run} --data-dir {tmp_path}`" in capsys.readouterr().err
