"""One setting: its type, default, bounds and help, and how text becomes its value."""

from dataclasses import dataclass, field
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from ptp.errors import ConfigError

TRUE = {"true", "yes", "on", "1"}
FALSE = {"false", "no", "off", "0"}
NAMES = {bool: "true or false", int: "a whole number", float: "a number", str: "text", tuple: "a list"}


@dataclass(frozen=True)
class Setting:
    """Everything there is to know about one setting."""

    section: str
    name: str
    key: str
    flag: str
    type: type
    optional: bool
    default: Any
    help: str
    choices: tuple[str, ...]
    least: float | None
    most: float | None
    needs: str | None

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
        if self.type is tuple:
            return "any of " + ", ".join(self.choices)
        if self.choices:
            return ", ".join(self.choices)
        words = NAMES[self.type]
        if self.least is not None and self.most is not None:
            return f"{words} from {self.least:g} to {self.most:g}"
        if self.least is not None:
            return f"{words}, {self.least:g} or more"
        return words

    def parse(self, text: str, where: str) -> Any:
        """Turn the text of a flag or an environment variable into a checked value."""
        lowered = text.strip().lower()
        if self.optional and lowered in {"none", "null"}:
            return None
        if self.type is bool and lowered in TRUE | FALSE:
            return lowered in TRUE
        if self.type is tuple:
            return self.check([part.strip() for part in text.split(",") if part.strip()], where)
        try:
            value: Any = self.type(text) if self.type in (int, float) else text
        except ValueError:
            value = text
        return self.check(value, where)

    def check(self, value: Any, where: str) -> Any:
        """Return *value* if it is allowed; a list becomes a tuple and a whole number a float where asked."""
        if value is None and self.optional:
            return None
        if self.type is float and type(value) is int:
            value = float(value)
        if self.type is tuple and isinstance(value, list):
            value = tuple(value)
        if not self._fits(value):
            raise ConfigError(f"{where}: {_shown(value)} is not allowed; allowed: {self.allowed}")
        return value

    def _fits(self, value: Any) -> bool:
        if type(value) is not self.type:  # a bool is no int here
            return False
        return self._within(value)

    def _within(self, value: Any) -> bool:
        if self.type is tuple:
            return all(item in self.choices for item in value)
        if self.choices:
            return value in self.choices
        if self.type in (int, float):
            return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)
        return True


def setting(
    default: Any,
    help: str,
    *,
    flag: str | None = None,
    key: str | None = None,
    least: float | None = None,
    most: float | None = None,
    needs: str | None = None,
) -> Any:
    """Declare a setting as a dataclass field.

    *needs* names the feature a setting belongs to while that feature is not built yet: any value but the
    default is then refused.
    """
    facts = {"help": help, "flag": flag, "key": key, "least": least, "most": most, "needs": needs}
    return field(default=default, metadata=facts)


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
    return annotation, False, ()


def _shown(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else repr(value)
