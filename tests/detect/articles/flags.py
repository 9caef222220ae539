"""The results of thresholds on a trial, for tests that choose some and for training/figures/README.md."""

from __future__ import annotations

import numpy as np

from grater.detect.articles.detector import TYPE, TYPES, Caution
from grater_train.articles import Trial


def flagged_counts(trial: Trial, caution: Caution) -> tuple[int, int, int]:
    """Hits, false alarms and misses; any flag on a wrong phrase is a hit."""
    thresholds = np.array([*(getattr(caution, name) for name in TYPES), np.inf])
    is_flagged = (trial.confidence(caution) > thresholds[TYPE[trial.written]]).any(axis=1)
    is_error = trial.is_error
    return (
        int((is_flagged & is_error).sum()),
        int((is_flagged & ~is_error).sum()),
        int((~is_flagged & is_error).sum()),
    )
