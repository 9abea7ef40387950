"""The client against a real server, healthy and otherwise."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

import ptp.emulators
from ptp.emulators import PokemonGymClient, Timeouts, transport
from ptp.emulators.transport import split_login
from ptp.errors import BadAnswer, ConfigError, EmulatorError, GameLost, ServerRefused, ServerTimeout, ServerUnreachable
from ptp.testing import ManualClock
from tests.emulators.foreign import Foreign, serving

QUICK = Timeouts(read=0.3, action=0.3)


def test_every_route_is_called_with_the_fields_of_the_protocol(client: PokemonGymClient, foreign: Foreign) -> None:
    assert client.status().status == "not_initialized"
    first = client.reset_game("mine", load_autosave=True)
    assert (first.step_number, first.location) == (0, "PALLET TOWN")
    assert client.send_input("RIGHT right Down").coordinates == [2, 1]
    assert client.wait(60).step_number == 2
    assert client.status().steps_taken == 2
    assert client.evaluate().badges.items == []
    assert client.save_state("here").state_file == "here.state"
    assert client.save_state().state_file == "a.state"
    assert client.stop().badges_earned == ["BOULDER"]
    assert [(path, body) for path, body in foreign.seen if body] == [
        ("/initialize", {"headless": True, "sound": False, "session_id": "mine", "load_autosave": True}),
        ("/action", {"action_type": "press_key", "keys": ["right", "right", "down"]}),
        ("/action", {"action_type": "wait", "frames": 60}),
        ("/save_state", {"filename": "here"}),
    ]


def test_connections_are_kept_open(client: PokemonGymClient, foreign: Foreign) -> None:
    client.reset_game()
    for _ in range(20):
        client.send_input("a")
    assert foreign.connections <= 2


def test_threads_share_a_bounded_number_of_connections(foreign: Foreign) -> None:
    with PokemonGymClient(foreign.url, connections=2) as client, ThreadPoolExecutor(8) as threads:
        client.reset_game()
        list(threads.map(lambda _: client.status(), range(40)))
    assert foreign.connections <= 4


def test_a_wait_of_no_frames_is_refused_before_anything_is_sent(client: PokemonGymClient, foreign: Foreign) -> None:
    with pytest.raises(ConfigError, match="can't wait 0 frames; wait at least 1"):
        client.wait(0)
    assert foreign.seen == []


def test_the_state_comes_from_the_last_answer_while_it_is_fresh(foreign: Foreign) -> None:
    clock = ManualClock()
    with PokemonGymClient(foreign.url, clock=clock, max_state_age=1.0) as client:
        client.reset_game()
        moved = client.send_input("right")
        before = len(foreign.seen)
        assert client.get_state() is moved
        assert len(foreign.seen) == before


def test_an_old_state_is_given_only_after_the_server_said_that_nothing_was_played(foreign: Foreign) -> None:
    clock = ManualClock()
    with PokemonGymClient(foreign.url, clock=clock, max_state_age=1.0) as client:
        client.reset_game()
        moved = client.send_input("right")
        clock.turn(5)
        assert client.get_state() is moved
        assert foreign.seen[-1] == ("/status", None)
        assert foreign.game is not None
        foreign.game.steps += 1
        clock.turn(5)
        with pytest.raises(GameLost, match=r"is at input 2, not 1.*call reset_game\(\)"):
            client.get_state()


def test_a_failed_input_leaves_no_stale_state(client: PokemonGymClient, foreign: Foreign) -> None:
    client.reset_game()
    foreign.faults.append("late_500")
    with pytest.raises(ServerRefused):
        client.send_input("right")
    with pytest.raises(GameLost, match="is at input 1, not 0"):
        client.get_state()


def test_no_state_is_made_up_before_the_first_input(client: PokemonGymClient) -> None:
    with pytest.raises(GameLost, match=r"call reset_game\(\) first"):
        client.get_state()


def test_a_dead_server_is_named_with_a_remedy() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with PokemonGymClient(url) as client, pytest.raises(ServerUnreachable) as problem:
            client.status()
    assert str(problem.value).startswith(f"{url}/status: nothing answers (")
    assert str(problem.value).endswith("; start the server, or correct the address")


def test_a_slow_server_is_given_up_after_the_timeout_of_the_call(foreign: Foreign) -> None:
    with PokemonGymClient(foreign.url, QUICK) as client:
        client.reset_game()
        foreign.faults.append("hang")
        with pytest.raises(ServerTimeout, match=r"/action: no answer within 0\.3 s; raise the timeout"):
            client.send_input("a")
        assert client.monitor.errors() == 1


def test_an_answer_that_is_cut_off_is_an_error(client: PokemonGymClient, foreign: Foreign) -> None:
    client.reset_game()
    for fault in ("cut", "drop"):
        foreign.faults.append(fault)
        with pytest.raises(BadAnswer, match="/action: the answer was cut off"):
            client.send_input("a")


def test_garbage_and_wrong_types_are_errors(client: PokemonGymClient, foreign: Foreign) -> None:
    client.reset_game()
    foreign.faults += [lambda answer: b"<html>", lambda answer: answer | {"money": None}]
    with pytest.raises(BadAnswer, match="/action answered no JSON but '<html>'"):
        client.send_input("a")
    with pytest.raises(BadAnswer, match="/action is not compatible: money: Expected `int`, got `null`"):
        client.send_input("a")


@pytest.mark.parametrize(
    ("status", "answer", "said"),
    [
        (400, {"detail": "Not initialized"}, "refused with 400: Not initialized; correct the request"),
        (422, {"detail": [{"loc": ["keys"]}]}, r"refused with 422: \[{'loc': \['keys'\]}\]; correct"),
        (500, b"Internal Server Error", "500: Internal Server Error; the server's log says more"),
        (503, b"", "503: Service Unavailable; the server's log"),
        (418, b"[1]", r"418: \[1\]"),
        (401, {"detail": "x\n" * 300}, "401: x x x"),
    ],
)
def test_a_refusal_is_told_with_its_reason_in_one_line(
    foreign: Foreign, monkeypatch: pytest.MonkeyPatch, status: int, answer: Any, said: str
) -> None:
    monkeypatch.setattr(foreign.RequestHandlerClass, "do_GET", lambda handler: handler._answer(status, answer))
    with PokemonGymClient(foreign.url) as client, pytest.raises(ServerRefused, match=said) as problem:
        client.status()
    assert problem.value.status == status
    assert "\n" not in str(problem.value)
    assert len(str(problem.value)) < 400


@contextmanager
def saying(*parts: bytes, pause: float = 0.0) -> Iterator[str]:
    """Serve one raw answer, in parts, to whoever connects."""
    done = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                for part in parts:
                    try:
                        connection.sendall(part)
                    except OSError:
                        break
                    done.wait(pause)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        done.set()
        thread.join()


HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n"


def test_an_answer_that_trickles_in_is_given_up() -> None:
    with (
        saying(HEAD, *[b" "] * 1000, pause=0.05) as url,
        PokemonGymClient(url, QUICK) as client,
        pytest.raises(ServerTimeout, match="no answer within"),
    ):
        client.status()


def test_an_answer_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "MOST", 1000)
    with (
        saying(HEAD, b" " * 100_000) as url,
        PokemonGymClient(url) as client,
        pytest.raises(BadAnswer, match="more than 1,000 bytes"),
    ):
        client.status()


def test_what_is_no_http_is_an_error_of_ours() -> None:
    with (
        saying(b"SSH-2.0-OpenSSH\r\n\r\n") as url,
        PokemonGymClient(url) as client,
        pytest.raises(BadAnswer, match="cut off"),
    ):
        client.status()


def test_another_port_is_used_from_the_next_call_on(client: PokemonGymClient, foreign: Foreign) -> None:
    client.reset_game()
    with serving() as other:
        client.move(other.url)
        assert client.base_url == other.url
        with pytest.raises(GameLost, match="before an input"):
            client.get_state()
        client.reset_game()
        assert other.game is not None
    assert len(foreign.seen) == 1


def test_token_and_login_are_sent_and_shown_nowhere(foreign: Foreign) -> None:
    with PokemonGymClient(foreign.url, token="secret") as client:
        client.status()
    address = foreign.url.replace("http://", "http://me:p%40ss@")
    with PokemonGymClient(address) as client:
        client.status()
        assert client.base_url == foreign.url
        with pytest.raises(ServerRefused) as problem:
            client.send_input("a")
    assert "me:" not in str(problem.value)
    sent = [headers["authorization"] for headers in foreign.headers_seen]
    assert sent[:2] == ["Bearer secret", "Basic bWU6cEBzcw=="]


@pytest.mark.parametrize(
    "url",
    ["", "127.0.0.1:8081", "ftp://h", "http://", "http://h:99999", "http://h/?a=1", "http://[::1", "http://u:pw@"],
)
def test_what_is_no_address_is_refused_without_its_login(url: str) -> None:
    with pytest.raises(ConfigError, match=r"is not the address of a game server; write it as http://127\.0") as problem:
        PokemonGymClient(url)
    assert "pw" not in str(problem.value)


def test_an_address_keeps_its_path_and_loses_its_slash() -> None:
    assert split_login("https://[::1]:8081/games/7/") == ("https://[::1]:8081/games/7", None)
    assert split_login("http://host") == ("http://host", None)


def test_every_public_name_can_be_had_and_an_unknown_one_is_refused() -> None:
    for name in ptp.emulators.__all__:
        assert getattr(ptp.emulators, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'PokemonGymServer'"):
        ptp.emulators.PokemonGymServer  # noqa: B018
    assert issubclass(ServerTimeout, EmulatorError)
