"""What people call a run: its name, tags and notes, which are kept in its header."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET, UnsetType

from ptp.config import RunConfig, replace
from ptp.config.tree import Labels
from ptp.errors import RecordingError, UsageError
from ptp.recording.directory import RunDirectory, checksum_of
from ptp.records import Metadata

LONGEST = 60  # characters of a name or tag
LONGEST_NOTES = 2000


def move_labels(config: RunConfig, metadata: Metadata) -> RunConfig:
    """Move the labels that settings give a run into its header; those who fork it do not inherit them."""
    given = config.run
    relabel(metadata, name=given.name or UNSET, notes=given.notes or UNSET, add=given.tags)
    return replace(config, run=Labels())


def relabel(
    metadata: Metadata,
    *,
    name: str | UnsetType = UNSET,
    notes: str | UnsetType = UNSET,
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
) -> None:
    """Change the labels of a run; an empty name or note removes it."""
    absent = sorted(set(remove) - set(metadata.tags))
    if absent:
        had = ", ".join(metadata.tags) or "none"
        raise UsageError(f"run {metadata.run_id} has no tag {absent[0]!r}; it has: {had}")
    new = {_checked("tag", tag) for tag in add}
    if name is not UNSET:
        metadata.name = _checked("name", name) if name else None
    if notes is not UNSET:
        if len(notes) > LONGEST_NOTES:
            raise UsageError(f"the notes have {len(notes):,} characters; at most {LONGEST_NOTES:,} are allowed")
        metadata.notes = notes.strip() or None
    metadata.tags = sorted(set(metadata.tags) - set(remove) | new)


def _checked(kind: str, text: str) -> str:
    word = text.strip()
    if not word or len(word) > LONGEST or not word.isprintable():
        raise UsageError(f"{text!r} is not a {kind}; a {kind} is one line of 1 to {LONGEST} characters")
    if kind == "name" and ("/" in word or word in {".", "..", "latest"}):
        raise UsageError(f"{text!r} can't be a name; a name has no slash, and is not `latest`")
    return word


def relabel_ended(directory: RunDirectory, **changes: str | Sequence[str] | UnsetType) -> Metadata:
    """Change the labels of a run that nobody plays."""
    with directory.owned():
        metadata = directory.read_metadata()
        file, checksum = directory.path / "metadata.json", metadata.checksum
        if checksum is not None and checksum_of(file.read_bytes(), checksum) != checksum:
            raise RecordingError(f"{file} is not what was written; see `ptp verify`")
        relabel(metadata, **changes)  # type: ignore[arg-type]
        directory.write_metadata(metadata)
        return metadata
