"""`ptp tag`, `note` and `rename`: what people call a run."""

from __future__ import annotations

from ptp.cli.common import named_run
from ptp.cli.output import answer, show
from ptp.cli.parser import Options


def tag(options: Options) -> int:
    """Change or list the tags of a run."""
    run = named_run(options)
    changes = options.tags or options.remove
    tags = run.tag(*options.tags, remove=options.remove) if changes else run.tags
    reply = answer if changes else show
    return reply(options, {"run_id": run.id, "tags": tags}, f"{run.id}: {', '.join(tags) or 'no tags'}")


def note(options: Options) -> int:
    """Replace or show the notes of a run."""
    run = named_run(options)
    if options.notes is not None:
        run.note(options.notes)
    notes = run.metadata.notes
    reply = show if options.notes is None else answer
    return reply(options, {"run_id": run.id, "notes": notes}, f"{run.id}: {notes or 'no notes'}")


def rename(options: Options) -> int:
    """Name a run."""
    run = named_run(options)
    run.rename(options.name)
    name = run.metadata.name
    return answer(options, {"run_id": run.id, "name": name}, f"{run.id}: {name or 'no name'}")
