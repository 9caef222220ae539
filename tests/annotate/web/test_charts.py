"""The charts of a dashboard: every label fits, and a cut falls between words."""

from __future__ import annotations

import re
from math import nan

from grater.annotate.dashboard import PairShare
from grater.annotate.web.charts import CELL, Series, narrowing, pair_map
from grater.annotate.web.rendering import near
from grater.model import Interval


def test_a_long_name_stands_whole_beside_the_pair_chart() -> None:
    names = {"a": "Benedikt Huber-Meier", "b": "Linh Tran"}
    chart = pair_map([PairShare(first="a", second="b", agreed=3, n=4)], names, title="Pairs")
    [(end, label)] = re.findall(r'<text x="([\d.]+)"[^>]*text-anchor="end">(Benedikt[^<]*)<', chart)
    assert label == names["a"]
    assert float(end) > len(label) * 8  # letters of 14 pixels are 8 wide on average
    assert re.findall(r">(BH|LT)<title>", chart) == ["BH", "LT"]
    first = min(float(x) for x in re.findall(r'<rect class="cell[^>]* x="([\d.]+)"', chart))
    assert float(end) < first + CELL


def test_what_stands_next_to_a_word_is_cut_between_words() -> None:
    assert near("we arrived to the station ", 12, is_before=True) == "…station "
    assert near(" the detective's tone", 12, is_before=False) == " the…"
    assert near("short ", 12, is_before=True) == "short "


def test_a_value_without_an_interval_closes_its_band() -> None:
    points = ((20, Interval(0.5, nan, nan)), (40, Interval(0.5, 0.25, 0.75)))
    chart = narrowing([Series("recall", points)], title="Recall")
    [band] = re.findall(r'<polygon class="band[^>]* points="([^"]+)"', chart)
    [line] = re.findall(r'<polyline class="line[^>]* points="([^"]+)"', chart)
    first, *inner, last = band.split()
    assert first == last == line.split()[0]
    assert len(set(inner)) == 2
