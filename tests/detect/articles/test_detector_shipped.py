"""The model that comes with grater, on our own sentences and, where the data is there, on Brown."""

from __future__ import annotations

import json
import lzma
from itertools import islice

import pytest

from grater.detect.articles.detector import article, completed
from grater.detect.articles.features import WORDS
from grater.detect.systems import load_system
from grater.model import Essay
from grater.models import shipped
from grater_train.articles import batch_of
from tests.real_data import data_path

GOOD = (
    "My sister works in a hospital. She likes the work, but the hospital is far from home. "
    "Every morning she takes a bus to the station and buys a newspaper."
)


def flags_on(text: str) -> list[tuple[str, str, str | None]]:
    found = [each for each in article().find([Essay("e", text)]) if each.decision.flagged]
    return [(each.item.kind, each.target, each.decision.suggestion) for each in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I am student.", ("article", "", "a")),
        ("He gave me good advices.", ("number", "advices", "advice")),
        ("An user wrote to us.", ("article", "An", "A")),
        ("This is big problem for us.", ("article", "", "a")),
        ("They talked about a life.", ("article", "a", "-NONE-")),
    ],
)
def test_plain_errors_are_found(text: str, expected: tuple[str, str, str | None]) -> None:
    assert expected in flags_on(text)


def test_plain_good_text_is_left_alone() -> None:
    assert flags_on(GOOD) == []


def test_the_model_is_small_and_says_what_it_was_made_of() -> None:
    assert shipped("article").stat().st_size < 15_000_000
    card = load_system("article").card
    assert {"name", "kind", "data", "features", "date", "figures", "hash", "command", "thresholds"} <= card.keys()
    json.dumps(card, allow_nan=False)


@pytest.mark.data
def test_most_constructions_of_brown_are_right() -> None:
    model = article().model
    with lzma.open(data_path("native-test/brown.txt.xz"), "rt", encoding="utf-8") as stream:
        batch = batch_of([line.strip() for line in islice(stream, 1500)])
    rows = batch.rows.copy()
    numbers = [0, *model.vocabulary.numbers(batch.words)]
    for column in range(len(WORDS)):
        rows[:, column] = [numbers[place] for place in rows[:, column]]
    answers = model.scores(completed(rows, model.habits, model.classes)).argmax(axis=1)
    # the whole of Brown: .700 (docs/articles.md); these are its first, newspaper pages
    assert (answers == batch.labels).mean() > 0.66
