"""`python -m ptp` is `ptp`."""

import sys

from ptp.cli import main

sys.exit(main())
