"""Changing the words that a person gave a run, one on each line of `tags.txt` in its folder."""

from __future__ import annotations

from collections.abc import Iterable

from ptp._util.files import write_atomic
from ptp.errors import RecordingError, UsageError
from ptp.recording.directory import RunDirectory

LONGEST = 60


def change_tags(directory: RunDirectory, add: Iterable[str] = (), remove: Iterable[str] = ()) -> list[str]:
    """Give a run tags, take others from it, and return those that it has then."""
    before = directory.read_tags()
    absent = sorted(set(remove) - set(before))
    if absent:
        has = ", ".join(before) or "none"
        raise UsageError(f"run {directory.run_id} has no tag {absent[0]!r}; it has: {has}")
    tags = sorted(set(before) - set(remove) | set(map(_checked, add)))
    path = directory.path / "tags.txt"
    try:
        if tags:
            write_atomic(path, "".join(f"{tag}\n" for tag in tags).encode())
        else:
            path.unlink(missing_ok=True)
    except OSError as problem:
        raise RecordingError(f"{path} can't be written: {problem.strerror}; check who owns the folder") from None
    return tags


def _checked(tag: str) -> str:
    word = tag.strip()
    if not word or len(word) > LONGEST or not word.isprintable():
        raise UsageError(f"{tag!r} is no tag; a tag is a word, or a few on one line, of at most {LONGEST} characters")
    return word
