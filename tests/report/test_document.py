"""Tables as values, and numbers as people write them."""

from __future__ import annotations

from grater.report.document import Sheet, number, sentence, without_empty_columns

SHEET = Sheet(
    "raters",
    "Raters",
    ("rater", "gold", "judged", "told"),
    (("Ann", "–", "12", "slow"), ("Bob", "–", "−.03 [−.1, .1]", "a word " * 6)),
    links={(1, 2): "items"},
)


def test_a_column_that_says_nothing_is_left_out_and_links_follow() -> None:
    lean = without_empty_columns(SHEET)
    assert lean.columns == ("rater", "judged", "told")
    assert lean.rows[0] == ("Ann", "12", "slow")
    assert lean.links == {(1, 1): "items"}


def test_words_begin_at_the_left_and_numbers_end_at_the_right() -> None:
    assert SHEET.is_words == (True, False, False, True)
    assert SHEET.looks == ("words", "number", "number", "words long")


def test_numbers_below_nought_have_a_minus() -> None:
    assert [number(value) for value in (-0.25, 0.5, -1.5, float("nan"))] == ["−.25", ".50", "−1.50", "–"]


def test_a_remark_becomes_a_sentence() -> None:
    assert sentence("only 3 items have it") == "Only 3 items have it."
    assert sentence("Is it so?") == "Is it so?"
