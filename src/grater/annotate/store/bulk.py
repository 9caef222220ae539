"""Many rows at once, by columns: COPY on PostgreSQL, one prepared statement for a hundred rows on SQLite.

A file of half a million judgments becomes a million and a half rows.  Here a frame of columns goes to the driver as
it is, with no dict for each row.  Columns that hold JSON hold its text already (`schema.columns.to_text`); columns
that are left out get their defaults.  All of it happens in the caller's transaction, under the constraints of the
schema, if need be all at its end (`loading`): what is refused, or broken off, leaves nothing behind.

COPY reads its text format, in which backslashes, tabs and line ends are escaped, so that no cell can end a row.
"""

from __future__ import annotations

import secrets
import string
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import polars as pl
from sqlalchemy import Table, func, select
from sqlalchemy import text as sql
from sqlalchemy.exc import DBAPIError

from grater.annotate import content
from grater.annotate.store import events, schema
from grater.annotate.store.clock import require_time
from grater.annotate.store.events import VERBS
from grater.annotate.store.ids import PRIME
from grater.annotate.store.transaction import ONE, PORTION, Tx

CACHE_KIB = 262_144
"""Memory for SQLite's pages while rows come in: with its usual 2 MB, pages of ten indexes push each other out."""

ESCAPES = (("\\", r"\\"), ("\t", r"\t"), ("\n", r"\n"), ("\r", r"\r"))
"""What COPY's text format asks to be escaped, the backslash first."""

LOADED = (schema.units, schema.unit_items, schema.slots, schema.submissions, schema.judgments)
"""The tables into which judgments go, many rows each."""

REFERENCES = sql("""SELECT conrelid::regclass::text AS child, confrelid::regclass::text AS parent,
    quote_ident(conname) AS name, pg_get_constraintdef(oid) AS definition
    FROM pg_constraint WHERE contype = 'f' AND conrelid::regclass::text = ANY(:names) ORDER BY oid""")
INDEXES = sql("""SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
    WHERE indrelid::regclass::text = ANY(:names)
    AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid) ORDER BY indexrelid""")
"""Of tables on PostgreSQL; indexes of keys are constraints, and stay."""

TOGETHER = 100
"""Rows in one statement of SQLite, which takes half the time of a statement each."""

AT_A_TIME = 65_536
"""Rows in one piece of COPY's text."""


def insert(tx: Tx, table: Table, frame: pl.DataFrame) -> None:
    """Insert the rows of a frame, whose columns are called as those of the table."""
    require_time()
    if frame.is_empty():
        return
    with _same_errors(tx):
        (_copy if tx.is_postgres else _execute_many)(_cursor(tx), table, frame)


def _execute_many(cursor: Any, table: Table, frame: pl.DataFrame) -> None:
    """Rows by the hundred; a cell that all of them share is bound once for each hundred."""
    shared = [name for name in frame.columns if frame[name].eq_missing(frame[name][:1]).all()]
    same, own = frame.select(shared).row(0) if shared else (), frame.drop(shared)
    if not own.width:
        shared, same, own = [], (), frame
    head = f"INSERT INTO {table.name} ({_names([*shared, *own.columns])}) VALUES "
    n_whole = frame.height - frame.height % TOGETHER
    size = TOGETHER * own.width
    several = head + _placeholders(len(shared), own.width, TOGETHER)
    for piece in own[:n_whole].iter_slices(TOGETHER * TOGETHER):
        cells = _in_rows(piece)
        cursor.executemany(several, ((*same, *cells[start : start + size]) for start in range(0, len(cells), size)))
    one = head + _placeholders(len(shared), own.width, 1)
    cursor.executemany(one, ((*same, *row) for row in own[n_whole:].iter_rows()))


def _in_rows(frame: pl.DataFrame) -> list[Any]:
    """All cells, row after row."""
    cells = [None] * (frame.height * frame.width)
    for number, column in enumerate(frame.iter_columns()):
        cells[number :: frame.width] = column.to_list()
    return cells


def _placeholders(n_shared: int, n_own: int, n_rows: int) -> str:
    """The rows of VALUES: the shared parameters come first, and every row names them again."""
    same = [f"?{number}" for number in range(1, n_shared + 1)]
    starts = range(n_shared + 1, n_shared + 1 + n_rows * n_own, n_own)
    rows = ([*same, *(f"?{number}" for number in range(start, start + n_own))] for start in starts)
    return ", ".join(f"({', '.join(row)})" for row in rows)


def _copy(cursor: Any, table: Table, frame: pl.DataFrame) -> None:
    with cursor.copy(f"COPY {table.name} ({_names(frame.columns)}) FROM STDIN") as copy:
        for piece in frame.iter_slices(AT_A_TIME):
            copy.write(_as_text(piece))


def _names(columns: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in columns)


def _as_text(frame: pl.DataFrame) -> str:
    texts = pl.selectors.string()
    for raw, escaped in ESCAPES:
        frame = frame.with_columns(texts.str.replace_all(raw, escaped, literal=True))
    return frame.write_csv(include_header=False, separator="\t", quote_style="never", null_value=r"\N")


def _cursor(tx: Tx) -> Any:
    return tx.connection.connection.cursor()


@contextmanager
def _same_errors(tx: Tx) -> Iterator[None]:
    """The driver's errors become SQLAlchemy's, as they do elsewhere."""
    base: Any = tx.connection.dialect.loaded_dbapi.Error
    try:
        yield
    except base as error:
        raise DBAPIError.instance(None, None, error, base, dialect=tx.connection.dialect) from error


ID_CHARACTERS = np.frombuffer(f"-_{string.ascii_letters}{string.digits}".encode(), dtype=np.uint8)
ID_LENGTH = 22
"""Characters of 6 bits each: 132 bits, as long as `new_id`."""


def new_ids(n: int) -> pl.Series:
    """Many ids at once, sorted: rows that come in the order of their key are inserted faster."""
    drawn = np.frombuffer(secrets.token_bytes(n * ID_LENGTH), dtype=np.uint8) % len(ID_CHARACTERS)
    ids = ID_CHARACTERS[drawn].view(f"S{ID_LENGTH}").tolist()
    return pl.Series(ids, dtype=pl.Binary).cast(pl.String).sort()


def new_shuffles(n: int) -> pl.Series:
    """Many numbers as `new_shuffle` draws them; the remainder of 64 bits favours none of them noticeably."""
    drawn = np.frombuffer(secrets.token_bytes(n * 8), dtype=np.uint64)
    return pl.Series((drawn % (PRIME - 1) + 1).astype(np.int64))


@contextmanager
def loading(tx: Tx, *, n_rows: int, tables: Sequence[Table] = LOADED) -> Iterator[None]:
    """Make room for many rows: what is asked of each row is asked of all of them at the end, where that is less work.

    A new index sorts what there is, which is several times cheaper than to find the place of each row, and PostgreSQL
    checks a new reference by one join, where it would look up each row.  Where a table holds more already than is to
    come, nothing of it is set aside.
    """
    with _more_memory(tx):
        smaller = [table.name for table in tables if n_rows > _size(tx, table)]
        set_aside = (_without_references if tx.is_postgres else _without_indexes)(tx, smaller)
        yield
        for definition in set_aside:
            tx.connection.exec_driver_sql(definition)


@contextmanager
def _more_memory(tx: Tx) -> Iterator[None]:
    if tx.is_postgres:
        yield
        return
    before = tx.value(sql("PRAGMA cache_size"))
    tx.execute(sql(f"PRAGMA cache_size = -{CACHE_KIB}"))
    try:
        yield
    finally:
        tx.execute(sql(f"PRAGMA cache_size = {before}"))


def _size(tx: Tx, table: Table) -> int:
    return int(tx.value(select(func.count()).select_from(table)))


def _without_indexes(tx: Tx, names: Sequence[str]) -> list[str]:
    """Drop the indexes of tables and return their definitions; those of keys have none on SQLite, and stay."""
    query = sql("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = :table AND sql IS NOT NULL")
    indexes = [index for name in names for index in tx.all(query, table=name)]
    for index in indexes:
        tx.connection.exec_driver_sql(f'DROP INDEX "{index.name}"')
    return [index.sql for index in indexes]


def _without_references(tx: Tx, names: Sequence[str]) -> list[str]:
    """Drop the references and indexes of tables on PostgreSQL and return their definitions.

    Everybody else waits for these tables until the end, so nothing is dropped while somebody has a unit to judge, or
    uses one of the tables this moment; nor where they belong to another user of the database.
    """
    held = select(ONE).where(schema.leases.c.state == "held", schema.leases.c.expires_at > tx.now).limit(ONE)
    if not names or tx.value(held):
        return []
    references, indexes = tx.all(REFERENCES, names=list(names)), tx.all(INDEXES, names=list(names))
    locked = sorted({*names, *(each.parent for each in references)})
    try:
        with tx.connection.begin_nested():
            tx.connection.exec_driver_sql(f"LOCK TABLE {', '.join(locked)} IN ACCESS EXCLUSIVE MODE NOWAIT")
            for each in references:
                tx.connection.exec_driver_sql(f"ALTER TABLE {each.child} DROP CONSTRAINT {each.name}")
            for each in indexes:
                tx.connection.exec_driver_sql(f"DROP INDEX {each.name}")
    except DBAPIError:
        return []
    again = [f"ALTER TABLE {each.child} ADD CONSTRAINT {each.name} {each.definition}" for each in references]
    return [*(each.definition for each in indexes), *again]


def add_units(tx: Tx, job_id: str, new: pl.DataFrame) -> pl.Series:
    """Add work units of one item each, every slot of them filled; return their ids in order.

    Columns of `new`: `item_id, essay_id, stage, wanted`.  Rows, slots and events are those of `units.add_all`.
    """
    last = int(tx.value(select(func.max(schema.units.c.position)).where(schema.units.c.job_id == job_id)) or 0)
    added = new.with_columns(
        new_ids(new.height).alias("unit_id"),
        pl.int_range(last + 1, last + 1 + new.height).alias("position"),
        new_shuffles(new.height).alias("shuffle"),
        job_id=pl.lit(job_id),
        batch=pl.lit(0),
    )
    insert(tx, schema.units, added.drop("item_id"))
    insert(tx, schema.unit_items, added.select("unit_id", pl.lit(0).alias("position"), "item_id"))
    insert(tx, schema.slots, _slots(added))
    _log(tx, "units.added", job_id, added.select(wanted=pl.format('"{}":{}', "unit_id", "wanted")))
    return added["unit_id"]


def _slots(added: pl.DataFrame) -> pl.DataFrame:
    numbered = added.with_columns(n=pl.int_ranges(1, pl.col("wanted") + 1)).filter(pl.col("wanted") > 0)
    own = numbered.explode("n").select("unit_id", "n", "job_id", "batch", "shuffle")
    return own.with_columns(state=pl.lit("filled"))


def add_submissions(tx: Tx, job_id: str, sent: pl.DataFrame) -> None:
    """Store submissions of one judgment each, as `submissions.store_all` does, with an event for each portion.

    Columns of `sent`: those of `submissions` but for its id, job and lease, and those of `judgments`.
    """
    sent = sent.with_columns(new_ids(sent.height).alias("submission_id"), job_id=pl.lit(job_id), position=pl.lit(0))
    own = [column.name for column in schema.submissions.columns if column.name in sent.columns]
    insert(tx, schema.submissions, sent.select(own))
    insert(tx, schema.judgments, sent.select(column.name for column in schema.judgments.columns))
    n = pl.col("n").cast(pl.String).fill_null("null")
    names = ("submission_id", "unit_id", "person_id", "status", n, "body_hash")
    _log(tx, "submissions.imported", job_id, sent.select(stored=pl.format('"{}":["{}","{}","{}",{},"{}"]', *names)))


def add_decisions(tx: Tx, new: pl.DataFrame) -> int:
    """Add decisions of systems that have none yet, with an event, as `decisions.add_all` does; return the count.

    Columns of `new`: those of `decisions` but for the payload.
    """
    content.add_systems(tx, new["system"].unique().to_list())
    with loading(tx, n_rows=new.height, tables=(schema.decisions,)):
        insert(tx, schema.decisions, new.sort("system", "item_id"))
    events.write(tx, None, "decisions.added", "", {"n": new.height})
    return new.height


def _log(tx: Tx, verb: str, job_id: str, members: pl.DataFrame) -> None:
    """Log what was added to a job: an event for each portion of one column, whose cells are members of an object.

    Keys of JSON are sorted, and so are new ids.
    """
    if verb not in VERBS:
        raise ValueError(f"no such verb in grater.annotate.store.events: {verb}")
    (name,) = members.columns
    portion = pl.int_range(pl.len()) // PORTION
    portions = members.group_by(portion.alias("portion"), maintain_order=True).agg(pl.col(name).str.join(","))
    payload = pl.concat_str(pl.lit(f'{{"{name}":{{'), name, pl.lit("}}"))
    rows = portions.select(payload=payload, at=pl.lit(tx.now), verb=pl.lit(verb), noun=pl.lit(job_id))
    if tx.is_postgres:
        number = tx.value(sql("SELECT pg_current_xact_id()::text::bigint"))
        rows = rows.with_columns(transaction_id=pl.lit(number))
    insert(tx, schema.events, rows)
