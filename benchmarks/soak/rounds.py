"""One round: a run begins or goes on, something is done to it, it ends in some way, and it is checked."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

import msgspec

from benchmarks.soak.check import check
from benchmarks.soak.shell import Shell, Wrong
from ptp.errors import PtpError
from ptp.recording import RunDirectory
from ptp.runner.control import ask
from ptp.runner.protocol import Status

# world, agent, and ticks that take a few seconds at full speed
STAGES = (("tallgrass", "explorer", 2_000), ("CliffWalking-v1", "random", 60_000), ("CartPole-v1", "random", 30_000),
          ("LunarLander-v3", "random", 8_000))  # fmt: skip
MOST = {world: most for world, _, most in STAGES}
RATES = (0, 0, 100, 1000)  # ticks per second
SIGNALS = {"kill": signal.SIGKILL, "term": signal.SIGTERM, "int": signal.SIGINT}
WAYS = ("kill", "kill", "kill", "term", "int", "stop", "limit")
FILMED = {"tallgrass"}  # drawing the others takes longer than a round may
EARLY = 0.15  # share of rounds in which the signal may come before the run has begun
GOING_BACK = {"rollback", "restore"}
CODES = {"kill": -9, "term": 143, "int": 130, "stop": 0, "limit": 0}
STATUS = {"kill": "crashed", "term": "manual_stop", "int": "manual_stop", "stop": "manual_stop", "limit": "completed"}
ENDED = {"crashed", "manual_stop", "completed"}
KEPT = 15  # runs that a prune leaves


class Known(msgspec.Struct):
    """A run that was checked."""

    world: str
    ticks: int


class Soak:
    """Everything that a soak knows: its runs, its luck, and what it has done."""

    def __init__(self, shell: Shell, seed: int) -> None:
        self.shell = shell
        self.luck = random.Random(seed)
        self.runs: dict[str, Known] = {}
        self.done: Counter[str] = Counter()
        self._names: defaultdict[str, list[str]] = defaultdict(list)  # the named snapshots of each run
        self._named = 0
        self._before: set[str] = set()

    # -- a round -----------------------------------------------------------------------------------------------

    def round(self) -> str:
        """Play one round and return it in words."""
        self.shell.told.clear()
        self.done["rounds"] += 1
        if self.runs and self.luck.random() < 0.12:
            return self._tidy()
        verb, words, run_id = self._beginning()
        self.done[{"run": "begun", "resume": "resumed", "fork": "forked"}[verb]] += 1
        self._before = self._present()
        process = self.shell.begin(verb, *words, "--quiet")
        try:
            if self.luck.random() < EARLY:
                return self._die_early(process, verb, run_id)
            return self._play(process, verb, run_id)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()

    def _beginning(self) -> tuple[str, list[str], str | None]:
        """Return what begins: the verb, its words, and the run if it is known already."""
        rate = self.luck.choice(RATES)
        pace = ["--tick-rate-base", str(rate), "--tick-rate-battle", str(rate or 2)]
        verb = self.luck.choice(("run", "run", "resume", "resume", "fork")) if self.runs else "run"
        if verb == "run":
            return verb, [*self._new_run(rate), *pace], None
        run_id = self.luck.choice(list(self.runs))
        run = self.runs[run_id]
        more = ["--max-ticks", str(run.ticks + self._ticks(run.world, rate)), *pace]
        if verb == "fork" and run.ticks:
            at = self.luck.randint(1, run.ticks)
            return verb, [run_id, "--at-tick", str(at), "--random-seed", str(self._seed()), *more], None
        self._unpack(run_id)
        return "resume", [run_id, *more], run_id

    def _new_run(self, rate: int) -> list[str]:
        world, agent, _ = self.luck.choice(STAGES)
        return ["--world", world, "--agent", agent, "--max-ticks", str(self._ticks(world, rate)),
                "--random-seed", str(self._seed()), "--snapshot-memory", "5",
                "--snapshot-disk", str(self.luck.choice((50, 300, 2000))),
                "--record-video", str(world in FILMED and self.luck.random() < 0.5).lower()]  # fmt: skip

    def _ticks(self, world: str, rate: int) -> int:
        """Return ticks that take some seconds."""
        most = min(MOST[world], 10 * rate) if rate else MOST[world]
        return self.luck.randint(most // 10, most)

    def _seed(self) -> int:
        return self.luck.randrange(1 << 31)

    def _unpack(self, run_id: str) -> None:
        """Bring back the database of an archived run."""
        if not RunDirectory(self.shell.records / run_id).database.exists():
            self.shell.must("prune", "--restore", run_id)

    # -- playing -----------------------------------------------------------------------------------------------

    def _play(self, process: subprocess.Popen[bytes], verb: str, run_id: str | None) -> str:
        directory = self._wait(process, run_id)
        chosen = self._acts()
        acts = [name for name in chosen if self._act(process, directory, name)]
        time.sleep(self.luck.uniform(0, 3))
        way = self.luck.choice(WAYS)
        was_over = self._end(process, directory, way)
        self._check_code(process.returncode, directory, way)
        expected = {"completed"} if was_over else {"completed", STATUS[way]}  # its limit may come at the same moment
        if "restore" in acts:
            expected.add("manual_stop")  # it may have ended just before it was taken back
        ticks = self._check(directory, expected, may_go_back=bool(GOING_BACK & set(chosen)))
        did = ", ".join([*acts, "over" if was_over else way])
        return f"{verb:<7} {self.runs[directory.run_id].world:<15}  {did}: {ticks:,} ticks"

    def _wait(self, process: subprocess.Popen[bytes], run_id: str | None) -> RunDirectory:
        """Return the run that a process plays, once it listens or has ended."""
        until = time.monotonic() + 60
        while time.monotonic() < until:
            name = run_id or min(self._new(), default=None)
            if name is not None and (_listens(RunDirectory(self.shell.records / name)) or process.poll() is not None):
                return RunDirectory(self.shell.records / name)
            if process.poll() is not None:
                raise Wrong(f"the run ends with {process.returncode} before it begins: {self.shell.complaint()}")
            time.sleep(0.02)
        raise Wrong("the run does not begin within a minute")

    def _new(self) -> set[str]:
        """Return the runs that were not there before this round."""
        return self._present() - self._before

    def _present(self) -> set[str]:
        return {path.name for path in self.shell.records.iterdir()} if self.shell.records.exists() else set()

    def _acts(self) -> list[str]:
        names = ("pause", "rollback", "snapshot", "restore", "step", "set")
        return self.luck.sample(names, self.luck.choice((0, 0, 1, 2, 3)))

    def _act(self, process: subprocess.Popen[bytes], directory: RunDirectory, name: str) -> bool:
        """Steer the run; it may have ended, or have nothing to go back to, but must say so."""
        time.sleep(self.luck.uniform(0, 0.6))
        if process.poll() is not None:
            return False
        steer: dict[str, Callable[[str], bool]] = {
            "pause": self._pause,
            "rollback": lambda run: self.shell.may("rollback", str(self.luck.randint(1, 3)), "--run", run),
            "snapshot": self._snapshot,
            "restore": self._restore,
            "step": lambda run: self.shell.may("step", "3", "--run", run) and self.shell.may("resume", run),
            "set": lambda run: self.shell.may("set", f"tick-rate-base={self.luck.choice(RATES)}", "--run", run),
        }
        worked = steer[name](directory.run_id)
        self.done[name if worked else "refused"] += 1
        return worked

    def _pause(self, run_id: str) -> bool:
        paused = self.shell.may("pause", "--run", run_id)
        time.sleep(self.luck.uniform(0, 0.5))
        return self.shell.may("resume", run_id) if paused else False

    def _snapshot(self, run_id: str) -> bool:
        self._named += 1
        name = f"soak-{self._named}"
        worked = self.shell.may("snapshot", "create", "--name", name, "--run", run_id)
        if worked:
            self._names[run_id].append(name)
        return worked

    def _restore(self, run_id: str) -> bool:
        name = self.luck.choice(self._names[run_id] or ["latest"])
        return self.shell.may("snapshot", "restore", name, "--run", run_id)

    # -- ending ------------------------------------------------------------------------------------------------

    def _end(self, process: subprocess.Popen[bytes], directory: RunDirectory, way: str) -> bool:
        """End the process and return whether it was over already."""
        was_over = process.poll() is not None
        if was_over:
            return True
        if way in SIGNALS:
            self.shell.note(f"# {way} to the run")
            process.send_signal(SIGNALS[way])
        elif way == "stop":
            self.shell.may("stop", "--run", directory.run_id)
        self.done[way] += 1
        _reap(process)
        return False

    def _die_early(self, process: subprocess.Popen[bytes], verb: str, run_id: str | None) -> str:
        """Send a signal at any moment, also before there is a run."""
        way = self.luck.choice(list(SIGNALS))
        time.sleep(self.luck.uniform(0, 1.5))
        self.shell.note(f"# early {way} to the run")
        process.send_signal(SIGNALS[way])
        self.done[way] += 1
        _reap(process)
        self.shell.complaint()
        name = run_id or min(self._new(), default=None)
        if name is None:
            return f"{verb:<7} {way} before there was a run"
        directory = RunDirectory(self.shell.records / name)
        if not (directory.path / "metadata.json").exists():
            shutil.rmtree(directory.path)
            return f"{verb:<7} {way} before the run had a header"
        ticks = self._check(directory, ENDED)
        return f"{verb:<7} {self.runs[name].world:<15}  early {way}: {ticks:,} ticks"

    # -- keeping house -----------------------------------------------------------------------------------------

    def _tidy(self) -> str:
        """Remove old runs, make them small, or take an ended one back; all that is left is as good as before."""
        choice = self.luck.choice(("prune", "roll up", "go back"))
        if choice == "prune":
            self.shell.must("prune", "--max-sessions", str(KEPT), "--quiet")
        elif choice == "roll up":
            self.shell.must("prune", "--older-than", "90s", "--roll-up", "--quiet")
        self.runs = {name: run for name, run in self.runs.items() if (self.shell.records / name).exists()}
        self.done[choice] += 1
        if not self.runs:
            return choice
        run_id = self.luck.choice(list(self.runs))
        if choice == "go back":
            self._unpack(run_id)
            self._restore(run_id)
        directory = RunDirectory(self.shell.records / run_id)
        ticks = self._check(directory, ENDED, may_go_back=choice == "go back")
        return f"{choice:<7} {self.runs[run_id].world:<15}  {len(self.runs)} runs left: {ticks:,} ticks"

    # -- checking ----------------------------------------------------------------------------------------------

    def _check(self, directory: RunDirectory, expected: set[str], may_go_back: bool = False) -> int:
        """Check a run, and remember it for later rounds; one that is wrong is left alone from then on."""
        known = self.runs.pop(directory.run_id, None)
        ticks = check(self.shell, directory.run_id, expected)
        if known is not None and ticks < known.ticks and not may_go_back:
            raise Wrong(f"run {directory.run_id} had {known.ticks} ticks, and now it has {ticks}")
        world = directory.read_metadata().world.name
        self.runs[directory.run_id] = Known(world, ticks)
        self.done["replayed"] += bool(ticks)
        self.done["ticks compared"] += ticks
        return ticks

    def _check_code(self, code: int, directory: RunDirectory, way: str) -> None:
        """Check how a process ended; a signal may also meet one whose run is complete and that only has to leave."""
        allowed = {0, CODES[way]}
        if way in SIGNALS and directory.read_metadata().status == "completed":
            allowed.add(-SIGNALS[way])
        complaint = self.shell.complaint().strip()
        if code not in allowed:
            raise Wrong(f"the process ends with {code}, not {CODES[way]}: {complaint}")

    def check_all(self) -> Iterator[tuple[str, Wrong | None]]:
        """Check every run that is left once more."""
        for name in sorted(self.runs):
            self.shell.told.clear()
            try:
                self._check(RunDirectory(self.shell.records / name), ENDED)
                yield name, None
            except Wrong as problem:
                yield name, problem


def _listens(directory: RunDirectory) -> bool:
    try:
        return directory.is_alive() and bool(ask(directory, Status()))
    except PtpError:
        return False


def _reap(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(90)
    except subprocess.TimeoutExpired:
        raise Wrong("the process does not end within 90 seconds") from None
