from __future__ import annotations

import pytest

from grater.annotate.tasks.error import TASK
from tests.annotate.tasks.units import OF, TEXT, rng, span_of, unit_at


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("prep-extraneous", "should there be none"),
        ("article", "article or determiner"),
        ("collocation", "go together"),
        ("something-new", "an error"),
    ],
)
def test_the_question_is_that_of_the_items_kind(kind: str, words: str) -> None:
    assert words in TASK.show(unit_at(OF, kind=kind), rng=rng()).fields[0].question


@pytest.mark.parametrize("label", ["error", "ok", "unknown"])
def test_the_label_is_the_verdict(label: str) -> None:
    (answer,) = TASK.read(unit_at(OF), {"label": [label]}, kept={})
    assert TASK.verdict is not None
    assert answer.label == label == TASK.verdict[label]


def test_words_over_two_sentences_show_both() -> None:
    span = span_of("bread. In the")
    shown = TASK.show(unit_at(span), rng=rng())
    whole = TEXT[TEXT.index("She depends") : TEXT.index(" Nobody")]
    assert "".join(piece.text for piece in shown.pieces) == whole
