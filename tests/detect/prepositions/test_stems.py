from __future__ import annotations

import numpy as np
import pytest

from grater.detect.learning.vocabulary import CLASSES, Vocabulary
from grater.detect.prepositions.contexts import FIELDS
from grater.detect.prepositions.stems import stem_numbers, stemmed

WORDS = Vocabulary(
    ("depend", "depends", "making", "make", "planned", "plan", "went", "go", "cities", "city", "bus", "glass")
)


@pytest.mark.parametrize(
    ("form", "stem"),
    [("depends", "depend"), ("making", "make"), ("planned", "plan"), ("went", "go"), ("cities", "city")],
)
def test_forms_share_the_number_of_their_stem(form: str, stem: str) -> None:
    form_number, stem_number = WORDS.numbers([form, stem])
    assert stem_numbers(WORDS)[form_number] == stem_number


def test_a_word_whose_stem_is_not_there_is_its_own() -> None:
    numbers = stem_numbers(WORDS)
    for word in ("bus", "glass", "depend"):
        (number,) = WORDS.numbers([word])
        assert numbers[number] == number
    assert numbers[: len(CLASSES)].tolist() == list(range(len(CLASSES)))


def test_only_heads_are_stemmed() -> None:
    (form, stem) = WORDS.numbers(["depends", "depend"])
    rows = np.zeros((1, len(FIELDS)), np.int32)
    rows[0, [FIELDS.index("l1"), FIELDS.index("verb")]] = form
    found = stemmed(rows, stem_numbers(WORDS))
    assert found[0, FIELDS.index("l1")] == form
    assert found[0, FIELDS.index("verb")] == stem
    assert rows[0, FIELDS.index("verb")] == form
