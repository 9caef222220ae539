"""Judgments as integers, and the essay of each item: the input of every coefficient and its interval.

*Codes.* Raters and labels are in the order of their names (A1, A2, A10), numbers by size, so results do not depend on
the order of rows; items are in order of first appearance. Judgments of `unknown` concern the item, not the error: by
default they are left out of shares and counted (`with_unknown`). Adjudicated labels and programs are not raters
(`people_only`): their `group` is `adjudicated` or `program`, or the rater is called `gold` or `adjudicated`.

*Spelling.* The three verdicts (error, ok, unknown) are recognised in any case. A warning names other labels that
differ only in case, blanks or number format (`1` and `1.0`).

*Units.* Errors cluster in essays (one learner, one topic, one marker). The essay of an item comes from the items,
decisions, judgments or sample. `auto` uses `document` if it groups the essays of all items (an essay of an M2 file is
a sentence, and its document is the learner's whole text), else `essay`; if the document column is empty, essays are
sentences, and a note says so. Any other column can be named: `learner`, `topic`, `class`. An item without a value is
a separate unit, and a note counts such items; it is an error if an item is in two essays.

*Counts.* Agreement depends on an item only through its row of counts, so items with equal rows form one *pattern*.
Items may have missing judgments; those with fewer than two are left out and counted. (In irrCAC and Gwet 2014, items
with one judgment still count towards label shares; the package krippendorff does as we do.)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite, nan
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import BadInput, Problem, UnknownName, UsageError, unknown
from grater.model import Interval, is_adjudicated
from grater.sheet import counted, natural
from grater.tables import Judgments, Sample, Table
from grater.uncertainty import (
    BASIS,
    FEWEST_UNITS,
    INDEPENDENT,
    SENTENCES,
    Basis,
    Influence,
    Ints,
    Numbers,
    Population,
    Scope,
    Unit,
    Units,
    design_effect,
    grouped_rows,
    influence,
    ratio,
    share,
    wilson,
)

Unknown: TypeAlias = Literal["drop", "ok", "apart"]
Codes: TypeAlias = npt.NDArray[np.signedinteger]
"""As a rule of 32 bits."""

UNKNOWN = "unknown"
LEFT_OUT = "label unknown"
NOT_RATERS = ("program", "adjudicated")
"""Groups of judgments that are not by raters."""


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """Judgments as three aligned integer arrays; names by code.

    `unit_of` has the unit of each item, by the item's code, if units are not items; `unit` is their name.
    """

    item: Codes
    rater: Codes
    label: Codes
    items: pl.Series
    raters: tuple[str, ...]
    labels: tuple[str, ...]
    name: str
    anonymous_raters: bool = field(default=False, kw_only=True)
    unit_of: Ints | None = field(default=None, kw_only=True)
    unit: str = field(default="item", kw_only=True)

    def __len__(self) -> int:
        return len(self.item)


def coded(judgments: Judgments) -> Coded:
    """The judgments by code; the frame may hold text or categories."""
    item, items = codes_of_items(categories(judgments, "item"))
    rater, raters = by_name(categories(judgments, "rater"))
    label, labels = by_name(categories(judgments, "label"))
    return Coded(
        item=item,
        rater=rater,
        label=label,
        items=items.cast(pl.String),
        raters=raters,
        labels=labels,
        name=judgments.name,
        anonymous_raters=judgments.anonymous_raters,
    )


def codes_of_items(names: pl.Series) -> tuple[Codes, pl.Series]:
    """A code for each category, from 0 in order of first appearance, and the categories by code."""
    physical, occurring, first = _occurring(names)
    order = np.argsort(first)
    return _code_table(occurring[order])[physical], names.gather(first[order])


def by_name(names: pl.Series) -> tuple[Codes, tuple[str, ...]]:
    """A code for each category, from 0 in order of name, and the names by code."""
    physical, occurring, first = _occurring(names)
    shown = names.gather(first).cast(pl.String).to_list()
    order = in_order(shown)
    return _code_table(occurring[order])[physical], tuple(shown[row] for row in order)


def _occurring(names: pl.Series) -> tuple[npt.NDArray[np.integer], Ints, Ints]:
    """The physical code of each row, the sorted distinct codes, and the row where each first occurs."""
    physical = names.to_physical().to_numpy()
    first = np.full(int(physical.max()) + 1 if physical.size else 0, -1)
    # Written from the last row to the first: of several, numpy keeps what comes last.  Much faster than a sort.
    first[physical[::-1]] = np.arange(physical.size - 1, -1, -1)
    occurring = np.flatnonzero(first >= 0)
    return physical, occurring, first[occurring]


def _code_table(order: Ints) -> Codes:
    """A lookup table: 0 for the first physical code of `order`, 1 for the next, and so on."""
    code_of = np.full(int(order.max(initial=-1)) + 1, -1, np.int32)
    code_of[order] = np.arange(order.size, dtype=np.int32)
    return code_of


def in_order(names: Sequence[str]) -> list[int]:
    """The indices of names in numerical order if all are numbers, else in natural order: A1, A2, A10."""
    numbers = as_numbers(names)
    keys = [(number, natural(name)) for number, name in zip(numbers or [0.0] * len(names), names, strict=True)]
    return sorted(range(len(names)), key=keys.__getitem__)


def as_numbers(names: Sequence[str]) -> list[float] | None:
    """The names as numbers; None if one of them is not a number."""
    try:
        numbers = [float(name) for name in names]
    except ValueError:
        return None
    return numbers if all(map(isfinite, numbers)) else None


def categories(judgments: Judgments, name: str) -> pl.Series:
    """A column as categories; a judgment must have an item, a rater and a label."""
    column = judgments.frame[name]
    if column.null_count():
        problem = f"expected a value in column {name!r}, found {column.null_count()} empty cells; see read_judgments"
        raise BadInput(Problem(judgments.name, problem))
    if isinstance(column.dtype, pl.Categorical | pl.Enum):
        return column
    return column.cast(pl.String).cast(pl.Categorical)


def by_code(judgments: Judgments) -> Judgments:
    """The judgments with raters and labels as categories: what looks for one of them looks at codes."""
    names = pl.col("rater", "label").cast(pl.String).cast(pl.Categorical)
    return replace(judgments, frame=judgments.frame.with_columns(names))


def reordered(coded: Coded, order: Sequence[str]) -> Coded:
    """The same judgments with labels in the given order, which may name unused labels."""
    missing = [label for label in coded.labels if label not in order]
    if missing or len(set(order)) < len(order):
        fault = f"found no place for {', '.join(missing)}" if missing else "found one twice"
        raise UsageError(f"expected an order that names every label once, {fault}")
    codes = np.array([order.index(label) for label in coded.labels], np.int32)
    return replace(coded, label=codes.take(coded.label), labels=tuple(order))


def with_unknown(judgments: Judgments, how: Unknown = "drop") -> Judgments:
    """The judgments with `unknown` left out and counted, treated as `ok`, or kept as a label."""
    label = pl.col("label").cast(pl.String)
    if how == "apart":
        return judgments
    if how == "ok":
        return replace(judgments, frame=judgments.frame.with_columns(label=label.replace({UNKNOWN: "ok"})))
    is_coded = isinstance(judgments.frame["label"].dtype, pl.Categorical)
    is_known = judgments.frame.select((pl.col("label") if is_coded else label) != UNKNOWN).to_series()
    return _kept(judgments, is_known, LEFT_OUT)


def people_only(judgments: Judgments) -> Judgments:
    """The judgments of raters; programs and adjudicated labels are left out and counted."""
    frame = judgments.frame
    if "group" in frame.columns:
        group = frame["group"].cast(pl.String).str.to_lowercase()
        judgments = _kept(judgments, ~group.is_in(NOT_RATERS).fill_null(False), "by a program, or adjudicated")
    names = judgments.frame["rater"].unique().cast(pl.String)
    gold = [name for name in names.drop_nulls().to_list() if is_adjudicated(name)]
    is_rater = ~judgments.frame["rater"].cast(pl.String).is_in(gold).fill_null(False)
    return _kept(judgments, is_rater, f"{', '.join(sorted(gold))} is adjudicated, not a rater")


def _kept(judgments: Judgments, is_kept: pl.Series, reason: str) -> Judgments:
    if is_kept.all():
        return judgments
    kept = judgments.frame.filter(is_kept)
    return replace(judgments, frame=kept, dropped={**judgments.dropped, reason: len(judgments) - len(kept)})


# How labels are spelled

VERDICT_WORDS = ("error", "ok", "unknown")
MOST_NAMED = 6


def spelled_alike(labels: Sequence[str]) -> list[tuple[str, ...]]:
    """Groups of labels that differ only in case, blanks or number format."""
    by_key: dict[str, list[str]] = defaultdict(list)
    for label in labels:
        by_key[_key(label)].append(label)
    return [tuple(sorted(names)) for _, names in sorted(by_key.items()) if len(names) > 1]


def _key(label: str) -> str:
    plain = " ".join(label.casefold().split())
    number = as_numbers([plain]) if plain else None
    return repr(number[0] + 0.0) if number else plain


def one_spelling(judgments: Judgments) -> Judgments:
    """The judgments with one spelling of error, ok and unknown each: lower case if there were several."""
    labels = label_names(judgments)
    several = {name: _key(name) for names in spelled_alike(labels) for name in names if _key(name) in VERDICT_WORDS}
    if not several:
        return judgments
    label = pl.col("label").cast(pl.String).replace(several)
    return replace(judgments, frame=judgments.frame.with_columns(label=label))


def label_names(judgments: Judgments) -> list[str]:
    return sorted(judgments.frame["label"].drop_nulls().unique().cast(pl.String).to_list())


def spelling_warnings(judgments: Judgments) -> Iterator[str]:
    alike = spelled_alike(label_names(judgments))
    one = [names for names in alike if _key(names[0]) in VERDICT_WORDS]
    apart = [names for names in alike if _key(names[0]) not in VERDICT_WORDS]
    if one:
        yield f"labels that differ only in spelling were taken as one: {_named(one)}"
    if apart:
        yield (
            f"labels differ only in case, blanks or number format: {_named(apart)}; "
            "they count as different; merge them if they mean the same"
        )


def _named(alike: Sequence[tuple[str, ...]]) -> str:
    shown = [" / ".join(map(repr, names)) for names in alike[:MOST_NAMED]]
    return ", ".join([*shown, *([f"and {len(alike) - MOST_NAMED} more"] if len(alike) > MOST_NAMED else [])])


# The essay of each item

ITEM, SENTENCE, ESSAY, DOCUMENT = "item", "sentence", "essay", "document"
AS_ASKED = "items taken as independent, as asked"
AnyTable: TypeAlias = Table | Judgments | Sample


@dataclass(frozen=True, slots=True, eq=False)
class Essays:
    """The unit of each item as a frame of `item` and `unit`; None if items are treated as independent."""

    unit: str = ITEM
    of_items: pl.DataFrame | None = None
    note: str = INDEPENDENT

    def codes(self, items: pl.Series) -> Ints | None:
        """The index of each item's unit, without gaps; an item without a unit is its own unit."""
        if self.of_items is None:
            return None
        codes = self._names(items).rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1
        alone = np.flatnonzero(codes < 0)
        codes = codes.copy()
        codes[alone] = codes.max(initial=-1) + 1 + np.arange(alone.size)
        return codes

    def _names(self, items: pl.Series) -> pl.Series:
        assert self.of_items is not None
        frame = pl.DataFrame({ITEM: items.cast(pl.String)})
        return frame.join(self.of_items, on=ITEM, how="left", maintain_order="left")["unit"]

    def n_alone(self, items: pl.Series) -> int:
        """The number of items without a known unit, although others have one."""
        return 0 if self.of_items is None else self._names(items).null_count()

    def covers(self, judgments: Judgments) -> bool:
        """Whether the unit of some item of a table is known, or none is needed."""
        items = judgments.frame[ITEM].cast(pl.String).unique()
        return self.of_items is None or self._names(items).null_count() < len(items)

    def share(self, is_hit: npt.NDArray[np.bool_], items: pl.Series) -> Interval:
        """The share of hits among cases, one item each."""
        if self.of_items is None:
            return wilson(int(is_hit.sum()), len(is_hit))
        return self.mean(is_hit.astype(np.float64), np.ones(len(is_hit)), items)

    def mean(self, values: Numbers, worth: Numbers, items: pl.Series) -> Interval:
        """The mean over items of shares; nan has none. `worth` is the number of cases behind each."""
        it, known = self._influence(values, self.codes(items)), ~np.isnan(values)
        n, n_items = float(worth[known].sum()), float(known.sum())
        return share(it, n=n, n_design=n_items, undefined="no item has enough judgments")

    def _influence(self, values: Numbers, codes: Ints | None) -> Influence:
        known = ~np.isnan(values)
        rows = np.stack([np.where(known, values, 0.0), known], axis=1).astype(np.float64)
        if codes is not None:
            rows = grouped_rows(rows, codes, int(codes.max(initial=-1)) + 1)
        unit = ITEM if codes is None else self.unit
        return influence(Units(rows, unit), lambda sums: ratio(sums[..., 0], sums[..., 1]), rows[:, 1])

    def effect(self, values: Numbers, items: pl.Series) -> float:
        codes = self.codes(items)
        return nan if codes is None else design_effect(self._influence(values, codes), self._influence(values, None))

    def scope_of(self, items: pl.Series, *, basis: Basis = BASIS, effect: float = nan, n_raters: int = 0) -> Scope:
        distinct, n_alone = items.unique(), 0
        n_units, notes = len(distinct), [self.note] if self.note else []
        if self.of_items is not None:
            names = self._names(distinct)
            n_alone = names.null_count()
            n_units = names.drop_nulls().n_unique() + n_alone
        if n_alone:
            notes.append(f"{counted(n_alone, 'item')} without a known {self.unit}, each taken as one of its own")
        return Scope(
            unit=self.unit,
            n_units=n_units,
            population=basis.population,
            design_effect=effect,
            n_raters=n_raters if basis.raters == "random" else 0,
            note="; ".join(notes) if basis.population == "wider" else "",
        )


NO_ESSAYS = Essays()


def essays_of(
    judgments: Judgments, *tables: AnyTable | None, units: Unit = "auto", population: Population = "wider"
) -> Essays:
    """The units of the judged items; the first table, of these and the judgments, that has an item's unit decides."""
    present = [table for table in (*tables, judgments) if table is not None]
    if units == ITEM or (units == "auto" and population == "these"):
        return Essays(note="" if population == "these" else AS_ASKED)
    if units != "auto":
        found = _column(present, units, judgments)
        if found is None:
            names = sorted({name for table in present for name in table.frame.columns})
            raise UnknownName(f"{present[0].name}: {unknown('column', units, names)}")
        return Essays(units, found, "")
    essay, document = (_column(present, name, judgments) for name in (ESSAY, DOCUMENT))
    if document is None and essay is not None and any(DOCUMENT in table.frame.columns for table in present):
        return Essays(SENTENCE, essay, SENTENCES)
    if essay is None or document is None:
        known = document if essay is None else essay
        return NO_ESSAYS if known is None else Essays(DOCUMENT if essay is None else ESSAY, known, "")
    n_essays, n_documents = (each["unit"].n_unique() for each in (essay, document))
    is_coarser = len(document) >= len(essay) and 1 < n_documents < n_essays  # they group the essays of all items
    return Essays(DOCUMENT, document, "") if is_coarser else Essays(ESSAY, essay, "")


def known_essays(judgments: Judgments, items: Table | None, *, units: Unit = "auto") -> Essays:
    """The same for tables that need not concern these items, such as one of many in a report or a study."""
    if items is None:
        return essays_of(judgments, units=units)
    judged = judgments.frame[ITEM].cast(pl.String).unique().implode()
    known = items.frame.filter(pl.col(ITEM).cast(pl.String).is_in(judged))
    return essays_of(judgments, replace(items, frame=known) if len(known) else None, units=units)


def _column(tables: list[AnyTable], column: str, judgments: Judgments) -> pl.DataFrame | None:
    """Item and unit from every table that has the column, earlier tables first; None if nothing is known."""
    frames, name = [], ""
    for table in tables:
        if column not in table.frame.columns:
            continue
        unit = pl.col(column).cast(pl.String).replace("", None)
        pairs = table.frame.select(pl.col(ITEM).cast(pl.String), unit=unit).drop_nulls().unique()
        twice = pairs.filter(pl.col(ITEM).is_duplicated())
        if len(twice):
            item = twice.sort(ITEM, "unit")[ITEM][0]
            names = ", ".join(sorted(twice.filter(pl.col(ITEM) == item)["unit"].to_list())[:3])
            raise BadInput(Problem(table.name, f"expected one {column} for item {item!r}, found {names}"))
        frames.append(pairs)
        name = name or table.name
    known = pl.concat(frames).unique(ITEM, keep="first", maintain_order=True).sort(ITEM) if frames else None
    if known is None or not len(known):
        return None
    judged = judgments.frame.select(pl.col(ITEM).cast(pl.String))
    if all(known.join(some, on=ITEM, how="semi").is_empty() for some in (judged.head(1000), judged)):  # the first do
        raise BadInput(Problem(name, f"expected the {column} of items of {judgments.name}, found none of them"))
    return known


def with_documents(table: Table, documents: pl.DataFrame, name: str) -> Table:
    """A table of items or decisions with the document of each essay (a sentence of an M2 file) or item."""
    key = next((key for key in (ESSAY, ITEM) if {key, DOCUMENT} <= set(documents.columns)), None)
    if key is None:
        raise BadInput(Problem(name, "expected the columns essay (or item) and document"))
    if key not in table.frame.columns:
        raise BadInput(Problem(table.name, f"expected the column {key}, with the documents of {name}"))
    known = documents.select(pl.col(key, DOCUMENT).cast(pl.String)).drop_nulls().unique(key, keep="first")
    rows = table.frame.drop(DOCUMENT, strict=False).with_columns(pl.col(key).cast(pl.String))
    named = rows.join(known, on=key, how="left", maintain_order="left")
    if not named[DOCUMENT].count():
        raise BadInput(Problem(name, f"expected the documents of {table.name}, found none of its {key}s"))
    return replace(table, frame=named)


def with_essays(codes: Coded, essays: Essays) -> Coded:
    return replace(codes, unit_of=essays.codes(codes.items), unit=essays.unit)


def essay_warnings(essays: Essays, items: pl.Series, scope: Scope) -> Iterator[str]:
    if scope.is_clustered and scope.n_units < FEWEST_UNITS:
        few = f"only {counted(scope.n_units, scope.unit)}: intervals need {FEWEST_UNITS}"
        yield f"{few}; `units` item takes items as independent"
    else:
        yield from scope.warnings
    n_alone = essays.n_alone(items)
    if n_alone:
        yield f"{n_alone:,} of {counted(len(items), 'item')} have no {essays.unit}: each is its own cluster"


# Counts of labels


LabelTable: TypeAlias = npt.NDArray[np.signedinteger]

MOST_CELLS = 1 << 27
"""Cells of the items x labels table: a gigabyte."""
MOST_KEYS = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """The distinct rows of the items x labels table (`patterns`, at least two judgments each) and their frequencies.

    `n_left_out` counts the items with fewer than two judgments. If units are not items, `place` has the pattern of
    each compared item and `unit_of` its unit.
    """

    patterns: Ints
    n_items: Ints
    labels: tuple[str, ...]
    n_left_out: int = 0
    place: Ints | None = None
    unit_of: Ints | None = None
    unit: str = "item"
    n_units: int = 0

    @property
    def n_compared(self) -> int:
        return int(self.n_items.sum())

    @property
    def n_judgments(self) -> int:
        return int(self.n_items @ self.patterns.sum(axis=1))

    def units(self, rows: Numbers) -> Units:
        """The units to leave out, from a row of numbers for each pattern."""
        if self.unit_of is None or self.place is None:
            return self.as_items(rows)
        return Units(grouped_rows(rows[self.place], self.unit_of, self.n_units), self.unit)

    def as_items(self, rows: Numbers) -> Units:
        return Units(rows, "item", self.n_items.astype(np.float64))


def tally(judgments: Judgments | Coded) -> Counts:
    codes = judgments if isinstance(judgments, Coded) else coded(judgments)
    rows = table_of(codes.item, codes.label, len(codes.labels))
    return from_rows(rows, codes.labels, unit_of=codes.unit_of, unit=codes.unit)


def from_rows(
    rows: LabelTable, labels: tuple[str, ...], *, unit_of: Ints | None = None, unit: str = "item"
) -> Counts:
    """The counts of an items x labels table, as printed in textbooks; `unit_of` has the essay of each row."""
    size = rows.sum(axis=1)
    compared = rows[size > 1].astype(np.int64, copy=False)
    patterns, place, n_items = _distinct(compared)
    counts = Counts(patterns, n_items, labels, int((size == 1).sum()))
    if unit_of is None:
        return counts
    n_units = int(unit_of.max(initial=-1)) + 1
    return replace(counts, place=place, unit_of=unit_of[size > 1], unit=unit, n_units=n_units)


def _distinct(rows: Ints) -> tuple[Ints, Ints, Ints]:
    """The distinct rows of a table in order, the index of each row among them, and their frequencies."""
    base, width = int(rows.max(initial=0)) + 1, rows.shape[1]
    if base**width > MOST_KEYS:
        patterns, place, times = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
        return patterns, place.ravel(), times
    radix = base ** np.arange(width - 1, -1, -1, dtype=np.int64)
    keys = rows @ radix
    if base**width <= 4 * keys.size + 1000:  # no need to sort
        times = np.bincount(keys, minlength=base**width)
        occurring = np.flatnonzero(times)
        place_of = np.cumsum(times > 0) - 1
        return occurring[:, None] // radix % base, place_of[keys], times[occurring]
    occurring, place, times = np.unique(keys, return_inverse=True, return_counts=True)
    return occurring[:, None] // radix % base, place, times


def table_of(item: Codes, label: Codes, n_labels: int) -> Ints:
    n_items = int(item.max()) + 1 if item.size else 0
    if n_items * n_labels > MOST_CELLS:
        raise UsageError(
            f"expected at most {MOST_CELLS // max(n_items, 1)} different labels for {n_items} items, "
            f"found {n_labels}; merge some"
        )
    cells = item.astype(np.int64) * n_labels + label
    return np.bincount(cells, minlength=n_items * n_labels).reshape(n_items, n_labels)
