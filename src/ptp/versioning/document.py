"""A config file as text that can change its version and keep its comments and its order."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from ptp.versioning.configs import Dropped, find_path, migrate_entries

_REMARK = re.compile(r"\s*(#.*)?")
_INDENT = "  "


@dataclass(frozen=True)
class Entry:
    """One setting: the remarks above it, and what stands after its name, as it was written."""

    value: Any
    body: tuple[str, ...]
    above: tuple[str, ...] = ()


@dataclass(frozen=True)
class Document:
    """A config file taken apart; a setting in a section is named section.name."""

    entries: dict[str, Entry]
    sections: dict[str, Entry] = field(default_factory=dict)
    head: tuple[str, ...] = ()
    foot: tuple[str, ...] = ()


def parse(text: str) -> Document:
    """Take a YAML file apart; the caller has made sure that it is a mapping of names."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    assert isinstance(root, yaml.MappingNode)
    if root.flow_style:
        return Document({name: _plain(_value(node)) for name, node in _leaves(root)})
    reader = _Reader(text.splitlines())
    foot = reader.read(root, 0, len(reader.lines), "")
    return _with_head(Document(reader.entries, reader.sections, (), foot))


class _Reader:
    """Walks through the lines of a file and keeps what it finds."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.entries: dict[str, Entry] = {}
        self.sections: dict[str, Entry] = {}

    def read(self, block: yaml.MappingNode, start: int, end: int, prefix: str) -> tuple[str, ...]:
        """Read the settings of a block between two lines; return the remarks after the last of them."""
        begins = [key.start_mark.line for key, _ in block.value] + [end]
        above = _remarks(self.lines[start : begins[0]])
        for (key, node), stop in zip(block.value, begins[1:], strict=True):
            if isinstance(node, yaml.MappingNode) and node.value and not prefix:
                above = self._section(key, node, stop, above)
            else:
                above = self._setting(prefix + key.value, key, node, stop, above)
        return above

    def _section(self, key: yaml.Node, node: yaml.MappingNode, stop: int, above: tuple[str, ...]) -> tuple[str, ...]:
        if not node.flow_style:
            self.sections[key.value] = Entry(None, (_after_name(key, self.lines),), above)
            return self.read(node, key.start_mark.line + 1, stop, f"{key.value}.")
        last = node.end_mark
        self.sections[key.value] = Entry(None, (self.lines[last.line][last.column :].strip(),), above)
        self.entries |= {f"{key.value}.{name}": _plain(_value(leaf)) for name, leaf in _leaves(node)}
        return _remarks(self.lines[last.line + 1 : stop])

    def _setting(
        self, name: str, key: yaml.Node, node: yaml.Node, stop: int, above: tuple[str, ...]
    ) -> tuple[str, ...]:
        start, indent = key.start_mark.line, key.start_mark.column
        end, below = _peel(self.lines, start, stop, node)
        further = (_dedented(line, indent) for line in self.lines[start + 1 : end])
        self.entries[name] = Entry(_value(node), (_after_name(key, self.lines), *further), above)
        return below


def _peel(lines: list[str], start: int, stop: int, node: yaml.Node) -> tuple[int, tuple[str, ...]]:
    """Return where the setting itself ends, and the remarks after it, which belong to what follows."""
    block_text = isinstance(node, yaml.ScalarNode) and node.style in ("|", ">")
    least = node.end_mark.line if block_text else start + 1
    end = stop
    while end > least and _REMARK.fullmatch(lines[end - 1]):
        end -= 1
    return end, _remarks(lines[end:stop])


def _remarks(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(line.strip() for line in lines)


def _dedented(line: str, indent: int) -> str:
    return line.lstrip() if line[:indent].strip() else line[indent:]


def _after_name(key: yaml.Node, lines: list[str]) -> str:
    return lines[key.start_mark.line][key.end_mark.column :].lstrip().removeprefix(":").strip()


def _leaves(node: yaml.MappingNode) -> Iterator[tuple[str, yaml.Node]]:
    for key, child in node.value:
        if isinstance(child, yaml.MappingNode) and child.value:
            for name, leaf in _leaves(child):
                yield f"{key.value}.{name}", leaf
        else:
            yield key.value, child


def _value(node: yaml.Node) -> Any:
    constructor = yaml.SafeLoader("")
    try:
        return constructor.construct_object(node, deep=True)
    finally:
        constructor.dispose()


def _plain(value: Any) -> Entry:
    """Return a setting whose text is made from its value."""
    if isinstance(value, str):
        return Entry(value, (json.dumps(value, ensure_ascii=False),))
    text = yaml.safe_dump(value, default_flow_style=True, width=10**9, allow_unicode=True)
    return Entry(value, (text.strip().removesuffix("...").strip(),))


def _with_head(document: Document) -> Document:
    """Part what must stay the beginning of the file, like `---`, from the remarks above the first setting."""
    first = next(iter(document.sections if _begins_with_section(document) else document.entries), None)
    if first is None:
        return document
    owner = document.sections if _begins_with_section(document) else document.entries
    above = owner[first].above
    marks = [index for index, line in enumerate(above) if line.startswith(("---", "%"))]
    cut = marks[-1] + 1 if marks else 0
    owner[first] = replace(owner[first], above=above[cut:])
    return replace(document, head=above[:cut])


def _begins_with_section(document: Document) -> bool:
    return bool(document.sections) and next(iter(document.entries)).startswith(next(iter(document.sections)) + ".")


def migrate_document(document: Document, start: str, goal: str) -> tuple[Document, list[Dropped]]:
    """Take a config file from one version to another; return it, and what the goal has no place for."""
    if any(step.direction == "down" for step in find_path(start, goal)):
        document = _without_sections(document)
    version = document.entries.get("version")
    settings = {name: entry for name, entry in document.entries.items() if name != "version"}
    settings, dropped = migrate_entries(settings, start, goal, _plain)
    said = Entry(goal, (json.dumps(goal),), version.above if version else ())
    place = list(document.entries).index("version") if version else 0
    listed = list(settings.items())
    entries = dict([*listed[:place], ("version", said), *listed[place:]])
    return _with_blank_lines(replace(document, entries=entries)), dropped


def _without_sections(document: Document) -> Document:
    """Let the remarks of each section belong to its first setting."""
    entries = dict(document.entries)
    for section, head in document.sections.items():
        first = next(name for name in entries if name.startswith(f"{section}."))
        entries[first] = replace(entries[first], above=(*head.above, *filter(None, head.body), *entries[first].above))
    return replace(document, entries=entries, sections={})


def _with_blank_lines(document: Document) -> Document:
    """Let the blank line before the first setting of a new section stand before the section."""
    entries, sections = dict(document.entries), dict(document.sections)
    firsts = {name.rpartition(".")[0]: name for name in reversed(entries)}
    for section, first in firsts.items():
        above = entries[first].above
        if section and section not in sections and above[:1] == ("",):
            sections[section] = Entry(None, ("",), ("",))
            entries[first] = replace(entries[first], above=above[1:])
    return replace(document, entries=entries, sections=sections)


def render(document: Document) -> str:
    """Return the file as text; where the text as it was written no longer means the same, it is written anew."""
    text = _joined(document)
    return text if _means(text, document) else _joined(_rewritten(document))


def _rewritten(document: Document) -> Document:
    return Document({name: _plain(entry.value) for name, entry in document.entries.items()})


def _means(text: str, document: Document) -> bool:
    try:
        found = yaml.load(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        return False
    wanted: dict[str, Any] = {}
    for name, entry in document.entries.items():
        section, _, key = name.rpartition(".")
        (wanted.setdefault(section, {}) if section else wanted)[key] = entry.value
    return bool(found == wanted)


def _joined(document: Document) -> str:
    lines = list(document.head)
    done: set[str] = set()
    for name, entry in document.entries.items():
        section, _, _ = name.rpartition(".")
        if not section:
            lines += _lines(name, entry, "")
        elif section not in done:
            done.add(section)
            lines += _section(section, document)
    return "\n".join([*lines, *document.foot]) + "\n"


def _section(section: str, document: Document) -> list[str]:
    lines = _lines(section, document.sections.get(section, Entry(None, ("",))), "")
    for name, entry in document.entries.items():
        if name.startswith(f"{section}."):
            lines += _lines(name.removeprefix(f"{section}."), entry, _INDENT)
    return lines


def _lines(name: str, entry: Entry, indent: str) -> list[str]:
    first, *further = entry.body
    text = [*entry.above, f"{name}: {first}".rstrip() if first else f"{name}:", *further]
    return [indent + line if line.strip() else "" for line in text]
