"""Emulators in real containers, where a daemon answers: Docker's, or Podman's with the same API."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.chaos import free_ports

import ptp
from ptp.emulators import EmulatorPool
from ptp.emulators.backends.containers import Containers
from ptp.emulators.health import Limits
from ptp.errors import ConfigError, EmulatorError
from tests.web.parts import wait_for

IMAGE = f"ptp-pool-test:{os.getpid()}"  # it knows where this Python is
CONTAINERFILE = """FROM scratch
COPY root/ /
WORKDIR /tmp
ENTRYPOINT {entry}
"""
SHARED = ("/usr", "/lib", "/lib64", "/bin", "/etc/ssl")


def parts() -> dict[str, str]:
    """Return what a container needs of this machine to run this Python and this ptp: an image without a download."""
    found = {sys.base_prefix, sys.prefix, str(Path(sys.prefix).resolve()), str(Path(ptp.__file__).parents[1])}
    return {path: path for path in (*SHARED, *sorted(found)) if os.path.isdir(path)}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a daemon that can run containers; without one the reason is told."""
    pytest.importorskip("docker", reason="the docker SDK is not installed")
    podman = shutil.which("podman")
    if podman is None:
        pytest.skip("podman is not installed")
    address = f"unix://{tmp_path_factory.mktemp('podman')}/api.sock"
    with subprocess.Popen([podman, "system", "service", "--time=0", address], stderr=subprocess.DEVNULL) as service:
        wait_for(lambda: Path(address.removeprefix("unix://")).exists())
        try:
            yield address
        finally:
            subprocess.run([podman, "rmi", "--force", IMAGE], capture_output=True)
            service.terminate()


@pytest.fixture(scope="module")
def backend(daemon: str, tmp_path_factory: pytest.TempPathFactory) -> Containers:
    context = tmp_path_factory.mktemp("context")
    volumes = parts()
    for path in ("/tmp", "/proc", "/sys", "/dev", "/etc", *volumes):
        (context / "root" / path[1:]).mkdir(parents=True, exist_ok=True)
    (context / "root/keep").write_text("a layer that is not empty")
    python = [sys.executable, "-m", "ptp"]
    entry = [
        *python,
        "emulator",
        "serve",
        "--host",
        "0.0.0.0",
        "--port",
        "8081",
        "--no-token",
        "--data-dir",
        "/tmp/ptp",
    ]
    path = f"ENV PYTHONPATH={Path(ptp.__file__).parents[1]}\n"
    text = CONTAINERFILE.format(entry=str(entry).replace("'", '"')).replace("WORKDIR", path + "WORKDIR")
    (context / "Containerfile").write_text(text)
    made = Containers(
        "CartPole-v1", image=IMAGE, context=context, base_url=daemon, volumes=volumes, memory="512m",
        probe=[*python, "--version"],
    )  # fmt: skip
    made.prepare()
    try:
        first = made.start(free_ports(1)[0])
    except EmulatorError as problem:
        if "not permitted" in str(problem) or "namespace" in str(problem):
            pytest.skip(f"the kernel forbids containers: {problem}")
        raise
    first.stop()
    made.close()
    return made


def test_scripts_run_in_containers_which_are_limited_and_checked_inside(backend: Containers) -> None:
    with EmulatorPool(1, free_ports(1), backend, limits=Limits(interval=0.5, timeout=30)) as pool:
        result = pool.execute_script("1\n0\n1", seed=3)
        wait_for(lambda: (vitals := pool.status().members[0].vitals) is not None and vitals.cpu is not None)
        vitals = pool.status().members[0].vitals
    assert result.success
    assert result.step == 3
    assert vitals is not None
    assert (vitals.condition, vitals.problem, vitals.restarts) == ("running", None, 0)
    assert vitals.memory is not None
    assert 0 < vitals.memory < 512 << 20
    assert vitals.memory_limit == 512 << 20


def test_a_container_that_is_killed_is_replaced(backend: Containers) -> None:
    with EmulatorPool(1, free_ports(1), backend, limits=Limits(interval=0.5, timeout=30)) as pool:
        before = pool.execute_script("1\n0", seed=1)
        running = next(it for it in backend.containers() if it.status == "running")
        running.remove(force=True)
        after = pool.execute_script("1\n0", seed=1)
        assert pool.status().replaced == 1
    assert after.outcome == before.outcome
    backend.prepare()
    assert backend.containers() == []
    backend.close()


def test_without_a_daemon_one_line_says_so(tmp_path: Path) -> None:
    pytest.importorskip("docker", reason="the docker SDK is not installed")
    with pytest.raises(EmulatorError, match=r"no container daemon answers .* set DOCKER_HOST") as refused:
        EmulatorPool(1, backend=Containers(base_url=f"unix://{tmp_path}/none.sock"))
    assert "\n" not in str(refused.value)


def test_without_an_image_and_a_containerfile_one_line_says_so(daemon: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no image ptp-none:latest, and no Containerfile in"):
        EmulatorPool(1, backend=Containers(image="ptp-none:latest", context=tmp_path, base_url=daemon))
