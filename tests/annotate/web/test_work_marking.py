"""The marking page and its drafts, without a browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import select

from grater.annotate import plans
from grater.annotate.store import schema
from grater.annotate.tasks.task import Unit
from grater.annotate.work import DraftBody, checked, findings
from grater.errors import BadInput, UsageError
from grater.model import Essay, Json
from tests.annotate.web.studies import BASE, Browser, Study, served

TEXT = "😀 She own a bakery. He say it again and again."


def edit(words: str, tag: str, *replacements: str, text: str = TEXT) -> dict[str, Json]:
    start = text.index(words)
    return {
        "start": start,
        "end": start + len(words),
        "quote": words,
        "tag": tag,
        "replacements": list(replacements),
        "comment": "",
    }


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


@pytest.mark.parametrize("body", [{}, {"edits": {}}, {"edits": [], "set_aside": "later"}, {"edits": [3]}])
def test_a_draft_of_another_shape_is_refused(body: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        DraftBody.checked(**body)


def test_findings_are_the_slips_of_the_annotator_not_what_is_unfinished() -> None:
    assert messages(edit("own", "SVA")) == []
    assert messages(edit("again and again", "Rloc", "and again again"))[0].startswith(
        "a redundancy that removes nothing"
    )
    assert messages(edit("own", "SVA", "own"))[0].startswith("the correction equals the text")
    assert "is already there" in messages(edit("own", "SVA", "owns"), edit("own", "SVA", "owns"))[0]


def test_a_run_on_may_cover_two_sentences_and_a_word_form_may_not() -> None:
    two = "bakery. He"
    assert messages(edit(two, "Srun", "bakery, and he")) == []
    assert "covers 2 sentences" in messages(edit(two, "Wform", "bakery he"))[0]


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    with served(tmp_path, tasks=["marking"]) as found:
        yield found


def begin(study: Study, who: str) -> tuple[Browser, str]:
    browser = study.browser(who)
    reply = browser.post(f"/jobs/{study.jobs['marking']}/next")
    browser.get(reply.url.path)
    return browser, reply.url.path


def save(browser: Browser, path: str, revision: int, edits: list[dict[str, Json]]):  # type: ignore[no-untyped-def]
    body = {"revision": revision, "body": {"edits": edits, "set_aside": False}}
    headers = {"origin": BASE, "x-csrf-token": browser.csrf}
    return browser.client.put(f"{path}/draft", json=body, headers=headers)


def test_a_draft_is_saved_under_a_revision_and_a_stale_one_gets_the_newer(study: Study) -> None:
    browser, path = begin(study, "annotator")
    first = save(browser, path, 0, [])
    assert (first.status_code, first.json()) == (200, {"revision": 1, "findings": []})
    stale = save(browser, path, 5, [])
    assert stale.status_code == 409
    assert stale.json() == {"revision": 1, "body": {"edits": [], "set_aside": False}}


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
    text = desk_data(browser, path)["text"]
    mark = edit(text.split()[0], "Others", "xyzzy", text=text)
    assert save(browser, path, 0, [mark]).status_code == 200
    other, other_path = begin(study, "worker")
    assert "xyzzy" not in other.get(other_path).text
    assert save(other, path, 1, []).status_code == 404
    assert "xyzzy" in browser.get(path).text


def desk_data(browser: Browser, path: str) -> dict[str, str]:
    page = browser.get(path).text
    start = page.index('id="marking-data">') + len('id="marking-data">')
    found: dict[str, str] = json.loads(page[start : page.index("</script>", start)])
    return found


def test_the_page_says_how_far_the_annotator_is_and_gives_the_essay_back(study: Study) -> None:
    browser, path = begin(study, "annotator")
    page = browser.get(path).text
    assert "0 of 3 done" in page
    assert f'action="{path}/return"' in page
    assert browser.post(f"{path}/return").status_code == 200
    assert "This unit is no longer yours" in browser.get(path).text


def test_a_job_whose_units_are_all_done_offers_no_way_in(study: Study) -> None:
    with study.store.write() as tx:
        job = plans.plan_job(tx, plans.NewJob(name="own", task="marking", annotators=("Annotator",), most=1))
    browser = study.browser("annotator")
    path = browser.post(f"/jobs/{job.job_id}/next").url.path
    assert "all done" not in browser.get("/jobs").text
    browser.post(path, {"edits": "[]"})
    assert "all done" in browser.get("/jobs").text
