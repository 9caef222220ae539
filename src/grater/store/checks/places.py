"""Rules about places in essays: offsets lie inside the text, judgments are about items of their unit (P7)."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import exists, func, select

from grater.store import schema
from grater.store.transaction import Tx


def items_outside(tx: Tx) -> Iterator[str]:
    """An item ends before its essay does."""
    query = select(schema.items.c.item_id, schema.items.c.end, func.length(schema.essays.c.text)).join(
        schema.essays, schema.essays.c.essay_id == schema.items.c.essay_id
    )
    for row in tx.all(query.where(schema.items.c.end > func.length(schema.essays.c.text))):
        yield f"item {row[0]}: ends at {row[1]}, its essay at {row[2]}"


def edits_outside(tx: Tx) -> Iterator[str]:
    """An edit ends before its essay does."""
    query = select(schema.edits.c.essay_id, schema.edits.c.end, func.length(schema.essays.c.text)).join(
        schema.essays, schema.essays.c.essay_id == schema.edits.c.essay_id
    )
    for row in tx.all(query.where(schema.edits.c.end > func.length(schema.essays.c.text))):
        yield f"essay {row[0]}: an edit ends at {row[1]}, the essay at {row[2]}"


def judged_elsewhere(tx: Tx) -> Iterator[str]:
    """A judgment is about an item of the unit that was shown."""
    shown = exists().where(
        schema.unit_items.c.unit_id == schema.submissions.c.unit_id,
        schema.unit_items.c.item_id == schema.judgments.c.item_id,
    )
    has_items = exists().where(schema.unit_items.c.unit_id == schema.submissions.c.unit_id)
    query = select(schema.judgments.c.submission_id, schema.judgments.c.item_id).join(
        schema.submissions, schema.submissions.c.submission_id == schema.judgments.c.submission_id
    )
    for row in tx.all(query.where(has_items, ~shown)):
        yield f"submission {row[0]}: judges item {row[1]}, which its unit does not have"
