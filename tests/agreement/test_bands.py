import pytest

from grater.agreement.bands import band


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (-0.01, "poor"),
        (0.0, "slight"),
        (0.21, "fair"),
        (0.597853, "moderate"),
        (0.629717, "substantial"),
        (0.81, "almost perfect"),
        (1.0, "almost perfect"),
        (float("nan"), ""),
    ],
)
def test_bands_are_those_of_landis_and_koch(value: float, expected: str) -> None:
    assert band(value) == expected
