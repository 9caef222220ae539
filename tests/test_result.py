from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from math import inf, nan
from typing import Any

import numpy as np
import pytest

from grater.model import Interval
from grater.result import FLAT, HIDDEN, OPTIONAL, Data, Estimate, Result, encode, in_json, key
from grater.sheet import Sheet


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True, slots=True)
class Point:
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Pair(Data):
    first: str = field(metadata=HIDDEN)
    second: str = field(metadata=HIDDEN)
    is_tested: bool
    rate: Interval = field(metadata=FLAT)

    @property
    @in_json("raters")
    def names(self) -> tuple[str, str]:
        return self.first, self.second


@dataclass(frozen=True, slots=True, repr=False)
class Kappa(Result):
    n_rows: int = 1
    observed: Interval = field(default=Interval(0.63, 0.5, 0.7), metadata=key("kappa"))
    pairs: tuple[Pair, ...] = field(default=(), metadata=OPTIONAL)
    warnings: tuple[str, ...] = ()

    def estimates(self) -> list[Estimate]:
        return [({"coefficient": "kappa"}, self.observed)]

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


def test_the_json_and_the_frame_of_a_result_come_from_its_fields() -> None:
    assert Kappa().to_dict() == {"rows": 1, "kappa": {"value": 0.63, "low": 0.5, "high": 0.7}, "warnings": []}
    pair = Pair("A1", "A2", is_tested=True, rate=Interval(0.2, nan, nan, "one essay"))
    [made] = Kappa(pairs=(pair,)).to_dict()["pairs"]  # type: ignore[misc, union-attr]
    rate = {"value": 0.2, "low": None, "high": None, "reason": "one essay"}
    assert made == {"raters": ["A1", "A2"], "tested": True, **rate}
    assert Kappa().to_frame().rows(named=True) == [{"coefficient": "kappa", "value": 0.63, "low": 0.5, "high": 0.7}]


def test_a_result_shows_its_first_table_its_warnings_and_reasons() -> None:
    result = Kappa(observed=Interval(nan, nan, nan, "one label <only>"), warnings=("few items",))
    assert result.reasons == ("–: one label <only>.",)
    assert "warning: few items\n–: one label <only>." in repr(result)
    assert result._repr_html_().endswith("<p>warning: few items</p><p>–: one label &lt;only&gt;.</p>")
    text = repr(Kappa())
    assert text.splitlines()[:2] == ["<Kappa>", "Pairs"]
    assert text.endswith("1 more table: .sheets()")
