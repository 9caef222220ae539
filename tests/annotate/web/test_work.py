"""A rater's whole session with every task, and everything that goes wrong on the way."""

from __future__ import annotations

import re
from collections.abc import Callable

import httpx
import pytest

from grater.annotate import jobs, judgments, standing
from grater.annotate.store import checks
from grater.annotate.submissions import submission_id_of
from grater.annotate.tasks.construction import CONSTRUCTIONS
from tests.annotate.web.programs import Program
from tests.annotate.web.studies import Browser, Study, hidden

FILLED: dict[str, dict[str, object]] = {
    "usage": {"label": "1", "better": "on, upon", "flags": ["spelling", "grammar"], "confidence": "high"},
    "cloze": {"label": "on"},
    "choice": {"label": "first"},
    "error": {"label": "error"},
    "construction": dict.fromkeys(CONSTRUCTIONS, "yes"),
    "verify": {"label": "both fine"},
    "marking": {"edits": "[]"},
}
N_UNITS = {"usage": 10, "cloze": 10, "choice": 10, "error": 10, "verify": 10, "construction": 1, "marking": 3}


def begin(browser: Browser, job_id: str) -> str:
    """Take the next unit; give its path."""
    browser.get(f"/jobs/{job_id}")
    path: str = browser.post(f"/jobs/{job_id}/next").url.path
    return path


def start(browser: Browser, study: Study, task: str) -> str:
    return begin(browser, study.jobs[task])


def answer(browser: Browser, path: str, form: dict[str, object]):  # type: ignore[no-untyped-def]
    page = browser.get(path).text
    found = re.search(r'"submission": "([^"]+)"', page)
    submission_id = found.group(1) if found else hidden(page, "submission_id")
    return browser.post(path, {**form, "submission_id": submission_id})


def answer_all(
    browser: Browser, path: str, form: dict[str, object] | Callable[[str], dict[str, object]]
) -> list[httpx.Response]:
    """Answer unit after unit until there is none left, alike or by the path of each; give the page after each."""
    pages = []
    while path.startswith("/leases/"):
        assert len(pages) < 60, f"still at {path}"
        pages.append(answer(browser, path, form(path) if callable(form) else form))
        assert pages[-1].status_code == 200, pages[-1].text
        path = pages[-1].url.path
    return pages


def all_of(study: Study, who: str, task: str, form: dict[str, object] | None = None) -> list[httpx.Response]:
    """Somebody answers all units of a task alike."""
    browser = study.browser(who)
    return answer_all(browser, start(browser, study, task), form or FILLED[task])


@pytest.mark.parametrize("task", sorted(FILLED))
def test_a_whole_session_from_the_instructions_to_the_thanks(study: Study, task: str) -> None:
    browser = study.browser("worker")
    page = browser.get(f"/jobs/{study.jobs[task]}").text
    assert "Instructions" in page
    pages = answer_all(browser, start(browser, study, task), FILLED[task])
    assert pages[-1].url.path == f"/jobs/{study.jobs[task]}/done"
    assert len(pages) == N_UNITS[task]
    assert f"<strong>{len(pages)}</strong>" in pages[-1].text
    with study.store.read() as tx:
        assert standing.n_answered(tx, study.jobs[task], study.people["worker"].person_id) == len(pages)
        assert checks.violations(tx) == []


def test_a_form_that_is_not_filled_comes_back_with_what_was_filled_in(study: Study) -> None:
    browser = study.browser("worker")
    path = start(browser, study, "usage")
    reply = answer(browser, path, {"label": "1", "confidence": "high"})
    assert reply.status_code == 422
    assert 'value="1" data-key="1" checked' in reply.text
    assert "Please answer this question." in reply.text
    assert "Only for the answer Incorrect." in reply.text  # without script nobody knows the key of an answer
    assert study.read(standing.n_answered, study.jobs["usage"], study.people["worker"].person_id) == 0


def test_another_answer_from_an_old_page_is_a_conflict_and_the_first_stays(study: Study) -> None:
    browser = study.browser("worker")
    path = start(browser, study, "error")
    answer(browser, path, {"label": "error"})
    assert "Already answered" in browser.get(path).text  # by the back button
    assert browser.get(f"{path}/feedback").status_code == 404, "work has none"
    form = {"label": "ok", "submission_id": submission_id_of(path.rpartition("/")[2])}
    reply = browser.post(path, form)
    assert reply.status_code == 409
    assert "Your first answer to this unit is saved." in reply.text
    assert [row["label"] for row in study.read(judgments.table, study.jobs["error"])] == ["error"]


@pytest.mark.parametrize(("state", "end"), [("paused", "/done"), ("closed", "/done"), ("draft", "/next")])
def test_no_new_work_from_a_job_that_is_not_open_and_a_draft_is_unknown(study: Study, state: str, end: str) -> None:
    study.write(jobs.set_state, study.jobs["error"], state)
    browser = study.browser("worker")
    assert start(browser, study, "error").endswith(end)
    assert "Job error" not in browser.get("/jobs").text
    status = 404 if state == "draft" else 200
    assert browser.get(f"/jobs/{study.jobs['error']}").status_code == status
    Program(study, "worker").call("one_job", job_id=study.jobs["error"], status=status)


def test_seconds_are_what_the_page_measured_but_never_more_than_the_lease(study: Study) -> None:
    for sent, stored in (("4.5", 4.5), ("99999", 30.0), ("nonsense", 30.0), ("-1", 30.0), ("nan", 30.0)):
        browser = study.browser("worker")
        path = start(browser, study, "error")
        study.clock.now += 30_000
        answer(browser, path, {**FILLED["error"], "seconds": sent})
        row = study.read(judgments.find_submission, submission_id_of(path.rpartition("/")[2]))
        assert row.seconds == pytest.approx(stored)


def test_a_reload_shows_the_sides_as_they_were(study: Study) -> None:
    browser = study.browser("worker")
    path = start(browser, study, "choice")
    pages = {re.sub(r"csrf[^>]*>", "", browser.get(path).text) for _ in range(5)}
    assert len(pages) == 1
