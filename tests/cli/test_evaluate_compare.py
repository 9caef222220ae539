from __future__ import annotations

import json
from pathlib import Path

import pytest

from grater.cli import app_of
from grater.cli.evaluate import compare_detectors
from grater.tables import write_table
from tests.cli.running import RUNNER, widest
from tests.measure.evaluation.worlds import decisions, items, votes

compare_app = app_of(compare_detectors)


@pytest.fixture
def args(tmp_path: Path) -> list[str]:
    truth = [place % 3 == 0 for place in range(120)]
    good = [int(mark) if place % 15 else 1 - mark for place, mark in enumerate(truth)]
    bad = [place % 2 for place in range(120)]
    write_table(decisions({"bad": bad, "good": good}), tmp_path / "d.csv")
    write_table(votes([3 * mark for mark in truth], 3), tmp_path / "j.csv")
    files = ["--decisions", str(tmp_path / "d.csv"), "--judgments", str(tmp_path / "j.csv")]
    return [*files, "--resamples", "300"]


@pytest.mark.parametrize("extra", [[], ["--weighted"], ["--score", "recall"], ["--test", "randomisation"]])
def test_the_better_system_comes_first_and_is_told_apart(args: list[str], extra: list[str]) -> None:
    value = json.loads(RUNNER.invoke(compare_app, [*args, *extra, "--json"]).stdout)
    assert [(system["system"], system["group"]) for system in value["systems"]] == [("good", "A"), ("bad", "B")]
    [pair] = value["pairs"]
    assert pair["systems"] == ["good", "bad"]
    assert pair["difference"]["low"] > 0
    assert pair["mcnemar"]["mid_p"] < 0.001
    assert pair["randomisation"]["p_holm"] < 0.05


def test_parts_are_compared_by_themselves(args: list[str], tmp_path: Path) -> None:
    write_table(items(["a" if place < 60 else "b" for place in range(120)]), tmp_path / "i.csv")
    value = json.loads(
        RUNNER.invoke(compare_app, [*args, "--items", str(tmp_path / "i.csv"), "--by", "essay", "--json"]).stdout
    )
    parts = value["parts"]
    assert [part["items"] for part in parts.values()] == [60, 60]
    of_parts = [sum(part["pairs"][0]["mcnemar"]["discordant"]) for part in parts.values()]
    assert sum(of_parts) == sum(value["pairs"][0]["mcnemar"]["discordant"])


def test_the_table_names_tests_and_groups(args: list[str]) -> None:
    shown = RUNNER.invoke(compare_app, args).stdout
    assert "good – bad" in shown
    assert "share a letter" in shown
    assert widest(shown) <= 120


def test_gold_corrects_both_systems_alike(args: list[str], tmp_path: Path) -> None:
    rows = [f"i{place},{'error' if place % 3 == 0 else 'ok'}" for place in range(60)]
    (tmp_path / "g.csv").write_text("\n".join(["item,label", *rows]) + "\n")
    gold = ["--gold", str(tmp_path / "g.csv")]
    plain, value = (json.loads(RUNNER.invoke(compare_app, [*args, *more, "--json"]).stdout) for more in ([], gold))
    # raters are right on all gold items, so that nothing moves but the limits
    assert value["pairs"][0]["difference"]["value"] == pytest.approx(plain["pairs"][0]["difference"]["value"])
    assert "correction:rogan-gladen" in value["signature"]
    assert "McNemar as judged" in RUNNER.invoke(compare_app, [*args, *gold]).stdout
