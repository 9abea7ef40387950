"""The settings as JSON Schema."""

from __future__ import annotations

import re

from ptp.config import RunConfig
from ptp.config.files import json_schema
from ptp.config.tree import ALL_SETTINGS, EXPERIMENT_SETTINGS, as_tree


def test_every_setting_is_in_the_schema_with_its_default_and_help() -> None:
    schema = json_schema()
    for item in ALL_SETTINGS:
        described = schema["properties"][item.section]["properties"][item.key]
        assert described["description"] == item.help
        assert described["default"] == (list(item.default) if item.type is tuple else item.default)


def test_bounds_and_choices_are_in_the_schema() -> None:
    properties = json_schema()["properties"]
    assert properties["screenshot"]["properties"]["quality"]["maximum"] == 100
    assert properties["tick_rate"]["properties"]["budget"]["enum"] == ["hourly", "daily", "run", None]
    words, named = properties["snapshot"]["properties"]["on_event"]["items"]["anyOf"]
    assert words == {"enum": ["catch", "battle", "badge", "death"]}
    assert re.search(named["pattern"], "location:STONE GYM")
    assert not any(re.search(named["pattern"], text) for text in ("rain", "location:", ":GYM", " : "))


def test_options_may_have_any_name() -> None:
    options = json_schema()["properties"]["agent"]["properties"]["options"]
    assert options["type"] == "object"
    assert "additionalProperties" not in options


def test_the_schema_has_no_section_or_setting_that_a_config_lacks() -> None:
    tree = as_tree(RunConfig())
    tree["experiment"] |= {item.key: item.default for item in EXPERIMENT_SETTINGS}
    properties = json_schema()["properties"]
    assert properties.keys() == tree.keys()
    for section, values in tree.items():
        if isinstance(values, dict):
            assert properties[section]["properties"].keys() == values.keys()
