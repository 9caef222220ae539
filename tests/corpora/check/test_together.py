"""Files that should hold the same sentences."""

from __future__ import annotations

from grater.corpora.check import check_together
from grater.model import Essay
from tests.corpora.check.essays import essay_of, tokenised

FIRST = [tokenised(text) for text in ("It rained .", "We stayed home .", "We read .")]


def differences(other: list[Essay], *, first: list[Essay] = FIRST) -> list[tuple[str, str]]:
    return [(name, str(finding)) for name, finding in check_together({"a.m2": first, "b.m2": other})]


def test_files_that_agree_are_not_named() -> None:
    assert differences(FIRST) == []


def test_another_number_of_tokens_is_found_at_the_first_sentence_that_has_it() -> None:
    other = [FIRST[0], tokenised("We stayed home."), tokenised("We read.")]
    assert differences(other) == [
        (
            "b.m2",
            "sentence 2, the first of those that differ from a.m2, has 3 tokens here and 4 there (differing: 2) "
            "[files-differ]",
        )
    ]


def test_another_text_with_as_many_tokens_is_found() -> None:
    other = [FIRST[0], tokenised("We stayed house ."), FIRST[2]]
    ((_, message),) = differences(other)
    assert message.startswith(
        "sentence 2, the first of those that differ from a.m2, has 'We stayed house .' here "
        "and 'We stayed home .' there"
    )


def test_a_file_that_ends_early_is_found() -> None:
    assert differences(FIRST[:2]) == [("b.m2", "the file has fewer essays than a.m2 (differing: 1) [files-differ]")]


def test_a_file_that_goes_on_is_found() -> None:
    ((_, message),) = differences([*FIRST, FIRST[0]])
    assert message == "the file has more essays than a.m2 (differing: 1) [files-differ]"


def test_files_of_different_sets_are_not_compared() -> None:
    other = [essay_of(text) for text in ("Dogs bark.", "Cats sleep.", "Birds sing.", "Cows moo.")]
    assert differences(other) == []


def test_every_file_is_held_against_the_first() -> None:
    corpora = {"a": FIRST, "b": FIRST, "c": FIRST[:2], "d": FIRST[:2]}
    assert [name for name, _ in check_together(corpora)] == ["c", "d"]


def test_one_file_alone_has_nothing_to_differ_from() -> None:
    assert list(check_together({"a": FIRST})) == []
