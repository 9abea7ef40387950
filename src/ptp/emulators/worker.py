"""The process of one emulator of a pool: `ptp emulator serve`, which dies with whoever started it."""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading
import time

PR_SET_PDEATHSIG = 1


def die_with(parent: int) -> None:
    """End this process when *parent* ends, whatever ends it, and even if this one is stopped then."""
    if sys.platform == "linux":
        import ctypes

        if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "can't ask the kernel to end this process with its parent")
    else:
        threading.Thread(target=_watch, args=(parent,), name="parent", daemon=True).start()
    if os.getppid() != parent:  # it ended before we could ask
        os._exit(1)


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def main() -> None:
    """Serve; the first argument is the process to die with, the others are those of `ptp emulator serve`."""
    _, parent, *arguments = sys.argv
    die_with(int(parent))
    sys.modules.setdefault("sdl2", None)  # type: ignore[arg-type] # PyBoy's window, which takes long to import
    sys.argv = ["ptp", "emulator", "serve", *arguments]
    runpy.run_module("ptp", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
