"""Tables for papers."""

from __future__ import annotations

from math import nan

import pytest

from grater.evaluate.edits.ceiling import ceiling
from grater.evaluate.edits.metrics import METRICS
from grater.evaluate.edits.scores import Resampling, score_systems
from grater.evaluate.edits.tables import ceiling_text, percentage, score_text, table_text, title
from grater.model import Interval
from tests.evaluate.edits.essays import SOURCE, references, text_system

QUICK = Resampling(n_resamples=50)


def test_numbers_are_percentages_with_their_limits() -> None:
    assert percentage(Interval(0.37327, 0.3548, 0.3919)) == "37.33 [35.48, 39.19]"
    assert percentage(Interval(0.5, nan, nan, "one unit")) == "50.00"
    assert percentage(Interval(nan, nan, nan, "none")) == "–"


def test_markdown_escapes_what_would_break_a_row() -> None:
    text = table_text(["System", "F"], [["a|b", "1"]], note="made so", layout="markdown")
    assert text == "| System | F |\n| --- | ---: |\n| a\\|b | 1 |\n\n`made so`\n"


def test_latex_escapes_what_would_break_a_row() -> None:
    text = table_text(["System", "F"], [["my_sys & 10%", "–"]], note="made so", layout="latex")
    assert text == (
        "\\begin{tabular}{lr}\n\\toprule\nSystem & F \\\\\n\\midrule\nmy\\_sys \\& 10\\% & -- \\\\\n"
        "\\bottomrule\n\\end{tabular}\n% made so\n"
    )


def test_titles_are_those_of_the_field() -> None:
    assert [title(name) for name in ("precision", "recall", "f0.5", "gleu")] == ["P", "R", "F0.5", "GLEU"]


def test_a_table_of_scores_has_a_row_for_each_system_and_the_signature() -> None:
    scores = score_systems(METRICS["m2"], references(), [text_system("s"), text_system("b", SOURCE)], chance=QUICK)
    lines = score_text(scores, layout="markdown").splitlines()
    assert lines[0] == "| System | P | R | F0.5 | Group |"
    assert lines[2].startswith("| s | 66.67 [")
    assert lines[-1] == f"`{scores.signature}`"


@pytest.mark.parametrize("layout", ["markdown", "latex"])
def test_a_table_of_a_ceiling_has_people_and_systems(layout: str) -> None:
    found = ceiling(METRICS["m2"], references(), [text_system("s")], chance=QUICK)
    text = ceiling_text(found, layout="latex" if layout == "latex" else "markdown")
    assert all(name in text for name in ("human", "s", "F0.5"))
