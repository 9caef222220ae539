"""Precision alone, from judgments of what a system flagged.

T&C 2008, Table 7, "verification": raters check the system's flags, nothing else.  Cheap, and enough for precision;
recall needs errors that the system missed, so it is undefined here and says so, whatever else happens to be judged.
Items that a system flagged and nobody judged are counted.  By default the corpus stands for a wider one; where the
population is exactly these items, intervals shrink as the judged flags come near to all flags, to no width at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan, nan

import numpy as np

from grater.measure.evaluation.cases import Cases, Truths, cases_of
from grater.measure.evaluation.counts import each_score
from grater.measure.evaluation.evaluation import EvaluationOptions, parts_by, scope_of_cases, signature_of
from grater.measure.evaluation.scope import settled, with_words
from grater.measure.evaluation.standard import against
from grater.measure.evaluation.truth import Truth, truth_of
from grater.model import Interval
from grater.result import HIDDEN, OPTIONAL, Data, Estimate, Result, in_json
from grater.sheet import Sheet, count, interval
from grater.signature import Signature
from grater.tables import Judgments, Table
from grater.uncertainty.bootstrap import Chance
from grater.uncertainty.population import Scope

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
            cases,
            replace(options, chance=chance),
            what="verify",
            fpc="yes" if chance.population == "these" else "no",
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
