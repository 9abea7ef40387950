"""`ptp script`: check, compile, run and format button scripts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from ptp._util.files import write_atomic
from ptp.cli.output import GREEN, YELLOW, answer, fact_lines, in_bytes, in_time, paint, show, table
from ptp.cli.parser import Options
from ptp.cli.play import play
from ptp.config import replace
from ptp.config.flags import given_values
from ptp.errors import ScriptError, UsageError
from ptp.records import Notice, Record
from ptp.runner import run as run_new
from ptp.scripts import (
    Bounds,
    CompiledScript,
    Instruction,
    ScriptCompiler,
    Target,
    format_script,
    read_script,
    show_problem,
)
from ptp.sinks import Sink
from ptp.worlds import choose_world, make_world

CHOSEN = frozenset({"--agent", "--script"})


def _compile(options: Options) -> CompiledScript:
    config = options.config
    with closing(make_world(choose_world(config.world, config.given))) as world:
        return ScriptCompiler(Target(world.view())).compile_file(Path(options.file))


def check(options: Options) -> int:
    """Look for mistakes."""
    try:
        script = _compile(options)
    except ScriptError as wrong:
        if not options.json or not wrong.problems:
            raise
        show(options, {"file": options.file, "valid": False, "problems": wrong.problems})
        return wrong.exit_code
    lines = read_script(Path(options.file)).split("\n")
    warnings = [line for problem in script.warnings for line in show_problem(problem, lines, options.file)]
    found = {"file": options.file, "valid": True, "problems": script.warnings}
    color = YELLOW if warnings else GREEN
    return show(options, found, *warnings, f"{options.file}: {paint('no errors', color)}, {_length(script)}")


def compile_script(options: Options) -> int:
    """Show what a script becomes."""
    script = _compile(options)
    return show(options, script, script.name, *fact_lines(dict(_facts(script)), 13), "", *_listing(script))


def _facts(script: CompiledScript) -> Iterator[tuple[str, str]]:
    needs = script.dependencies
    yield "length", _length(script)
    if script.seconds is not None:
        low, high = map(in_time, script.seconds)
        yield "time", f"{low} on the machine itself" if low == high else f"{low} to {high} on the machine itself"
    yield "memory", in_bytes(script.memory_bytes)
    yield "complexity", f"{script.complexity:,}"
    yield "can fail", ", ".join(f"line {it.line} ({it.condition})" for it in script.failure_points) or "nowhere"
    yield "checkpoints", ", ".join(script.checkpoints) or "none"
    yield "success rate", "not known" if script.success_rate is None else f"{script.success_rate:.0%}"
    yield "alternatives", "not known" if script.alternatives is None else ", ".join(script.alternatives) or "none"
    yield "needs", f"{needs.world}: {', '.join((*needs.buttons, *needs.names, *map(hex, needs.addresses)))}"
    yield "checksum", script.checksum


def _length(script: CompiledScript) -> str:
    ticks = _range(script.ticks, "tick")
    return ticks if script.seconds is None else f"{_range(script.frames, 'frame')} in {ticks}"


def _range(bounds: Bounds, unit: str) -> str:
    if bounds.exact is not None:
        return f"{bounds.low:,} {unit}{'' if bounds.low == 1 else 's'}"
    return f"{bounds.low:,} to {bounds.high:,} {unit}s"


def _listing(script: CompiledScript) -> Iterator[str]:
    rows = [(number, it.line, it.op, _argument(it)) for number, it in enumerate(script.instructions)]
    yield from table(("#", "line", "does", "with"), rows, right=("#", "line"))


def _argument(it: Instruction) -> str:
    number = {"press": f"x {it.number}", "play": f"x {it.number}", "wait": f"{it.number}", "count": f"{it.number}"}
    hold = "" if it.hold is None else f"for {it.hold}"
    bound = f"MAX {it.number}" if it.op in ("until", "while") else number.get(it.op, "")
    target = f"-> {it.target}" if it.target else ""
    return " ".join(filter(None, (it.text, hold, bound, target)))


class Failures(Sink):
    """Counts what failed in a script."""

    inline = True
    count = 0

    def took(self, records: Sequence[Record]) -> None:
        """Look for failures."""
        self.count += sum(type(record) is Notice and record.kind == "script_failed" for record in records)


def run(options: Options) -> int:
    """Play a script and record it; the exit code is 1 when something in it failed."""
    for item in given_values(options):
        if item.flag in CHOSEN:
            raise UsageError(f"{item.flag} is chosen by `ptp script run`; leave it out, or use `ptp run`")
    agent = replace(options.config.agent, name="script", script=options.file)
    config, failures = replace(options.config, agent=agent), Failures()
    code = play(options, config, lambda sinks: run_new(config, run_id=options.run_id, sinks=[*sinks, failures]))
    return code or int(bool(failures.count))


def fmt(options: Options) -> int:
    """Write a script in its usual form."""
    path = Path(options.file)
    text = read_script(path)
    formatted = format_script(text, options.file)
    changed = formatted != text
    if changed and not options.check:
        write_atomic(path, formatted.encode())
    done = ("would be changed" if options.check else "formatted") if changed else "is formatted already"
    found = {"file": options.file, "changed": changed}
    return answer(options, found, f"{options.file} {done}", failed=changed and options.check)
