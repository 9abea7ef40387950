"""The contract as items, each with its check; `python -m tests.contract` prints what became of every one."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import msgspec
from ruamel.yaml import YAML

import ptp
from ptp.aggregation.central import CENTRAL_SCHEMAS
from ptp.cli.parser import make_parser
from ptp.cli.verb import walk
from ptp.cli.verbs import VERBS
from ptp.config.flags import given_values
from ptp.config.tree import BY_FLAG, EXPERIMENT_SETTINGS
from ptp.config.versions import CONFIG_KINDS
from ptp.errors import PtpError, UnknownName, UsageError
from ptp.frames.profiles import built_in_profiles
from ptp.versioning.configs import VERSIONS
from ptp.versioning.drift import SCHEMA_KINDS
from ptp.versioning.schema import RUN_SCHEMAS
from ptp.versioning.sqlite import shape_of
from tests.contract.answers import differences
from tests.contract.product import Product

HERE = Path(__file__).parent
SOURCE = Path(ptp.__file__).parent
SHOTS = "/api/v1/screenshots/{id}"
TYPES: dict[str, type] = {
    "int": int, "bool": bool, "float": float, "str": str, "list": tuple, "enum": str,
}  # fmt: skip


class Absent(Exception):
    """The product has no such thing."""


class By(str):
    """What meets the promise."""


Check = Callable[[Product], str | None]
"""Returns what is not as promised; raises Absent when there is nothing at all."""


@dataclass(frozen=True, slots=True)
class Item:
    """One promise."""

    kind: str
    name: str
    check: Check
    later: str | None = None
    """The part of the road map that brings it."""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"

    def outcome(self, product: Product) -> tuple[str, str]:
        """Return met, missing or later, and why."""
        try:
            problem = self.check(product)
        except Absent as absent:
            return ("later", self.later) if self.later else ("missing", str(absent) or "there is none")
        return ("missing", problem) if problem and not isinstance(problem, By) else ("met", problem or "")


def read_contract() -> dict[str, Any]:
    """Return the contract as data."""
    data: dict[str, Any] = YAML(typ="safe").load((HERE / "contract.yaml").read_text())
    return data


def items(contract: dict[str, Any]) -> Iterator[Item]:
    """Return every promise of the contract."""
    for kind, versions in contract["versions"].items():
        yield from (Item(f"{kind} version", version, partial(_version, kind, version)) for version in versions)
    for flag, kind, default, *facts in contract["flags"]:
        more = facts[0] if facts else {}
        yield Item("flag", flag, partial(_flag, flag, kind, default, more), more.get("later"))
    for verb, flag in contract["switches"]:
        yield Item("flag", f"{verb} {flag}".strip(), partial(_switch, verb, flag))
    for line in contract["runs"]:
        yield Item("example", line, partial(_example, line))
    for line, *later in contract["commands"]:
        yield Item("command", line, partial(_command, line), *later)
    yield from _read_items(contract)
    yield from _kept_items(contract)
    yield from _named_items(contract)


def _read_items(contract: dict[str, Any]) -> Iterator[Item]:
    for endpoint in contract["endpoints"]:
        answer = cache(lambda product, words=endpoint["answer"]: product.answers(*words.split()))
        for field, kind in endpoint["fields"].items():
            yield Item("endpoint", f"{endpoint['answer']} {field}", partial(_field, answer, field, kind))
    for found, kind in contract["battle_pictures"].items():
        yield Item("picture", f"of a battle: {found} of type {kind}", partial(_battle_picture, found, kind))
    for action, fields in contract["actions"].items():
        yield Item("action", f"{action} with {', '.join(fields)}", partial(_action, action, fields))


def _kept_items(contract: dict[str, Any]) -> Iterator[Item]:
    for table, columns in contract["tables"].items():
        for column, kind in columns.items():
            yield Item("column", f"{table}.{column} {kind}", partial(_column, table, column, kind))
        yield Item("query", f"{', '.join(columns)} of {table}", partial(_query, table, list(columns)))
    for table, shape in shape_of(RUN_SCHEMAS.newest).tables.items():
        for name in (f"{table}.{column}" for column in shape):
            yield Item("filled", name, partial(_filled, name), contract["unfilled"].get(name))
    for column, allowed in contract["values"].items():
        yield Item("values", f"{column}: {', '.join(allowed)}", partial(_values, column, allowed))
    for column, kind in contract["json"].items():
        yield Item("values", f"{column}: JSON {kind}", partial(_json, column, kind))
    for metric in contract["metrics"]:
        yield Item("metric", metric, partial(_metric, metric))
    for table, columns in contract["central"].items():
        yield from (Item("central", f"{table}.{name}", partial(_central, table, name)) for name in columns)
    for name in contract["files"]:
        yield Item("file", name, partial(_file, name))
    for action, (code, report) in contract["endings"].items():
        yield Item("ending", action, partial(_ending, action, code, report))
    for prefix in contract["snapshots"]:
        yield Item("snapshot", f"{prefix}NAME", partial(_snapshot, prefix))


def _named_items(contract: dict[str, Any]) -> Iterator[Item]:
    for what, kinds in contract["drift"].items():
        yield from (Item("drift", f"{what} {kind}", partial(_drift, what, kind)) for kind in kinds)
    for text, later in contract["messages"].items():
        yield Item("message", text, partial(_message, text), later)
    for name, later in contract["errors"].items():
        yield Item("error", name, partial(_attribute, "ptp.errors", name), later)
    for name, later in contract["names"].items():
        yield Item("name", f"ptp.{name}", partial(_attribute, "ptp", name), later)
    for name, facts in contract["profiles"].items():
        yield from (Item("profile", f"{name}.{key}", partial(_profile, name, key, facts[key])) for key in facts)
    for table, later in contract["tables_later"].items():
        yield Item("table", table, partial(_query, table, ["*"]), later)
    for module, later in contract["modules"].items():
        yield Item("room", module, partial(_module, module), later)


# -- the command line ----------------------------------------------------------------------------------------------


def _version(kind: str, version: str, product: Product) -> str | None:
    known = RUN_SCHEMAS.versions if kind == "schema" else VERSIONS
    return None if version in known else f"known: {', '.join(known)}"


def _flag(flag: str, kind: str, default: Any, facts: dict[str, Any], product: Product) -> str | None:
    setting = BY_FLAG.get(flag)
    if setting is None:
        raise Absent
    wanted = tuple(default) if kind == "list" else default
    if (setting.type, setting.default) != (TYPES[kind], wanted):
        return f"is {setting.type.__name__}, {setting.default!r} by default"
    if sorted(setting.choices) != sorted(facts.get("choices", ())):
        return f"takes {', '.join(setting.choices)}"
    for bound in ("least", "most"):
        if bound in facts and getattr(setting, bound) != facts[bound]:
            return f"{bound} is {getattr(setting, bound)}"
    if setting in EXPERIMENT_SETTINGS:
        raise Absent  # declared, and taken by no verb yet
    return _switch("run", facts.get("short", flag), product)


def _switch(verb: str, flag: str, product: Product) -> str | None:
    if not verb:
        return None if product.run(flag) == 0 else f"ptp {flag} fails"
    if flag not in make_parser(verb, dict(walk(VERBS))[verb])._option_string_actions:
        raise Absent
    return None


def _parse(line: str) -> Any:
    verbs, words = dict(walk(VERBS)), line.split()[1:]
    name = next((name for name in (" ".join(words[:2]), words[0]) if name in verbs), None)
    if name is None:
        raise Absent
    return make_parser(name, verbs[name]).parse(words[len(name.split()) :])


def _command(line: str, product: Product) -> str | None:
    try:
        _parse(line)
    except UnknownName as problem:
        raise Absent(str(problem)) from None
    except UsageError as problem:
        if any(words in str(problem) for words in ("unexpected argument", "invalid choice", "'qt' is not allowed")):
            raise Absent(str(problem)) from None
        return str(problem)
    if "--agent bdi" in line:
        raise Absent
    return None


def _example(line: str, product: Product) -> str | None:
    """Read an example as it stands, and play it for one tick."""
    file = product.shelf.data_dir.parent / "experiment.yaml"
    file.write_text('version: "3.0"\nscreenshot:\n  interval: 7\n')
    words = line.replace("experiment.yaml", str(file)).split()[2:]
    try:
        values = given_values(_parse(" ".join(["ptp", "run", *words])))
    except PtpError as problem:
        return str(problem)
    given = [word for word in words if word.startswith("--") and word != "--experiment-config"]
    if {setting.flag for setting in values} != set(given):
        return f"sets {', '.join(sorted(setting.flag for setting in values))}"
    code = product.run("run", *words, "--max-ticks", "1", "--tick-rate-base", "0")
    return None if code == 0 else f"ends with exit code {code}"


# -- what is served ------------------------------------------------------------------------------------------------


def _field(answers: Callable[[Product], list[Any]], field: str, kind: Any, product: Product) -> str | None:
    return differences(answers(product), field, kind)


def _battle_picture(found: str, kind: str, product: Product) -> str | None:
    pictures = [each for each in product.answers("GET", SHOTS) if each["screen_type"] == "battle"]
    if not any(part["type"] == kind for picture in pictures for part in picture["annotations"][found]):
        raise Absent(f"in none of {len(pictures)} pictures")
    return None


def _action(action: str, fields: list[str], product: Product) -> str | None:
    run = product.shelf.path("explorer").name
    page = product.client.get("/api/v1/actions", params={"run": run, "action": action, "page_size": 500}).json()
    found = [line["context"] for line in page["actions"] if line["action"] == action]
    if not found:
        raise Absent
    lacking = [field for field in fields if all(differences([context], field, "any") for context in found)]
    return f"never says {', '.join(lacking)}" if lacking else None


# -- what is kept --------------------------------------------------------------------------------------------------


def _column(table: str, column: str, kind: str, product: Product) -> str | None:
    types = dict(product.shelf.rows("explorer", f"SELECT name, type FROM pragma_table_info('{table}')"))
    if column not in types:
        raise Absent
    return None if types[column] == kind else f"is {types[column]}"


def _query(table: str, columns: list[str], product: Product) -> str | None:
    if not product.shelf.rows("explorer", f"SELECT 1 FROM pragma_table_info('{table}')"):
        raise Absent
    product.shelf.rows("explorer", f"SELECT {', '.join(columns)} FROM {table}")
    return None


def _filled(column: str, product: Product) -> str | None:
    table, name = column.split(".")
    sql = f"SELECT 1 FROM {table} WHERE {name} IS NOT NULL LIMIT 1"
    runs = [run for run in product.shelf.runs if product.shelf.rows(run, sql)]
    if not runs:
        raise Absent("no run fills it")
    return By(runs[0])


def _every(column: str, product: Product) -> set[Any]:
    table, name = column.split(".")
    sql = f"SELECT DISTINCT {name} FROM {table} WHERE {name} IS NOT NULL"
    return {value for run in product.shelf.runs for (value,) in product.shelf.rows(run, sql)}


def _values(column: str, allowed: list[str], product: Product) -> str | None:
    found = _every(column, product)
    if not found:
        raise Absent("no run fills it")
    return f"has {', '.join(sorted(found - set(allowed)))}" if found - set(allowed) else None


def _json(column: str, kind: str, product: Product) -> str | None:
    found = _every(column, product)
    if not found:
        raise Absent("no run fills it")
    wrong = [text for text in found if not isinstance(msgspec.json.decode(text), dict if kind == "object" else list)]
    return f"has {wrong[0][:80]}" if wrong else None


def _metric(metric: str, product: Product) -> str | None:
    found = _every("performance_metrics.metric_type", product)
    if metric not in found:
        raise Absent(f"measured: {', '.join(sorted(found))}")
    return None


def _central(table: str, column: str, product: Product) -> str | None:
    made = CENTRAL_SCHEMAS.creations(CENTRAL_SCHEMAS.newest).get(table)
    if made is None or not re.search(rf"\b{column}\b", made):
        raise Absent
    return None


def _file(name: str, product: Product) -> str | None:
    if not (product.shelf.path("explorer") / name).exists():
        raise Absent
    return None


def _ending(action: str, code: int, report: bool, product: Product) -> str | None:
    words = ("run", "--world", "FrozenLake-v1", "--max-ticks", "5", "--tick-rate-base", "0", "--on-limit", action)
    ended = product.run(*words, folder=action)
    written = any((product.shelf.data_dir.parent / action).glob("records/*/report.html"))
    return None if (ended, written) == (code, report) else f"ends with {ended}, report written: {written}"


def _snapshot(prefix: str, product: Product) -> str | None:
    names = {name for run in product.shelf.runs for (name,) in product.shelf.rows(run, "SELECT name FROM snapshots")}
    if not any(name and name.startswith(prefix) for name in names):
        raise Absent(f"there are {', '.join(sorted(filter(None, names)))}")
    return None


# -- names ---------------------------------------------------------------------------------------------------------


def _drift(what: str, kind: str, product: Product) -> str | None:
    if kind not in {"config": CONFIG_KINDS, "schema": SCHEMA_KINDS}[what]:
        raise Absent
    return None


@cache
def texts() -> str:
    """Return every text that the code can say."""
    found = []
    for path in SOURCE.rglob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text()))
        found += [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return "\n".join(found)


def _message(text: str, product: Product) -> str | None:
    if text.lower() not in texts().lower():
        raise Absent
    return None


def _attribute(module: str, name: str, product: Product) -> str | None:
    if name not in dir(importlib.import_module(module)):
        raise Absent
    return None


def _profile(name: str, key: str, value: Any, product: Product) -> str | None:
    found = getattr(built_in_profiles()[name], key)
    return None if found == value else f"is {found}"


def _module(name: str, product: Product) -> str | None:
    if importlib.util.find_spec(name) is None:
        raise Absent
    return None


def audit(product: Product, say: Callable[[str], object]) -> int:
    """Say what became of each promise, and the sum; return how many are missing."""
    sums: Counter[str] = Counter()
    for item in items(read_contract()):
        outcome, why = item.outcome(product)
        sums[outcome] += 1
        say(f"{outcome:8}{item}" + (f": {why}" if why else ""))
    say(f"{sums['met']} met, {sums['later']} later, {sums['missing']} missing")
    return sums["missing"]
