"""A joint seat: two people, one agreed judgment, recorded as such (T&C 2008, 6.2)."""

from __future__ import annotations

from grater.annotate import judgments, people, progress
from grater.annotate.store import checks
from tests.annotate.web.studies import Study
from tests.annotate.web.test_work import FILLED, answer, start


def seat_of(study: Study, first: str = "annotator", second: str = "worker") -> str:
    """A seat made by a manager; give its id."""
    manager = study.browser("manager")
    manager.get("/manage/people")
    pair = [study.people[first].name, study.people[second].name]
    assert manager.post("/manage/seats", {"members": pair}).status_code == 200
    with study.store.read() as tx:
        return people.named(tx, " and ".join(pair)).person_id


def test_either_of_the_two_sits_down_and_the_judgment_is_the_seats(study: Study) -> None:
    seat_id = seat_of(study)
    browser = study.browser("worker")
    assert "Annotator and Worker" in browser.get("/me").text
    page = browser.post(f"/me/seats/{seat_id}")
    assert (page.url.path, "Annotator and Worker" in page.text) == ("/jobs", True)
    answer(browser, start(browser, study, "error"), FILLED["error"])
    with study.store.read() as tx:
        (row,) = judgments.table(tx, study.jobs["error"], names=True)
        assert (row["rater"], row["kind"]) == ("Annotator and Worker", "joint")
        assert progress.of_person(tx, study.jobs["error"], study.people["worker"].person_id) == 0
        assert checks.violations(tx) == []


def test_nobody_else_sits_down_and_a_seat_has_no_password(study: Study) -> None:
    seat_id = seat_of(study)
    browser = study.browser("adjudicator")
    browser.get("/me")
    assert browser.post(f"/me/seats/{seat_id}").status_code == 404
    stranger = study.browser()
    stranger.get("/login")
    assert stranger.post("/login", {"name": "Annotator and Worker", "password": ""}).status_code == 401


def test_the_same_head_is_not_asked_alone_and_on_the_seat(study: Study) -> None:
    seat_id = seat_of(study)
    alone = study.browser("annotator")
    answer(alone, start(alone, study, "error"), FILLED["error"])
    together = study.browser("worker")
    together.get("/me")
    together.post(f"/me/seats/{seat_id}")
    assert start(together, study, "error").endswith("/done")
    assert start(together, study, "usage").startswith("/leases/")  # where neither worked alone
    answer(together, together.post(f"/jobs/{study.jobs['usage']}/next").url.path, FILLED["usage"])
    assert start(study.browser("annotator"), study, "usage").endswith("/done")


def test_a_unit_in_hand_alone_keeps_the_seat_from_work(study: Study) -> None:
    seat_id = seat_of(study)
    start(study.browser("annotator"), study, "error")
    together = study.browser("worker")
    together.get("/me")
    together.post(f"/me/seats/{seat_id}")
    assert start(together, study, "error").endswith("/done")


def test_a_seat_of_two_managers_cannot_manage(study: Study) -> None:
    seat_id = seat_of(study, "owner", "manager")
    browser = study.browser("owner")
    browser.get("/me")
    browser.post(f"/me/seats/{seat_id}")
    assert browser.get("/adjudicate").status_code == 200
    assert browser.get("/manage").status_code == 403


def test_anyone_who_sits_there_is_informed_and_offered_no_password_or_token(study: Study) -> None:
    browser = study.browser("worker")
    assert "Current password" in browser.get("/me").text
    browser.post(f"/me/seats/{seat_of(study)}")
    assert "You are using a joint seat" in browser.get("/jobs").text
    page = browser.get("/me").text
    assert "Current password" not in page
    assert "Create a token" not in page


def test_a_seat_for_one_person_twice_is_reported_on_the_page(bare: Study) -> None:
    browser = bare.browser("manager")
    browser.get("/manage/people")
    reply = browser.post("/manage/seats", {"members": ["Worker", "Worker"]})
    assert reply.status_code == 422
    assert "a joint seat is for two different people" in reply.text
    assert "<h1>People</h1>" in reply.text
