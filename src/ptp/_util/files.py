"""Files that are either whole or absent."""

from __future__ import annotations

import os
from pathlib import Path

UNFINISHED = ".tmp"


def write_atomic(path: Path, data: bytes) -> None:
    """Replace *path* in one step, so a reader never sees half a file, even after a power cut."""
    temporary = path.parent / f".{path.name}.{os.urandom(6).hex()}{UNFINISHED}"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
