import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from grater.cli import app_of
from grater.cli.sample import estimate_systems
from grater.errors import GraterError
from grater.measure.sampling.draw import draw_sample
from grater.tables import write_table
from tests.cli.running import widest
from tests.measure.sampling.corpora import figure_1

estimate_app = app_of(estimate_systems)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("figure")
    decisions, judgments = figure_1()
    write_table(decisions, folder / "decisions.csv")
    write_table(judgments, folder / "judgments.csv")
    write_table(draw_sample(decisions, "S", 2250), folder / "sample.csv")
    return folder


def run(files: Path, *args: object) -> Result:
    paths = [
        part for name in ("decisions", "sample", "judgments") for part in (f"--{name}", str(files / f"{name}.csv"))
    ]
    result = CliRunner().invoke(estimate_app, [*paths, *map(str, args)])
    if result.exception:
        raise result.exception
    return result


def test_estimates_stand_on_a_terminal_in_a_hundred_and_twenty_columns(files: Path) -> None:
    shown = run(files).stdout
    for text in ("S, from a sample", "precision", "recall", "F0.5", "the paper's", "sampled|grater:"):
        assert text in shown
    assert "2,250 of 2,250 drawn items judged, 10,000 in the corpus" in shown
    assert widest(shown) <= 120


def test_json_alone_is_on_standard_output(files: Path) -> None:
    value = json.loads(run(files, "--json").stdout)
    (system,) = value["systems"]
    assert system["system"] == "S"
    assert system["recall"]["low"] < 0.228571 < system["recall"]["high"]
    assert system["counts"]["hit"] + system["counts"]["false_alarm"] == pytest.approx(1000)
    assert value["signature"].startswith("sampled|")


def test_without_finite_correction_limits_are_wider(files: Path) -> None:
    own, wider = (
        json.loads(run(files, "--json", *options).stdout)["systems"][0]["recall"]
        for options in (("--population", "these"), ())
    )
    assert wider["high"] - wider["low"] > own["high"] - own["low"]


def test_the_way_to_a_wanted_width_is_told(files: Path) -> None:
    assert "more bring the width to 0.01" in run(files, "--width", 0.01, "--population", "these").stderr
    assert "more bring the width to 0.03" in run(files, "--width", 0.034).stderr
    assert "no known number of judgments of this corpus" in run(files, "--width", 0.01).stderr
    assert "it is within a width of 0.50" in run(files, "--width", 0.5).stderr


@pytest.fixture(scope="module")
def gold(files: Path) -> Path:
    # The oracle of Figure 1 calls the first 800 items errors: it misses 998 and 999, and is wrong on 798 and 799.
    known = {place: "error" if place < 798 else "ok" for place in range(760, 840)} | {998: "error", 999: "error"}
    rows = [f"item-{place:05},{label}" for place, label in known.items()]
    path = files / "gold.csv"
    path.write_text("\n".join(["item,label", *rows]) + "\n")
    return path


def test_gold_shows_scores_as_judged_and_corrected(files: Path, gold: Path) -> None:
    shown = run(files, "--gold", gold)
    for text in ("corrected for rater error", "as judged", "raters: sensitivity .950", "sampled-corrected|"):
        assert text in shown.stdout
    assert widest(shown.stdout) <= 120


def test_json_has_both_and_what_raters_are_like(files: Path, gold: Path) -> None:
    plain, value = (json.loads(run(files, "--json", *more).stdout) for more in ((), ("--gold", gold)))
    (system,), (alone,) = value["systems"], plain["systems"]
    # 38 of 40 gold errors are called errors, 40 of 42 good items good; items 798 and 799 are called errors
    assert value["rater_error"]["sensitivity"]["value"] == pytest.approx(38 / 40)
    assert value["rater_error"]["specificity"]["value"] == pytest.approx(40 / 42)
    judged, informed = system["precision"]["value"], 38 / 40 + 40 / 42 - 1
    assert system["corrected"]["precision"]["value"] == pytest.approx((judged + 40 / 42 - 1) / informed)
    assert system["corrected"]["recall"]["low"] < system["corrected"]["recall"]["high"]
    assert system["recall"] == alone["recall"]
    assert "rater_error" not in plain
    assert "corrected" not in alone


def test_too_little_gold_corrects_nothing_and_says_why(files: Path) -> None:
    short = files / "short.csv"
    short.write_text("item,label\nitem-00001,error\nitem-05000,ok\n")
    result = run(files, "--gold", short, "--json")
    corrected = json.loads(result.stdout)["systems"][0]["corrected"]
    assert corrected["recall"]["value"] is None
    assert "found 1" in corrected["recall"]["reason"]
    assert "warning: nothing is corrected: expected 10 judged gold items" in result.stderr


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--width", "2"], "expected --width between 0 and 1"),
        (["--system", "T"], "unknown system 'T'"),
        (["--truth", "mean"], "unknown truth 'mean'"),
    ],
)
def test_wrong_use_is_answered_in_one_line(files: Path, args: list[str], message: str) -> None:
    with pytest.raises(GraterError, match=message):
        run(files, *args)


def test_parts_and_units_come_from_the_items(files: Path) -> None:
    rows = [f"item-{place:05},e{place % 50},0,1,prep,{'zh' if place % 2 else 'ru'}" for place in range(10_000)]
    items = files / "items.csv"
    items.write_text("\n".join(["item,essay,start,end,kind,l1", *rows]) + "\n")
    result = run(files, "--items", items, "--by", "l1", "--cluster", "essay", "--resamples", 50)
    assert "l1 zh: S, from a sample" in result.stdout
    assert "to other essays like these 50 (resampled by essay, design effect" in result.stdout
    assert "totals of parts need not add up to those of all" in result.stdout
    assert "add up" not in run(files, "--items", items, "--resamples", 50).stdout
    value = json.loads(run(files, "--items", items, "--by", "l1", "--unknown", "apart", "--json").stdout)
    assert set(value["parts"]) == {"l1 ru", "l1 zh", "without unknown"}
    assert value["parts"]["l1 ru"]["systems"][0]["recall"]["value"] > 0


def test_gold_items_are_not_counted_as_strangers(files: Path, gold: Path) -> None:
    few = files / "few.csv"
    lines = (files / "judgments.csv").read_text().splitlines()
    drawn = {line.split(",")[0] for line in (files / "sample.csv").read_text().splitlines()}
    known = {line.split(",")[0] for line in gold.read_text().splitlines()}
    few.write_text("\n".join(line for line in lines if line.split(",")[0] in drawn | known) + "\n")
    paths = [part for name in ("decisions", "sample") for part in (f"--{name}", str(files / f"{name}.csv"))]
    result = CliRunner().invoke(estimate_app, [*paths, "--judgments", str(few), "--gold", str(gold)])
    assert result.exception is None
    assert "not in the sample" not in result.stderr


def test_a_cheap_judge_of_every_item_narrows_intervals(files: Path) -> None:
    plain, helped = (
        json.loads(run(files, "--json", *more).stdout) for more in ((), ("--assist", files / "judgments.csv"))
    )
    widths = [
        value["systems"][0]["recall"]["high"] - value["systems"][0]["recall"]["low"] for value in (plain, helped)
    ]
    assert widths[1] < widths[0]
    assert helped["assist"]["judgments_saved"]["S"] > 0
    with pytest.raises(GraterError, match="no such file"):
        run(files, "--assist", "nowhere.csv")
