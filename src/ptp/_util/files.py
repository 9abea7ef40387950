"""Files that are either whole or absent."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

UNFINISHED = ".tmp"


def write_atomic(path: Path, data: bytes) -> None:
    """Replace *path* in one step, so a reader never sees half a file, even after a power cut."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=UNFINISHED)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
