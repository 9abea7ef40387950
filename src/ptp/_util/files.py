"""Files that are either whole or absent."""

from __future__ import annotations

import errno
import os
import stat
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


def check_regular(path: Path, most: int | None = None) -> None:
    """Refuse what is no plain file: a link may lead out of a run that a stranger made, and a pipe never ends."""
    found = os.lstat(path)
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is a link, or no file at all", str(path))
    if most is not None and found.st_size > most:
        raise OSError(errno.EFBIG, f"it has more than {most:,} bytes", str(path))
