"""Scores of fully judged items, corrected for what raters get wrong (`rater_error.py`).

The correction is linear in counts: with F flagged items and h hits as judged, the true hits are
(h - (1 - sp) F) / (se + sp - 1), and so for misses (Rogan & Gladen 1978), each held to what its side can hold.  So it
is made on sums, after they are drawn, and differences between systems stay paired: every resample has one se and one
sp for all systems.  Limits carry the doubt about both.  McNemar's test looks at items one by one and stays as judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np

from grater.evaluate.cases import Cases, Truths
from grater.evaluate.counts import CELLS, REASONS, SCORES, Counts, scores
from grater.evaluate.draws import Chance, drawn_sums, units_of
from grater.evaluate.rater_error import RaterError, limits_in_doubt
from grater.evaluate.resampling import Numbers
from grater.evaluate.standard import Scored
from grater.evaluate.truth import Truth
from grater.model import Interval
from grater.rng import generator


@dataclass(frozen=True, slots=True, eq=False)
class Correction:
    """Raters as gold shows them; where they say too little, `raters.reason` says why and nothing is corrected."""

    raters: RaterError
    gold: str

    def seen(self, sums: Numbers) -> Numbers:
        """Counts after the correction, by sensitivity and specificity as seen."""
        return corrected_sums(sums, *self.raters.point)

    def drawn(self, sums: Numbers, *, seed: int) -> Numbers:
        """Resamples x systems x counts after the correction, with sensitivity and specificity drawn for each."""
        rng = generator(seed, "evaluate", "rater-error")
        sensitivity, specificity = self.raters.drawn(len(sums), rng)
        return corrected_sums(sums, sensitivity[:, None], specificity[:, None])

    @property
    def options(self) -> dict[str, str]:
        """Its words in a signature."""
        return {"correction": "rogan-gladen", "gold": self.gold}


def corrected_sums(sums: Numbers, sensitivity: Numbers, specificity: Numbers) -> Numbers:
    """The four counts of the last axis after the correction; nan where raters know nothing."""
    hit, false_alarm, miss, rejection = np.moveaxis(sums, -1, 0)
    informed = np.where(sensitivity + specificity > 1, sensitivity + specificity - 1, nan)
    flagged, passed = hit + false_alarm, miss + rejection
    hits, misses = (
        np.clip((errors - (1 - specificity) * n) / informed, 0.0, n) for errors, n in ((hit, flagged), (miss, passed))
    )
    return np.stack([hits, flagged - hits, misses, passed - misses], axis=-1)


def corrected_scores(
    cases: Cases, truth: Truth, correction: Correction, *, chance: Chance, where: Truths | None = None
) -> list[Scored]:
    """Every system against the truth behind the verdicts."""
    wanted = ~np.isnan(truth.values)
    places = np.flatnonzero(wanted if where is None else wanted & where)
    units = units_of(cases, truth, places, unit=chance.unit)
    shape = (-1, len(cases.systems), len(CELLS))
    resamples = drawn_sums(cases, truth, places, units, chance=chance)
    numbers = scores(correction.drawn(resamples.sums.reshape(shape), seed=chance.seed))
    sums = correction.seen(units.sums.reshape(shape)[0])
    n_items = (cases.flagged[places] >= 0).sum(axis=0)
    return [
        _scored(system, int(n_items[at]), sums[at], numbers[:, at], correction.raters.reason, chance.level)
        for at, system in enumerate(cases.systems)
    ]


def _scored(system: str, n: int, sums: Numbers, drawn: Numbers, reason: str, level: float) -> Scored:
    if reason:
        none = Interval(nan, nan, nan, reason)
        return Scored(system, n, Counts(nan, nan, nan, nan), dict.fromkeys(SCORES, none))
    values = scores(sums)
    found = {
        name: limits_in_doubt(float(values[place]), drawn[:, place], REASONS[name], level=level)
        for place, name in enumerate(SCORES)
    }
    return Scored(system, n, Counts(*sums.tolist()), found)
