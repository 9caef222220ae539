"""Precision, recall and F of true positives, false positives and false negatives.

0/0 is 1, as in m2scorer and ERRANT: a system that proposes nothing has precision 1, a corpus without errors recall 1.
F is 0 where both are 0.  The signature says `zero:1`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from grater.evaluate.resampling import Numbers

COLUMNS = ("tp", "fp", "fn")


def precision_recall_f(counts: npt.ArrayLike, *, beta: float) -> Numbers:
    """Precision, recall and F in place of the tp, fp, fn of the last axis, unrounded."""
    tp, fp, fn = np.moveaxis(np.asarray(counts, np.float64), -1, 0)
    precision, recall = _ratio(tp, tp + fp, 1.0), _ratio(tp, tp + fn, 1.0)
    f = _ratio((1 + beta**2) * precision * recall, beta**2 * precision + recall, 0.0)
    return np.stack([precision, recall, f], axis=-1)


def _ratio(above: Numbers, below: Numbers, otherwise: float) -> Numbers:
    ratio: Numbers = np.divide(above, below, out=np.full(np.shape(below), otherwise), where=below != 0)
    return ratio


def score_names(beta: float) -> tuple[str, ...]:
    """`precision`, `recall`, `f0.5`."""
    return "precision", "recall", f"f{beta:g}"
