"""Emulators in containers, by the API of Docker or Podman: an image, limits, a port, a network and a restart policy."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ptp._util.ids import uuid7
from ptp.emulators.backends.ports import HOST, Ports
from ptp.emulators.health import Vitals
from ptp.errors import ConfigError, EmulatorError, UsageError

IMAGE = "pokemon-gym:latest"
DAEMON = "unix:///var/run/docker.sock"
INSIDE = 8081  # the port in the container, as the Containerfile says
NETWORK = "ptp-pool"
LABEL = "ptp.pool"
ROM = "/rom/game.gb"
PROBE = ["ptp", "--version"]
STOP_SECONDS = 3
TEST_SECONDS = 10.0


class Containers:
    """Starts a container for each emulator.

    *memory* and *cpus* are the limits of each, *volumes* what it can read: paths here and there. The image is built
    from the Containerfile in *context* when it is missing.
    """

    name = "containers"

    def __init__(
        self,
        world: str | None = None,
        rom: str | None = None,
        *,
        image: str = IMAGE,
        context: str | Path = ".",
        base_url: str | None = None,
        memory: str = "1g",
        cpus: float = 1.0,
        restarts: int = 3,
        volumes: Mapping[str, str] | None = None,
        probe: list[str] | None = None,
    ) -> None:
        if world and rom:
            raise UsageError("--world and --rom exclude each other; leave one out")
        self._image, self._context, self._base_url = image, Path(context), base_url
        self._memory, self._cpus, self._restarts = memory, cpus, restarts
        self._volumes = {**(volumes or {}), **({str(Path(rom).resolve()): ROM} if rom else {})}
        self._command = ["--rom", ROM] if rom else ["--world", world or "tallgrass"]
        self.probe = probe or PROBE
        self._pool = uuid7()
        self._ports = Ports()
        self._docker: Any = None
        self._preparing = threading.Lock()

    def prepare(self) -> None:
        """Find the daemon, the image and the network; an image or network that is missing is made."""
        docker = _import_docker()
        with self._preparing:
            address = self._base_url or os.environ.get("DOCKER_HOST", DAEMON)
            try:
                if address.startswith("unix://"):  # the SDK would leave the socket open that it fails to connect
                    with socket.socket(socket.AF_UNIX) as probe:
                        probe.connect(address.removeprefix("unix://"))
                self._docker = docker.DockerClient(base_url=self._base_url) if self._base_url else docker.from_env()
                self._docker.ping()
            except (docker.errors.DockerException, OSError) as problem:
                self.close()
                raise EmulatorError(
                    f"no container daemon answers ({_said(problem)}); start Docker, or `podman system service` and set "
                    "DOCKER_HOST"
                ) from None
            try:
                with _translated("the image and the network"):
                    self._find_image(docker)
                    if not self._docker.networks.list(names=[NETWORK]):
                        self._docker.networks.create(NETWORK, driver="bridge", labels={LABEL: "yes"})
            except BaseException:
                self.close()
                raise

    def _find_image(self, docker: Any) -> None:
        try:
            self._docker.images.get(self._image)
        except docker.errors.ImageNotFound:
            if not (self._context / "Containerfile").is_file():
                raise ConfigError(
                    f"there is no image {self._image}, and no Containerfile in {self._context.resolve()} to build it "
                    "from; run this in the repository, or name another --image"
                ) from None
            self._docker.images.build(path=str(self._context), dockerfile="Containerfile", tag=self._image, rm=True)

    def start(self, port: int) -> Container:
        """Start a container."""
        taken = self._ports.take(port)
        name = f"ptp-{self._pool[:8]}-{taken}"
        try:
            with _translated(f"container {name}"):
                made = self._docker.containers.run(
                    self._image,
                    self._command,
                    detach=True,
                    name=name,
                    labels={LABEL: self._pool},
                    ports={f"{INSIDE}/tcp": (HOST, taken)},
                    network=NETWORK,
                    mem_limit=self._memory,
                    nano_cpus=int(self._cpus * 1e9),
                    pids_limit=256,
                    cap_drop=["ALL"],
                    security_opt=["no-new-privileges"],
                    ulimits=[_import_docker().types.Ulimit(name="nofile", soft=4096, hard=4096),
                             _import_docker().types.Ulimit(name="nproc", soft=4096, hard=4096)],
                    restart_policy={"Name": "on-failure", "MaximumRetryCount": self._restarts},
                    volumes={here: {"bind": there, "mode": "ro"} for here, there in self._volumes.items()},
                )  # fmt: skip
        except BaseException:
            self._ports.give_back(taken)
            raise
        return Container(made, taken, self.probe, self._ports)

    def containers(self) -> list[Any]:
        """Return the containers that were started here and are still there, in the SDK's own form."""
        found: list[Any] = self._docker.containers.list(all=True, filters={"label": f"{LABEL}={self._pool}"})
        return found

    def most(self) -> None:
        """Any number."""

    def close(self) -> None:
        """Close the connection to the daemon."""
        if self._docker is not None:
            self._docker.close()


class Container:
    """One such container."""

    token = None

    def __init__(self, container: Any, port: int, probe: list[str], ports: Ports) -> None:
        self.container = container
        self.url = f"http://{HOST}:{port}"
        self._port, self._ports, self._probe = port, ports, probe
        self._last: tuple[float, datetime] | None = None
        self._tested = -TEST_SECONDS
        self._problem: str | None = None

    def vitals(self) -> Vitals:
        """Return how the container is, what it uses, and whether a command can be run in it."""
        try:
            with _translated(f"container {self.container.name}"):
                self.container.reload()
                state = self.container.attrs["State"]
                if self.container.status != "running":
                    code = state.get("ExitCode")
                    return Vitals(running=False, condition=f"its container is {self.container.status} ({code})")
                stats = self.container.stats(stream=False, one_shot=True)
                self._test()
        except EmulatorError as problem:
            return Vitals(running=False, condition=str(problem))
        began = datetime.fromisoformat(state["StartedAt"][:19] + "+00:00")
        return Vitals(
            running=True,
            condition="running",
            uptime=(datetime.now(UTC) - began).total_seconds(),
            cpu=self._cpu(stats),
            memory=stats.get("memory_stats", {}).get("usage"),
            memory_limit=stats.get("memory_stats", {}).get("limit"),
            disk_bytes=_sum(stats.get("blkio_stats", {}).get("io_service_bytes_recursive") or [], "value"),
            network_bytes=_sum((stats.get("networks") or {}).values(), "rx_bytes", "tx_bytes"),
            restarts=self.container.attrs.get("RestartCount", 0),
            problem=self._problem,
        )

    def _test(self) -> None:
        """Run a command in the container; one that went well is not run again at every check."""
        if self._problem is None and time.monotonic() - self._tested < TEST_SECONDS:
            return
        ended = self.container.exec_run(self._probe)
        said = ended.output.decode("utf-8", "replace").strip().splitlines()
        failed = f"`{' '.join(self._probe)}` in it ended with {ended.exit_code}: {said[-1] if said else 'no word'}"
        self._problem, self._tested = None if ended.exit_code == 0 else failed, time.monotonic()

    def _cpu(self, stats: dict[str, Any]) -> float | None:
        """Return the share of one core since the last look."""
        used: int | None = stats.get("cpu_stats", {}).get("cpu_usage", {}).get("total_usage")
        if used is None:
            return None
        now, last = datetime.now(UTC), self._last
        self._last = (used / 1e9, now)
        if last is None:
            return None
        return (used / 1e9 - last[0]) / max(1e-9, (now - last[1]).total_seconds())

    def stop(self) -> None:
        """Stop and remove the container."""
        docker = _import_docker()
        try:
            with _translated(f"container {self.container.name}"):
                try:
                    self.container.stop(timeout=STOP_SECONDS)
                    self.container.remove(force=True)
                except docker.errors.NotFound:  # somebody else has removed it
                    return
        finally:
            self._ports.give_back(self._port)


def _import_docker() -> Any:
    try:
        import docker  # here, so that no other backend needs it
    except ImportError:
        raise ConfigError("containers need the package docker; install ptp[containers]") from None
    return docker


@contextmanager
def _translated(what: str) -> Iterator[None]:
    docker = _import_docker()
    try:
        yield
    except (docker.errors.DockerException, OSError) as problem:
        raise EmulatorError(f"{what}: {_said(problem)}; see the daemon's log") from problem


def _said(problem: BaseException) -> str:
    """Return an error in one line."""
    return " ".join(str(problem).split())[:300] or type(problem).__name__


def _sum(rows: Any, *names: str) -> int | None:
    found = [row[name] for row in rows for name in names if isinstance(row.get(name), int)]
    return sum(found) if found else None
