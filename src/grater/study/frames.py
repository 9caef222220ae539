"""The tables of an export as frames: items, judgments, raters, gold, payments, decisions, ratings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

import polars as pl

from grater.model import Json
from grater.store import Tx, adjudications, decisions, dump, essays, gold, items, judgments, people, units
from grater.store.clock import as_iso

Row = Mapping[str, Json]


def frame(rows: Iterable[Row], columns: Sequence[str]) -> pl.DataFrame:
    """Rows under fixed columns; lists joined by `|`, other nested values as JSON, no value as an empty cell."""
    found = list(rows)
    return pl.DataFrame(
        {name: pl.Series(name, [_cell(row.get(name)) for row in found], dtype=pl.String) for name in columns}
    )


def _cell(value: Json) -> str | None:
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, list | tuple):
        return "|".join(str(each) for each in value) or None
    if isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False, sort_keys=True) if value else None
    return repr(value) if isinstance(value, float) else str(value)


def item_frame(tx: Tx) -> pl.DataFrame:
    texts = {essay.essay_id: essay for essay in essays.all(tx)}
    rows: list[Row] = []
    for each in items.all(tx):
        place: dict[str, Json] = {}
        if each.item is not None:
            essay, span = texts[each.item.essay_id], each.item.span
            target = span.of(essay.text) if len(span) < 200 else ""
            place = {"essay": essay.essay_id, "start": span.start, "end": span.end, "target": target}
            place["document"] = str(essay.metadata.get("document") or "")
        rows.append({"item": each.item_id, **place, "kind": each.kind, "outside": each.outside_id, **each.payload})
    known = ("item", "essay", "start", "end", "kind", "document", "target", "outside")
    further = sorted({name for row in rows for name in row} - set(known))
    return frame(rows, [*known, *further])


def judgment_frame(tx: Tx, job_id: str | None = None, *, names: bool = False) -> pl.DataFrame:
    """Judgments of every status, with the columns of the contract first."""
    rows = judgments.table(tx, job_id, judgments.ALL, roles=("work", "practice", "gold"), names=names)
    return frame(rows, JUDGMENTS)


JUDGMENTS = (
    *("item", "rater", "label", "status", "confidence", "seconds", "at", "flags", "alternatives"),
    *("stage", "batch", "group", "payload", "role", "kind", "job", "unit", "submission", "guidelines"),
)


def rater_frame(tx: Tx, *, names: bool = False) -> pl.DataFrame:
    """Everybody; a joint seat names the two people behind it."""
    columns = ("rater", "role", "kind", "members", "state", "added_at", *(("name", "email") if names else ()))
    found = list(dump.rows(tx, "people", names=names))
    called = {row["person_id"]: row["name"] if names else row["pseudonym"] for row in found}
    rows = [
        {
            **row,
            "rater": called[row["person_id"]],
            "members": sorted(called[each] for each in people.members(tx, row["person_id"])),
            "added_at": as_iso(row["added_at"]),
        }
        for row in found
    ]
    return frame(sorted(rows, key=lambda row: str(row["rater"])), columns)


def adjudication_frame(tx: Tx, raters: Mapping[str, str]) -> pl.DataFrame:
    """The newest decision for each item, as judgments of the annotator `gold`, with who decided."""
    rows: list[Row] = [
        {
            **asdict(answer),
            "item": answer.item_id,
            "rater": adjudications.ANNOTATOR,
            "job": units.the(tx, each.unit_id).job.name,
            "unit": each.unit_id,
            "version": each.version,
            "by": raters[each.person_id],
            "comment": each.comment,
            "at": as_iso(each.at),
        }
        for each in adjudications.all(tx)
        for answer in each.answers
    ]
    columns = ("item", "rater", "label", "confidence", "flags", "alternatives", "payload")
    return frame(rows, (*columns, "job", "unit", "version", "by", "comment", "at"))


def gold_frame(tx: Tx) -> pl.DataFrame:
    rows: list[Row] = [
        {"item": each.item_id, "label": sorted(each.accepted), "reason": each.reason, "state": each.state, "job": job}
        for job, each in gold.all(tx)
    ]
    return frame(rows, ("item", "label", "reason", "state", "job"))


def payment_frame(tx: Tx, raters: Mapping[str, str]) -> pl.DataFrame:
    rows = [
        {**row, "rater": raters[row["person_id"]], "amount": f"{row['cents'] / 100:.2f}", "at": as_iso(row["at"])}
        for row in dump.rows(tx, "payments")
    ]
    return frame(rows, ("rater", "kind", "amount", "currency", "state", "note", "at"))


def decision_frame(tx: Tx) -> pl.DataFrame:
    rows: list[Row] = [
        {
            "item": each.item_id,
            "system": each.system,
            "flagged": each.flagged,
            "score": each.score,
            "type": each.type,
            "suggestion": each.suggestion,
        }
        for each in decisions.all(tx)
    ]
    return frame(rows, ("item", "system", "flagged", "score", "type", "suggestion"))


def label_frame(found: pl.DataFrame) -> pl.DataFrame:
    """Valid judgments as `task, worker, label`, which crowd tools read."""
    valid = found.filter(pl.col("status") == "valid")
    return valid.select(task="item", worker="rater", label="label").sort("task", "worker")


def rating_frame(found: pl.DataFrame) -> pl.DataFrame:
    """A matrix: one row an item, one column a rater, the label in the cell."""
    labels = label_frame(found)
    raters = labels["worker"].unique().sort().to_list()
    wide: dict[str, dict[str, str]] = {}
    for task, worker, label in labels.iter_rows():
        wide.setdefault(task, {})[worker] = label
    return frame([{"item": task, **cells} for task, cells in sorted(wide.items())], ["item", *raters])
