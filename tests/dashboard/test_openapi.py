"""The OpenAPI document is complete, and the server keeps to it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, cast

import httpx
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance

from ptp.dashboard.app import create_app
from tests.dashboard.parts import TOKEN

STREAMS = ("/api/v1/live", "/api/v1/actions/stream")
SLOW = ("/api/v1/fork",)  # starts a process each time; it has tests of its own


def document(client: httpx.Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/api/v1/openapi.json").json()
    return found


def test_every_field_and_parameter_is_typed_and_described(client: httpx.Client) -> None:
    schema = document(client)
    for name, component in schema["components"]["schemas"].items():
        assert component.get("description"), name
        for field, facts in component.get("properties", {}).items():
            assert facts.get("description"), f"{name}.{field}"
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            assert operation.get("description") or operation.get("summary"), path
            assert "200" in operation["responses"], path
            for parameter in operation.get("parameters", ()):
                assert parameter.get("description"), (path, method, parameter["name"])
                assert parameter["schema"], path


def test_every_endpoint_of_the_contract_is_there(client: httpx.Client) -> None:
    paths = document(client)["paths"]
    for path in ("status", "screenshots/latest", "actions", "metrics", "snapshot/list", "config"):
        known = path.replace("screenshots/latest", "screenshots/{screenshot_id}")
        assert "get" in paths[f"/api/v1/{known}"], path
    assert "post" in paths["/api/v1/snapshot/restore/{snapshot_id}"]


def test_generated_requests_find_no_server_error_and_no_answer_outside_the_schema(shelf: Path, tmp_path: Path) -> None:
    shutil.copytree(shelf, tmp_path / "var")  # some of them change runs
    app = create_app(tmp_path / "var", TOKEN, hosts=None, reads_per_second=1e6)
    schema = schemathesis.openapi.from_asgi("/api/v1/openapi.json", app)
    operations: list[Any] = [cast(Any, each).ok() for each in schema.get_all_operations()]
    checks = [not_a_server_error, response_schema_conformance, content_type_conformance]
    quick = settings(
        max_examples=15,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    for operation in operations:
        if operation.path in STREAMS + SLOW:
            continue

        @quick
        @given(operation.as_strategy())
        def probe(case: Any) -> None:
            case.call_and_validate(checks=checks, headers={"Authorization": f"Bearer {TOKEN}"})

        probe()
