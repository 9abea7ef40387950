"""One play of the whole game serves all tests: they start from the states it passed through."""

from collections.abc import Callable, Iterator

import pytest

from tests.cartridge import walkthrough
from tests.cartridge.player import Player
from tests.cartridge.promises import broken_promises
from tests.cartridge.story import Story, ram_of


@pytest.fixture(scope="session")
def story() -> Story:
    player, story = Player(), Story()

    def watch() -> None:
        story.broken += [f"tick {len(player.tape)}: {promise}" for promise in broken_promises(player)]

        if not story.money or player.money != story.money[-1]:
            story.money.append(player.money)

    def mark(stage: str) -> None:
        story.states.setdefault(stage, player.save_state())

    player.watch = watch
    walkthrough.play(player, mark)
    story.tape, story.memory = player.tape, ram_of(player)
    player.close()
    return story


@pytest.fixture(scope="session")
def shared_player() -> Iterator[Player]:
    player = Player()
    yield player
    player.close()


@pytest.fixture
def at(story: Story, shared_player: Player) -> Callable[[str], Player]:
    """Return a player at a stage of the story."""

    def start(stage: str) -> Player:
        for button in ("a", "b", "start", "select", "up", "down", "left", "right"):
            shared_player.pyboy.button_release(button)
        shared_player.load_state(story.states[stage])
        return shared_player

    return start
