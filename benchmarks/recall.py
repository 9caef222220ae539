"""How near recall from marked source sentences comes to the truth, in simulated corpora whose truth is known.

    python -m benchmarks recall

Corpora have 60 essays of five sentences.  The errors of a sentence are Poisson, at a rate that differs between essays
(gamma, shape 2); a system removes Beta(8 R, 8 (1 - R)) of an essay's errors; two raters find each error
independently, both worse in some essays than in others (.4 on the logit scale); each also marks words that are right,
half a mark an essay.  Two verifiers accept nine in ten right marks, and one in ten wrong ones.  Where difficulty is
shared, an error's own difficulty (standard normal) counts `link` logits against the raters and against the system.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from benchmarks.coverage import Found, simulated, table_of
from benchmarks.harness import Size, Table
from scipy.special import expit, logit

from grater.measure.corrections.recall import recall_rows, recalls
from grater.uncertainty import Units, grouped_rows

CORPORA = 1000
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(40)


@dataclass(frozen=True)
class Marked:
    """A system of this recall, and two raters of these sensitivities."""

    recall: float
    sensitivity: tuple[float, float] = (0.75, 0.75)
    link: float = 0.0
    n_essays: int = 60
    per_sentence: float = 1.2

    @cached_property
    def truth(self) -> float:
        """The share that the system removes, over essays and difficulties."""
        essays = np.random.default_rng(0).beta(8 * self.recall, 8 * (1 - self.recall), 20_000)
        shares = expit(_logit(essays)[:, None] - self.link * NODES) @ WEIGHTS / WEIGHTS.sum()
        return float(shares.mean())

    def draw(self, rng: np.random.Generator) -> Units:
        rate = self.per_sentence * rng.gamma(2, 0.5, self.n_essays)
        essay = np.repeat(np.arange(self.n_essays), rng.poisson(5 * rate))
        hard = self.link * rng.normal(size=essay.size)
        removed = rng.beta(8 * self.recall, 8 * (1 - self.recall), self.n_essays)
        gone = rng.random(essay.size) < expit(_logit(removed)[essay] - hard)
        ease = rng.normal(0, 0.4, self.n_essays)[essay] - hard
        found = rng.random((essay.size, 2)) < expit(logit(np.array(self.sensitivity)) + ease[:, None])
        wrong = np.repeat(np.arange(self.n_essays), rng.poisson(0.5, self.n_essays) + rng.poisson(0.5, self.n_essays))
        by = rng.integers(0, 2, wrong.size)
        found = np.concatenate([found, by[:, None] == [0, 1]])
        gone = np.concatenate([gone, rng.random(wrong.size) < 0.1])
        is_right = np.arange(len(gone)) < essay.size
        accepted = (rng.random((len(gone), 2)) < np.where(is_right, 0.9, 0.1)[:, None]).all(axis=1)
        rows = recall_rows(found * accepted[:, None].astype(float), gone.astype(float))
        return Units(grouped_rows(rows, np.concatenate([essay, wrong]), self.n_essays), "essay")

    def measured(self, rng: np.random.Generator) -> Found:
        _, chapman, union = recalls(self.draw(rng))
        bias = {
            f"{name} too high by": each.value - self.truth for name, each in (("recall", chapman), ("union", union))
        }
        return {"recall": chapman, "union": union, "width": chapman.high - chapman.low, **bias}


def _logit(share: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    clipped: npt.NDArray[np.float64] = logit(np.clip(share, 1e-9, 1 - 1e-9))
    return clipped


CELLS = {
    f"recall {recall:g}, raters find {first:g} and {second:g}": Marked(recall, (first, second))
    for recall in (0.5, 0.8, 0.95)
    for first, second in ((0.75, 0.75), (0.8, 0.9))
}
SHARED = {f"recall {recall:g}, difficulty shared": Marked(recall, link=1.5) for recall in (0.5, 0.8)}


def shares(cell: Marked, n: int) -> dict[str, float]:
    return simulated(n, cell.measured, {"recall": cell.truth, "union": cell.truth}, 70)


def measure(size: Size) -> Iterator[Table]:
    n = 2 if size == "short" else CORPORA
    rows = {name: shares(cell, n) for name, cell in {**CELLS, **SHARED}.items()}
    others = ("width", "recall too high by", "union too high by")
    yield table_of("Recall from marked source sentences", rows, n, *others)
