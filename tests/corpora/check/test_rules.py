"""The check as a whole: a good corpus is silent, it streams, every rule is named."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.check import RULES, check_essays
from grater.corpora.check.rules import EDIT_RULES
from grater.model import Edit, Essay, Span
from tests.corpora.check.essays import edit_of, essay_of

GOOD = "My sister have three cat. She feed them every morning."


def test_a_good_corpus_has_no_findings() -> None:
    essay = essay_of(
        GOOD,
        edit_of(GOOD, "have", "has", tag="SVA"),
        edit_of(GOOD, "cat", "cats", tag="Nn"),
        edit_of(GOOD, "feed", "feeds", tag="SVA"),
        edit_of(GOOD, "every", "each", tag="Wcip"),
    )
    assert list(check_essays([essay])) == []


def test_findings_come_while_the_corpus_is_being_read() -> None:
    def essays() -> Iterator[Essay]:
        yield essay_of(GOOD, edit_of(GOOD, "cat", "cat", tag="Nn"))
        raise AssertionError("the second essay is not to be read yet")

    assert next(check_essays(essays())).rule == "equals-text"


def test_findings_of_an_essay_stand_in_the_order_of_its_lines() -> None:
    edits = (
        edit_of(GOOD, ". She", "; she", line=5),
        edit_of(GOOD, "cat", "cat", line=9),
        edit_of(GOOD, "My", "My", line=2),
    )
    assert [finding.line for finding in check_essays([essay_of(GOOD, *edits)])] == [2, 5, 9]


def test_an_edit_without_a_line_is_told_at_the_line_of_its_essay() -> None:
    essay = Essay("e1", GOOD, (Edit(Span(0, 2), ("My",), "Mec", "A"),), ("A",), line=3)
    assert [finding.line for finding in check_essays([essay])] == [3]


def test_every_rule_on_an_edit_is_described() -> None:
    assert set(EDIT_RULES) <= set(RULES)


TEXTS = st.text(alphabet=st.sampled_from("ab.A ,\n\t\u00a0é👩"), max_size=30)


@given(TEXTS, TEXTS, st.sampled_from(["Rloc", "Um", "Mec", "R:DET", "?"]), st.booleans(), st.data())
def test_no_essay_makes_the_check_fail(
    text: str, correction: str, tag: str, is_corrected: bool, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    edit = Edit(Span(start, end), (correction,) if is_corrected else (), tag, "A")
    for finding in check_essays([Essay("e1", text, (edit, edit), ("A",))]):
        assert finding.rule in RULES
        assert str(finding).endswith(f"[{finding.rule}]")
        assert "\n" not in str(finding)
