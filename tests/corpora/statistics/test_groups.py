import pytest

from grater.corpora.statistics import corpus_statistics
from grater.corpora.statistics.groups import in_order, value_of
from grater.errors import UnknownName, UsageError
from tests.corpora.statistics.essays import edit, two_sentences

ESSAYS = [
    two_sentences(edit(11, 15, "likes"), essay_id="a", language="Tamil", score=30),
    two_sentences(edit(11, 15, "likes"), edit(29, 33, "plays"), essay_id="b", language="Malay", score=9),
    two_sentences(essay_id="c", language=""),
]


def test_each_value_is_a_row_and_the_missing_are_one_of_their_own() -> None:
    study = corpus_statistics({"x": ESSAYS}, by="language", resamples=10).whole
    assert [(value, summary.counts.edits) for value, summary in study.by_value.items()] == [
        ("Malay", 2),
        ("Tamil", 1),
        (None, 0),
    ]


def test_groups_add_up_to_the_whole() -> None:
    study = corpus_statistics({"x": ESSAYS, "y": ESSAYS[:1]}, by="language", resamples=10).whole
    assert sum(summary.counts.tokens for summary in study.by_value.values()) == study.summary.counts.tokens == 48


def test_numbers_stand_in_order_of_size_before_words_and_the_missing() -> None:
    values = ["B2", "10", None, "A10", "9", "-1", "A2", "A"]
    assert in_order(values) == ["-1", "9", "10", "A", "A2", "A10", "B2", None]


def test_value_of_any_kind_has_a_name() -> None:
    essay = two_sentences(level=3, exams=["FCE", "CAE"], native=False)
    assert [value_of(essay, field) for field in ("level", "exams", "native", "age")] == [
        "3",
        '["FCE", "CAE"]',
        "false",
        None,
    ]


def test_unknown_field_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"unknown metadata field 'langage'\. Did you mean 'language'"):
        corpus_statistics({"x": ESSAYS}, by="langage")


def test_field_of_a_corpus_without_metadata_is_refused() -> None:
    with pytest.raises(UsageError, match="no essay here has any metadata"):
        corpus_statistics({"x": [two_sentences()]}, by="language")
