from functools import partial
from pathlib import Path

import pytest

from grater.errors import GraterError
from tests.cli.running import as_json, invoked

run = partial(invoked, "plan")
found = partial(as_json, "plan")


def test_four_ways_stand_side_by_side_with_the_hours_of_the_paper() -> None:
    shown = run("--recall", 0.5, "--wage", 20, "--raters-per-item", 2).stdout
    for text in ("exhaustive", "verification", "sampling", "ours", "recall .50"):
        assert text in shown
    assert max(map(len, shown.splitlines())) <= 120
    # T&C 2008, section 6: 1,000 errors at 10 %, 500 items in 4 hours
    value = found("--missed", 0.02 / 0.9, "--errors", 1000)
    assert value["plans"][0]["items"] == 10_000
    assert value["plans"][0]["hours"] == pytest.approx(80)


def test_assumptions_are_printed_and_warned_of() -> None:
    # issue 34, defect 12
    ran = run("--width", 0.1, "--recall", 0.2)
    assert "error rate .400" in ran.stdout
    assert "flag rate and precision are assumed, which makes 40.0% of all items errors" in ran.stderr
    assert found("--recall", 0.2)["expected"]["assumed"] == ["flag rate", "precision"]
    given = run("--recall", 0.2, "--flag-rate", 0.1, "--precision", 0.8)
    assert "assumed" not in given.stdout + given.stderr


def test_raters_are_worked_out_from_how_often_one_is_right_or_from_kappa() -> None:
    value = found("--recall", 0.4, "--rater-accuracy", 0.85)
    # the majority of three is right on .939, that of five on .973
    assert value["raters"]["n"] == value["work"]["raters"] == 5
    assert value["raters"]["majority"]["sensitivity"] == pytest.approx(0.973388, abs=1e-6)
    alone = found("--recall", 0.4)
    assert value["plans"][2]["hours"] == pytest.approx(5 * alone["plans"][2]["hours"])
    shown = run("--recall", 0.4, "--kappa", 0.63).stdout
    assert "3 raters per item" in shown
    assert "would be judged to be" in shown


def test_a_pilot_with_gold_says_what_raters_are_like(tmp_path: Path) -> None:
    rows = [(f"g{n}", "error" if n < 20 else "ok") for n in range(40)]
    (tmp_path / "g.csv").write_text("item,label\n" + "".join(f"{item},{label}\n" for item, label in rows))
    rows_written = [f"{item},r,{label if n % 10 else 'ok'}" for n, (item, label) in enumerate(rows)]
    (tmp_path / "j.csv").write_text("\n".join(["item,rater,label", *rows_written]) + "\n")
    args = ["--judgments", tmp_path / "j.csv", "--gold", tmp_path / "g.csv", "--raters-per-item", 3]
    value = found("--recall", 0.4, *args)
    assert value["raters"]["one"] == {"sensitivity": 0.9, "specificity": 1.0}
    assert value["raters"]["majority"]["sensitivity"] == pytest.approx(0.972)


def test_strata_of_the_score_are_a_row_of_their_own(tmp_path: Path) -> None:
    scores = [(n % 1000) ** 3 / 1e9 for n in range(4000)]
    rows = [f"i{n},S,{int(score > 0.7)},{score}" for n, score in enumerate(scores)]
    (tmp_path / "d.csv").write_text("\n".join(["item,system,flagged,score", *rows]) + "\n")
    value = found("--decisions", tmp_path / "d.csv")
    plans = {row["method"]: row for row in value["plans"]}
    assert plans["ours, 10 strata"]["items"] <= 1.01 * plans["ours"]["items"] < plans["sampling"]["items"]
    assert value["expected"]["items"] == 4000
    assert value["expected"]["assumed"] == ["error rates from scores"]
    assert "assumed to be probabilities" in value["warnings"][0]
    with pytest.raises(GraterError, match="found both"):
        run("--decisions", tmp_path / "d.csv", "--corpus-size", 500)


def test_scores_that_are_no_probabilities_need_a_guess(tmp_path: Path) -> None:
    rows = [f"i{n},S,{int(n % 10 == 0)},{n % 10 - 12}" for n in range(4000)]
    (tmp_path / "d.csv").write_text("\n".join(["item,system,flagged,score", *rows]) + "\n")
    with pytest.raises(GraterError, match="give precision and missed, or a rate for flagged"):
        run("--decisions", tmp_path / "d.csv")
    with pytest.raises(GraterError, match="expected one of rates, missed and recall"):
        run("--decisions", tmp_path / "d.csv", "--recall", 0.4, "--missed", 0.1)
    # a tenth is flagged, .8 of that are errors: recall .4 leaves .08 / .4 - .08 = .12 of the corpus missed
    guesses = [("--recall", 0.4), ("--missed", 0.12 / 0.9), ("--rate", "flagged=.8", "--rate", "unflagged=.133333")]
    plans = [found("--decisions", tmp_path / "d.csv", *each)["plans"] for each in guesses]
    first, second, third = ([row["items"] for row in rows[1:]] for rows in plans)
    assert first == second == third


def test_a_cheap_judge_saves_judgments() -> None:
    value = found("--recall", 0.4, "--judge-skill", "0.8,0.95")
    plans = {row["method"]: row for row in value["plans"]}
    assert plans["ours, with a cheap judge"]["items"] < plans["ours"]["items"]
    useless = found("--recall", 0.4, "--judge-skill", "0.5,0.5")["plans"]
    assert useless[-1]["items"] == plans["ours"]["items"]
