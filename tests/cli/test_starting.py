"""What a start may meet: Ctrl-C at any moment, and a shell that allows few open files."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

RUN = ("run", "--tick-rate-base", "0", "--max-ticks", "30")
KILL = "os.kill(os.getpid(), signal.SIGINT)"
MODULES = ["ptp.cli", "ptp.cli.verbs", "numpy", "pyboy"]


def start(kill: str, module: str, data_dir: Path) -> subprocess.CompletedProcess[str]:
    code = f"""
import os, runpy, signal, sys

class AtImport:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            sys.meta_path.remove(self)
            {kill}

sys.meta_path.insert(0, AtImport())
sys.argv[0] = "ptp"
runpy.run_module("ptp", run_name="__main__")
"""
    words = (sys.executable, "-c", code, *RUN, "--data-dir", str(data_dir))
    return subprocess.run(words, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("module", MODULES)
def test_ctrl_c_while_ptp_starts_is_one_line(module: str, tmp_path: Path) -> None:
    done = start(KILL, module, tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (130, 1)
    assert done.stderr.startswith("ptp: interrupted")


def test_ctrl_c_that_passes_through_exec_is_one_line(tmp_path: Path) -> None:
    done = start(f"exec({KILL!r})", "ptp.runner", tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (130, 1)


@pytest.mark.parametrize("most", [6, 8, 10, 12])
def test_few_open_files_give_a_line_that_says_so(most: int, tmp_path: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    words = (sys.executable, "-m", "ptp", *RUN, "--data-dir", str(tmp_path), "--quiet")
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, preexec_fn=limit)
    assert "Traceback" not in done.stderr
    if done.returncode:
        assert done.stderr.count("\n") == 1
