"""Adjudication, reviews and joint seats by the API: the same powers as the pages."""

from __future__ import annotations

from grater.annotate import adjudication, units
from tests.annotate.web.programs import Program
from tests.annotate.web.studies import Study
from tests.annotate.web.test_work import FILLED, answer, answer_all, start
from tests.annotate.web.test_work_reviews import first_word


def judged(study: Study) -> None:
    """Two raters say different things of every item of the job `error`."""
    for who, label in (("worker", "ok"), ("annotator", "error")):
        browser = study.browser(who)
        answer_all(browser, start(browser, study, "error"), {"label": label})


def test_a_program_sees_what_is_undecided_and_decides(study: Study) -> None:
    judged(study)
    program = Program(study, "adjudicator")
    waiting = program.get(f"/jobs/{study.jobs['error']}/undecided")["units"]
    assert len(waiting) == 10
    assert list(waiting[0]["labels"].values()) == [{"error": 1, "ok": 1}]
    path, sent = f"/units/{waiting[0]['unit_id']}/decision", {"fields": {"label": ["ok"]}, "version": 0}
    assert program.post(path, sent)["version"] == 1
    assert program.post(path, sent, status=409)["error"]["status"] == 409  # somebody decided in the meantime
    assert len(program.get(f"/jobs/{study.jobs['error']}/undecided")["units"]) == 9
    with study.store.read() as tx:
        (decided,) = adjudication.all(tx)
    assert decided.answers[0].label == "ok"


def test_a_unit_that_is_not_finished_cannot_be_decided(study: Study) -> None:
    browser = study.browser("worker")
    answer(browser, start(browser, study, "error"), FILLED["error"])
    program = Program(study, "adjudicator")
    assert program.get(f"/jobs/{study.jobs['error']}/undecided") == {"units": [], "next": None}
    with study.store.read() as tx:
        unit_ids = units.ids_of_job(tx, study.jobs["error"])
    for unit_id in unit_ids:
        program.post(f"/units/{unit_id}/decision", {"fields": {"label": ["ok"]}}, status=404)


def test_odd_marks_are_found_kept_and_mended(study: Study) -> None:
    browser = study.browser("annotator")
    path = start(browser, study, "marking")
    answer(browser, path, {"edits": first_word(browser.get(path).text)})
    manager, annotator = Program(study, "manager"), Program(study, "annotator")
    assert manager.post(f"/jobs/{study.jobs['marking']}/review", {}) == {"findings": 1}
    (found,) = annotator.get("/findings")["findings"]
    lease = annotator.post(f"/units/{found['unit_id']}/mend", {})["lease"]
    sent = {"fields": {"edits": [first_word(lease["text"], "Better")]}}
    assert annotator.post(f"/leases/{lease['lease_id']}", sent)["status"] == "valid"
    assert annotator.get("/findings") == {"findings": []}
    annotator.post(f"/findings/{found['finding_id']}", {"state": "mended"}, status=422)  # only work mends
    manager.post(f"/findings/{found['finding_id']}", {"state": "kept"}, status=404)
