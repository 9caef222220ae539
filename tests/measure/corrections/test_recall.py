"""Recall from marked source sentences by hand, in simulated corpora and by command; errors that are left; plans."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from benchmarks.recall import CELLS, SHARED, shares

import grater
from grater.errors import GraterError
from tests.cli.running import grater as command
from tests.each import for_each

A, B = range(1, 7), range(4, 9)
GONE = {"S": (1, 2, 4, 5), "late": (1, 2, 3, 4, 5, 6, 7)}


def in_essays(essays: int, columns: list[str], rows: list[tuple[object, ...]]) -> pl.DataFrame:
    """These rows of each error, in so many essays."""
    named = [(f"e{essay}-{error}", *rest, f"e{essay}") for essay in range(essays) for error, *rest in rows]
    return pl.DataFrame(named, schema=["item", *columns, "essay"], orient="row")


def marked(*, essays: int = 1) -> pl.DataFrame:
    """Ann finds errors 1 to 6, Bo 4 to 8, in each essay."""
    found = [*((error, "Ann") for error in A), *((error, "Bo") for error in B)]
    return in_essays(essays, ["rater", "label"], [(*row, "verb" if row[0] % 2 else "noun") for row in found])


def answers(*systems: str, essays: int = 1) -> pl.DataFrame:
    left = {error: "still there" if error % 2 == 0 else "replaced" for error in range(1, 9)}
    rows = [(at, name, "Cy", "gone" if at in GONE[name] else fate) for name in systems for at, fate in left.items()]
    return in_essays(essays, ["system", "rater", "label"], rows)


def verified(*, essays: int = 1) -> pl.DataFrame:
    """Error 8 is none: one of the two verifiers says so."""
    rows = [(at, who, "ok" if (at, who) == (8, "Di") else "error") for at in range(1, 9) for who in ("Cy", "Di")]
    return in_essays(essays, ["rater", "label"], rows)


def test_recall_of_a_small_marking_is_that_worked_out_by_hand() -> None:
    found = grater.recall(marked(), fates=answers("S"), verified=verified(), units="item")
    [system] = found.systems
    # Gone: Ann 4, Bo 2, both 2: 5 x 3 / 3 - 1 = 4.  Not gone: Ann 2, Bo 2, both 1: 3 x 3 / 2 - 1 = 3.5.
    assert system.recall.value == pytest.approx(4 / 7.5)
    assert system.union.value == pytest.approx(4 / 7)
    assert (found.n_marks, found.n_verified, found.n_found_by_both) == (8, 7, 3)
    assert dict(system.fates) == {"gone": 4, "still there": 1, "replaced": 2}
    assert [rater.sensitivity.value for rater in found.raters] == pytest.approx([3 / 4, 3 / 6])
    # Verbs are errors 1, 3, 5 and 7; gone: Ann 2, Bo 1, both 1; not gone: Ann 1, Bo 1, none by both.
    assert system.by_type["verb"].value == pytest.approx(2 / (2 + 3))
    [unverified] = grater.recall(marked(), fates=answers("S"), units="item").systems
    assert unverified.union.value == pytest.approx(4 / 8)


def test_a_later_system_is_scored_by_the_same_marks_and_compared(tmp_path: Path, capsys: Any) -> None:
    fates = answers("S", "late", essays=12)
    found = grater.recall(marked(essays=12), fates=fates, verified=verified(essays=12))
    assert [(each.system, each.group) for each in found.systems] == [("late", "A"), ("S", "B")]
    assert found.scope.unit == "essay"
    files = []
    for name, frame in (("", marked(essays=12)), ("--fates", fates), ("--verified", verified(essays=12))):
        frame.write_csv(tmp_path / f"table{name}.csv")
        files += [*filter(None, [name]), tmp_path / f"table{name}.csv"]
    ran = command(capsys, "lab", "recall", *files, "--json")
    assert json.loads(ran.out) == json.loads(json.dumps(found.to_dict()))
    assert "rather too high than too low" in " ".join(command(capsys, "lab", "recall", *files).out.split())
    open_marks = grater.recall(marked(essays=12), fates=fates.filter(pl.col("item") != "e0-1"))
    assert open_marks.warnings[0] == "S: 1 verified mark without an answer, left out"


REFUSED = {
    "two raters": lambda: grater.recall(
        marked().with_columns(rater=pl.col("rater") + pl.col("item")), fates=answers("S")
    ),
    "expected items of": lambda: grater.recall(marked().filter(pl.col("item") != "e0-1"), fates=answers("S")),
    "still there": lambda: grater.recall(marked(), fates=answers("S").with_columns(label=pl.lit("fixed"))),
    "`recall`": lambda: grater.plan(missed=0.02, errors_per_sentence=1.0),
}


@for_each(REFUSED)
def test_what_cannot_be_estimated_is_refused(reason: str) -> None:
    with pytest.raises(GraterError, match=reason):
        REFUSED[reason]()


@for_each(CELLS)
def test_recall_is_right_on_average_and_its_interval_holds_it(name: str) -> None:
    found = shares(CELLS[name], 400)
    assert abs(found["recall too high by"]) <= 0.01
    assert 0.93 <= found["recall"] <= 0.97


@for_each(SHARED)
def test_shared_difficulty_makes_recall_too_high_and_the_union_more_so(name: str) -> None:
    found = shares(SHARED[name], 400)
    assert 0.01 < found["recall too high by"] < found["union too high by"] < 0.07


def test_errors_that_are_left_are_counted_per_100_words() -> None:
    rows = [
        (f"s{number}", "S", rater, 1, int(rater == "Ann"), 0, 10 + number, f"d{number}")
        for number in range(6)
        for rater in ("Ann", "Bo")
    ]
    columns = ["item", "system", "rater", "missed", "half_right", "introduced", "words", "document"]
    found = grater.remaining(pl.DataFrame(rows, schema=columns, orient="row"))
    [system] = found.systems
    n_words = sum(range(10, 16))
    assert system.errors.value == pytest.approx(100 * 6 * 1.5 / n_words)
    assert system.kinds["missed"].value == pytest.approx(100 * 6 / n_words)
    assert system.errors.low < system.errors.value < system.errors.high
    assert system.kinds["introduced"].value == 0
    assert (found.scope.unit, system.n_words) == ("document", n_words)


@for_each([(0.5, 577), (0.8, 369), (0.95, 110)])  # about 1,537 x 1.5 x R (1 - R): 580, 370, 110 in the design
def test_a_plan_says_how_many_marks_and_sentences_a_width_needs(expected: tuple[float, int]) -> None:
    recall, n_marks = expected
    plan = grater.plan(recall=recall, width=0.1, errors_per_sentence=0.8)
    assert plan.marking is not None
    assert (plan.marking.n_marks, plan.marking.n_sentences) == (n_marks, -(-n_marks // (0.8 * 0.9375)))
    assert f"{n_marks} verified marks" in plan.sheets()[0].notes[-1]
