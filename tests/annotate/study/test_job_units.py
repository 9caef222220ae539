"""The nouns of a construction study, chosen from its own essays."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from grater.annotate import content, units
from grater.annotate.plans import NewJob, add_job
from grater.annotate.samples import Order, start
from grater.annotate.status import new_study
from grater.errors import UsageError
from grater.model import Essay

SENTENCES = (
    "The dog slept near the door.",
    "A dog barked at the gate.",
    "Dogs like long walks.",
    "We saw the dogs again.",
    "He bought a house.",
    "The house was old.",
    "Houses cost too much here.",
    "She painted the houses.",
)


def test_the_design_chooses_nouns_and_asks_of_each_place_in_two_stages(tmp_path: Path) -> None:
    with new_study(tmp_path / "study.db") as store:
        with store.write() as tx:
            content.add_essays(tx, [Essay(f"e{place}", " ".join(SENTENCES)) for place in range(20)])
        job = start(store, Order("constructions"))
        with store.read() as tx:
            found = [each for each in content.all_items(tx) if each.kind.startswith("construction/")]
    assert job.task == "construction"
    missing = job.options["not_filled"]
    assert isinstance(missing, list)
    assert "nouns mostly the-plural, low entropy: wanted 3, found 0" in missing
    assert found
    places = Counter((each.item.essay_id, each.item.span) for each in found if each.item)
    assert set(places.values()) == {10}
    assert {each.payload["noun"] for each in found} <= {"dog", "house", "door", "gate", "walk"}
    assert all(each.payload["words"] for each in found)


def test_a_small_corpus_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with new_study(tmp_path / "study.db") as store:
        with store.write() as tx:
            content.add_essays(tx, [Essay("e", SENTENCES[0])])
        with pytest.raises(UsageError, match="choose items from more text"):
            start(store, Order("constructions"))


def test_a_plain_job_takes_what_nouns_a_small_corpus_has_and_both_stages_of_each(tmp_path: Path) -> None:
    with new_study(tmp_path / "study.db") as store:
        with store.write() as tx:
            content.add_essays(tx, [Essay("e", " ".join(SENTENCES))])
        job = add_job(store, NewJob(name="trial", task="construction"))
        with store.read() as tx:
            found = [units.get(tx, unit_id).unit for unit_id in units.ids_of_job(tx, job.job_id)]
    stages = Counter(unit.items[0].item.kind.split("/")[1] for unit in found)
    assert stages["no-context"] == stages["in-context"] > 3


def test_a_job_of_essays_without_a_noun_says_what_to_do(tmp_path: Path) -> None:
    with new_study(tmp_path / "study.db") as store:
        with store.write() as tx:
            content.add_essays(tx, [Essay("e", "She slept.")])
        with pytest.raises(UsageError, match="choose items from more text"):
            add_job(store, NewJob(name="trial", task="construction"))
