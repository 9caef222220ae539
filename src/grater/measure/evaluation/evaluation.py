"""The evaluation of detectors against judgments: standard, by rater, weighted, by bins of agreement and by parts.

T,C&M 2013, section 6, recommend all of these together. Every precision and recall is computed here: the command,
Python, a study, its pages and its report read their data into the same tables and call `evaluate`. The sampling
design (`design.py`) decides what can be estimated: with a sample, every number is an estimate for the corpus; with
judgments of flags alone (T&C 2008, Table 7, "verification"), there is only precision. A number that the design does
not support is withheld, with the reason and a remedy.

The signature records the truth, the units of the intervals and the data; warnings, gravest first, say which numbers
are less reliable. On request, suggestions (`suggestions.py`) and every threshold on a system's scores
(`thresholds.py`) are scored as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from math import isnan, nan

import numpy as np
import polars as pl

from grater.measure.evaluation.cases import (
    ADJUDICATED,
    Bounds,
    Cases,
    Missing,
    Truth,
    Truths,
    bounds_sheet,
    cases_of,
    copied_gold,
    copied_systems,
    counts_of,
    each_score,
    frame_of_truth,
    patterns,
    truth_of,
    unset_flags,
    votes_of,
    with_withheld,
    without_own_work,
)
from grater.measure.evaluation.design import Assisted, CheapJudge, check_judge, judgments_saved
from grater.measure.evaluation.different import Different, different_data
from grater.measure.evaluation.gold import Correction, as_many_votes, corrected, correction_of, limits_of_correction
from grater.measure.evaluation.standard import (
    EDGES,
    HEADLINE,
    IN_BIN,
    MOST_RATERS,
    SHOWN,
    TIE,
    Bin,
    Scored,
    TypeScore,
    against,
    binned,
    concentration_warnings,
    different_rates,
    each_rater,
    effects_note,
    histogram,
    known_items,
    same_items,
    scores_by_type,
    small_bins,
    spread,
    types_sheet,
    weighted,
)
from grater.measure.evaluation.suggestions import BY_GOLD, BY_RATERS, Suggested, suggestions
from grater.measure.evaluation.thresholds import Curve, curves_of_systems, frame_of_curve
from grater.measure.sampling.plan import more_needed, recall_warning
from grater.measure.units import Essays, Unknown, by_code, spelling_warnings
from grater.model import Interval, Json
from grater.result import FLAT, HIDDEN, OPTIONAL, Data, Estimate, Result, encode, in_json, key
from grater.sheet import (
    UNDEFINED,
    Sheet,
    Signature,
    amount,
    count,
    counted,
    digest,
    interval,
    number,
    undefined_notes,
    with_notes,
    without_empty_columns,
)
from grater.tables import Judgments, Sample, Table, without_flags
from grater.uncertainty import Basis, Scope
from grater.uncertainty.sampled import SampleScores, Strata, normal_scores, sample_scores

WITH_UNKNOWN, WITHOUT_UNKNOWN = "with unknown", "without unknown"
MANY_TIES = 0.2
"""The share of tied items from which there is a warning."""
MOST_DIFFERENT = 5
"""Pairs of parts with different error rates that a warning names."""
LONGEST_BAR = 40
TIED = "{} with as many votes for error as for ok: each counts half on both sides."
PAPER = "The paper's normal intervals (T&C 2008, 6.3), items taken as independent"


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """How to evaluate: one set of options for a whole report, named in its signature.

    Items on which a rater set one of the flags `contexts` are shown separately. With `redundancy` N, vote shares use
    the first N judgments of each item (`cases.py`). `is_brief` limits the result to the scores against the truth, for
    live pages.
    """

    truth: str = "majority"
    edges: Sequence[float] = EDGES
    basis: Basis = field(default_factory=Basis)
    unknown: Unknown = "drop"
    missing: Missing = "absent"
    kind: str = ""
    by: str = ""
    contexts: tuple[str, ...] = ()
    redundancy: int = 0
    is_brief: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Part(Data):
    """All results on some items; `weighted` is empty if the truth has no grades."""

    n_items: int
    n_unjudged: int
    flagged_unjudged: dict[str, int] = field(metadata=HIDDEN)
    standard: tuple[Scored, ...] = field(metadata=HIDDEN)
    by_rater: dict[str, list[Scored]] = field(default_factory=dict, metadata=HIDDEN)
    weighted: tuple[Scored, ...] = field(default=(), metadata=HIDDEN)
    bins: tuple[Bin, ...] = field(default=(), metadata=HIDDEN)
    histogram: tuple[tuple[float, float, int], ...] = field(
        default=(),
        metadata=key(
            "agreement", write=lambda bars: [dict(zip(("low", "high", "n"), bar, strict=True)) for bar in bars]
        ),
    )
    bounds: tuple[Bounds, ...] = field(default=(), metadata=HIDDEN)
    n_tied: int = field(default=0, metadata=HIDDEN)

    @property
    def n_judged(self) -> int:
        return self.n_items - self.n_unjudged

    @property
    @in_json()
    def systems(self) -> list[dict[str, Json]]:
        return [
            {
                "system": standard.system,
                "n": standard.n,
                **standard.as_json((*HEADLINE, "kappa", "error_rate")),
                **({"design_effect": encode(standard.design_effect)} if standard.design_effect else {}),
                "flagged_unjudged": self.flagged_unjudged[standard.system],
                **({"bounds": self.bounds[number].to_dict()} if self.bounds else {}),
                **({"weighted": self.weighted[number].as_json()} if self.weighted else {}),
                "bins": [within.of_system(number) for within in self.bins],
                **self._raters(number),
            }
            for number, standard in enumerate(self.standard)
        ]

    def _raters(self, number: int) -> dict[str, Json]:
        if not self.by_rater:
            return {}
        of_raters = {rater: scored[number] for rater, scored in self.by_rater.items()}
        rows = [{"rater": rater, "n": scored.n, **scored.as_json()} for rater, scored in of_raters.items()]
        spreads = {name: asdict(spread([scored[name] for scored in of_raters.values()])) for name in HEADLINE}
        return {"by_rater": encode(rows), "spread": encode(spreads)}


@dataclass(frozen=True, slots=True, eq=False)
class Estimated(Data):
    """One system estimated from a sample: corpus totals, the paper's intervals, and the cells they come from."""

    system: str
    scores: SampleScores = field(metadata=HIDDEN)
    paper: SampleScores = field(metadata=HIDDEN)
    strata: Strata = field(metadata=HIDDEN)
    flagged: Truths = field(metadata=HIDDEN)
    names: tuple[str, ...] = field(metadata=HIDDEN)

    @property
    @in_json("totals")
    def totals(self) -> dict[str, Interval]:
        return {"hit": self.scores.hit, "false_alarm": self.scores.false_alarm, "miss": self.scores.miss}

    @property
    @in_json("paper")
    def _paper(self) -> dict[str, Interval]:
        return self.paper.named()

    @property
    @in_json("strata")
    def _strata(self) -> list[dict[str, Json]]:
        sums = (part.sum(axis=0) for part in (self.strata.sizes, self.strata.judged, self.strata.errors))
        rows = zip(self.names, self.flagged, *sums, strict=True)
        names = ("stratum", "flagged", "items", "judged", "errors")
        return [dict(zip(names, encode(row), strict=True)) for row in rows]


@dataclass(frozen=True, slots=True, eq=False)
class FromSample(Data):
    """The sample behind an evaluation: the items drawn and judged, and the estimates for the corpus by system."""

    name: str
    n_drawn: int
    n_judged: int
    n_items: float
    systems: tuple[Estimated, ...]
    assist: Assisted | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Evaluation(Result):
    """All results, the parts by a column, and how they were computed; `shows_...` affect tables only."""

    cases: Cases = field(metadata=key("raters", write=lambda cases: list(cases.raters)))
    truth: Truth = field(metadata=key(write=lambda truth: truth.name))
    whole: Part = field(metadata=FLAT)
    parts: dict[str, Part] = field(metadata=OPTIONAL)
    signature: Signature
    warnings: tuple[str, ...] = ()
    sample: FromSample | None = field(default=None, metadata=OPTIONAL)
    corrected: dict[str, SampleScores] = field(default_factory=dict, metadata=HIDDEN)
    correction: Correction | None = field(default=None, metadata=HIDDEN)
    suggestions: tuple[Suggested, ...] = field(default=(), metadata=OPTIONAL)
    curves: tuple[Curve, ...] = field(default=(), metadata=HIDDEN)
    different: Different | None = field(default=None, metadata=key("different_data", optional=True))
    types: tuple[TypeScore, ...] = field(default=(), metadata=key("by_type", optional=True))
    scope: Scope = field(default_factory=Scope)
    basis: Basis = field(default_factory=Basis, metadata=HIDDEN)
    shows_weighted: bool = field(default=True, metadata=HIDDEN)
    shows_bins: bool = field(default=True, metadata=HIDDEN)

    @property
    def systems(self) -> tuple[Scored, ...]:
        return self.whole.standard

    @property
    @in_json("curve", optional=True)
    def _curve(self) -> list[dict[str, Json]]:
        return [{**curve.to_dict(), "signature": str(curve.signature(self.signature))} for curve in self.curves]

    @property
    @in_json(flat=True)
    def _corrected(self) -> dict[str, Json]:
        """The corrected scores, and how raters err; empty without gold."""
        if self.correction is None:
            return {}
        scores = {system: encode(scores.named()) for system, scores in self.corrected.items()}
        return {"corrected": scores, "rater_error": self.correction.raters.to_dict()}

    def estimates(self) -> Iterator[Estimate]:
        for name, part in {"": self.whole, **self.parts}.items():
            of_kinds = [("standard", part.standard), ("weighted", part.weighted)]
            of_kinds += [(f"rater {rater}", tuple(scored)) for rater, scored in part.by_rater.items()]
            of_kinds += [(f"agreement {within.title}", within.systems) for within in part.bins]
            for kind, systems in of_kinds:
                for scored in systems:
                    yield from each_score(scored.scores, part=name, kind=kind, system=scored.system)
        for system, scores in self.corrected.items():
            yield from each_score(scores.named(), part="", kind="corrected", system=system)
        for estimated in self.sample.systems if self.sample else ():
            yield from each_score(estimated.paper.named(), part="", kind="paper", system=estimated.system)

    def curve_frame(self) -> pl.DataFrame:
        return pl.concat([frame_of_curve(curve, curve.signature(self.signature)) for curve in self.curves])

    def sheets(self) -> list[Sheet]:
        first, *others = _sheets(self, weighted=self.shows_weighted, bins=self.shows_bins)
        effects = effects_note({scored.system: scored.design_effect for scored in self.whole.standard})
        shown = [scored[name] for scored in (*self.whole.standard, *self.whole.weighted) for name in SHOWN]
        notes = (*first.notes, *undefined_notes(shown), *([effects] if effects else []))
        helped = [self.sample.assist.sentence] if self.sample and self.sample.assist else []
        words = [*helped, self.scope.sentence]
        return with_notes([replace(first, notes=notes), *others], words, str(self.signature))

    def progress(self, width: float) -> Iterator[str]:
        """How many judgments are missing: `after 180 judgments recall is .340 [.270, .420]; 120 more bring ...`."""
        for estimated in self.sample.systems if self.sample else ():
            recall, n_judged = estimated.scores.recall, self.sample.n_judged if self.sample else 0
            so_far = f"{estimated.system}: after {n_judged:,} judgments recall is {interval(recall)}"
            n_more = None if isnan(recall.low) else more_needed(estimated.strata, estimated.flagged, width)
            if n_more is None:
                yield f"{so_far}; no known number of judgments of this corpus brings the width to {width:.2f}"
            elif n_more == 0:
                yield f"{so_far}; it is within a width of {width:.2f}"
            else:
                yield f"{so_far}; {n_more:,} more bring the width to {width:.2f}"


def evaluate(
    decisions: Table,
    judgments: Judgments,
    *,
    items: Table | None = None,
    sample: Sample | None = None,
    labels: Judgments | None = None,
    assist: CheapJudge | None = None,
    gold: Table | None = None,
    merge: Mapping[str, str] | None = None,
    options: EvaluationOptions | None = None,
    corrections: Table | None = None,
    with_suggestions: bool = False,
    with_curves: bool = False,
    on_gold: Judgments | None = None,
) -> Evaluation:
    """Evaluate every system against the raters; adjudicated gold is the truth, other gold corrects raters' errors.

    Answers to gold are among the judgments, or in `on_gold` if gold items were hidden among others. With the `sample`
    from which the judged items were drawn, all numbers are estimates for the corpus; `labels` are those that its
    strata were built from, and `assist` is a cheap judge of every item. Suggestions are scored if `with_suggestions`
    is set or adjudicated `corrections` are given, and every threshold if `with_curves` is set.
    """
    options = options or EvaluationOptions()
    basis = options.basis
    judgments, own_work = without_own_work(decisions, by_code(judgments))
    cases, truth = question_of(
        decisions, judgments, options, items=items, sample=sample, labels=labels, assist=assist, gold=gold
    )
    whole = _part(cases, truth, options, None)
    # Where each part is one essay, or one document, the items in it are the units.
    apart = replace(cases, essays=Essays()) if options.by in ("essay", "document") else cases
    parts = {
        name: _part(apart, truth, options, where, is_property=is_property)
        for name, (where, is_property) in _parts(cases, options).items()
    }
    answers = judgments if on_gold is None else as_many_votes(on_gold, judgments, truth=options.truth)
    correction = correction_by_gold(answers, gold, options, merge=merge, systems=cases.systems, decisions=decisions)
    from_sample = _from_sample(cases, whole.standard)
    suggested: Sequence[Suggested] = ()
    if with_suggestions or corrections is not None:
        suggested = suggestions(decisions, judgments, essays=cases.essays, corrections=corrections)
    curves, without_curve = curves_of_systems(cases, truth, basis=basis) if with_curves else ((), ())
    different, is_known = None, ~np.isnan(truth.values)
    if not options.is_brief and len(same_items(cases.flagged[is_known])) > 1:
        different = different_data(cases, truth, basis=basis, edges=options.edges)
    effects = [of for scored in whole.standard for name, of in scored.design_effect.items() if name in SHOWN]
    scope = cases.essays.scope_of(
        cases.items if cases.design else cases.items.filter(known_items(cases, truth)),
        basis=basis,
        effect=max((effect for effect in effects if not isnan(effect)), default=nan),
        n_raters=len(cases.raters),
    )
    corrected_by_system, limits = {}, list[str]()
    for scored in whole.standard if correction else ():
        assert correction is not None
        found = scored.sampled
        if found is None:  # a corpus judged whole is a sample of two strata that holds all of its items
            found = sample_scores(scored.tally.as_strata(), np.array([True, False]))
        n_passed = scored.counts.miss + scored.counts.correct_rejection
        judged = found, n_passed, correction.sides[scored.system]
        corrected_by_system[scored.system] = corrected(*judged)
        limits += [] if correction.raters.undefined_because else limits_of_correction(scored.system, *judged)
    warnings = [
        *own_work,
        *dict.fromkeys(f"recall and F are withheld: {reason}" for reason in cases.withheld.values()),
        *contaminated(cases, judgments, gold, options),
        *concentration_warnings(whole.standard),
        *scope.warnings,
        *(different.warnings if different else ()),
        *(_sample_warnings(cases, from_sample, judgments, gold) if from_sample else ()),
        *spelling_warnings(judgments),
        *unset_flags(judgments, options.contexts),
        *_warnings(cases, whole, parts),
        *unequal(cases, options.redundancy),
        *(correction.warnings if correction else ()),
        *limits,
        *without_curve,
        *(warning for curve in curves for warning in curve.warnings),
    ]
    named = {"bins": ",".join(f"{edge:g}" for edge in options.edges), **(correction.options if correction else {})}
    named |= {"contexts": ",".join(options.contexts)} if options.contexts else {}
    return Evaluation(
        cases=cases,
        truth=truth,
        whole=whole,
        parts=parts,
        signature=signature_of(cases, options, **named),
        warnings=tuple(warnings),
        sample=from_sample,
        corrected=corrected_by_system,
        correction=correction,
        suggestions=tuple(suggested),
        curves=tuple(curves),
        different=different,
        types=() if options.is_brief else tuple(scores_by_type(cases, decisions, truth)),
        scope=replace(scope, n_units=0) if different else scope,
        basis=basis,
    )


def question_of(
    decisions: Table,
    judgments: Judgments,
    options: EvaluationOptions,
    *,
    items: Table | None = None,
    sample: Sample | None = None,
    labels: Judgments | None = None,
    assist: CheapJudge | None = None,
    gold: Table | None = None,
) -> tuple[Cases, Truth]:
    """The cases with their design, and the truth; a cheap judge that has seen the labels is refused."""
    cases = cases_of(
        decisions,
        judgments,
        items=items,
        sample=sample,
        labels=labels,
        judge=assist,
        basis=options.basis,
        unknown=options.unknown,
        first=options.redundancy,
        missing=options.missing,
        kind=options.kind,
    )
    truth = truth_of(cases, options.truth, gold=gold, seed=options.basis.seed)
    if cases.design is not None and cases.design.judge is not None:
        design, judge, cells = cases.design, cases.design.judge, cases.design.systems[0]
        labels_of_people = np.where(design.is_drawn, truth.values, np.nan)
        is_flagged = cases.flagged[:, 0] == 1
        warning = check_judge(design.judge_name, judge, labels_of_people, design.is_drawn, cells.cell, is_flagged)
        cases = replace(cases, design=replace(design, judge_warning=warning))
    return with_withheld(cases, truth), truth


def correction_by_gold(
    judgments: Judgments,
    gold: Table | None,
    options: EvaluationOptions,
    *,
    systems: Sequence[str],
    decisions: Table,
    merge: Mapping[str, str] | None = None,
) -> Correction | None:
    """How raters err on gold; None without gold, or if gold itself is the truth."""
    if gold is None or options.truth == ADJUDICATED:
        return None
    votes = votes_of(judgments, unknown=options.unknown)
    judged = frame_of_truth(votes, truth_of(votes, options.truth, seed=options.basis.seed))
    return correction_of(judged, gold, decisions, systems, merge=merge)


def contaminated(cases: Cases, judgments: Judgments, gold: Table | None, options: EvaluationOptions) -> Iterator[str]:
    if cases.design is not None and cases.design.judge_warning:
        yield cases.design.judge_warning
    if judgments.anonymous_raters:
        return
    yield from copied_systems(cases, cases.flagged)
    if gold is not None:
        n_gold = cases.items.is_in(gold.frame["item"].cast(pl.String).implode()).sum()
        if n_gold and options.truth != ADJUDICATED:
            yield f"{counted(int(n_gold), 'gold item')} among those scored; if they were planted, leave them out"
        yield from copied_gold(cases, truth_of(cases, ADJUDICATED, gold=gold, seed=options.basis.seed).values)


# From a sample


def _from_sample(cases: Cases, systems: Sequence[Scored]) -> FromSample | None:
    design = cases.design
    if design is None:
        return None
    estimated, saved = [], {}
    for scored, cells in zip(systems, design.systems, strict=True):
        if scored.strata is None or scored.sampled is None:
            continue
        paper = normal_scores(scored.strata, cells.flagged)
        estimated.append(Estimated(scored.system, scored.sampled, paper, scored.strata, cells.flagged, cells.names))
        if design.judge is not None:
            saved[scored.system] = judgments_saved(scored.strata, cells.flagged)
    strata = estimated[0].strata if estimated else None
    return FromSample(
        name=design.sample.name,
        n_drawn=int(design.is_drawn.sum()),
        n_judged=round(float(strata.judged.sum())) if strata else 0,
        n_items=float(strata.sizes.sum()) if strata else 0.0,
        systems=tuple(estimated),
        assist=Assisted(design.judge_name, saved) if design.judge is not None else None,
    )


def _sample_warnings(cases: Cases, sample: FromSample, judgments: Judgments, gold: Table | None) -> Iterator[str]:
    if sample.n_judged < sample.n_drawn:
        without = counted(sample.n_drawn - sample.n_judged, "drawn item")
        yield f"{without} without a usable judgment, taken to be like the rest of a stratum"
    design = cases.design
    assert design is not None
    known = [design.sample.frame, *([gold.frame] if gold is not None else [])]
    drawn = pl.concat([frame.select(pl.col("item").cast(pl.String)) for frame in known]).unique()
    judged = judgments.frame.select(pl.col("item").cast(pl.String)).unique()
    n_strangers = len(judged.join(drawn, on="item", how="anti"))
    if n_strangers:
        yield f"{n_strangers:,} judged items are not in the sample and are left out"
    for each in sample.systems:
        size, n = each.strata.sizes.sum(axis=0), each.strata.judged.sum(axis=0)
        empty = float(size[n == 0].sum())
        if empty and n.sum():
            yield f"{each.system}: nothing was judged in strata of {count(empty)} items; taken to be like the rest"
        if warning := recall_warning(each.strata, each.flagged):
            yield f"{each.system}: {warning}"


def _part(
    cases: Cases, truth: Truth, options: EvaluationOptions, where: Truths | None, *, is_property: bool = True
) -> Part:
    basis, known = options.basis, known_items(cases, truth)
    here = np.ones(len(cases), bool) if where is None else where
    silent = here & ~known
    part = Part(
        int(here.sum()),
        int(silent.sum()),
        dict(zip(cases.systems, (cases.flagged[silent] == 1).sum(axis=0).tolist(), strict=True)),
        tuple(against(cases, truth, basis=basis, where=where, is_property=is_property, with_effects=where is None)),
        n_tied=int((here & known & (truth.values == TIE)).sum()) if not truth.is_graded else 0,
    )
    if silent.any() and cases.design is None:
        part = replace(part, bounds=tuple(_bounds(cases, truth, silent, here & known)))
    if options.is_brief:
        return part
    hard = truth_of(cases, "majority") if truth.is_graded else truth
    has_raters = not cases.judgments.anonymous_raters
    return replace(
        part,
        by_rater=each_rater(cases, basis=basis, where=where, is_property=is_property) if has_raters else {},
        weighted=tuple(weighted(cases, truth, basis=basis, where=where)) if is_property or not cases.design else (),
        bins=tuple(binned(cases, hard, basis=basis, edges=options.edges, where=where)),
        histogram=tuple(histogram(cases, where=where)),
    )


def _bounds(cases: Cases, truth: Truth, silent: Truths, known: Truths) -> Iterator[Bounds]:
    for column, system in enumerate(cases.systems):
        unjudged, marks = cases.flagged[silent, column], cases.flagged[:, column]
        counts = counts_of(marks[known & (marks >= 0)], truth.values[known & (marks >= 0)])
        yield Bounds(system, int((unjudged == 1).sum()), int((unjudged == 0).sum()), counts)


def _parts(cases: Cases, options: EvaluationOptions) -> dict[str, tuple[Truths, bool]]:
    """The items of each part, and whether unjudged items can be assigned to it."""
    parts = {name: (where, True) for name, where in parts_by(cases, options.by).items()}
    judged: dict[str, Truths] = {}
    if options.unknown == "apart":
        judged |= {WITHOUT_UNKNOWN: ~cases.has_unknown, WITH_UNKNOWN: cases.has_unknown}
    if options.contexts:
        kept, key = without_flags(cases.judgments, options.contexts), ["item", "rater"]
        lost = cases.judgments.frame.select(key).join(kept.frame.select(key), on=key, how="anti")["item"]
        doubtful = cases.items.cast(pl.String).is_in(lost.cast(pl.String).unique().implode()).to_numpy()
        judged |= {"without flagged contexts": ~doubtful, "with flagged contexts": doubtful}
    return parts | {name: (where, False) for name, where in judged.items()}


def unequal(cases: Cases, redundancy: int) -> list[str]:
    """A warning about shares if items have different numbers of judgments."""
    if redundancy:
        n_left_out = int((cases.is_judged & ~cases.equal.is_judged).sum())
        without = f"; {n_left_out} items with fewer judgments are left out of them" if n_left_out else ""
        return [f"weighted scores and bins are of the first {redundancy} judgments of each item{without}"]
    counts = cases.n_judgments
    sizes = counts[counts > 0]
    if not sizes.size or (low := int(sizes.min())) == (high := int(sizes.max())):
        return []
    words = f"items have {low} to {high} judgments: if asking stopped where raters agreed, their shares are too sure"
    return [f"{words}; a redundancy of {low} takes the first {low} of each"]


def parts_by(cases: Cases, column: str) -> dict[str, Truths]:
    if not column:
        return {}
    codes, names = cases.groups(column)
    return {f"{column} {name}": codes == code for code, name in enumerate(names)}


def signature_of(cases: Cases, options: EvaluationOptions, *, what: str = "evaluate", **named_too: str) -> Signature:
    """How the numbers were computed; `data` hashes flags and votes, in any order and under any names of raters."""
    columns = [*cases.flagged.T, cases.n_error, cases.n_votes]
    columns += [cases.equal.n_error, cases.equal.n_votes] if options.redundancy else []
    rows, times = patterns(columns)
    data = digest([*cases.systems, rows.T.astype(np.int64).tobytes().hex(), times.tobytes().hex()])
    named = {"truth": options.truth, "unknown": options.unknown, "zero": "nan"}
    named |= options.basis.signature(cases.essays.unit, design="stratified" if cases.design else "")
    if cases.design is not None:
        named["sample"] = digest(sorted(cases.design.sample.frame["item"].unique().to_list()))
        named |= {"assist": cases.design.judge_name} if cases.design.judge_name else {}
    named |= {"missing": options.missing} if options.missing != "absent" else {}
    named |= {"kind": options.kind} if options.kind else {}
    named |= {"by": options.by} if options.by else {}
    named |= {"dropped": str(sum(cases.judgments.dropped.values()))} if cases.judgments.dropped else {}
    named |= {"redundancy": f"first-{options.redundancy}"} if options.redundancy else {}
    return Signature(what, {**named, **named_too, "data": data})


def _warnings(cases: Cases, whole: Part, parts: dict[str, Part]) -> Iterator[str]:
    if cases.n_stray:
        yield f"{cases.n_stray:,} judged items are left out: no system decided on them"
    if whole.n_unjudged and cases.design is None:
        yield f"{whole.n_unjudged:,} of {whole.n_items:,} items have no usable judgment: shown in a separate row"
    if cases.n_unknown:
        yield f"{cases.n_unknown:,} judgments are 'unknown' and do not count as votes"
    if whole.n_judged and whole.n_tied >= MANY_TIES * whole.n_judged:
        tied = f"{whole.n_tied:,} of {counted(whole.n_judged, 'judged item')} are ties between raters"
        yield f"{tied}: each is half an error, so scores are pulled towards one half whatever a system does"
    yield from small_bins(whole.bins)
    yield from _different(parts)


def _different(parts: dict[str, Part]) -> list[str]:
    """Parts whose error rates differ; only the first few pairs are named."""
    warnings = [
        f"{one} and {other}: {warning}"
        for (one, first), (other, second) in combinations(parts.items(), 2)
        for warning in different_rates(first.bins, second.bins)
    ]
    n_more = len(warnings) - MOST_DIFFERENT
    more = f"error rates differ between parts in {n_more} more cases: compare kappa, not precision"
    return [*warnings[:MOST_DIFFERENT], *([more] if n_more > 0 else [])]


# What a person reads


def _sheets(evaluation: Evaluation, *, weighted: bool, bins: bool) -> Iterator[Sheet]:
    whole, systems = evaluation.whole, evaluation.cases.systems
    sample, title = evaluation.sample, f"Against {evaluation.truth.name}"
    if sample is None:
        yield _scores(f"{title}, {counted(whole.n_judged, 'item')}", whole.standard, whole)
    else:
        judged = f"{sample.n_judged:,} of {sample.n_drawn:,} drawn items judged"
        title = f"{title}, estimated for {sample.n_items:,.0f} items: {judged}"
        yield _scores(title, whole.standard, whole, is_sample=True)
        if not any(each.is_withheld for each in whole.standard):
            yield _paper(sample)
    if whole.bounds:
        yield bounds_sheet(whole.bounds)
    if (correction := evaluation.correction) and not correction.raters.undefined_because:
        rows = [
            (name, *map(interval, (of.precision, of.recall, of.f[0.5]))) for name, of in evaluation.corrected.items()
        ]
        title, columns = "Corrected for what raters get wrong", ("", *SHOWN.values())
        yield Sheet(title, columns, tuple(rows), notes=correction.notes, name="corrected")
    if len(whole.by_rater) > 1:
        yield from (_raters(whole, place, system) for place, system in enumerate(systems))
    if weighted:
        yield _scores("Weighted by the share of raters", whole.weighted)
    if bins:
        yield from (_bins(whole, place, system) for place, system in enumerate(systems))
        yield _histogram(whole)
    for name, part in evaluation.parts.items():
        yield _scores(f"{name}: {counted(part.n_judged, 'item')}", part.standard, part)
        if weighted and part.weighted:
            yield _scores(f"{name}, weighted", part.weighted)
    if evaluation.types:
        yield types_sheet(evaluation.types, whole.standard)
    if evaluation.different:
        yield from evaluation.different.sheets()
    if evaluation.suggestions:
        yield _suggestions(evaluation.suggestions)


def _paper(sample: FromSample) -> Sheet:
    rows = [
        (
            each.system,
            *map(interval, (each.paper.precision, each.paper.recall, each.paper.f[0.5])),
            *map(amount, (each.paper.hit, each.paper.false_alarm, each.paper.miss)),
        )
        for each in sample.systems
    ]
    return Sheet(PAPER, ("", *SHOWN.values(), "hits", "false", "misses"), tuple(rows), name="paper")


def _scores(title: str, systems: Sequence[Scored], part: Part | None = None, *, is_sample: bool = False) -> Sheet:
    columns = ("", *SHOWN.values(), "hits", "false", "misses")
    rows = [
        (
            scored.system,
            *(interval(scored[name]) for name in SHOWN),
            *map(count, scored.counts.row()[:2]),
            UNDEFINED if scored.is_withheld else count(scored.counts.miss),
        )
        for scored in systems
    ]
    ties = (TIED.format(counted(part.n_tied, "item")),) if part and part.n_tied else ()
    if part is None or not part.n_unjudged or is_sample:
        return Sheet(title, columns, tuple(rows), notes=ties, name="scores")
    rows.append(("not judged", *[UNDEFINED] * (len(columns) - 1)))
    flags = ", ".join(f"{n:,} flagged by {system}" for system, n in part.flagged_unjudged.items())
    note = f"not judged: {part.n_unjudged:,} items have no usable judgment; {flags}"
    return Sheet(title, columns, tuple(rows), notes=(*ties, note), name="scores", rules=(len(rows) - 1,))


def _raters(part: Part, place: int, system: str) -> Sheet:
    of_raters = {rater: scored[place] for rater, scored in part.by_rater.items()}
    rows = [
        (rater, count(scored.n), *(interval(scored[name]) for name in SHOWN))
        for rater, scored in of_raters.items()
        if len(of_raters) <= MOST_RATERS
    ]
    spreads = [spread([scored[name] for scored in of_raters.values()]) for name in SHOWN]
    ranges = (f"{number(over.low)} to {number(over.high)}" for over in spreads)
    means = (f"{number(over.mean)} ({number(over.sd)})" for over in spreads)
    last = [("lowest to highest", "", *ranges), ("mean (sd)", "", *means)]
    columns = ("", "items", *SHOWN.values())
    title = f"{system} against each rater"
    return Sheet(title, columns, (*rows, *last), name="raters", rules=(len(rows),) if rows else ())


def _bins(part: Part, place: int, system: str) -> Sheet:
    rows = [
        (within.title, count(within.systems[place].n), *(interval(within.systems[place][name]) for name in IN_BIN))
        for within in part.bins
    ]
    columns = ("", "items", *(name.replace("_", " ") for name in IN_BIN))
    notes = undefined_notes(within.systems[place][name] for within in part.bins for name in IN_BIN)
    n_outside = part.n_judged - sum(within.n for within in part.bins)
    if n_outside and len(part.bins) == 1:
        notes.append(
            f"{counted(n_outside, 'item')} on which two raters differ have no majority and are left out of the bins."
        )
    return Sheet(f"{system} by agreement of raters", columns, tuple(rows), notes=tuple(notes), name="bins")


def _histogram(part: Part) -> Sheet:
    most = max((n for _, _, n in part.histogram), default=0) or 1
    rows = [
        (
            f"{100 * low:g}-{100 * high:g} %" if low < high else f"{100 * low:g} %",
            count(n),
            "█" * -(-n * LONGEST_BAR // most),
        )
        for low, high, n in part.histogram
    ]
    return Sheet("Items by agreement of raters", ("", "items", ""), tuple(rows), name="agreement")


def _suggestions(suggested: Sequence[Suggested]) -> Sheet:
    rows = [(of.system, count(of.n), count(of.n_blank), *map(interval, of.scores.values())) for of in suggested]
    columns = ("", "judged", "blank", *BY_RATERS.values(), *BY_GOLD.values())
    return without_empty_columns(Sheet("Suggestions", columns, tuple(rows), name="suggestions"))
