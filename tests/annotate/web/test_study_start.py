"""The first run: a study named, texts pasted or sent as files, a job previewed, tried and mended, by plain forms."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from grater.annotate import content, jobs, people
from grater.annotate.importing import name_of
from grater.annotate.store import events, open_store
from grater.annotate.web import Settings
from tests.annotate.web.studies import BASE, Browser, FakeClock, Study
from tests.corpora.test_table import document

MARKET, SCHOOL = "# Market\nWe arrive to the square at six.", "# School\nIn my school we learn about boats."
PASTED = "\n---\n".join((MARKET, SCHOOL, "I wait of you."))


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Study]:
    """A study with an owner and nothing else."""
    clock = FakeClock()
    with open_store(tmp_path / "study.db", create=True, clock=clock) as store:
        with store.write() as tx:
            owner = people.add(tx, name="Owner", role="owner")
        yield Study(store, clock, {"owner": owner}, {}, Settings(base_url=BASE, clock=clock))


def started(study: Study) -> Browser:
    browser = study.browser("owner")
    browser.post("/manage/start", {"kind": "corpus", "name": "Two schools", "pasted": PASTED})
    return browser


def test_an_empty_study_begins_with_its_texts_and_its_name_is_the_title(empty: Study) -> None:
    browser = empty.browser("owner")
    assert "Which texts is the study about?" in browser.get("/manage").text
    form = {"kind": "corpus", "name": "Two schools", "pasted": PASTED}
    file = ("Anna.docx", document("<w:p><w:r><w:t>Hi.</w:t></w:r></w:p>"))
    reply = browser.post("/manage/start", form, files={"files": file})
    assert reply.url.path == "/manage/detector"
    assert "every place in the 4 essays" in reply.text
    assert "<title>Which system? · Two schools</title>" in reply.text
    with empty.store.read() as tx:
        assert [name_of(each) for each in content.all_essays(tx)] == ["Anna", "Market", "School", "3 I wait of you"]
        assert "study.renamed" in [event.verb for event in events.all(tx)]


def test_what_is_refused_is_reported_and_what_was_pasted_stays_on_the_page(empty: Study) -> None:
    browser = empty.browser("owner")
    form = {"kind": "corpus", "name": "Two schools", "pasted": PASTED}
    reply = browser.post("/manage/start", form, files={"files": ("virus.exe", io.BytesIO(b"MZ"))})
    assert reply.status_code == 422
    assert "virus.exe: expected a file of a known kind" in reply.text
    assert "In my school we learn about boats." in reply.text
    assert empty.read(content.n_essays) == 0


def test_a_preview_without_scripts_keeps_the_form_and_stores_nothing(empty: Study) -> None:
    browser = started(empty)
    page = browser.post("/manage/jobs/preview", {"task": "marking", "judgments": "2", "cents": "50"}).text
    assert "3 units, 6 judgments, about 2 min of work, 3.00 EUR" in page
    assert 'value="50"' in page
    page = browser.post("/manage/jobs/preview", {"task": "verify", "judgments": "2"}).text
    assert "no system has decisions" in page
    assert empty.read(jobs.all) == []


def test_a_job_is_tried_as_a_rater_sees_it_and_nothing_is_stored(empty: Study) -> None:
    browser = started(empty)
    job_page = browser.post("/manage/jobs", {"task": "error", "judgments": "2", "cents": "5"})
    assert "Try it as a rater" in job_page.text
    address = f"{job_page.url.path}/try"
    assert "<mark" in browser.get(address).text
    assert "a rater would see this" in browser.post(address, {"n": "1"}).text
    assert "This would be saved: <strong>" in browser.post(address, {"n": "1", "label": "error"}).text
    with empty.store.read() as tx:
        assert not [event for event in events.all(tx) if event.verb.startswith(("lease.", "submission."))]


def test_anyone_who_joins_for_a_job_before_it_opens_is_told_to_wait(empty: Study) -> None:
    browser = started(empty)
    page = browser.post("/manage/jobs", {"task": "error", "judgments": "2"}).url.path
    form = {"job_id": page.rpartition("/")[2], "role": "annotator", "number": "1"}
    (link,) = re.findall(r"/join/[\w-]+", browser.post("/manage/invitations", form).text)
    rater, password = empty.browser(), "a rather long password"
    rater.get(link)
    joined = rater.post(link, {"name": "Ben", "password": password, "again": password})
    assert joined.status_code == 200
    assert "is not open yet" in joined.text
    browser.post(f"{page}/state", {"state": "open"})
    assert "Read and start" in rater.get(joined.url.path).text


def test_what_a_system_said_comes_from_a_file_of_decisions(empty: Study) -> None:
    browser = started(empty)
    with empty.store.read() as tx:
        essays = {name_of(each): each for each in content.all_essays(tx)}
    places = [(essays["Market"], "to"), (essays["Market"], "at"), (essays["School"], "about")]
    rows = [
        f"{n},mine,{int(words == 'to')},{essay.essay_id},{(at := essay.text.index(words))},{at + len(words)},prep"
        for n, (essay, words) in enumerate(places)
    ]
    table = "\n".join(["item,system,flagged,essay,start,end,kind", *rows]).encode()
    form = {"source": "file", "contents": "decisions"}
    sure = browser.post("/manage/detector", form, files={"files": ("mine.csv", table)})
    assert (sure.url.path, "<strong>mine</strong> flags 1 of 3 places" in sure.text) == ("/manage/sure", True)
    refused = browser.post("/manage/detector", form, files={"files": ("bad.csv", b"item,flagged\n1,maybe\n")})
    assert (refused.status_code, "bad.csv" in refused.text) == (422, True)
    nothing = browser.post("/manage/detector", form)
    assert (nothing.status_code, nothing.url.path) == (422, "/manage/detector"), "no file was chosen"
    assert empty.read(content.system_names) == ["mine"]


def test_what_a_system_made_of_the_texts_comes_from_a_file_of_corrections(empty: Study) -> None:
    browser = started(empty)
    with empty.store.read() as tx:
        texts = [each.text.replace("\n", " ") for each in content.all_essays(tx)]
    corrected = "\n".join(text.replace("arrive to", "arrive at").replace("wait of", "wait for") for text in texts)
    form = {"source": "file", "contents": "corrected", "name": "polisher"}
    sure = browser.post("/manage/detector", form, files={"files": ("corrected.txt", corrected.encode())})
    assert (sure.url.path, "polisher" in sure.text) == ("/manage/sure", True)
    made = empty.read(content.all_decisions, system="polisher")
    assert {"at", "for"} <= {decision.suggestion for decision in made if decision.flagged}
    form["name"] = "other"
    short = browser.post("/manage/detector", form, files={"files": ("one.txt", b"Only one line.")})
    assert (short.status_code, short.url.path) == (422, "/manage/detector")
