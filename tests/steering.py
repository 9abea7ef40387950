"""Speaking to a live run as anybody can: one line of JSON on its socket."""

from __future__ import annotations

import json
from typing import Any

from ptp.errors import PtpError
from ptp.recording import RunDirectory
from ptp.runner.control import connect, not_running


def ask(directory: RunDirectory, verb: str, patience: float = 65.0, **arguments: Any) -> dict[str, Any]:
    """Return what a run answers, with how it stands and its picture among it."""
    with connect(directory) as connection, connection.makefile("rb") as lines:
        connection.settimeout(patience)
        connection.sendall(json.dumps({"verb": verb, **arguments}).encode() + b"\n")
        try:
            line = lines.readline()
        except (TimeoutError, ConnectionError):
            line = b""
        if not line:  # it ended meanwhile
            raise not_running(directory)
        answer = json.loads(line)
    if "error" in answer:
        raise PtpError(answer["error"])
    return {**answer.pop("now", {}), **answer.pop("frame", {}), **answer}
