"""A study with suspicious essays, counts of our own, and verdicts by the first word of a trigram."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from grater.annotate import content, people
from grater.annotate.mining import NewList, all_of, decide, mine_study
from grater.annotate.store import Store, open_store
from grater.detect.mining.ranking import Counts
from grater.model import Essay

TEXT = (
    "She wants to marry with her boss. They discussed about the plan. I entered into the room. "
    "We lived with her parents. He talked about the weather. They walked into the garden. He looked at the sky."
)
MORE = "My sister will marry with her friend. They lived with her aunt. She asked about the way."
SEEN: Counts = {
    ("marry", "her"): 300,
    ("discussed", "the"): 500,
    ("entered", "the"): 900,
    ("lived", "with", "her"): 80,
    ("talked", "about", "the"): 90,
    ("walked", "into", "the"): 70,
    ("looked", "at", "the"): 200,
    ("asked", "about", "the"): 60,
}


def count(wanted: set[tuple[str, ...]]) -> Counts:
    return {ngram: SEEN.get(ngram, 0) for ngram in wanted}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "study.db", create=True) as found:
        with found.write() as tx:
            content.add_essays(tx, [Essay("one", TEXT), Essay("two", MORE)])
        yield found


@pytest.fixture
def ada(store: Store) -> people.Person:
    with store.write() as tx:
        return people.add(tx, name="Ada", role="owner")


def mined(store: Store) -> str:
    return mine_study(store, NewList(name="mined", most=10), count, source="toy").job_id


def verdicts(store: Store, job_id: str) -> dict[str, str]:
    with store.read() as tx:
        return {each.trigram: each.verdict for each in all_of(tx, job_id)}


def say(store: Store, job_id: str, person: people.Person, **answers: str) -> None:
    """Verdicts by the first word of the trigram."""
    with store.write() as tx:
        for each in all_of(tx, job_id):
            first = each.trigram.split(" ")[0]
            if first in answers:
                decide(tx, each, answers[first], person)
