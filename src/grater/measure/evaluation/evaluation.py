"""Everything that judgments say about detectors, in one value: standard, by rater, weighted, binned, by part.

T,C&M 2013, section 6, ask for all of these beside each other.  The signature says what was taken for true, what was
resampled for intervals and which data it was; warnings say where numbers deserve less trust.  On request suggestions
are scored too (`suggestions.py`), and every threshold on a system's scores (`thresholds.py`).

Precision alone, from judgments of what a system flagged.

T&C 2008, Table 7, "verification": raters check the system's flags, nothing else.  Cheap, and enough for precision;
recall needs errors that the system missed, so it is undefined here and says so, whatever else happens to be judged.
Items that a system flagged and nobody judged are counted.  By default the corpus stands for a wider one; where the
population is exactly these items, intervals shrink as the judged flags come near to all flags, to no width at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import combinations
from math import isnan, nan

import numpy as np
import polars as pl

from grater.measure.agreement.coded import Unknown
from grater.measure.agreement.coefficients import spelling_warnings
from grater.measure.evaluation.cases import (
    ADJUDICATED,
    Bounds,
    Cases,
    Flags,
    Truth,
    Truths,
    bounds_sheet,
    cases_of,
    each_score,
    truth_of,
    unset_flags,
)
from grater.measure.evaluation.different import Different, different_data
from grater.measure.evaluation.rater_error import (
    Correction,
    as_many_votes,
    corrected_scores,
    correction_by_side,
    left_out_words,
    rater_error,
    sides_of,
)
from grater.measure.evaluation.standard import (
    EDGES,
    HEADLINE,
    IN_BIN,
    TIE,
    Bin,
    Scored,
    against,
    binned,
    different_rates,
    each_rater,
    effects_note,
    histogram,
    is_clustered,
    scope_of,
    settled,
    small_bins,
    spread,
    weighted,
    with_words,
)
from grater.measure.evaluation.suggestions import Suggested, TypeScore, scores_by_type, suggestions, types_sheet
from grater.measure.evaluation.thresholds import Curve, Higher, curves_of_systems, frame_of_curve
from grater.model import Interval, Json
from grater.result import FLAT, HIDDEN, OPTIONAL, Data, Estimate, Result, encode, in_json, key
from grater.sheet import UNDEFINED, Sheet, count, counted, interval, number, undefined_notes, without_empty_columns
from grater.signature import Signature, digest
from grater.tables import Judgments, Table, with_confidence, without_flags
from grater.uncertainty.bootstrap import Chance, patterns
from grater.uncertainty.intervals import Scope

WITH_UNKNOWN, WITHOUT_UNKNOWN = "with unknown", "without unknown"
MANY_TIES = 0.2
"""The share of tied items from which a warning speaks of them."""
MOST_DIFFERENT = 5
"""Pairs of parts with different error rates that a warning names."""
SHOWN = {"precision": "precision", "recall": "recall", "f0.5": "F0.5"}
"""The scores in tables, with their titles."""
MOST_RATERS = 40
"""Raters that a table has a row for."""
LONGEST_BAR = 40
TIED = "{} with as many votes for error as for ok: each counts half on both sides."
SCORES_OF_SUGGESTIONS = {
    "any_rater": "some rater's",
    "graded": "mean share of raters",
    "recall": "recall",
    "adjudicated": "adjudicated",
    "adjudicated_recall": "recall of adjudicated",
}


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """How to evaluate: one set for a whole report, named in its signature.

    Items on which a rater set one of the flags `contexts`, or judged below `least_confidence`, are shown apart.
    With `redundancy` N, shares of votes are of the first N judgments of each item (`cases.py`).  `is_brief`: only the
    scores against the truth, for a page that is looked at while people work.
    """

    truth: str = "majority"
    edges: Sequence[float] = EDGES
    chance: Chance = field(default_factory=Chance)
    unknown: Unknown = "drop"
    by: str = ""
    contexts: tuple[str, ...] = ()
    least_confidence: float | None = None
    redundancy: int = 0
    is_brief: bool = False
    errors_by_flag: bool | None = False


def _bars(histogram: Iterable[tuple[float, float, int]]) -> list[dict[str, Json]]:
    return [{"low": low, "high": high, "n": n} for low, high, n in histogram]


@dataclass(frozen=True, slots=True, eq=False)
class Part(Data):
    """All results on some items; `weighted` is empty where the truth has no grades."""

    n_items: int
    n_unjudged: int
    flagged_unjudged: dict[str, int] = field(metadata=HIDDEN)
    standard: tuple[Scored, ...] = field(metadata=HIDDEN)
    by_rater: dict[str, list[Scored]] = field(default_factory=dict, metadata=HIDDEN)
    weighted: tuple[Scored, ...] = field(default=(), metadata=HIDDEN)
    bins: tuple[Bin, ...] = field(default=(), metadata=HIDDEN)
    histogram: tuple[tuple[float, float, int], ...] = field(default=(), metadata=key("agreement", write=_bars))
    bounds: tuple[Bounds, ...] = field(default=(), metadata=HIDDEN)
    n_tied: int = field(default=0, metadata=HIDDEN)

    @property
    def n_judged(self) -> int:
        return self.n_items - self.n_unjudged

    @property
    @in_json()
    def systems(self) -> list[dict[str, Json]]:
        return [self._system(number) for number in range(len(self.standard))]

    def _system(self, number: int) -> dict[str, Json]:
        standard = self.standard[number]
        return {
            "system": standard.system,
            "n": standard.n,
            **standard.as_json(),
            "kappa": standard["kappa"].as_json(),
            "error_rate": standard["error_rate"].as_json(),
            **({"design_effect": encode(standard.design_effect)} if standard.design_effect else {}),
            "flagged_unjudged": self.flagged_unjudged[standard.system],
            **({"bounds": self.bounds[number].to_dict()} if self.bounds else {}),
            **({"weighted": self.weighted[number].as_json()} if self.weighted else {}),
            "bins": [within.of_system(number) for within in self.bins],
            **self._raters(number),
        }

    def _raters(self, number: int) -> dict[str, Json]:
        if not self.by_rater:
            return {}
        of_raters = {rater: scored[number] for rater, scored in self.by_rater.items()}
        rows: list[Json] = [
            {"rater": rater, "n": scored.n, **scored.as_json()} for rater, scored in of_raters.items()
        ]
        spreads = {name: asdict(spread([scored[name] for scored in of_raters.values()])) for name in HEADLINE}
        return {"by_rater": rows, "spread": encode(spreads)}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Evaluation(Result):
    """The whole, its parts by a column, and how it was made; `shows_weighted` and `shows_bins` are for its tables."""

    cases: Cases = field(metadata=key("raters", write=lambda cases: list(cases.raters)))
    truth: Truth = field(metadata=key(write=lambda truth: truth.name))
    whole: Part = field(metadata=FLAT)
    parts: dict[str, Part] = field(metadata=OPTIONAL)
    signature: Signature
    warnings: tuple[str, ...] = ()
    corrected: tuple[Scored, ...] = field(default=(), metadata=HIDDEN)
    correction: Correction | None = field(default=None, metadata=HIDDEN)
    suggestions: tuple[Suggested, ...] = field(default=(), metadata=OPTIONAL)
    curves: tuple[Curve, ...] = field(default=(), metadata=HIDDEN)
    different: Different | None = field(default=None, metadata=key("different_data", optional=True))
    types: tuple[TypeScore, ...] = field(default=(), metadata=key("by_type", optional=True))
    scope: Scope = field(default_factory=Scope)
    chance: Chance = field(default_factory=Chance, metadata=HIDDEN)
    shows_weighted: bool = field(default=True, metadata=HIDDEN)
    shows_bins: bool = field(default=True, metadata=HIDDEN)

    @property
    def systems(self) -> tuple[Scored, ...]:
        """Every system against the truth, on all items."""
        return self.whole.standard

    @property
    @in_json("curve", optional=True)
    def _curve(self) -> list[dict[str, Json]]:
        return [{**curve.to_dict(), "signature": str(curve.signature(self.signature))} for curve in self.curves]

    @property
    @in_json(flat=True)
    def _corrected(self) -> dict[str, Json]:
        """The scores after the correction, and how raters err; nothing without gold."""
        if self.correction is None:
            return {}
        scores = {scored.system: {name: scored[name].as_json() for name in HEADLINE} for scored in self.corrected}
        return {"corrected": scores, "rater_error": self.correction.raters.to_dict()}

    def estimates(self) -> Iterator[Estimate]:
        """Scores by part, kind (standard, weighted, corrected, a rater or a bin) and system."""
        for name, part in {"": self.whole, **self.parts}.items():
            of_kinds = [("standard", part.standard), ("weighted", part.weighted)]
            of_kinds += [(f"rater {rater}", tuple(scored)) for rater, scored in part.by_rater.items()]
            of_kinds += [(f"agreement {within.title}", within.systems) for within in part.bins]
            for kind, systems in of_kinds:
                for scored in systems:
                    yield from each_score(scored.scores, part=name, kind=kind, system=scored.system)
        for scored in self.corrected:
            yield from each_score(scored.scores, part="", kind="corrected", system=scored.system)

    def curve_frame(self) -> pl.DataFrame:
        """One row per threshold of every curve."""
        return pl.concat([frame_of_curve(curve, curve.signature(self.signature)) for curve in self.curves])

    def sheets(self) -> list[Sheet]:
        """Systems against the truth and each rater, weighted scores and bins of agreement."""
        first, *others = _sheets(self, weighted=self.shows_weighted, bins=self.shows_bins)
        effects = effects_note({scored.system: scored.design_effect for scored in self.whole.standard})
        first = replace(
            first,
            notes=(
                *first.notes,
                *undefined_notes(
                    scored[name] for scored in (*self.whole.standard, *self.whole.weighted) for name in SHOWN
                ),
                *([effects] if effects else []),
            ),
        )
        *sheets, last = with_words([first, *others], [self.scope.sentence])
        return [*sheets, replace(last, signature=str(self.signature))]


def evaluate(
    decisions: Table,
    judgments: Judgments,
    *,
    items: Table | None = None,
    gold: Table | None = None,
    merge: Mapping[str, str] | None = None,
    options: EvaluationOptions | None = None,
    corrections: Table | None = None,
    with_suggestions: bool = False,
    with_curves: bool = False,
    higher: Higher = "auto",
    on_gold: Judgments | None = None,
) -> Evaluation:
    """Every system of the decisions against the raters; gold is the truth if adjudicated, else it corrects.

    Answers to gold are among the judgments, or in `on_gold` where the gold items were hidden among others.
    Suggestions are scored where `with_suggestions` or adjudicated `corrections` ask for it, and every threshold where
    `with_curves` does.
    """
    options = options or EvaluationOptions()
    cases = cases_of(decisions, judgments, items=items, unknown=options.unknown, first=options.redundancy)
    truth = truth_of(cases, options.truth, gold=gold, seed=options.chance.seed)
    chance, because = settled(options.chance, cases.columns.filter(~np.isnan(truth.values)))
    options = replace(options, chance=chance)
    whole = _part(cases, truth, options, None)
    apart = _within_one(options)
    parts = {name: _part(cases, truth, apart, where) for name, where in _parts(cases, options).items()}
    answers = judgments if on_gold is None else as_many_votes(on_gold, judgments, truth=options.truth)
    correction = correction_of(answers, gold, options, merge=merge, systems=cases.systems, decisions=decisions)
    suggested: Sequence[Suggested] = ()
    if with_suggestions or corrections is not None:
        suggested = suggestions(
            decisions, judgments, corrections=corrections, n_resamples=chance.n_resamples, seed=chance.seed
        )
    curves, without_curve = (
        curves_of_systems(cases, decisions, truth, chance=chance, higher=higher) if with_curves else ((), ())
    )
    warnings = [*spelling_warnings(judgments), *unset_flags(judgments, options.contexts)]
    warnings += [*_warnings(cases, whole, parts), *unequal(cases, options.redundancy), *_uncorrected(correction)]
    warnings += [*without_curve, *(warning for curve in curves for warning in curve.warnings)]
    evaluation = Evaluation(
        cases=cases,
        truth=truth,
        whole=whole,
        parts=parts,
        signature=_signature(cases, options, correction),
        warnings=tuple(warnings),
        corrected=tuple(corrected_scores(cases, truth, correction, chance=chance)) if correction else (),
        correction=correction,
        suggestions=tuple(suggested),
        curves=tuple(curves),
        scope=scope_of_cases(cases, truth, chance, because, whole.standard),
        chance=chance,
        types=() if options.is_brief else tuple(scores_by_type(cases, decisions, truth, chance=chance)),
    )
    return _with_different(evaluation, options)


def _with_different(evaluation: Evaluation, options: EvaluationOptions) -> Evaluation:
    """The evaluation with what can be said of systems on different items, and the warnings on essays first."""
    cases, truth = evaluation.cases, evaluation.truth
    different = None if options.is_brief else different_data(cases, truth, chance=options.chance, edges=options.edges)
    more = different.warnings if different else ()
    scope = evaluation.scope.of_each if different else evaluation.scope
    warnings = (*evaluation.scope.warnings, *more, *evaluation.warnings)
    return replace(evaluation, different=different, scope=scope, warnings=warnings)


def scope_of_cases(
    cases: Cases,
    truth: Truth,
    chance: Chance,
    because: str,
    scored: Sequence[Scored] = (),
    *,
    where: Truths | None = None,
) -> Scope:
    """What the intervals on these cases speak of; the design effect is the largest that a table shows."""
    known = ~np.isnan(truth.values) if where is None else where & ~np.isnan(truth.values)
    effects = [system.design_effect.get(name, nan) for system in scored for name in SHOWN]
    effect = max((effect for effect in effects if not isnan(effect)), default=nan)
    if chance.population == "these":
        n_units = len(cases)
    elif chance.unit in ("essay", "document"):
        n_units = len(np.unique(cases.clusters(chance.unit)[0][known]))
    else:
        n_units = int(known.sum())
    return scope_of(chance, n_units=n_units, n_raters=len(cases.raters), because=because, effect=effect)


def _signature(cases: Cases, options: EvaluationOptions, correction: Correction | None) -> Signature:
    bins = ",".join(f"{edge:g}" for edge in options.edges)
    named = {**_apart(options), **(correction.options if correction else {})}
    return signature_of(cases, options, bins=bins, **named)


def _uncorrected(correction: Correction | None) -> list[str]:
    if correction is None:
        return []
    raters = correction.raters
    lines = [left_out_words(raters)] if raters.n_left_out else []
    if raters.undefined_because:
        return [f"nothing is corrected: {raters.undefined_because}", *lines]
    return [*correction.warnings, *lines]


def correction_of(
    judgments: Judgments,
    gold: Table | None,
    options: EvaluationOptions,
    *,
    merge: Mapping[str, str] | None = None,
    systems: Sequence[str] = (),
    decisions: Table | None = None,
) -> Correction | None:
    """How raters err on gold, by side where asked; none without gold, or where gold itself is the truth."""
    if gold is None or options.truth == ADJUDICATED:
        return None
    chance = options.chance
    read = partial(rater_error, truth=options.truth, merge=merge, unknown=options.unknown, level=chance.level)
    of_gold = partial(read, judgments, gold, seed=chance.seed)
    sides = {} if decisions is None else {system: sides_of(of_gold, decisions, system) for system in systems}
    return correction_by_side(of_gold(), gold, sides, by_flag=options.errors_by_flag)


def _part(cases: Cases, truth: Truth, options: EvaluationOptions, where: Truths | None) -> Part:
    chance, known = options.chance, ~np.isnan(truth.values)
    here = np.ones(len(cases), bool) if where is None else where
    silent = here & ~known
    part = Part(
        int(here.sum()),
        int(silent.sum()),
        dict(zip(cases.systems, (cases.flagged[silent] == 1).sum(axis=0).tolist(), strict=True)),
        tuple(against(cases, truth, chance=chance, where=where)),
        n_tied=int((here & (truth.values == TIE)).sum()) if not truth.is_graded else 0,
    )
    if silent.any():
        part = replace(part, bounds=tuple(_bounds(cases.flagged[silent], part.standard)))
    if options.is_brief:
        return part
    hard = truth_of(cases, "majority") if truth.is_graded else truth
    has_raters = not cases.judgments.anonymous_raters
    return replace(
        part,
        by_rater=each_rater(cases, chance=chance, where=where) if has_raters else {},
        weighted=tuple(weighted(cases, truth, chance=chance, where=where)),
        bins=tuple(binned(cases, hard, chance=chance, edges=options.edges, where=where)),
        histogram=tuple(histogram(cases, where=where)),
    )


def _bounds(flagged: Flags, scored: Sequence[Scored]) -> Iterator[Bounds]:
    for flags, system in zip(flagged.T, scored, strict=True):
        yield Bounds(system.system, int((flags == 1).sum()), int((flags == 0).sum()), system.counts)


def _within_one(options: EvaluationOptions) -> EvaluationOptions:
    """Where each part is one essay, or one document, the items in it are what can be drawn."""
    if options.by not in ("essay", "document"):
        return options
    return replace(options, chance=replace(options.chance, cluster="item"))


def _parts(cases: Cases, options: EvaluationOptions) -> dict[str, Truths]:
    parts = parts_by(cases, options.by)
    if options.unknown == "apart":
        parts |= {WITHOUT_UNKNOWN: ~cases.has_unknown, WITH_UNKNOWN: cases.has_unknown}
    if options.contexts:
        doubtful = _touched(cases, without_flags(cases.judgments, options.contexts))
        parts |= {"without flagged contexts": ~doubtful, "with flagged contexts": doubtful}
    if options.least_confidence is not None:
        parts |= _by_confidence(cases, options.least_confidence)
    return parts


def _by_confidence(cases: Cases, least: float) -> dict[str, Truths]:
    """Items with a judgment of low confidence, without one, and those where a rater did not state any."""
    judgments, stated = cases.judgments, pl.col("confidence")
    doubtful = _touched(cases, with_confidence(judgments, least))
    low = _touched(cases, replace(judgments, frame=judgments.frame.filter(stated.fill_null(least) >= least)))
    parts = {"without low confidence": ~doubtful, "with low confidence": low}
    return {**parts, "confidence not stated": doubtful & ~low} if (doubtful & ~low).any() else parts


def _apart(options: EvaluationOptions) -> dict[str, str]:
    """What was shown apart, for the signature."""
    flags = {"contexts": ",".join(options.contexts)} if options.contexts else {}
    least = options.least_confidence
    return flags if least is None else {**flags, "confidence": f"{least:g}"}


def unequal(cases: Cases, redundancy: int) -> list[str]:
    """What a reader of shares must know where items do not have the same number of judgments."""
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
    return {f"{column} {name}": codes == code for code, name in enumerate(names)}


def signature_of(cases: Cases, options: EvaluationOptions, *, what: str = "evaluate", **named_too: str) -> Signature:
    """How the numbers were made; `data` knows flags and votes, neither the order of rows nor names of raters."""
    chance = options.chance
    columns = [*cases.flagged.T, cases.n_error, cases.n_votes]
    columns += [cases.equal.n_error, cases.equal.n_votes] if options.redundancy else []
    rows, times = patterns(columns)
    data = digest([*cases.systems, rows.T.astype(np.int64).tobytes().hex(), times.tobytes().hex()])
    named = {"truth": options.truth, "units": chance.cluster, "unknown": options.unknown, "zero": "nan"}
    drawn = {"resamples": str(chance.n_resamples), "seed": str(chance.seed), "level": f"{chance.level:g}"}
    is_plain = chance.is_by_item and options.truth != "share"
    shares = {"shares": "wilson" if is_plain else "wilson-t" if is_clustered(chance) else "bootstrap"}
    drawn |= {"population": "these"} if chance.population == "these" else {}
    dropped = {"dropped": str(sum(cases.judgments.dropped.values()))} if cases.judgments.dropped else {}
    dropped |= {"redundancy": f"first-{options.redundancy}"} if options.redundancy else {}
    return Signature(what, {**named, **drawn, **shares, **dropped, **named_too, "data": data})


def _warnings(cases: Cases, whole: Part, parts: dict[str, Part]) -> Iterator[str]:
    if cases.n_stray:
        yield f"{cases.n_stray:,} judged items are left out: no system decided on them"
    if whole.n_unjudged:
        yield f"{whole.n_unjudged:,} of {whole.n_items:,} items have no usable judgment: shown in a separate row"
    if cases.n_unknown:
        yield f"{cases.n_unknown:,} judgments say unknown and do not count as votes"
    if whole.n_judged and whole.n_tied >= MANY_TIES * whole.n_judged:
        tied = f"{whole.n_tied:,} of {counted(whole.n_judged, 'judged item')} are ties between raters"
        yield f"{tied}: each is half an error, so scores are pulled towards one half whatever a system does"
    yield from small_bins(whole.bins)
    yield from _different(parts)


def _different(parts: dict[str, Part]) -> list[str]:
    """Parts whose error rates differ; the first few pairs are named, for many parts have very many pairs."""
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
    yield _scores(f"Against {evaluation.truth.name}, {counted(whole.n_judged, 'item')}", whole.standard, whole)
    if whole.bounds:
        yield bounds_sheet(whole.bounds)
    if (correction := evaluation.correction) and not correction.raters.undefined_because:
        sheet = _scores("Corrected for what raters get wrong", evaluation.corrected)
        yield replace(sheet, notes=correction.notes(systems))
    if len(whole.by_rater) > 1:
        yield from (_raters(whole, place, system) for place, system in enumerate(systems))
    if weighted:
        yield _scores("Weighted by the share of raters", whole.weighted)
    if bins:
        yield from (_bins(whole, place, system) for place, system in enumerate(systems))
        yield _histogram(whole)
    for name, part in evaluation.parts.items():
        yield _scores(f"{name}: {counted(part.n_judged, 'item')}", part.standard, part)
        if weighted:
            yield _scores(f"{name}, weighted", part.weighted)
    if evaluation.types:
        yield types_sheet(evaluation.types, whole.standard)
    if evaluation.different:
        yield from evaluation.different.sheets()
    if evaluation.suggestions:
        yield _suggestions(evaluation.suggestions)


def _scores(title: str, systems: Sequence[Scored], part: Part | None = None) -> Sheet:
    columns = ("", *SHOWN.values(), "hits", "false", "misses")
    rows = [
        (scored.system, *(interval(scored[name]) for name in SHOWN), *map(count, scored.counts.row()[:3]))
        for scored in systems
    ]
    ties = (TIED.format(counted(part.n_tied, "item")),) if part and part.n_tied else ()
    if part is None or not part.n_unjudged:
        return Sheet(title, columns, tuple(rows), notes=ties, name="scores")
    rows.append(("not judged", *[UNDEFINED] * (len(columns) - 1)))
    flags = ", ".join(f"{n:,} flagged by {system}" for system, n in part.flagged_unjudged.items())
    note = f"not judged: {part.n_unjudged:,} items have no usable judgment; {flags}"
    return Sheet(title, columns, tuple(rows), notes=(*ties, note), name="scores", rules=(len(rows) - 1,))


def _raters(part: Part, place: int, system: str) -> Sheet:
    """One system against each rater in turn, and how far apart the raters are."""
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
        (f"{100 * low:g}-{100 * high:g} %", count(n), "█" * -(-n * LONGEST_BAR // most))
        for low, high, n in part.histogram
    ]
    return Sheet("Items by agreement of raters", ("", "items", ""), tuple(rows), name="agreement")


def _suggestions(suggested: Sequence[Suggested]) -> Sheet:
    rows = [
        (
            system.system,
            count(system.n),
            count(system.n_blank),
            *(interval(getattr(system, name)) for name in SCORES_OF_SUGGESTIONS),
        )
        for system in suggested
    ]
    columns = ("", "judged", "blank", *SCORES_OF_SUGGESTIONS.values())
    return without_empty_columns(Sheet("Suggestions", columns, tuple(rows), name="suggestions"))


# Verification


NO_RECALL = "only flagged items were judged: misses are unknown, so recall is undefined; estimate it from a sample"


@dataclass(frozen=True, slots=True, eq=False)
class Verified(Data):
    """One system's flags: how many, how many judged, and the share that are right."""

    system: str
    n_flagged: int
    n_judged: int
    hit: float = field(metadata=HIDDEN)
    false_alarm: float = field(metadata=HIDDEN)
    precision: Interval
    design_effect: float = field(default=nan, metadata=HIDDEN)

    @property
    @in_json()
    def recall(self) -> Interval:
        return Interval(nan, nan, nan, NO_RECALL)

    @property
    @in_json()
    def counts(self) -> dict[str, float]:
        return {"hit": self.hit, "false_alarm": self.false_alarm}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Verification(Result):
    """The precision of every system, on all items and on parts of them."""

    systems: tuple[Verified, ...]
    signature: Signature
    parts: Mapping[str, Sequence[Verified]] = field(default_factory=dict, metadata=OPTIONAL)
    scope: Scope = field(default_factory=Scope)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Few essays, and the systems of which not every flag was judged."""
        return self.scope.warnings + tuple(
            f"{system.system}: {system.n_flagged - system.n_judged} of {system.n_flagged} flags are not judged"
            for system in self.systems
            if system.n_judged < system.n_flagged
        )

    def estimates(self) -> Iterator[Estimate]:
        for name, part in {"": self.systems, **self.parts}.items():
            for verified in part:
                yield from each_score({"precision": verified.precision}, part=name, system=verified.system)

    def sheets(self) -> list[Sheet]:
        parts = {"Flags that raters call errors": self.systems, **self.parts}
        *sheets, last = with_words((_sheet(title, part) for title, part in parts.items()), [self.scope.sentence])
        return [*sheets, replace(last, notes=(f"{NO_RECALL}.", *last.notes), signature=str(self.signature))]


def _sheet(title: str, part: Sequence[Verified]) -> Sheet:
    rows = [
        (
            verified.system,
            count(verified.n_flagged),
            count(verified.n_judged),
            count(verified.hit),
            interval(verified.precision),
        )
        for verified in part
    ]
    return Sheet(title, ("", "flags", "judged", "right", "precision"), tuple(rows), name="verified")


def verify(
    decisions: Table,
    judgments: Judgments,
    *,
    items: Table | None = None,
    gold: Table | None = None,
    options: EvaluationOptions | None = None,
) -> Verification:
    """The precision of every system from judged flags; `gold` is the truth where that is adjudicated."""
    options = options or EvaluationOptions()
    cases = cases_of(decisions, judgments, items=items, unknown=options.unknown)
    truth = truth_of(cases, options.truth, gold=gold, seed=options.chance.seed)
    is_flagged = (cases.flagged == 1).any(axis=1)
    chance, because = settled(options.chance, cases.columns.filter(is_flagged & ~np.isnan(truth.values)))
    parts = {
        name: verified(cases, truth, chance=chance, where=where)
        for name, where in parts_by(cases, options.by).items()
    }
    systems = verified(cases, truth, chance=chance)
    scope = scope_of_cases(cases, truth, chance, because, where=is_flagged)
    effects = [system.design_effect for system in systems if not isnan(system.design_effect)]
    return Verification(
        systems=tuple(systems),
        signature=signature_of(
            cases, replace(options, chance=chance), what="verify", fpc="yes" if chance.population == "these" else "no"
        ),
        parts=parts,
        scope=replace(scope, design_effect=max(effects, default=nan)),
    )


def verified(cases: Cases, truth: Truth, *, chance: Chance, where: Truths | None = None) -> list[Verified]:
    """The precision of every system on the items that it flagged itself."""
    systems = []
    for column in range(len(cases.systems)):
        is_flagged = (cases.flagged[:, column] == 1) & (True if where is None else where)
        scored = against(cases, truth, chance=chance, where=is_flagged)[column]
        systems.append(
            Verified(
                system=scored.system,
                n_flagged=int(is_flagged.sum()),
                n_judged=int((is_flagged & ~np.isnan(truth.values)).sum()),
                hit=scored.counts.hit,
                false_alarm=scored.counts.false_alarm,
                precision=scored["precision"],
                design_effect=scored.design_effect.get("precision", nan),
            )
        )
    return systems
