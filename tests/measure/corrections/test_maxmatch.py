"""MaxMatch on sentences worked by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.m2 import FORMAT, read_m2
from grater.errors import UsageError
from grater.measure.corrections.maxmatch import (
    GoldEdit,
    corrected_words,
    gold_of,
    maxmatch_counts,
    read_gold,
)
from grater.model import Essay
from tests.corpora.sources import TextSource
from tests.examples import examples
from tests.measure.corrections.slow_maxmatch import slow_counts


def edit(start: int, end: int, *replacements: str) -> GoldEdit:
    return GoldEdit(start, end, tuple(tuple(text.split()) for text in replacements))


def counts(source: str, hypothesis: str, *edits: GoldEdit, max_unchanged: int = 2) -> tuple[int, int, int]:
    gold = {"0": edits}
    return maxmatch_counts(source.split(), hypothesis.split(), gold, max_unchanged=max_unchanged)["0"]


def essays(*lines: str) -> list[Essay]:
    return list(read_m2([f"{line}\n" for line in lines], name="own.m2"))


def test_edits_match_by_their_place_and_words_as_the_annotator_wrote_them() -> None:
    assert counts("he sleep", "he sleep", edit(1, 2, "sleeps")) == (0, 0, 1)
    assert counts("he sleep late", "he slept late", edit(1, 2, "sleeps", "slept")) == (1, 1, 1)
    # Neighbouring changes are read as the annotator wrote them.
    source, hypothesis = "they discuss about it", "they talked of it"
    assert counts(source, hypothesis, edit(1, 3, "talked of")) == (1, 1, 1)
    assert counts(source, hypothesis, edit(1, 2, "talked"), edit(2, 3, "of")) == (2, 2, 2)
    # Changes with two words between are one edit and with three are two.
    assert counts("a b c d", "x b c y") == (0, 1, 0)
    assert counts("a b c d e", "x b c d y") == (0, 2, 0)
    # Empty sentence and empty correction are counted.
    assert counts("", "so it goes") == (0, 1, 0)
    assert counts("so it goes", "", edit(0, 3, "")) == (1, 1, 1)


def test_quirks_of_the_official_scorer_are_kept() -> None:
    # One edit counts for each of two gold edits that are the same.
    # The official scorer's quirk: its loop over gold edits goes on after a match.
    assert counts("he sleep late", "he sleeps late", edit(1, 2, "sleeps"), edit(1, 2, "sleeps")) == (2, 1, 2)
    # Gold edits out of order may be missed.
    # Also the official scorer's: a gold edit listed before the last one that matched is not looked at again.
    gold = (edit(6, 7, "days"), edit(1, 2, "likes"))
    assert counts("she like walk in rain every day", "she likes walk in rain every days", *gold) == (1, 2, 2)
    # One gold insertion rewards one of two words put in.
    assert counts("it is good", "it is very very good", edit(2, 2, "very")) == (1, 2, 1)


def test_gold_edits_come_back_in_token_numbers() -> None:
    (essay,) = essays(
        "S she like walk in rain .",
        "A 1 3|||V|||likes to walk||likes walking|||REQUIRED|||-NONE-|||1",
        "A 4 4|||D|||the|||REQUIRED|||-NONE-|||1",
        "A 6 6|||P|||!|||REQUIRED|||-NONE-|||1",
        "A 5 6|||P|||-NONE-|||REQUIRED|||-NONE-|||0",
        "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||10",
    )
    assert gold_of(essay).edits == {
        "0": (edit(5, 6, ""),),
        "1": (edit(1, 3, "likes to walk", "likes walking"), edit(4, 4, "the"), edit(6, 6, "!")),
        "10": (),
    }
    assert list(gold_of(essay).edits) == ["0", "1", "10"]
    # A correction with doubled spaces matches nothing.
    (essay,) = essays("S she like it", "A 1 2|||V|||does  like|||REQUIRED|||-NONE-|||0")
    assert counts("she like it", "she does like it", *gold_of(essay).edits["0"]) == (0, 1, 1)


def test_hypothesis_in_m2_is_corrected_by_its_first_alternatives() -> None:
    (essay,) = essays(
        "S she like walk in rain",
        "A 1 3|||V|||likes to walk||walks|||REQUIRED|||-NONE-|||0",
        "A 4 4|||D|||the|||REQUIRED|||-NONE-|||0",
        "A 3 4|||UNK|||in|||REQUIRED|||-NONE-|||0",
    )
    assert " ".join(corrected_words(gold_of(essay))) == "she likes to walk in the rain"


def test_hypotheses_that_are_not_one_text_are_refused() -> None:
    for first, second, message in (
        ("0 2|||V|||they like", "1 2|||V|||likes|||REQUIRED|||-NONE-|||0", r"do not overlap.*line 1.*token 1"),
        ("1 2|||V|||likes", "2 3|||N|||them|||REQUIRED|||-NONE-|||1", "one annotator"),
    ):
        (essay,) = essays("S she like it", f"A {first}|||REQUIRED|||-NONE-|||0", f"A {second}")
        with pytest.raises(UsageError, match=message):
            corrected_words(gold_of(essay))


def test_a_file_and_the_essays_of_it_are_the_same_gold() -> None:
    lines = (
        "S she like walk in rain",
        "A 1 2|||V|||likes|||REQUIRED|||-NONE-|||0",
        "A 1 3|||V|||walks|||REQUIRED|||-NONE-|||1",
        "",
        "S all is well",
        "",
        "S she like  it !",
        "A 1 2|||UNK|||like|||REQUIRED|||-NONE-|||1",
        "A 2 2|||R|||does  so||-NONE-|||REQUIRED|||-NONE-|||0",
        "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||10",
    )
    text = "\n".join(lines) + "\n"
    golds = read_gold(TextSource(text, "ref.m2"))
    made = [gold_of(essay) for essay in FORMAT.read(TextSource(text, "ref.m2"))]
    assert [(each.words, each.edits) for each in golds] == [(each.words, each.edits) for each in made]
    assert [list(each.edits) for each in golds] == [["0", "1"], ["0"], ["0", "1", "10"]]


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[str], list[str], list[GoldEdit], int]:
    """Few different words, so that much repeats and ties abound; gold edits made of the hypothesis's words."""
    words = st.sampled_from("abcde"[: draw(st.integers(1, 5))])
    source = draw(st.lists(words, max_size=9))
    hypothesis = draw(st.lists(words, max_size=9))
    if draw(st.booleans()):  # mostly alike
        keep = draw(st.lists(st.integers(0, 9), min_size=len(source), max_size=len(source)))
        hypothesis = [word for word, number in zip(source, keep, strict=True) for word in [word] * (number != 0)]
    edits = draw(st.lists(gold(source, hypothesis), max_size=4))
    if draw(st.integers(0, 4)):
        edits.sort(key=lambda edit: (edit.start, edit.end))
    return source, hypothesis, edits, draw(st.sampled_from([2, 2, 2, 0, 1, 3]))


@st.composite
def gold(draw: st.DrawFn, source: Sequence[str], hypothesis: Sequence[str]) -> GoldEdit:
    start = draw(st.integers(0, len(source)))
    end = min(len(source), start + draw(st.sampled_from([0, 0, 1, 1, 2, 3])))
    begins = draw(st.lists(st.integers(0, len(hypothesis)), min_size=1, max_size=2))
    return GoldEdit(start, end, tuple(tuple(hypothesis[at : at + draw(st.integers(0, 3))]) for at in begins))


@examples(300)
@given(cases())
def test_counts_are_those_of_the_slow_scorer(case: tuple[list[str], list[str], list[GoldEdit], int]) -> None:
    source, hypothesis, edits, max_unchanged = case
    fast = maxmatch_counts(source, hypothesis, {"0": edits, "1": []}, max_unchanged=max_unchanged)
    assert fast == slow_counts(source, hypothesis, {"0": edits, "1": []}, max_unchanged=max_unchanged)


# What the official scorer's functions gave under Python 2.7.18: ties, then gold edits that change nothing.  In the
# third, an arc over two unchanged words is met by such an edit, and is there only because the removal jumped over it;
# in the fourth the order of steps decides.
@pytest.mark.parametrize(
    ("source", "hypothesis", "edits", "expected"),
    [
        ("a a b", "b b b b b a", [], (0, 2, 0)),
        ("a f a", "b g h b b a c", [], (0, 1, 0)),
        ("b b b a", "a b b b", [edit(1, 3, "b b")], (0, 2, 1)),
        ("a b b", "b a", [edit(2, 2, "a"), edit(2, 3, "b")], (1, 3, 2)),
    ],
)
def test_ties_and_empty_gold_edits_go_the_way_of_the_official_scorer(
    source: str, hypothesis: str, edits: list[GoldEdit], expected: tuple[int, int, int]
) -> None:
    assert counts(source, hypothesis, *edits) == expected
