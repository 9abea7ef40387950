"""What one play of the whole game leaves behind, for the tests that start from it."""

from dataclasses import dataclass, field

from tests.cartridge.player import Player


@dataclass
class Story:
    """What one play of the game left behind."""

    states: dict[str, bytes] = field(default_factory=dict)
    tape: list[tuple[str | None, int, int]] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    money: list[int] = field(default_factory=list)
    memory: bytes = b""


def ram_of(player: Player) -> bytes:
    """Work RAM and high RAM, all that a game is."""
    return bytes(player.memory[0xC000:0xE000]) + bytes(player.memory[0xFF80:0xFFFF])
