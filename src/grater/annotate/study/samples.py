"""A sample of a study's items, drawn for one of its systems, or extended for the next one (T&C 2008, section 6).

A system may look at places of several kinds (prepositions, gaps); a sample is of one kind, for raters are asked one
question.  The kind is kept with the sample, so that it is always held against the decisions that it was drawn from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from grater.annotate.store import Store, Tx, essays, samples
from grater.annotate.store.columns import decided_kinds, decision_columns
from grater.annotate.study.job_units import PREPOSITION
from grater.annotate.study.jobs import JobPlan
from grater.annotate.study.limits import require_name, require_number
from grater.annotate.study.tables import all_verdicts, judged_items
from grater.errors import UsageError
from grater.measure.evaluation.truth import error_shares
from grater.measure.sampling.draw import add_system, draw_sample, draws_of, few_flags, to_judge
from grater.measure.sampling.strata import Allocation
from grater.sheet import counted
from grater.tables import Sample, Table, read_decisions

OF_KIND = "kind"
N_SAMPLED = 300
"""Items of a sample that nobody gave a size."""


@dataclass(frozen=True, slots=True)
class Wish:
    """How to draw: `n` items, of which kind, from which strata, by which allocation."""

    system: str
    n: int
    n_flagged: int | None = None
    strata: str = "decision"
    allocation: Allocation = "paper"
    rates: Mapping[str, float] = field(default_factory=dict, hash=False)
    seed: int = 0
    kind: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """The sample, which of its items nobody has judged yet, in the order to judge them, and what it covers."""

    sample: Sample
    left: tuple[str, ...]
    notes: tuple[str, ...] = ()


def draw(store: Store, name: str, wish: Wish, *, actor: str | None = None) -> Drawn:
    """Draw a sample and keep it under its name; the same draw again changes nothing."""
    require_number("sample.n", wish.n)
    require_number("sample.flagged", wish.n_flagged)
    require_number("seed", wish.seed)
    with store.write() as tx:
        essays.hold(tx)
        kind = wish.kind or _kind(tx, wish.system)
        sample = draw_sample(
            _decisions(tx, kind),
            wish.system,
            wish.n,
            strata=wish.strata,
            method=wish.allocation,
            n_flagged=wish.n_flagged,
            rates=wish.rates,
            seed=wish.seed,
        )
        return _keep(tx, name, _of_kind(sample, kind), actor)


def extend(
    store: Store,
    old: str,
    name: str,
    system: str,
    *,
    n: int | None = None,
    width: float | None = None,
    actor: str | None = None,
) -> Drawn:
    """Add a system to an old sample, under a new name: what was judged is used again.

    With a `width`, as few new items as bring its recall to an interval of that width, if the rest is as what people
    have judged.
    """
    require_number("sample.n", n)
    with store.write() as tx:
        essays.hold(tx)
        earlier = samples.named(tx, old)
        errors = _errors(tx, width) if width is not None else None
        table = _decisions(tx, kind_of(earlier))
        return _keep(tx, name, add_system(earlier, table, system, n=n, width=width, errors=errors), actor)


def _errors(tx: Tx, width: float) -> dict[str, float]:
    """How far people call each judged item an error."""
    if not 0 < width < 1:
        raise UsageError(f"expected a width between 0 and 1, found {width:g}")
    said = all_verdicts(tx, "the study")
    if said is None:
        raise UsageError("a target width needs judgments to estimate error rates; there are none yet")
    return error_shares(said)


def of_sample(store: Store, plan: JobPlan, name: str) -> JobPlan:
    """The plan of a job for those items of a sample that nobody has judged yet."""
    with store.read() as tx:
        sample = samples.named(tx, name)
        left = to_judge(sample, judged_items(tx))
    return replace(plan, item_ids=require_left(left, name), kind=plan.kind or kind_of(sample) or None)


def require_left(left: Sequence[str], name: str) -> Sequence[str]:
    """Items to ask about; none at all would mean every item to a plan."""
    if not left:
        raise UsageError(f"{name}: every item of the sample has already been judged")
    return left


def kind_of(sample: Sample) -> str:
    """The kind of items that a sample of the study is of."""
    return str(sample.meta.extra.get(OF_KIND, "")) if sample.meta else ""


def _keep(tx: Tx, name: str, sample: Sample, actor: str | None) -> Drawn:
    samples.add(tx, require_name(name), sample, actor=actor)
    return Drawn(sample, tuple(to_judge(sample, judged_items(tx))), notes_on(tx, sample))


def notes_on(tx: Tx, sample: Sample) -> tuple[str, ...]:
    """Which kinds of items a sample covers, which it leaves out, and where a system has too few flags to say much."""
    lines, kind, few = [], kind_of(sample), few_flags(sample)
    for draw in draws_of(sample):
        others = sorted(decided_kinds(tx, draw.system) - {kind}) if kind else []
        by_kind = {other: _n_flags(tx, draw.system, other) for other in others}
        left = ", ".join(f"{other} ({counted(n, 'flag')})" for other, n in by_kind.items())
        if left:
            lines.append(f"the sample covers items of kind {kind}; {draw.system} also decides on {left}, left out")
        elif kind:
            lines.append(f"the sample covers items of kind {kind}, all that {draw.system} decides on")
        if draw.system in few:
            lines.append(few[draw.system])
    return tuple(lines)


def _n_flags(tx: Tx, system: str, kind: str) -> int:
    frame = decision_columns(tx, [kind])
    return frame.filter((pl.col("system") == system) & pl.col("flagged").cast(pl.Boolean)).height


def _of_kind(sample: Sample, kind: str) -> Sample:
    if sample.meta is None or not kind:
        return sample
    return replace(sample, meta=replace(sample.meta, extra={**sample.meta.extra, OF_KIND: kind}))


def _kind(tx: Tx, system: str) -> str:
    """The only kind that a system looks at, or prepositions where it looks at those too."""
    kinds = decided_kinds(tx, system)
    if len(kinds) <= 1:
        return next(iter(kinds), "")
    if PREPOSITION in kinds:
        return PREPOSITION
    raise UsageError(f"{system} decides on items of several kinds: expected one of {', '.join(sorted(kinds))}")


def _decisions(tx: Tx, kind: str) -> Table:
    frame = decision_columns(tx, [kind] if kind else ())
    if not len(frame):
        what = f"no decisions on items of kind {kind!r}" if kind else "no decisions yet"
        raise UsageError(f"the study has {what}; run a system first")
    return read_decisions(frame, name="decisions")
