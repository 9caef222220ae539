"""A lost password: a link back in, for the same person with the same work, and for nobody else."""

from __future__ import annotations

import re

from grater.annotate import credentials, people
from tests.annotate.web.studies import PASSWORD, Browser, Study

NEW = "a brighter morning"


def link_for(browser: Browser, study: Study, role: str) -> tuple[int, str]:
    """What the page of people answers to New password, and the path of the link on it."""
    browser.get("/manage/people")
    reply = browser.post(f"/manage/people/{study.people[role].person_id}/back")
    found = re.search(r"http://testserver(/join/\S+)</code>", reply.text)
    return reply.status_code, found.group(1) if found else ""


def come_back(study: Study, path: str, password: str = NEW) -> int:
    browser = study.browser()
    browser.get("/login")  # a link that is spent shows a page without a form
    browser.get(path)
    status: int = browser.post(path, {"password": password, "again": password}).status_code
    return status


def log_in(study: Study, name: str, password: str) -> int:
    browser = study.browser()
    browser.get("/login")
    status: int = browser.post("/login", {"name": name, "password": password}).status_code
    return status


def test_a_link_gives_the_same_person_a_new_password_and_ends_their_sessions(bare: Study) -> None:
    worker = bare.people["worker"]
    with bare.store.write() as tx:
        old, _ = credentials.start_session(tx, worker.person_id, hours=12)
    _, path = link_for(bare.browser("manager"), bare, "worker")
    assert 'value="Worker" readonly' in bare.browser().get(path).text
    assert come_back(bare, path) == 200
    assert (log_in(bare, "Worker", PASSWORD), log_in(bare, "Worker", NEW)) == (401, 200)
    with bare.store.read() as tx:
        assert credentials.find_session(tx, old) is None
        assert people.named(tx, "Worker").person_id == worker.person_id


def test_a_link_back_works_once_and_the_newest_only(bare: Study) -> None:
    _, first = link_for(bare.browser("manager"), bare, "worker")
    _, second = link_for(bare.browser("manager"), bare, "worker")
    assert come_back(bare, first) == 404
    assert come_back(bare, second) == 200
    assert come_back(bare, second, "yet another evening") == 404
    assert log_in(bare, "Worker", NEW) == 200


def test_only_owners_bring_managers_and_owners_back(bare: Study) -> None:
    for role in ("owner", "manager"):
        assert link_for(bare.browser("manager"), bare, role) == (403, "")
        assert link_for(bare.browser("owner"), bare, role)[0] == 200


def test_an_old_link_is_worth_nothing_once_its_person_has_another_role(bare: Study) -> None:
    """Else a manager could keep one for an annotator, and have an owner's account when the annotator becomes one."""
    _, path = link_for(bare.browser("manager"), bare, "annotator")
    with bare.store.write() as tx:
        people.set_role(tx, bare.people["annotator"].person_id, "owner")
    assert come_back(bare, path) == 404
    assert log_in(bare, "Annotator", PASSWORD) == 200


def test_who_is_shut_out_does_not_come_back_by_a_link(bare: Study) -> None:
    _, path = link_for(bare.browser("owner"), bare, "worker")
    with bare.store.write() as tx:
        people.set_state(tx, bare.people["worker"].person_id, "ended")
    assert come_back(bare, path) == 404
    assert link_for(bare.browser("owner"), bare, "worker")[0] == 422


def test_a_seat_for_one_person_twice_is_told_on_the_page(bare: Study) -> None:
    browser = bare.browser("manager")
    browser.get("/manage/people")
    reply = browser.post("/manage/seats", {"members": ["Worker", "Worker"]})
    assert reply.status_code == 422
    assert "a joint seat is for two different people" in reply.text
    assert "<h1>People</h1>" in reply.text
