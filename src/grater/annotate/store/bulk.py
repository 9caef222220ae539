"""Many rows at once, by columns: COPY on PostgreSQL, the driver's `executemany` on SQLite.

A file of half a million judgments becomes a million and a half rows.  Here a frame of columns goes to the driver as
it is: SQLAlchemy's own insert takes 2.5 times as long on SQLite and 5 times as long on PostgreSQL.  Columns that hold
JSON hold its text already (`schema.columns.to_text`); columns that are left out get their defaults.  All of it
happens in the caller's transaction, under the constraints of the schema, on PostgreSQL if need be all at its end
(`loading`): what is refused, or broken off, leaves nothing behind.

COPY reads its text format, in which backslashes, tabs and line ends are escaped, so that no cell can end a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import polars as pl
from sqlalchemy import Table, func, select
from sqlalchemy import text as sql
from sqlalchemy.exc import DBAPIError

from grater.annotate import content
from grater.annotate.store import events, schema
from grater.annotate.store.events import VERBS
from grater.annotate.store.transaction import ONE, PORTION, Tx, new_id, new_shuffle, require_time

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
"""Of tables; indexes of keys are constraints, and stay."""

AT_A_TIME = 65_536
"""Rows in one piece of COPY's text."""


def insert(tx: Tx, table: Table, frame: pl.DataFrame) -> None:
    """Insert the rows of a frame, whose columns are called as those of the table."""
    require_time()
    if frame.is_empty():
        return
    cursor: Any = tx.connection.connection.cursor()
    base: Any = tx.connection.dialect.loaded_dbapi.Error
    columns = ", ".join(f'"{name}"' for name in frame.columns)
    try:
        if tx.is_postgres:
            with cursor.copy(f"COPY {table.name} ({columns}) FROM STDIN") as copy:
                for piece in frame.iter_slices(AT_A_TIME):
                    copy.write(_as_text(piece))
        else:
            cells = ", ".join("?" * frame.width)
            cursor.executemany(f"INSERT INTO {table.name} ({columns}) VALUES ({cells})", frame.iter_rows())
    except base as error:  # as it would be elsewhere
        raise DBAPIError.instance(None, None, error, base, dialect=tx.connection.dialect) from error


def _as_text(frame: pl.DataFrame) -> str:
    texts = pl.selectors.string()
    for raw, escaped in ESCAPES:
        frame = frame.with_columns(texts.str.replace_all(raw, escaped, literal=True))
    return frame.write_csv(include_header=False, separator="\t", quote_style="never", null_value=r"\N")


@contextmanager
def loading(tx: Tx, *, n_rows: int, tables: Sequence[Table] = LOADED) -> Iterator[None]:
    """Make room for many rows: PostgreSQL asks of all at the end what it would ask of each, which takes a third.

    A new index sorts what there is, and a new reference is checked by one join.  Where a table holds more already
    than is to come, nothing of it is set aside.  Everybody else waits for these tables until the end, so nothing is
    dropped while somebody has a unit to judge, or uses one of the tables this moment; nor where they belong to
    another user of the database.
    """
    held = select(ONE).where(schema.leases.c.state == "held", schema.leases.c.expires_at > tx.now).limit(ONE)
    names: list[str] = []
    if tx.is_postgres and not tx.value(held):
        names = [each.name for each in tables if n_rows > tx.value(select(func.count()).select_from(each))]
    set_aside = _set_aside(tx, names) if names else []
    yield
    for definition in set_aside:
        tx.connection.exec_driver_sql(definition)


def _set_aside(tx: Tx, names: Sequence[str]) -> list[str]:
    """Drop the references and indexes of tables and return their definitions."""
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


def new_ids(n: int) -> pl.Series:
    """Sorted: rows that come in the order of their key are inserted faster."""
    return pl.Series(sorted(new_id() for _ in range(n)), dtype=pl.String)


def add_units(tx: Tx, job_id: str, new: pl.DataFrame) -> pl.Series:
    """Add work units of one item each, every slot of them filled; return their ids in order.

    Columns of `new`: `item_id, essay_id, stage, wanted`.  Rows, slots and events are those of `units.add_all`.
    """
    last = int(tx.value(select(func.max(schema.units.c.position)).where(schema.units.c.job_id == job_id)) or 0)
    added = new.with_columns(
        new_ids(new.height).alias("unit_id"),
        pl.int_range(last + 1, last + 1 + new.height).alias("position"),
        pl.Series("shuffle", [new_shuffle() for _ in range(new.height)], dtype=pl.Int64),
        job_id=pl.lit(job_id),
        batch=pl.lit(0),
    )
    insert(tx, schema.units, added.drop("item_id"))
    insert(tx, schema.unit_items, added.select("unit_id", pl.lit(0).alias("position"), "item_id"))
    numbered = added.with_columns(n=pl.int_ranges(1, pl.col("wanted") + 1)).filter(pl.col("wanted") > 0).explode("n")
    slots = numbered.select("unit_id", "n", "job_id", "batch", "shuffle", state=pl.lit("filled"))
    insert(tx, schema.slots, slots)
    _log(tx, "units.added", job_id, added.select(wanted=pl.format('"{}":{}', "unit_id", "wanted")))
    return added["unit_id"]


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
