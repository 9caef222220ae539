"""Candidates for gold: known from elsewhere, not met here, the surest first; and the recommended rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from grater.annotate import content, jobs, units
from grater.annotate.gold import OWN, candidates, earlier_reasons, make_gold
from grater.annotate.protocol import use_recommended_rule
from grater.annotate.store import schema
from grater.annotate.terms import terms_of
from grater.errors import UsageError
from tests.annotate.store.crowds import statements
from tests.annotate.study.test_gold_and_terms import judged_by_experts
from tests.annotate.web.studies import Study, served
from tests.annotate.web.test_work import FILLED, answer_all, start


def test_gold_of_earlier_jobs_comes_first_then_experts_and_what_raters_met_is_left_out(tmp_path: Path) -> None:
    with served(tmp_path, tasks=("error",)) as study:
        new = first_gold(study)
        with study.store.write() as tx:
            n_items = len([each for each in content.all_items(tx) if each.kind == "prep"])
            judged_by_experts(tx, [("ok", "ok")] + [("ok", "error")] * (n_items - 1))
            offered = candidates(tx, jobs.get(tx, new))
            assert [(each.source, each.accepted) for each in offered[:2]] == [
                ("Gold of the job error", ("error",)),
                ("All experts who judged it agree", ("ok",)),
            ]
            assert offered[0].reason == "Another word is used here."
            assert earlier_reasons(tx) == ["Another word is used here."]
            make_gold(tx, jobs.get(tx, new), offered[0].item_id, offered[0].accepted, reason="")
            assert offered[0].item_id not in {each.item_id for each in candidates(tx, jobs.get(tx, new))}


def test_looking_for_candidates_takes_as_many_queries_whatever_the_number_of_units(tmp_path: Path) -> None:
    with served(tmp_path, tasks=("error",)) as study:
        job_id, n_queries = study.jobs["error"], []
        for first in (0, 1):
            with study.store.write() as tx:
                for unit_id in units.ids_of_job(tx, job_id)[:first]:
                    gone = schema.units.c.unit_id == unit_id
                    tx.execute(schema.units.update().where(gone).values(role="practice"))
            with statements(study.store) as queries, study.store.read() as tx:
                candidates(tx, jobs.get(tx, job_id))
            n_queries.append(len(queries))
        assert n_queries[0] == n_queries[1]


def first_gold(study: Study) -> str:
    """A piece of gold in the job of the study, and a new job about the same items; give its id."""
    from tests.annotate.web.studies import add_job

    with study.store.write() as tx:
        job = jobs.get(tx, study.jobs["error"])
        last = units.get(tx, units.ids_of_job(tx, job.job_id)[-1])
        make_gold(tx, job, last.unit.items[0].item.item_id, ["error"], reason="Another word is used here.")
        return add_job(tx, "error", name="new", state="draft")


def test_the_recommended_rule_asks_for_gold_first(tmp_path: Path) -> None:
    with served(tmp_path, tasks=("error",)) as study:
        job_id = study.jobs["error"]
        with pytest.raises(UsageError, match="has no gold yet"), study.store.write() as tx:
            use_recommended_rule(tx, job_id)
        first_gold(study)
        with study.store.write() as tx:
            rule = terms_of(use_recommended_rule(tx, job_id).options).gold
        assert (rule.minimum, rule.least_seen, rule.quiz) == (0.8, 12, 0)  # half of one gold unit


def test_the_studio_takes_a_candidate_by_a_form_and_offers_the_next(tmp_path: Path) -> None:
    with served(tmp_path, tasks=("error",)) as study:
        new = first_gold(study)
        worker = study.browser("worker")
        answer_all(worker, start(worker, study, "error"), FILLED["error"])
        manager = study.browser("manager")
        page = manager.get(f"/manage/jobs/{new}/gold/studio").text
        with study.store.read() as tx:
            offered, *own = candidates(tx, jobs.get(tx, new))
        assert f"candidate 1 of {1 + len(own)}" in page
        assert {(each.accepted, each.source) for each in own} == {((), OWN)}  # for the manager to answer
        form = {"item": offered.item_id, "n": "0", "accepted": "error", "reason": "So it is."}
        assert "1 gold unit so far" in manager.post(f"/manage/jobs/{new}/gold/studio", form).text
        assert "gold needs at least one" in manager.post(
            f"/manage/jobs/{new}/gold/studio", {"item": offered.item_id, "n": "0"}
        ).text.replace("&#39;", "'")
