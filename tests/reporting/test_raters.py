"""Raters in the report: names that can be read beside their points, and times in a fitting unit."""

from __future__ import annotations

import re
from itertools import combinations

import polars as pl
import pytest

from grater.measure.crowd.raters import raters
from grater.reporting.drawing import as_svg
from grater.reporting.raters import effort_section, rater_scatter
from grater.tables import Judgments, read_judgments

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


@pytest.mark.parametrize(
    ("hours", "words"),
    [
        ((0.0, 0.004, 0.011), "3 judgments came in within 1 minute."),
        ((0.0, 1.5), "2 judgments came in within 90 minutes, 1 per hour."),
        ((0.0, 24.0), "2 judgments came in within 24.0 hours."),
    ],
)
def test_short_work_is_told_in_minutes(hours: tuple[float, ...], words: str) -> None:
    section = effort_section(hours)
    assert section.words == (words,)
    unit = "minutes" if hours[-1] < 2 else "hours"
    assert section.figures[0].spec["encoding"]["x"]["title"] == f"{unit} since the first judgment"
