"""The tables of statistics as frames of columns: labels, decisions and items, one query each.

A study may have half a million judgments; a dict for each row would take ten times the memory of its columns.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

import polars as pl
from sqlalchemy import Integer, Select, Text, case, cast, func, select, type_coerce

from grater.annotate.store import schema
from grater.annotate.store.dump import undated
from grater.annotate.store.judgments import GROUPS
from grater.annotate.store.transaction import Tx
from grater.tables.schema import LIST_SEPARATOR

Types: TypeAlias = Mapping[str, Any]

LONGEST = 200
"""Characters of an item whose words are worth a cell; a whole essay is not."""

LABELS: Types = {
    "item": str,
    "rater": str,
    "label": str,
    "confidence": str,
    "seconds": float,
    "ms": int,
    "was_leased": bool,
    "flags": str,
    "alternatives": str,
    "stage": str,
    "batch": int,
    "role": str,
    "who": str,
}
DECISIONS: Types = {
    "item": str,
    "system": str,
    "flagged": bool,
    "score": float,
    "type": str,
    "suggestion": str,
}
ITEMS: Types = {
    "item": str,
    "essay": str,
    "start": int,
    "end": int,
    "kind": str,
    "target": str,
}


def _labels_query(job_id: str, role: str) -> Select[Any]:
    """The columns of `LABELS`, for the valid judgments of units in this role."""
    is_program = schema.people.c.kind == "program"
    return (
        select(
            schema.judgments.c.item_id.label("item"),
            case((is_program, schema.people.c.name), else_=schema.people.c.pseudonym).label("rater"),
            schema.judgments.c.label,
            schema.judgments.c.confidence,
            schema.submissions.c.seconds,
            schema.submissions.c.at.label("ms"),
            schema.submissions.c.lease_id.is_not(None).label("was_leased"),
            type_coerce(schema.judgments.c.flags, Text).label("flags"),
            type_coerce(schema.judgments.c.alternatives, Text).label("alternatives"),
            schema.units.c.stage,
            schema.units.c.batch,
            schema.people.c.role,
            schema.people.c.kind.label("who"),
        )
        .join(schema.submissions, schema.submissions.c.submission_id == schema.judgments.c.submission_id)
        .join(schema.units, schema.units.c.unit_id == schema.submissions.c.unit_id)
        .join(schema.people, schema.people.c.person_id == schema.submissions.c.person_id)
        .where(
            schema.submissions.c.job_id == job_id, schema.submissions.c.status == "valid", schema.units.c.role == role
        )
    )


def label_columns(tx: Tx, job_id: str, *, role: str = "work") -> pl.DataFrame:
    """The valid judgments of a job's work (or gold), the oldest first.

    `group` says whose a judgment is, `ms` when it was made, `is_dated` whether that is known: a judgment from a file
    without times has the time of its import.  People go by their pseudonyms, programs by their names:
    they have nothing to hide.  A report asks for them time and again.
    """
    return tx.once((label_columns, job_id, role), lambda: _label_columns(tx, job_id, role))


def _label_columns(tx: Tx, job_id: str, role: str) -> pl.DataFrame:
    frame = _frame(tx, _labels_query(job_id, role), LABELS)
    group = pl.when(pl.col("who") == "program").then(pl.lit("program")).otherwise(pl.col("role").replace(GROUPS))
    lists = [_entries(frame[name]) for name in ("flags", "alternatives")]
    is_dated = pl.col("was_leased") | ~pl.col("ms").is_in(list(undated(tx)))
    named = frame.with_columns(lists).select(pl.exclude("role", "who", "was_leased"), group=group, is_dated=is_dated)
    return named.sort("ms", "item", "rater")


def label_counts(
    tx: Tx, roles: Sequence[str] = ("work",), *, by_experts: bool = False
) -> list[tuple[str, str, str, int]]:
    """Job, item, label, and how many valid judgments say so: counted by the database, for units of these roles."""
    query = (
        select(schema.submissions.c.job_id, schema.judgments.c.item_id, schema.judgments.c.label, func.count())
        .join(schema.submissions, schema.submissions.c.submission_id == schema.judgments.c.submission_id)
        .join(schema.units, schema.units.c.unit_id == schema.submissions.c.unit_id)
        .where(schema.submissions.c.status == "valid", schema.units.c.role.in_(roles))
        .group_by(schema.submissions.c.job_id, schema.judgments.c.item_id, schema.judgments.c.label)
    )
    if by_experts:
        experts = [role for role, group in GROUPS.items() if group == "expert"]
        query = query.join(schema.people, schema.people.c.person_id == schema.submissions.c.person_id).where(
            schema.people.c.role.in_(experts), schema.people.c.kind != "program"
        )
    return [(job_id, item_id, label, n) for job_id, item_id, label, n in tx.all(query)]


def judged_by_people(tx: Tx, job_ids: Collection[str]) -> set[str]:
    """The items of these jobs' work that somebody, not a program, has a valid judgment of."""
    query = (
        select(schema.judgments.c.item_id)
        .distinct()
        .join(schema.submissions, schema.submissions.c.submission_id == schema.judgments.c.submission_id)
        .join(schema.units, schema.units.c.unit_id == schema.submissions.c.unit_id)
        .join(schema.people, schema.people.c.person_id == schema.submissions.c.person_id)
        .where(
            schema.submissions.c.job_id.in_(sorted(job_ids)),
            schema.submissions.c.status == "valid",
            schema.units.c.role == "work",
        )
        .where(schema.people.c.kind != "program")
    )
    return {row.item_id for row in tx.all(query)}


def decision_columns(tx: Tx, kinds: Collection[str] = ()) -> pl.DataFrame:
    """What systems decided, by system and item; only on items of these kinds, if any are named."""
    query = select(
        schema.decisions.c.item_id.label("item"), *(schema.decisions.c[name] for name in list(DECISIONS)[1:])
    )
    if kinds:
        query = query.join(schema.items, schema.items.c.item_id == schema.decisions.c.item_id).where(
            schema.items.c.kind.in_(sorted(kinds))
        )
    return _frame(tx, query, DECISIONS).sort("system", "item").with_columns(_blank("type"), _blank("suggestion"))


def essay_columns(tx: Tx) -> pl.DataFrame:
    """The essay and the document of every item that stands in one: item, essay, document."""
    query = select(schema.items.c.item_id, schema.items.c.essay_id).where(schema.items.c.essay_id.is_not(None))
    of_essays = select(schema.essays.c.essay_id, schema.essays.c.metadata)
    documents = {row.essay_id: str(row.metadata.get("document") or "") or None for row in tx.all(of_essays)}
    rows = [(row.item_id, row.essay_id, documents.get(row.essay_id)) for row in tx.all(query)]
    return pl.DataFrame(rows, dict.fromkeys(("item", "essay", "document"), pl.String), orient="row")


def place_columns(tx: Tx, kinds: Collection[str] = ()) -> pl.DataFrame:
    """Items of essays, with their text and whatever else the study knows of them."""
    start, length = (
        cast(number, Integer) for number in (schema.items.c.start + 1, schema.items.c.end - schema.items.c.start)
    )
    target = case((length < LONGEST, func.substr(schema.essays.c.text, start, length)), else_="")
    columns = (
        schema.items.c.item_id.label("item"),
        schema.items.c.essay_id.label("essay"),
        schema.items.c.start,
        schema.items.c.end,
        schema.items.c.kind,
        target.label("target"),
    )
    query = select(*columns).join(schema.essays, schema.essays.c.essay_id == schema.items.c.essay_id)
    further = select(schema.items.c.item_id, schema.items.c.payload).where(
        schema.items.c.essay_id.is_not(None), schema.items.c.payload != {}
    )
    of_essays = select(schema.essays.c.essay_id, schema.essays.c.metadata)
    if kinds:
        is_wanted = schema.items.c.kind.in_(sorted(kinds))
        query, further = query.where(is_wanted), further.where(is_wanted)
    frame = _frame(tx, query, ITEMS).sort("item")
    documents = {row.essay_id: str(row.metadata.get("document") or "") or None for row in tx.all(of_essays)}
    frame = frame.with_columns(document=pl.col("essay").replace_strict(documents, return_dtype=pl.String))
    return _joined(frame, {row.item_id: row.payload for row in tx.all(further)})


def decided_kinds(tx: Tx, system: str) -> set[str]:
    """The kinds of items that a system decided on."""
    query = (
        select(schema.items.c.kind)
        .distinct()
        .join(schema.decisions, schema.decisions.c.item_id == schema.items.c.item_id)
    )
    return {row.kind for row in tx.all(query.where(schema.decisions.c.system == system))}


def kinds_of(tx: Tx, item_ids: Sequence[str]) -> set[str]:
    """The kinds that some items are of."""
    wanted = pl.DataFrame({"item": item_ids}, schema={"item": pl.String})
    query = select(schema.items.c.item_id.label("item"), schema.items.c.kind)
    kinds = _frame(tx, query, {"item": pl.String, "kind": pl.String})
    return set(kinds.join(wanted, on="item", how="semi")["kind"].unique().to_list())


def _frame(tx: Tx, query: Select[Any], types: Types) -> pl.DataFrame:
    """The rows of a query as a frame; the query names its columns as `types` does."""
    rows, names = tx.all(query), query.selected_columns.keys()
    columns: list[Any] = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    cells = dict(zip(names, columns, strict=True))
    return pl.DataFrame([pl.Series(name, list(cells[name]), dtype=kind) for name, kind in types.items()])


def _entries(cells: pl.Series) -> pl.Series:
    """Lists of JSON as the tables have them, joined; each different list is read once, since most are empty."""
    known = {text: LIST_SEPARATOR.join(map(str, json.loads(text))) or None for text in cells.unique().to_list()}
    return cells.replace_strict(known, return_dtype=pl.String)


def _blank(name: str) -> pl.Expr:
    return pl.when(pl.col(name) != "").then(pl.col(name)).alias(name)


def _joined(frame: pl.DataFrame, payloads: Mapping[str, Mapping[str, Any]]) -> pl.DataFrame:
    names = sorted({name for payload in payloads.values() for name in payload} - set(frame.columns))
    for name in names:
        cells = {item: str(payload[name]) for item, payload in payloads.items() if payload.get(name) is not None}
        frame = frame.with_columns(
            pl.col("item").replace_strict(cells, default=None, return_dtype=pl.String).alias(name)
        )
    return frame
