"""`ptp dashboard`."""

from __future__ import annotations

import os
import sys

from ptp.cli.common import readable_data_dir, when_stopped
from ptp.cli.output import BOLD, paint, print_json, say
from ptp.cli.parser import Options
from ptp.web.server import bind, serve


def main(options: Options) -> int:
    """Serve the dashboard until it is stopped."""
    folder = readable_data_dir(options)
    listener, address = bind(options.host, options.port, options.token or os.environ.get("PTP_TOKEN"))
    if options.json:
        print_json(address)
    else:
        say(paint(address.url, BOLD))
    if options.talks:
        sys.stderr.write(f"serving the runs in {folder}; Ctrl-C stops the dashboard, runs continue\n")
    sys.stdout.flush()
    with when_stopped("the dashboard has stopped; runs continue"):
        serve(folder, listener, address)
    return 0
