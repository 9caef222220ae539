"""Article detectors from model files: the one that comes with grater, and one's own."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from grater.detect.articles.confidence import Caution
from grater.detect.articles.detector import ArticleDetector
from grater.detect.articles.model import load
from grater.errors import BadInput, Problem, UsageError
from grater.models import shipped


@cache
def article() -> ArticleDetector:
    return from_file(shipped("article"))


def from_file(path: Path) -> ArticleDetector:
    """The detector of a model file, under the file's name."""
    model = load(path)
    try:
        caution = Caution.of(model.card.get("thresholds"))
    except UsageError as error:
        raise BadInput(Problem(str(path), f"{error}; train the model anew")) from error
    return ArticleDetector(path.stem, model, caution, model.card)
