"""`ptp emulator serve`: worlds that other programs play."""

from __future__ import annotations

import os
import secrets
import sys

import msgspec

from ptp.cli.common import when_stopped
from ptp.cli.output import BOLD, paint, show
from ptp.cli.parser import Options
from ptp.config.tree import World
from ptp.errors import UsageError


class Address(msgspec.Struct, frozen=True):
    """Where the game server is."""

    url: str
    token: str | None
    """What every request has to send; None when none is needed."""
    world: str


def serve(options: Options) -> int:
    """Serve games until it is stopped."""
    from ptp.emulators.app import create_app  # here, so that no other verb pays for it
    from ptp.emulators.app import serve as serve_app
    from ptp.emulators.games import Games
    from ptp.http.serving import check_token, hosts_of, is_loopback, listen, url_of
    from ptp.worlds.registry import choose_world

    spec = choose_world(World(name=options.world, rom=options.rom))
    token = options.token or os.environ.get("PTP_TOKEN")
    check_token(token)
    if options.no_token and token:
        raise UsageError("--token and --no-token exclude each other; leave one out")
    if not (token or options.no_token or is_loopback(options.host)):
        token = secrets.token_urlsafe(18)
    if not 0 <= options.games <= 1000:
        raise UsageError(f"--games {options.games} is not allowed; allowed: 0 to 1000")
    listener = listen(options.host, (options.port,))
    games = Games(spec, options.folder, options.games, record=options.record)
    try:
        remarks = games.default.ready().world.remarks
    except BaseException:
        games.close()
        raise
    url = url_of(options.host, listener.getsockname()[1])
    lines = [paint(url, BOLD), *([f"token: {token}"] if token else [])]
    show(options, Address(url, token, spec.name), *lines)
    if options.talks:
        sys.stderr.writelines(f"{line}\n" for line in (*remarks, f"serving {spec.name}; Ctrl-C stops the server"))
    sys.stdout.flush()
    with when_stopped("the game server has stopped"):
        serve_app(create_app(games, token, hosts_of(options.host)), listener)
    return 0
