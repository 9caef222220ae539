"""The marking page and its drafts, without a browser.

Odd marks come back to their annotator, who mends them or keeps them (NUCLE 2013, section 4).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import select

from grater.annotate import judgments, plans
from grater.annotate.store import checks, schema
from grater.annotate.store.transaction import DAY
from grater.annotate.tasks.task import Unit
from grater.annotate.work import DraftBody, checked, findings
from grater.errors import BadInput, UsageError
from grater.model import Essay, Json
from tests.annotate.web.studies import BASE, TEXTS, Browser, Study, served
from tests.annotate.web.test_work import answer, start

TEXT = "😀 She own a bakery. He say it again and again."


def edit(words: str, tag: str, *replacements: str) -> dict[str, Json]:
    start = TEXT.index(words)
    span: dict[str, Json] = {"start": start, "end": start + len(words), "quote": words}
    return {**span, "tag": tag, "replacements": list(replacements), "comment": ""}


def messages(*edits: dict[str, Json]) -> list[str]:
    return [str(note["message"]) for note in findings(Unit("u", Essay("e", TEXT), ()), {"edits": list(edits)})]  # type: ignore[index,call-overload]


def test_a_draft_may_lack_corrections_but_its_quotes_must_be_right() -> None:
    unfinished = edit("own", "SVA")
    assert checked(TEXT, DraftBody.checked(edits=[unfinished]))["edits"] == [unfinished]
    for slip in ({"start": 7}, {"end": 500}, {"quote": "Own"}):
        with pytest.raises(BadInput, match="edit 1: expected"):
            checked(TEXT, DraftBody.checked(edits=[unfinished | slip]))
    for slip in ({"replacements": [1]}, {"tag": None}, {"filler": "x"}):
        with pytest.raises(UsageError, match=r"edits\.0"):
            DraftBody.checked(edits=[unfinished | slip])


def test_findings_are_the_slips_of_the_annotator_not_what_is_unfinished() -> None:
    assert messages(edit("own", "SVA")) == []
    for words, edits in (
        ("a redundancy that removes nothing", [edit("again and again", "Rloc", "and again again")]),
        ("the correction equals the text", [edit("own", "SVA", "own")]),
        ("is already there", [edit("own", "SVA", "owns")] * 2),
    ):
        assert words in messages(*edits)[0]


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    with served(tmp_path, tasks=["marking", "error"]) as found:
        yield found


def begin(study: Study, who: str) -> tuple[Browser, str]:
    browser = study.browser(who)
    reply = browser.post(f"/jobs/{study.jobs['marking']}/next")
    return browser, reply.url.path


def save(browser: Browser, path: str, revision: int, edits: list[dict[str, Json]]):  # type: ignore[no-untyped-def]
    body = {"revision": revision, "body": {"edits": edits, "set_aside": False}}
    headers = {"origin": BASE, "x-csrf-token": browser.csrf}
    return browser.client.put(f"{path}/draft", json=body, headers=headers)


def test_saving_a_draft_does_not_shorten_the_time_that_the_essay_took(study: Study) -> None:
    browser, path = begin(study, "annotator")
    study.clock.now += 300 * 1000
    save(browser, path, 0, [])
    study.clock.now += 20 * 1000
    fields = {"edits": "[]", "seconds": "310.5", "submission_id": str(uuid4())}
    assert browser.post(path, fields).status_code == 200
    with study.store.read() as tx:
        assert [row.seconds for row in tx.all(select(schema.submissions.c.seconds))] == [310.5]


def test_the_page_tells_nothing_of_another_annotator_and_nobody_saves_into_their_draft(study: Study) -> None:
    browser, path = begin(study, "annotator")
    assert save(browser, path, 0, json.loads(first_word(browser.get(path).text, "xyzzy"))).status_code == 200
    other, other_path = begin(study, "worker")
    assert "xyzzy" not in other.get(other_path).text
    assert save(other, path, 1, []).status_code == 404
    assert "xyzzy" in browser.get(path).text


def test_a_job_whose_units_are_all_done_offers_no_way_in(study: Study) -> None:
    job = study.write(plans.plan_job, plans.NewJob(name="own", task="marking", annotators=("Annotator",), most=1))
    browser = study.browser("annotator")
    path = browser.post(f"/jobs/{job.job_id}/next").url.path
    assert "all done" not in browser.get("/jobs").text
    browser.post(path, {"edits": "[]"})
    assert "all done" in browser.get("/jobs").text


def first_word(page: str, replacement: str | None = None, *, tag: str = "Mec") -> str:
    text = next(text for text in TEXTS if json.dumps(text)[1:-1] in page or text in page)
    word = text.split()[0]
    mark = {"start": 0, "end": len(word), "quote": word, "tag": tag, "comment": ""}
    return json.dumps([{**mark, "replacements": [replacement or word]}])


def marked(study: Study) -> Browser:
    """An annotator who replaced a word by itself; the manager had it looked over."""
    browser = study.browser("annotator")
    path = start(browser, study, "marking")
    page = browser.get(path).text
    assert answer(browser, path, {"edits": first_word(page)}).status_code == 200
    manager, job_id = study.browser("manager"), study.jobs["marking"]
    assert "1 not settled" in manager.post(f"/manage/jobs/{job_id}/review").text
    return browser


def mend(browser: Browser) -> str:
    found = re.search(r"/reviews/units/([\w-]+)/mend", browser.get("/reviews").text)
    assert found
    path: str = browser.post(found.group(0)).url.path
    return path


def test_mended_work_takes_the_place_of_the_old(study: Study) -> None:
    browser = marked(study)
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
    browser = marked(study)
    mend(browser)
    study.clock.now += 30 * DAY
    other = study.browser("worker")
    start(other, study, "marking")  # whoever asks for work frees what has run out
    with study.store.read() as tx:
        (row,) = judgments.table(tx, study.jobs["marking"], judgments.ALL)
        assert row["status"] == "valid"
        assert checks.violations(tx) == []


def test_a_mark_can_be_kept_and_is_not_asked_about_again(study: Study) -> None:
    browser = marked(study)
    found = re.search(r"/reviews/[\w-]+/keep", browser.get("/reviews").text)
    assert found
    assert "Nothing to check." in browser.post(found.group(0)).text
    manager = study.browser("manager")
    assert "0 not settled" in manager.post(f"/manage/jobs/{study.jobs['marking']}/review").text
    refused = manager.post(f"/manage/jobs/{study.jobs['error']}/review")
    assert (refused.status_code, "only marked essays" in refused.text) == (422, True)
