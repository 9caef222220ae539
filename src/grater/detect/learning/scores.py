"""Scores: a row for each place, a column for each answer."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Scores: TypeAlias = npt.NDArray[np.float64]


def log_softmax(scores: Scores) -> Scores:
    """Scores as log-probabilities, row by row."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    out: Scores = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return out
