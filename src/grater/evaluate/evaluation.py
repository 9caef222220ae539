"""Everything that judgments say about detectors, in one value: standard, by rater, weighted, binned, by part.

T,C&M 2013, section 6, asks for all of these beside each other.  The signature says what was taken for true, what was
drawn for limits and which data it was; warnings say where numbers deserve less trust.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
import polars as pl

from grater.agreement.coded import Unknown
from grater.evaluate.cases import Cases, Truths, cases_of
from grater.evaluate.rater_error import Correction, corrected_scores, rater_error
from grater.evaluate.standard import (
    EDGES,
    Bin,
    Scored,
    against,
    binned,
    different_rates,
    each_rater,
    histogram,
    small_bins,
    weighted,
)
from grater.evaluate.truth import ADJUDICATED, Truth, truth_of
from grater.signature import Signature, digest
from grater.statistics.bootstrap import Chance, distinct
from grater.tables import Judgments, Table, with_confidence, without_flags

WITH_UNKNOWN, WITHOUT_UNKNOWN = "with unknown", "without unknown"


MOST_DIFFERENT = 5
"""Pairs of parts with different error rates that a warning names."""


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """How to evaluate: one set for a whole report, named in its signature.

    Items on which a rater set one of the flags `contexts`, or judged below `least_confidence`, are shown apart.
    With `redundancy` N, shares of votes are of the first N judgments of each item (`votes.py`).
    """

    truth: str = "majority"
    edges: Sequence[float] = EDGES
    chance: Chance = field(default_factory=Chance)
    unknown: Unknown = "drop"
    by: str = ""
    contexts: tuple[str, ...] = ()
    least_confidence: float | None = None
    redundancy: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """All results on some items; `weighted` is empty where the truth has no grades."""

    n_items: int
    n_unjudged: int
    flagged_unjudged: dict[str, int]
    standard: tuple[Scored, ...]
    by_rater: dict[str, list[Scored]]
    weighted: tuple[Scored, ...]
    bins: tuple[Bin, ...]
    histogram: tuple[tuple[float, float, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """The whole, its parts by a column, and how it was made."""

    cases: Cases
    truth: Truth
    whole: Part
    parts: dict[str, Part]
    signature: Signature
    warnings: tuple[str, ...] = ()
    corrected: tuple[Scored, ...] = ()
    correction: Correction | None = None


def evaluate(
    decisions: Table,
    judgments: Judgments,
    *,
    items: Table | None = None,
    gold: Table | None = None,
    merge: Mapping[str, str] | None = None,
    options: EvaluationOptions | None = None,
) -> Evaluation:
    """Every system of the decisions against the raters; gold is the truth if adjudicated, else it corrects."""
    options = options or EvaluationOptions()
    cases = cases_of(decisions, judgments, items=items, unknown=options.unknown, first=options.redundancy)
    truth = truth_of(cases, options.truth, gold=gold, seed=options.chance.seed)
    whole = _part(cases, truth, options, None)
    parts = {name: _part(cases, truth, options, where) for name, where in _parts(cases, options).items()}
    correction = correction_of(judgments, gold, options, merge=merge)
    corrected = corrected_scores(cases, truth, correction, chance=options.chance) if correction else []
    bins = ",".join(f"{edge:g}" for edge in options.edges)
    named = {**_apart(options), **(correction.options if correction else {})}
    signature = signature_of(cases, options, bins=bins, **named)
    stuck = [f"nothing is corrected: {correction.raters.reason}"] if correction and correction.raters.reason else []
    warnings = (*_warnings(cases, whole, parts), *unequal(cases, options.redundancy), *stuck)
    return Evaluation(cases, truth, whole, parts, signature, warnings, tuple(corrected), correction)


def correction_of(
    judgments: Judgments, gold: Table | None, options: EvaluationOptions, *, merge: Mapping[str, str] | None = None
) -> Correction | None:
    """How raters err on gold; none without gold, or where gold itself is the truth."""
    if gold is None or options.truth == ADJUDICATED:
        return None
    seed, level = options.chance.seed, options.chance.level
    raters = rater_error(
        judgments, gold, truth=options.truth, merge=merge, unknown=options.unknown, seed=seed, level=level
    )
    rows = gold.frame.select("item", "label").sort("item").iter_rows()
    return Correction(raters, digest(f"{item}|{label}" for item, label in rows))


def _part(cases: Cases, truth: Truth, options: EvaluationOptions, where: Truths | None) -> Part:
    chance, known = options.chance, ~np.isnan(truth.values)
    here = np.ones(len(cases), bool) if where is None else where
    hard = truth_of(cases, "majority") if truth.is_graded else truth
    has_raters = not cases.judgments.anonymous_raters
    silent = here & ~known
    return Part(
        int(here.sum()),
        int(silent.sum()),
        dict(zip(cases.systems, (cases.flagged[silent] == 1).sum(axis=0).tolist(), strict=True)),
        tuple(against(cases, truth, chance=chance, where=where)),
        each_rater(cases, chance=replace(chance, cluster="item"), where=where) if has_raters else {},
        tuple(weighted(cases, truth, chance=chance, where=where)),
        tuple(binned(cases, hard, chance=chance, edges=options.edges, where=where)),
        tuple(histogram(cases, where=where)),
    )


def _parts(cases: Cases, options: EvaluationOptions) -> dict[str, Truths]:
    found = parts_by(cases, options.by)
    if options.unknown == "apart":
        found |= {WITHOUT_UNKNOWN: ~cases.has_unknown, WITH_UNKNOWN: cases.has_unknown}
    if options.contexts:
        doubtful = _touched(cases, without_flags(cases.judgments, options.contexts))
        found |= {"without flagged contexts": ~doubtful, "with flagged contexts": doubtful}
    if options.least_confidence is not None:
        doubtful = _touched(cases, with_confidence(cases.judgments, options.least_confidence))
        found |= {"without low confidence": ~doubtful, "with low confidence": doubtful}
    return found


def _apart(options: EvaluationOptions) -> dict[str, str]:
    """What was shown apart, for the signature."""
    flags = {"contexts": ",".join(options.contexts)} if options.contexts else {}
    least = options.least_confidence
    return flags if least is None else {**flags, "confidence": f"{least:g}"}


def unequal(cases: Cases, redundancy: int) -> list[str]:
    """What a reader of shares must know where items do not have the same number of judgments."""
    if redundancy:
        n_left_out = int((cases.is_judged & ~cases.equal.is_judged).sum())
        without = f"; {n_left_out} items without so many are left out of them" if n_left_out else ""
        return [f"weighted scores and bins are of the first {redundancy} judgments of each item{without}"]
    counts = cases.judgments.frame["item"].cast(pl.String).value_counts(name="n")
    here = counts.filter(pl.col("item").is_in(cases.items.cast(pl.String).implode()))
    sizes = here["n"].to_numpy()
    if not sizes.size or (low := int(sizes.min())) == (high := int(sizes.max())):
        return []
    words = f"items have {low} to {high} judgments: if asking stopped where raters agreed, their shares are too sure"
    return [f"{words}; --redundancy {low} takes the first {low} of each"]


def _touched(cases: Cases, kept: Judgments) -> Truths:
    """The items that lose a judgment to a filter."""
    key = ["item", "rater"]
    lost = cases.judgments.frame.select(key).join(kept.frame.select(key), on=key, how="anti")["item"]
    touched: Truths = cases.items.cast(pl.String).is_in(lost.cast(pl.String).unique().implode()).to_numpy()
    return touched


def parts_by(cases: Cases, column: str) -> dict[str, Truths]:
    """The items with each value of a column; none without a column."""
    if not column:
        return {}
    codes, names = cases.groups(column)
    return {f"{column} {name}": codes == place for place, name in enumerate(names)}


def signature_of(cases: Cases, options: EvaluationOptions, *, what: str = "evaluate", **named_too: str) -> Signature:
    """How the numbers were made; `data` knows flags and votes, neither the order of rows nor names of raters."""
    chance = options.chance
    columns = [*cases.flagged.T, cases.n_error, cases.n_votes]
    columns += [cases.equal.n_error, cases.equal.n_votes] if options.redundancy else []
    first, pattern = distinct(columns)
    rows = np.stack([column[first].astype(np.int64) for column in columns])
    data = digest([*cases.systems, rows.tobytes().hex(), np.bincount(pattern).tobytes().hex()])
    named = {"truth": options.truth, "units": chance.cluster, "unknown": options.unknown, "zero": "nan"}
    drawn = {"resamples": str(chance.n_resamples), "seed": str(chance.seed), "level": f"{chance.level:g}"}
    shares = {"shares": "wilson" if chance.cluster == "item" and options.truth != "share" else "bootstrap"}
    dropped = {"dropped": str(sum(cases.judgments.dropped.values()))} if cases.judgments.dropped else {}
    dropped |= {"redundancy": f"first-{options.redundancy}"} if options.redundancy else {}
    return Signature(what, {**named, **drawn, **shares, **dropped, **named_too, "data": data})


def _warnings(cases: Cases, whole: Part, parts: dict[str, Part]) -> list[str]:
    found = []
    if cases.n_stray:
        found.append(f"{cases.n_stray:,} judged items are left out: no system decided on them")
    if whole.n_unjudged:
        found.append(f"{whole.n_unjudged:,} of {whole.n_items:,} items have no usable judgment: a row of their own")
    if cases.n_unknown:
        found.append(f"{cases.n_unknown:,} judgments say unknown and are no vote")
    found += small_bins(whole.bins)
    return [*found, *_different(parts)]


def _different(parts: dict[str, Part]) -> list[str]:
    """Parts whose error rates differ; the first few pairs are named, for many parts have very many pairs."""
    found = [
        f"{one} and {other}: {warning}"
        for (one, first), (other, second) in combinations(parts.items(), 2)
        for warning in different_rates(first.bins, second.bins)
    ]
    n_more = len(found) - MOST_DIFFERENT
    more = f"error rates differ between parts in {n_more} more cases: compare kappa, not precision"
    return [*found[:MOST_DIFFERENT], *([more] if n_more > 0 else [])]
