"""Playing recorded ticks on the page: by the clock, at any speed, with as many pictures as can be had."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web.parts import wait_for
from tests.web.stage import Stage

SPEEDS = ["0.25", "0.5", "1", "2", "4", "8", "16", "32", "64"]
PACE = 50  # ticks per second of CartPole


def due(stage: Stage) -> int:
    """Return the tick that the timeline stands at."""
    return int(stage.page.locator("#scrub").input_value())


def ready(stage: Stage, tick: int = 0, speed: str = "1") -> None:
    stage.open(f"timeline/{tick}?speed={speed}")
    wait_for(lambda: stage.shown_tick() == tick)
    assert stage.page.locator("#speed").input_value() == speed


@pytest.mark.parametrize("speed", SPEEDS)
def test_a_tick_is_due_when_the_clock_says_so(scene: Stage, speed: str) -> None:
    scene.page.clock.install()
    ready(scene, speed=speed)
    scene.page.clock.pause_at(scene.page.evaluate("Date.now()") + 1000)
    scene.page.click("#play")
    wait_for(lambda: scene.page.clock.run_for(20) or due(scene))  # once the first pictures have come
    began, rate = due(scene), PACE * float(speed)
    scene.page.clock.run_for(1000 * (140 - began) / rate)
    assert due(scene) == pytest.approx(140, abs=1 + rate * 0.02)
    wait_for(lambda: scene.page.clock.run_for(100) or scene.shown_tick() == 150)
    scene.page.wait_for_selector("#play >> text=Play")


def test_pictures_that_come_too_late_are_left_out_and_the_clock_goes_on(scene: Stage) -> None:
    scene.page.clock.install()
    ready(scene, speed="2")
    scene.page.clock.pause_at(scene.page.evaluate("Date.now()") + 1000)
    scene.page.click("#play")
    wait_for(lambda: scene.page.clock.run_for(20) or due(scene))
    held: list[Any] = []
    scene.page.route("**/api/v1/frame*", lambda route: held.append(route))
    began = due(scene)
    scene.page.clock.run_for(1000)
    wait_for(lambda: scene.page.wait_for_timeout(20) or held)
    assert due(scene) == pytest.approx(began + 100, abs=3)
    assert scene.shown_tick() < due(scene)
    under = len(held)
    assert under <= 3
    for route in held[:under]:
        route.continue_()
    wait_for(lambda: scene.page.wait_for_timeout(20) or len(held) > under)
    assert int(held[under].request.url.split("tick=")[1]) >= due(scene)  # no tick that is over already
    scene.page.unroute_all(behavior="ignoreErrors")


def test_play_stops_where_it_is_and_shows_that_very_tick(scene: Stage) -> None:
    ready(scene, speed="0.5")
    scene.page.keyboard.press(" ")
    wait_for(lambda: due(scene) > 10)
    scene.page.keyboard.press(" ")
    at = due(scene)
    wait_for(lambda: scene.shown_tick() == at)
    scene.page.wait_for_selector(f".side[data-tick='{at}']:not(.stale)")
    assert f"/timeline/{at}?" in scene.page.url
    scene.page.wait_for_timeout(300)
    assert due(scene) == at


def test_the_speed_changes_while_it_plays_and_stays_in_the_address(scene: Stage) -> None:
    ready(scene, speed="0.25")
    scene.page.click("#play")
    wait_for(lambda: due(scene) > 0)
    for key, speed in (("+", "0.5"), ("+", "1"), ("-", "0.5")):
        scene.page.keyboard.press(key)
        assert scene.page.locator("#speed").input_value() == speed
    assert "speed=0.5" in scene.page.url
    scene.page.select_option("#speed", "64")
    wait_for(lambda: scene.shown_tick() == 150)
    scene.page.reload()
    wait_for(lambda: scene.page.locator("#speed").count())
    assert scene.page.locator("#speed").input_value() == "64"
    assert scene.page.locator("#speed option").all_inner_texts() == [
        f"{speed}\N{MULTIPLICATION SIGN}" for speed in SPEEDS
    ]


def test_it_plays_on_from_where_the_slider_is_put(scene: Stage) -> None:
    ready(scene, speed="0.25")
    scene.page.click("#play")
    wait_for(lambda: due(scene) > 0)
    scene.page.evaluate(
        "(it => { it.value = 140; it.dispatchEvent(new Event('change')); })(document.querySelector('#scrub'))"
    )
    assert due(scene) >= 140
    wait_for(lambda: scene.shown_tick() == 150)
