"""What kind of error a game server met, and what can be done about it."""

from __future__ import annotations

import errno
from typing import Literal

import msgspec

from ptp.errors import BadAnswer, GameLost, ServerRefused, ServerTimeout, ServerUnreachable, SnapshotError

ErrorSource = Literal["container", "http", "application"]
ErrorClass = Literal["recoverable", "transient", "fatal"]
Remedy = Literal["restart", "reallocate_port", "retry", "give_up"]

BUSY = {408, 425, 429, 500, 502, 503, 504}
"""Answers of a server that may answer otherwise the next time."""
BROKEN = {errno.ECONNREFUSED, errno.ECONNRESET, errno.ECONNABORTED, errno.EPIPE}
BRIEF = {errno.ETIMEDOUT, errno.EAGAIN, errno.EINTR, errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN}


class Diagnosis(msgspec.Struct, frozen=True):
    """What an error is, and what can be done."""

    source: ErrorSource
    kind: ErrorClass
    remedy: Remedy


RETRY = Diagnosis("http", "transient", "retry")
FATAL = Diagnosis("application", "fatal", "give_up")


def diagnose(problem: BaseException) -> Diagnosis:
    """Return what kind of error it is."""
    if any(cls.__module__.startswith("docker.") for cls in type(problem).__mro__):
        return _diagnose_container(problem)
    match problem:
        case ServerUnreachable():
            return Diagnosis("http", "recoverable", "restart")
        case GameLost():
            return Diagnosis("application", "recoverable", "retry")
        case ServerRefused():
            return RETRY if problem.status in BUSY else FATAL
        case ServerTimeout() | BadAnswer():
            return RETRY
        case SnapshotError() | MemoryError():
            return Diagnosis("application", "recoverable", "restart")
        case OSError():
            return _diagnose_system(problem)
    return FATAL  # a full disk and a missing permission among them


def _diagnose_system(problem: OSError) -> Diagnosis:
    if problem.errno == errno.EADDRINUSE:
        return Diagnosis("container", "recoverable", "reallocate_port")
    if problem.errno in BROKEN:
        return Diagnosis("http", "recoverable", "restart")
    if problem.errno in BRIEF or isinstance(problem, TimeoutError):
        return RETRY
    return FATAL


def _diagnose_container(problem: BaseException) -> Diagnosis:
    """Look at an error of the docker SDK, which need not be installed: by the names of its classes."""
    names, said = {cls.__name__ for cls in type(problem).__mro__}, str(problem).lower()
    if "port is already allocated" in said or "address already in use" in said:
        return Diagnosis("container", "recoverable", "reallocate_port")
    lost = names & {"ContainerError", "NotFound", "APIError"} and not names & {"ImageNotFound"}
    if lost and not any(sign in said for sign in ("no space left", "permission denied", "unauthorized", "forbidden")):
        return Diagnosis("container", "recoverable", "restart")
    return Diagnosis("container", "fatal", "give_up")  # no daemon, no image, or one that can't be built
