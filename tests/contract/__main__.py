"""`make audit`: one line per promise, and the sum; the exit code is 1 while something is missing."""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
from pathlib import Path

from tests.contract.audit import audit
from tests.contract.product import Product


def main() -> int:
    """Play the runs, check every promise, and print what became of it."""
    out, quiet = sys.stdout, io.StringIO()
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.redirect_stdout(quiet),
        contextlib.redirect_stderr(quiet),
        Product.playing(Path(folder)) as product,
    ):
        missing = audit(product, lambda line: out.write(f"{line}\n"))
    return int(missing > 0)


if __name__ == "__main__":
    sys.exit(main())
