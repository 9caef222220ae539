"""One transaction, as every query function of the store gets it: a connection, the time, the study's key.

Long lists in portions that both engines take in one statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any, TypeAlias, TypeVar

from sqlalchemy import ColumnElement, Connection, CursorResult, Executable, Insert, Row, Select, Table, literal_column
from sqlalchemy.sql.elements import KeyedColumnElement

Record: TypeAlias = Row[*tuple[Any, ...]]
"""A row as it comes from the database, its columns as attributes."""

ONE: ColumnElement[int] = literal_column("1")
"""For LIMIT: with a parameter there, PostgreSQL plans for a tenth of all rows."""


@dataclass(frozen=True, slots=True)
class Tx:
    """`now` is read once, so that one transaction happens at one time."""

    connection: Connection
    now: int
    key: str = ""

    @property
    def is_postgres(self) -> bool:
        return self.connection.dialect.name == "postgresql"

    def execute(self, statement: Executable, rows: Any = None) -> CursorResult[Any]:
        return self.connection.execute(statement, rows) if rows is not None else self.connection.execute(statement)

    def all(self, statement: Executable, **values: Any) -> Sequence[Record]:
        return self.execute(statement, values or None).all()

    def first(self, statement: Executable, **values: Any) -> Record | None:
        return self.execute(statement, values or None).first()

    def value(self, statement: Executable, **values: Any) -> Any:
        """The first column of the first row, or None."""
        return self.execute(statement, values or None).scalar()

    def insert(self, table: Table, rows: Any) -> None:
        """One row (a dict) or many (a list of dicts)."""
        if rows:
            self.insert_by(insert_into(table), rows)

    def insert_by(self, statement: Insert, rows: Any) -> None:
        """The same by a statement; a list of one goes as that one, for drivers make more fuss about many."""
        self.execute(statement, rows[0] if isinstance(rows, list) and len(rows) == 1 else rows)

    def locked(self, statement: Select[Any], *, of: Table, skip: bool = False) -> Select[Any]:
        """The same query, its rows of one table held until the end; SQLite's writer is alone anyway.

        NO KEY UPDATE on PostgreSQL, so that rows which only point at these need not wait.
        """
        return locking(statement, of=of, skip=skip) if self.is_postgres else statement

    def binary(self, column: KeyedColumnElement[str] | ColumnElement[str]) -> ColumnElement[str]:
        """A text column in code-point order, the same on both engines whatever the server's language."""
        return column.collate("C") if self.is_postgres else column


@cache
def insert_into(table: Table) -> Insert:
    """One statement for every insert into a table: to build one costs as much as to run it.

    `inline`: nobody asks which number a new row got.
    """
    return table.insert().inline()


def locking(statement: Select[Any], *, of: Table, skip: bool = False) -> Select[Any]:
    """A query whose rows of one table are locked; rows that somebody else holds are waited for, or skipped."""
    return statement.with_for_update(of=of, skip_locked=skip, key_share=True)


T = TypeVar("T")

PORTION = 500
"""Far below the 32,766 parameters of SQLite; a row of twenty columns still fits."""


def chunks(values: Iterable[T], size: int = PORTION) -> Iterator[list[T]]:
    left = iter(values)
    while portion := list(islice(left, size)):
        yield portion
