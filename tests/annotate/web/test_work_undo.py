"""Undo through pages and API: where it is offered, and that it tells nothing of gold."""

from __future__ import annotations

import re

import pytest

from grater.annotate import credentials
from grater.annotate.store import checks, submissions
from grater.model import Json
from tests.annotate.web.studies import Study
from tests.annotate.web.test_crowd import begin, crowd_job, is_gold, masked
from tests.annotate.web.test_work import answer, start

TERMS: dict[str, Json] = {"gold": {"least_seen": 50}, "page": 2}
OFFER = "Undo your last answer"


@pytest.fixture
def tested(bare: Study) -> Study:
    with bare.store.write() as tx:
        bare.jobs["crowd"] = crowd_job(tx, TERMS)
    return bare


def test_the_last_answer_is_taken_back_by_a_button(study: Study) -> None:
    browser = study.browser("worker")
    first = start(browser, study, "error")
    assert OFFER not in browser.get(first).text
    page = answer(browser, first, {"label": "error"})
    assert f'action="{first}/undo" data-undo' in page.text
    again = browser.post(f"{first}/undo")
    assert again.url.path not in (first, page.url.path)
    assert OFFER not in again.text
    back = answer(browser, again.url.path, {"label": "ok"})
    assert back.url.path == page.url.path  # what was in hand before comes next
    assert OFFER not in back.text  # once
    assert browser.post(f"{first}/undo").status_code == 409
    with study.store.read() as tx:
        assert checks.violations(tx) == []


def test_the_last_answer_is_taken_back_by_the_api(study: Study) -> None:
    with study.store.write() as tx:
        token = credentials.make_token(tx, study.people["worker"].person_id)
    api, headers = study.client(), {"authorization": f"Bearer {token}"}
    lease = api.post(f"/api/v1/jobs/{study.jobs['choice']}/next", headers=headers).json()["lease"]
    label = {"fields": {"label": [lease["fields"][0]["choices"][0]["value"]]}}
    sent = api.post(f"/api/v1/leases/{lease['lease_id']}", headers=headers, json=label).json()
    again = api.post(f"/api/v1/leases/{lease['lease_id']}/undo", headers=headers).json()["lease"]
    assert api.post(f"/api/v1/leases/{again['lease_id']}", headers=headers, json=label).json()["status"] == "valid"
    assert api.post(f"/api/v1/leases/{again['lease_id']}/undo", headers=headers).status_code == 409
    with study.store.read() as tx:
        stored = submissions.find(tx, sent["submission_id"])
        assert stored is not None
        assert stored.status == "withdrawn"
        assert checks.violations(tx) == []


def test_neither_the_page_nor_the_count_of_right_answers_tells_what_was_answered(tested: Study) -> None:
    """What can be taken back is not yet counted, and the pages after gold and after work are the same."""
    job_id, browser = tested.jobs["crowd"], tested.browser("worker")
    path, n_gold = begin(browser, job_id), 0
    pages: dict[bool, set[str]] = {True: set(), False: set()}
    for _ in range(6):
        was_gold = is_gold(tested, path)
        path = answer(browser, path, {"label": "error"}).url.path
        told = re.search(r"You have (\d+) of (\d+) right so far", browser.get(f"/jobs/{job_id}").text)
        assert (int(told[2]) if told else 0) == n_gold
        n_gold += was_gold
        page = masked(browser.get(path).text, job_id)
        pages[was_gold].add(re.sub(r'(?s)<div class="passage".*?</div>', "", page))
    assert pages[True] == pages[False]
    assert all(OFFER in page for page in pages[True])


def test_undo_is_not_offered_after_missed_gold(tested: Study) -> None:
    job_id, browser = tested.jobs["crowd"], tested.browser("worker")
    path = begin(browser, job_id)
    while not is_gold(tested, path):
        path = answer(browser, path, {"label": "error"}).url.path
    assert answer(browser, path, {"label": "ok"}).url.path.endswith("/feedback")
    assert OFFER not in browser.post(f"/jobs/{job_id}/next").text
    assert browser.post(f"{path}/undo").status_code == 409
