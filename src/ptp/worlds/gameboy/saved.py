"""The form of a saved world: a mark, the open battle, the emulator's state."""

from __future__ import annotations

from ptp.errors import WorldError

MAGIC = b"PTPGB\x01"
_START = len(MAGIC) + 4


def is_saved(data: bytes) -> bool:
    """Whether this is a world that ptp saved, not a plain state of the emulator."""
    return data.startswith(MAGIC)


def pack(battle: bytes, state: bytes) -> bytes:
    """Return both as one."""
    return MAGIC + len(battle).to_bytes(4, "little") + battle + state


def unpack(data: bytes) -> tuple[bytes, bytes]:
    """Return the open battle and the emulator's state."""
    if not is_saved(data):
        raise WorldError(f"not a saved Game Boy world: it begins with {data[: len(MAGIC)]!r}")
    end = _START + int.from_bytes(data[len(MAGIC) : _START], "little")
    return data[_START:end], data[end:]
