"""Scripts on a pool whose emulators are killed, stopped and damaged: every result equals that of a calm run.

`python -m benchmarks.bench_pool_chaos [SCRIPTS [EVERY]]` plays so many scripts with trouble every so many seconds.
"""

from __future__ import annotations

import logging
import sys
import tempfile
import threading
import time
from pathlib import Path

from benchmarks.chaos import Troubled, free_ports, leftovers, scripts, trouble
from benchmarks.common import report
from ptp.emulators import EmulatorPool

SIZE = 4


def main(number: int = 500, every: float = 3.0) -> None:
    logging.getLogger("ptp.pool").setLevel(logging.CRITICAL)
    texts, before = scripts(number, rounds=40), threading.active_count()
    with tempfile.TemporaryDirectory() as folder:
        backend = Troubled("tallgrass", Path(folder))
        with EmulatorPool(SIZE, free_ports(SIZE), backend) as pool:
            began = time.perf_counter()
            calm = pool.execute_many(texts)
            calm_seconds = time.perf_counter() - began
            with trouble(pool, backend, every) as done:
                began = time.perf_counter()
                rough = pool.execute_many(texts)
                rough_seconds = time.perf_counter() - began
            status = pool.status()
        left = leftovers(backend, before)
    equal = sum(one.outcome == other.outcome and one.success for one, other in zip(calm, rough, strict=True))
    report("pool_chaos", equal, number, at_least=True, unit="results equal to the calm run",
           killed=done.killed, stopped=done.stopped, damaged=done.damaged, replaced=status.replaced,
           retried=status.retried, calm_seconds=round(calm_seconds, 1),
           rough_seconds=round(rough_seconds, 1))  # fmt: skip
    report("pool_chaos_leaks", len(left), 0, at_least=False, unit="processes, ports or threads", left=left)


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:2]), *(float(word) for word in sys.argv[2:3]))
