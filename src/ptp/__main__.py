"""The program `ptp`, which is also `python -m ptp`: Ctrl-C is one line from its first moment on."""

import os
import signal
import sys
from types import FrameType
from typing import NoReturn


def main() -> int:
    """Run the command line; until it hears signals itself, Ctrl-C ends the process at once."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # a job in the background ignores it
        signal.signal(signal.SIGINT, _leave)
    from ptp.cli import main as run

    code = run()
    exec("")  # a Ctrl-C that passed through exec() would end the process by its signal, although it was caught
    return code


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    os.write(2, b"ptp: interrupted\n")
    os._exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
