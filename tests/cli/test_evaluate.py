from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from grater.cli import app_of
from grater.cli.evaluate import evaluate_detectors
from grater.errors import GraterError, UsageError
from grater.tables import write_table
from tests.cli.running import invoked, widest
from tests.measure.evaluation.worlds import FLAGGED, SHARES, decisions, items, votes

app = app_of(evaluate_detectors)

run = partial(invoked, app)


@pytest.fixture
def world(tmp_path: Path) -> list[object]:
    """The worked example of Madnani 2011 as two files."""
    always = dict.fromkeys(["always"], [1] * len(FLAGGED))
    write_table(decisions({"S": FLAGGED, **always}), tmp_path / "d.csv")
    write_table(votes([round(20 * share) for share in SHARES], 20), tmp_path / "j.csv")
    write_table(items(list("aabbccdd")), tmp_path / "i.csv")
    return ["--decisions", tmp_path / "d.csv", "--judgments", tmp_path / "j.csv", "--resamples", 100]


def found(*args: object) -> Any:
    return json.loads(run(*args, "--json").stdout)


def test_json_has_the_keys_of_the_contract(world: list[object]) -> None:
    value = found(*world, "--weighted", "--bins", "0.5,0.75,0.9,1")
    system = value["systems"][0]
    assert system["system"] == "S"
    for name in ("precision", "recall", "f0.5", "f1"):
        assert set(system[name]) >= {"value", "low", "high"}
    assert set(system["counts"]) >= {"hit", "false_alarm", "miss"}
    assert system["weighted"]["precision"]["value"] == pytest.approx(0.7)
    assert system["weighted"]["f0.5"]["value"] == pytest.approx(0.694789, abs=5e-7)
    assert [(each["low"], each["high"], each["n"]) for each in system["bins"]] == [
        (0.5, 0.75, 3),
        (0.75, 0.9, 1),
        (0.9, 1, 4),
    ]
    for name in ("error_rate", "precision", "recall", "kappa"):
        assert set(system["bins"][0][name]) >= {"value", "low", "high"}
    assert "truth:majority" in value["signature"]
    assert "units:item" in value["signature"]


def test_every_rater_and_their_spread_come_with_one_command(world: list[object]) -> None:
    system = found(*world)["systems"][0]
    assert len(system["by_rater"]) == 20
    assert system["spread"]["precision"]["low"] < system["spread"]["precision"]["high"]
    shown = run(*world).stdout
    assert "S against each rater" in shown
    assert "lowest to highest" in shown


def test_the_terminal_shows_what_was_asked_in_a_hundred_and_twenty_columns(world: list[object]) -> None:
    plain = run(*world).stdout
    assert "Weighted" not in plain
    shown = run(*world, "--weighted", "--bins", "0.5,0.75,0.9,1").stdout
    for text in (
        "Weighted by the share of raters",
        ".700 [",
        "50-75 %",
        "Items by agreement",
        "items like these 8, taken as independent",
    ):
        assert text in shown
    assert widest(shown) <= 120


@pytest.mark.parametrize("cluster", ["essay", "document", "rater"])
def test_the_report_says_what_was_drawn(world: list[object], tmp_path: Path, cluster: str) -> None:
    shown = run(*world, "--items", tmp_path / "i.csv", "--cluster", cluster).stdout
    assert f"units:{cluster}" in "".join(shown.split())
    assert f"95 % intervals generalise to other {cluster}s like these" in " ".join(shown.split())


def test_share_as_truth_makes_the_first_numbers_weighted(world: list[object]) -> None:
    assert found(*world, "--truth", "share")["systems"][0]["precision"]["value"] == pytest.approx(0.7)


@pytest.mark.parametrize("truth", ["dawid-skene", "rater:r3"])
def test_other_truths_run(world: list[object], truth: str) -> None:
    assert f"truth:{truth}" in found(*world, "--truth", truth)["signature"]


def test_files_may_be_split(world: list[object], tmp_path: Path) -> None:
    rows = pl.read_csv(tmp_path / "j.csv")
    write_table(rows[:50], tmp_path / "j1.csv")
    write_table(rows[50:], tmp_path / "j2.csv")
    flags = pl.read_csv(tmp_path / "d.csv")
    write_table(flags[:5], tmp_path / "d1.csv")
    write_table(flags[5:], tmp_path / "d2.csv")
    parts = ["--decisions", tmp_path / "d2.csv", "--decisions", tmp_path / "d1.csv"]
    parts += ["--judgments", tmp_path / "j2.csv", "--judgments", tmp_path / "j1.csv", "--resamples", 100]
    assert found(*world) == found(*parts)


def test_parts_by_a_column(world: list[object], tmp_path: Path) -> None:
    value = found(*world, "--items", tmp_path / "i.csv", "--by", "essay")
    assert list(value["parts"]) == ["essay a", "essay b", "essay c", "essay d"]
    assert value["parts"]["essay a"]["systems"][0]["counts"]["hit"] == 2


def test_suggestions_are_scored_on_request(tmp_path: Path) -> None:
    flags = pl.DataFrame({"item": ["i0"], "system": ["S"], "flagged": [1], "suggestion": ["on"]})
    judged = pl.DataFrame(
        {"item": ["i0"] * 2, "rater": ["a", "b"], "label": ["error"] * 2, "alternatives": ["on", ""]}
    )
    write_table(flags, tmp_path / "d.csv")
    write_table(judged, tmp_path / "j.csv")
    args = ["--decisions", tmp_path / "d.csv", "--judgments", tmp_path / "j.csv", "--suggestions"]
    assert found(*args)["suggestions"][0]["any_rater"]["value"] == 1
    assert "some rater's" in run(*args).stdout


def test_columns_of_both_tables_may_bear_other_names(world: list[object], tmp_path: Path) -> None:
    write_table(pl.read_csv(tmp_path / "d.csv").rename({"flagged": "mark"}), tmp_path / "d2.csv")
    write_table(pl.read_csv(tmp_path / "j.csv").rename({"label": "verdict"}), tmp_path / "j2.csv")
    files = ["--decisions", tmp_path / "d2.csv", "--judgments", tmp_path / "j2.csv", "--resamples", 100]
    assert found(*files, "--columns", "flagged=mark,label=verdict") == found(*world)


def test_bad_edges_are_named(world: list[object]) -> None:
    with pytest.raises(UsageError, match="half"):
        run(*world, "--bins", "half,1")


def test_clusters_that_nobody_knows_ask_for_items(world: list[object]) -> None:
    with pytest.raises(GraterError, match="a table of items"):
        run(*world, "--cluster", "essay")


def test_items_without_a_judgment_are_a_row_of_their_own(tmp_path: Path) -> None:
    write_table(decisions({"S": [1, 0, 1]}), tmp_path / "d.csv")
    write_table(votes([1, 0], 2), tmp_path / "j.csv")
    result = run("--decisions", tmp_path / "d.csv", "--judgments", tmp_path / "j.csv")
    shown = " ".join(result.stdout.split())
    assert "not judged – –" in shown
    assert "1 items have no usable judgment; 1 flagged by S" in shown


def scored_world(tmp_path: Path, world: list[object]) -> list[object]:
    """The world with scores for S alone: 0.8 and down by tenths for what it flags, 0.4 and down for the rest."""
    scores = [0.8, 0.7, 0.4, 0.6, 0.3, 0.5, 0.2, 0.1]
    flags = pl.read_csv(tmp_path / "d.csv")
    of_s = pl.DataFrame({"item": [f"i{place}" for place in range(8)], "system": "S", "score": scores})
    write_table(flags.drop("score", strict=False).join(of_s, on=["item", "system"], how="left"), tmp_path / "d.csv")
    return world


def test_the_curve_goes_to_a_file_and_into_json(world: list[object], tmp_path: Path) -> None:
    value = found(*scored_world(tmp_path, world), "--curve", tmp_path / "curve.csv")
    (curve,) = value["curve"]
    assert (curve["system"], curve["higher"], curve["items"], curve["unscored"]) == ("S", "error", 8, 0)
    assert [point["threshold"] for point in curve["points"] if point["operating"]] == [0.5]
    (operating,) = (point for point in curve["points"] if point["operating"])
    assert operating["counts"] == value["systems"][0]["counts"]
    assert operating["weighted"]["precision"]["value"] == pytest.approx(0.7)
    table = pl.read_csv(tmp_path / "curve.csv")
    assert table["threshold"].to_list() == [point["threshold"] for point in curve["points"]]
    assert table["weighted_precision"].to_list() == pytest.approx(
        [point["weighted"]["precision"]["value"] for point in curve["points"]]
    )
    assert set(table["signature"]) == {curve["signature"]}


def test_json_has_no_curve_that_was_not_asked_for(world: list[object], tmp_path: Path) -> None:
    assert "curve" not in found(*scored_world(tmp_path, world))


def test_a_curve_says_what_to_beware_of(world: list[object], tmp_path: Path) -> None:
    said = run(*scored_world(tmp_path, world), "--curve", tmp_path / "c.csv", "--higher", "ok").stderr
    assert "too optimistic" in said
    assert "low scores are taken for errors" in said
    assert "always gave no scores and has no curve" in said


def test_a_curve_is_never_written_over_its_input(world: list[object], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="named twice"):
        run(*scored_world(tmp_path, world), "--curve", tmp_path / "d.csv")


def test_a_curve_without_any_score_is_refused(world: list[object], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="thresholds need scores"):
        run(*world, "--curve", tmp_path / "c.csv")
    assert not (tmp_path / "c.csv").exists()


def test_suggestions_are_held_against_adjudicated_corrections(tmp_path: Path) -> None:
    words = ["on", "in", "at"]
    write_table(decisions({"S": [1, 1, 1]}, suggestion=words), tmp_path / "d.csv")
    write_table(votes([2, 2, 2], 2), tmp_path / "j.csv")
    (tmp_path / "c.csv").write_text("item,label\ni0,on|upon\ni1,into\ni9,of\n")
    args = ["--decisions", tmp_path / "d.csv", "--judgments", tmp_path / "j.csv", "--corrections", tmp_path / "c.csv"]
    (system,) = found(*args)["suggestions"]
    assert (system["adjudicated"]["value"], system["adjudicated_recall"]["value"]) == pytest.approx((1 / 2, 1 / 3))
    assert "adjudicated" in run(*args).stdout


def test_gold_beside_another_truth_corrects_for_what_raters_get_wrong(tmp_path: Path) -> None:
    called = [2] * 40 + [0] * 60
    write_table(decisions({"S": [1] * 50 + [0] * 50}), tmp_path / "d.csv")
    write_table(votes(called, 2), tmp_path / "j.csv")
    rows = [f"i{place},{'error' if place < 30 else 'ok'}" for place in (*range(18), 38, 39, *range(60, 78))]
    (tmp_path / "g.csv").write_text("\n".join(["item,label", *rows]) + "\n")
    args = ["--decisions", tmp_path / "d.csv", "--judgments", tmp_path / "j.csv", "--gold", tmp_path / "g.csv"]
    value = found(*args)
    # all 18 gold errors are found; 18 of 20 good items are called good: (.8 + .9 - 1) / (1 + .9 - 1)
    assert value["rater_error"]["specificity"]["value"] == pytest.approx(0.9)
    assert value["corrected"]["S"]["precision"]["value"] == pytest.approx(0.7 / 0.9)
    assert value["systems"][0]["precision"]["value"] == pytest.approx(0.8)
    printed = run(*args).stdout
    assert "Corrected for what raters get wrong" in printed
    assert "raters: sensitivity 1.000 [.824, 1.000] on 18; specificity .900 [.699, .972] on 20 gold items" in printed


@pytest.fixture
def doubtful(tmp_path: Path) -> list[object]:
    """Three items by two raters: the first has a flagged context, the second a judgment of low confidence."""
    rows = [
        ("i1", "A", "error", "spelling", 1.0),
        ("i1", "B", "error", None, 1.0),
        ("i2", "A", "error", None, 0.2),
        ("i2", "B", "ok", None, 1.0),
        ("i3", "A", "ok", None, 1.0),
        ("i3", "B", "ok", None, 1.0),
    ]
    judged = pl.DataFrame(rows, schema=["item", "rater", "label", "flags", "confidence"], orient="row")
    decided = pl.DataFrame({"item": ["i1", "i2", "i3"], "system": ["S"] * 3, "flagged": [1, 1, 1]})
    write_table(judged, tmp_path / "j.csv")
    write_table(decided, tmp_path / "d.csv")
    return ["--decisions", tmp_path / "d.csv", "--judgments", tmp_path / "j.csv", "--resamples", 50]


def test_flagged_contexts_are_shown_apart(doubtful: list[object]) -> None:
    whole = found(*doubtful, "--contexts", "spelling")
    parts = whole["parts"]
    assert "|contexts:spelling|" in whole["signature"]
    assert parts["with flagged contexts"]["systems"][0]["precision"]["value"] == 1
    assert parts["without flagged contexts"]["systems"][0]["precision"]["value"] == 0.25


def test_low_confidence_is_shown_apart(doubtful: list[object]) -> None:
    parts = found(*doubtful, "--confidence-apart", 0.5)["parts"]
    assert parts["with low confidence"]["systems"][0]["precision"]["value"] == 0.5
    assert parts["without low confidence"]["systems"][0]["precision"]["value"] == 0.5


def test_a_confidence_that_nobody_stated_is_not_low(doubtful: list[object]) -> None:
    path = Path(str(doubtful[3]))
    told = pl.read_csv(path).with_columns(confidence=pl.when(pl.col("item") != "i3").then("confidence"))
    write_table(told, path)
    parts = found(*doubtful, "--confidence-apart", 0.5)["parts"]
    counts = {name: part["items"] for name, part in parts.items()}
    assert counts == {"without low confidence": 1, "with low confidence": 1, "confidence not stated": 1}
