"""Who has which emulator of a pool: lent to one at a time, given back, or taken away when it fails."""

from __future__ import annotations

import logging
import threading
import time

from ptp.emulators.choice import Choice
from ptp.emulators.member import Member
from ptp.emulators.pooled import PooledClient
from ptp.errors import EmulatorError

log = logging.getLogger("ptp.pool")


class PoolClosed(EmulatorError):
    """The pool was closed."""


class NoEmulator(EmulatorError):
    """No emulator became free in time."""


class Lending:
    """The members of a pool, those of them that are free, and those that are lent; used by many threads."""

    def __init__(self, choice: Choice) -> None:
        self.members: list[Member] = []
        self.waiting = 0
        """How many wait for an emulator."""
        self._choose = choice
        self._changed = threading.Condition()
        self._idle: list[Member] = []
        self._busy: dict[PooledClient, tuple[Member, float]] = {}
        self._is_closed = False

    @property
    def busy(self) -> set[str]:
        """The names of the members that are lent."""
        return {member.name for member, _ in list(self._busy.values())}

    def acquire(self, timeout: float | None) -> PooledClient:
        """Lend an emulator; wait for one, *timeout* seconds at most."""
        until = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            while self._is_closed or not self._idle:
                self._wait(until, timeout)
            member = self._idle.pop(self._choose(self._idle))
            assert member.client is not None
            self._busy[member.client] = (member, time.monotonic())
            return member.client

    def _wait(self, until: float | None, timeout: float | None) -> None:
        if self._is_closed:
            raise PoolClosed("the pool is closed; make another")
        left = None if until is None else until - time.monotonic()
        if left is not None and left <= 0:
            failed = "".join(f"; {it.name}: {it.verdict.reasons[0]}" for it in self.members if it.level == "failed")
            free = f"no emulator became free within {timeout:g} s, {len(self._busy)} of {len(self.members)} are busy"
            raise NoEmulator(f"{free}{failed}; wait longer, or scale the pool up")
        self.waiting += 1
        try:
            self._changed.wait(left)
        finally:
            self.waiting -= 1

    def release(self, client: PooledClient) -> Member | None:
        """Take an emulator back, and return its place if that has been given up meanwhile."""
        with self._changed:
            member, since = self._busy.pop(client)
            member.busy_seconds += time.monotonic() - since
            is_current = member.client is client
            if is_current and not member.is_replacing and not member.is_retired:
                self._idle.append(member)
            self._changed.notify_all() if self._is_closed else self._changed.notify()
        if not is_current:
            client.close()
        return member if is_current and member.is_retired else None

    def member_of(self, client: PooledClient) -> Member:
        """Return the place of an emulator that is lent."""
        return self._busy[client][0]

    def offer(self, member: Member) -> bool:
        """Let a member be lent that has just started; False when nobody wants it any more."""
        with self._changed:
            member.is_replacing = False
            if self._is_closed or member.is_retired:
                return False
            self._idle.append(member)
            self._changed.notify()
            return True

    def withdraw(self, member: Member, client: PooledClient) -> bool:
        """Lend a member no longer, since this client of it failed; False when somebody else has noticed before."""
        with self._changed:
            if member.client is not client or member.is_replacing or member.is_retired or self._is_closed:
                return False
            member.is_replacing = True
            if member in self._idle:
                self._idle.remove(member)
            return True

    def is_lent(self, client: PooledClient) -> bool:
        """Whether somebody has this client."""
        return client in self._busy

    def retire(self, number: int) -> list[Member]:
        """Remove so many members, free ones first; return those that can end now, the others end when they are free."""
        with self._changed:
            order = sorted(self.members, key=lambda it: (it in self._idle, it.name), reverse=True)[:number]
            now = [member for member in order if member in self._idle]
            for member in order:
                member.is_retired = True
                self.members.remove(member)
            self._idle = [member for member in self._idle if not member.is_retired]
            return now

    def close(self, timeout: float) -> None:
        """Lend nothing any more, and wait for what is lent, *timeout* seconds at most."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
            if not self._changed.wait_for(lambda: not self._busy, timeout):
                log.warning("%d emulators were still in use when the pool was closed", len(self._busy))
            self._idle.clear()
