"""The pages of mined lists: one button a suspect, undo, who decided, the file, the balanced corpus."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from grater.annotate import content, jobs, units
from grater.model import Essay, Item, Json, Span
from grater.tables import read_items
from tests.annotate.study.mined_lists import MORE, TEXT, count
from tests.annotate.web.studies import Browser, Study, hidden, served


@pytest.fixture
def mining(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Study]:
    """A study with suspicious essays; counts are a few of our own."""
    monkeypatch.setattr("grater.annotate.web.mining.counts_in_shipped_model", count)
    with served(tmp_path) as found:
        found.write(content.add_essays, [Essay("one", TEXT), Essay("two", MORE)])
        yield found


def made(study: Study, who: str = "manager") -> tuple[Browser, str]:
    """A browser with a list of three, and the list's address."""
    browser = study.browser(who)
    reply = browser.post("/mining", {"name": "suspects", "most": "3"})
    assert reply.status_code == 200, reply.text
    return browser, reply.url.path


def decided(browser: Browser, address: str, verdict: str) -> str:
    """Press a button of a suspect's page; give the address after it."""
    page = browser.get(address).text
    form = page[page.index("extraneous?") - 600 :]
    reply = browser.post(address, {"verdict": verdict, "version": hidden(form, "version")})
    assert reply.status_code == 200
    return f"{reply.url.path}?{reply.url.query.decode()}".rstrip("?")


def test_a_list_is_gone_through_button_by_button(mining: Study) -> None:
    browser, address = made(mining)
    page = browser.get(address).text
    assert "0 of 3 decided" in page
    assert page.index("discussed about the") < page.index("marry with her") < page.index("entered into the")
    suspect = browser.get(f"{address}/2").text
    assert "My sister will marry" in suspect
    assert re.search(r"<dt>“marry her”</dt><dd>300</dd>", suspect)
    assert decided(browser, f"{address}/1", "y") == f"{address}/2?after=1"
    assert decided(browser, f"{address}/2", "n") == f"{address}/3?after=2"
    assert decided(browser, f"{address}/3", "y") == address
    page = browser.get(address).text
    assert "3 of 3 decided · 2 accepted · 1 rejected" in page
    assert page.count(">Manager</td>") == 3
    rejected = browser.get(f"{address}?show=rejected").text
    assert "marry with her" in rejected
    assert "entered into the" not in rejected


def test_long_lists_are_shown_page_by_page(mining: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grater.annotate.web.mining.A_PAGE", 1)
    browser, address = made(mining)
    decided(browser, f"{address}/1", "y")
    page = browser.get(f"{address}?show=open&page=2").text
    assert ("entered into the" in page, "marry with her" in page) == (True, False)
    assert '<a href="?show=open&amp;page=1">Previous</a>' in page
    assert "Page 2 of 2" in page
    assert "Page 3 of 3" in browser.get(f"{address}?page=99").text


def test_two_people_at_one_suspect_do_not_overwrite_each_other(mining: Study) -> None:
    _, address = made(mining)
    one, other = mining.browser("adjudicator"), mining.browser("owner")
    assert one.post(f"{address}/1", {"verdict": "y", "version": "0"}).status_code == 200
    assert other.post(f"{address}/1", {"verdict": "n", "version": "0"}).status_code == 409
    assert "Adjudicator" in one.get(address).text


def test_odd_verdicts_places_and_jobs_are_refused(mining: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    browser, address = made(mining)
    job = address.replace("/mining/", "/manage/jobs/")
    for place in (job, f"{job}/units", f"{job}/agreement", "/manage", "/adjudicate"):
        assert browser.get(place).status_code == 200, place
    assert browser.post(f"{address}/1", {"verdict": "perhaps", "version": "0"}).status_code == 422
    assert browser.get(f"{address}/1?after=99").status_code == 200
    for place in (f"{address}/0", f"{address}/4", f"{address}/{10**30}", "/mining/nothing", "/mining/nothing/1"):
        assert browser.get(place).status_code == 404
    other = mining.write(jobs.add, name="other", task="error")
    assert browser.get(f"/mining/{other.job_id}").status_code == 404
    assert "name: expected" in browser.post("/mining", {"name": ""}).text
    assert "there is a job called" in browser.post("/mining", {"name": "suspects"}).text
    monkeypatch.setattr("grater.annotate.web.mining.MOST_ESSAYS", 1)
    assert "use grater lab mine --study" in browser.post("/mining", {"name": "x"}).text


def test_the_verdicts_come_as_the_file_that_the_command_reads_and_go_in_again(mining: Study, tmp_path: Path) -> None:
    browser, address = made(mining)
    decided(browser, f"{address}/3", "y")
    reply = browser.get(f"{address}/verdicts.csv")
    path = tmp_path / "verdicts.csv"
    path.write_bytes(reply.content)
    table = read_items(path).frame
    assert table["verdict"].fill_null("").to_list() == ["", "", "y"]
    again = browser.post("/mining", {"name": "again"}, files=[("files", ("verdicts.csv", reply.content))])
    assert "1 of 3 decided" in again.text
    bad = reply.content.replace(b"marry with her", b"carry with her")
    refused = browser.post("/mining", {"name": "bad"}, files=[("files", ("verdicts.csv", bad))])
    assert refused.status_code == 422
    assert "verdicts.csv:3: expected a trigram of the study" in refused.text.replace("&#39;", "'")
    both = [("files", (f"{name}.csv", reply.content)) for name in "ab"]
    assert "files: expected one list, found 2" in browser.post("/mining", {"name": "both"}, files=both).text
    torn = browser.post("/mining", {"name": "torn"}, files=[("files", ("torn.csv", b"no,columns\n1,2\n"))])
    assert "<p>torn.csv: " in torn.text  # not where it lay for a moment


def test_the_balanced_corpus_is_built_on_the_page(mining: Study) -> None:
    browser, address = made(mining)
    assert "Balanced corpus" not in browser.get(address).text
    for place in (1, 2, 3):
        decided(browser, f"{address}/{place}", "y")
    assert "Balanced corpus" in browser.get(address).text
    assert "Balanced corpus" not in mining.browser("adjudicator").get(address).text
    reply = browser.post(f"{address}/balanced", {"name": "balanced", "n_each": "2", "n_gold": "2"})
    assert "balanced: errors: 2, correct uses: 2, gold among them: 2, duplicates left out: 0" in reply.text
    assert "wanted" not in reply.text
    too_much = browser.post(f"{address}/balanced", {"name": "more", "n_each": "2", "n_gold": "75"})
    assert too_much.status_code == 422
    assert "expected at most 4 gold items, found 75" in too_much.text
    job = browser.get(re.search(r"/manage/jobs/[\w-]+", reply.text).group())  # type: ignore[union-attr]
    assert job.status_code == 200


def test_hostile_words_of_a_list_are_text(mining: Study) -> None:
    evil = "<script>alert(1)</script>"
    text = f"I entered into the {evil} {evil}."
    item = Item(evil, Span(10, 14), "prep-extraneous")
    payload: dict[str, Json] = {"trigram": f"{evil} {evil} {evil}", "places": [[evil, 10, 14]], "n_uses": 1}
    payload |= dict.fromkeys(("n_trigram", "n_bigram", "expected", "score"), 1.0)
    with mining.store.write() as tx:
        content.add_essays(tx, [Essay(evil, text)])
        content.add_items(tx, [content.study_item(item)])
        job = jobs.add(tx, name=evil, task="error", options={"mined": evil})
        units.add_all(tx, job.job_id, [units.NewUnit(((item.item_id, {}),), evil, wanted=0, payload=payload)] * 2)
    browser, address = mining.browser("manager"), f"/mining/{job.job_id}"
    after = decided(browser, f"{address}/1", "y")
    assert after == f"{address}/2?after=1"
    pages = [browser.get(place).text for place in ("/mining", address, f"{address}/1", after)]
    assert not any("<script>alert" in page for page in pages)
    assert all("&lt;script&gt;" in page for page in pages)  # and it was really there
