"""The types of what requests about runs may say."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from ptp.http.endpoints import END

API = "/api/v1"
RunId = Annotated[str, Meta(max_length=64, pattern=rf"^[0-9a-zA-Z-]+{END}")]
Name = Annotated[str, Meta(max_length=80, pattern=rf"^[A-Za-z0-9][A-Za-z0-9 ._-]*{END}")]
ShotName = Annotated[str, Meta(max_length=64, pattern=rf"^[0-9a-zA-Z_-]+{END}")]
Text = Annotated[str, Meta(max_length=200)]
Tick = Annotated[int, Meta(ge=0, le=1 << 53)]

Run = Annotated[
    RunId | None,
    Meta(description="A run: its id, the beginning of its id, or `latest`. Without it: the live or newest one."),
]
FromTick = Annotated[Tick | None, Meta(description="The first tick.")]
ToTick = Annotated[Tick | None, Meta(description="The last tick.")]
Page = Annotated[int, Meta(ge=1, le=1_000_000_000, description="The page, from 1.")]
PageSize = Annotated[int, Meta(ge=1, le=500, description="Lines per page.")]
