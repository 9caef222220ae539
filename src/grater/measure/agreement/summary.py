"""Everything that one table of judgments says about agreement, with how it was computed.

The coefficients over all raters (`grater.measure.agreement.coefficients`); Cohen's kappa of every pair, and their
mean, where there are few enough raters to print (`MOST_RATERS`) and they are people, not positions.  Warnings say
where intervals are less sure than they look; the numbers behind them are in docs/agreement.md.

Where the essay of each item is known (`grater.measure.agreement.coded`), essays are drawn; the scope of a result
says so in words.  A pair's interval is the bootstrap's, with that of Fleiss, Cohen & Everitt beside it under its own
name (`fce`), and is judged by the pair's own shared and rare items.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import isnan, nan
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import UsageError
from grater.measure.agreement.coded import (
    ITEM,
    Coded,
    Counts,
    Essays,
    coded,
    essay_warnings,
    essays_of,
    reordered,
    tally,
    with_essays,
)
from grater.measure.agreement.coefficients import (
    COEFFICIENTS,
    Matrix,
    Scale,
    WeightName,
    alpha,
    band_words,
    bootstrap_intervals,
    coefficient_json,
    coefficient_title,
    coefficients_json,
    observed_json,
    one_spelling,
    pattern_units,
    random_interval,
    require_order,
    require_random,
    specific,
    spelling_warnings,
    weight_matrix,
    without_each_rater,
)
from grater.measure.agreement.cohen import (
    METHODS,
    Confusion,
    Disagreement,
    MeanPairwise,
    Method,
    cohen_kappa,
    confusions,
    conger_kappa,
    conger_without_each,
    disagreements,
    mean_pairwise,
    ok_label,
)
from grater.model import Interval, Json
from grater.result import Data, Estimate, Result, encode, frame_of, in_json, key
from grater.sheet import Sheet, count, counted, interval, undefined_notes, with_notes
from grater.signature import Signature, digest
from grater.tables import Judgments
from grater.uncertainty.bootstrap import group_effect
from grater.uncertainty.intervals import LEVEL, RESAMPLES, Numbers, Scope, generator

MOST_RATERS = 40
"""Raters whose pairs are compared unless asked: forty have 780."""

FEW_MINOR = 10
FEW_MINOR_OF_TWO = 20
"""Items per rater with other labels than the most frequent, below which intervals are doubtful: the bootstrap's, and
the formulas' for two raters."""

RatersAre: TypeAlias = Literal["these", "random"]
RATERS_ARE: tuple[RatersAre, ...] = ("these", "random")

FEW_ITEMS = 50
MOST_NAMED = 4
MOST_ROWS = 40
MOST_LABELS = 8
SPECIFIC = "specific: "
BANDS_NOTE = "Bands are those of Landis and Koch 1977, from one end of the interval to the other."


@dataclass(frozen=True, slots=True)
class Options:
    """How to compute: one set for a whole report, named in its signature."""

    weights: WeightName | npt.ArrayLike = "identity"
    scale: Scale = "nominal"
    order: Sequence[str] = ()
    interval: Method = "bootstrap"
    raters: RatersAre = "these"
    ok: str | None = None
    n_resamples: int = RESAMPLES
    level: float = LEVEL
    seed: int = 0
    most_raters: int = MOST_RATERS

    def signature(self, judgments: Judgments, counts: Counts, cluster: str) -> Signature:
        weights = self.weights if isinstance(self.weights, str) else "own"
        named = {"weights": weights, "scale": self.scale, "pairs": self.interval}
        named["all"] = "bootstrap-bca" if cluster == ITEM else "bootstrap-t"
        drawn = {"cluster": cluster, **({"raters": "random"} if self.raters == "random" else {})}
        chance = {"resamples": str(self.n_resamples), "level": f"{self.level:g}", "seed": str(self.seed)}
        filters = {"dropped": str(sum(judgments.dropped.values()))} if judgments.dropped else {}
        order = {"order": ",".join(self.order)} if self.order else {}
        data = {"data": digest([*counts.labels, counts.patterns.tobytes().hex(), counts.n_items.tobytes().hex()])}
        return Signature("agreement", {**named, **drawn, **chance, **filters, **order, **data})


def _table_json(table: Confusion) -> dict[str, Json]:
    known = {"raters": table.raters, "n": table.n, "confusion": table.cells}
    return {**encode(known), **observed_json(table.observed)}


def _counts_json(counts: Counts) -> dict[str, Json]:
    return {"compared": counts.n_compared, "left_out": counts.n_left_out, "judgments": counts.n_judgments}


def _mean_json(mean: MeanPairwise) -> dict[str, Json]:
    return {"mean_kappa": coefficient_json(mean.kappa), "undefined_pairs": mean.n_undefined}


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
        said = self.table.cells.sum(axis=0) + self.table.cells.sum(axis=1)
        return float(said.sum() - said.max(initial=0)) / 2


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Agreement(Result):
    """`n_items` were judged at all, `counts.n_compared` by two raters or more."""

    n_items: int
    raters: tuple[str, ...]
    labels: tuple[str, ...]
    counts: Counts = field(metadata=key(flat=True, write=_counts_json))
    coefficients: dict[str, Interval] = field(metadata=key(flat=True, write=coefficients_json))
    pairs: tuple[PairAgreement, ...]
    mean: MeanPairwise | None = field(metadata=key(flat=True, optional=True, write=_mean_json))
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
            tables.append(_specific_sheet(self))
        if len(self.pairs) == 1 and len(self.labels) <= MOST_LABELS:
            tables.append(_confusion_sheet(self.pairs[0].table))
        if self.pairs and self.pairs[0].disagreements:
            tables.append(_disagreement_sheet(self.pairs))
        if len(self.pairs) > 1:
            tables.append(_pairs_sheet(self.pairs))
        return tables

    def notes(self) -> Iterator[str]:
        """What a reader must know to read the numbers right."""
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


def agreement(judgments: Judgments, options: Options | None = None, *, essays: Essays | None = None) -> Agreement:
    """The agreement of all raters of a table; the essays of its items are those of its own column if not given."""
    options = options or Options()
    essays = essays_of(judgments) if essays is None else essays
    codes = _coded(judgments, options, essays)
    weights = weight_matrix(options.weights, len(codes.labels))
    counts = tally(codes)
    no_pairs = _why_no_pairs(codes, options.most_raters)
    tables = () if no_pairs else tuple(confusions(codes))
    pairs = tuple(_pair(table, weights, options) for table in tables)
    conger = _conger(codes, weights, options) if tables else None
    mean = _mean(codes, tables, weights, conger, options) if tables else None
    scope = _scope(counts, essays, codes, options)
    result = Agreement(
        n_items=len(codes.items),
        raters=codes.raters,
        labels=codes.labels,
        counts=counts,
        coefficients=_overall(counts, weights, options),
        pairs=pairs,
        mean=mean,
        no_pairs=no_pairs,
        signature=options.signature(judgments, counts, essays.unit),
        scope=scope,
        specific=_specific(counts, options),
        conger=conger,
        warnings=(
            *spelling_warnings(judgments),
            *essay_warnings(essays, codes.items, scope),
            *_warnings(counts, pairs, mean, options),
        ),
    )
    return with_random_raters(result, codes, weights, options) if options.raters == "random" else result


def _coded(judgments: Judgments, options: Options, essays: Essays) -> Coded:
    """The judgments by code, where what is asked of them can be answered."""
    if options.interval not in METHODS:
        raise UsageError(f"unknown interval {options.interval!r}. Known: {', '.join(METHODS)}")
    if options.raters not in RATERS_ARE:
        raise UsageError(f"expected raters {' or '.join(RATERS_ARE)}, found {options.raters!r}")
    codes = with_essays(coded(one_spelling(judgments)), essays)
    require_order(codes.labels, scale=options.scale, weights=options.weights, order=options.order)
    if options.raters == "random":
        require_random(codes)
    return reordered(codes, options.order) if options.order else codes


def _scope(counts: Counts, essays: Essays, codes: Coded, options: Options) -> Scope:
    """What intervals speak of; the design effect is alpha's."""
    n_units = counts.groups.n if counts.groups else counts.n_compared
    is_known = bool(counts.groups) and counts.n_compared > 1 and len(counts.labels) > 1
    effect = group_effect(alpha("nominal", counts.labels), pattern_units(counts)) if is_known else nan
    n_raters = len(codes.raters) if options.raters == "random" else 0
    return essays.scope(counts.n_compared, n_units, effect=effect, n_raters=n_raters, level=options.level)


def _overall(counts: Counts, weights: Matrix, options: Options) -> dict[str, Interval]:
    """The coefficients that do not ask who judged, by name."""
    chosen = [definition.of_table(weights, options.scale, counts.labels) for definition in COEFFICIENTS]
    rng = generator(options.seed, "agreement", "items")
    intervals = bootstrap_intervals(chosen, counts, rng=rng, n_resamples=options.n_resamples, level=options.level)
    return {coefficient.name: value for coefficient, value in zip(chosen, intervals, strict=True)}


def _specific(counts: Counts, options: Options) -> dict[str, Interval]:
    """The agreement on each label that somebody gave, where labels are few enough to print."""
    if len(counts.labels) > MOST_LABELS or not counts.n_compared:
        return {}
    times = counts.n_items @ counts.patterns
    labels = {name: specific(code) for code, name in enumerate(counts.labels) if times[code]}
    rng = generator(options.seed, "agreement", "labels")
    intervals = bootstrap_intervals(
        list(labels.values()), counts, rng=rng, n_resamples=options.n_resamples, level=options.level
    )
    return dict(zip(labels, intervals, strict=True))


def _mean(
    codes: Coded, tables: Sequence[Confusion], weights: Matrix, conger: Interval | None, options: Options
) -> MeanPairwise:
    return mean_pairwise(
        codes,
        tables,
        rng=generator(options.seed, "agreement", "mean"),
        weights=weights,
        conger=conger,
        n_resamples=options.n_resamples,
        level=options.level,
    )


def _conger(codes: Coded, weights: Matrix, options: Options) -> Interval:
    return conger_kappa(
        codes,
        rng=generator(options.seed, "agreement", "conger"),
        weights=weights,
        n_resamples=options.n_resamples,
        level=options.level,
    )


def with_random_raters(result: Agreement, codes: Coded, weights: Matrix, options: Options) -> Agreement:
    """The same numbers with intervals that speak of other raters too; those of pairs stay."""
    names = list(result.coefficients)
    chosen = [definition.of_table(weights, options.scale, codes.labels) for definition in COEFFICIENTS]
    chosen += [specific(codes.labels.index(label)) for label in result.specific]
    without = without_each_rater(chosen, codes)
    wider = partial(random_interval, n_units=max(2, result.scope.n_units), level=options.level)
    fixed = [*result.coefficients.values(), *result.specific.values()]
    intervals = [wider(value, values) for value, values in zip(fixed, without, strict=True)]
    mean = result.mean and replace(result.mean, kappa=wider(result.mean.kappa, _means_without(result)))
    return replace(
        result,
        coefficients=dict(zip(names, intervals[: len(names)], strict=True)),
        specific=dict(zip(result.specific, intervals[len(names) :], strict=True)),
        mean=mean,
        conger=result.conger and wider(result.conger, conger_without_each(codes, weights)),
    )


def _means_without(result: Agreement) -> Numbers:
    """The mean kappa of the pairs without each rater."""
    kappas = [
        [pair.kappa.value for pair in result.pairs if rater not in pair.table.raters and not isnan(pair.kappa.value)]
        for rater in result.raters
    ]
    return np.array([float(np.mean(values)) if values else nan for values in kappas])


def _why_no_pairs(codes: Coded, most_raters: int) -> str:
    """The reason why raters are not compared one by one; empty where they are."""
    if codes.anonymous_raters:
        return "raters are positions, not people: the table has no rater ids"
    if len(codes.raters) < 2:
        return f"only one rater, {codes.raters[0]}"
    if len(codes.raters) > most_raters:
        return f"{len(codes.raters)} raters, more than {most_raters}"
    return ""


def _pair(table: Confusion, weights: Matrix, options: Options) -> PairAgreement:
    kappa, fce = (
        cohen_kappa(
            table,
            rng=generator(options.seed, "agreement", "pair", *table.raters),
            weights=weights,
            method=method,
            n_resamples=options.n_resamples,
            level=options.level,
        )
        for method in (options.interval, "fce")
    )
    ok = options.ok if options.ok is not None else ok_label(table.labels)
    return PairAgreement(table, kappa, fce, disagreements(table, ok=ok) if ok is not None else ())


def n_minor(counts: Counts) -> float:
    """The items to which a rater gives another label than the most frequent one, on average over raters."""
    n_judgments = counts.n_items @ counts.patterns
    return counts.n_compared * (1 - float(n_judgments.max()) / float(n_judgments.sum())) if n_judgments.any() else 0.0


def _warnings(
    counts: Counts, pairs: Sequence[PairAgreement], mean: MeanPairwise | None, options: Options
) -> Iterator[str]:
    """Where intervals deserve less trust, and what to do."""
    n, minor = counts.n_compared, n_minor(counts)
    if 0 < n < FEW_ITEMS:
        yield f"items with two judgments or more: only {n}; below {FEW_ITEMS} intervals are rough"
    if not n or len(counts.labels) < 2:
        return
    if minor < FEW_MINOR:
        yield (
            f"raters give a label other than the most frequent one to only {minor:.1f} items on average: below "
            f"{FEW_MINOR} the intervals of kappa and alpha are wide; judge more items, or draw more of the rare ones"
        )
    yield from _pair_warnings(pairs, options)
    if mean and len(pairs) > 1 and mean.is_sparse:
        yield (
            f"the middle pair of raters shares {counted(mean.n_shared, 'item')}: kappas from few items are biased "
            "low, and so is their mean; read alpha instead"
        )


def _pair_warnings(pairs: Sequence[PairAgreement], options: Options) -> Iterator[str]:
    """Pairs that share few items, or few that are rare, by name."""
    known = [pair for pair in pairs if pair.table.n]
    few = [(pair, f"{pair.table.n:,}") for pair in known if pair.table.n < FEW_ITEMS]
    if few and len(pairs) > 1:
        yield (
            f"{_some(few, known)} share fewer than {FEW_ITEMS} items: their intervals are rough, and kappa itself is "
            "biased low in such a small table"
        )
    is_formula = options.interval != "bootstrap"
    bound = FEW_MINOR_OF_TWO if is_formula else FEW_MINOR
    rare = [(pair, f"{pair.n_minor:.1f}") for pair in known if pair.n_minor < bound]
    if rare and is_formula:
        yield (
            f"{_some(rare, known)} have other labels than the most frequent on fewer than {bound} items: "
            f"{options.interval} intervals cover too little there (77 % for 95 % at 3 items); use bootstrap intervals"
        )
    elif rare and len(pairs) > 1:
        yield (
            f"{_some(rare, known)} have other labels than the most frequent on fewer than {bound} items: the "
            "intervals of their kappas are rightly wide"
        )


def _some(pairs: Sequence[tuple[PairAgreement, str]], of: Sequence[PairAgreement]) -> str:
    """`2 of 45 pairs (Ada – Bo 12, Ada – Cy 14)`."""
    named = ", ".join(f"{pair.name} {n}" for pair, n in pairs[:MOST_NAMED])
    return f"{len(pairs):,} of {counted(len(of), 'pair')} ({named}{', ...' if len(pairs) > MOST_NAMED else ''})"


# As people see it


def _overall_sheet(result: Agreement) -> Sheet:
    """The coefficients, with kappa first where there are two raters, and alpha where there are more."""
    rows = []
    if len(result.pairs) == 1:
        [pair] = result.pairs
        rows.append((coefficient_title("kappa"), *kappa_cells(pair.kappa)))
        if pair.fce != pair.kappa:
            rows.append(("  by Fleiss, Cohen & Everitt 1969", *kappa_cells(pair.fce)))
    names = list(result.coefficients)
    order = names if len(result.raters) == 2 else ["alpha", *(name for name in names if name != "alpha")]
    for name in order:
        value = result.coefficients[name]
        words = "" if name == "observed" else band_words(value)
        rows.append((coefficient_title(name, n_raters=len(result.raters)), interval(value), words))
    if len(result.pairs) > 1:
        if result.conger:
            rows.append(("Conger kappa", *kappa_cells(result.conger)))
        if result.mean:
            rows.append((f"Mean Cohen kappa of {result.mean.n_pairs} pairs", *kappa_cells(result.mean.kappa)))
    heading = f"Agreement of {counted(len(result.raters), 'rater')} on {counted(result.counts.n_compared, 'item')}"
    return Sheet(heading, ("", "value", "band"), tuple(rows), name="agreement")


def _specific_sheet(result: Agreement) -> Sheet:
    """Where one rater gives a label, how often another does too."""
    times = dict(zip(result.labels, (result.counts.n_items @ result.counts.patterns).tolist(), strict=True))
    rows = ((label, count(times[label]), interval(value)) for label, value in result.specific.items())
    return Sheet("Agreement on each label", ("", "judgments", "specific"), tuple(rows), name="specific")


def _confusion_sheet(table: Confusion) -> Sheet:
    """T&C 2008, Table 3: rows are the first rater's labels."""
    first, second = table.raters
    rows = zip(table.labels, table.cells.tolist(), strict=True)
    return Sheet(
        "Who said what",
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
    """A kappa with its interval, and its band."""
    return interval(value), band_words(value)
