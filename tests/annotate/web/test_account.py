"""Coming in: login, sessions, invitations, the one-time set-up link, a link for a lost password."""

from __future__ import annotations

import re
from itertools import product

from grater.annotate import invitations, people
from grater.annotate.store.transaction import DAY, HOUR
from grater.annotate.web import setup_link
from grater.annotate.web.account import own_path
from tests.annotate.web.studies import PASSWORD, Browser, Study


def log_in(browser: Browser, name: str = "Worker", password: str = PASSWORD, **more: str) -> int:
    browser.get("/login")
    status: int = browser.post("/login", {"name": name, "password": password, **more}).status_code
    return status


def test_a_wrong_name_or_password_is_reported_in_the_same_words(bare: Study) -> None:
    with bare.store.write() as tx:
        people.add(tx, name="Program", role="worker", kind="program")  # has no password
        people.set_state(tx, bare.people["annotator"].person_id, "ended")
    browser = bare.browser()
    browser.get("/login")
    of_nobody = "nobody has this password"  # whose hash stands in for those who have none
    wrong = product(("Worker", "Nobody", "Program"), ("wrong password", "", of_nobody))
    for name, password in (*wrong, ("Annotator", PASSWORD)):
        reply = browser.post("/login", {"name": name, "password": password})
        assert reply.status_code == 401
        assert "Wrong name or password." in reply.text


def test_a_session_that_was_planted_is_worth_nothing_after_login(bare: Study) -> None:
    """Session fixation: whoever knows the cookie from before the login must not be logged in by it."""
    browser = bare.browser()
    browser.client.cookies.set("grater-session", "planted-by-somebody-else", domain="testserver.local", path="/")
    log_in(browser)
    thief = bare.browser()
    thief.client.cookies.set("grater-session", "planted-by-somebody-else")
    assert "Log in" in thief.get("/jobs").text


def test_a_session_ends_with_a_login_a_logout_and_time(bare: Study) -> None:
    browsers = [bare.browser("worker") for _ in range(3)]
    tokens = [browser.client.cookies["grater-session"] for browser in browsers]
    browsers[0].post("/login", {"name": "Manager", "password": PASSWORD})
    browsers[1].post("/logout")
    with bare.store.read() as tx:
        assert [people.find_session(tx, token) is not None for token in tokens] == [False, False, True]
    bare.clock.now += 12 * HOUR + 1
    assert "Log in" in browsers[2].get("/jobs").text


def test_a_login_goes_back_to_the_page_that_asked_for_it_and_to_no_other_site(bare: Study) -> None:
    browser = bare.browser()
    assert browser.get("/me").url.params["next"] == "/me"
    reply = browser.post("/login", {"name": "Worker", "password": PASSWORD, "next": "/me"})
    assert reply.url.path == "/me"
    for path in ("//evil.example", "https://evil.example", "/\\evil.example", "\\evil", "", "jobs", "/a\nb"):
        assert own_path(path) == "/", path


def test_a_form_of_a_visitor_needs_the_cookie_that_came_with_it(bare: Study) -> None:
    browser, other = bare.browser(), bare.browser()
    browser.get("/login")
    other.csrf = browser.csrf
    assert other.post("/login", {"name": "Worker", "password": PASSWORD}).status_code == 403


def join(study: Study, token: str, **form: str) -> tuple[Browser, int, str]:
    browser = study.browser()
    browser.get(f"/join/{token}")
    filled = {"name": "Grace", "password": "long enough words", "again": "long enough words", **form}
    reply = browser.post(f"/join/{token}", filled)
    return browser, reply.status_code, reply.text


def invitation(study: Study, role: str = "annotator", days: float = 14) -> str:
    return study.write(invitations.make, role=role, days=days)


def test_an_invitation_makes_a_person_of_its_role_once_and_runs_out(bare: Study) -> None:
    token = invitation(bare)
    assert "You are invited to the study" in bare.browser().get(f"/join/{token}").text
    browser, status, _ = join(bare, token)
    assert status == 200
    assert "Grace" in browser.get("/me").text
    assert bare.read(people.named, "Grace").role == "annotator"
    short = invitation(bare, days=1)
    bare.clock.now += DAY + 1
    assert [bare.browser().get(f"/join/{spent}").status_code for spent in (token, short)] == [404, 404]


def test_what_is_wrong_with_joining_is_reported_and_the_link_still_works(bare: Study) -> None:
    token = invitation(bare)
    for form, words in (
        ({"again": "other words here"}, "the two passwords differ"),
        ({"password": "short", "again": "short"}, "10 to 200"),
        ({"password": "x" * 201, "again": "x" * 201}, "10 to 200"),
        ({"name": "bartholomew", "password": "Bartholomew", "again": "Bartholomew"}, "other than your name"),
        ({"name": "Worker"}, "choose another name"),
        ({"name": " "}, "name: expected"),
        ({"name": "a\u202eb"}, "name: expected"),
    ):
        _, status, text = join(bare, token, **form)
        assert (status, words in text) == (422, True), words
    assert join(bare, token)[1] == 200


def test_the_set_up_link_makes_the_first_owner_once(bare: Study) -> None:
    bare.write(people.set_role, bare.people["owner"].person_id, "worker")
    older, link = (setup_link(bare.settings, bare.store) or "" for _ in range(2))
    path = link.removeprefix(bare.settings.base_url)
    browser = bare.browser()
    assert browser.get(older.removeprefix(bare.settings.base_url)).status_code == 404
    browser.get(path)
    form = {"name": "Ida", "password": "long enough words", "again": "long enough words"}
    assert browser.post(path, form).status_code == 200
    assert setup_link(bare.settings, bare.store) is None
    assert bare.read(people.named, "Ida").role == "owner"


def test_a_password_changes_only_when_all_is_right(bare: Study) -> None:
    new = "something quite new"
    browser = bare.browser("worker")
    for old, one, other in (("not it at all", new, new), (PASSWORD, new, "something else now"), (PASSWORD, "a", "a")):
        assert browser.post("/me/password", {"old": old, "password": one, "again": other}).status_code == 422
    assert log_in(bare.browser()) == 200


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


def test_a_link_gives_the_same_person_a_new_password_once_and_the_newest_link_only(bare: Study) -> None:
    (_, first), (_, second) = (link_for(bare.browser("manager"), bare, "worker") for _ in range(2))
    assert 'value="Worker" readonly' in bare.browser().get(second).text
    assert [come_back(bare, path) for path in (first, second)] == [404, 200]
    assert come_back(bare, second, "yet another evening") == 404
    assert (log_in(bare.browser(), "Worker", PASSWORD), log_in(bare.browser(), "Worker", NEW)) == (401, 200)
    assert bare.read(people.named, "Worker").person_id == bare.people["worker"].person_id


def test_only_owners_bring_managers_and_owners_back(bare: Study) -> None:
    for role in ("owner", "manager"):
        assert link_for(bare.browser("manager"), bare, role) == (403, "")
        assert link_for(bare.browser("owner"), bare, role)[0] == 200


def test_an_old_link_is_worth_nothing_once_its_person_has_another_role_or_is_shut_out(bare: Study) -> None:
    """Else a manager could keep one for an annotator, and have an owner's account when the annotator becomes one."""
    (_, promoted), (_, shut_out) = (link_for(bare.browser("manager"), bare, role) for role in ("annotator", "worker"))
    with bare.store.write() as tx:
        people.set_role(tx, bare.people["annotator"].person_id, "owner")
        people.set_state(tx, bare.people["worker"].person_id, "ended")
    assert [come_back(bare, path) for path in (promoted, shut_out)] == [422, 422]
    assert log_in(bare.browser(), "Annotator", PASSWORD) == 200
    assert link_for(bare.browser("owner"), bare, "worker")[0] == 422
