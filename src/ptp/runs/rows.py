"""A table of a run, read when it is looked at: as records, or as a data frame."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic

from ptp.recording.database import Database
from ptp.recording.directory import RunDirectory
from ptp.records import table_of
from ptp.runs.frames import frames_of, needed
from ptp.runs.tables import R, order_of, read

if TYPE_CHECKING:
    import polars

SHOWN = 10  # rows that a notebook shows


class Rows(Generic[R]):
    """The records of one type in a run, in the order in which they happened; of a live run, as many as there are now.

    A table that older schemas lack is empty, and a value that they lack is None.
    """

    def __init__(self, directory: RunDirectory, record: type[R], where: str = "TRUE", *values: Any) -> None:
        self._directory = directory
        self._record = record
        self._where = f"WHERE {where}"
        self._values = values

    def __iter__(self) -> Iterator[R]:
        with Database(self._directory.database) as database:
            yield from read(database, self._record, f"{self._where} {order_of(self._record)}", *self._values)

    def __len__(self) -> int:
        with Database(self._directory.database) as database:
            query = f"SELECT count(*) FROM {table_of(self._record).name} {self._where}"
            return int(database.row(query, *self._values)[0])

    def to_list(self) -> list[R]:
        """Return every record."""
        return [*iter(self)]

    def to_polars(self) -> polars.DataFrame:
        """Return a frame whose columns have the same names and types for every run, as `ptp export` writes them."""
        frames = frames_of([self._directory], self._record, self._where, self._values)
        frame: polars.DataFrame = needed("polars").concat(frames)
        return frame

    def to_pandas(self) -> Any:
        """Return the same as a pandas frame."""
        return needed("pandas").DataFrame(self.to_polars().to_dict(as_series=False))

    def __repr__(self) -> str:
        return f"<{len(self):,} {self._record.__name__} records of run {self._directory.run_id}>"

    def _repr_html_(self) -> str:
        fields = self._record.__struct_fields__
        head = "".join(f"<th>{field}</th>" for field in fields)
        cells = ([_cell(getattr(record, field)) for field in fields] for record in islice(self, SHOWN))
        body = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{escape(repr(self)[1:-1])}</p>"


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return f"<td>{escape(text if len(text) <= 60 else text[:59] + '…')}</td>"
