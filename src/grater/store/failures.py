"""What databases complain about, said to a person: full, busy, already there, or no text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from grater.errors import Conflict, GraterError, StoreBusy, StoreFull, UsageError

FULL = ("database or disk is full", "disk i/o error", "could not extend file", "no space left on device")
BUSY = (
    "database is locked",
    "database table is locked",
    "deadlock detected",
    "could not serialize",
    "lock timeout",
    "statement timeout",
)
NO_TEXT = "cannot contain nul"
"""PostgreSQL keeps no character NUL; SQLite does, and finds nothing under such a name."""

READ_ONLY = "attempt to write a readonly database"
"""SQLite keeps its log beside the file, even for those who only look."""

GONE = ("connection", "server closed", "terminating", "unable to open database file")


@contextmanager
def speaking(name: str) -> Iterator[None]:
    """Errors of the database inside become errors of grater; nothing was stored when one arrives."""
    try:
        yield
    except IntegrityError as error:
        raise Conflict(f"{name}: already there, or it points at nothing: {_first_line(error)}") from error
    except DBAPIError as error:
        raise _translated(name, error) from error
    except PoolTimeout as error:
        raise StoreBusy(f"{name}: all connections are in use; try again") from error


def _translated(name: str, error: DBAPIError) -> GraterError:
    message = _first_line(error)
    said = message.lower()
    if any(word in said for word in FULL) or _code(error) in ("53100", "53200"):
        return StoreFull(f"{name}: the disk is full, nothing was stored ({message}); make room and try again")
    if any(word in said for word in BUSY):
        return StoreBusy(f"{name}: the database is busy, nothing was stored ({message}); try again")
    if error.connection_invalidated or any(word in said for word in GONE):
        return StoreBusy(f"{name}: the database cannot be reached, nothing was stored ({message})")
    if READ_ONLY in said:
        return UsageError(f"{name}: a study is opened where it can be written; copy it to a folder of your own")
    if NO_TEXT in said:
        return UsageError("a text may not hold the character NUL")
    return GraterError(f"{name}: the database refused: {message}")


def _code(error: DBAPIError) -> str:
    return str(getattr(error.orig, "sqlstate", ""))


def _first_line(error: DBAPIError) -> str:
    return (str(error.orig).splitlines() or [""])[0]
