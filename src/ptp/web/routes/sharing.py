"""Snapshots that others may download: those of runs with `--snapshot-share`. They follow the rules of reading."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from http import HTTPStatus
from itertools import islice
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct
from starlette.exceptions import HTTPException
from starlette.responses import Response

from ptp.config.files import read_values
from ptp.config.tree import BY_FLAG
from ptp.errors import PtpError, RunUnreadable
from ptp.http.endpoints import END, Endpoint, Media
from ptp.recording import RunDirectory
from ptp.runs.sharing import export_bytes
from ptp.runs.steering import store_of
from ptp.web.parameters import API, Run
from ptp.web.services import Services

FILE = "application/octet-stream"
SharedName = Annotated[str, Meta(max_length=100, pattern=rf"^[A-Za-z0-9][A-Za-z0-9 _+.-]*{END}")]


class SharedSnapshot(Struct, frozen=True):
    """A snapshot that others may download."""

    run_id: str
    snapshot_id: str
    name: str | None
    """The name that a person gave it."""
    message: str | None
    """What a person noted."""
    tick: int
    """The tick it was taken at."""
    created_at: str
    """When, in UTC."""
    world: str
    """The world it needs."""
    world_version: str
    rom_sha1: str | None
    """The cartridge it needs; null for a world without one."""
    agent: str
    location: str
    """The kind of situation, in the world's words."""
    download: str
    """The path, on this server, that `ptp snapshot import` downloads it from."""


class SharedList(Struct, frozen=True):
    """Snapshots that others may download, newest run first."""

    snapshots: list[SharedSnapshot]
    more: bool
    """Whether there are others beyond the limit."""


def shared(
    services: Services,
    run: Run = None,
    limit: Annotated[int, Meta(ge=1, le=1000, description="Snapshots, at most.")] = 100,
) -> SharedList:
    """List the snapshots that may be downloaded: those of one run, or without it those of every run that shares."""
    directories = _sharing(services) if run is None else iter((_allowed(services, run),))
    headers = ((directory.run_id, header) for directory in directories for header in store_of(directory).headers())
    found = []
    for run_id, header in islice(headers, limit + 1):
        download = f"{API}/snapshot/export/{header.snapshot_id}?run={run_id}"
        own = {"run_id": run_id, "rom_sha1": header.origin.get("rom_sha1"), "download": download}
        found.append(msgspec.convert(msgspec.structs.asdict(header) | own, SharedSnapshot))
    return SharedList(found[:limit], len(found) > limit)


def export(
    services: Services,
    snapshot_id: Annotated[SharedName, Meta(description="A snapshot: its name, id or `latest`.")],
    run: Run = None,
) -> Response:
    """Return a snapshot with its tape as one file, for `ptp snapshot import`."""
    directory = _allowed(services, run)
    header, data = export_bytes(directory, snapshot_id)
    name = f"{directory.run_id}-{header.tick}.ptpsnap"
    return Response(data, media_type=FILE, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _allowed(services: Services, run: str | None) -> RunDirectory:
    """Return a run that shares its snapshots; another is refused."""
    directory, _ = services.find(run)
    if not _shares(directory):
        why = f"run {directory.run_id} does not share its snapshots; it would with `--snapshot-share`"
        raise HTTPException(HTTPStatus.FORBIDDEN, why)
    return directory


def _sharing(services: Services) -> Iterator[RunDirectory]:
    """Return every run that shares its snapshots, newest first; one that can't be read shares nothing."""
    for run_id in sorted((line.run_id for line in services.library.lines()), reverse=True):
        directory = services.library.find(run_id)
        with suppress(PtpError):
            if _shares(directory):
                yield directory


def _shares(directory: RunDirectory) -> bool:
    path = directory.path / "config.yaml"
    try:
        return _read_share(path, path.stat().st_mtime_ns)
    except OSError as problem:
        raise RunUnreadable(f"{path} can't be read: {problem.strerror}; restore it from a copy") from None


@lru_cache(maxsize=20_000)
def _read_share(path: Path, changed: int) -> bool:
    """Read the setting of a run; *changed* makes a file that was written anew be read again."""
    return bool(read_values(path, tell=lambda note: None).get(BY_FLAG["--snapshot-share"], False))


ENDPOINTS = (
    Endpoint("GET", f"{API}/snapshot/shared", shared),
    Endpoint("GET", f"{API}/snapshot/export/{{snapshot_id}}", export, Media("The file.", (FILE,))),
)
