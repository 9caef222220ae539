"""What suggestions change: numbers worked by hand, and what is undefined."""

from __future__ import annotations

from math import isnan, sqrt

import numpy as np
import pytest

from grater.errors import UsageError
from grater.measure.evaluation.offered import MEASURES, MarkedOnce, suggestion_effect
from grater.model import Edit, Essay, Span, Suggestion
from grater.uncertainty import t_value

TEXT = "one two six ten one two six ten one two"  # ten words, each three letters and a blank


def word(n: int) -> Span:
    return Span(4 * n, 4 * n + 3)


def offered(*places: int) -> tuple[Suggestion, ...]:
    return tuple(Suggestion(span=word(n), tag="Wcip", replacements=("at",)) for n in places)


def marked(essay: str, rater: str, places: str, *, shown: bool, suggested: tuple[int, ...] = (0, 1)) -> MarkedOnce:
    """Marks at words: `0` is one of the kind that is suggested, `5!` one of another kind."""
    edits = tuple(
        Edit(word(int(place.rstrip("!"))), ("x",), "Nn" if place.endswith("!") else "Wcip", rater)
        for place in places.split()
    )
    fates = tuple("accepted" if any(word(n) == edit.span for edit in edits) else "rejected" for n in suggested)
    return MarkedOnce(
        essay=Essay(essay, TEXT),
        rater=rater,
        edits=edits,
        suggestions=offered(*suggested),
        is_shown=shown,
        fates=fates if shown else (),
        seconds=20.0 if shown else 40.0,
    )


MARKINGS = [
    marked("e1", "A", "0 1 5!", shown=True),
    marked("e2", "A", "0 1", shown=True),
    marked("e1", "B", "0 5! 6!", shown=False),
    marked("e2", "B", "7", shown=False),
]


def test_the_shares_are_those_counted_by_hand() -> None:
    result = suggestion_effect(MARKINGS)
    scores = {name: (each["with"].value, each["without"].value) for name, each in result.scores.items()}
    assert scores == {
        "suggestions marked": (4 / 4, 1 / 4),
        "marks suggested": (4 / 4, 1 / 2),  # B's own mark of the kind, at word 7, was not suggested
        "marks": (100 * 5 / 20, 100 * 4 / 20),
        "marks elsewhere": (100 * 1 / 20, 100 * 3 / 20),
        "seconds": (100 * 40 / 20, 100 * 80 / 20),
    }
    assert result.differences["suggestions marked"].value == 3 / 4
    assert result.differences["marks elsewhere"].value == -10
    assert result.fates == {"accepted": 4, "changed": 0, "rejected": 0, "left": 0}
    assert result.n_markings == {"with": 2, "without": 2}


def test_agreement_is_of_annotators_in_the_same_condition() -> None:
    more = [*MARKINGS, marked("e1", "C", "0 1 5!", shown=True), marked("e2", "C", "0 1", shown=True)]
    result = suggestion_effect(more)
    assert result.kappas["with"].value == 1
    assert "no essay was marked by two" in result.kappas["without"].undefined_because


def test_one_condition_alone_has_no_difference_and_says_why() -> None:
    result = suggestion_effect([each for each in MARKINGS if each.is_shown])
    assert all(isnan(result.differences[name].value) for name in MEASURES)
    assert "one of the two conditions" in " ".join(result.sheets()[0].notes)
    with pytest.raises(UsageError, match="who were shown suggestions"):
        suggestion_effect([each for each in MARKINGS if not each.is_shown])


def test_two_essays_have_no_interval_and_three_have_one() -> None:
    two = suggestion_effect(MARKINGS)
    assert two.differences["suggestions marked"].undefined_because.startswith("its cases come from 2 essays")
    assert two.warnings == ("only 2 essays: intervals by essay are rough below 10",)
    third = [marked("e3", "A", "0", shown=True), marked("e3", "B", "1 6", shown=False)]
    three = suggestion_effect([*MARKINGS, *third])
    difference = three.differences["suggestions marked"]
    # With 5 of 6 suggestions marked, without 2 of 6; leaving out e1, e2, e3 gives 1/2, 1/4 and 3/4.
    error = sqrt(((2 * (1 / 2 - np.array([1 / 2, 1 / 4, 3 / 4]))) ** 2).sum() / 6)
    assert difference.value == pytest.approx(1 / 2)
    assert difference.high - difference.value == pytest.approx(error * t_value(2))
    assert three.sheets()[-1].notes == ("95 % intervals generalise to other essays like these 3.",)


def test_the_order_of_markings_changes_nothing() -> None:
    first, second = (suggestion_effect(each) for each in (MARKINGS, MARKINGS[::-1]))
    assert first.to_dict() == second.to_dict()
    assert first.to_frame().height == 2 * len(MEASURES) + len(MEASURES) + 2
