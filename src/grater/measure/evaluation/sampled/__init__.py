"""Precision and recall of systems from a judged sample.

T&C 2008, section 6: draw from what the system flags and from what it does not, judge the draw, weight the verdicts by
the sizes of the strata.  The paper's normal intervals stand beside ours (`uncertainty/stratified.py`).  Departures:
several systems and versions share one sample; a drawn item without a usable judgment is left out of its cell, as if
it had not been drawn, and is counted.  Intervals are for a wider population, other essays like these, and draw essays
where these are known (`resampled.py`), else items.  For the population `these` they are about which items of this
corpus were drawn and nothing else, so a corpus judged whole has intervals without width.  With gold items, scores are
also corrected for what raters get wrong (`results.py`).

With fewer than three errors among the judged items that a system does not flag, no interval for recall is to be
trusted; a warning says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan

import polars as pl

from grater.errors import BadInput, Problem, UsageError
from grater.measure.agreement.coded import Unknown
from grater.measure.evaluation.cases import ADJUDICATED, Truth, Votes, frame_of_truth, truth_of, votes_of
from grater.measure.evaluation.sampled.estimates import (
    Assisted,
    Cells,
    CheapJudge,
    Members,
    SystemEstimate,
    TypedPart,
    Weights,
    assisted,
    cells_of,
    differences,
    horvitz_thompson,
    judgments_saved,
    knows_essays,
    members_of,
    parts_of,
    precision_only,
    truth_of_type,
    typed_parts,
    units_of_items,
    weights_of,
    with_recall,
    without_unknown,
)
from grater.measure.evaluation.sampled.resampled import Resampled, resample_sample
from grater.measure.evaluation.sampled.results import Sampled, correct
from grater.measure.sampling.draw import draws_of
from grater.measure.sampling.plan import system_names
from grater.sheet import count, counted
from grater.signature import Signature, digest
from grater.tables import Judgments, Sample, Table
from grater.uncertainty.bootstrap import Chance, Cluster
from grater.uncertainty.intervals import AS_ASKED, ESSAYS_UNKNOWN, RESAMPLES, Population, Scope
from grater.uncertainty.stratified import Stratum, expected_misses, normal_scores, scores

__all__ = ["Sampled", "SystemEstimate", "chance_of", "sampled"]

FEW_MISSES = 3


@dataclass(frozen=True, slots=True, eq=False)
class SampleInputs:
    """What estimates are made from: a corpus with its sample, the votes, and how to read them."""

    decisions: Table
    sample: Sample
    members: Members
    votes: Votes
    truth: Truth
    chance: Chance
    population: Population
    units: pl.DataFrame | None
    knows_essays: bool = False
    assist: CheapJudge | None = None

    @property
    def is_finite(self) -> bool:
        return self.population == "these" and self.chance.is_by_item


def chance_of(
    decisions: Table,
    sample: Sample,
    *,
    items: Table | None = None,
    cluster: Cluster | None = None,
    population: Population = "wider",
    n_resamples: int = RESAMPLES,
    seed: int = 0,
) -> Chance:
    """What is drawn unless somebody says: essays where they are known and stand for others, else items."""
    if population == "these" and cluster not in (None, "auto", "item", "rater"):
        raise UsageError(f"with exactly these items there is no other {cluster} to draw; use the population wider")
    if cluster is None or cluster == "auto":
        draws_essays = population == "wider" and knows_essays(decisions, items, sample)
        cluster = "essay" if draws_essays else "item"
    return Chance(cluster, n_resamples, seed)


def sampled(
    decisions: Table,
    sample: Sample,
    judgments: Judgments,
    *,
    systems: Sequence[str] = (),
    truth: str = "majority",
    labels: Judgments | None = None,
    items: Table | None = None,
    by: str = "",
    unknown: Unknown = "drop",
    gold: Table | None = None,
    merge: Mapping[str, str] | None = None,
    population: Population = "wider",
    chance: Chance | None = None,
    assist: CheapJudge | None = None,
    errors_by_flag: bool = False,
) -> Sampled:
    """Estimates for the systems named, or for those the sample was drawn for.

    With gold items, which need not be in the sample, they are corrected for what raters get wrong as well.
    """
    if truth == ADJUDICATED:
        raise UsageError("an adjudicated truth needs every item judged; give it here as the judgments of one rater")
    chance = chance or chance_of(decisions, sample, items=items, population=population)
    names = tuple(systems) or _drawn_systems(decisions, sample)
    votes = votes_of(judgments, unknown=unknown)
    by_unit = chance.unit not in ("", "item")
    units = units_of_items(decisions, items, chance.unit, sample=sample) if by_unit else None
    study = SampleInputs(
        decisions=decisions,
        sample=sample,
        members=members_of(decisions, sample, names, labels=labels),
        votes=votes,
        truth=truth_of(votes, truth, seed=chance.seed),
        chance=chance,
        population=population,
        units=units,
        knows_essays=knows_essays(decisions, items, sample),
        assist=assist,
    )
    estimates = _with_parts(study, judgments.name, items=items, by=by, unknown=unknown, gold=gold)
    if gold is None:
        return estimates
    correction = correct(
        estimates,
        judgments,
        gold,
        truth=truth,
        merge=merge,
        unknown=unknown,
        fpc=study.is_finite,
        seed=chance.seed,
        decisions=decisions,
        by_flag=errors_by_flag,
    )
    return replace(estimates, correction=correction)


def _with_parts(
    study: SampleInputs, name: str, *, items: Table | None, by: str, unknown: Unknown, gold: Table | None
) -> Sampled:
    """The estimates of the whole, and of each part in which anything was judged; `name` is that of the judgments."""
    signature = _signature(study, by=by, unknown=unknown)
    whole = _estimated(study, signature)
    if not whole.n_judged:
        message = f"expected judgments of the {whole.n_drawn} items of {study.sample.name}, found none"
        raise BadInput(Problem(name, message))
    parts = dict(_parts(study, signature, items=items, by=by, unknown=unknown))
    empty = [f"{part}: nothing was judged there; it is left out" for part in parts if not parts[part].n_judged]
    kept = {part: estimates for part, estimates in parts.items() if estimates.n_judged}
    warnings = (*_left_out(study, whole.n_unjudged, gold), *whole.scope.warnings, *whole.warnings, *empty)
    return replace(whole, warnings=warnings, parts=kept)


def _drawn_systems(decisions: Table, sample: Sample) -> tuple[str, ...]:
    draws = draws_of(sample)
    return tuple(draw.system for draw in draws) if draws else tuple(system_names(decisions))


def _estimated(study: SampleInputs, signature: Signature) -> Sampled:
    """All systems on the items of a study; no system where nothing was judged."""
    verdicts = frame_of_truth(study.votes, study.truth)
    plain = cells_of(study.members, verdicts)
    cells, weights = plain, None
    if study.assist is not None:
        weights = weights_of(study.members, plain, verdicts, study.assist)
        cells = assisted(plain, weights)
    empty = _without_systems(cells, signature)
    if not empty.n_judged:
        return empty
    again = _redrawn(study, cells, weights)
    systems = tuple(_estimate(study, plain, name, verdicts, again, cells) for name in study.members.systems)
    pairs = differences(cells, fpc=study.is_finite, level=study.chance.level)
    return replace(
        empty,
        systems=systems,
        differences=tuple(again.difference(pair) if again else pair for pair in pairs),
        warnings=tuple(_warnings(systems)),
        scope=_scope(study, cells, systems),
        assist=_assisted(study, systems),
        again=again,
    )


def _without_systems(cells: Cells, signature: Signature) -> Sampled:
    return Sampled(
        systems=(),
        differences=(),
        n_items=cells.n_items,
        n_drawn=sum(cell.n_drawn for cell in cells.cells),
        n_judged=round(sum(cell.n_judged for cell in cells.cells)),
        warnings=(),
        signature=signature,
    )


def _assisted(study: SampleInputs, systems: Sequence[SystemEstimate]) -> Assisted | None:
    if study.assist is None:
        return None
    return Assisted(study.assist.name, {system.system: judgments_saved(system.strata) for system in systems})


def _scope(study: SampleInputs, cells: Cells, systems: Sequence[SystemEstimate]) -> Scope:
    """What the intervals speak of; the design effect is the largest of any precision or recall."""
    effects = [effect for system in systems for effect in system.design_effects.values() if effect == effect]
    n_units = round(cells.n_items) if study.units is None else study.units["unit"].n_unique()
    return Scope(
        unit=study.chance.unit,
        n_units=n_units if study.chance.unit else 0,
        population=study.population,
        design_effect=max(effects, default=nan),
        n_raters=len(study.votes.raters) if study.chance.with_raters else 0,
        independent_because=AS_ASKED if study.knows_essays else ESSAYS_UNKNOWN,
        level=study.chance.level,
    )


def _redrawn(study: SampleInputs, cells: Cells, weights: Weights | None) -> Resampled | None:
    if study.chance.is_by_item:
        return None
    return resample_sample(
        study.members, cells, study.votes, study.truth, chance=study.chance, units=study.units, assist=weights
    )


def _estimate(
    study: SampleInputs, plain: Cells, system: str, verdicts: pl.DataFrame, again: Resampled | None, cells: Cells
) -> SystemEstimate:
    """One system; `plain` cells know nothing of a cheap judge."""
    strata, fpc, level = cells.of(system), study.is_finite, study.chance.level
    unassisted = plain.of(system)
    ours = scores(strata, fpc=fpc, n_items=cells.n_counted, level=level)
    effects = {}
    if again:
        ours = again.scores(system, ours)
        effects = {name: again.design_effect(unassisted, name) for name in ("precision", "recall")}
    return SystemEstimate(
        system=system,
        scores=ours,
        paper=normal_scores(unassisted, level=level),
        weighted=horvitz_thompson(study.decisions, study.sample, verdicts, system, fpc=fpc, level=level),
        strata=tuple(strata),
        design_effects=effects,
    )


def _parts(
    study: SampleInputs, signature: Signature, *, items: Table | None, by: str, unknown: Unknown
) -> Iterator[tuple[str, Sampled]]:
    for name, inside in parts_of(study.decisions, items, by).items() if by else ():
        here = pl.DataFrame({"item": inside})
        part = replace(
            study,
            decisions=replace(study.decisions, frame=study.decisions.frame.join(here, on="item", how="semi")),
            sample=replace(study.sample, frame=study.sample.frame.join(here, on="item", how="semi")),
            members=study.members.only(inside),
        )
        yield f"{by} {name}", _estimated(part, signature)
    for typed in typed_parts(study.decisions, study.members, items):
        own = _estimated(replace(study, decisions=typed.decisions, members=typed.members), signature)
        yield f"type {typed.name}", own if typed.has_recall else _typed(study, typed, own, signature)
    if unknown == "apart":
        known = without_unknown(study.votes, study.truth)
        yield "without unknown", _estimated(replace(study, truth=known), signature)


def _typed(study: SampleInputs, typed: TypedPart, own: Sampled, signature: Signature) -> Sampled:
    """Precision of the flags of a type; recall where raters say of which type an error is, and are not drawn."""
    truth = None if study.chance.with_raters else truth_of_type(study.votes, study.truth, typed.name)
    if truth is None:
        systems = tuple(precision_only(system) for system in own.systems)
    else:
        inside = study.sample.frame.join(typed.of_any_type.frame.select("item"), on="item", how="semi")
        sample = replace(study.sample, frame=inside)
        others = _estimated(replace(study, sample=sample, members=typed.of_any_type, truth=truth), signature)
        systems = tuple(with_recall(*pair) for pair in zip(own.systems, others.systems, strict=True))
    return replace(own, systems=systems, differences=(), warnings=())


def _left_out(study: SampleInputs, n_unjudged: int, gold: Table | None) -> Iterator[str]:
    """What has no part in the estimates, and how much of it there is."""
    if n_unjudged:
        without = counted(n_unjudged, "drawn item")
        yield f"{without} without a usable judgment, taken to be like the rest of a stratum"
    if study.votes.n_unknown:
        yield f"{study.votes.n_unknown:,} judgments say unknown and are left out"
    known = [study.sample.frame, *([gold.frame] if gold is not None else [])]
    items = pl.concat([frame.select(pl.col("item").cast(pl.String)) for frame in known])
    strangers = study.votes.items.to_frame("item").join(items, on="item", how="anti")
    if len(strangers):
        yield f"{len(strangers):,} judged items are not in the sample and are left out"


def _warnings(estimates: Sequence[SystemEstimate]) -> Iterator[str]:
    for estimate in estimates:
        sides = [
            [part for part in estimate.strata if part.is_flagged == side and part.size > 0] for side in (True, False)
        ]
        yield from _whole_sides(estimate.system, *sides)
        n_misses = expected_misses(estimate.strata)
        if n_misses < FEW_MISSES and any(part.n_judged for part in sides[1]):
            yield (
                f"{estimate.system}: the judged items hold {count(n_misses)} of the errors it missed; with fewer "
                f"than {FEW_MISSES}, its interval for recall holds less often than it says: judge more items that "
                "it does not flag"
            )
        empty = sum(part.size for side in sides for part in side if not part.n_judged and any(_judged(side)))
        if empty:
            unjudged = f"nothing was judged in strata of {count(empty)} items"
            yield f"{estimate.system}: {unjudged}; taken to be like the rest"


def _whole_sides(system: str, flagged: Sequence[Stratum], rest: Sequence[Stratum]) -> Iterator[str]:
    """A side that is not there, or of which nobody judged anything."""
    if not rest and flagged:
        yield f"{system} flags every item: its recall is 1 by definition, not an estimate"
    if rest and not any(_judged(rest)):
        yield f"{system}: nothing that it does not flag was judged, so recall and F are not known"
    if flagged and not any(_judged(flagged)):
        yield f"{system}: nothing that it flags was judged, so precision, recall and F are not known"


def _judged(side: Sequence[Stratum]) -> Iterator[bool]:
    return (part.n_judged > 0 for part in side)


def _signature(study: SampleInputs, *, by: str, unknown: Unknown) -> Signature:
    frame, chance = study.votes.judgments.frame, study.chance
    rows = frame.select("item", "rater", "label").sort("item", "rater").iter_rows()
    options = {
        "fpc": "yes" if study.is_finite else "no",
        "judgments": digest(f"{item}|{rater}|{label}" for item, rater, label in rows),
        "level": f"{chance.level:g}",
        "population": study.population,
        "sample": digest(sorted(study.sample.frame["item"].unique().to_list())),
        "systems": digest(study.members.systems),
        "truth": study.truth.name,
        "units": "item" if chance.is_by_item else chance.cluster,
        "unknown": unknown,
        **({"by": by} if by else {}),
        **({"assist": study.assist.name} if study.assist else {}),
    }
    if not chance.is_by_item:
        options |= {"resamples": str(chance.n_resamples), "resampling-seed": str(chance.seed)}
    if study.sample.meta is not None and study.sample.meta.seed is not None:
        options["seed"] = str(study.sample.meta.seed)
    return Signature("sampled", options)
