"""Tables in: from files of every type and from frames, under the names and types of the contract, checked.

*Columns* are matched by name, by synonym, or as the caller says.  The table's own name wins over a synonym; two
synonyms side by side are an error, never a guess.  Names match whatever their case.  A column that the caller's
mapping pushes aside is kept as `NAME.file`.

*Several judgments in one row* (a list in one cell, or a column per rater) have no rater ids: raters are 1 to n by
position, and the result says so (`anonymous_raters`), unless the caller knows that the columns are people.  A list is
`[3, 4, 3]`, in quotes or not, or entries with `|` between them.  An empty cell is no judgment; items that are left
without any are counted in `dropped`.

*Crowd platforms*: batch files of Mechanical Turk and full reports of CrowdFlower are known by their headers;
`read_amt` and `read_crowdflower` are for files whose header somebody has changed.

Judgments are filtered before duplicates are looked for: a withdrawn judgment and its successor are not a pair.  The
functions `as_...` take whatever a caller has, checked already or not.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches

import polars as pl

from grater.errors import BadInput, Problem, Problems, UnknownName, UsageError
from grater.registry import unknown
from grater.tables import platforms, worksheets
from grater.tables.check import Duplicates, add, checked, further, places, without_duplicates
from grater.tables.files import META, Source, as_path, beside, load, read_text
from grater.tables.judgments import (
    Judgments,
    Sample,
    parsed_meta,
    with_confidence,
    with_labels,
    with_status,
    without_flags,
)
from grater.tables.schema import LIST_SEPARATOR, SCHEMAS, VALID, Column, Kind, Raw, Schema, Table, plain, text_of

LIKENESS = 0.75
"""How much alike two names must be for one to be taken for a slip of the other; `other` and `rater` are 0.6."""

NONE = ""
"""What `columns` gives for a column that is to be taken as missing, as in `rater=`."""


def parse_columns(settings: Iterable[str]) -> dict[str, str]:
    """`["item=orig_id,rater=who"]` as `{"item": "orig_id", "rater": "who"}`."""
    columns: dict[str, str] = {}
    for setting in (part for text in settings for part in text.split(",")):
        name, equals, theirs = setting.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"expected NAME=COLUMN, found {setting!r}; as in item=orig_id,rater=who")
        columns[name.strip()] = theirs.strip()
    return columns


def matched(schema: Schema, raw: Raw, columns: Mapping[str, str] | None = None, *, but: str | None = None) -> Raw:
    """The same table under the schema's names: its columns first and in its order, then the further ones.

    An error for every column that must be there and is not; `but` is one that may be missing.
    """
    asked = canonical(schema, columns or {})
    for name, theirs in asked.items():
        if theirs != NONE and theirs not in raw.columns:
            raise UnknownName(f"{raw.name}: {unknown('column', theirs, list(raw.columns))} (asked for as {name})")
    free = [theirs for theirs in raw.columns if theirs not in asked.values()]
    found = {
        column.name: asked[column.name] if column.name in asked else _column_in(column, free, raw.name)
        for column in schema.columns
    }
    sources = {name: theirs for name, theirs in found.items() if theirs}
    wanted = [column for column in schema.columns if column.required and column.name not in (but, *sources)]
    if wanted:
        raise BadInput(*(_missing(schema, column, raw) for column in wanted))
    ordered = {name: raw.columns[theirs].alias(name) for name, theirs in sources.items()}
    for theirs, series in raw.columns.items():
        if theirs not in sources.values():
            name = theirs
            while name in ordered:
                name = f"{name}.file"
            ordered[name] = series
    return raw.with_columns(ordered)


def canonical(schema: Schema, columns: Mapping[str, str]) -> dict[str, str]:
    """The caller's mapping under the schema's own names; a name that it does not know is an error."""
    asked = {}
    for name, theirs in columns.items():
        column = schema.column(name)
        if column is None:
            raise UnknownName(unknown(f"column of {schema.kind}", name, [known.name for known in schema.columns]))
        asked[column.name] = theirs
    return asked


def _column_in(column: Column, free: list[str], name: str) -> str | None:
    """The file's column that bears the name, else the one that bears a synonym."""
    own = [theirs for theirs in free if theirs.lower() == column.name]
    others = [theirs for theirs in free if theirs.lower() in column.synonyms]
    if column.name in own:
        return column.name
    for candidates in (own, others):
        if len(candidates) > 1:
            names = " and ".join(repr(theirs) for theirs in candidates)
            wish = f"columns {column.name}={candidates[0]}"
            raise BadInput(
                Problem(name, f"expected one column for {column.name!r}, found {names}; choose with {wish}")
            )
        if candidates:
            return candidates[0]
    return None


def near(schema: Schema, column: Column, raw: Raw) -> str | None:
    """A further column whose name is nearly that of the wanted one, or holds it (`worker_id`)."""
    free = {theirs.lower(): theirs for theirs in raw.columns if schema.column(theirs) is None}
    holding = [theirs for lower, theirs in free.items() if any(name in lower for name in column.names)]
    close = (get_close_matches(name, list(free), n=1, cutoff=LIKENESS) for name in column.names)
    return next(iter(holding), None) or next((free[match[0]] for match in close if match), None)


def _missing(schema: Schema, column: Column, raw: Raw) -> Problem:
    guess = near(schema, column, raw)
    hint = f"Did you mean {guess!r}? Then say" if guess else "If it has another name, say"
    names = " or ".join(repr(name) for name in column.names)
    present = ", ".join(raw.columns) or "none"
    is_wide = column.name == "label" and schema.kind == "judgments" and guess is None
    wide = "; if every rater has a column, say rater columns NAME,NAME" if is_wide else ""
    wish = f"{hint} columns {column.name}={guess or 'NAME'}{wide}"
    return Problem(raw.name, f"expected a column {names}, found {present}. {wish}")


NO_JUDGMENT = "rows without an answer"


def is_list(cells: pl.Series) -> bool:
    """Whether a column holds lists, real ones or written in brackets, and nothing else."""
    if isinstance(cells.dtype, pl.List | pl.Array):
        return True
    if cells.dtype == pl.Object:
        return all(isinstance(cell, list) or cell is None for cell in cells.to_list())
    if cells.dtype != pl.String or cells.null_count() == len(cells):
        return False
    return bool(cells.drop_nulls().str.contains(r"^\s*\[[\s\S]*\]\s*$").all())


def from_list(raw: Raw, label: str) -> tuple[Raw, int]:
    """One row for every entry of the column `label`, and the number of rows that had none."""
    problems = Problems(raw.name)
    row_places = places(raw)
    entries = []
    for row, cell in enumerate(raw.columns[label].to_list()):
        texts = _labels(cell)
        if texts is None:
            message = f"expected a list of labels in column {label!r}, found {str(cell)[:60]!r}"
            add(problems, raw, row_places[row], message)
        entries.append([(str(number), text) for number, text in enumerate(texts or [], 1)])
    problems.done()
    kept = {name: cells for name, cells in raw.columns.items() if name != label}
    return _long(raw.with_columns(kept), entries)


def from_columns(raw: Raw, labels: Sequence[str], *, are_raters: bool = False) -> tuple[Raw, int]:
    """One row for every cell of the columns `labels` that is filled, and the number of rows that had none.

    The rater is the column's position among them, or its name where columns `are_raters`.
    """
    for name in labels:
        if name not in raw.columns:
            raise UnknownName(f"{raw.name}: {unknown('column', name, list(raw.columns))}")
    if not labels:
        raise BadInput(Problem(raw.name, "expected columns of labels, found none named"))
    columns = [[text_of(plain(cell)) for cell in raw.columns[name].to_list()] for name in labels]
    raters = [name if are_raters else str(number) for number, name in enumerate(labels, 1)]
    entries = [
        [(rater, cell) for rater, cell in zip(raters, row, strict=True) if cell] for row in zip(*columns, strict=True)
    ]
    kept = {name: cells for name, cells in raw.columns.items() if name not in labels}
    return _long(raw.with_columns(kept), entries)


def _labels(cell: object) -> list[str] | None:
    """The labels that a cell holds; None where it holds something else."""
    if cell is None:
        return []
    if isinstance(cell, str):
        inside = cell.strip()
        if not (inside.startswith("[") and inside.endswith("]")):
            cell = [entry.strip() for entry in inside.split(LIST_SEPARATOR)]
        else:
            try:
                cell = json.loads(inside)
            except (ValueError, RecursionError):
                cell = [entry.strip().strip("'\"") for entry in inside[1:-1].split(",")]
    if not isinstance(cell, list):
        return None
    texts = [text_of(plain(entry)) for entry in cell]
    return None if None in texts else [text for text in texts if text]


def _long(raw: Raw, entries: list[list[tuple[str, str]]]) -> tuple[Raw, int]:
    """The rows of `raw` once for every (rater, label) they hold."""
    rows = pl.Series([row for row, pairs in enumerate(entries) for _ in pairs], dtype=pl.UInt32)
    columns = {name: further(cells).gather(rows) for name, cells in raw.columns.items()}
    columns["rater"] = pl.Series("rater", [rater for pairs in entries for rater, _ in pairs], dtype=pl.String)
    columns["label"] = pl.Series("label", [label for pairs in entries for _, label in pairs], dtype=pl.String)
    lines = None if raw.lines is None else raw.lines.gather(rows)
    return Raw(raw.name, columns, lines), sum(not pairs for pairs in entries)


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
    schema = SCHEMAS[kind]
    raw = load(source, name=name or f"{kind} frame")
    if kind == "gold" and platforms.is_report(raw):
        columns = canonical(schema, columns or {})
        raw = platforms.report_gold(raw, item=columns.pop("item", None), label=columns.pop("label", None))
    raw = matched(schema, raw, columns)
    frame, dropped = without_duplicates(schema, checked(schema, raw), raw, duplicates)
    return Table(kind, frame, raw.name, dropped)


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
    file = beside(path, META) if path is not None else None
    meta = parsed_meta(read_text(file), name=str(file)) if file is not None and file.exists() else None
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
    rater_columns: Sequence[str] = (),
    name: str | None = None,
) -> Judgments:
    """The judgments that count; without rater ids, raters are positions and the result says so.

    Where every rater has a column of labels, `rater_columns` are these, and one row has all judgments of an item.
    """
    raw = load(source, name=name or "judgments frame")
    columns = canonical(SCHEMA, columns or {})
    n_empty = 0
    if rater_columns:
        raw, n_empty = from_columns(raw, rater_columns, are_raters=True)
    if worksheets.is_worksheet(raw):
        raw, n_empty = worksheets.answered(raw)
    elif platforms.is_batch(raw):
        raw = platforms.batch_judgments(raw, item=columns.pop("item", None), label=columns.pop("label", None))
    elif platforms.is_report(raw):
        raw = platforms.report_judgments(raw, item=columns.pop("item", None), label=columns.pop("label", None))
    raw = matched(SCHEMA, raw, columns, but="rater")
    is_anonymous = "rater" not in raw.columns
    if is_anonymous:
        # A misspelt rater column must not make raters anonymous unnoticed.
        guess = near(SCHEMA, next(column for column in SCHEMA.columns if column.name == "rater"), raw)
        if guess is not None and "rater" not in columns:
            wish = f"columns rater={guess}, or columns rater= if raters are not known"
            raise BadInput(Problem(raw.name, f"expected a column 'rater', found {guess!r}; say {wish}"))
        if is_list(raw.columns["label"]):
            raw, n_empty = from_list(raw, "label")
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
    raw, n_empty = from_columns(load(source, name=name or "judgments frame"), labels, are_raters=are_raters)
    raw = matched(SCHEMA, raw, columns)
    return _finished(_judgments(raw, is_anonymous=not are_raters, n_empty=n_empty), raw, duplicates)


def _judgments(raw: Raw, *, is_anonymous: bool, n_empty: int) -> Judgments:
    frame = checked(SCHEMA, raw)
    if "rater" not in frame.columns:
        position = (pl.int_range(pl.len()).over("item") + 1).cast(pl.String)
        frame = frame.with_columns(rater=position)
    known = [column.name for column in SCHEMA.columns if column.name in frame.columns]
    frame = frame.select(*known, pl.exclude(known))
    return Judgments(frame, raw.name, is_anonymous, {NO_JUDGMENT: n_empty} if n_empty else {})


def _finished(judgments: Judgments, raw: Raw, duplicates: Duplicates) -> Judgments:
    """The filtered judgments with each (item, rater) once, and at least one of them."""
    frame, dropped = without_duplicates(SCHEMA, judgments.frame, raw, duplicates)
    dropped = {**judgments.dropped, **dropped}
    if frame.is_empty():
        reasons = ", ".join(f"{n_rows} {reason}" for reason, n_rows in dropped.items())
        raise BadInput(Problem(raw.name, f"expected judgments that count, found none ({reasons}); see status"))
    return replace(judgments, frame=frame, dropped=dropped)


def read_amt(
    source: Source,
    *,
    item: str | None = None,
    label: str | None = None,
    status: Collection[str] = (VALID,),
    duplicates: Duplicates = "error",
) -> Judgments:
    """A batch of Mechanical Turk; `item` names an Input column, `label` an Answer column where there are several."""
    raw = load(source, name="batch frame")
    _require(raw, platforms.AMT_COLUMNS, "a batch of Mechanical Turk")
    return read_judgments(raw, columns=_columns(item, label), status=status, duplicates=duplicates)


def read_crowdflower(
    source: Source,
    *,
    item: str | None = None,
    label: str | None = None,
    status: Collection[str] = (VALID,),
    duplicates: Duplicates = "error",
) -> tuple[Judgments, Table | None]:
    """A full report: its judgments, and its test questions as gold where it has any."""
    raw = load(source, name="report frame")
    platforms.refuse_aggregated(raw)
    _require(raw, platforms.CROWDFLOWER_COLUMNS, "a full report of CrowdFlower")
    columns = _columns(item, label)
    judgments = read_judgments(raw, columns=columns, status=status, duplicates=duplicates)
    return judgments, read_gold(raw, columns=columns) if platforms.has_gold(raw, label=label) else None


def _columns(item: str | None, label: str | None) -> dict[str, str]:
    return {name: column for name, column in (("item", item), ("label", label)) if column is not None}


def _require(raw: Raw, marks: tuple[str, ...], what: str) -> None:
    missing = [mark for mark in marks if mark not in raw.columns]
    if missing:
        raise BadInput(Problem(raw.name, f"expected {what}, found no column {', '.join(missing)}", 1))


def as_judgments(source: Judgments | Source, *, name: str | None = None) -> Judgments:
    """Judgments from whatever a caller has: checked ones as they are, anything else read and checked.

    A source is a path, `-` for standard input, or a frame of pandas, polars, Arrow or a library that speaks their
    protocols.
    """
    if isinstance(source, Judgments):
        return source
    if isinstance(source, Table):
        return read_judgments(_frame_of_kind("judgments", source), name=source.name)
    return read_judgments(source, name=name)


def as_decisions(source: Table | Source, *, name: str | None = None) -> Table:
    """Decisions from whatever a caller has, as `as_judgments`."""
    return _as_table("decisions", source, name)


def as_items(source: Table | Source, *, name: str | None = None) -> Table:
    """Items from whatever a caller has, as `as_judgments`."""
    return _as_table("items", source, name)


def as_gold(source: Table | Source, *, name: str | None = None) -> Table:
    """Gold from whatever a caller has, as `as_judgments`."""
    return _as_table("gold", source, name)


def as_sample(source: Sample | Source, *, name: str | None = None) -> Sample:
    """A sample from whatever a caller has, as `as_judgments`; a frame has no design, seed or hash of its items."""
    if isinstance(source, Sample):
        return source
    if isinstance(source, Table):
        return read_sample(_frame_of_kind("sample", source), name=source.name)
    return read_sample(source, name=name)


def _as_table(kind: Kind, source: Table | Source, name: str | None) -> Table:
    if isinstance(source, Table):
        _frame_of_kind(kind, source)
        return source
    if isinstance(source, Judgments | Sample):
        raise UsageError(f"expected {kind}, found a {type(source).__name__.lower()} table ({source.name})")
    return read_table(kind, source, name=name)


def _frame_of_kind(kind: Kind, table: Table) -> pl.DataFrame:
    if table.kind != kind:
        raise UsageError(f"expected {kind}, found a table of {table.kind} ({table.name})")
    return table.frame
