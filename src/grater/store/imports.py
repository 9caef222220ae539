"""What was imported, when, and its hash: the same file twice is said, not done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import select

from grater.model import Json
from grater.store import events, schema
from grater.store.ids import new_id
from grater.store.transaction import Tx


@dataclass(frozen=True, slots=True)
class Import:
    import_id: str
    kind: str
    name: str
    sha256: str
    n_rows: int
    at: int
    payload: Mapping[str, Json] = field(default_factory=dict, hash=False)


COLUMNS = [schema.imports.c[name] for name in Import.__dataclass_fields__]


def start(tx: Tx, *, kind: str, name: str, sha256: str, payload: Mapping[str, Json] | None = None) -> str:
    """Note an import, whose rows can then point at it."""
    made = Import(new_id(), kind, name, sha256, 0, tx.now, payload or {})
    tx.insert(schema.imports, {column: getattr(made, column) for column in Import.__dataclass_fields__})
    return made.import_id


def finish(tx: Tx, import_id: str, *, n_rows: int, actor: str | None = None) -> None:
    tx.execute(schema.imports.update().where(schema.imports.c.import_id == import_id).values(n_rows=n_rows))
    events.write(tx, actor, "import.done", import_id, {"n_rows": n_rows})


def find(tx: Tx, *, kind: str, sha256: str) -> Import | None:
    """An earlier import of the very same bytes."""
    row = tx.first(
        select(*COLUMNS)
        .where(schema.imports.c.kind == kind, schema.imports.c.sha256 == sha256)
        .order_by(schema.imports.c.at)
    )
    return None if row is None else Import(*row)


def all(tx: Tx) -> list[Import]:  # noqa: A001  (read as imports.all)
    return [
        Import(*row) for row in tx.all(select(*COLUMNS).order_by(schema.imports.c.at, schema.imports.c.import_id))
    ]
