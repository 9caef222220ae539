"""What a rater cannot see: others' work (P9), and what a system said or where a unit came from (P10)."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from grater.annotate import content, jobs, people, standing, trust, units
from grater.annotate.store import Tx, checks
from grater.model import Edit, Item, Json, Span
from tests.annotate.web.programs import Program
from tests.annotate.web.studies import TEXTS, Study, corpus, served
from tests.annotate.web.test_work import FILLED, all_of, answer, start

SECRET: dict[str, Json] = {
    "suggestion": "zzz-suggested",
    "flagged": True,
    "stratum": "zzz-stratum",
    "score": 0.987654,
    "system": "zzz-system",
}
HIDDEN = ("zzz-suggested", "zzz-stratum", "zzz-system", "0.987654", "987654", "flagged")


def blind_job(study: Study, task: str, payload: dict[str, Json]) -> str:
    """A job of one unit about the same word, with what the study knows of it."""
    start_at = TEXTS[0].index("of her")
    item = Item("essay-1", Span(start_at, start_at + 2), "prep")
    return study.write(job_about, item, f"{task} {len(payload)}", task, payload)


def job_about(tx: Tx, item: Item, name: str, task: str, payload: dict[str, Json]) -> str:
    content.add_items(tx, [content.study_item(item, payload=payload)])
    job = jobs.add(tx, name=name, task=task, title="A job")
    units.add_all(tx, job.job_id, [units.NewUnit(((item.item_id, payload),), item.essay_id, payload=payload)])
    return jobs.set_state(tx, job.job_id, "open").job_id


def page_of(study: Study, job_id: str) -> str:
    """The work page without the random names in it."""
    browser = study.browser("worker")
    reply = browser.post(f"/jobs/{job_id}/next")
    assert reply.status_code == 200
    text = reply.text.replace(job_id, "JOB").replace(reply.url.path.rpartition("/")[2], "LEASE")
    return re.sub(r'(name="csrf" \w+|name="submission_id" value)="[^"]+"', "", text)


@pytest.mark.parametrize("task", ["usage", "cloze", "error"])
def test_page_and_call_are_the_same_to_the_byte_whatever_a_system_decided(study: Study, task: str) -> None:
    flagged, plain = (page_of(study, blind_job(study, task, payload)) for payload in (SECRET, {}))
    assert flagged == plain
    lease = Program(study, "worker").post(f"/jobs/{study.jobs[task]}/next")["lease"]
    assert "unit" not in lease
    assert not any(word in flagged + json.dumps(lease) for word in HIDDEN)


def test_a_marking_page_tells_nothing_of_earlier_annotators(study: Study) -> None:
    marked = replace(
        corpus()[0],
        essay_id="marked",
        edits=(Edit(Span(0, 4), ("zzz-correction",), "Wcip", "zzz-annotator"),),
        annotators=("zzz-annotator",),
    )
    item = Item("marked", Span(0, len(marked.text)), "essay")
    study.write(content.add_essays, [marked])
    job_id = study.write(job_about, item, "blind marking", "marking", {})
    page = study.browser("worker").post(f"/jobs/{job_id}/next").text
    assert "Last spring" in page
    essay = Program(study, "worker").post(f"/jobs/{job_id}/next")["lease"]
    assert (len(essay["tags"]), "edits" in essay) == (27, False)
    assert "zzz-" not in page + json.dumps(essay)


def test_no_page_of_a_rater_tells_of_other_raters_or_their_answers(study: Study) -> None:
    all_of(study, "annotator", "usage", {"label": "1", "better": "zzzother", "confidence": "low"})
    rater = study.browser("worker")
    job = study.jobs["usage"]
    path = start(rater, study, "usage")
    pages = [rater.get(each).text for each in ("/jobs", f"/jobs/{job}", path, "/me", f"/jobs/{job}/done")]
    assert not any("zzzother" in page or "Annotator" in page for page in pages)


def test_adjudicators_see_only_finished_units(study: Study) -> None:
    one = study.browser("annotator")
    answer(one, start(one, study, "error"), {"label": "error"})
    unit_ids = study.units_of(study.jobs["error"])
    adjudicator = study.browser("adjudicator")
    assert "No unit has all its judgments yet" in adjudicator.get("/adjudicate").text
    assert all(adjudicator.get(f"/adjudicate/{unit_id}").status_code == 404 for unit_id in unit_ids)
    program = Program(study, "adjudicator")
    assert program.get(f"/jobs/{study.jobs['error']}/finished") == {"units": [], "next": None}
    for unit_id in unit_ids:
        program.post(f"/units/{unit_id}/decision", {"fields": {"label": ["ok"]}}, status=404)


def test_a_manager_sees_no_answers_before_a_unit_is_finished_or_they_give_up_rating(study: Study) -> None:
    all_of(study, "annotator", "usage", {"label": "1", "better": "zzzother", "confidence": "low"})
    manager, job_id = study.browser("manager"), study.jobs["usage"]
    unit_ids = study.units_of(job_id)
    answer(manager, start(manager, study, "usage"), FILLED["usage"])
    pages = [manager.get(f"/manage/units/{unit_id}").text for unit_id in unit_ids]
    assert sum("zzzother" in page for page in pages) == 1  # the one that the manager finished
    assert sum("the answers are hidden" in page for page in pages) == len(unit_ids) - 1

    manager.post(f"/manage/units/{unit_ids[0]}/look")
    assert all("zzzother" in manager.get(f"/manage/units/{unit_id}").text for unit_id in unit_ids)
    assert start(manager, study, "usage").endswith("/done")  # and rates no more
    assert start(manager, study, "error").startswith("/leases/")  # only in this job
    with study.store.read() as tx:
        assert standing.n_answered(tx, job_id, study.people["manager"].person_id) == 1  # what they did stays
        assert checks.violations(tx) == []


def test_the_api_tells_a_manager_of_finished_units_until_they_give_up_rating(study: Study) -> None:
    rater, job_id = study.browser("annotator"), study.jobs["error"]
    answer(rater, start(rater, study, "error"), FILLED["error"])
    manager = Program(study, "manager")
    assert manager.call("job_judgments", job_id=job_id)["judgments"] == []
    manager.call("look", job_id=job_id)
    assert len(manager.call("job_judgments", job_id=job_id)["judgments"]) == 1
    assert manager.call("next_unit", job_id=job_id) == {"lease": None}


def test_a_unit_that_was_complete_is_not_asked_of_anybody_who_may_have_seen_its_answers(place: Path | str) -> None:
    with served(place, tasks=["error"]) as study:
        job_id = study.jobs["error"]
        for who in ("worker", "annotator"):
            all_of(study, who, "error")
        assert study.browser("adjudicator").get(f"/adjudicate/jobs/{job_id}").status_code == 200
        with study.store.write() as tx:
            trust.eject(tx, jobs.get(tx, job_id), study.people["worker"].person_id)
            people.add(tx, name="Fresh", role="worker")
        for who in ("adjudicator", "manager", "owner"):
            assert not start(study.browser(who), study, "error").startswith("/leases/"), who
        assert start(study.browser("Fresh"), study, "error").startswith("/leases/")
