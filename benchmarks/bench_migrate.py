"""How long a large run database takes from schema 1.0 to 2.1, and how much memory that needs.

python -m benchmarks.bench_migrate [GIGABYTES]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import apsw

from benchmarks.common import report
from ptp.versioning.database import migrate_file
from ptp.versioning.schema import RUN_SCHEMAS, SCHEMA_VERSION

FILL = """
WITH RECURSIVE n(i) AS (VALUES ({first}) UNION ALL SELECT i + 1 FROM n WHERE i < {last})
INSERT INTO {table} SELECT {values} FROM n
"""
TABLES = {
    "decisions": "printf('d%012x', i), 'run', '2024-01-15T00:00:00.000Z', i, hex(randomblob(400)), 'MOVE', '{}', "
    "hex(randomblob(200)), 0.5, 120, 900, 0.001, 'model', 'success', NULL",
    "navigation_events": "printf('n%012x', i), 'run', '2024-01-15T00:00:00.000Z', i, 'move', 'a', 'b', 'up', 'town', "
    '\'{"x": 1, "y": 2}\', NULL',
    "performance_metrics": "printf('m%012x', i), 'run', '2024-01-15T00:00:00.000Z', i, 'tick_rate', 10.5, 'per second'",
    "battle_turns": "printf('t%012x', i), printf('b%06x', i / 9), i % 9, '2024-01-15T00:00:00.000Z', 'move', 'tackle', "
    "NULL, 7, 'move', 'growl', 0, 20, 13, 'hit'",
}


def build(path: Path, size: float) -> None:
    """Make a database of schema 1.0 with so many gigabytes."""
    connection = apsw.Connection(str(path))
    connection.pragma("journal_mode", "off")
    connection.execute(RUN_SCHEMAS.sql("1.0"))
    first, batch = 1, 20_000
    while path.stat().st_size < size * 1e9:
        with connection:
            for table, values in TABLES.items():
                connection.execute(FILL.format(table=table, values=values, first=first, last=first + batch - 1))
        first += batch
    connection.pragma("journal_mode", "wal")
    connection.close()


def measure(path: Path) -> None:
    """Migrate in this process and print the time, and how far the memory rose above where it was."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew; it would be the parent's else
    before = memory("VmRSS")
    began = time.perf_counter()
    migrate_file(path, SCHEMA_VERSION)
    took = time.perf_counter() - began
    print(json.dumps({"seconds": took, "growth_mb": memory("VmHWM") - before}))


def memory(name: str) -> float:
    """Return what Linux says of this process's memory, in megabytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{name}:"))


def run(size: float) -> tuple[float, float, float]:
    """Return the seconds, the megabytes and the gigabytes of one migration in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "game_data.db")
        build(path, size)
        gigabytes = path.stat().st_size / 1e9
        words = [sys.executable, "-m", "benchmarks.bench_migrate", "measure", str(path)]
        told = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    return told["seconds"], told["growth_mb"], gigabytes


def main() -> None:
    size = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    _, small, _ = run(size / 20)
    seconds, growth, gigabytes = run(size)
    report("migrate", seconds, 60.0 * size, at_least=False,
           unit=f"seconds for {size:g} GB from 1.0 to {SCHEMA_VERSION}", gigabytes=round(gigabytes, 2))  # fmt: skip
    report("migrate_memory", growth - small, 10.0, at_least=False, unit="MB more than with a twentieth of the size",
           growth_mb=round(growth, 1), small_growth_mb=round(small, 1))  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        measure(Path(sys.argv[2]))
    else:
        main()
