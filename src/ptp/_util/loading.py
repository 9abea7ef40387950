"""Classes that a person names: `module:Class` or `file.py:Class`, and the options that such a class takes."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import msgspec

from ptp.errors import ConfigError, UnknownName

Options = TypeVar("Options", bound=msgspec.Struct)


def load_class(what: str, entry: str, *kinds: type) -> type:
    """Return the class of one of *kinds* that an entry names; *what* says what it is to be, for the error."""
    place, _, name = entry.rpartition(":")
    module = load_module(place)
    found = getattr(module, name, None)
    if found is None:
        classes = (it for it in vars(module).items() if isinstance(it[1], type) and issubclass(it[1], kinds))
        known = [name for name, it in classes if it not in kinds]
        raise UnknownName(f"class in {place}", name, known, "see what the file declares")
    if not (isinstance(found, type) and issubclass(found, kinds)):
        wanted = " or ".join(f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in kinds)
        raise ConfigError(f"{entry} can't be used as {what}: it is not a subclass of {wanted}")
    return found


def load_module(place: str) -> ModuleType:
    """Import a module by name, or from a file; modules in the current folder count as well."""
    if place.endswith(".py"):
        return _load_file(Path(place).absolute())
    with _importable(Path.cwd()):
        try:
            return importlib.import_module(place)
        except Exception as problem:
            raise ConfigError(f"{place} can't be imported: {blame(problem)}") from problem


def _load_file(path: Path) -> ModuleType:
    """Load a file as a module of its own; the same file again is the same module until it is changed."""
    if not path.is_file():
        raise ConfigError(f"{path}: no such file")
    version = blake2b(f"{path} {path.stat().st_mtime_ns}".encode(), digest_size=8).hexdigest()
    name = f"_ptp_{path.stem}_{version}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        with _importable(path.parent):
            spec.loader.exec_module(module)
    except Exception as problem:
        del sys.modules[name]
        raise ConfigError(blame(problem, path)) from problem
    return module


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def blame(problem: BaseException, path: Path | None = None) -> str:
    """Return an error with the file and line it came from: in *path*, else in code that is not installed."""
    import sysconfig  # here, since few command lines fail

    if isinstance(problem, SyntaxError):
        return f"{problem.filename}:{problem.lineno}: {type(problem).__name__}: {problem.msg}"
    ours, installed = str(Path(__file__).parents[1]), ("<", *sysconfig.get_paths().values())
    frames = [frame for frame in traceback.extract_tb(problem.__traceback__) if "importlib" not in frame.filename]
    others = [frame for frame in frames if not frame.filename.startswith(ours)]
    own = [frame for frame in frames if frame.filename == str(path)]
    own = own or [frame for frame in others if not frame.filename.startswith(installed)] or others
    what = f"{type(problem).__name__}: {' '.join(str(problem).split())}"
    return f"{own[-1].filename}:{own[-1].lineno}: {what}" if own else what


def decode_options(what: str, options: Mapping[str, Any], kind: type[Options]) -> Options:
    """Return options as the struct that declares them; values may be text, as flags give them."""
    known = kind.__struct_fields__
    for name in options:
        if name not in known:
            raise ConfigError(f"{what} has no option {name!r}; it takes: {', '.join(known) or 'none'}")
    try:
        return msgspec.convert(dict(options), kind, strict=False)
    except msgspec.ValidationError as problem:
        raise ConfigError(f"{what}: {problem}") from None
