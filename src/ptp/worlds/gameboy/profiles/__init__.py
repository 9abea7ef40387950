"""The games that can be read, found by the cartridge's hash, then by its title, or forced by name."""

from __future__ import annotations

from functools import cache

from ptp.errors import UnknownName
from ptp.worlds.gameboy.addresses import EVENTS_SIZE
from ptp.worlds.gameboy.cartridge import Cartridge
from ptp.worlds.gameboy.profiles.profile import HERE, Game, GameProfile, read_profile

__all__ = ["BUILT_IN", "GAMES", "RAW", "Game", "GameProfile", "find_profile", "profile_names"]

RAW = GameProfile("raw")
"""A game nobody has described: pixels and raw memory only."""

GAMES: dict[str, Game] = {
    "pokemon-red": Game(
        name="pokemon-red",
        title="POKEMON RED",
        sha1="ea9bcae617fdf159b045185467ae58b2e4a48b9a",
        event_bytes=EVENTS_SIZE,
        badges=("BOULDER", "CASCADE", "THUNDER", "RAINBOW", "SOUL", "MARSH", "VOLCANO", "EARTH"),
        # the last leader is also met elsewhere; only his third battle is for the badge
        leaders=frozenset({(number, None) for number in range(34, 41)} | {(29, 3)}),
    ),
    "tallgrass": Game(
        name="tallgrass",
        title="TALLGRASS",
        event_bytes=3,
        badges=("SLATE",),
        leaders=frozenset({(2, 1)}),
    ),
}

BUILT_IN = {"tallgrass": HERE / "tallgrass" / "tallgrass.gb"}
"""The cartridges that ptp carries."""


def find_profile(cartridge: Cartridge, forced: str | None = None) -> GameProfile:
    """Return the profile for a cartridge; an unknown game gets `raw`."""
    if forced is not None:
        return load_profile(forced)
    by_hash = [game for game in GAMES.values() if game.sha1 == cartridge.sha1]
    by_title = [game for game in GAMES.values() if game.title == cartridge.title]
    return next((load_profile(game.name) for game in by_hash + by_title), RAW)


def profile_names() -> list[str]:
    """Return the names a profile can be forced by."""
    return [*GAMES, RAW.name]


@cache
def load_profile(name: str) -> GameProfile:
    """Return the profile of that name; its tables are read once."""
    if name == RAW.name:
        return RAW
    if name not in GAMES:
        raise UnknownName("profile", name, profile_names())
    return read_profile(GAMES[name])
