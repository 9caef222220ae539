"""Undo: where it is offered, and that it tells nothing of gold."""

from __future__ import annotations

import re

import pytest

from grater.annotate import judgments
from grater.annotate.store import checks
from grater.annotate.submissions import submission_id_of
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
        stored = judgments.find_submission(tx, submission_id_of(first.rpartition("/")[2]))
        assert stored is not None
        assert stored.status == "withdrawn"
        assert checks.violations(tx) == []


@pytest.mark.parametrize("label", ["error", "ok"])
def test_the_pages_after_gold_right_or_missed_and_after_work_are_the_same(tested: Study, label: str) -> None:
    job_id, browser = tested.jobs["crowd"], tested.browser("worker")
    path = begin(browser, job_id)
    pages: dict[bool, set[str]] = {True: set(), False: set()}
    for _ in range(6):
        was_gold = is_gold(tested, path)
        path = answer(browser, path, {"label": label}).url.path
        page = masked(browser.get(path).text, job_id) + masked(browser.get(f"/jobs/{job_id}").text, job_id)
        pages[was_gold].add(re.sub(r'(?s)<div class="passage".*?</div>', "", page))
    assert pages[True] == pages[False]
    assert all(OFFER in page for page in pages[True])
