"""Messages for the control socket of a live run, from a grammar: right ones, nearly right ones, and noise."""

from __future__ import annotations

import json
import socket
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ptp.recording import RunDirectory
from ptp.runner.control import ask, connect
from ptp.runner.protocol import Resume, Status

VERBS = ("status", "pause", "resume", "step", "snapshot", "snapshots", "restore", "rollback", "set", "watch", "picture")
FIELDS = ("ticks", "name", "message", "snapshot", "count", "flags", "tick", "verb", "x")
FLAGS = ("--tick-rate-base", "--tick-rate-battle", "--command-timeout", "--world", "--max-ticks-", "--random-seed")
PATIENCE = 60.0  # seconds that an answer may take

_numbers = st.integers(-(2**70), 2**70) | st.sampled_from([0, 1, 3, 1e400, -1e400, 2**31, 2**63]) | st.floats()
_texts = st.text(max_size=40) | st.sampled_from(["latest", "a", "../up", "50", "-1", "nan", "1e400", "\x00", "\ud800"])
_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | _numbers | _texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_texts, inner, max_size=4),
    max_leaves=6,
)
_flags = st.dictionaries(st.sampled_from(FLAGS) | _texts, _texts | _values, max_size=3)
_requests = st.builds(
    lambda verb, fields: {"verb": verb, **fields},
    st.sampled_from(VERBS) | _values,
    st.dictionaries(st.sampled_from(FIELDS), _values | _flags, max_size=3),
)
_lines = (_requests | _values).map(lambda it: json.dumps(it).encode())
_cut = st.builds(lambda line, at: line[: at % (len(line) + 1)], _lines, st.integers(0, 200))
_deep = st.integers(1, 60_000).map(lambda depth: b'{"verb":"set","flags":' + b"[" * depth)
messages = st.one_of(_lines, _lines, _lines, _cut, st.binary(max_size=200), _deep)


def say(directory: RunDirectory, message: bytes) -> bytes:
    """Send one message to a run, and return the line that it answers."""
    with connect(directory) as connection, connection.makefile("rb") as lines:
        connection.settimeout(PATIENCE)
        connection.sendall(message + b"\n")
        connection.shutdown(socket.SHUT_WR)
        return lines.readline()


def talk(directory: RunDirectory, times: int) -> int:
    """Send so many messages to a live run, which has to answer each and to go on; return its tick then."""

    @settings(max_examples=times, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(messages)
    def each_is_answered(message: bytes) -> None:
        answer = say(directory, message)
        assert answer.endswith(b"\n"), message
        json.loads(answer)

    each_is_answered()
    ask(directory, Resume())
    now = ask(directory, Status()).now
    assert now is not None
    return now.tick
