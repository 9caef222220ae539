from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.uncertainty import generator, permanent_number


def test_a_stream_is_the_same_for_the_same_seed_and_purpose() -> None:
    assert generator(1, "bootstrap").random(3).tolist() == generator(1, "bootstrap").random(3).tolist()


def test_streams_of_other_purposes_or_seeds_differ() -> None:
    first = generator(1, "bootstrap").random()
    assert first != generator(1, "ties").random()
    assert first != generator(2, "bootstrap").random()


def test_a_permanent_number_never_changes() -> None:
    # printf '0|item' | sha256sum  begins with these 16 digits; the first 53 bits count.
    assert permanent_number(0, "item") == (0xC3463D311438E1F2 >> 11) / 2**53


@given(st.text(), st.integers(0, 2**63))
def test_a_permanent_number_lies_in_the_unit_interval(item_id: str, seed: int) -> None:
    assert 0 <= permanent_number(seed, item_id) < 1


def test_even_the_highest_hash_stays_below_one(monkeypatch: pytest.MonkeyPatch) -> None:
    class Highest:
        def __init__(self, _: bytes) -> None: ...

        def digest(self) -> bytes:
            return b"\xff" * 32

    monkeypatch.setattr("grater.uncertainty.hashlib.sha256", Highest)
    assert permanent_number(0, "item") < 1


def test_permanent_numbers_are_spread_evenly() -> None:
    numbers = [permanent_number(3, f"item-{index}") for index in range(2000)]
    assert abs(sum(numbers) / 2000 - 0.5) < 0.03  # four standard errors: 4 * sqrt(1/12/2000) = .026
    assert abs(sum(number < 0.1 for number in numbers) / 2000 - 0.1) < 0.03
