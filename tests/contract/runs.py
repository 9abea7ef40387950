"""A handful of runs that do, between them, everything a run can do; and a server over them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import gymnasium as gym
import httpx
import msgspec

import ptp
from ptp.recording import RunDirectory
from ptp.runs.sharing import import_snapshot
from ptp.snapshots.snapshot import read_file
from ptp.worlds import find_world, make_world
from tests.contract import agents
from tests.web.parts import playing, record, serving, tick_of, wait_for

AGENTS = Path(agents.__file__)
MOST_TICKS = 6000
OWN_HP, ENEMY_HP, ENEMY_MOST = 0xD015, 0xCFE6, 0xCFF4


class Shelf:
    """Runs by name, in one data directory."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.runs: dict[str, Path] = {}

    def path(self, name: str) -> Path:
        return self.runs[name]

    def rows(self, name: str, sql: str) -> list[tuple[Any, ...]]:
        """Ask the database of a run, as anybody can."""
        with closing(sqlite3.connect(f"file:{self.runs[name] / 'game_data.db'}?mode=ro", uri=True)) as database:
            return database.execute(sql).fetchall()

    def states(self, name: str) -> Iterator[dict[str, Any]]:
        for (text,) in self.rows(name, "SELECT state FROM steps WHERE state IS NOT NULL"):
            yield msgspec.json.decode(text)

    def fill(self) -> Shelf:
        """Play every run that does not need to be live."""
        self._tallgrass()
        self._thinking()
        self._loop()
        self.runs["learnt"] = record(self.data_dir, world="FrozenLake-v1", agent="bdi", max_ticks=1500).path
        return self

    def _tallgrass(self) -> None:
        flags = {
            "world": "tallgrass", "agent": "explorer", "snapshot_disk": 300, "random_seed": 3,
            "snapshot_on_event": ("catch", "battle", "badge", "death"), "screenshot_interval": 50,
        }  # fmt: skip
        explorer = record(self.data_dir, **flags, max_badges=1, max_ticks=MOST_TICKS)
        self.runs["explorer"] = explorer.path
        self.runs["lost"] = self._lose()
        back = ptp.open(record(self.data_dir, **flags, max_ticks=620, snapshot_name="the end").run_id, self.data_dir)
        middle = next(header for header in back.snapshots() if header.tick == 300)
        back.restore(middle.snapshot_id)
        back.resume(max_ticks=400)
        self.runs["went back"] = self.runs["resumed"] = back.path
        self.runs["forked"] = self._fork(back)
        self.runs["imported"] = self._import(back, middle.snapshot_id)

    def _lose(self) -> Path:
        """Begin in a battle of the explorer, weakened to one hit point against many, and fight on."""
        fights = self.rows("explorer", "SELECT min(tick) FROM steps WHERE state ->> '$.battle.choosing'")
        world = make_world(find_world("tallgrass"))
        world.reset(None)
        for command in commands_of(self.path("explorer"))[: fights[0][0]]:
            world.step(world.decode(command))
        env: Any = world.env
        for address, value in {OWN_HP: 0, OWN_HP + 1: 1, ENEMY_HP: 0, ENEMY_HP + 1: 250, ENEMY_MOST + 1: 250}.items():
            env.pyboy.memory[address] = value
        start = self.data_dir / "weak.state"
        start.write_bytes(env.save())
        world.close()
        brute = ptp.run("tallgrass", f"{AGENTS}:Brute", start_state=start, max_ticks=120, snapshot_on_event=["death"],
                        data_dir=self.data_dir)  # fmt: skip
        return brute.path

    def _fork(self, run: ptp.Run) -> Path:
        return Path(run.fork(at_tick=350, max_ticks=420).directory)

    def _import(self, run: ptp.Run, snapshot: str) -> Path:
        file = self.data_dir / "shared.ptpsnap"
        run.share(snapshot, file)
        return Path(import_snapshot(self.data_dir, read_file(file)).directory)

    def _thinking(self) -> None:
        flags: dict[str, Any] = {"world": "FrozenLake-v1", "snapshot_disk": 10, "max_ticks": 60}
        thinker = ptp.run(agent=f"{AGENTS}:Thinker", data_dir=self.data_dir, **flags)
        stumbler = ptp.run(
            agent=f"{AGENTS}:Stumbler", data_dir=self.data_dir, rollback_on_error=True, screenshot_on_error=1, **flags
        )
        fool = ptp.run(agent=f"{AGENTS}:Fool", data_dir=self.data_dir, **flags)
        self.runs |= {"thinker": thinker.path, "stumbler": stumbler.path, "crashed": fool.path}

    def _loop(self) -> None:
        env = ptp.Record(gym.make("FrozenLake-v1"), data_dir=self.data_dir)
        for seed in (3, None):
            env.reset(seed=seed, options={"start": 0})
            for _ in range(20):
                if any(env.step(env.action_space.sample())[2:4]):
                    env.reset()
        env.close()
        self.runs["loop"] = env.run_directory


def commands_of(path: Path) -> list[str]:
    """Return the tape of a run."""
    with closing(sqlite3.connect(path / "game_data.db")) as database:
        return [command for (command,) in database.execute("SELECT command FROM steps ORDER BY tick")]


@contextmanager
def live_and_served(shelf: Shelf) -> Iterator[tuple[httpx.Client, RunDirectory]]:
    """Serve the shelf, with one more run on it that is live, was steered, and went back."""
    with serving(shelf.data_dir) as client, playing(shelf.data_dir, "--max-cost", "5") as directory:
        shelf.runs["live"] = directory.path
        wait_for(lambda: tick_of(directory) > 60)
        run = {"run": directory.run_id}
        for verb, body in (("snapshot", {"name": "here"}), ("set", {"settings": {"max-ticks": "90000"}})):
            client.post(f"/api/v1/control/{verb}", params=run, json=body).raise_for_status()
        wait_for(lambda: tick_of(directory) > 130)
        client.post("/api/v1/control/rollback", params=run, json={"count": 1}).raise_for_status()
        yield client, directory
