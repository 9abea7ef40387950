"""What a person reads on the page: runs of any world, at any width, also while the server is away."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ptp.runs.run import Run
from tests.web.parts import TOKEN, playing, serving, tick_of, wait_for
from tests.web.stage import Stage

OPEN = "document.querySelectorAll('.side > .card:not(.hidden)')"
TAB_ENDS = "[...document.querySelectorAll('.tabs a')].map((tab) => tab.getBoundingClientRect().right)"
TABLES = "[...document.querySelectorAll('.tablewrap')].map((table) => [table.scrollWidth, table.clientWidth])"
EMPTY = f"[...{OPEN}].filter((card) => !card.textContent.trim()).length"


def texts(page: Any, selector: str) -> list[str]:
    """Return the texts of all elements of a kind."""
    return [str(text) for text in page.locator(selector).all_inner_texts()]


# -- worlds without a story ------------------------------------------------------------------------------------


def test_every_episode_is_marked_on_the_timeline_and_keys_jump_from_end_to_end(scene: Stage) -> None:
    episodes = list(Run(scene.run).episodes())
    scene.open("timeline/0")
    scene.page.wait_for_selector(".track rect")
    assert scene.page.locator(".track rect").count() == len(episodes) > 3
    assert f"episode {len(episodes)}" in texts(scene.page, ".legend button")
    for ended in episodes[:2]:
        scene.page.keyboard.press("]")
        wait_for(lambda: scene.shown_tick() == ended.tick)  # noqa: B023
        title = f"episode {ended.episode} ended after {ended.steps} steps, return {ended.reward:g}"
        scene.page.wait_for_selector(f"text={title}")


def test_commands_have_names_and_observations_are_one_short_line(scene: Stage) -> None:
    scene.open("timeline/20")
    scene.page.wait_for_selector(".seen")
    step = next(iter(Run(scene.run).steps(20, 20)))
    assert texts(scene.page, ".facts b")[1] == ("left", "right")[int(step.command)]
    (seen,) = texts(scene.page, ".seen")
    numbers = [float(word) for word in seen.strip("[]").split(", ")]
    assert numbers == pytest.approx(step.state["observation"], rel=0.01)
    assert len(seen) < 40
    scene.open("actions")
    scene.page.wait_for_selector("tbody .chip")
    assert set(texts(scene.page, "tbody .chip")) == {"left", "right"}
    scene.page.select_option("select[aria-label=Action]", "left")
    wait_for(lambda: set(texts(scene.page, "tbody .chip")) == {"left"})


def test_a_run_without_a_game_shows_returns_and_nothing_of_a_game(scene: Stage) -> None:
    scene.open()
    chart = scene.page.locator(".chart[data-name=episode_reward]")
    chart.wait_for()
    assert "Return per episode" in chart.inner_text()
    assert chart.locator(".dot").count() == len(list(Run(scene.run).episodes()))
    shown = scene.page.locator("main").inner_text().lower()
    assert "return so far" in shown
    assert "episode 1 ended" in shown
    for word in ("badge", "caught", "party", "seen", "money"):
        assert word not in shown, word


def test_charts_have_axes_with_round_numbers(scene: Stage) -> None:
    scene.open()
    chart = scene.page.locator(".chart[data-name=episode_reward]")
    chart.wait_for()
    for side in (".y", ".x"):
        labels = [float(text.replace(",", "")) for text in chart.locator(side).all_inner_texts()]
        assert len(labels) >= 2
        steps = {round(b - a, 6) for a, b in pairwise(labels)}
        assert len(steps) == 1
    box, card = (chart.locator(it).last.bounding_box() for it in (".x", "svg"))
    assert box["y"] > card["y"] + card["height"]


# -- the timeline ----------------------------------------------------------------------------------------------


def test_the_timeline_of_a_live_run_opens_with_every_panel_filled(stage: Stage) -> None:
    wait_for(lambda: tick_of(stage.run) > 60)
    stage.page.route("**/api/v1/frame*", lambda route: None)  # no picture ever comes
    stage.open("timeline")
    stage.page.wait_for_selector(".past .side .card:not(.hidden)")
    assert stage.page.evaluate(EMPTY) == 0
    assert "DRAWING" in stage.page.locator(".veil.shown").inner_text()
    stage.page.unroute_all(behavior="ignoreErrors")


def test_panels_of_another_tick_are_faded_until_they_show_the_chosen_one(scene: Stage) -> None:
    scene.open("timeline/30")
    scene.page.wait_for_selector(".side[data-tick='30']:not(.stale)")
    held: list[Any] = []
    scene.page.route("**/api/v1/tick/31*", lambda route: held.append(route))
    scene.page.keyboard.press("ArrowRight")
    scene.page.wait_for_selector(".side.stale[data-tick='30']")
    assert scene.page.locator("input[aria-label='Tick number']").input_value() == "31"
    wait_for(lambda: scene.page.wait_for_timeout(20) or held)
    held[0].continue_()
    scene.page.wait_for_selector(".side[data-tick='31']:not(.stale)")


def test_two_ticks_stand_side_by_side_with_what_changed_framed_and_listed(scene: Stage) -> None:
    scene.open("timeline/5")
    wait_for(lambda: scene.shown_tick() == 5)
    scene.page.click("#compare")
    scene.page.keyboard.press("Shift+ArrowRight")
    wait_for(lambda: scene.shown_tick() == 15)
    names = {"run": scene.run.run_id, "a": "tick-5", "b": "tick-15"}
    regions = scene.client.get("/api/v1/screenshots/diff", params=names).json()["regions"]
    wait_for(lambda: scene.page.locator(".marks").last.locator("rect").count() == len(regions) > 0)
    one, other = (scene.page.locator("canvas").nth(index) for index in (0, 1))
    assert one.get_attribute("data-tick") == "5"
    assert one.bounding_box()["x"] + one.bounding_box()["width"] <= other.bounding_box()["x"]
    changes = scene.page.locator(".changes")
    wait_for(lambda: "% of the picture changed" in changes.inner_text())
    assert "observation" in changes.locator("tbody").inner_text()
    scene.page.reload()
    wait_for(lambda: scene.page.locator("canvas").count() == 2)  # the address has both ticks
    scene.page.click("#compare")
    wait_for(lambda: scene.page.locator("canvas").count() == 1)


# -- the server goes away --------------------------------------------------------------------------------------


def test_the_page_says_when_the_server_is_gone_and_comes_back_by_itself(browser: Any, tmp_path: Path) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    with playing(tmp_path) as run:
        with serving(tmp_path) as client:
            stage = Stage(context.new_page(), client, run)
            stage.open()
            wait_for(lambda: stage.shown_tick() > 0)
            stage.page.wait_for_selector(".pill.running")
        stage.page.wait_for_selector("#offline:not(.hidden)")
        assert stage.page.locator(".pill.running").count() == 0
        assert texts(stage.page, ".pill.lost") == ["no connection"]
        assert "NO CONNECTION" in stage.page.locator(".veil.shown").inner_text()
        with serving(tmp_path, port=client.base_url.port):
            stage.page.wait_for_selector("#offline.hidden", state="attached")
            stage.page.wait_for_selector(".pill.running")
            seen = stage.shown_tick()
            wait_for(lambda: stage.shown_tick() > seen)
            context.close()
    assert stage.problems == []


# -- addresses, and nothing to show ----------------------------------------------------------------------------


def test_filters_stay_in_the_address(scene: Stage) -> None:
    scene.page.goto(f"{scene.client.base_url}/#token={TOKEN}")
    scene.page.wait_for_selector("tbody tr.link")
    scene.page.select_option("select[aria-label=world]", "CartPole-v1")
    scene.page.fill("input[type=search]", "no such run")
    scene.page.wait_for_selector("text=No matching runs")
    scene.page.reload()
    scene.page.wait_for_selector("text=No matching runs")
    assert scene.page.locator("select[aria-label=world]").input_value() == "CartPole-v1"
    assert scene.page.locator("input[type=search]").input_value() == "no such run"
    scene.open("actions?action=right&order=asc")
    wait_for(lambda: set(texts(scene.page, "tbody .chip")) == {"right"})
    assert scene.page.locator("select[aria-label=Action]").input_value() == "right"
    scene.page.select_option("select[aria-label=Order]", "desc")
    wait_for(lambda: scene.page.evaluate("location.hash").endswith("/actions?action=right"))


def test_a_view_that_was_left_while_it_loaded_asks_no_more_and_leaves_the_address_alone(scene: Stage) -> None:
    held: list[Any] = []
    scene.page.route("**/api/v1/runs*", lambda route: held.append(route))
    scene.page.goto(f"{scene.client.base_url}/#token={TOKEN}")
    wait_for(lambda: scene.page.wait_for_timeout(20) or held)
    scene.page.goto(f"{scene.client.base_url}/#/run/{scene.run.run_id}/about")
    scene.page.wait_for_selector(".settings .card")
    held[0].continue_()
    scene.page.wait_for_timeout(4000)  # the list asks again every three seconds
    assert len(held) == 1
    assert scene.page.evaluate("location.hash").endswith("/about")


def test_an_empty_folder_is_named_with_the_command_that_fills_it(browser: Any, tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        page = browser.new_page()
        page.goto(str(client.base_url))
        page.wait_for_selector("text=No runs yet")
        assert str(tmp_path) in page.locator("main").inner_text()
        assert page.locator(".empty code").inner_text().endswith(f"--data-dir {tmp_path}")
        page.close()


# -- room ------------------------------------------------------------------------------------------------------


def test_settings_have_room_and_are_words(scene: Stage) -> None:
    scene.open("about")
    scene.page.wait_for_selector(".settings .card")
    assert "[object" not in scene.page.locator("main").inner_text()
    widths = scene.page.evaluate("[...document.querySelectorAll('main .card')].map((card) => card.clientWidth)")
    assert min(widths) >= 340
    scene.page.set_viewport_size({"width": 390, "height": 844})
    assert scene.page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("view", ["live", "timeline/20", "actions", "snapshots", "about"])
def test_nothing_is_cut_off_on_a_phone(scene: Stage, view: str) -> None:
    scene.page.set_viewport_size({"width": 390, "height": 844})
    scene.open(view)
    scene.page.wait_for_selector(".tabs")
    scene.page.wait_for_load_state("networkidle")
    ends = scene.page.evaluate(
        "[...document.querySelectorAll('.tabs a')].map((tab) => tab.getBoundingClientRect().right)"
    )
    assert len(ends) == 5
    assert max(ends) <= 390
    for wide, shown in scene.page.evaluate(
        "[...document.querySelectorAll('.tablewrap')].map((e) => [e.scrollWidth, e.clientWidth])"
    ):
        assert wide <= shown
    if view in {"live", "timeline/20"}:
        wait_for(lambda: scene.shown_tick() > 0)
        picture, bezel = (scene.page.locator(it).bounding_box() for it in ("canvas", ".bezel"))
        assert picture["x"] > bezel["x"]
        assert picture["x"] + picture["width"] < bezel["x"] + bezel["width"]
        assert bezel["x"] + bezel["width"] <= 390
