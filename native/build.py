"""Build the optional compiled part for the PyBoy that is installed, beside the package; without one everything works.

Called by `make setup`. It needs Cython, a C compiler and Python's headers; where one is missing it says so in one line.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
TARGET = HERE.parent / "src" / "ptp" / f"_native{sysconfig.get_config_var('EXT_SUFFIX')}"


def main() -> str:
    """Build it and return a line that says what came of it."""
    missing = _missing()
    if missing:
        TARGET.unlink(missing_ok=True)
        return f"Built no native part: {missing}. Everything works without it; going back takes longer."
    with tempfile.TemporaryDirectory() as folder:
        try:
            _build(Path(folder))
        except subprocess.CalledProcessError as problem:
            TARGET.unlink(missing_ok=True)
            last = (problem.stderr or problem.stdout or "no message").strip().splitlines()[-1]
            return f"The native part can't be built ({last}). Everything works without it; going back takes longer."
    return f"Built the native part for PyBoy {version('pyboy')}."


def _missing() -> str | None:
    for package in ("Cython", "pyboy", "numpy"):
        if find_spec(package) is None:
            return f"{package} is not installed"
    if shutil.which(_compiler()[0]) is None:
        return f"there is no C compiler ({_compiler()[0]})"
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        return "Python's headers are missing (on Debian: python3-dev)"
    return None


def _compiler() -> list[str]:
    return shlex.split(sysconfig.get_config_var("LDSHARED") or "cc -shared")


def _build(folder: Path) -> None:
    import numpy

    source, generated, built = folder / "_native.pyx", folder / "_native.c", folder / TARGET.name
    text = (HERE / "_native.pyx").read_text(encoding="utf-8")
    source.write_text(text.replace("@PYBOY@", version("pyboy")), encoding="utf-8")
    packages = Path(find_spec("pyboy").origin).parent.parent  # type: ignore[union-attr, arg-type]
    _run(sys.executable, "-m", "cython", "-3", "--module-name", "ptp._native", "-I", str(packages), str(source),
         "-o", str(generated))  # fmt: skip
    flags = shlex.split(sysconfig.get_config_var("CCSHARED") or "-fPIC")
    _run(*_compiler(), "-O2", "-w", *flags, f"-I{sysconfig.get_path('include')}", f"-I{numpy.get_include()}",
         "-DNPY_NO_DEPRECATED_API=NPY_1_7_API_VERSION", str(generated), "-s", "-o", str(built))  # fmt: skip
    with open(built, "ab") as file:  # by its end the file is known to be whole before it is loaded
        file.write(sha256(built.read_bytes()).digest())
    shutil.move(built, TARGET)


def _run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True, text=True)


if __name__ == "__main__":
    print(main())  # noqa: T201 - it is a command
