"""Annotators own their work: they find it, change it until its adjudication begins, and read what was said of it."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grater.annotate import adjudication, jobs, judgments, marks, money, people, progress, standing, units
from grater.annotate.protocol import set_terms
from grater.annotate.store import Tx
from grater.annotate.store.transaction import MINUTE
from grater.annotate.terms import paid_once
from tests.annotate.web.programs import Program
from tests.annotate.web.studies import TEXTS, Browser, Study, hidden, served
from tests.annotate.web.test_work import answer
from tests.annotate.web.test_work_marking import first_word, save


@pytest.fixture
def study(place: Path | str) -> Iterator[Study]:
    with served(place, tasks=["marking"]) as found:
        yield found


def mark_all(study: Study, who: str, correction: str, *, tag: str = "Mec") -> Browser:
    """Every essay, with its first word marked."""
    browser, job_id = study.browser(who), study.jobs["marking"]
    path = browser.post(f"/jobs/{job_id}/next").url.path
    while path.startswith("/leases/"):
        path = answer(browser, path, {"edits": first_word(browser.get(path).text, correction, tag=tag)}).url.path
        study.clock.now += MINUTE
    return browser


def essay_of(browser: Browser, words: str = "bakery") -> str:
    """The address of the essay with these words among somebody's own."""
    (found,) = set(re.findall(r"/me/essays/[\w-]+", browser.get(f"/me/essays?q={words}").text))
    return str(found)


def reopen(browser: Browser, page: str):  # type: ignore[no-untyped-def]
    browser.get(page)
    return browser.post(f"/reviews/units/{page.rpartition('/')[2]}/mend")


def revise(study: Study, browser: Browser, page: str, correction: str):  # type: ignore[no-untyped-def]
    """In five seconds, as the page measured it."""
    path = reopen(browser, page).url.path
    study.clock.now += MINUTE
    return answer(browser, path, {"edits": first_word(browser.get(path).text, correction), "seconds": "5"})


def corrections(study: Study, tx: Tx) -> list[str]:
    """What the exported essays say of their first words."""
    essays = marks.marked_in(tx, study.jobs["marking"])
    return sorted(edit.replacements[0] for essay in essays for edit in essay.edits)


def test_annotators_find_what_they_handed_in_and_nothing_of_others(study: Study) -> None:
    annotator, worker = mark_all(study, "annotator", "Mine"), study.browser("worker")
    assert "3 essays that you handed in" in annotator.get("/jobs").text
    assert annotator.get("/me/essays").text.count("<tr>") == 1 + len(TEXTS)
    page = essay_of(annotator, "bakery")
    assert "Mine" in annotator.get(page).text
    assert "No essay of yours has these words" in annotator.get("/me/essays?q=zeppelin").text
    assert "You have not handed in an essay" in worker.get("/me/essays").text
    assert (worker.get(page).status_code, reopen(worker, page).status_code) == (404, 404)


def test_a_revised_essay_counts_once_and_every_version_is_kept(study: Study) -> None:
    job_id, who = study.jobs["marking"], study.people["annotator"].person_id
    study.write(set_terms, job_id, {"pay": {"cents": 250}, "limit": 3})
    annotator = mark_all(study, "annotator", "First")

    def counts(tx: Tx) -> tuple[object, ...]:
        money.settle(tx, jobs.get(tx, job_id))
        cents = sum(each.cents for each in money.payments_of(tx, job_id))
        far, costs = progress.counts_of(tx, job_id), money.job_costs(tx, jobs.get(tx, job_id))
        return cents, far.valid, far.done, standing.n_answered(tx, job_id, who), costs.cents

    before, earlier_times = study.write(counts), times(study)
    reply = revise(study, annotator, essay_of(annotator), "Second")
    assert "version 2" in reply.text
    assert "Handed in" in reply.text
    revise(study, annotator, essay_of(annotator), "Third")
    with study.store.write() as tx:
        assert counts(tx) == before
        assert corrections(study, tx) == ["First", "First", "Third"]
        rows = judgments.table(tx, job_id, judgments.ALL)
    assert sorted(str(row["status"]) for row in rows) == ["valid"] * 3 + ["withdrawn"] * 2
    for old, new in zip(earlier_times, times(study), strict=True):
        assert len(old) == len(new) == 3, "the time of a revision counts with that of its essay"
        assert sum(new) == sum(old) + 2 * 5
    study.require_promises()


def times(study: Study) -> list[list[float]]:
    """How long the essays took, as the previews of jobs, the rater and the export have it."""
    job_id, who = study.jobs["marking"], study.people["annotator"].person_id
    with study.store.read() as tx:
        exported = [each.seconds or 0.0 for each in paid_once(money.work_of(tx, job_id))]
        return [progress.seconds_of_task(tx, "marking", most=9), progress.recent_seconds(tx, job_id, who), exported]


def test_a_revision_that_is_left_goes_on_where_it_was_and_the_old_version_counts(study: Study) -> None:
    annotator = mark_all(study, "annotator", "First")
    page = essay_of(annotator)
    path = reopen(annotator, page).url.path
    study.clock.now += MINUTE
    edits = json.loads(first_word(annotator.get(path).text, "Unfinished"))
    revision = int(re.findall(r'"revision": (\d+)', annotator.get(path).text)[0])
    assert save(annotator, path, revision, edits).status_code == 200
    assert annotator.post(f"{path}/return").url.path == page
    with study.store.read() as tx:
        assert corrections(study, tx) == ["First"] * 3
    study.clock.now += MINUTE
    again = reopen(annotator, page)
    assert again.url.path != path
    assert "Unfinished" in again.text
    study.require_promises()


def decide(study: Study, who: str = "adjudicator", **fields: str):  # type: ignore[no-untyped-def]
    """The adjudicator takes A at the one place of the essay with the bakery."""
    adjudicator, address = study.browser(who), f"/adjudicate/{unit_of(study)}"
    page = adjudicator.get(address).text
    (place,) = set(re.findall(r'name="choice ([\d-]+)"', page))
    form = {f"choice {place}": "A", "version": hidden(page, "version"), "made_from": hidden(page, "made_from")}
    return lambda: adjudicator.post(address, form | {f"{name} {place}": value for name, value in fields.items()})


def unit_of(study: Study) -> str:
    with study.store.read() as tx:
        ids = units.ids_of_job(tx, study.jobs["marking"])
        (unit_id,) = (each for each in ids if "bakery" in units.get(tx, each).unit.essay.text)
    return unit_id


def test_what_is_adjudicated_stays_and_a_revision_that_comes_late_is_kept_and_said_to_be_late(study: Study) -> None:
    annotator, worker = mark_all(study, "annotator", "First"), mark_all(study, "worker", "Other")
    page = essay_of(annotator)
    path = reopen(annotator, page).url.path
    assert decide(study)().status_code == 200
    late = answer(annotator, path, {"edits": first_word(annotator.get(path).text, "Late")})
    assert "your earlier version counts" in late.text
    assert "its adjudication has begun" in late.text
    assert [reopen(each, essay_of(each)).status_code for each in (annotator, worker)] == [409, 409]
    with study.store.read() as tx:
        rows = judgments.table(tx, study.jobs["marking"], judgments.ALL)
        assert sorted(str(row["status"]) for row in rows) == ["surplus", *["valid"] * 6]
        assert corrections(study, tx) == ["First"] * 3 + ["Other"] * 3
    study.require_promises()


def test_a_decision_about_marks_that_were_revised_meanwhile_is_stale_and_letters_stay(study: Study) -> None:
    annotator = mark_all(study, "annotator", "First")
    mark_all(study, "worker", "Other")
    send = decide(study)
    revise(study, annotator, essay_of(annotator), "Second")
    reply = send()
    assert reply.status_code == 409
    assert "revised their work" in reply.text
    program, path = Program(study, "adjudicator"), f"/units/{unit_of(study)}/decision"
    sent = {"version": 0, "made_from": program.get(path)["made_from"], "edits": []}
    revise(study, annotator, essay_of(annotator), "Second")
    assert "revised their work" in program.post(path, sent, status=409)["error"]["message"]
    assert decide(study)().status_code == 200
    decided = study.read(adjudication.find, unit_of(study))
    assert "Second" in str(decided.answers)


def test_a_comment_on_a_mark_reaches_the_adjudicator_and_theirs_the_annotator(study: Study) -> None:
    annotator = mark_all(study, "annotator", "First")
    page = essay_of(annotator)
    path = reopen(annotator, page).url.path
    mark = json.loads(first_word(annotator.get(path).text, "Second"))[0] | {"comment": "see <page> 5"}
    answer(annotator, path, {"edits": json.dumps([mark])})
    worker = mark_all(study, "worker", "Other")
    address = f"/adjudicate/{unit_of(study)}"
    assert html.escape("see <page> 5") in study.browser("adjudicator").get(address).text
    assert decide(study, comment="x" * 2001)().status_code == 422
    said = "It is page 6, 😀 & not 5"
    assert decide(study, comment=said)().status_code == 200
    assert said in html.unescape(study.browser("adjudicator").get(address).text)
    for who in (annotator, worker):
        assert said in html.unescape(who.get(page).text)
        assert said not in html.unescape(who.get(essay_of(who, "arrived")).text)


def close(study: Study) -> None:
    study.write(jobs.set_state, study.jobs["marking"], "closed")


def set_gold(study: Study) -> None:
    study.write(jobs.set_options, study.jobs["marking"], {"crowd": {"gold": {}}})


def let_adjudicate(study: Study) -> None:
    """All annotators are done, and one of them may look at the others' marks from now on."""
    mark_all(study, "worker", "Other")
    study.write(people.set_role, study.people["annotator"].person_id, "adjudicator")


@pytest.mark.parametrize("change", [close, set_gold, let_adjudicate])
def test_an_essay_stays_as_it_was_handed_in(study: Study, change: Callable[[Study], None]) -> None:
    """In a closed job, where annotators are tested (P5), and for somebody who can see what others marked (P9)."""
    annotator = mark_all(study, "annotator", "First")
    page = essay_of(annotator)
    assert "Reopen this essay" in annotator.get(page).text  # else there would be nothing to refuse
    change(study)
    annotator = study.browser("annotator")
    assert "You can no longer change this essay" in annotator.get(page).text
    assert reopen(annotator, page).status_code == 409
    study.require_promises()
