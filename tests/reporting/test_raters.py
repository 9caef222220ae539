"""Raters in the report, and crowds beside experts."""

from __future__ import annotations

import re
from itertools import combinations

import polars as pl
import pytest

from grater.measure.agreement.raters_needed import raters_needed
from grater.measure.crowd.raters import raters
from grater.reporting.agreement import raters_needed_words
from grater.reporting.document import Section
from grater.reporting.drawing import as_svg
from grater.reporting.raters import CrowdJob, crowds_section, effort_section, rater_scatter
from grater.tables import Judgments, read_judgments
from tests.reporting.made_up import judgments

NAME = re.compile(r'<text[^>]*text-anchor="(\w+)" transform="translate\(([\d.-]+),([\d.-]+)\)"[^>]*>(rater-\d+)<')
WIDTH, HEIGHT = 6.0, 11.0
"""Of a letter, no wider and no higher than it is drawn."""


def judged(*, n_raters: int) -> Judgments:
    """Everybody says ok of twelve items, but the first rater of only half of them."""
    rows = [
        {"item": f"i{item}", "rater": f"rater-{rater:08d}", "label": "error" if not rater and item % 2 else "ok"}
        for rater in range(n_raters)
        for item in range(12)
    ]
    return read_judgments(pl.DataFrame(rows))


def drawn_names(n_raters: int) -> dict[str, tuple[float, float, float, float]]:
    """The box of each name in the picture: left, top, right, bottom."""
    drawn = as_svg(rater_scatter(list(raters(judged(n_raters=n_raters)))))
    boxes = {}
    for anchor, x, y, name in NAME.findall(drawn):
        width = WIDTH * len(name)
        left = float(x) - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
        boxes[name] = (left, float(y) - HEIGHT, left + width, float(y))
    return boxes


@pytest.mark.parametrize("n_raters", [2, 12, 40])
def test_names_of_raters_do_not_overlap_and_the_odd_one_is_named(n_raters: int) -> None:
    boxes = drawn_names(n_raters)
    assert "rater-00000000" in boxes
    for one, other in combinations(boxes.values(), 2):
        is_beside = one[2] <= other[0] or other[2] <= one[0]
        assert is_beside or one[3] <= other[1] or other[3] <= one[1]


def test_two_raters_at_one_place_are_both_named() -> None:
    assert len(drawn_names(2)) == 2


def test_short_work_is_shown_in_minutes() -> None:
    for hours, unit in (((0.0, 1.5), "minutes"), ((0.0, 24.0), "hours")):
        [figure] = effort_section(hours).figures
        assert figure.spec["encoding"]["x"]["title"] == f"{unit} since the first judgment"


CROWD = ("r1", "r2", "r3", "r4", "r5")
GOOD = CrowdJob("good", judgments(CROWD, wrong=0.05, seed=1), judgments(("A", "B"), wrong=0.15, seed=4))
GUESSED = CrowdJob("guessed", judgments(CROWD, wrong=0.05, seed=1), judgments(("A", "B"), wrong=0.4, seed=3))
WEAK = CrowdJob("weak", judgments(CROWD, wrong=0.25, seed=6), judgments(("A", "B"), wrong=0.15, seed=4))


def section(*jobs: CrowdJob) -> Section:
    made = crowds_section(jobs)
    assert made is not None
    return made


def test_a_job_whose_intervals_bear_it_out_is_matched() -> None:
    words = section(GOOD).words
    assert words[0] == "The majority of enough raters reaches the experts' kappa in 1 of 1 crowd job."
    assert len(words) == 1, "nothing is in doubt"


def test_a_match_that_the_intervals_leave_open_is_called_open() -> None:
    made = section(GOOD, GUESSED, WEAK)
    needed = dict(zip((row[0] for row in made.sheets[0].rows), (row[4] for row in made.sheets[0].rows), strict=True))
    assert needed["good"] == "1 (1 to 3)"
    assert needed["weak"].endswith("or more)")
    assert made.words[0].endswith("in 3 of 3 crowd jobs, but only in 1 do the intervals bear it out.")
    assert "More raters may be needed than were asked: guessed; weak." in made.words
    assert "The experts' own kappa may be 0, so matching it shows nothing: guessed." in made.words


def test_the_number_of_raters_in_a_sentence_has_its_interval_and_the_experts_their_doubt() -> None:
    assert GUESSED.experts is not None
    needed = raters_needed(GUESSED.judgments, GUESSED.experts)
    assert "The majority of 1 rater (95 % interval 1 or more) agrees" in raters_needed_words(needed)
    assert "the experts' own kappa may be 0: matching it shows nothing" in needed.warnings
