"""Everything that one table of judgments says about agreement, with how it was computed.

Observed agreement, Fleiss kappa, alpha, Gwet and Bennett over all raters; Cohen's kappa of every pair, and their
mean, where there are few enough raters to print (`MOST_RATERS`) and they are people, not positions.  Warnings say
where limits are less sure than they look.

Agreement as the JSON of interfaces.md: `grater agree --json`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy.typing as npt

from grater.agreement.coded import Coded, coded, reordered
from grater.agreement.coefficients import COEFFICIENTS, bootstrap_intervals, coefficient_json
from grater.agreement.cohen import METHODS, MeanPairwise, Method, cohen_kappa, mean_pairwise
from grater.agreement.confusion import Confusion, Disagreement, confusions, disagreements, ok_label
from grater.agreement.counts import Counts, tally
from grater.agreement.weights import Matrix, Scale, WeightName, weight_matrix
from grater.errors import UsageError
from grater.model import Interval, Json
from grater.result import encode
from grater.rng import generator
from grater.signature import Signature, digest
from grater.statistics.intervals import RESAMPLES
from grater.tables import Judgments

MOST_RATERS = 40
"""Raters whose pairs are compared unless asked: forty have 780."""

FEW_MINOR = 10
FEW_MINOR_OF_TWO = 20
"""Items per rater with other labels than the most frequent, below which limits are doubtful: the bootstrap's, and the
formulas' for two raters."""

FEW_ITEMS = 50


@dataclass(frozen=True, slots=True)
class Options:
    """How to compute: one set for a whole report, named in its signature."""

    weights: WeightName | npt.ArrayLike = "identity"
    scale: Scale = "nominal"
    order: Sequence[str] = ()
    interval: Method = "fce"
    ok: str | None = None
    n_resamples: int = RESAMPLES
    level: float = 0.95
    seed: int = 0
    most_raters: int = MOST_RATERS

    def signature(self, judgments: Judgments, counts: Counts) -> Signature:
        weights = self.weights if isinstance(self.weights, str) else "own"
        named = {"weights": weights, "scale": self.scale, "pairs": self.interval, "all": "bootstrap-bca"}
        chance = {"resamples": str(self.n_resamples), "level": f"{self.level:g}", "seed": str(self.seed)}
        filters = {"dropped": str(sum(judgments.dropped.values()))} if judgments.dropped else {}
        order = {"order": ",".join(self.order)} if self.order else {}
        data = {"data": digest([*counts.labels, counts.patterns.tobytes().hex(), counts.n_items.tobytes().hex()])}
        return Signature("agreement", {**named, **chance, **filters, **order, **data})


@dataclass(frozen=True, slots=True, eq=False)
class PairAgreement:
    """Two raters: their table, Cohen's kappa, and T&C's disagreement rates where there is a label for OK."""

    table: Confusion
    kappa: Interval
    disagreements: tuple[Disagreement, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Agreement:
    """`n_items` were judged at all, `counts.n_compared` by two raters or more."""

    n_items: int
    raters: tuple[str, ...]
    labels: tuple[str, ...]
    counts: Counts
    coefficients: dict[str, Interval]
    pairs: tuple[PairAgreement, ...]
    mean: MeanPairwise | None
    no_pairs: str
    signature: Signature
    warnings: tuple[str, ...] = field(default=())


def agreement(judgments: Judgments, options: Options | None = None) -> Agreement:
    """The agreement of all raters of a table."""
    options = options or Options()
    if options.interval not in METHODS:
        raise UsageError(f"unknown interval {options.interval!r}. Known: {', '.join(METHODS)}")
    codes = coded(judgments)
    if options.order:
        codes = reordered(codes, options.order)
    weights = weight_matrix(options.weights, len(codes.labels))
    counts = tally(codes)
    coefficients = overall(counts, weights, options)
    no_pairs = why_no_pairs(codes, options.most_raters)
    tables = () if no_pairs else tuple(confusions(codes))
    pairs = tuple(_pair(table, weights, options) for table in tables)
    return Agreement(
        len(codes.items),
        codes.raters,
        codes.labels,
        counts,
        coefficients,
        pairs,
        _mean(codes, tables, weights, options) if tables else None,
        no_pairs,
        options.signature(judgments, counts),
        tuple(warnings_of(counts, pairs, options)),
    )


def _mean(codes: Coded, tables: Sequence[Confusion], weights: Matrix, options: Options) -> MeanPairwise:
    rng = generator(options.seed, "agreement", "mean")
    chance = {"rng": rng, "n_resamples": options.n_resamples, "level": options.level}
    return mean_pairwise(codes, tables, weights=weights, **chance)  # type: ignore[arg-type]


def overall(counts: Counts, weights: Matrix, options: Options) -> dict[str, Interval]:
    """The coefficients that do not ask who judged, by name."""
    chosen = [definition.of_table(weights, options.scale, counts.labels) for definition in COEFFICIENTS]
    rng = generator(options.seed, "agreement", "items")
    intervals = bootstrap_intervals(chosen, counts, rng=rng, n_resamples=options.n_resamples, level=options.level)
    return {coefficient.name: interval for coefficient, interval in zip(chosen, intervals, strict=True)}


def why_no_pairs(codes: Coded, most_raters: int) -> str:
    """The reason why raters are not compared one by one; empty where they are."""
    if codes.anonymous_raters:
        return "raters are positions, not people: the table has no rater ids"
    if len(codes.raters) < 2:
        return f"only one rater, {codes.raters[0]}"
    if len(codes.raters) > most_raters:
        return f"{len(codes.raters)} raters, more than {most_raters}"
    return ""


def _pair(table: Confusion, weights: Matrix, options: Options) -> PairAgreement:
    rng = generator(options.seed, "agreement", "pair", *table.raters)
    kappa = cohen_kappa(
        table,
        rng=rng,
        weights=weights,
        method=options.interval,
        n_resamples=options.n_resamples,
        level=options.level,
    )
    ok = options.ok if options.ok is not None else ok_label(table.labels)
    return PairAgreement(table, kappa, disagreements(table, ok=ok) if ok is not None else ())


def n_minor(counts: Counts) -> float:
    """How many items a rater gives another label than the most frequent one, on average over raters."""
    n_judgments = counts.n_items @ counts.patterns
    return counts.n_compared * (1 - float(n_judgments.max()) / float(n_judgments.sum())) if n_judgments.any() else 0.0


def warnings_of(counts: Counts, pairs: Sequence[PairAgreement], options: Options) -> list[str]:
    """Where limits deserve less trust, and what to do; the numbers behind this are in docs/agreement.md."""
    warnings = []
    n, minor = counts.n_compared, n_minor(counts)
    if 0 < n < FEW_ITEMS:
        warnings.append(f"only {n} items have two judgments: limits are rough below {FEW_ITEMS}")
    if n and len(counts.labels) > 1 and minor < FEW_MINOR:
        warnings.append(
            f"labels other than the most frequent fall on {minor:.1f} items per rater: with fewer than {FEW_MINOR} "
            "the limits of kappa and alpha are wide for good reason; judge more items, or sample rare ones"
        )
    if n and len(counts.labels) > 1 and minor < FEW_MINOR_OF_TWO and pairs and options.interval != "bootstrap":
        warnings.append(
            f"{options.interval} limits of pairs cover too little where other labels than the most frequent fall on "
            f"{minor:.1f} items per rater (77 % for 95 % at 3 items): use --interval bootstrap"
        )
    return warnings


def agreement_json(found: Agreement) -> dict[str, Json]:
    """`observed` is the bare number of the contract; its limits are in `observed_interval`."""
    coefficients = dict(found.coefficients)
    observed = coefficients.pop("observed")
    mean = found.mean
    return {
        "items": found.n_items,
        "compared": found.counts.n_compared,
        "left_out": found.counts.n_left_out,
        "judgments": found.counts.n_judgments,
        "raters": list(found.raters),
        "labels": list(found.labels),
        "observed": encode(observed.value),
        "observed_interval": observed.as_json(),
        "pairs": [_as_json_pair(pair) for pair in found.pairs],
        **({"pairs_reason": found.no_pairs} if found.no_pairs else {}),
        **({"mean_kappa": coefficient_json(mean.kappa), "undefined_pairs": mean.n_undefined} if mean else {}),
        **{name: coefficient_json(interval) for name, interval in coefficients.items()},
        "warnings": list(found.warnings),
        "signature": str(found.signature),
    }


def _as_json_pair(pair: PairAgreement) -> dict[str, Json]:
    table = pair.table
    return {
        "raters": list(table.raters),
        "n": table.n,
        "observed": encode(table.observed.value),
        "observed_interval": table.observed.as_json(),
        "kappa": coefficient_json(pair.kappa),
        "confusion": table.cells.tolist(),
        "disagreement": [_disagreement(each) for each in pair.disagreements],
    }


def _disagreement(each: Disagreement) -> dict[str, Json]:
    return {"rater": each.rater, "other": each.other, "ok": each.n_ok, "n": each.n, **each.rate.as_json()}
