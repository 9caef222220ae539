"""What a rater sees of their own progress, skipping a unit, and the next unit with the answer."""

from __future__ import annotations

import pytest

from grater.annotate import jobs, units
from grater.annotate.raters import pace_of
from grater.annotate.store.transaction import MINUTE
from tests.annotate.web.studies import Study, hidden, new_units
from tests.annotate.web.test_work import FILLED, answer, answer_all, start
from tests.annotate.web.test_work_adversary import TERMS, job_with_gold


def test_the_page_says_how_many_are_left_how_long_and_what_was_earned(study: Study) -> None:
    job_id = study.jobs["error"]
    study.write(jobs.set_options, job_id, {"crowd": {"pay": {"cents": 25}}})
    browser = study.browser("worker")
    path = start(browser, study, "error")
    assert "0 of 10 done" in browser.get(path).text
    for _ in range(4):
        study.clock.now += 2 * MINUTE
        path = answer(browser, path, FILLED["error"]).url.path
    page = browser.get(path).text
    assert "4 of 10 done" in page
    assert "about 12 min left" in page  # six units at two minutes each
    assert "1.00 EUR earned" in page
    other = study.read(pace_of, study.read(jobs.get, job_id), study.people["annotator"].person_id)
    assert (other.n_done, other.n_total, other.minutes_left, other.earned) == (0, 10, None, "0.00 EUR")
    for limit, total in ((4, 4), (40, 10)):  # the smaller of a limit and what is left
        with study.store.write() as tx:
            jobs.set_options(tx, job_id, {"crowd": {"limit": limit}})
            assert pace_of(tx, jobs.get(tx, job_id), study.people["annotator"].person_id).n_total == total


def test_a_rater_who_is_tested_is_told_no_total_that_gold_would_change(study: Study) -> None:
    rater = study.people["worker"].person_id
    job_id = study.jobs["error"] = study.write(job_with_gold, "tested")
    browser = study.browser("worker")

    def looked_at(path: str) -> dict[str, object]:
        page = browser.get(path).text
        assert " of " not in page.partition('class="pace"')[2].partition("</div>")[0]
        assert "Skip this one" not in page, "what comes instead would tell gold from work"
        assert browser.post(f"{path}/skip").status_code == 409
        return FILLED["error"]

    answer_all(browser, start(browser, study, "error"), looked_at)
    with study.store.write() as tx:
        jobs.set_options(tx, job_id, {"crowd": {**TERMS, "limit": 30}})
        assert pace_of(tx, jobs.get(tx, job_id), rater).n_total == 30


@pytest.mark.parametrize("access", ["pool", "assigned"])
def test_a_skipped_unit_comes_again_at_the_end(study: Study, access: str) -> None:
    rater = study.people["worker"].person_id
    if access == "assigned":
        with study.store.write() as tx:
            job = jobs.add(tx, name="assigned", task="error", judgments=1, access="assigned")
            ids = units.add_all(tx, job.job_id, new_units(tx, "error")[:4])
            jobs.assign(tx, job.job_id, [jobs.Assignment(unit_id, rater) for unit_id in ids])
            study.jobs["error"] = jobs.set_state(tx, job.job_id, "open").job_id
    browser = study.browser("worker")
    first = start(browser, study, "error")
    skipped = study.unit_at(first).unit.unit_id
    second = browser.post(f"{first}/skip").url.path
    assert study.unit_at(second).unit.unit_id != skipped
    third = browser.post(f"{second}/skip").url.path
    also_skipped = study.unit_at(second).unit.unit_id
    pages = answer_all(browser, third, FILLED["error"])
    order = [study.unit_at(path).unit.unit_id for path in (third, *(page.url.path for page in pages[:-1]))]
    assert set(order[-2:]) == {skipped, also_skipped}
    assert len(order) == len(set(order)) == (4 if access == "assigned" else 10)
    study.require_promises()


def test_skipping_is_limited_like_every_return(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grater.annotate.leases.MOST_RETURNS", 1)
    browser = study.browser("worker")
    path = browser.post(f"{start(browser, study, 'error')}/skip").url.path
    assert "Skip this one" not in browser.get(path).text
    assert browser.post(f"{path}/skip").status_code == 409


def test_the_next_unit_comes_with_the_answer_where_the_page_asks_for_it(study: Study) -> None:
    browser = study.browser("worker")
    path = start(browser, study, "error")
    reply = browser.post(path, FILLED["error"], headers={"x-next": "here"})
    assert (reply.status_code, reply.history) == (200, [])
    address = reply.headers["content-location"]
    assert address.startswith("/leases/")
    assert address != path
    again = browser.get(address).text
    assert again.replace(hidden(again, "csrf"), "") == reply.text.replace(hidden(reply.text, "csrf"), "")
    assert "Thank you" in answer_all(browser, address, FILLED["error"])[-1].text
