"""The test over many values can fail: it names every bad one, and goes on to the last."""

from __future__ import annotations

import pytest

from tests.each import for_each


def test_every_value_that_fails_is_named_and_no_values_are_no_test() -> None:
    seen = []

    @for_each([1, 2, 3], name=lambda number: f"number {number}")
    def is_two(number: int) -> None:
        seen.append(number)
        assert number == 2

    with pytest.raises(AssertionError, match=r"(?s)number 1: .*number 3: ") as failure:
        is_two()
    assert "number 2" not in str(failure.value)
    assert seen == [1, 2, 3]
    with pytest.raises(AssertionError, match="nothing to test"):
        for_each([])

    @for_each(list[int])
    def is_never_called(number: int) -> None: ...

    with pytest.raises(AssertionError, match="nothing to test"):
        is_never_called()
