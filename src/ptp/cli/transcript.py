"""`ptp transcript`: what an agent and its model said to each other."""

from __future__ import annotations

from collections.abc import Iterator

from ptp.cli import output
from ptp.cli.common import opened_run
from ptp.cli.output import BOLD, DIM, RED, paint
from ptp.cli.parser import Options
from ptp.runs.transcript import Call, Part, read_transcript

WORDS = {"tool call": "calls", "tool result": "result of", "picture": "picture"}


def transcript(options: Options) -> int:
    """Print the conversation of a run."""
    found = read_transcript(opened_run(options).directory, options.from_tick, options.to_tick)
    cost = "unknown cost" if found.cost is None else f"${found.cost:.4f}"
    total = f"{len(found.calls)} calls, {found.tokens_in:,} tokens in, {found.tokens_out:,} out, {cost}"
    if not found.calls:
        total = "no model was asked in these ticks"
    return output.show(options, found, *(line for call in found.calls for line in _lines(call)), total)


def _lines(call: Call) -> Iterator[str]:
    cost = "" if call.cost is None else f", ${call.cost:.4f}"
    tokens = "" if call.tokens_in is None else f", {call.tokens_in:,} tokens in, {call.tokens_out:,} out"
    yield paint(f"tick {call.tick}  {call.model}  {call.status}, {call.latency_ms:.0f} ms{tokens}{cost}", BOLD)
    for part in call.asked:
        yield from _said("  > ", part)
    for part in call.answered:
        yield from _said("  < ", part)
    if call.error:
        yield paint(f"  ! {_plain(call.error)}", RED)
    yield ""


def _said(mark: str, part: Part) -> Iterator[str]:
    head = " ".join(filter(None, (WORDS.get(part.kind), part.tool, part.hash and part.hash[:12])))
    for at, line in enumerate((part.text or "").splitlines() or [""]):
        text = _plain(f"{head} {line}".strip() if at == 0 else line)
        yield paint(mark + text, DIM) if part.kind in ("system", "thinking") else mark + text


def _plain(text: str) -> str:
    """Return a model's words without signs that would steer a terminal."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)
