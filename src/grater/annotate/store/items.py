"""Items: spans of essays that can be judged.

An item's id comes from its essay, span and kind, whatever the table that brought it calls it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import JSON, Select, Text, cast, func, literal, select

from grater.annotate.store import schema
from grater.annotate.store.schema import to_text
from grater.annotate.store.transaction import Record, Tx, chunks
from grater.model import Item, Json, Span

MANY = 10_000
"""Names in one query."""


@dataclass(frozen=True, slots=True)
class StudyItem:
    """An item as the study knows it; `item` is None for one known only from a table of judgments."""

    item_id: str
    item: Item | None
    kind: str = ""
    outside_id: str | None = None
    payload: Mapping[str, Json] = field(default_factory=dict, hash=False)


def of(item: Item, *, outside_id: str | None = None, payload: Mapping[str, Json] | None = None) -> StudyItem:
    name = None if outside_id == item.item_id else outside_id
    return StudyItem(item_id=item.item_id, item=item, kind=item.kind, outside_id=name, payload=payload or {})


def add_all(tx: Tx, items: Iterable[StudyItem]) -> int:
    """Add the items that the study does not have yet; return the number added."""
    n_new = 0
    for portion in chunks(items):
        by_id = {item.item_id: item for item in portion}
        old = {row.item_id for row in tx.all(select(schema.items.c.item_id).where(schema.items.c.item_id.in_(by_id)))}
        new = [_row(item) for item_id, item in by_id.items() if item_id not in old]
        tx.insert(schema.items, new)
        n_new += len(new)
    return n_new


def by_name(tx: Tx, names: Sequence[str]) -> dict[str, str]:
    """Item ids by the names that a table uses: their ids, or what the table that brought them called them."""
    return {name: item_id for name, (item_id, _) in places(tx, names).items()}


def places(tx: Tx, names: Sequence[str]) -> dict[str, tuple[str, str | None]]:
    """Ids and essays of items by the names that a table uses, in the order of the names."""
    of_name: dict[str, tuple[str, str | None]] = {}
    for portion in chunks(dict.fromkeys(names), MANY):
        listed = _listed(tx, portion)
        for column in (schema.items.c.outside_id, schema.items.c.item_id):  # ids go before what others call an item
            query = select(column.label("name"), schema.items.c.item_id, schema.items.c.essay_id)
            for row in tx.execute(query.where(column.in_(listed))):
                of_name[row.name] = (row.item_id, row.essay_id)
    return {name: of_name[name] for name in names if name in of_name}


def _listed(tx: Tx, names: Sequence[str]) -> Select[Any]:
    """Many names as one parameter: a parameter each takes longer than to find the items."""
    text = literal(to_text(names), Text)
    each = func.json_array_elements_text(cast(text, JSON)) if tx.is_postgres else func.json_each(text)
    return select(each.table_valued("value").c.value)


def find(tx: Tx, item_id: str) -> StudyItem | None:
    row = tx.first(select(schema.items).where(schema.items.c.item_id == item_id))
    return None if row is None else _record(row)


def of_ids(tx: Tx, item_ids: Sequence[str]) -> dict[str, StudyItem]:
    by_id = {}
    for portion in chunks(item_ids):
        for row in tx.all(select(schema.items).where(schema.items.c.item_id.in_(portion))):
            by_id[row.item_id] = _record(row)
    return by_id


def all(tx: Tx, *, kind: str | None = None) -> Iterator[StudyItem]:  # noqa: A001  (read as items.all)
    query = select(schema.items).order_by(tx.binary(schema.items.c.item_id))
    if kind is not None:
        query = query.where(schema.items.c.kind == kind)
    for row in tx.all(query):
        yield _record(row)


def some(tx: Tx, *, kind: str | None = None, start: int, most: int) -> list[StudyItem]:
    """Items by essay and span, `most` of them from number `start` on."""
    order = (
        tx.binary(schema.items.c.essay_id),
        schema.items.c.start,
        schema.items.c.end,
        tx.binary(schema.items.c.item_id),
    )
    query = select(schema.items).order_by(*order).offset(start).limit(most)
    return [_record(row) for row in tx.all(query if kind is None else query.where(schema.items.c.kind == kind))]


def kinds(tx: Tx) -> list[tuple[str, int]]:
    query = (
        select(schema.items.c.kind, func.count().label("n_items"))
        .group_by(schema.items.c.kind)
        .order_by(tx.binary(schema.items.c.kind))
    )
    return [(row.kind, row.n_items) for row in tx.all(query)]


def count(tx: Tx, *, kind: str | None = None) -> int:
    query = select(func.count()).select_from(schema.items)
    return int(tx.value(query if kind is None else query.where(schema.items.c.kind == kind)))


def _row(study_item: StudyItem) -> dict[str, Any]:
    item = study_item.item
    return {
        "item_id": study_item.item_id,
        "essay_id": item.essay_id if item else None,
        "start": item.span.start if item else None,
        "end": item.span.end if item else None,
        "kind": study_item.kind,
        "outside_id": study_item.outside_id,
        "payload": study_item.payload,
    }


def _record(row: Record) -> StudyItem:
    item = None if row.essay_id is None else Item(row.essay_id, Span(row.start, row.end), row.kind)
    return StudyItem(item_id=row.item_id, item=item, kind=row.kind, outside_id=row.outside_id, payload=row.payload)
