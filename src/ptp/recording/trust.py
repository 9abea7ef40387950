"""Code that a person ran here by their own hand, and that runs in this data directory may therefore name.

A run directory that came from elsewhere can't choose code: `trusted.txt` lies beside the runs, not in them.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
from xxhash import xxh3_128_hexdigest

from ptp.errors import RecordingError
from ptp.records import WorldSpec

NAME = "trusted.txt"
_encode = msgspec.json.Encoder(order="deterministic").encode


def of_world(spec: WorldSpec) -> str:
    """Return what stands for the code of a world."""
    return xxh3_128_hexdigest(b"world" + _encode((spec.entry, spec.options.get("id"), spec.options.get("spec"))))


def of_agent(name: str) -> str:
    """Return what stands for the code of an agent."""
    return xxh3_128_hexdigest(b"agent" + name.encode())


def trust(data_dir: Path, *codes: str) -> None:
    """Remember code that a person ran."""
    new = [code for code in codes if not trusts(data_dir, code)]
    if new:
        try:
            data_dir.mkdir(parents=True, exist_ok=True)
            with open(data_dir / NAME, "a", encoding="ascii") as file:
                file.write("".join(f"{code}\n" for code in new))
        except OSError as problem:
            raise RecordingError(f"can't write to {data_dir}: {problem.strerror}; choose another folder") from None


def trusts(data_dir: Path, code: str) -> bool:
    """Whether a person ran that code here."""
    try:
        return code in (data_dir / NAME).read_text(encoding="ascii").split()
    except (FileNotFoundError, UnicodeDecodeError):
        return False
