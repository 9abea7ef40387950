"""Going back from the page: while the button or the key is held, by mouse, finger and keyboard."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.steering import ask
from tests.web.parts import playing, serving, tick_of, wait_for
from tests.web.stage import Stage

HIDE = """Object.defineProperty(document, "hidden", { value: true });
document.dispatchEvent(new Event("visibilitychange"));"""


@contextmanager
def holding(stage: Stage, by: str) -> Iterator[None]:
    """Hold the button or the key."""
    button = stage.page.locator("#rewind")
    button.scroll_into_view_if_needed()
    box = button.bounding_box()
    point = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    if by == "mouse":
        stage.page.mouse.move(point["x"], point["y"])
        stage.page.mouse.down()
        yield
        stage.page.mouse.up()
    elif by == "finger":
        wire = stage.page.context.new_cdp_session(stage.page)
        wire.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
        yield
        wire.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    else:
        stage.page.keyboard.down(by)
        yield
        stage.page.keyboard.up(by)


def seen(stage: Stage, look: Callable[[], Any]) -> Any:
    """Wait until *look* sees something, and let the page work meanwhile."""
    return wait_for(lambda: stage.page.wait_for_timeout(20) or look())


def hold_back(stage: Stage, by: str, ticks: int) -> int:
    """Hold until the run has gone back, and return the tick where it was let go; it never plays on meanwhile."""
    began = seen(stage, lambda: tick_of(stage.run))
    with holding(stage, by):
        seen(stage, lambda: ask(stage.run, "status")["paused"])
        at = [tick_of(stage.run)]
        while at[-1] > began - ticks:
            stage.page.wait_for_timeout(20)
            at.append(tick_of(stage.run))
        assert at == sorted(at, reverse=True)
        stage.page.wait_for_selector(".pill.rewinding")
        seen(stage, lambda: stage.shown_tick() <= at[-1])
    return at[-1]


def ready(stage: Stage) -> None:
    """Open the page over a run that has something to go back from."""
    wait_for(lambda: tick_of(stage.run) > 120)
    stage.open()
    seen(stage, lambda: stage.shown_tick() > 120)


def plays_on(stage: Stage) -> bool:
    now = tick_of(stage.run)
    seen(stage, lambda: not ask(stage.run, "status")["paused"])
    seen(stage, lambda: tick_of(stage.run) > now)
    stage.page.wait_for_selector(".pill.running")
    return True


@pytest.mark.parametrize("by", ["mouse", "ArrowLeft"])
def test_the_run_goes_back_while_held_and_plays_on_when_let_go(stage: Stage, by: str) -> None:
    under, most = [0], [0]

    def count(request: Any, by: int) -> None:
        if "/control/" in request.url:
            under[0] += by
            most[0] = max(most[0], under[0])

    stage.page.on("request", lambda request: count(request, 1))
    stage.page.on("requestfinished", lambda request: count(request, -1))
    ready(stage)
    hold_back(stage, by, 60)
    assert plays_on(stage)
    assert most[0] == 1


def test_a_finger_on_a_phone_holds_it_too(browser: Any, tmp_path: Path) -> None:
    phone = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    with playing(tmp_path) as run, serving(tmp_path) as client:
        stage = Stage(phone.new_page(), client, run)
        ready(stage)
        hold_back(stage, "finger", 20)
        assert plays_on(stage)
        phone.close()
    assert stage.problems == []


def test_a_run_that_was_paused_stays_paused_and_steps_get_longer(stage: Stage) -> None:
    ready(stage)
    ask(stage.run, "pause")
    stage.page.wait_for_selector("text=PAUSED")
    sent: list[int] = []
    stage.page.on("request", lambda it: sent.append(it.post_data_json["ticks"]) if "rewind" in it.url else None)
    hold_back(stage, "ArrowLeft", 80)
    stage.page.wait_for_selector("text=PAUSED")
    assert ask(stage.run, "status")["paused"]
    seen(stage, lambda: stage.shown_tick() == tick_of(stage.run))
    assert sent == sorted(sent)
    assert sent[0] == 1
    assert sent[-1] > 2


@pytest.mark.parametrize(
    "way", ["the pointer leaves", "the window loses focus", "the page is hidden", "the view is left"]
)
def test_it_is_let_go_also_when(stage: Stage, way: str) -> None:
    ready(stage)
    with holding(stage, "mouse"):
        seen(stage, lambda: ask(stage.run, "status")["paused"])
        if way == "the pointer leaves":
            stage.page.mouse.move(5, 5)
        elif way == "the window loses focus":
            stage.page.evaluate("dispatchEvent(new Event('blur'))")
        elif way == "the page is hidden":
            stage.page.evaluate(HIDE)
        else:
            stage.page.evaluate("location.hash = '#/'")
        seen(stage, lambda: not ask(stage.run, "status")["paused"])
        now = tick_of(stage.run)
        seen(stage, lambda: tick_of(stage.run) > now)


def test_a_page_that_is_closed_while_held_leaves_the_run_playing(stage: Stage) -> None:
    ready(stage)
    with holding(stage, "mouse"):
        seen(stage, lambda: ask(stage.run, "status")["paused"])
        stage.page.goto("about:blank")
        seen(stage, lambda: not ask(stage.run, "status")["paused"])


def test_the_start_of_the_run_is_named_and_the_run_stays_there_until_let_go(stage: Stage) -> None:
    ready(stage)
    ask(stage.run, "pause")
    ask(stage.run, "rewind", to_tick=3)
    ask(stage.run, "resume")
    with holding(stage, "mouse"):
        stage.page.wait_for_selector(".toast >> text=this is the start of the run")
        assert tick_of(stage.run) == 0
        seen(stage, lambda: stage.shown_tick() == 0)
    assert plays_on(stage)


def test_a_refusal_is_one_line_and_ends_it(stage: Stage) -> None:
    ready(stage)
    asked: list[Any] = []
    words = {"error": "Conflict", "message": "no key state leads to tick 7; choose a snapshot"}
    stage.page.on("request", lambda request: asked.append(request) if "/control/rewind" in request.url else None)
    stage.page.route("**/control/rewind*", lambda route: route.fulfill(status=409, json=words))
    with holding(stage, "ArrowLeft"):
        stage.page.wait_for_selector(f".toast >> text={words['message']}")
        assert stage.page.locator(".toast").count() == 1
        assert plays_on(stage)
        stage.page.keyboard.down("ArrowLeft")  # as a key that is held repeats
        stage.page.wait_for_timeout(300)
    assert len(asked) == 1


def test_without_the_token_the_run_plays_on(stage: Stage) -> None:
    wait_for(lambda: tick_of(stage.run) > 20)
    stage.open(token="not the token at all")
    stage.page.wait_for_selector("#rewind")
    with holding(stage, "mouse"):
        stage.page.wait_for_selector("dialog[open] input[type=password]")
        assert ask(stage.run, "status")["paused"] is False
    stage.page.click("dialog button >> text=Cancel")
    stage.page.wait_for_selector(".toast.bad")
    assert stage.page.locator(".toast").count() == 1
    assert plays_on(stage)
