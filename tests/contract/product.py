"""The product as the contract meets it: recorded runs, a live one, a server over them, and the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from ptp.cli import main
from ptp.recording import RunDirectory
from tests.contract.runs import Shelf, live_and_served


class Product:
    """Everything that a check may look at."""

    def __init__(self, shelf: Shelf, client: httpx.Client, live: RunDirectory) -> None:
        self.shelf, self.client, self.live = shelf, client, live

    @classmethod
    @contextmanager
    def playing(cls, folder: Path) -> Iterator[Product]:
        """Play the runs, and keep one live while the product is looked at."""
        shelf = Shelf(folder / "var").fill()
        with live_and_served(shelf) as (client, live):
            yield cls(shelf, client, live)

    def answers(self, method: str, path: str) -> list[Any]:
        """Return what an endpoint answers for the live run and for an ended one; {id} stands for some of theirs."""
        runs = [self.live.run_id, self.shelf.path("explorer").name]
        if method == "POST":
            return [self._ask(method, path.format(id="here"), runs[0])]
        names = [[""]] * 2 if "{id}" not in path else [self._shots(run) for run in runs]
        return [
            self._ask(method, path.format(id=name), run) for run, some in zip(runs, names, strict=True) for name in some
        ]

    def _shots(self, run: str) -> list[str]:
        listed = self._ask("GET", "/api/v1/screenshots?page_size=60", run)["screenshots"]
        return [shot["id"] for shot in listed]

    def _ask(self, method: str, path: str, run: str) -> Any:
        response = self.client.request(method, path, params=httpx.URL(path).params.set("run", run))
        response.raise_for_status()
        return response.json()

    def run(self, *words: str, folder: str = "played") -> int:
        """Run a command line on another data directory, and return its exit code."""
        return main([*words, "--data-dir", str(self.shelf.data_dir.parent / folder)])
