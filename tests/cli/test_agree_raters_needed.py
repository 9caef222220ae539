from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from grater.errors import GraterError
from grater.tables import write_table
from tests.cli.running import as_json, invoked, widest
from tests.measure.agreement.tables import judgments
from tests.measure.agreement.test_raters_needed import crowd_of, experts_of

run = partial(invoked, "raters --needed")
found = partial(as_json, "raters --needed")


@pytest.fixture
def crowd(tmp_path: Path) -> Path:
    write_table(crowd_of(*["aab", "bba"] * 3), tmp_path / "crowd.csv")
    return tmp_path / "crowd.csv"


@pytest.fixture
def experts(tmp_path: Path) -> Path:
    write_table(experts_of(E="ababab", F="ababaa"), tmp_path / "experts.csv")
    return tmp_path / "experts.csv"


def test_json_and_a_terminal_have_the_curve_and_the_answer(crowd: Path, experts: Path) -> None:
    value = found(crowd, "--experts", experts)
    assert [curve["against"] for curve in value["curves"]] == ["E", "F", "mean of experts"]
    points = value["curves"][2]["points"]
    assert [point["raters"] for point in points] == [1, 2, 3]
    # by hand in tests/measure/agreement/test_raters_needed.py
    assert [point["kappa"]["value"] for point in points] == pytest.approx([5 / 18, 5 / 18, 5 / 6])
    assert value["target"]["kappa"]["value"] == pytest.approx(2 / 3)
    assert value["smallest"]["value"] == 3
    assert value["method"] == "exact"
    output = run(crowd, "--experts", experts).stdout
    for text in (
        "A crowd of N raters, 6 items",
        ".833",
        "---",
        "  o",
        "3 raters match the experts",
        "raters-needed|",
    ):
        assert text in output
    assert widest(output) <= 120


def test_a_limit_beyond_all_judgments_is_null_with_a_reason(tmp_path: Path) -> None:
    write_table(crowd_of("abb", "aab", "baa"), tmp_path / "bad.csv")
    write_table(experts_of(E="aba", F="aba"), tmp_path / "e2.csv")
    smallest = found(tmp_path / "bad.csv", "--experts", tmp_path / "e2.csv")["smallest"]
    assert (smallest["value"], smallest["high"]) == (None, None)
    assert "stays below" in smallest["reason"]


def test_unknown_is_left_out_with_a_word(experts: Path, tmp_path: Path) -> None:
    write_table(judgments("i0 w a", "i0 v unknown", "i1 w b"), tmp_path / "crowd.csv")
    result = run(tmp_path / "crowd.csv", "--experts", experts)
    assert "left out 1 judgment: label unknown" in result.stderr
    write_table(judgments("i0 w unknown"), tmp_path / "none.csv")
    with pytest.raises(GraterError, match="every judgment is unknown"):
        run(tmp_path / "none.csv", "--experts", experts)
