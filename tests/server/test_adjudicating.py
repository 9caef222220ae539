"""Adjudicators: what raters said side by side, the answer that counts, and the way from unit to unit."""

from __future__ import annotations

import re

from grater.store import adjudications, judgments, leases, units
from tests.server.studies import Study, hidden
from tests.server.test_manage import TWO, all_of
from tests.server.test_work import answer, start


def decision(study: Study, unit_id: str) -> str:
    with study.store.read() as tx:
        found = adjudications.find(tx, unit_id)
    return found.answers[0].label if found else ""


def test_adjudication_shows_raters_side_by_side_and_stores_gold(study: Study) -> None:
    all_of(study, "worker", "usage", {"label": "1", "better": "on", "confidence": "high"})
    all_of(study, "annotator", "usage", {"label": "2", "confidence": "low"})
    adjudicator = study.browser("adjudicator")
    assert "0 of 10 decided" in adjudicator.get("/adjudicate").text
    with study.store.read() as tx:
        unit_id = units.ids_of_job(tx, study.jobs["usage"])[0]
    page = adjudicator.get(f"/adjudicate/{unit_id}").text
    assert "<td>A</td>" in page
    assert "<td>B</td>" in page
    assert "Worker" not in page  # whose answer it is should not matter
    assert "Incorrect: another is needed</span>" in page
    reply = adjudicator.post(f"/adjudicate/{unit_id}", {"label": "1", "version": "0", "confidence": "high"})
    assert reply.status_code == 422  # a better preposition is owed here too
    form = {"label": "1", "better": "upon", "confidence": "high", "version": "0", "comment": "as in the guide"}
    assert adjudicator.post(f"/adjudicate/{unit_id}", form).status_code == 200
    with study.store.read() as tx:
        decided = adjudications.find(tx, unit_id)
        assert len(judgments.table(tx, study.jobs["usage"])) == 20  # the originals stay
    assert decided is not None
    assert (decided.answers[0].label, decided.answers[0].alternatives) == ("1", ("upon",))
    assert "1 of 10 decided" in adjudicator.get("/adjudicate").text


def test_a_decision_made_from_an_older_one_is_stale(study: Study) -> None:
    for who in TWO:
        all_of(study, who, "error", {"label": "error"})
    with study.store.read() as tx:
        unit_id = units.ids_of_job(tx, study.jobs["error"])[0]
    one, other = study.browser("adjudicator"), study.browser("owner")
    assert one.post(f"/adjudicate/{unit_id}", {"label": "ok", "version": "0"}).status_code == 200
    reply = other.post(f"/adjudicate/{unit_id}", {"label": "error", "version": "0", "comment": "my reasons"})
    assert reply.status_code == 409
    assert 'value="error" data-key="1" checked' in reply.text  # what was filled in is still there
    assert "my reasons" in reply.text
    assert decision(study, unit_id) == "ok"
    form = {"label": "error", "version": hidden(reply.text, "version")}
    assert other.post(f"/adjudicate/{unit_id}", form).status_code == 200
    assert decision(study, unit_id) == "error"


def test_what_raters_agree_on_is_filled_in(study: Study) -> None:
    for who in TWO:
        all_of(study, who, "error", {"label": "ok"})
    with study.store.read() as tx:
        unit_id = units.ids_of_job(tx, study.jobs["error"])[0]
    assert 'value="ok" data-key="2" checked' in study.browser("adjudicator").get(f"/adjudicate/{unit_id}").text


def test_units_on_which_raters_differ_come_first(study: Study) -> None:
    all_of(study, "worker", "error", {"label": "ok"})
    browser = study.browser("annotator")
    path, odd = start(browser, study, "error"), ""
    for number in range(10):
        if number == 7:
            with study.store.read() as tx:
                found = leases.find(tx, path.rpartition("/")[2], person_id=study.people["annotator"].person_id)
            assert found is not None
            odd = found.unit_id
        path = answer(browser, path, {"label": "error" if number == 7 else "ok"}).url.path
    assert f"/adjudicate/{odd}" in study.browser("adjudicator").get("/adjudicate").text


def test_a_choice_is_adjudicated_by_whose_word_it_is(study: Study) -> None:
    for who in TWO:
        all_of(study, who, "choice", {"label": "equally good"})
    with study.store.read() as tx:
        unit_id = units.ids_of_job(tx, study.jobs["choice"])[0]
    adjudicator = study.browser("adjudicator")
    page = adjudicator.get(f"/adjudicate/{unit_id}").text
    adjudicator.post(f"/adjudicate/{unit_id}", {"label": "first", "version": "0"})
    is_system_first = "zzz-suggested" in page.partition('value="first"')[2].partition("</label>")[0].lower()
    with study.store.read() as tx:
        decided = adjudications.find(tx, unit_id)
    assert decided is not None
    assert decided.answers[0].label == ("system" if is_system_first else "writer")


def test_after_a_decision_comes_the_next_unit_until_all_are_decided(study: Study) -> None:
    for who in TWO:
        all_of(study, who, "error", {"label": "ok"})
    browser = study.browser("adjudicator")
    path, met = re.findall(r'"(/adjudicate/[\w-]+)"', browser.get("/adjudicate").text)[0], []
    while path != "/adjudicate":
        met.append(path)
        path = browser.post(path, {"label": "error", "version": "0"}).url.path
    assert len(set(met)) == len(met) == 10
    assert "all decided" in browser.get("/adjudicate").text


def test_a_unit_that_is_skipped_stays_and_a_decided_one_is_found_again(study: Study) -> None:
    for who in TWO:
        all_of(study, who, "error", {"label": "ok"})
    browser, job = study.browser("adjudicator"), f"/adjudicate/jobs/{study.jobs['error']}"
    first, second = re.findall(r'href="(/adjudicate/[\w-]+)">', browser.get(job).text)[1:3]
    assert f'href="{second}">Skip' in browser.get(first).text
    browser.post(second, {"label": "error", "version": "0", "comment": "as agreed"})
    assert second in browser.get(f"{job}?show=decided").text
    assert second not in browser.get(f"{job}?show=undecided").text
    assert first in browser.get(f"{job}?show=undecided").text
    assert "as agreed" in browser.get(second).text
