"""Tables in: from files of every type and from frames, under the names and types of the contract, checked.

*Columns* are matched by name, by synonym, or as the caller says.  The table's own name wins over a synonym; two
synonyms side by side are an error, never a guess.  Names match whatever their case.  A column that the caller's
mapping pushes aside is kept as `NAME.file`.

*Several judgments in one row*.  In a list in one cell raters have no ids: they are 1 to n by position, and the result
says so (`anonymous_raters`).  The columns of several raters are named by the caller.  A list is
`[3, 4, 3]`, in quotes or not, or entries with `|` between them.  An empty cell is not a judgment; items that are left
without any are counted in `dropped`.

*Mechanical Turk*: batch files are known by their headers (`platforms.py`).

*Judgments that count*: a filter gives a new value and adds to `dropped` how many judgments it set aside and why; a
reason that was asked for and met nobody is there too, with 0.  A judgment without a status is valid; one without a
confidence is below any.  Filters come before duplicates are looked for: a withdrawn judgment and its successor are
not a pair.  Where asking stops once raters agree (`grater.annotate.terms`), the share of all votes is nearer to 0 and
1 than after any fixed number; the first judgments of an item, as many as every item was to have in any case, came
before anybody could stop (`first_of_each`).

*Samples*: which items were drawn, from which stratum, with what probability, and from what corpus.  `NAME.meta.json`
next to `NAME.csv` holds the seed, the design, the systems, and the hash of the sorted ids of all items that could
have been drawn.  With it a sample is only ever used with its own corpus; without it every drawn item must at least be
there.

The functions `as_...` take whatever a caller has, checked already or not.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import BadInput, Problem, Problems, UnknownName, UsageError, unknown
from grater.model import Json, short_hash
from grater.tables import platforms, worksheets
from grater.tables.files import META, Source, as_path, companion, load, read_text
from grater.tables.schema import (
    LIST_SEPARATOR,
    SCHEMAS,
    VALID,
    Column,
    Duplicates,
    Kind,
    Raw,
    Schema,
    Table,
    add,
    checked,
    entries,
    further,
    kind_of,
    places,
    plain,
    text_of,
    without_duplicates,
)

ANY = "all"
"""The word for judgments of whatever status."""


@dataclass(frozen=True, slots=True, eq=False)
class Judgments:
    """Which rater gave which label to which item; with `anonymous_raters` they are only positions, 1 to n."""

    frame: pl.DataFrame
    name: str
    anonymous_raters: bool = False
    dropped: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.frame)


def data_hash(*tables: Judgments) -> str:
    """A hash for signatures; neither the order of rows nor further columns change it."""
    frames = [table.frame.select(pl.col("item", "rater", "label").cast(pl.String)) for table in tables]
    return short_hash("\f".join(frame.sort(frame.columns).write_csv() for frame in frames))


def require_raters(judgments: Judgments, what: str) -> None:
    """Raise where raters are only positions; `what` (a plural) needs to know them."""
    if judgments.anonymous_raters:
        raise UsageError(
            f"{judgments.name}: {what} need rater ids, and this table has none: raters 1, 2, ... are positions, "
            'not people; name a column with `columns={"rater": "COLUMN"}` if there is one'
        )


def with_status(judgments: Judgments, status: Collection[str] = (VALID,)) -> Judgments:
    """Only judgments of these statuses; `all` keeps every one."""
    if "status" not in judgments.frame.columns or ANY in status:
        return judgments
    given = pl.col("status").fill_null(VALID)
    is_kept = given.is_in(list(status))
    out = judgments.frame.filter(~is_kept).group_by(given.alias("status")).len()
    dropped = {f"status {name}": n_rows for name, n_rows in sorted(out.iter_rows())}
    return _kept(judgments, judgments.frame.filter(is_kept), dropped)


def without_flags(judgments: Judgments, flags: Collection[str]) -> Judgments:
    """Only judgments without these flags; one that has several is counted under the first."""
    dropped = {}
    frame = judgments.frame
    for flag in flags:
        _require_column(judgments, "flags", f"drop judgments flagged {flag!r}")
        bears = entries("flags").list.contains(flag).fill_null(False)
        kept = frame.filter(~bears)
        dropped[f"flag {flag}"] = len(frame) - len(kept)
        frame = kept
    return _kept(judgments, frame, dropped)


def with_confidence(judgments: Judgments, least: float) -> Judgments:
    """Only judgments with at least this confidence."""
    _require_column(judgments, "confidence", f"ask for a confidence of {least:g}")
    n_silent = judgments.frame["confidence"].null_count()
    kept = judgments.frame.filter(pl.col("confidence") >= least)
    dropped = {"no confidence": n_silent} if n_silent else {}
    dropped[f"confidence below {least:g}"] = len(judgments) - len(kept) - n_silent
    return _kept(judgments, kept, dropped)


TYPE_OF_LABEL = {
    "extraneous": "extraneous",
    "choice": "choice",
    "wrong-choice": "choice",
    "wrong choice": "choice",
    "missing": "missing",
}
"""Labels that name a type of error, in any case."""
TYPE_OF_RATING = {"0": "extraneous", "1": "choice"}
"""The ratings of T&C 2008, 5.1, where both of them are merged into error."""


def with_labels(judgments: Judgments, merge: Mapping[str, str]) -> Judgments:
    """Labels under their new names; a label that `merge` does not name stays."""
    if not merge:
        return judgments
    label = pl.col("label").cast(pl.String)
    # Labels that say of which type an error is get a column `type`, before they are merged into `error`.
    errors = {old for old, new in merge.items() if new == "error"}
    types = {old: TYPE_OF_LABEL[old.casefold()] for old in errors if old.casefold() in TYPE_OF_LABEL}
    if set(TYPE_OF_RATING) <= errors:
        types |= TYPE_OF_RATING
    columns = [label.replace(dict(merge))]
    if types and "type" not in judgments.frame.columns:
        columns.append(label.replace_strict(types, default=None, return_dtype=pl.String).alias("type"))
    return replace(judgments, frame=judgments.frame.with_columns(columns))


def parse_merge(settings: Iterable[str]) -> dict[str, str]:
    """`["0,1=error", "2,e=ok"]` as a map from each old label to its new one."""
    merge: dict[str, str] = {}
    for setting in settings:
        old, equals, new = setting.rpartition("=")
        labels = [label.strip() for label in old.split(",")]
        if not equals or not new.strip() or not all(labels):
            raise UsageError(f"expected OLD,OLD=NEW, found {setting!r}; as in 0,1=error")
        for label in labels:
            if merge.setdefault(label, new.strip()) != new.strip():
                raise UsageError(
                    f"expected one new name for label {label!r}, found {merge[label]!r} and {new.strip()!r}"
                )
    return merge


def _require_column(judgments: Judgments, column: str, what: str) -> None:
    if column not in judgments.frame.columns:
        raise UsageError(
            f"{judgments.name}: cannot {what}: expected a column {column!r}, found none; name it with `columns`"
        )


def _kept(judgments: Judgments, frame: pl.DataFrame, dropped: Mapping[str, int]) -> Judgments:
    return replace(judgments, frame=frame, dropped={**judgments.dropped, **dropped})


TURN, N_OF_ITEM = "turn", "n_of_item"


def first_of_each(judgments: Judgments, n: int) -> Judgments:
    """The first `n` judgments of every item that has at least `n`."""
    is_first, n_short = _first(judgments, n)
    dropped = {f"after the first {n} of an item": len(judgments) - int(is_first.sum()) - n_short}
    if n_short:
        dropped[f"of items with fewer than {n}"] = n_short
    return _kept(judgments, judgments.frame.filter(is_first), dropped)


def equal_in_number(judgments: Judgments, least: int) -> Judgments:
    """The first `least` judgments of each item, 0 for all; all where no item has that number."""
    kept = first_of_each(judgments, least) if least else judgments
    return kept if len(kept) else judgments


def are_first(judgments: Judgments, n: int) -> npt.NDArray[np.bool_]:
    """For every row, whether it is one of the first `n` of an item that has at least `n`."""
    return _first(judgments, n)[0]


def _first(judgments: Judgments, n: int) -> tuple[npt.NDArray[np.bool_], int]:
    if n < 1:
        raise UsageError(f"expected at least the first 1 judgment of each item, found {n}")
    n_silent = judgments.frame["at"].null_count() if "at" in judgments.frame.columns else len(judgments)
    if n_silent:
        raise UsageError(
            f"{judgments.name}: the first {n} of each item are unknown: {n_silent} judgments have no time; "
            "name its column with columns at=COLUMN if there is one"
        )
    n = min(n, len(judgments) + 1)  # as good as any larger number, which polars might not hold
    turns = judgments.frame.with_columns(_moments(judgments)).select(
        pl.struct("at", "rater").rank("ordinal").over("item").alias(TURN), pl.len().over("item").alias(N_OF_ITEM)
    )
    is_short = (turns[N_OF_ITEM] < n).to_numpy()
    return (turns[TURN] <= n).to_numpy() & ~is_short, int(is_short.sum())


def _moments(judgments: Judgments) -> pl.Series:
    """Times as numbers, so that they sort across digits and time zones."""
    times = judgments.frame["at"].cast(pl.String)
    numbers = times.cast(pl.Float64, strict=False)
    if not numbers.null_count() and numbers.is_finite().all():
        return numbers
    return pl.Series("at", [_moment(text, judgments.name) for text in times.to_list()], dtype=pl.Float64)


def _moment(text: str, name: str) -> float:
    """Seconds since 1970; a time without a zone is in UTC."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{name}: expected times such as 2026-01-31T12:00:00Z, found {text[:40]!r}") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


@dataclass(frozen=True, slots=True)
class SampleMeta:
    """How a sample was drawn; `items` hashes the ids it was drawn from, `extra` holds the file's other entries."""

    seed: int | None = None
    design: str = ""
    systems: tuple[str, ...] = ()
    items: str = ""
    extra: Mapping[str, Json] = field(default_factory=dict, hash=False)

    def as_json(self) -> dict[str, Json]:
        entries = asdict(self) | {"systems": list(self.systems)}  # as a file gives them back
        extra = entries.pop("extra")
        return {**entries, **extra}


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Drawn items in the columns of the sample table, and how they were drawn where that is known."""

    frame: pl.DataFrame
    name: str
    meta: SampleMeta | None = None
    dropped: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.frame)


def items_hash(item_ids: Iterable[str]) -> str:
    """A hash of a set of items; order and repeats do not change it."""
    return short_hash("\n".join(sorted(set(item_ids))))


def require_same_items(sample: Sample, item_ids: Iterable[str]) -> None:
    """Raise where a sample was drawn from other items than these."""
    known = set(item_ids)
    strangers = [item for item in sample.frame["item"].unique(maintain_order=True) if item not in known]
    if strangers:
        shown = ", ".join(strangers[:3]) + (", ..." if len(strangers) > 3 else "")
        message = f"was drawn from another corpus: {len(strangers)} of its items are not in this one ({shown})"
        raise BadInput(Problem(sample.name, f"{message}; draw a new sample or give the decisions it was drawn from"))
    actual = items_hash(known)
    if sample.meta is not None and sample.meta.items not in ("", actual):
        message = f"was drawn from another corpus: expected items with hash {sample.meta.items}, found {actual}"
        wish = "some items were added or taken away since; draw a new sample"
        raise BadInput(Problem(sample.name, f"{message} ({len(known)} items); {wish}"))


def with_stratum_size(sample: Sample) -> pl.DataFrame:
    """The drawn items with the size of their stratum: as given, else n / probability.

    Where probabilities differ within a stratum that is the sum of 1 / probability (Horvitz and Thompson 1952),
    which is the same thing where they do not.
    """
    estimate = (1 / pl.col("probability")).sum().over("stratum")
    if "stratum_size" not in sample.frame.columns:
        return sample.frame.with_columns(stratum_size=estimate)
    return sample.frame.with_columns(pl.col("stratum_size").fill_null(estimate))


def parsed_meta(text: str, *, name: str) -> SampleMeta:
    try:
        meta = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(Problem(name, f"expected JSON, found {error}")) from error
    if not isinstance(meta, dict):
        raise BadInput(Problem(name, f"expected a JSON object, found {type(meta).__name__}"))
    fields: dict[str, Any] = {"seed": None, "design": "", "systems": [], "items": ""} | meta
    shapes = {"seed": int | None, "design": str, "systems": list, "items": str}
    for key, shape in shapes.items():
        if not isinstance(fields[key], shape):
            wanted = {"seed": "a whole number", "systems": "a list of names"}.get(key, "text")
            raise BadInput(Problem(name, f"expected {key!r} to be {wanted}, found {fields[key]!r}"))
    extra = {key: value for key, value in meta.items() if key not in shapes}
    systems = tuple(str(system) for system in fields["systems"])
    return SampleMeta(fields["seed"], fields["design"], systems, fields["items"], extra)


# Columns

LIKENESS = 0.75
"""How similar two names must be for one to count as a slip of the other; `other` and `rater` are 0.6."""

NONE = ""
"""The name in `columns` for a column to ignore, as in `rater=`."""


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
        raise BadInput(_missing(schema, wanted, raw))
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
    """The file's column with this name, else the one with a synonym."""
    own = [theirs for theirs in free if theirs.lower() == column.name]
    others = [theirs for theirs in free if theirs.lower() in column.synonyms]
    if column.name in own:
        return column.name
    for candidates in (own, others):
        if len(candidates) > 1:
            names = " and ".join(repr(theirs) for theirs in candidates)
            wish = f'`columns={{"{column.name}": "{candidates[0]}"}}`'
            raise BadInput(
                Problem(name, f"expected one column for {column.name!r}, found {names}; choose with {wish}")
            )
        if candidates:
            return candidates[0]
    return None


def near(schema: Schema, column: Column, raw: Raw) -> str | None:
    """Another column whose name resembles or contains the wanted one (`worker_id`)."""
    free = {theirs.lower(): theirs for theirs in raw.columns if schema.column(theirs) is None}
    holding = [theirs for lower, theirs in free.items() if any(name in lower for name in column.names)]
    close = (get_close_matches(name, list(free), n=1, cutoff=LIKENESS) for name in column.names)
    return next(iter(holding), None) or next((free[match[0]] for match in close if match), None)


def _missing(schema: Schema, wanted: Sequence[Column], raw: Raw) -> Problem:
    kind = kind_of(raw.columns)
    if kind not in (None, schema.kind, "gold"):  # two columns of gold may be anything
        return Problem(raw.name, f"expected {schema.kind}, found a table of {kind}; pass it as `{kind}`")
    guesses = {column.name: near(schema, column, raw) for column in wanted}
    found = [repr(guess) for guess in guesses.values() if guess]
    other = "Rename it, or" if len(wanted) == 1 else "Rename them, or"
    hint = f"Did you mean {' and '.join(found)}? Then" if found else other
    names = " and ".join(f"'{column.name}'" for column in wanted)
    if len(wanted) == 1:
        names = " or ".join(repr(name) for name in wanted[0].names)
    present = ", ".join(raw.columns) or "none"
    is_wide = schema.kind == "judgments" and guesses.get("label", "") is None
    wide = "; if every rater has a column, name these with `rater_columns`" if is_wide else ""
    named = ", ".join(f'"{name}": "{guess or "NAME"}"' for name, guess in guesses.items())
    wish = f"{hint} pass `columns={{{named}}}`{wide}"
    return Problem(
        raw.name, f"expected {'a column' if len(wanted) == 1 else 'columns'} {names}, found {present}. {wish}"
    )


NO_JUDGMENT = "rows without an answer"


def is_list(cells: pl.Series) -> bool:
    """Whether every cell is a list, a real one or one written in brackets."""
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
    for row, cell in zip(row_places, raw.columns[label].to_list(), strict=True):
        texts = _labels(cell)
        if texts is None:
            add(problems, raw, row, f"expected a list of labels in column {label!r}, found {str(cell)[:60]!r}")
        entries.append([(str(number), text) for number, text in enumerate(texts or [], 1)])
    problems.done()
    kept = {name: cells for name, cells in raw.columns.items() if name != label}
    return _long(raw.with_columns(kept), entries)


def from_columns(raw: Raw, raters: Sequence[str]) -> tuple[Raw, int]:
    """One row for every cell of the columns `raters` that is filled, and the number of rows that had none."""
    for name in raters:
        if name not in raw.columns:
            raise UnknownName(f"{raw.name}: {unknown('column', name, list(raw.columns))}")
    columns = [[text_of(plain(cell)) for cell in raw.columns[name].to_list()] for name in raters]
    entries = [
        [(rater, cell) for rater, cell in zip(raters, row, strict=True) if cell] for row in zip(*columns, strict=True)
    ]
    kept = {name: cells for name, cells in raw.columns.items() if name not in raters}
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
    """One row for each (rater, label) in a row of `raw`."""
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
    """Read a table of any kind, with every row; `columns` maps our columns to those of the source."""
    if kind not in SCHEMAS:
        raise UnknownName(f"unknown kind of table {kind!r}. Known: {', '.join(SCHEMAS)}")
    schema = SCHEMAS[kind]
    raw = load(source, name=name or f"{kind} frame")
    raw = matched(schema, raw, columns)
    frame, dropped = without_duplicates(schema, checked(schema, raw), raw, duplicates)
    return Table(kind, frame, raw.name, dropped)


read_decisions = partial(read_table, "decisions")
read_items = partial(read_table, "items")
read_gold = partial(read_table, "gold")


def read_sample(
    source: Source,
    *,
    columns: Mapping[str, str] | None = None,
    duplicates: Duplicates = "error",
    name: str | None = None,
) -> Sample:
    """Drawn items; `NAME.meta.json` next to the file is read where it is."""
    table = read_table("sample", source, columns=columns, duplicates=duplicates, name=name)
    path = as_path(source)
    file = companion(path, META) if path is not None else None
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
        raw, n_empty = from_columns(raw, rater_columns)
    if set(worksheets.MARKS) <= set(raw.columns):
        raw, n_empty = worksheets.answered(raw)
    elif set(platforms.AMT_COLUMNS) <= set(raw.columns):
        raw = platforms.batch_judgments(raw, item=columns.pop("item", None), label=columns.pop("label", None))
    raw = matched(SCHEMA, raw, columns, but="rater")
    is_anonymous = "rater" not in raw.columns
    if is_anonymous:
        # A misspelt rater column must not make raters anonymous unnoticed.
        guess = near(SCHEMA, next(column for column in SCHEMA.columns if column.name == "rater"), raw)
        if guess is not None and "rater" not in columns:
            wish = f'pass `columns={{"rater": "{guess}"}}`, or `columns={{"rater": ""}}` if raters are not known'
            raise BadInput(Problem(raw.name, f"expected a column 'rater', found {guess!r}; {wish}"))
        if is_list(raw.columns["label"]):
            raw, n_empty = from_list(raw, "label")
    judgments = _judgments(raw, is_anonymous=is_anonymous, n_empty=n_empty)
    judgments = with_status(judgments, status)
    if drop_flags:
        judgments = without_flags(judgments, drop_flags)
    if min_confidence is not None:
        judgments = with_confidence(judgments, min_confidence)
    return with_labels(_finished(judgments, raw, duplicates), merge or {})


def _judgments(raw: Raw, *, is_anonymous: bool, n_empty: int) -> Judgments:
    frame = checked(SCHEMA, raw)
    if "rater" not in frame.columns:
        frame = frame.with_columns(rater=(pl.int_range(pl.len()).over("item") + 1).cast(pl.String))
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


def as_judgments(source: Judgments | Source) -> Judgments:
    """Judgments from whatever a caller has: checked ones as they are, anything else read and checked.

    A source is a path, `-` for standard input, or a frame of pandas, polars, Arrow or a library that speaks their
    protocols.
    """
    if isinstance(source, Table):
        _require_kind("judgments", source)
        return read_judgments(source.frame, name=source.name)
    return source if isinstance(source, Judgments) else read_judgments(source)


def as_sample(source: Sample | Source) -> Sample:
    """A sample from whatever a caller has; a frame has no design, seed or hash of its items."""
    if isinstance(source, Table):
        _require_kind("sample", source)
        return read_sample(source.frame, name=source.name)
    return source if isinstance(source, Sample) else read_sample(source)


def _as_table(kind: Kind, source: Table | Source) -> Table:
    if isinstance(source, Table):
        _require_kind(kind, source)
        return source
    if isinstance(source, Judgments | Sample):
        raise UsageError(f"expected {kind}, found a {type(source).__name__.lower()} table ({source.name})")
    return read_table(kind, source)


as_decisions, as_items, as_gold, as_fates, as_remaining = (
    partial(_as_table, kind) for kind in ("decisions", "items", "gold", "fates", "remaining")
)


def _require_kind(kind: Kind, table: Table) -> None:
    if table.kind != kind:
        raise UsageError(f"expected {kind}, found a table of {table.kind} ({table.name})")
