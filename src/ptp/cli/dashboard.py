"""`ptp dashboard`: watch and steer runs in the browser."""

from __future__ import annotations

import sys

from ptp.cli.common import parse_common, readable_data_dir, when_stopped
from ptp.cli.parser import Parser

DESCRIPTION = """Serve the page and the API over the runs of the data directory, until Ctrl-C.

On loopback (the default) anybody on this machine may look; what changes a run needs the token, which is in the
address that is printed. Bound to any other address, everything needs the token.

examples:
  ptp dashboard
  ptp dashboard --host 0.0.0.0 --port 8080 --token "$(openssl rand -hex 16)"
"""


def main(argv: list[str]) -> int:
    """Run the verb."""
    parser = Parser("ptp dashboard", DESCRIPTION)
    parser.add_argument("--host", default="127.0.0.1", metavar="HOST", help="Address to serve at (default: 127.0.0.1).")
    parser.add_argument(
        "--port", type=int, default=8642, metavar="N", help="Port to serve at; 0 is any (default: 8642, or the next)."
    )
    parser.add_argument(
        "--token",
        metavar="TOKEN",
        help="What allows to change runs; PTP_TOKEN gives it too. Made up when none is given.",
    )
    options, system = parse_common(parser, argv)

    from ptp.errors import UsageError

    try:
        import uvicorn  # noqa: F401

        from ptp.web import app  # noqa: F401
    except ImportError as problem:
        raise UsageError(f"the dashboard needs {problem.name}, which ptp comes with; put it back with pip") from None

    import os

    from ptp.cli.output import BOLD, paint, print_json
    from ptp.web.server import bind, serve

    folder = readable_data_dir(system)
    listener, address = bind(options.host, options.port, options.token or os.environ.get("PTP_TOKEN"))
    if options.json:
        print_json(address)
    else:
        sys.stdout.write(f"{paint(address.url, BOLD)}\n")
        if not system.quiet:
            sys.stderr.write(f"serving the runs in {folder}; Ctrl-C ends it, the runs go on\n")
    sys.stdout.flush()
    with when_stopped("the dashboard has ended; the runs go on"):
        serve(folder, listener, address)
    return 0
