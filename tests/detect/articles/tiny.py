"""A tiny model of articles, trained once for all tests that need one."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from grater.detect.articles.detector import ArticleDetector, ArticleModel, Caution
from grater_train.articles import ArticleOptions, batch_of, fitted, gathered
from grater_train.events import Events
from tests.detect.articles.made_text import made_lines


@cache
def tiny_events() -> Events:
    """Every line is a passage of its own; one in ten is held out."""
    lines = made_lines()[::3]
    events = gathered((batch_of([line]) for line in lines), min_count=1)
    folds = np.repeat(np.arange(len(lines)) % 20, 5)[: len(events)].astype(np.int8)
    return replace(events, folds=np.resize(folds, len(events)))


@cache
def tiny_model() -> ArticleModel:
    return fitted(tiny_events(), ArticleOptions(min_count=1))


def tiny_detector(caution: Caution = Caution(1.0, 1.0, 1.0, 1.0, 1.0)) -> ArticleDetector:  # noqa: B008 (frozen)
    return ArticleDetector("tiny", tiny_model(), caution, {"name": "tiny"})
