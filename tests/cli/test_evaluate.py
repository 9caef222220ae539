"""`grater evaluate` and `grater compare`."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from grater.errors import UsageError
from grater.measure.sampling.draw import draw_sample
from grater.tables import write_table
from tests.cli.running import INTERVAL, SPOKEN, Capture, as_json, grater, invoked, widest
from tests.measure.evaluation.worlds import FLAGGED, SHARES, decisions, items, votes
from tests.measure.sampling.corpora import figure_1

D, J = Path("d.csv"), Path("j.csv")
EVALUATE = "evaluate --decisions d.csv --judgments j.csv"


@pytest.fixture(autouse=True)
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The worked example of Madnani 2011 as two files."""
    monkeypatch.chdir(tmp_path)
    write_table(decisions({"S": FLAGGED, "always": [1] * len(FLAGGED)}), D)
    write_table(votes([round(20 * share) for share in SHARES], 20), J)


def test_the_terminal_shows_weights_and_bins_where_these_are_asked_for() -> None:
    assert "Weighted" not in invoked(EVALUATE).stdout
    shown = invoked(EVALUATE, "--weighted", "--bins", "0.5,0.75,0.9,1").stdout
    for text in ("Weighted by the share of raters", ".700 [", "50-75 %", "Items by agreement", "lowest to highest"):
        assert text in shown
    assert "items taken as independent: their essays are not known" in " ".join(shown.split())
    assert widest(shown) <= 120


def test_csv_has_cells_alone_and_notes_are_reported_next_to_it(capsys: Capture) -> None:
    ran = grater(capsys, *EVALUATE.split(), "--table", "csv")
    assert INTERVAL.search(ran.out)
    assert SPOKEN.search(ran.err)
    assert not SPOKEN.search(ran.out)


def test_files_may_be_split_and_columns_bear_other_names() -> None:
    rows = pl.read_csv(J).rename({"label": "verdict"})
    flags = pl.read_csv(D).rename({"flagged": "mark"})
    parts: list[str] = []
    for option, frame, at in (("--decisions", flags, 5), ("--judgments", rows, 50)):
        for number, part in enumerate((frame[at:], frame[:at])):
            name = f"part{len(parts)}-{number}.csv"
            write_table(part, Path(name))
            parts += [option, name]
    assert as_json("evaluate --columns flagged=mark,label=verdict", *parts) == as_json(EVALUATE)


def test_the_curve_goes_to_a_file_and_into_json_and_needs_scores() -> None:
    command = f"{EVALUATE} --curve c.csv"
    with pytest.raises(UsageError, match="thresholds need scores"):
        invoked(command)
    assert not Path("c.csv").exists()
    of_s = pl.DataFrame({"item": [f"i{n}" for n in range(8)], "system": "S", "score": [8, 7, 4, 6, 3, 5, 2, 1]})
    flags = pl.read_csv(D).drop("score", strict=False)
    write_table(flags.join(of_s.with_columns(pl.col("score") / 10), on=["item", "system"], how="left"), D)
    value = as_json(command)
    (curve,) = value["curve"]
    assert (curve["system"], curve["higher"], curve["items"], curve["unscored"]) == ("S", "error", 8, 0)
    (operating,) = (point for point in curve["points"] if point["operating"])
    assert (operating["threshold"], operating["counts"]) == (0.5, value["systems"][0]["counts"])
    assert operating["weighted"]["precision"]["value"] == pytest.approx(0.7)
    table = pl.read_csv("c.csv")
    assert table["threshold"].to_list() == [point["threshold"] for point in curve["points"]]
    assert set(table["signature"]) == {curve["signature"]}
    messages = invoked(command).stderr
    for words in ("too optimistic", "always gave no scores and has no curve"):
        assert words in messages


def test_flagged_contexts_are_shown_separately() -> None:
    # three items by two raters: the first has a flagged context
    labels = ("i1,A,error,spelling", "i1,B,error,", "i2,A,error,", "i2,B,ok,", "i3,A,ok,", "i3,B,ok,")
    J.write_text("\n".join(("item,rater,label,flags", *labels)) + "\n")
    D.write_text("item,system,flagged\ni1,S,1\ni2,S,1\ni3,S,1\n")
    value = as_json(EVALUATE, "--contexts", "spelling")
    precisions = {name: part["systems"][0]["precision"]["value"] for name, part in value["parts"].items()}
    assert precisions == {"without flagged contexts": 0.25, "with flagged contexts": 1}
    assert "|contexts:spelling|" in value["signature"]


def test_estimates_from_a_sample_and_the_way_to_a_wanted_width() -> None:
    # T&C 2008, Figure 1, and a sample of it
    table, judgments = figure_1()
    sample = draw_sample(table, "S", 2250)
    write_table(table, D)
    write_table(sample, Path("s.csv"))
    write_table(judgments.frame.join(sample.frame, on="item", how="semi"), J)
    command = f"{EVALUATE} --sample s.csv"
    ran = invoked(command)
    for text in ("estimated for 10,000 items: 2,250 of 2,250 drawn items judged", "The paper's normal intervals"):
        assert text in ran.stdout
    assert "design:stratified" in "".join(ran.stdout.split())
    assert widest(ran.stdout) <= 120
    value = as_json(command)
    (system,), (estimated,) = value["systems"], value["sample"]["systems"]
    assert system["recall"]["low"] < 0.228571 < system["recall"]["high"]
    assert system["counts"]["hit"] + system["counts"]["false_alarm"] == pytest.approx(1000)
    assert [row["judged"] for row in estimated["strata"]] == [750, 1500]
    these = as_json(command, "--population", "these")["systems"][0]["recall"]
    assert these["high"] - these["low"] < system["recall"]["high"] - system["recall"]["low"]
    rows = [f"item-{place:05},e{place % 50},0,1,prep,{'zh' if place % 2 else 'ru'}" for place in range(10_000)]
    Path("i.csv").write_text("\n".join(["item,essay,start,end,kind,l1", *rows]) + "\n")
    parts = invoked(f"{command} --items i.csv --by l1").stdout
    assert "l1 zh: 1," in parts
    assert "to other essays like these 50 (design effect" in " ".join(parts.split())
    assert "more bring the width to 0.01" in invoked(f"{command} --width 0.01 --population these").stderr
    assert "no known number of judgments of this corpus" in invoked(command, "--width", 0.01).stderr
    assert "it is within a width of 0.50" in invoked(command, "--width", 0.5).stderr


def test_the_table_names_tests_groups_and_units() -> None:
    truth = [place % 3 == 0 for place in range(120)]
    good = [int(mark) if place % 15 else 1 - mark for place, mark in enumerate(truth)]
    write_table(decisions({"bad": [place % 2 for place in range(120)], "good": good}), D)
    write_table(votes([3 * mark for mark in truth], 3), J)
    write_table(items([str(place // 5) for place in range(120)]), Path("i.csv"))
    compare = "compare --decisions d.csv --judgments j.csv --items i.csv"
    [test] = as_json(compare, "--weighted")["pairs"]
    assert (test["systems"], "randomisation" in test) == (["good", "bad"], False)
    shown = invoked(compare, "--test", "randomisation").stdout
    for text in ("2 systems on 120 common items, best f0.5 first", "randomisation p", "McNemar mid-p", "group"):
        assert text in shown
    assert "other essays like these 24" in " ".join(shown.split())
    assert widest(shown) <= 120
    by_kind = invoked(f"{compare} --by kind --units document").stdout
    assert "kind prep: 2 systems on 120 common items" in by_kind
