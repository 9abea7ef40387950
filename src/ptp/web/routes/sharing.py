"""Snapshots that others may fetch: those of runs with `--snapshot-share`. Reading them follows the rules of reading."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from http import HTTPStatus
from itertools import islice
from pathlib import Path as File
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from ptp.config.files import read_values
from ptp.config.tree import BY_FLAG
from ptp.errors import PtpError, RunUnreadable
from ptp.recording import RunDirectory
from ptp.runs import answers
from ptp.runs.offline import store_of
from ptp.runs.sharing import export_bytes
from ptp.snapshots import SnapshotHeader
from ptp.web.parts import Parts, RunName, parts_of
from ptp.web.schema import answered_by, answered_with, reply

router = APIRouter(prefix="/api/v1/snapshot", tags=["sharing"])
FILE = "application/octet-stream"
NOT_SHARED: dict[int | str, dict[str, Any]] = {
    403: answered_by(answers.Problem, "The run does not share its snapshots.")[200]
}
SharedName = Annotated[
    str,
    Path(
        max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9 _+.-]*$", description="A snapshot: its name, id or `latest`."
    ),
]


@router.get("/shared", responses=answered_by(answers.SharedList) | NOT_SHARED)
def shared(
    request: Request,
    run: RunName = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="Snapshots, at most.")] = 100,
) -> Response:
    """List the snapshots that may be fetched: those of one run, or without it those of every run that shares."""
    parts = parts_of(request)
    directories = _sharing(parts) if run is None else iter((_allowed(parts, run),))
    found = list(islice(_lines(directories), limit + 1))
    return reply(answers.SharedList(found[:limit], len(found) > limit))


@router.get("/export/{snapshot_id}", responses=answered_with("The snapshot's file.", FILE) | NOT_SHARED)
def export(request: Request, snapshot_id: SharedName, run: RunName = None) -> Response:
    """Return a snapshot with its tape as one file, for `ptp snapshot import`."""
    directory = _allowed(parts_of(request), run)
    header, data = export_bytes(directory, snapshot_id)
    name = f"{directory.run_id}-{header.tick}.ptpsnap"
    return Response(data, media_type=FILE, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _allowed(parts: Parts, run: str | None) -> RunDirectory:
    """Return a run that shares its snapshots; another is refused."""
    directory, _ = parts.find(run)
    if not _shares(directory):
        why = f"run {directory.run_id} does not share its snapshots; it would with `--snapshot-share`"
        raise HTTPException(HTTPStatus.FORBIDDEN, why)
    return directory


def _sharing(parts: Parts) -> Iterator[RunDirectory]:
    """Return every run that shares its snapshots, newest first; one that can't be read shares nothing."""
    for run_id in sorted((line.run_id for line in parts.library.lines()), reverse=True):
        directory = parts.library.find(run_id)
        try:
            if _shares(directory):
                yield directory
        except PtpError:
            continue


def _shares(directory: RunDirectory) -> bool:
    path = directory.path / "config.yaml"
    try:
        return _read_share(path, path.stat().st_mtime_ns)
    except OSError as problem:
        raise RunUnreadable(f"{path} can't be read: {problem.strerror}; restore it from a copy") from None


@lru_cache(maxsize=20_000)
def _read_share(path: File, changed: int) -> bool:
    """Read the setting of a run; *changed* makes a file that was written anew be read again."""
    return bool(read_values(path, tell=lambda note: None).get(BY_FLAG["--snapshot-share"], False))


def _lines(directories: Iterator[RunDirectory]) -> Iterator[answers.SharedSnapshot]:
    for directory in directories:
        for header in store_of(directory).headers():
            yield _line(directory.run_id, header)


def _line(run_id: str, header: SnapshotHeader) -> answers.SharedSnapshot:
    return answers.SharedSnapshot(
        run_id=run_id,
        snapshot_id=header.snapshot_id,
        name=header.name,
        message=header.message,
        tick=header.tick,
        created_at=header.created_at,
        world=header.world,
        world_version=header.world_version,
        rom_sha1=header.origin.get("rom_sha1"),
        agent=header.agent,
        location=header.location,
        download=f"{router.prefix}/export/{header.snapshot_id}?run={run_id}",
    )
