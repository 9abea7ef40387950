"""A client of one emulator of a pool: everything that `PokemonGymClient` does, and whole scripts."""

from __future__ import annotations

import time

from ptp.emulators.client import PokemonGymClient
from ptp.emulators.outcome import ALIVE, EXECUTE, Alive, Execution, Outcome, Sealed, unseal
from ptp.errors import ServerRefused

NOT_THERE = (404, 405)


class PooledClient(PokemonGymClient):
    """A client of one emulator; a check does not wait for the connection that a script has."""

    def __init__(self, name: str, url: str, token: str | None) -> None:
        super().__init__(url, token=token, connections=2)
        self.name = name
        self._is_ours = True

    def __enter__(self) -> PooledClient:
        return self

    def execute(self, execution: Execution, timeout: float) -> Outcome:
        """Play a script in one request; an answer that was damaged on its way is refused."""
        sealed = self._ask("script", "POST", EXECUTE, Sealed, timeout, execution)
        return unseal(sealed, self.base_url)

    def check_health(self, timeout: float) -> float:
        """Return the milliseconds that the server takes to answer, also while it plays."""
        began = time.perf_counter()
        try:
            if self._is_ours:
                self._ask("health", "GET", ALIVE, Alive, timeout)
            else:
                self.status()
        except ServerRefused as problem:
            if not self._is_ours or problem.status not in NOT_THERE:
                raise
            self._is_ours = False  # a foreign server, which knows only its own protocol
            return self.check_health(timeout)
        return (time.perf_counter() - began) * 1000
