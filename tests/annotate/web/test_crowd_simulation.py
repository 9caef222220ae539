"""A small simulated crowd through the application and its API; the full size is in benchmarks."""

from __future__ import annotations

import random
from pathlib import Path

from grater.annotate import judgments, progress, standing
from grater.annotate.store import checks
from grater.model import Json
from tests.annotate.web.simulated_crowd import Size, let_work, make_items, make_job, make_raters
from tests.annotate.web.studies import served

SMALL = Size(n_raters=30, n_items=24, n_gold=18, judgments=3, seed=3)
TERMS: dict[str, Json] = {
    "gold": {"minimum": 0.7, "least_seen": 4, "quiz": 6, "attempts": 1},
    "page": 5,
    "pay": {"cents": 5},
}


def test_spammers_are_ejected_and_every_item_ends_with_its_valid_judgments(tmp_path: Path) -> None:
    with served(tmp_path) as study:
        raters = make_raters(study.store, SMALL)
        job_id = make_job(study.store, SMALL, make_items(study.store, SMALL), "small", TERMS, 60)
        let_work(study.client(), raters, job_id, seed=SMALL.seed, rng=random.Random(0))
        with study.store.read() as tx:
            assert checks.violations(tx) == []
            far = progress.of_job(tx, job_id)
            states = {each.person_id: each.state for each in standing.of_job(tx, job_id)}
            counting = {row.person_id for row, _ in judgments.by_submission(tx, job_id)}
    assert {unit.valid for unit in far.by_unit} == {3}
    spammers = [states.get(rater.person_id) for rater in raters if rater.kind == "spammer"]
    # Six of them guess at every gold; in whatever order gold comes, that none is caught does not happen.
    assert "ejected" in spammers
    out = {rater.person_id for rater in raters if states.get(rater.person_id) == "ejected"}
    assert out.isdisjoint(counting)
