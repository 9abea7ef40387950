"""`ptp dashboard`."""

from __future__ import annotations

import os
import sys

from ptp.cli.common import when_stopped
from ptp.cli.output import BOLD, paint, show
from ptp.cli.parser import Options
from ptp.recording.directory import run_paths
from ptp.web.app import bind, serve


def main(options: Options) -> int:
    """Serve the dashboard until it is stopped."""
    run_paths(options.folder)  # which refuses a folder that can't be read
    listener, address = bind(options.host, options.port, options.token or os.environ.get("PTP_TOKEN"))
    show(options, address, paint(address.url, BOLD))
    if options.talks:
        sys.stderr.write(f"serving the runs in {options.folder}; Ctrl-C stops the dashboard, runs continue\n")
    sys.stdout.flush()
    with when_stopped("the dashboard has stopped; runs continue"):
        serve(options.folder, listener, address)
    return 0
