"""Terms of a job: read, written, refused; and the hours in which work is given out."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from grater.crowd.terms import Opening, Terms, is_open, read_terms, terms_json, terms_of
from grater.errors import UsageError
from grater.model import Json

WHOLE: dict[str, Json] = {
    "page": 20,
    "gold": {"minimum": 0.8, "least_seen": 5, "quiz": 6, "attempts": 2, "sure": 0.9},
    "redundancy": {"least": 2, "most": 5, "lead": 2},
    "pay": {"cents": 7, "currency": "NOK", "policy": "valid", "least_hourly": 20000},
    "opening": {"days": [0, 1], "from_hour": 8, "to_hour": 18},
    "limit": 300,
    "qualifications": [{"job": "first", "judgments": 50, "accuracy": 0.8}],
    "countries": ["Norway"],
    "languages": ["English", "Norwegian"],
    "pilot": "How clear is it?",
    "pool": 40,
}


def at(day: int, hour: int) -> int:
    """A time in the first week of 2024, which began on a Monday."""
    return int(datetime(2024, 1, 1 + day, hour, 30, tzinfo=UTC).timestamp() * 1000)


def test_terms_come_back_as_they_were_written() -> None:
    assert terms_json(read_terms(WHOLE)) == WHOLE
    assert terms_of({"crowd": WHOLE}) == read_terms(WHOLE)


def test_terms_from_before_a_rule_could_be_sure_mean_what_they_meant() -> None:
    old: dict[str, Json] = {"minimum": 0.8, "least_seen": 5, "quiz": 6, "attempts": 2}
    rule = read_terms({"gold": old}).gold
    assert rule is not None
    assert rule.sure == 0.0


def test_a_job_without_terms_asks_for_nothing() -> None:
    assert terms_of({}) == Terms()
    assert terms_json(Terms()) == {}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"golds": {}}, "Did you mean 'gold'?"),
        ({"gold": {"minimun": 1}}, "Did you mean 'minimum'?"),
        ({"gold": {"minimum": "high"}}, "minimum: expected float"),
        ({"gold": {"quiz": True}}, "quiz: expected int"),
        ({"gold": {"sure": None}}, "sure: expected float"),
        ({"page": None}, "page: expected int"),
        ({"redundancy": {"least": 2}}, "expected most"),
        ({"redundancy": {"least": 3, "most": 2}}, "least <= most"),
        ({"pay": {"cents": 5, "currency": "euro"}}, "three letters"),
        ({"opening": {"days": [7]}}, "from 0 \\(Monday\\)"),
        ({"countries": "Norway"}, "expected a list"),
        ({"qualifications": [{"judgments": 3}]}, "expected job"),
        ({"page": 1}, "at least 2 units"),
        ([], "expected an object"),
    ],
)
def test_what_is_wrong_is_named(wrong: Json, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        read_terms(wrong)


def test_work_is_given_out_on_its_days_and_hours_only() -> None:
    opening = Opening(days=(0, 1), from_hour=8, to_hour=18)
    assert [is_open(opening, at(0, hour)) for hour in (7, 8, 17, 18)] == [False, True, True, False]
    assert not is_open(opening, at(2, 9))
    assert is_open(None, at(6, 3))


def test_a_night_belongs_to_the_day_on_which_it_began() -> None:
    night = Opening(days=(0,), from_hour=22, to_hour=4)
    assert [is_open(night, at(0, hour)) for hour in (3, 21, 22)] == [False, False, True]
    assert [is_open(night, at(1, hour)) for hour in (3, 4, 23)] == [True, False, False]
