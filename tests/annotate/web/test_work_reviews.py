"""Odd marks come back to their annotator, who mends them or keeps them (NUCLE 2013, section 4)."""

from __future__ import annotations

import json
import re

from grater.annotate import judgments
from grater.annotate.store import checks
from grater.annotate.store.transaction import DAY
from tests.annotate.web.programs import Program
from tests.annotate.web.studies import TEXTS, Browser, Study
from tests.annotate.web.test_work import answer, start


def first_word(page: str, replacement: str | None = None) -> str:
    text = next(text for text in TEXTS if json.dumps(text)[1:-1] in page or text in page)
    word = text.split()[0]
    mark = {"start": 0, "end": len(word), "quote": word, "tag": "Mec", "comment": ""}
    return json.dumps([{**mark, "replacements": [replacement or word]}])


def marked(study: Study) -> tuple[Browser, str]:
    """An annotator who replaced a word by itself, and the job; the manager had it looked over."""
    browser = study.browser("annotator")
    path = start(browser, study, "marking")
    page = browser.get(path).text
    assert answer(browser, path, {"edits": first_word(page)}).status_code == 200
    manager, job_id = study.browser("manager"), study.jobs["marking"]
    manager.get(f"/manage/jobs/{job_id}")
    page = manager.post(f"/manage/jobs/{job_id}/review").text
    assert "1 not settled" in page
    return browser, page


def mend(browser: Browser) -> str:
    found = re.search(r"/reviews/units/([\w-]+)/mend", browser.get("/reviews").text)
    assert found
    path: str = browser.post(found.group(0)).url.path
    return path


def test_mended_work_takes_the_place_of_the_old(study: Study) -> None:
    browser, _ = marked(study)
    assert "unusual" in browser.get("/jobs").text
    path = mend(browser)
    page = browser.get(path).text
    assert '"replacements"' in page  # the marks as they were
    for _ in range(2):  # a double click
        reply = browser.post(path, {"edits": first_word(page, "Better")})
        assert reply.url.path.startswith("/me/essays/")
    assert "Nothing to check." in browser.get("/reviews").text
    with study.store.read() as tx:
        rows = judgments.table(tx, study.jobs["marking"], judgments.ALL)
        assert sorted(str(row["status"]) for row in rows) == ["valid", "withdrawn"]
        (valid,) = [row for row in rows if row["status"] == "valid"]
        assert valid["payload"]["edits"][0]["replacements"] == ["Better"]  # type: ignore[index, call-overload]
        assert checks.violations(tx) == []


def test_a_mending_that_is_never_finished_loses_nothing(study: Study) -> None:
    browser, _ = marked(study)
    mend(browser)
    study.clock.now += 30 * DAY
    other = study.browser("worker")
    start(other, study, "marking")  # whoever asks for work frees what has run out
    with study.store.read() as tx:
        (row,) = judgments.table(tx, study.jobs["marking"], judgments.ALL)
        assert row["status"] == "valid"
        assert checks.violations(tx) == []


def test_a_mark_can_be_kept_and_is_not_asked_about_again(study: Study) -> None:
    browser, _ = marked(study)
    found = re.search(r"/reviews/[\w-]+/keep", browser.get("/reviews").text)
    assert found
    assert "Nothing to check." in browser.post(found.group(0), {"state": "kept"}).text
    manager = study.browser("manager")
    manager.get("/manage")
    assert "0 not settled" in manager.post(f"/manage/jobs/{study.jobs['marking']}/review").text


def test_the_work_of_others_cannot_be_mended(study: Study) -> None:
    browser, _ = marked(study)
    with study.store.read() as tx:
        (row,) = judgments.table(tx, study.jobs["marking"])
    for who in ("worker", "manager"):
        other = study.browser(who)
        other.get("/reviews")
        assert other.post(f"/reviews/units/{row['unit']}/mend").status_code == 404
    keep = re.search(r"/reviews/[\w-]+/keep", browser.get("/reviews").text)
    assert keep
    assert study.browser("worker").post(keep.group(0), {"state": "kept"}).status_code == 404
    finding = f"/findings/{keep.group(0).split('/')[2]}"
    Program(study, "annotator").post(finding, {"state": "mended"}, status=422)  # only work mends
    Program(study, "manager").post(finding, {"state": "kept"}, status=404)
