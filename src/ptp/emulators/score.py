"""The score of a pokemon-gym session: the sum of everything that was found for the first time."""

from __future__ import annotations

from msgspec import Struct

from ptp.emulators.gamestate import GymState

BADGES = (7.0, 8.5, 10.0, 11.0, 13.0, 16.0, 18.0, 20.0)
LOCATION, MOST_LOCATION = 1.0, 7.0  # and one more for each badge that was earned before
SPECIES = 0.5


class Found(Struct, frozen=True):
    """What was found of one kind, in order."""

    count: int
    items: list[str]


class Score:
    """Counts what is new."""

    def __init__(self) -> None:
        self.total = 0.0
        self.pokemon: list[str] = []
        self.badges: list[str] = []
        self.locations: list[str] = []

    def see(self, state: GymState) -> float:
        """Take in a state and return the score."""
        for badge in state.badges:
            if badge not in self.badges:
                self.total += BADGES[min(len(self.badges), len(BADGES) - 1)]
                self.badges.append(badge)
        if state.location and state.location not in self.locations:
            self.total += min(LOCATION + len(self.badges), MOST_LOCATION)
            self.locations.append(state.location)
        for member in state.pokemons:
            if member.species not in self.pokemon:
                self.total += SPECIES
                self.pokemon.append(member.species)
        return self.total


def found(items: list[str]) -> Found:
    """Return what was found."""
    return Found(len(items), list(items))
