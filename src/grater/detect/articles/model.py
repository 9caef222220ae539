"""The model of constructions: a pruned dictionary of features with 8-bit weights, and the habits of nouns.

Weights are whole numbers times one step (`detect.linear`), so a score does not depend on the order of addition, on
the size of the batch or on the machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from grater.detect.articles.constructions import CONSTRUCTIONS, Habits
from grater.detect.articles.features import (
    AGREEMENT_COLUMNS,
    CLASSED,
    CLASSES,
    COLUMN,
    HABIT_COLUMNS,
    HASHING,
    PlacedPhrase,
    rows_of,
)
from grater.detect.linear import Keys, Rows, Scores, Vocabulary, Weights, log_probabilities, packed, unpacked
from grater.model import Json
from grater.models import expecting, read_model, write_model

Classes: TypeAlias = npt.NDArray[np.uint16]

KIND = "articles"
BLOCK = 4096
"""Phrases scored at once, so that memory stays flat; the scores do not depend on it."""


@dataclass(frozen=True, slots=True, eq=False)
class ArticleModel:
    """`table` has a row of weights for each of the sorted `keys`, and a last row of zeros for unknown features."""

    vocabulary: Vocabulary
    habits: Habits
    classes: Classes
    keys: Keys
    table: Weights
    step: float
    card: Mapping[str, Json]

    def rows(self, placed: Sequence[PlacedPhrase]) -> Rows:
        """The rows of phrases, with the habits of their nouns."""
        return completed(rows_of(placed, self.vocabulary), self.habits, self.classes)

    def scores(self, rows: Rows, *, with_agreement: bool = True) -> Scores:
        """(phrases, 5): log-probabilities of the constructions; with or without the number that verbs show."""
        blocks = [rows[start : start + BLOCK] for start in range(0, len(rows), BLOCK)]
        keys = (HASHING.keys(_hidden(block, with_agreement)) for block in blocks)
        return log_probabilities(keys, self.keys, self.table, self.step)


def completed(rows: Rows, habits: Habits, classes: Classes) -> Rows:
    """The rows with the habits of their nouns and the classes of their words filled in."""
    filled = rows.copy()
    filled[:, HABIT_COLUMNS] = habits.classes(rows[:, COLUMN["head"]])
    filled[:, CLASSES] = classes[rows[:, CLASSED]]
    return filled


def _hidden(rows: Rows, with_agreement: bool) -> Rows:
    if with_agreement:
        return rows
    hidden = rows.copy()
    hidden[:, AGREEMENT_COLUMNS] = 0
    return hidden


def save(model: ArticleModel, path: Path) -> None:
    """Write the model as one file."""
    numbers = np.array(sorted(model.habits.by_number), np.uint32)
    shares = np.array([model.habits.by_number[number] for number in numbers.tolist()]).reshape(-1, len(CONSTRUCTIONS))
    arrays = {
        **packed(model.keys, model.table),
        "step": np.array([model.step], np.float64),
        "nouns": np.diff(numbers, prepend=np.uint32(0)),
        "shares": np.rint(shares * 255).astype(np.uint8),
        "word_classes": model.classes,
    }
    write_model(path, kind=KIND, card=model.card, arrays=arrays, strings={"words": model.vocabulary.words})


def load(path: Path) -> ArticleModel:
    """Read a model; other files, and parts that do not fit together, are refused."""
    model = read_model(path, kind=KIND)
    with expecting("a model of articles", path):
        keys, table = unpacked(model.arrays, len(CONSTRUCTIONS))
        numbers = np.cumsum(model.arrays["nouns"], dtype=np.uint32).tolist()
        shares = (model.arrays["shares"] / 255).tolist()
        habits = Habits(dict(zip(numbers, map(tuple, shares), strict=True)))
        vocabulary, step = Vocabulary(model.strings["words"]), float(model.arrays["step"][0])
        classes = model.arrays["word_classes"]
        if classes.shape != (len(vocabulary),):
            raise ValueError("words and their classes differ in number")
        if model.arrays["shares"].shape[1:] != (len(CONSTRUCTIONS),):
            raise ValueError("shares and constructions differ in number")
    return ArticleModel(
        vocabulary=vocabulary, habits=habits, classes=classes, keys=keys, table=table, step=step, card=model.card
    )
