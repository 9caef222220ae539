"""Whole tables out and in, row by row, as an archive holds them; and the log of what was imported.

Secrets never leave: password hashes, second factors, sessions, tokens, invitations, webhooks, the study's key.
Without `names`, neither do the names and addresses of people, nor a panel's ids of them: they go by pseudonyms.
A panel whose links were signed is closed in an archive, since its secret stays behind.

An import is kept with the hash of its bytes, so that the same file is not imported twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import select
from sqlalchemy import text as sql

from grater.annotate.store import events, schema
from grater.annotate.store.ids import new_id
from grater.annotate.store.transaction import Columns, Tx, chunks
from grater.model import Json

STAYS = (
    "meta",
    "sessions",
    "tokens",
    "second_factors",
    "recovery_codes",
    "invitations",
    "webhooks",
    "deliveries",
    "drafts",
    "last_answers",
    "run_files",
    "runs",
)
"""Tables that no archive holds; drafts are unfinished and nobody's result, and nothing is undone or run in a copy."""

PUBLIC_META = ("public_check_page", "public_editors")
"""What owners opened to the public, which a copy of the study does not open."""

SECRET_META = ("key", "version", *PUBLIC_META)


@dataclass(frozen=True, slots=True)
class Import:
    import_id: str
    kind: str
    name: str
    sha256: str
    n_rows: int
    at: int
    payload: Mapping[str, Json] = field(default_factory=dict, hash=False)


IMPORT_COLUMNS = Columns(Import, schema.imports)


def table_names() -> list[str]:
    """The tables of an archive, each after those that it refers to."""
    return [table.name for table in schema.METADATA.sorted_tables if table.name not in STAYS]


def rows(tx: Tx, name: str, *, names: bool = False) -> Iterator[dict[str, Any]]:
    """Every row of a table in the order of its key."""
    table = schema.METADATA.tables[name]
    order = [
        (tx.binary(column) if column.type.python_type is str else column) for column in table.primary_key.columns
    ]
    for row in tx.execute(select(table).order_by(*order).execution_options(yield_per=2000)):
        cells = dict(row._mapping)
        cells.pop("transaction_id", None)
        yield _without_secrets(cells, name, names=names)


def insert(tx: Tx, name: str, rows: Iterable[dict[str, Any]]) -> int:
    """Put rows back and return their number; columns that this schema does not have are an error of the database."""
    table = schema.METADATA.tables[name]
    n_rows = 0
    for portion in chunks(rows):
        tx.insert(table, portion)
        n_rows += len(portion)
    if table is schema.events and tx.is_postgres:
        tx.execute(sql("SELECT setval(pg_get_serial_sequence('events', 'n'), (SELECT max(n) FROM events))"))
    return n_rows


def in_order(name: str, rows: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    """Rows of a table that refers to itself, each after the one that it refers to."""
    if name != "units":
        return rows
    return sorted(rows, key=lambda row: (row["follows"] is not None, row["job_id"], row["position"]))


def meta_values(tx: Tx) -> dict[str, str]:
    """What the study knows of itself and may tell."""
    return {row.key: row.value for row in tx.all(select(schema.meta)) if row.key not in SECRET_META}


def meta_value(tx: Tx, name: str) -> str:
    """One thing that the study knows of itself; empty where it does not."""
    return str(tx.value(select(schema.meta.c.value).where(schema.meta.c.key == name)) or "")


SET_META = sql(
    "INSERT INTO meta (key, value) VALUES (:key, :value) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
)
"""In the words that both engines know."""


def set_meta(tx: Tx, name: str, value: str) -> None:
    tx.execute(SET_META, {"key": name, "value": value})


def _without_secrets(row: dict[str, Any], name: str, *, names: bool) -> dict[str, Any]:
    if name == schema.people.name:
        return _person(row, names=names)
    if name == schema.panels.name and row["options"].get("secret"):
        return row | {"options": {**row["options"], "secret": ""}, "state": "closed"}
    if name == schema.panel_places.name and not names:
        return row | {"external_id": row["person_id"]}
    return row


def _person(row: dict[str, Any], *, names: bool) -> dict[str, Any]:
    row["password_hash"] = ""
    if not names:
        row |= {"name": row["pseudonym"], "email": "", "payload": {}}
    return row


def start_import(tx: Tx, *, kind: str, name: str, sha256: str, payload: Mapping[str, Json] | None = None) -> str:
    """Note an import and return its id, to which its rows can then refer."""
    started = Import(
        import_id=new_id(), kind=kind, name=name, sha256=sha256, n_rows=0, at=tx.now, payload=payload or {}
    )
    tx.insert(schema.imports, IMPORT_COLUMNS.row(started))
    return started.import_id


def finish_import(tx: Tx, import_id: str, *, n_rows: int, actor: str | None = None) -> None:
    tx.execute(schema.imports.update().where(schema.imports.c.import_id == import_id).values(n_rows=n_rows))
    events.write(tx, actor, "import.done", import_id, {"n_rows": n_rows})


def find_import(tx: Tx, *, kind: str, sha256: str) -> Import | None:
    """An earlier import of the very same bytes."""
    query = select(*IMPORT_COLUMNS).where(schema.imports.c.kind == kind, schema.imports.c.sha256 == sha256)
    row = tx.first(query.order_by(schema.imports.c.at))
    return None if row is None else IMPORT_COLUMNS.read(row)


def undated(tx: Tx) -> set[int]:
    """The times of imports: a judgment from a file that does not say when it was made is stored with that time."""
    return {row.at for row in tx.all(select(schema.imports.c.at))}


def all_imports(tx: Tx) -> list[Import]:
    query = select(*IMPORT_COLUMNS).order_by(schema.imports.c.at, schema.imports.c.import_id)
    return [IMPORT_COLUMNS.read(row) for row in tx.all(query)]
