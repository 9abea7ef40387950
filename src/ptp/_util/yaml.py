"""YAML 1.2 files; ruamel.yaml is imported when one is read or written."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

from ptp.errors import ConfigError


def read_yaml(path: Path) -> Any:
    """Return a file as plain data; a mistake is named with its line and column."""
    return parse_yaml(read_text(path), str(path))


def parse_yaml(text: str, where: str) -> Any:
    """Return a text as plain data; a mistake is named with its line and column."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        return YAML(typ="safe", pure=True).load(text)
    except (YAMLError, ValueError, RecursionError) as problem:
        mark = getattr(problem, "problem_mark", None)
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        reason = getattr(problem, "problem", None) or str(problem).splitlines()[0]
        raise ConfigError(f"{where}{place}: not valid YAML: {reason}") from None


def read_text(path: Path) -> str:
    """Return the text of a file that a person named."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as problem:
        raise ConfigError(f"{path}: {problem.strerror}; name a YAML file that can be read") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not UTF-8 text; name a YAML file") from None


def place_of(path: Path, *names: object) -> str:
    """Return where a name stands in a file, given the names that it is nested in."""
    block: Any = parse_tree(read_text(path))
    for name in names[:-1]:
        block = block[name]
    line, column, *_ = (block.lc.data or {}).get(names[-1], (block.lc.line, block.lc.col))
    return f"{path}:{line + 1}:{column + 1}"


def parse_tree(text: str) -> Any:
    """Return a text that was read before as a tree with its comments, its quotes and the place of every name."""
    return _round_trip().load(text)


def dump(tree: Any) -> str:
    """Return a tree, or plain data, as text."""
    text = StringIO()
    _round_trip().dump(tree, text)
    return text.getvalue()


def _round_trip() -> Any:
    from ruamel.yaml import YAML

    yaml = YAML()

    def represent_null(representer: Any, _: None) -> Any:
        return representer.represent_scalar("tag:yaml.org,2002:null", "null")  # ruamel would leave its place empty

    yaml.representer.yaml_representers = {**yaml.representer.yaml_representers, type(None): represent_null}
    yaml.preserve_quotes = True
    yaml.width = 2**31
    yaml.indent(mapping=2, sequence=4, offset=2)
    return yaml
