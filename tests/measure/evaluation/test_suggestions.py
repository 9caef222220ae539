"""Suggestions against those of raters and adjudicated ones; scores by type of error: choice, extraneous, missing."""

from __future__ import annotations

from math import isnan, nan, sqrt
from typing import Any

import numpy as np
import polars as pl
import pytest

import grater
from grater.errors import UsageError
from grater.measure.evaluation.evaluation import Evaluation
from grater.measure.evaluation.offered import MEASURES, MarkedOnce, suggestion_effect
from grater.measure.evaluation.selection import choice_study, cloze_study, corrected_accuracy
from grater.measure.evaluation.suggestions import suggestions
from grater.model import Edit, Essay, Interval, Span, Suggestion
from grater.tables import Judgments, Table, read_decisions, read_gold, read_judgments
from grater.uncertainty import t_value, wilson
from tests.measure.agreement.tables import judgments
from tests.measure.evaluation.worlds import limits

# i0: two of three raters want `on`, one of them also `upon`; i1: delete it; i2: fine; i3: nobody judged; i4: missed
JUDGED = judgments(
    *("i0 a error", "i0 b error", "i0 c ok", "i1 a error", "i1 b error", "i1 c unknown", "i2 a ok", "i2 b ok"),
    "i4 a error",
    alternatives=["on|upon", "On", None, "-NONE-", "to", None, None, None, "in"],
)


def decided(*words: str | None) -> Table:
    rows = [(f"i{place}", "S", True, word) for place, word in enumerate(words)]
    return read_decisions(pl.DataFrame(rows, schema=["item", "system", "flagged", "suggestion"], orient="row"))


def test_a_suggestion_is_right_where_some_rater_gave_it() -> None:
    [found] = grater.evaluate(decided("on", "-NONE-", "at", "of"), JUDGED, suggestions=True).suggestions
    assert (found.n, found.n_blank, found.n_unjudged) == (3, 0, 1)
    assert found.scores["any_rater"] == wilson(2, 3)
    # shares of raters: 2/3, 1/2, 0
    assert found.scores["graded"].value == pytest.approx((2 / 3 + 1 / 2) / 3, abs=1e-12)
    # of i0, i1 and i4, errors to most
    assert found.scores["recall"] == wilson(2, 3)
    [blank] = suggestions(decided("upon", None), JUDGED)
    assert (blank.n, blank.n_blank, blank.scores["any_rater"]) == (1, 1, wilson(1, 1))


def test_adjudicated_corrections_come_from_gold() -> None:
    gold = read_gold(pl.DataFrame({"item": ["i0", "i1"], "label": ["on|upon", "to"]}))
    [found] = suggestions(decided("upon", "-NONE-", "at"), JUDGED, corrections=gold)
    assert (found.scores["adjudicated"], found.scores["adjudicated_recall"]) == (wilson(1, 2), wilson(1, 2))
    bare = Judgments(JUDGED.frame.drop("alternatives"), "bare")
    [alone] = suggestions(decided("upon"), bare, corrections=gold)
    assert (alone.scores["adjudicated"], alone.scores["adjudicated_recall"]) == (wilson(1, 1), wilson(1, 2))
    assert alone.scores["any_rater"].undefined_because == "raters gave no alternatives"
    [without] = suggestions(decided("upon"), JUDGED)
    assert isnan(without.scores["adjudicated"].value)
    with pytest.raises(UsageError, match="alternatives"):
        suggestions(decided("on"), bare)


# Types of error

FLAGS = {
    # item: (flagged, type of the flag, label of both raters)
    "c1": (1, "choice", "1"),
    "c2": (1, "choice", "1"),
    "c3": (0, None, "1"),
    "x1": (1, "extraneous", "0"),
    "x2": (1, "choice", "0"),
    "x3": (0, None, "0"),
    "x4": (0, None, "0"),
    "ok1": (1, "extraneous", "2"),
    "ok2": (0, None, "e"),
    "ok3": (0, None, "2"),
}
VERDICT = {"0": "error", "1": "error", "2": "ok", "e": "ok"}


def tables() -> tuple[pl.DataFrame, pl.DataFrame]:
    decisions = [{"item": item, "system": "S", "flagged": flag, "type": of} for item, (flag, of, _) in FLAGS.items()]
    judgments = [
        {"item": item, "rater": rater, "label": label} for item, (_, _, label) in FLAGS.items() for rater in "AB"
    ]
    return pl.DataFrame(decisions), pl.DataFrame(judgments)


def by_type(evaluation: Evaluation) -> dict[str, Any]:
    made: Any = evaluation.to_dict()
    return {row["type"]: row for row in made["by_type"]}


def test_merged_ratings_keep_the_type_of_an_error_and_without_types_recall_by_type_is_unknown() -> None:
    decisions, judged = tables()
    evaluation = grater.evaluate(decisions, grater.read_judgments(judged, merge=VERDICT))
    rows = by_type(evaluation)
    assert rows["choice"]["precision"]["value"] == pytest.approx(1)
    assert rows["choice"]["recall"] == pytest.approx(wilson(2, 3).as_json())
    assert rows["extraneous"]["precision"]["value"] == 0.5
    # One of them was flagged as a wrong choice: it is found all the same
    assert rows["extraneous"]["recall"] == pytest.approx(wilson(2, 4).as_json())
    sheet = next(sheet for sheet in evaluation.sheets() if sheet.name == "by-type")
    assert [row[1] for row in sheet.rows] == ["choice", "extraneous", "all types"]
    rows = by_type(grater.evaluate(decisions, judged.with_columns(pl.col("label").replace(VERDICT))))
    assert rows["choice"]["recall"]["value"] is None
    assert "did not state the types" in rows["choice"]["recall"]["reason"]
    assert rows["not named"]["errors"] == 7


def test_alternatives_and_gaps_tell_the_type_too() -> None:
    decisions, judged = tables()
    words = pl.col("label").replace_strict({"0": "-NONE-", "1": "at|in"}, default=None, return_dtype=pl.String)
    verdicts = judged.with_columns(pl.col("label").replace(VERDICT), alternatives=words)
    items = [
        {"item": item, "essay": f"e{at % 4}", "start": at, "end": at if item == "c3" else at + 1, "kind": "prep"}
        for at, item in enumerate(FLAGS)
    ]
    rows = by_type(grater.evaluate(decisions, verdicts, items=pl.DataFrame(items)))
    assert [rows[name]["errors"] for name in ("extraneous", "choice", "missing")] == [4, 2, 1]
    assert rows["missing"]["recall"]["value"] == 0


def words(**by_rater: str) -> Judgments:
    """The words of each rater for blanks b0, b1, ..."""
    return judgments(
        *(f"b{place} {rater} {word}" for rater, text in by_rater.items() for place, word in enumerate(text.split()))
    )


def test_the_rows_of_table_2_are_writer_with_raters_then_systems_then_raters() -> None:
    table = words(writer="in on at in", ann="in on at on", bob="In at at in")
    flags = [
        {"item": f"b{place}", "system": "S", "flagged": True, "suggestion": word}
        for place, word in enumerate(["in", "on", "on", "in"])
    ]
    found = cloze_study(table, decisions=read_decisions(pl.DataFrame(flags))).pairs
    pairs = [("writer", "ann"), ("writer", "bob"), ("writer", "S"), ("ann", "bob")]
    assert [(pair.first, pair.second) for pair in found] == pairs
    assert [pair.agreement.value for pair in found] == [0.75, 0.75, 0.75, 0.5]
    # writer in 2, on 1, at 1; ann in 1, on 2, at 1: by chance (2 + 2 + 1) / 16
    assert found[0].kappa.value == pytest.approx((0.75 - 5 / 16) / (1 - 5 / 16))
    assert found[0].n == 4


def choices(*rows: tuple[str, str]) -> Judgments:
    """A row an item: what ann and bob chose."""
    cells = [
        (f"c{place}", rater, label)
        for place, labels in enumerate(rows)
        for rater, label in zip(("ann", "bob"), labels, strict=True)
    ]
    return read_judgments(pl.DataFrame(cells, schema=["item", "rater", "label"], orient="row"))


def test_shares_equal_or_better_per_rater_and_for_both() -> None:
    found = choice_study(
        choices(
            ("system", "equally-good"),
            ("writer", "system"),
            ("equally good", "writer"),
            ("writer", "writer"),
            ("equally bad", "system"),
        )
    ).choice
    for share, expected in (("ann", wilson(2, 4)), ("bob", wilson(3, 5)), ("all raters", wilson(1, 4))):
        assert limits(found.shares[share]) == pytest.approx(limits(expected))
    assert (found.n_items, found.n_equally_bad) == (5, 1)
    table = choices(("system", "system"), ("equally bad", "writer"))
    for share, expected in (
        (choice_study(table).choice.by_rater["ann"], wilson(1, 1)),
        (choice_study(table, equally_bad="worse").choice.by_rater["ann"], wilson(1, 2)),
    ):
        assert limits(share) == pytest.approx(limits(expected))


def test_accuracy_of_75_is_82_where_28_percent_of_mismatches_are_no_errors() -> None:
    # T&C 2008, 4.2; 150 of 200 sentences, 56 of 200 mismatches
    found = corrected_accuracy(wilson(150, 200), wilson(56, 200))
    assert found.value == pytest.approx(0.82)
    assert 0.75 < found.low < 0.82 < found.high < 0.88
    bare = corrected_accuracy(Interval(0.75, nan, nan, "as printed"), Interval(0.28, nan, nan))
    assert (bare.value, bare.undefined_because) == (pytest.approx(0.82), "as printed")
    assert isnan(bare.low)
    with pytest.raises(UsageError, match="from 0 to 1"):
        corrected_accuracy(Interval(75, 70, 80), Interval(0.28, 0.2, 0.3))


TEXT = "one two six ten one two six ten one two"  # ten words, each three letters and a blank


def word(n: int) -> Span:
    return Span(4 * n, 4 * n + 3)


def marked(essay: str, rater: str, places: str, *, shown: bool) -> MarkedOnce:
    """Marks at words: `0` is one of the kind that is suggested, for words 0 and 1, and `5!` one of another kind."""
    edits = tuple(
        Edit(word(int(place.rstrip("!"))), ("x",), "Nn" if place.endswith("!") else "Wcip", rater)
        for place in places.split()
    )
    suggested = tuple(Suggestion(span=word(n), tag="Wcip", replacements=("at",)) for n in (0, 1))
    spans = {edit.span for edit in edits}
    fates = tuple("accepted" if each.span in spans else "rejected" for each in suggested)
    return MarkedOnce(
        essay=Essay(essay, TEXT),
        rater=rater,
        edits=edits,
        suggestions=suggested,
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


def test_agreement_is_of_annotators_in_one_condition_and_one_condition_alone_has_no_difference() -> None:
    more = [*MARKINGS, marked("e1", "C", "0 1 5!", shown=True), marked("e2", "C", "0 1", shown=True)]
    result = suggestion_effect(more)
    assert result.kappas["with"].value == 1
    assert "no essay was marked by two" in result.kappas["without"].undefined_because
    shown = suggestion_effect([each for each in MARKINGS if each.is_shown])
    assert all(isnan(shown.differences[name].value) for name in MEASURES)
    assert "one of the two conditions" in " ".join(shown.sheets()[0].notes)
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
