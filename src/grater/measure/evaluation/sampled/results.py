"""What an estimate from a sample comes to: systems, their differences, parts of the corpus, and the correction.

Totals are of the whole corpus.  A system's table has our intervals and, beside them, the normal ones of the paper.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isnan, nan

from grater.measure.evaluation.counts import each_score
from grater.measure.evaluation.rater_error import HELD, RaterError
from grater.measure.evaluation.sampled.assist import Assisted
from grater.measure.evaluation.sampled.estimates import Difference, SystemEstimate
from grater.measure.evaluation.sampled.resampled import Resampled
from grater.measure.sampling.plan import more_needed, recall_width
from grater.model import Interval, Json
from grater.result import HIDDEN, OPTIONAL, Data, Estimate, Result, encode, in_json, key
from grater.sheet import Sheet, amount, interval, number
from grater.signature import Signature
from grater.uncertainty.population import Scope
from grater.uncertainty.stratified import Scores, Stratum

TOTALS = ("hit", "false_alarm", "miss")
NOT_ADDED_UP = "Each part is estimated from its own items, so totals of parts need not add up to those of all."


def _by_beta(scores: Mapping[float, Interval]) -> dict[str, Json]:
    return {f"f{beta:g}": score.as_json() for beta, score in scores.items()}


@dataclass(frozen=True, slots=True)
class CorrectedEstimate(Data):
    """One system after the correction; hit and miss are totals over the corpus."""

    system: str = field(metadata=HIDDEN)
    precision: Interval
    recall: Interval
    f: Mapping[float, Interval] = field(metadata=key(flat=True, write=_by_beta))
    hit: Interval = field(metadata=HIDDEN)
    miss: Interval = field(metadata=HIDDEN)

    @property
    @in_json()
    def totals(self) -> dict[str, Interval]:
        return {"hit": self.hit, "miss": self.miss}


@dataclass(frozen=True, slots=True)
class CorrectedSample:
    """Every system corrected, with what it was corrected by; the differences of every two."""

    raters: RaterError
    systems: tuple[CorrectedEstimate, ...]
    differences: tuple[Difference, ...]
    warnings: tuple[str, ...]
    signature: Signature


@dataclass(frozen=True, slots=True, repr=False)
class Sampled(Result):
    """Every system asked for, their differences, and what a reader must know of the sample; the same for parts.

    `again` are the resamples of essays or raters that its intervals come from, None where they come from items.
    """

    systems: tuple[SystemEstimate, ...] = field(metadata=HIDDEN)
    differences: tuple[Difference, ...] = field(metadata=HIDDEN)
    n_items: float
    n_drawn: int
    n_judged: int
    warnings: tuple[str, ...] = field(metadata=HIDDEN)
    signature: Signature
    parts: Mapping[str, Sampled] = field(default_factory=dict, metadata=OPTIONAL)
    correction: CorrectedSample | None = field(default=None, metadata=HIDDEN)
    scope: Scope = field(default_factory=Scope)
    assist: Assisted | None = field(default=None, metadata=OPTIONAL)
    again: Resampled | None = field(default=None, metadata=HIDDEN)

    @property
    @in_json()
    def n_unjudged(self) -> int:
        return self.n_drawn - self.n_judged

    @property
    def all_warnings(self) -> tuple[str, ...]:
        """Those of the whole, of its parts by name, and of the correction."""
        of_parts = [f"{name}: {warning}" for name, part in self.parts.items() for warning in part.warnings]
        return (*self.warnings, *of_parts, *(self.correction.warnings if self.correction else ()))

    @property
    @in_json("systems")
    def _systems(self) -> list[dict[str, Json]]:
        correction = self.correction
        corrected = {of.system: {"corrected": of.to_dict()} for of in correction.systems} if correction else {}
        return [{**_system_json(estimate), **corrected.get(estimate.system, {})} for estimate in self.systems]

    @property
    @in_json("differences")
    def _differences(self) -> list[dict[str, Json]]:
        pairs = self.correction.differences if self.correction else ()
        corrected = {pair.systems: {"corrected": encode(_headline(pair))} for pair in pairs}
        return [
            {"systems": list(pair.systems), **encode(_headline(pair)), **corrected.get(pair.systems, {})}
            for pair in self.differences
        ]

    @property
    @in_json("warnings")
    def _warnings(self) -> tuple[str, ...]:
        return (*self.warnings, *(self.correction.warnings if self.correction else ()))

    @property
    @in_json(optional=True)
    def rater_error(self) -> dict[str, Json]:
        correction = self.correction
        return {**correction.raters.to_dict(), "signature": str(correction.signature)} if correction else {}

    def estimates(self) -> Iterator[Estimate]:
        """Numbers by part, kind (estimate, paper, corrected), system, and the other system of a difference."""
        for name, part in {"": self, **self.parts}.items():
            yield from part._of_part(name)

    def _of_part(self, part: str) -> Iterator[Estimate]:
        for estimate in self.systems:
            for kind, scores in (("estimate", estimate.scores), ("paper", estimate.paper)):
                numbers = {**_headline(scores), **{name: getattr(scores, name) for name in TOTALS}}
                yield from each_score(numbers, part=part, kind=kind, system=estimate.system, other="")
        for corrected in self.correction.systems if self.correction else ():
            yield from each_score(
                _headline(corrected), part=part, kind="corrected", system=corrected.system, other=""
            )
        for pair in self.differences:
            first, second = pair.systems
            yield from each_score(_headline(pair), part=part, kind="difference", system=first, other=second)

    def sheets(self) -> list[Sheet]:
        """Each system as judged and corrected, the differences between systems, and the parts of the corpus."""
        *sheets, last = _sheets(self)
        correction = self.correction
        judged = f"{self.n_judged:,} of {self.n_drawn:,} drawn items judged, {self.n_items:,.0f} in the corpus"
        apart = [NOT_ADDED_UP] if self.parts else []
        units = self.scope.sentence
        held = [HELD] if correction and correction.systems else []
        raters = [correction.raters.sentence, *held, str(correction.signature)] if correction else []
        helped = [self.assist.sentence] if self.assist else []
        notes = (*last.notes, *apart, judged, units, *helped, *raters)
        return [*sheets, replace(last, notes=notes, signature=str(self.signature))]

    def progress(self, width: float) -> Iterator[str]:
        """How many judgments are missing: `after 180 judgments recall is .340 [.270, .420]; 120 more bring ...`."""
        for estimate in self.systems:
            recall = estimate.scores.recall
            so_far = f"{estimate.system}: after {self.n_judged:,} judgments recall is {interval(recall)}"
            n_more = self._more_needed(estimate, width)
            if isnan(recall.value) or n_more is None:
                yield f"{so_far}; no known number of judgments of this corpus brings the width to {width:.2f}"
            elif n_more == 0:
                yield f"{so_far}; it is within a width of {width:.2f}"
            else:
                yield f"{so_far}; {n_more:,} more bring the width to {width:.2f}"

    def _more_needed(self, estimate: SystemEstimate, width: float) -> int | None:
        """As if items were independent, for a width that much smaller as essays make the interval wider."""
        fpc, recall = self.scope.population == "these", estimate.scores.recall
        n_items = inf if fpc else self.n_items
        by_item, shown = recall_width(estimate.strata, fpc=fpc, n_items=n_items), recall.high - recall.low
        if shown <= width:
            return 0
        return more_needed(estimate.strata, width * min(1.0, by_item / shown), fpc=fpc, n_items=n_items)


# JSON


def _headline(scores: Scores | Difference | CorrectedEstimate) -> dict[str, Interval]:
    by_beta = {f"f{beta:g}": score for beta, score in scores.f.items()}
    return {"precision": scores.precision, "recall": scores.recall, **by_beta}


def _system_json(estimate: SystemEstimate) -> dict[str, Json]:
    return {
        "system": estimate.system,
        **_scores_json(estimate.scores),
        "paper": _scores_json(estimate.paper),
        "horvitz_thompson": {
            "precision": estimate.weighted.precision.as_json(),
            "recall": estimate.weighted.recall.as_json(),
        },
        "strata": [_stratum_json(stratum) for stratum in estimate.strata],
        **({"design_effect": encode(estimate.design_effects)} if estimate.design_effects else {}),
    }


def _scores_json(scores: Scores) -> dict[str, Json]:
    totals = {name: getattr(scores, name) for name in TOTALS}
    counts = {name: total.value for name, total in totals.items()}
    return {**encode({**_headline(scores), "counts": counts, "totals": totals}), "intervals": scores.method}


def _stratum_json(stratum: Stratum) -> dict[str, Json]:
    return {
        "stratum": stratum.name,
        "flagged": stratum.is_flagged,
        "items": stratum.size,
        "drawn": stratum.n_drawn,
        "judged": stratum.n_judged,
        "errors": stratum.errors,
    }


# What a person reads


def _sheets(sampled: Sampled) -> Iterator[Sheet]:
    correction = sampled.correction
    corrected = {estimate.system: estimate for estimate in correction.systems} if correction else {}
    for estimate in sampled.systems:
        yield _system_sheet(estimate, scope=sampled.scope)
        if estimate.system in corrected:
            yield _corrected_sheet(estimate, corrected[estimate.system])
    if sampled.differences:
        yield _difference_sheet("Differences, on the same items", sampled.differences)
        if correction and correction.differences and not correction.raters.undefined_because:
            yield _difference_sheet("Differences, corrected for rater error", correction.differences)
    for name, part in sampled.parts.items():
        yield from (_system_sheet(estimate, f"{name}: ", scope=part.scope) for estimate in part.systems)


def _system_sheet(estimate: SystemEstimate, part: str = "", *, scope: Scope) -> Sheet:
    ours, paper = _headline(estimate.scores), _headline(estimate.paper)
    rows = [(_title(name), interval(ours[name]), interval(paper[name])) for name in ours]
    rows += [
        (name.replace("_", " "), amount(getattr(estimate.scores, name)), amount(getattr(estimate.paper, name)))
        for name in TOTALS
    ]
    undefined = {score.undefined_because for score in ours.values() if isnan(score.low)} - {""}
    notes = tuple(f"{reason}." for reason in sorted(undefined))
    title = f"{part}{estimate.system}, from a sample"
    ours_is = "estimate" if scope.population == "wider" else "estimate, for exactly these items"
    return Sheet(title, ("", ours_is, "the paper's"), tuple(rows), notes=notes, name="estimate")


def _corrected_sheet(estimate: SystemEstimate, corrected: CorrectedEstimate) -> Sheet:
    judged, after = _headline(estimate.scores), _headline(corrected)
    rows = [(_title(name), number(judged[name].value), interval(after[name])) for name in after]
    rows += [
        (name, amount(Interval(getattr(estimate.scores, name).value, nan, nan)), amount(getattr(corrected, name)))
        for name in ("hit", "miss")
    ]
    title = f"{estimate.system}, corrected for rater error"
    return Sheet(title, ("", "as judged", "corrected"), tuple(rows), name="corrected")


def _difference_sheet(title: str, pairs: Sequence[Difference]) -> Sheet:
    rows = [
        (*pair.systems, _title(name), interval(difference))
        for pair in pairs
        for name, difference in _headline(pair).items()
    ]
    return Sheet(title, ("first", "second", "", "difference"), tuple(rows), name="differences")


def _title(name: str) -> str:
    """`F0.5` for `f0.5`; precision and recall as they are."""
    return name.upper() if name[1:2].isdigit() else name
