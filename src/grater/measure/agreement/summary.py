"""All agreement in one table of judgments, with the method.

The coefficients over all raters (`coefficients.py`), alpha first; Cohen's kappa of every pair, and their mean, where
there are few enough raters to print (`MOST_RATERS`) and they are people, not positions.  Next to a pair's interval is
that of Fleiss, Cohen & Everitt (`fce`).  Warnings name intervals that are less reliable than they look; the numbers
behind them are in docs/agreement.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import nan

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import UsageError
from grater.measure.agreement.coefficients import (
    COEFFICIENTS,
    Matrix,
    Scale,
    WeightName,
    alpha,
    band_words,
    coefficient_json,
    coefficient_title,
    coefficients_json,
    influence_of,
    observed_json,
    odd_label_warnings,
    rare_of,
    require_order,
    require_random,
    specific,
    weight_matrix,
    with_interval,
    without_each_rater,
)
from grater.measure.agreement.cohen import (
    Confusion,
    Disagreement,
    MeanPairwise,
    cohen_kappa,
    confusions,
    conger_kappa,
    disagreements,
    fce_interval,
    mean_pairwise,
    ok_label,
)
from grater.measure.units import (
    Coded,
    Counts,
    Essays,
    coded,
    essay_warnings,
    essays_of,
    one_spelling,
    people_only,
    reordered,
    spelling_warnings,
    tally,
    with_essays,
)
from grater.model import Interval, Json
from grater.result import Data, Estimate, Result, encode, frame_of, in_json, key
from grater.sheet import Sheet, count, counted, interval, undefined_notes, with_notes
from grater.signature import Signature, digest
from grater.tables import Judgments
from grater.uncertainty import FEW_FOR_AGREEMENT, Basis, Scope, design_effect, kish

MOST_RATERS = 40
"""Raters whose pairs are compared unless asked: forty have 780."""

FEW_MINOR = 10
"""Items per rater with other labels than the most frequent, below which intervals are wide."""
FEW_ITEMS = 50
FEW_WORTH = 12
"""Essays of one length that the essays must be worth for the intervals of agreement and AC1."""
FEW_COPIED = 50
"""Shared items from which on two raters who never differ may be one."""
MOST_NAMED = 4
MOST_ROWS = 40
MOST_LABELS = 8
SPECIFIC = "specific: "
BANDS_NOTE = "Bands are those of Landis and Koch 1977, from one end of the interval to the other."
FCE = "Fleiss, Cohen & Everitt 1969"


def _table_json(table: Confusion) -> dict[str, Json]:
    known = {"raters": table.raters, "n": table.n, "confusion": table.cells}
    return {**encode(known), **observed_json(table.observed)}


@dataclass(frozen=True, slots=True, eq=False)
class PairAgreement(Data):
    """Two raters: their table, Cohen's kappa, the same with the interval of Fleiss, Cohen & Everitt, and T&C's
    disagreement rates where there is a label for OK."""

    table: Confusion = field(metadata=key(flat=True, write=_table_json))
    kappa: Interval = field(metadata=key(write=coefficient_json))
    fce: Interval = field(metadata=key("kappa_fce", write=coefficient_json))
    disagreements: tuple[Disagreement, ...] = field(default=(), metadata=key("disagreement"))

    @property
    def name(self) -> str:
        return " – ".join(self.table.raters)

    @property
    @in_json("rare")
    def n_minor(self) -> float:
        """The shared items to which one of the two gives another label than the most frequent one, on average."""
        given = self.table.cells.sum(axis=0) + self.table.cells.sum(axis=1)
        return float(given.sum() - given.max(initial=0)) / 2


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Agreement(Result):
    """`n_items` were judged at all, `counts.n_compared` by two raters or more."""

    n_items: int
    raters: tuple[str, ...]
    labels: tuple[str, ...]
    counts: Counts = field(
        metadata=key(
            flat=True,
            write=lambda of: {"compared": of.n_compared, "left_out": of.n_left_out, "judgments": of.n_judgments},
        )
    )
    coefficients: dict[str, Interval] = field(metadata=key(flat=True, write=coefficients_json))
    pairs: tuple[PairAgreement, ...]
    mean: MeanPairwise | None = field(
        metadata=key(
            flat=True,
            optional=True,
            write=lambda mean: {"mean_kappa": coefficient_json(mean.kappa), "undefined_pairs": mean.n_undefined},
        )
    )
    no_pairs: str = field(metadata=key("pairs_reason", optional=True))
    signature: Signature
    scope: Scope = field(metadata=key("interval"))
    specific: dict[str, Interval] = field(default_factory=dict)
    conger: Interval | None = field(default=None, metadata=key(optional=True, write=coefficient_json))
    warnings: tuple[str, ...] = ()

    @property
    def observed(self) -> Interval:
        return self.coefficients["observed"]

    @property
    def alpha(self) -> Interval:
        return self.coefficients["alpha"]

    @property
    def kappa(self) -> Interval:
        """Cohen's kappa of two raters, the mean over pairs of more; Fleiss kappa where pairs are not compared."""
        if len(self.pairs) == 1:
            return self.pairs[0].kappa
        return self.mean.kappa if self.mean else self.coefficients["fleiss"]

    @property
    def headline(self) -> tuple[str, Interval]:
        """The one number to print for a table: Cohen's kappa of two raters, alpha of more."""
        return ("kappa", self.pairs[0].kappa) if len(self.pairs) == 1 else ("alpha", self.alpha)

    def to_frame(self) -> pl.DataFrame:
        """Columns raters, coefficient, items, value, low, high, band."""
        return coefficient_frame(self.estimates())

    def estimates(self) -> Iterator[Estimate]:
        of_all = {**self.coefficients, **({"conger": self.conger} if self.conger else {})}
        of_all |= {f"{SPECIFIC}{label}": value for label, value in self.specific.items()}
        for name, value in of_all.items():
            yield {"raters": "all", "coefficient": name, "items": self.counts.n_compared}, value
        for pair in self.pairs:
            yield {"raters": pair.name, "coefficient": "observed", "items": pair.table.n}, pair.table.observed
            yield {"raters": pair.name, "coefficient": "kappa", "items": pair.table.n}, pair.kappa

    def sheets(self) -> list[Sheet]:
        return with_notes(self.tables(), self.notes(), str(self.signature))

    def tables(self) -> list[Sheet]:
        """The tables without notes, for reports that have more of them."""
        tables = [_overall_sheet(self)]
        if self.specific:
            times = dict(zip(self.labels, (self.counts.n_items @ self.counts.patterns).tolist(), strict=True))
            rows = tuple((label, count(times[label]), interval(value)) for label, value in self.specific.items())
            columns = ("", "judgments", "specific")
            tables.append(Sheet("Agreement on each label", columns, rows, name="specific"))
        if len(self.pairs) == 1 and len(self.labels) <= MOST_LABELS:
            tables.append(confusion_sheet(self.pairs[0].table))
        if self.pairs and self.pairs[0].disagreements:
            tables.append(_disagreement_sheet(self.pairs))
        if len(self.pairs) > 1:
            tables.append(_pairs_sheet(self.pairs))
        return tables

    def notes(self) -> Iterator[str]:
        if self.counts.n_left_out:
            yield f"{self.counts.n_left_out:,} of {self.n_items:,} items have only one judgment and are left out."
        if self.no_pairs:
            yield f"Pairs are not compared: {self.no_pairs}."
        mean = [self.mean.kappa] if self.mean else []
        yield from undefined_notes([*self.coefficients.values(), *(pair.kappa for pair in self.pairs), *mean])
        yield self.scope.sentence
        if self.scope.n_raters and self.pairs:
            yield "Intervals of a pair are for these two raters."
        yield BANDS_NOTE


def coefficient_frame(estimates: Iterable[Estimate]) -> pl.DataFrame:
    """One number per row: what it is of (with its `coefficient`), value, low, high, band."""
    estimates = list(estimates)
    is_share = [str(of["coefficient"]).startswith(("observed", SPECIFIC)) for of, _ in estimates]
    bands = ["" if share else band_words(value) for share, (_, value) in zip(is_share, estimates, strict=True)]
    return frame_of(estimates).fill_nan(None).with_columns(band=pl.Series(bands, dtype=pl.String))


def agreement(
    judgments: Judgments,
    *,
    essays: Essays | None = None,
    weights: WeightName | npt.ArrayLike = "identity",
    scale: Scale = "nominal",
    order: Sequence[str] = (),
    ok: str | None = None,
    most_raters: int = MOST_RATERS,
    basis: Basis | None = None,
) -> Agreement:
    """The agreement of all raters of a table; programs and adjudicated labels are left out.

    The essays of its items are those of its own columns if not given.
    """
    basis, n_given = basis or Basis(), len(judgments)
    judgments = people_only(judgments)
    if n_given and not len(judgments):
        raise UsageError(f"{judgments.name}: every judgment is by a program, or adjudicated; none is by a rater")
    essays = essays_of(judgments, units=basis.units) if essays is None else essays
    codes = with_essays(coded(one_spelling(judgments)), essays)
    require_order(codes.labels, scale=scale, weights=weights, order=order)
    if basis.raters == "random":
        require_random(codes, basis)
    codes = reordered(codes, order) if order else codes
    matrix = weight_matrix(weights, len(codes.labels))
    counts = tally(codes)
    no_pairs = _why_no_pairs(codes, most_raters)
    tables = () if no_pairs else tuple(confusions(codes))
    pairs = tuple(_pair(table, matrix, ok, basis) for table in tables)
    mean = mean_pairwise(codes, tables, weights=matrix, basis=basis) if tables else None
    effect = nan
    if counts.unit_of is not None and counts.n_compared:
        nominal = alpha("nominal", counts.labels)
        effect = design_effect(
            *(influence_of(nominal, counts, Basis(), by_item=by_item) for by_item in (False, True))
        )
    scope = Scope(
        unit=essays.unit,
        n_units=counts.n_units if counts.unit_of is not None else counts.n_compared,
        design_effect=effect,
        n_raters=len(codes.raters) if basis.raters == "random" else 0,
        note=essays.note,
        is_agreement=True,
    )
    chosen = [definition.of_table(matrix, scale, counts.labels) for definition in COEFFICIENTS]
    times = counts.n_items @ counts.patterns
    labels = [code for code, n in enumerate(times.tolist()) if n] if len(counts.labels) <= MOST_LABELS else []
    wanted = [*chosen, *map(specific, labels)]
    without = without_each_rater(wanted, codes) if basis.raters == "random" else [None] * len(wanted)
    found = [with_interval(each, counts, basis, without=values) for each, values in zip(wanted, without, strict=True)]
    coefficients = {each.name: value for each, value in zip(chosen, found, strict=False)}
    of_labels = {counts.labels[code]: value for code, value in zip(labels, found[len(chosen) :], strict=True)}
    named = {"weights": weights if isinstance(weights, str) else "own", "scale": scale}
    named |= {"dropped": str(sum(judgments.dropped.values()))} if judgments.dropped else {}
    named |= {"order": ",".join(order)} if order else {}
    is_less, left_out = n_given > len(judgments), counted(n_given - len(judgments), "judgment")
    data = digest([*counts.labels, counts.patterns.tobytes().hex(), counts.n_items.tobytes().hex()])
    return Agreement(
        n_items=len(codes.items),
        raters=codes.raters,
        labels=codes.labels,
        counts=counts,
        coefficients=coefficients,
        pairs=pairs,
        mean=mean,
        no_pairs=no_pairs,
        signature=Signature("agreement", {**named, **basis.signature(essays.unit), "data": data}),
        scope=scope,
        specific=of_labels,
        conger=conger_kappa(codes, weights=matrix, basis=basis, rare=rare_of(counts)) if tables else None,
        warnings=(
            *([f"{left_out} by programs or adjudicated are left out: they are not raters"] if is_less else []),
            *spelling_warnings(judgments),
            *odd_label_warnings(codes),
            *essay_warnings(essays, codes.items, scope),
            *_warnings(counts, pairs, mean),
        ),
    )


def _why_no_pairs(codes: Coded, most_raters: int) -> str:
    """The reason why raters are not compared one by one; empty where they are."""
    if codes.anonymous_raters:
        return "raters are positions, not people: the table has no rater ids"
    if len(codes.raters) < 2:
        return f"only one rater, {codes.raters[0]}"
    if len(codes.raters) > most_raters:
        return f"{len(codes.raters)} raters, more than {most_raters}"
    return ""


def _pair(table: Confusion, weights: Matrix, ok: str | None, basis: Basis) -> PairAgreement:
    basis = replace(basis, raters="these")
    ok = ok if ok is not None else ok_label(table.labels)
    return PairAgreement(
        table=table,
        kappa=cohen_kappa(table, weights=weights, basis=basis),
        fce=fce_interval(table, weights=weights),
        disagreements=disagreements(table, ok=ok) if ok is not None else (),
    )


def _warnings(counts: Counts, pairs: Sequence[PairAgreement], mean: MeanPairwise | None) -> Iterator[str]:
    """Where intervals deserve less trust, and what to do."""
    # Two of several raters who never differ: one may be adjudicated, or a copy.
    same = [pair.table for pair in pairs if pair.table.cells.trace() == pair.table.n >= FEW_COPIED]
    same = [table for table in same if (table.cells.diagonal() > 0).sum() > 1]
    for table in same if len(same) < len(pairs) else ():
        yield (
            f"{' and '.join(table.raters)} give the same label to all {table.n:,} items that they share: "
            "is one of them adjudicated, or a program?"
        )
    n, minor = counts.n_compared, rare_of(counts).cases if counts.n_compared else 0.0
    if 0 < n < FEW_ITEMS:
        yield f"items with two judgments or more: only {n}; below {FEW_ITEMS} intervals are rough"
    if not n or len(counts.labels) < 2:
        return
    if counts.unit_of is not None:
        worth = kish(np.bincount(counts.unit_of).astype(np.float64))
        if counts.n_units < FEW_FOR_AGREEMENT or worth < FEW_WORTH:
            yield (
                f"{counts.unit}s are few or of very unequal lengths (worth {worth:.0f}): where some are much harder "
                "to judge, intervals of observed agreement and AC1 are too narrow; read alpha"
            )
    if minor < FEW_MINOR:
        yield (
            f"labels other than the most frequent one are rare: {minor:.1f} items per rater; with fewer than "
            f"{FEW_MINOR} the intervals of kappa and alpha are wide; judge more items, or draw more of the rare ones"
        )
    if len(pairs) > 1:
        known = [pair for pair in pairs if pair.table.n]
        few = [(pair, f"{pair.table.n:,}") for pair in known if pair.table.n < FEW_ITEMS]
        rare = [(pair, f"{pair.n_minor:.0f}") for pair in known if pair.n_minor < FEW_MINOR]
        if few:
            yield f"{_some(few, known)} share fewer than {FEW_ITEMS} items: their kappas are rough, and biased low"
        if rare:
            yield f"{_some(rare, known)} have fewer than {FEW_MINOR} items with rarer labels: their kappas are rough"
    if mean and len(pairs) > 1 and mean.is_sparse:
        yield (
            f"the middle pair of raters shares {counted(mean.n_shared, 'item')}: kappas from few items are biased "
            "low, and so is their mean; read alpha instead"
        )


def _some(pairs: Sequence[tuple[PairAgreement, str]], of: Sequence[PairAgreement]) -> str:
    """`2 of 45 pairs (Ada – Bo 12, Ada – Cy 14)`."""
    named = ", ".join(f"{pair.name} {n}" for pair, n in pairs[:MOST_NAMED])
    return f"{len(pairs):,} of {counted(len(of), 'pair')} ({named}{', ...' if len(pairs) > MOST_NAMED else ''})"


# As people see it


def _overall_sheet(result: Agreement) -> Sheet:
    """The coefficients, alpha first; with two raters Cohen's kappa next, also as the literature has it."""
    rows = []
    for name, value in result.coefficients.items():
        words = "" if name == "observed" else band_words(value)
        rows.append((coefficient_title(name, n_raters=len(result.raters)), interval(value), words))
    if len(result.pairs) == 1:
        [pair] = result.pairs
        independent = ", items taken as independent" if result.scope.is_clustered else ""
        kappas = (("Cohen kappa", pair.kappa), (f"  by {FCE}{independent}", pair.fce))
        rows[1:1] = [(words, *kappa_cells(value)) for words, value in kappas]
    if len(result.pairs) > 1:
        if result.conger:
            rows.append(("Conger kappa", *kappa_cells(result.conger)))
        if result.mean:
            rows.append((f"Mean Cohen kappa of {result.mean.n_pairs} pairs", *kappa_cells(result.mean.kappa)))
    heading = f"Agreement of {counted(len(result.raters), 'rater')} on {counted(result.counts.n_compared, 'item')}"
    return Sheet(heading, ("", "value", "band"), tuple(rows), name="agreement")


def confusion_sheet(table: Confusion, title: str = "Confusion matrix") -> Sheet:
    """T&C 2008, Table 3: rows are the first rater's labels."""
    first, second = table.raters
    rows = zip(table.labels, table.cells.tolist(), strict=True)
    return Sheet(
        title,
        (f"{first}↓ {second}→", *table.labels),
        tuple((label, *map(count, cells)) for label, cells in rows),
        name="confusion",
    )


def _disagreement_sheet(pairs: Sequence[PairAgreement]) -> Sheet:
    """T&C 2008, 5.2: errors of one rater that are OK to another."""
    rates = [rate for pair in pairs for rate in pair.disagreements]
    rows = [
        (f"{rate.rater}, to {rate.other}", f"{rate.n_ok:,}/{rate.n:,}", interval(rate.rate))
        for rate in rates[:MOST_ROWS]
    ]
    if len(rates) > MOST_ROWS:
        rows.append((f"and {len(rates) - MOST_ROWS:,} more", "", ""))
    return Sheet(
        "Errors of one rater that are OK to the other", ("", "items", "rate"), tuple(rows), name="disagreement"
    )


def _pairs_sheet(pairs: Sequence[PairAgreement]) -> Sheet:
    rows = [
        (pair.name, count(pair.table.n), interval(pair.table.observed), *kappa_cells(pair.kappa))
        for pair in pairs[:MOST_ROWS]
    ]
    if len(pairs) > MOST_ROWS:
        rows.append((f"and {len(pairs) - MOST_ROWS:,} more", "", "", "", ""))
    return Sheet("Pairs of raters", ("", "items", "observed", "kappa", "band"), tuple(rows), name="pairs")


def kappa_cells(value: Interval) -> tuple[str, str]:
    return interval(value), band_words(value)
