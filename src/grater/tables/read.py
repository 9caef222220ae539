"""Tables in: from files of every type and from frames, under the names and types of the contract, checked.

Batch files of Mechanical Turk and full reports of CrowdFlower are known by their headers and read as they are.
Judgments are filtered before duplicates are looked for: a withdrawn judgment and its successor are not a pair.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import polars as pl

from grater.errors import BadInput, Problem, UnknownName
from grater.tables import amt, crowdflower, wide
from grater.tables.check import checked, unplaced
from grater.tables.columns import canonical, matched, near
from grater.tables.files import as_path
from grater.tables.judgments import Judgments, with_confidence, with_labels, with_status, without_flags
from grater.tables.keys import Duplicates, without_duplicates
from grater.tables.load import Source, load
from grater.tables.raw import Raw
from grater.tables.sample import Sample, read_meta
from grater.tables.schema import SCHEMAS, VALID, Kind
from grater.tables.table import Table

SCHEMA = SCHEMAS["judgments"]


def read_table(
    kind: Kind,
    source: Source,
    *,
    columns: Mapping[str, str] | None = None,
    duplicates: Duplicates = "error",
    name: str | None = None,
) -> Table:
    """A table of any kind, every row of it; `columns` says under what name the source has a column."""
    if kind not in SCHEMAS:
        raise UnknownName(f"unknown kind of table {kind!r}. Known: {', '.join(SCHEMAS)}")
    raw = load(source, name=name or f"{kind} frame")
    if kind == "gold" and crowdflower.is_report(raw):
        asked = canonical(SCHEMAS[kind], columns or {})
        raw, columns = (
            crowdflower.report_gold(raw, item=asked.pop("item", None), label=asked.pop("label", None)),
            asked,
        )
    return _table(kind, raw, columns, duplicates)


def _table(kind: Kind, raw: Raw, columns: Mapping[str, str] | None, duplicates: Duplicates) -> Table:
    schema = SCHEMAS[kind]
    raw = matched(schema, raw, columns)
    frame, dropped = without_duplicates(schema, checked(schema, raw), raw, duplicates)
    return Table(kind, unplaced(frame), raw.name, dropped)


def read_decisions(
    source: Source,
    *,
    columns: Mapping[str, str] | None = None,
    duplicates: Duplicates = "error",
    name: str | None = None,
) -> Table:
    """What systems said of items, one row per system per item."""
    return read_table("decisions", source, columns=columns, duplicates=duplicates, name=name)


def read_items(
    source: Source,
    *,
    columns: Mapping[str, str] | None = None,
    duplicates: Duplicates = "error",
    name: str | None = None,
) -> Table:
    """Where items stand and what they are like."""
    return read_table("items", source, columns=columns, duplicates=duplicates, name=name)


def read_gold(
    source: Source,
    *,
    columns: Mapping[str, str] | None = None,
    duplicates: Duplicates = "error",
    name: str | None = None,
) -> Table:
    """Items with known answers; the test questions of a CrowdFlower report are gold too."""
    return read_table("gold", source, columns=columns, duplicates=duplicates, name=name)


def read_sample(
    source: Source,
    *,
    columns: Mapping[str, str] | None = None,
    duplicates: Duplicates = "error",
    name: str | None = None,
) -> Sample:
    """Drawn items; `NAME.meta.json` beside the file is read where it is."""
    table = read_table("sample", source, columns=columns, duplicates=duplicates, name=name)
    path = as_path(source)
    meta = read_meta(path) if path is not None else None
    return Sample(table.frame, table.name, meta, table.dropped)


def read_judgments(
    source: Source,
    *,
    columns: Mapping[str, str] | None = None,
    duplicates: Duplicates = "error",
    status: Collection[str] = (VALID,),
    drop_flags: Collection[str] = (),
    min_confidence: float | None = None,
    merge: Mapping[str, str] | None = None,
    name: str | None = None,
) -> Judgments:
    """The judgments that count; without rater ids, raters are positions and the result says so."""
    raw, columns = _recognised(load(source, name=name or "judgments frame"), columns or {})
    raw = matched(SCHEMA, raw, columns, but="rater")
    n_empty = 0
    is_anonymous = "rater" not in raw.columns
    if is_anonymous:
        _refuse_a_likely_rater(raw, columns)
        if wide.is_list(raw.columns["label"]):
            raw, n_empty = wide.from_list(raw, "label")
    judgments = _judgments(raw, is_anonymous=is_anonymous, n_empty=n_empty)
    judgments = with_status(judgments, status)
    if drop_flags:
        judgments = without_flags(judgments, drop_flags)
    if min_confidence is not None:
        judgments = with_confidence(judgments, min_confidence)
    return with_labels(_finished(judgments, raw, duplicates), merge or {})


def read_wide(
    source: Source,
    *,
    labels: Sequence[str],
    columns: Mapping[str, str] | None = None,
    are_raters: bool = False,
    duplicates: Duplicates = "error",
    name: str | None = None,
) -> Judgments:
    """Judgments that lie side by side in the columns `labels`; these are people only where they `are_raters`."""
    raw, n_empty = wide.from_columns(load(source, name=name or "judgments frame"), labels, are_raters=are_raters)
    raw = matched(SCHEMA, raw, columns)
    return _finished(_judgments(raw, is_anonymous=not are_raters, n_empty=n_empty), raw, duplicates)


def _recognised(raw: Raw, columns: Mapping[str, str]) -> tuple[Raw, Mapping[str, str]]:
    """The raw table of a crowd platform under our names, and what the caller's mapping still has to say."""
    asked = canonical(SCHEMA, columns)
    if amt.is_batch(raw):
        return amt.batch_judgments(raw, item=asked.pop("item", None), label=asked.pop("label", None)), asked
    if crowdflower.is_report(raw):
        return crowdflower.report_judgments(raw, item=asked.pop("item", None), label=asked.pop("label", None)), asked
    return raw, asked


def _refuse_a_likely_rater(raw: Raw, columns: Mapping[str, str]) -> None:
    """A misspelt rater column must not make raters anonymous unnoticed."""
    rater = SCHEMA.column("rater")
    guess = near(SCHEMA, rater, raw) if rater is not None else None
    if guess is not None and "rater" not in columns:
        wish = f"--columns rater={guess}, or --columns rater= if raters are not known"
        raise BadInput(Problem(raw.name, f"expected a column 'rater', found {guess!r}; say {wish}"))


def _judgments(raw: Raw, *, is_anonymous: bool, n_empty: int) -> Judgments:
    frame = checked(SCHEMA, raw)
    if "rater" not in frame.columns:
        position = (pl.int_range(pl.len()).over("item") + 1).cast(pl.String)
        frame = frame.with_columns(rater=position)
    known = [column.name for column in SCHEMA.columns if column.name in frame.columns]
    frame = frame.select(*known, pl.exclude(known))
    return Judgments(frame, raw.name, is_anonymous, {wide.NO_JUDGMENT: n_empty} if n_empty else {})


def _finished(judgments: Judgments, raw: Raw, duplicates: Duplicates) -> Judgments:
    """The filtered judgments with each (item, rater) once, and at least one of them."""
    frame, dropped = without_duplicates(SCHEMA, judgments.frame, raw, duplicates)
    dropped = {**judgments.dropped, **dropped}
    if frame.is_empty():
        reasons = ", ".join(f"{n_rows} {reason}" for reason, n_rows in dropped.items())
        raise BadInput(Problem(raw.name, f"expected judgments that count, found none ({reasons}); see --status"))
    return replace(judgments, frame=unplaced(frame), dropped=dropped)
