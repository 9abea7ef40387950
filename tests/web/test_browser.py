"""The page in a real browser, over a real server and a live run."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ptp.runs.run import Run
from ptp.web.app import STATIC
from tests.steering import ask
from tests.web.parts import TOKEN, tick_of, wait_for
from tests.web.stage import Stage

MOST_WEIGHT = 300_000  # bytes


def test_the_page_shows_the_moving_game(stage: Stage) -> None:
    stage.open()
    wait_for(lambda: stage.shown_tick() > 0)
    first, picture = stage.shown_tick(), stage.pixels()
    wait_for(lambda: stage.shown_tick() > first + 20 and stage.pixels() != picture)
    scale = stage.page.evaluate("parseInt(document.querySelector('canvas').style.width) / 160")
    assert scale == int(scale) >= 1
    stage.page.wait_for_selector("text=Decision")


def test_a_click_pauses_the_run_and_another_lets_it_go_on(stage: Stage) -> None:
    stage.open()
    stage.page.click("#pause")
    wait_for(lambda: ask(stage.run, "status")["paused"])
    stage.page.wait_for_selector("text=PAUSED")
    at = tick_of(stage.run)
    stage.page.keyboard.press("s")
    wait_for(lambda: tick_of(stage.run) == at + 1)
    stage.page.click("#pause")
    wait_for(lambda: not ask(stage.run, "status")["paused"])


def test_the_timeline_shows_an_old_tick(stage: Stage) -> None:
    wait_for(lambda: tick_of(stage.run) > 60)
    stage.open("timeline/40")
    wait_for(lambda: stage.shown_tick() == 40)
    old = stage.pixels()
    stage.page.keyboard.press("Home")
    wait_for(lambda: stage.shown_tick() == 0)
    assert stage.pixels() != old
    stage.page.keyboard.press("ArrowRight")
    wait_for(lambda: stage.shown_tick() == 1)
    stage.page.keyboard.press("]")
    wait_for(lambda: stage.shown_tick() > 1)


def test_the_run_goes_back_to_a_snapshot_from_the_page(stage: Stage) -> None:
    taken = ask(stage.run, "snapshot", name="here")["snapshot"]["tick"]
    wait_for(lambda: tick_of(stage.run) > taken + 40)
    ask(stage.run, "pause")
    stage.open("snapshots")
    stage.page.click(f"[data-restore='{taken}']")
    stage.page.click("dialog button[value=yes]")
    wait_for(lambda: tick_of(stage.run) == taken)


def test_a_wrong_token_is_refused_and_the_run_plays_on(stage: Stage) -> None:
    stage.open(token="not the token at all")
    stage.page.click("#pause")
    stage.page.wait_for_selector("dialog[open] input[type=password]")
    assert ask(stage.run, "status")["paused"] is False
    stage.page.fill("dialog input", TOKEN)
    stage.page.click("dialog button[value=yes]")
    wait_for(lambda: ask(stage.run, "status")["paused"])


def test_the_token_does_not_stay_in_the_address(stage: Stage) -> None:
    stage.page.goto(f"{stage.client.base_url}/#token={TOKEN}")
    stage.page.wait_for_selector("table")
    assert "token" not in stage.page.url


@pytest.mark.parametrize("width", [360, 1280])
def test_no_view_is_wider_than_its_window(stage: Stage, width: int) -> None:
    stage.page.set_viewport_size({"width": width, "height": 800})
    for view in ("live", "timeline/10", "actions", "snapshots", "about"):
        stage.open(view)
        stage.page.wait_for_selector(".tabs")
        stage.page.wait_for_load_state("networkidle") if view != "live" else None
        wide = stage.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, view


@pytest.mark.parametrize("width", [400, 1400])
def test_the_list_shows_tags_picks_by_them_and_fits(stage: Stage, width: int) -> None:
    Run(stage.run).tag("best", "a tag of a few words")
    stage.page.set_viewport_size({"width": width, "height": 800})
    stage.page.goto(f"{stage.client.base_url}/#token={TOKEN}")
    stage.page.click("button.tag >> text=best")
    wait_for(lambda: stage.page.locator("select[aria-label=tag]").input_value() == "best")
    assert stage.page.locator("tbody tr.link").count() == 1
    wide, shown = stage.page.evaluate("(e => [e.scrollWidth, e.clientWidth])(document.querySelector('.tablewrap'))")
    assert wide <= shown


def test_the_page_loads_nothing_from_elsewhere_and_is_light(stage: Stage) -> None:
    asked: list[str] = []
    weight = [0]

    def count(response: Any) -> None:
        asked.append(response.url)
        if "/static/" in response.url or response.url.rstrip("/") == str(stage.client.base_url).rstrip("/"):
            weight[0] += len(response.body())

    stage.page.on("response", count)
    stage.page.goto(str(stage.client.base_url))
    stage.page.wait_for_selector("table")
    assert all(url.startswith(str(stage.client.base_url)) for url in asked)
    assert 0 < weight[0] < MOST_WEIGHT


def test_the_files_of_the_page_name_no_other_host() -> None:
    for path in STATIC.iterdir():
        hosts = set(re.findall(r"https?://[\w.]+", path.read_text()))
        assert hosts <= {"http://www.w3.org"}, path
