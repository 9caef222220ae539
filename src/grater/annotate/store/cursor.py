"""A cursor of psycopg that describes its columns only when somebody looks.

SQLAlchemy asks for the description of every result, and looks into it once for each query.  psycopg makes an object
for each column each time: a twelfth of what a rater's request costs the server.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

from psycopg import Column, Cursor
from psycopg.rows import TupleRow


class Description(Sequence[Column]):
    """The columns of a result, made when they are asked for."""

    def __init__(self, cursor: LeanCursor, n_columns: int) -> None:
        self._cursor, self._n_columns = cursor, n_columns

    def __len__(self) -> int:
        return self._n_columns

    @overload
    def __getitem__(self, index: int) -> Column: ...
    @overload
    def __getitem__(self, index: slice) -> list[Column]: ...
    def __getitem__(self, index: int | slice) -> Column | list[Column]:
        return self._cursor.columns()[index]

    def __iter__(self) -> Iterator[Column]:
        return iter(self._cursor.columns())


class LeanCursor(Cursor[TupleRow]):
    """What SQLAlchemy opens on every connection to PostgreSQL."""

    @property
    def description(self) -> Any:
        """As psycopg's; None where the statement returns no rows."""
        n_columns = self.pgresult.nfields if self.pgresult else 0
        return Description(self, n_columns) if n_columns else None

    def columns(self) -> list[Column]:
        return super().description or []
