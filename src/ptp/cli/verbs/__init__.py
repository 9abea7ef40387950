"""Every verb, in the groups that `ptp --help` shows."""

from __future__ import annotations

from ptp.cli.verb import Verb
from ptp.cli.verbs.manage import MANAGE
from ptp.cli.verbs.play import PLAY
from ptp.cli.verbs.read import READ
from ptp.cli.verbs.settings import SETTINGS
from ptp.cli.verbs.steer import STEER

GROUPS: dict[str, tuple[Verb, ...]] = {
    "play": PLAY,
    "watch and read": READ,
    "steer a live run": STEER,
    "manage runs": MANAGE,
    "settings and versions": SETTINGS,
}
VERBS = tuple(verb for verbs in GROUPS.values() for verb in verbs)
