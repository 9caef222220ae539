"""A preview says of a job what the job is when it is made, and stores nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from grater.annotate import content, people
from grater.annotate.plans import JobPreview, NewJob, Previews, add_job
from grater.annotate.store import Store, events, open_store, progress
from grater.model import Essay

TEXT = "We arrive to the square at six. He depends of the weather for his flowers. A dog sleeps in the garden."


@pytest.fixture
def study(tmp_path: Path) -> Store:
    store = open_store(tmp_path / "study.db", create=True)
    with store.write() as tx:
        content.add_essays(tx, [Essay(f"e{n}", f"{TEXT} Number {n}.") for n in range(4)])
        for name in ("Ana", "Ben", "Cem"):
            people.add(tx, name=name, role="annotator")
    return store


@pytest.mark.parametrize(
    "plan",
    [
        NewJob(name="a", task="error", judgments=3),
        NewJob(name="b", task="marking", judgments=2, most=3),
        NewJob(name="c", task="construction", judgments=2),
        NewJob(name="d", task="usage", judgments=2, annotators=("Ana", "Ben", "Cem"), batch_size=4, overlap_every=2),
    ],
)
def test_units_and_judgments_are_those_of_the_job(study: Store, plan: NewJob) -> None:
    with study.read() as tx:
        before = (events.latest(tx), content.n_items(tx))
        seen = Previews().of(tx, plan)
        assert (events.latest(tx), content.n_items(tx)) == before
    job = add_job(study, plan)
    with study.read() as tx:
        far = progress.of_job(tx, job.job_id)
    assert (seen.units, seen.judgments) == (far.units, far.wanted)
    study.close()


def test_what_comes_in_later_is_counted(study: Store) -> None:
    previews, plan = Previews(), NewJob(name="a", task="marking")
    with study.read() as tx:
        assert previews.of(tx, plan).units == 4
    with study.write() as tx:
        content.add_essays(tx, [Essay("late", TEXT)])
    with study.read() as tx:
        assert previews.of(tx, plan).units == 5
    study.close()


def test_the_words_name_units_hours_and_money() -> None:
    # 1,352 units of 24 s are 9.01 hours; at 12 cents 162.24 euros
    seen = JobPreview(units=1352, judgments=1352, seconds_each=24, is_measured=False, cents=12)
    assert seen.words == "1,352 units, 1,352 judgments, about 9 hours of work, 162.24 EUR"
