"""A config file taken apart, so that it can change its version and keep its comments, its order and its quotes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from ptp._util.yaml import dump, parse_tree, parse_yaml
from ptp.versioning.configs import VERSIONS, migrate_entries
from ptp.versioning.schema import find_path


@dataclass(frozen=True)
class Entry:
    """A setting, or the name of a section, with its comments; those beside it are ruamel's own."""

    value: Any = None
    above: tuple[str, ...] = ()
    beside: tuple[Any, Any] = (None, None)


@dataclass
class Document:
    """The settings of a config file; one in a section is named section.name."""

    entries: dict[str, Entry] = field(default_factory=dict)
    sections: dict[str, Entry] = field(default_factory=dict)
    foot: tuple[str, ...] = ()


def migrate_text(text: str, start: str, goal: str) -> tuple[str, list[str]]:
    """Take a config file from one version to another; return it, and what the goal has no place for."""
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString as Quoted

    document = parse(text)
    if any(step.direction == "down" for step in find_path(VERSIONS, start, goal)):
        _dissolve_sections(document)
    names = list(document.entries)
    place = names.index("version") if "version" in names else 0
    version = document.entries.pop("version", Entry())
    settings, dropped = migrate_entries(document.entries, start, goal, Entry)
    listed = list(settings.items())
    document.entries = dict([*listed[:place], ("version", replace(version, value=Quoted(goal))), *listed[place:]])
    _lift_blank_lines(document)
    return render(document), dropped


def parse(text: str) -> Document:
    """Take a YAML file apart; the caller has made sure that it is a mapping of names."""
    root = parse_tree(text)
    document = Document()
    document.foot = _read(root, "", document, _lines((root.ca.comment or [None, None])[1]))
    return document


def _read(block: Any, prefix: str, document: Document, above: tuple[str, ...]) -> tuple[str, ...]:
    """Read the settings of a block; return the comments below the last of them."""
    for name, value in block.items():
        if isinstance(value, dict) and value and not prefix:
            below = () if _is_block(value) else _take_below(block, name)
            beside, between = block.ca.items.get(name, [None] * 4)[2:]
            first, inner = _split(beside)
            document.sections[name] = Entry(None, above, (first, None))
            above = _read(value, f"{name}.", document, (*inner, *_lines(between))) + below
        else:
            below = _take_below(block, name)
            exact = float(value) if isinstance(value, float) else value  # ruamel's own loses the 16th digit
            document.entries[prefix + str(name)] = Entry(exact, above, tuple(block.ca.items.get(name, [None] * 4)[2:]))
            above = below
    return above


def _is_block(value: Any) -> bool:
    return bool(value) and hasattr(value, "fa") and not value.fa.flow_style()


def _take_below(block: Any, name: Any) -> tuple[str, ...]:
    """Take the comments below a value out of the tree; the one beside it stays."""
    value = block[name]
    if _is_block(value):
        return _take_below(value, list(value)[-1] if isinstance(value, dict) else len(value) - 1)
    slots, slot = block.ca.items.get(name), 2 if isinstance(block, dict) else 0
    if slots is None or slots[slot] is None:
        return ()
    slots[slot], below = _split(slots[slot], below_only=getattr(value, "style", None) in {"|", ">"})
    return below


def _split(token: Any, below_only: bool = False) -> tuple[Any, tuple[str, ...]]:
    """Return the part of a comment that stands beside a value, and the lines below it."""
    first, _, below = ("", "", token.value) if below_only else (token.value if token else "").partition("\n")
    return (_token(first, token.start_mark.column) if first else None), tuple(_stripped(below))


def _lines(tokens: Iterable[Any] | None) -> tuple[str, ...]:
    return tuple(line for token in tokens or () for line in _stripped(token.value))


def _stripped(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n")[:-1]]


def _token(line: str, column: int) -> Any:
    from ruamel.yaml.error import CommentMark
    from ruamel.yaml.tokens import CommentToken

    return CommentToken(f"{line}\n", CommentMark(column))


def _dissolve_sections(document: Document) -> None:
    """Let the comments of each section belong to its first setting."""
    for section, head in document.sections.items():
        first = next(name for name in document.entries if name.startswith(f"{section}."))
        beside = _lines(head.beside[:1] if head.beside[0] else ())
        entry = document.entries[first]
        document.entries[first] = replace(entry, above=(*head.above, *beside, *entry.above))
    document.sections = {}


def _lift_blank_lines(document: Document) -> None:
    """Let the blank line before the first setting of a new section stand before the section."""
    for section, first in {name.rpartition(".")[0]: name for name in reversed(document.entries)}.items():
        entry = document.entries[first]
        if section and section not in document.sections and entry.above[:1] == ("",):
            document.sections[section] = Entry(above=("",))
            document.entries[first] = replace(entry, above=entry.above[1:])


def render(document: Document) -> str:
    """Return the file as text; should its comments change what it means, they are left out."""
    tree = _tree(document)
    text = dump(tree) + "".join(f"{line}\n" for line in document.foot)
    if parse_yaml(text, "the file") == tree:
        return text
    return dump(_tree(Document({name: Entry(entry.value) for name, entry in document.entries.items()})))


def _tree(document: Document) -> Any:
    from ruamel.yaml.comments import CommentedMap

    root = CommentedMap()
    for path, entry in document.entries.items():
        section, _, name = path.rpartition(".")
        if section and section not in root:
            _put(root, section, replace(document.sections.get(section, Entry()), value=CommentedMap()), 0)
        _put(root[section] if section else root, name, entry, 2 if section else 0)
    return root


def _put(block: Any, name: str, entry: Entry, indent: int) -> None:
    block[name] = entry.value
    block.ca.items[name] = [None, [_token(line, indent) for line in entry.above], *entry.beside]
