"""Judgments that were made elsewhere, by columns: a file of them becomes a closed job.

One unit per item, one submission per judgment.  Raters become people of the study who cannot log in.  Items that the
study does not have are kept by their names, with no place in an essay.  A judgment keeps its status, seconds, time,
flags, alternatives, confidence and payload; its body is its row, every cell that says something.

Cells repeat: each different one is read or written as JSON once, and a row is put together from the texts of its
cells.  Rows go to the store in slices, in the order of their units: memory is that of the table and one slice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, time
from functools import partial
from math import isfinite, isnan
from pathlib import PurePath
from typing import Any, TypeAlias

import polars as pl

from grater.corpora.formats import parse_json
from grater.errors import BadInput, Problem
from grater.model import Json
from grater.store import Tx, bulk, items, jobs, people, schema
from grater.store.clock import from_iso
from grater.store.ids import hashed
from grater.store.schema.columns import to_text
from grater.tables import Judgments
from grater.tables.schema import VALID
from grater.tasks import TASKS

GROUP_ROLES = {"expert": "annotator", "crowd": "worker", "writer": "worker", "program": "worker"}

UNITS_AT_A_TIME = 20_000

UNIT, STATUS, SLOT = "_unit", "_status", "_n"
"""Columns that are added to those of the table: the number of the unit, the status, the slot that it fills."""

Columns: TypeAlias = "dict[str, pl.Series]"


def add_judgments(tx: Tx, table: Judgments, *, job: str, task: str) -> int:
    """Add every judgment of a table under a new job; return the count."""
    rows = _in_units(table.frame)
    units = _units(rows)
    most = max(units["n_rows"])
    options = {"imported": PurePath(table.name).name}
    made = jobs.add(tx, name=job, task=TASKS[task].name, judgments=most, options=options)
    units = units.with_columns(_places(tx, units["item"].to_list()))
    raters = _raters(tx, rows)
    with bulk.loading(tx, n_rows=rows.height):
        for of_units, judged in _slices(units, rows):
            unit_ids = bulk.add_units(tx, made.job_id, of_units.select("item_id", "essay_id", "stage", "wanted"))
            placed = of_units.select(UNIT, "item_id", unit_ids.alias("unit_id"))
            sent = judged.select(UNIT, n=SLOT, status=STATUS).join(placed, on=UNIT, how="left", maintain_order="left")
            own = judged.drop(UNIT, STATUS, SLOT)
            bulk.add_submissions(tx, made.job_id, sent.drop(UNIT).with_columns(**_cells(own, raters, tx.now)))
    jobs.set_state(tx, made.job_id, "closed")
    return rows.height


def _in_units(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows of each item together, items in the order of their first rows; only valid judgments have a slot."""
    units = frame.select(pl.col("item").unique(maintain_order=True)).with_row_index(UNIT)
    rows = frame.join(units, on="item", how="left", maintain_order="left").sort(UNIT, maintain_order=True)
    is_valid = pl.col(STATUS) == VALID
    n = pl.when(is_valid).then(is_valid.cast(pl.Int64).cum_sum().over(UNIT))
    return rows.with_columns(_status(frame).alias(STATUS)).with_columns(n.alias(SLOT))


def _status(frame: pl.DataFrame) -> pl.Expr:
    """A status that the study does not know is that of a judgment which does not count."""
    if "status" not in frame.columns:
        return pl.lit(VALID)
    given = pl.col("status").cast(pl.String)
    is_known = given.is_in(schema.STATUSES)
    is_blank = given.is_null() | (given == "")
    return pl.when(is_blank).then(pl.lit(VALID)).when(is_known).then(given).otherwise(pl.lit("withdrawn"))


def _units(rows: pl.DataFrame) -> pl.DataFrame:
    stage = pl.col("stage").first().cast(pl.String).fill_null("") if "stage" in rows.columns else pl.lit("")
    return rows.group_by(UNIT, maintain_order=True).agg(
        pl.col("item").first().cast(pl.String),
        n_rows=pl.len(),
        wanted=(pl.col(STATUS) == VALID).sum().cast(pl.Int64),
        stage=stage,
    )


def _places(tx: Tx, names: Sequence[str]) -> list[pl.Series]:
    """Ids and essays of items; those that the study does not have are added."""
    known = items.places(tx, names)
    new = [name for name in names if name not in known]
    bulk.insert(tx, schema.items, pl.DataFrame({"item_id": new}, schema={"item_id": pl.String}))
    places = [known.get(name, (name, None)) for name in names]
    return [
        pl.Series("item_id", [item_id for item_id, _ in places], dtype=pl.String),
        pl.Series("essay_id", [essay_id for _, essay_id in places], dtype=pl.String),
    ]


def _raters(tx: Tx, rows: pl.DataFrame) -> dict[str, str]:
    """People by the names of raters; somebody who is in the study already is the same person."""
    first = rows.unique("rater", keep="first", maintain_order=True)
    names = [str(name) for name in first["rater"].to_list()]
    groups = first["group"].to_list() if "group" in rows.columns else [None] * len(names)
    by_name = people.ids_by_name(tx)
    new = [
        (name, GROUP_ROLES.get(group or "crowd", "worker"), "program" if group == "program" else "human")
        for name, group in zip(names, groups, strict=True)
        if name not in by_name
    ]
    return by_name | people.add_raters(tx, new)


def _slices(units: pl.DataFrame, rows: pl.DataFrame) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    start = 0
    for some in units.iter_slices(UNITS_AT_A_TIME):
        n_rows = int(some["n_rows"].sum())
        yield some, rows.slice(start, n_rows)
        start += n_rows


def _cells(rows: pl.DataFrame, raters: Mapping[str, str], now: int) -> Columns:
    """The columns of submissions and judgments that the cells of the table fill."""
    blank = pl.Series("", [None], dtype=pl.String).extend_constant(None, rows.height - 1)

    def column(name: str) -> pl.Series:
        return rows[name] if name in rows.columns else blank

    body = _bodies(rows)
    return {
        "person_id": _each(rows["rater"], lambda name: raters[str(name)]),
        "body": body,
        "body_hash": pl.Series([hashed(text) for text in body], dtype=pl.String),
        "seconds": column("seconds").cast(pl.Float64),
        "at": _each(column("at"), lambda cell: _time(cell, now), pl.Int64),
        "label": rows["label"].cast(pl.String),
        "confidence": _each(column("confidence"), lambda cell: "" if cell is None else f"{cell:g}"),
        "flags": _each(column("flags"), _entries),
        "alternatives": _each(column("alternatives"), _entries),
        "payload": _payloads(column("item"), column("payload")),
    }


def _each(cells: pl.Series, text_of: Callable[[Any], Any], dtype: Any = str) -> pl.Series:
    """What is made of each cell; equal ones are looked at once."""
    if cells.dtype.is_nested() or cells.dtype == pl.Object or (cells.dtype.is_float() and (cells == 0).any()):
        return pl.Series([text_of(cell) for cell in cells.to_list()], dtype=dtype)  # -0.0 equals 0.0
    values = cells.to_list()
    texts = {value: text_of(value) for value in set(values)}
    return pl.Series([texts[value] for value in values], dtype=dtype)


def _bodies(rows: pl.DataFrame) -> pl.Series:
    """Each row as the JSON text of its cells, keys in order; cells that say nothing are left out."""
    members = [_each(rows[name], partial(_member, name)).alias(name) for name in sorted(rows.columns)]
    joined = pl.concat_str(pl.all(), separator=",", ignore_nulls=True)
    return pl.DataFrame(members).select(pl.concat_str(pl.lit("{"), joined, pl.lit("}"))).to_series()


def _member(name: str, cell: Any) -> str | None:
    return None if _is_blank(cell) else f"{to_text(name)}:{to_text(_cell(cell))}"


def _entries(cell: str | None) -> str:
    return to_text([part.strip() for part in cell.split("|") if part.strip()] if cell else [])


def _payloads(names: pl.Series, cells: pl.Series) -> pl.Series:
    texts = _each(cells, _payload)
    if texts.null_count():
        bad = int(texts.is_null().arg_max() or 0)
        message = f"payload of item {names[bad]!r}: expected a JSON object, found {cells[bad][:60]!r}"
        raise BadInput(Problem("judgments", message))
    return texts


def _payload(text: str | None) -> str | None:
    """As the study spells it; None where it is not a JSON object."""
    try:
        payload = parse_json(text or "{}")
    except ValueError:
        return None
    return to_text(payload) if isinstance(payload, dict) else None


def as_json(row: Mapping[str, Any]) -> dict[str, Json]:
    """The cells of a row that say something, as JSON; dates and other kinds of a table become their words."""
    return {name: _cell(value) for name, value in row.items() if not _is_blank(value)}


def _is_blank(value: object) -> bool:
    return value is None or (isinstance(value, float) and isnan(value))


def _cell(value: Any) -> Json:
    if isinstance(value, bool | int | str) or (isinstance(value, float) and isfinite(value)):
        return value
    if isinstance(value, Mapping):
        return as_json(value)
    if isinstance(value, list):
        return [None if _is_blank(each) else _cell(each) for each in value]
    return value.isoformat() if isinstance(value, date | time) else str(value)


def _time(text: object, now: int) -> int:
    """When it was judged, where the table says so in a form that we can read."""
    try:
        return from_iso(str(text)) if text else now
    except ValueError:
        return now
