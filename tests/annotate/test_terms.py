"""How many judgments an item gets.

Terms of a job: read, written, refused; and the hours in which work is given out.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.annotate.terms import (
    Opening,
    Redundancy,
    Terms,
    is_open,
    lead_of,
    still_wanted,
    terms_json,
    terms_of,
)
from grater.errors import UsageError
from grater.model import Json

rules = st.builds(
    lambda least, more, lead: Redundancy(least, least + more, lead),
    st.integers(1, 5),
    st.integers(0, 6),
    st.integers(1, 4),
)
answers = st.lists(st.sampled_from(["error", "ok", "unknown"]), max_size=30)


@given(rules, answers)
def test_asking_ends_between_the_least_and_the_most(rule: Redundancy, labels: list[str]) -> None:
    said: list[str] = []
    for label in labels + ["ok"] * 30:
        if not still_wanted(rule, said):
            break
        said.append(label)
    assert rule.least <= len(said) <= rule.most
    assert len(said) == rule.most or lead_of(said) >= rule.lead


@given(rules, answers)
def test_never_more_is_asked_for_than_the_most(rule: Redundancy, labels: list[str]) -> None:
    assert len(labels) + still_wanted(rule, labels) <= max(rule.most, len(labels))


def test_agreement_ends_early_and_a_split_goes_on() -> None:
    rule = Redundancy(least=3, most=7, lead=3)
    assert still_wanted(rule, ["ok"] * 3) == 0
    assert still_wanted(rule, ["ok", "ok", "error"]) == 2
    assert still_wanted(rule, ["ok", "error", "ok", "error"]) == 3
    assert still_wanted(rule, ["ok", "error"] * 3 + ["ok"]) == 0


def test_a_rule_names_itself_for_signatures() -> None:
    assert str(Redundancy(5, 5)) == "5"
    assert str(Redundancy(3, 7, 2)) == "3-7:lead=2"


WHOLE: dict[str, Json] = {
    "page": 20,
    "gold": {"minimum": 0.8, "least_seen": 5, "quiz": 6, "attempts": 2, "sure": 0.9, "exposure": 7},
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
    assert terms_json(Terms.checked(**WHOLE)) == WHOLE
    assert terms_of({"crowd": WHOLE}) == Terms.checked(**WHOLE)


def test_terms_from_before_a_rule_could_be_sure_mean_what_they_meant() -> None:
    old: dict[str, Json] = {"minimum": 0.8, "least_seen": 5, "quiz": 6, "attempts": 2}
    rule = Terms.checked(gold=old).gold
    assert rule is not None
    assert rule.sure == 0.0


def test_a_job_without_terms_asks_for_nothing() -> None:
    assert terms_of({}) == Terms()
    assert terms_json(Terms()) == {}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"golds": {}}, "unknown field 'golds'. Did you mean 'gold'?"),
        ({"gold": {"minimun": 1}}, "gold.minimun: there is no such field"),
        ({"gold": {"minimum": "high"}}, "gold.minimum: expected a number"),
        ({"gold": {"sure": None}}, "gold.sure: expected a number"),
        ({"redundancy": {"least": 2}}, "redundancy.most: expected a value"),
        ({"redundancy": {"least": 3, "most": 2}}, "least <= most"),
        ({"pay": {"cents": 5, "currency": "euro"}}, "three letters"),
        ({"opening": {"days": [7]}}, "from 0 \\(Monday\\)"),
        ({"countries": "Norway"}, "expected a list"),
        ({"qualifications": [{"judgments": 3}]}, "job: expected a value"),
        ({"page": 1}, "page: expected at least 2"),
        ({"gold": []}, "gold: expected an object"),
    ],
)
def test_what_is_wrong_is_named(wrong: dict[str, Json], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Terms.checked(**wrong)


def test_work_is_given_out_on_its_days_and_hours_only() -> None:
    opening = Opening(days=(0, 1), from_hour=8, to_hour=18)
    assert [is_open(opening, at(0, hour)) for hour in (7, 8, 17, 18)] == [False, True, True, False]
    assert not is_open(opening, at(2, 9))
    assert is_open(None, at(6, 3))


def test_a_night_belongs_to_the_day_on_which_it_began() -> None:
    night = Opening(days=(0,), from_hour=22, to_hour=4)
    assert [is_open(night, at(0, hour)) for hour in (3, 21, 22)] == [False, False, True]
    assert [is_open(night, at(1, hour)) for hour in (3, 4, 23)] == [True, False, False]
