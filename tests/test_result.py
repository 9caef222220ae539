from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import inf, nan
from typing import Any

import numpy as np
import polars as pl
import pytest

from grater.model import Interval, Json
from grater.result import Result, encode
from grater.sheet import Sheet
from grater.signature import Signature


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True, slots=True)
class Point:
    x: float
    y: float


@dataclass(frozen=True, slots=True, repr=False)
class Kappa(Result):
    n_rows: int = 1

    def to_dict(self) -> dict[str, Json]:
        return {"kappa": 0.63}

    def to_frame(self) -> pl.DataFrame:
        return pl.DataFrame({"kappa": [0.63]})

    def sheets(self) -> Sequence[Sheet]:
        rows = tuple((f"pair {index}", ".630") for index in range(self.n_rows))
        return (Sheet("Pairs", ("", "kappa"), rows), Sheet("More", ("", "kappa"), rows))


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (nan, None),
        (inf, None),
        (np.float64(0.5), 0.5),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (np.array([1.0, nan]), [1.0, None]),
        ((1, "a"), [1, "a"]),
        ({"a": nan, 2: (3,)}, {"a": None, "2": [3]}),
        (Point(1.0, nan), {"x": 1.0, "y": None}),
        (Colour.RED, "red"),
        (Interval(0.5, 0.4, 0.6), {"value": 0.5, "low": 0.4, "high": 0.6}),
        (Interval(nan, nan, nan, "no item"), {"value": None, "low": None, "high": None, "reason": "no item"}),
    ],
)
def test_any_value_becomes_json(value: Any, encoded: Any) -> None:
    assert encode(value) == encoded
    json.dumps(encode(value), allow_nan=False)


def test_a_signature_is_its_line() -> None:
    assert encode(Signature("m2", {"beta": "0.5"})).startswith("m2|grater:")


def test_a_result_shows_its_first_table_and_says_that_there_are_more() -> None:
    text = repr(Kappa())
    assert text.splitlines()[:2] == ["<Kappa>", "Pairs"]
    assert text.endswith("and 1 more: sheets()")


def test_a_long_result_is_cut_in_its_repr() -> None:
    assert "…" in repr(Kappa(100))
    assert "pair 99" not in repr(Kappa(100))


def test_a_notebook_shows_every_table() -> None:
    assert Kappa()._repr_html_().count("<table>") == 2
