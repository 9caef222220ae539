"""Raters who copy are named, and honest ones are not, however hard the items are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from grater.annotate import content, credentials, jobs, people
from grater.annotate.collusion import Mistake, announce, copying, groups_of
from grater.annotate.status import status
from grater.annotate.store import Store, events
from grater.annotate.worksheets import add_judgments
from grater.model import Essay, Item, Span
from grater.tables import read_judgments
from tests.annotate.web.studies import served

N_ITEMS = 50
COPYING = tuple(f"copy {number}" for number in range(5))
HONEST = tuple(f"honest {number}" for number in range(20))


def simulated(seed: int, *, copying: tuple[str, ...] = (), spread: float = 1.0) -> list[Mistake]:
    """A job in which everybody has met every item; items differ in difficulty, honest raters in skill.

    Those who copy take nine of ten answers from one sheet, on which three of ten are wrong.
    """
    rng = np.random.default_rng(seed)
    difficulty = rng.gamma(1 / spread, spread, N_ITEMS)
    sheet = rng.random(N_ITEMS) < 0.3
    found = []
    for rater in (*HONEST, *copying):
        skill = rng.uniform(0.05, 0.3)
        own = rng.random(N_ITEMS) < np.minimum(0.95, skill * difficulty)
        takes = (rng.random(N_ITEMS) < 0.9) & (rater in COPYING)
        wrong = np.where(takes, sheet, own)
        found += [Mistake(rater, f"item {n}", "ok" if wrong[n] else "") for n in range(N_ITEMS)]
    return found


@pytest.mark.parametrize("spread", [0.5, 1.0, 2.5])
def test_honest_raters_are_named_in_at_most_one_of_twenty_jobs(spread: float) -> None:
    assert sum(bool(copying(simulated(seed, spread=spread))) for seed in range(20)) <= 1


def test_raters_who_copy_are_named_with_the_numbers_and_nobody_else() -> None:
    named = [
        {rater for group in copying(simulated(seed, copying=COPYING)) for rater in group.raters} for seed in range(20)
    ]
    assert sum(set(COPYING) == group for group in named) >= 15
    assert sum(len(set(COPYING) & group) >= 3 for group in named) >= 19
    assert sum(bool(group - set(COPYING)) for group in named) <= 1
    (group,) = copying(simulated(1, copying=COPYING))
    assert group.raters == COPYING
    assert group.shared > 3 * group.expected
    assert group.p < 0.001


def judged(store: Store, folder: Path) -> str:
    """The job of the simulation as it is stored: most raters say `error`, which is the majority."""
    answers = simulated(1, copying=COPYING)
    made = [Item("long", Span(5 * n, 5 * n + 4), "preposition") for n in range(N_ITEMS)]
    ids = [each.item_id for each in made]
    rows = [(ids[int(each.item.split()[1])], each.rater, each.wrong or "error") for each in answers]
    pl.DataFrame(rows, ["item", "rater", "label"], orient="row").write_csv(folder / "judged.csv")
    with store.write() as tx:
        content.add_essays(tx, [Essay("long", "with " * N_ITEMS)])
        content.add_items(tx, [content.study_item(each) for each in made])
        add_judgments(tx, read_judgments(folder / "judged.csv"), job="judged", task="error")
        return jobs.set_state(tx, jobs.named(tx, "judged").job_id, "open").job_id


def test_a_group_is_announced_once_and_shown_on_page_api_and_status(place: str | Path, tmp_path: Path) -> None:
    with served(place) as study:
        job_id = judged(study.store, tmp_path)
        for name in COPYING[:2]:
            person_id = study.read(people.named, name).person_id
            study.write(credentials.start_session, person_id, hours=1, address="a keyed hash")
        (group,) = announce(study.store, job_id)
        assert announce(study.store, job_id) == []
        found, summary = study.read(groups_of, job_id), study.read(status)
        written = [event for event in study.read(events.all) if event.verb == "collusion.found"]
        names = {person.pseudonym: person.name for person in study.read(people.all)}
        study.require_promises()
        assert [sorted(names[rater] for rater in each.raters) for each in found] == [list(COPYING), list(COPYING[:2])]
        assert [(event.noun, event.payload["why"]) for event in written] == [(job_id, group.words)]
        assert "2 raters came from one address." in found[1].words
        assert [words for job in summary.jobs for words in job.warnings] == [
            "1 group of raters gave the same wrong answers; look at the dashboard of the job"
        ]
        page = study.browser("manager").get(f"/manage/jobs/{job_id}/crowd").text
        reply = study.client().get(f"/api/v1/jobs/{job_id}/crowd", headers=study.bearer("manager"))
        assert [each["words"] for each in reply.json()["groups"]] == [each.words for each in found]
        assert all(each.words in page for each in found)
        assert f"/manage/jobs/{job_id}/raters/{found[0].person_ids[0]}" in page
