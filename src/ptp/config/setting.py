"""One setting: its type, default, bounds and help, and how text becomes its value."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from math import isfinite
from types import NoneType, SimpleNamespace, UnionType
from typing import Any, ClassVar, Literal, Self, TypeVar, Union, dataclass_transform, get_args, get_origin

from ptp.errors import ConfigError

TRUE = {"true", "yes", "on", "1"}
FALSE = {"false", "no", "off", "0"}
LARGEST = 10_000  # names and values in one mapping of options
NAMES = {
    bool: "true or false", int: "a whole number", float: "a number", str: "text", tuple: "a list",
    dict: "name=value, or names with values as a mapping",
}  # fmt: skip


class Setting:
    """Everything there is to know about one setting; *signal* is what a limit watches, if the world reports it.

    A list may have values of the form *further* beside its choices; whoever needs them checks them.
    """

    section: str
    name: str
    type: type
    optional: bool
    choices: tuple[str, ...]

    def __init__(
        self,
        default: Any,
        help: str,
        *,
        flag: str = "",
        key: str = "",
        least: float | None = None,
        most: float | None = None,
        signal: str | None = None,
        further: str = "",
    ) -> None:
        self.default, self.help, self.signal, self.further = default, help, signal, further
        self.flag, self.key = flag, key
        self.least, self.most = least, most

    @property
    def path(self) -> str:
        """Its place in a YAML file."""
        return f"{self.section}.{self.key}"

    @property
    def env(self) -> str:
        """The environment variable that sets it."""
        return "PTP_" + self.flag.removeprefix("--").replace("-", "_").upper()

    @property
    def allowed(self) -> str:
        """What it may be, in words."""
        if self.choices:
            names = ", ".join(self.choices) + (f", or {self.further}" if self.further else "")
            return ("any of " if self.type is tuple else "") + names
        words = NAMES[self.type]
        if self.least is not None and self.most is not None:
            return f"{words} from {self.least:g} to {self.most:g}"
        return words if self.least is None else f"{words}, {self.least:g} or more"

    def parse(self, text: str, where: str) -> Any:
        """Turn the text of a flag or an environment variable into a checked value."""
        if self.optional and text.strip().lower() in {"none", "null"}:
            return None
        value: Any = text
        if self.type is tuple:
            value = [part.strip() for part in text.split(",") if part.strip()]
        elif self.type in READERS:
            with suppress(ValueError):
                value = READERS[self.type](text)
        return self.check(value, where)

    def check(self, value: Any, where: str) -> Any:
        """Return *value* if it is allowed; a list, a whole number and a word for true or false become what is asked."""
        if value is None and self.optional:
            return None
        if self.type is float and type(value) is int:
            value = float(value)
        if self.type is tuple and isinstance(value, list):
            value = tuple(value)
        if self.type is bool and isinstance(value, str) and value.strip().lower() in TRUE | FALSE:
            value = value.strip().lower() in TRUE
        if type(value) is not self.type or not self._within(value):  # a bool is no int here
            shown = ",".join(map(str, value)) if isinstance(value, tuple) else repr(value)
            raise ConfigError(f"{where}: {shown} is not allowed; allowed: {self.allowed}")
        return value

    def _within(self, value: Any) -> bool:
        if self.type is tuple:
            return all(self._allows(item) for item in value)
        if self.type is dict:
            return _is_data(value)
        if self.choices:
            return value in self.choices
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)

    def _allows(self, item: Any) -> bool:
        if not self.choices or item in self.choices:
            return type(item) is str
        return bool(self.further) and type(item) is str and _is_pair(item)


def _is_pair(text: str) -> bool:
    word, colon, name = text.partition(":")
    return bool(word.strip() and colon and name.strip())


def read_option(text: str) -> Any:
    """Return `name=value` as a mapping of one, or a JSON object; a value that is not JSON is text."""
    from msgspec.json import decode  # here, since few command lines have options

    if text.lstrip().startswith("{"):
        return decode(text)
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise ValueError(text)
    try:
        return {name: decode(value)}
    except ValueError:
        return {name: value}


READERS: dict[type, Callable[[str], Any]] = {int: int, float: float, dict: read_option}


def _is_data(value: Any) -> bool:
    """Whether JSON can hold a value; aliases in YAML can make a small file endless, so its size has a bound."""
    waiting, seen = [value], 0
    while waiting and seen < LARGEST:
        node, seen = waiting.pop(), seen + 1
        if isinstance(node, dict):
            waiting += [*node, *node.values()]
            if not all(isinstance(name, str) for name in node):
                return False
        elif isinstance(node, list):
            waiting += node
        elif not (node is None or isinstance(node, bool | int | str) or (isinstance(node, float) and isfinite(node))):
            return False
    return not waiting


def read_type(annotation: Any) -> tuple[type, bool, tuple[str, ...]]:
    """Return the plain type, whether None is allowed, and the choices that an annotation names."""
    if get_origin(annotation) in (UnionType, Union):
        inner, *_ = [arg for arg in get_args(annotation) if arg is not NoneType]
        kind, _, choices = read_type(inner)
        return kind, True, choices
    if get_origin(annotation) is Literal:
        return str, False, get_args(annotation)
    if get_origin(annotation) is tuple:
        return tuple, False, read_type(get_args(annotation)[0])[2]
    return dict if get_origin(annotation) is Mapping else annotation, False, ()


setting: Any = Setting
"""Declares a setting; a field of any type can have it as its value."""


# Neither dataclasses nor msgspec: importing either takes as long as the rest of a start.
@dataclass_transform(kw_only_default=True, frozen_default=True)
class Frozen(SimpleNamespace):
    """Values with defaults that never change; those with the same values are equal."""

    names: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        kinds: dict[str, Any] = cls.__annotations__
        cls.names += tuple(name for name in kinds if get_origin(kinds[name]) is not ClassVar)

    def __init__(self, **values: Any) -> None:
        unknown = values.keys() - set(self.names)
        if unknown:
            raise TypeError(f"{type(self).__name__} has no {', '.join(sorted(unknown))}")
        super().__init__(**{name: getattr(type(self), name) for name in self.names} | values)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} can't change; make another with replace()")


T = TypeVar("T", bound=Frozen)


def replace(old: T, **changes: Any) -> T:
    """Return the same values but for some."""
    return type(old)(**vars(old) | changes)


class Section(Frozen):
    """Settings that belong together; each is a field of the class, and the flags of most begin with a prefix."""

    settings: ClassVar[tuple[Setting, ...]] = ()

    def __init_subclass__(cls, section: str, prefix: str = "") -> None:
        super().__init_subclass__()
        for name, annotation in cls.__annotations__.items():
            item: Setting = getattr(cls, name)
            item.section, item.name = section, name
            item.key = item.key or name
            item.flag = item.flag or f"--{prefix}{item.key}".replace("_", "-")
            item.type, item.optional, item.choices = read_type(annotation)
            cls.settings += (item,)
            setattr(cls, name, item.default)

    @classmethod
    def of(cls, values: Mapping[Setting, Any]) -> Self:
        """Make it from checked values, defaults elsewhere; the settings of other sections are ignored."""
        return cls(**{item.name: values[item] for item in cls.settings if item in values})
