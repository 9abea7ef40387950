"""What a model was told and answered, over HTTP and on the page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from ptp.recording import RunDirectory
from ptp.recording.database import Database
from tests.agents.llm.servers import Reply, act
from tests.agents.llm.servers import serving as models
from tests.web.parts import record, serving, wait_for
from tests.web.stage import Stage


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunDirectory]:
    """A run of CartPole whose model looked at the screen and said what a page must not obey."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "sk-none-at-all")
        look = Reply("<img src=x onerror=alert(1)>", tools=[("request_snapshot", {})])
        with models("openai", [look, act("left"), act("right")]) as server:
            yield record(
                tmp_path_factory.mktemp("asked"), world="CartPole-v1", agent="llm", model=server.model,
                base_url=server.url, max_ticks=3,
            )  # fmt: skip


@pytest.fixture
def client(asked: RunDirectory) -> Iterator[httpx.Client]:
    """A client of a server over that run."""
    with serving(asked.path.parent.parent) as client:
        yield client


def test_a_transcript_and_its_pictures_can_be_read_over_http(client: httpx.Client) -> None:
    found = client.get("/api/v1/transcript").json()
    assert [call["tick"] for call in found["calls"]] == [0, 0, 1, 2]
    pictures = [part["hash"] for call in found["calls"] for part in call["asked"] if part["kind"] == "picture"]
    assert len(pictures) == 1
    shown = client.get(f"/api/v1/transcript/picture/{pictures[0]}")
    assert shown.headers["content-type"] == "image/png"
    assert shown.content.startswith(b"\x89PNG")
    assert len(client.get("/api/v1/transcript?limit=1").json()["calls"]) == 2, "the calls of a tick stay together"
    assert len(client.get("/api/v1/transcript?from_tick=1&to_tick=1").json()["calls"]) == 1


def test_only_pictures_are_served_as_pictures(client: httpx.Client, asked: RunDirectory) -> None:
    with Database(asked.database) as database:
        (text,) = database.row("SELECT prompt_hash FROM model_calls LIMIT 1")
    for name in ("0" * 64, text):
        assert client.get(f"/api/v1/transcript/picture/{name}").status_code == 404


def test_the_page_shows_calls_with_pictures_and_links_to_ticks(
    browser: Any, client: httpx.Client, asked: RunDirectory
) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    stage = Stage(context.new_page(), client, asked)
    stage.open("transcript")
    page = stage.page
    page.wait_for_selector("[data-call]")
    assert page.locator("[data-call]").count() == 4
    assert "<img src=x" in page.locator("[data-call]").first.inner_text()
    wait_for(lambda: page.locator("[data-call] canvas").first.evaluate("it => it.width") == 600)
    page.locator("[data-call='2'] h2 a").click()
    wait_for(lambda: page.url.endswith("/timeline/2"))
    assert not stage.problems
    context.close()


def test_a_run_without_a_model_has_no_transcript_to_look_at(scene: Stage) -> None:
    scene.open()
    scene.page.wait_for_selector(".tabs a")
    assert "Transcript" not in scene.page.locator(".tabs").inner_text()
