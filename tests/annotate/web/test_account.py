"""Coming in: login, sessions, invitations, the one-time set-up link."""

from __future__ import annotations

import pytest

from grater.annotate import credentials, invitations, people
from grater.annotate.store.clock import DAY, HOUR, MINUTE
from grater.annotate.web import setup_link
from grater.annotate.web.account import own_path
from grater.annotate.web.security import hash_password, is_password
from grater.errors import BadInput
from tests.annotate.web.studies import PASSWORD, Browser, Study


def log_in(browser: Browser, name: str = "Worker", password: str = PASSWORD, **more: str) -> int:
    browser.get("/login")
    status: int = browser.post("/login", {"name": name, "password": password, **more}).status_code
    return status


def test_the_right_password_lets_in(bare: Study) -> None:
    browser = bare.browser()
    assert log_in(browser) == 200
    assert "Log out" in browser.get("/jobs").text


@pytest.mark.parametrize(("name", "password"), [("Worker", "wrong password"), ("Nobody", PASSWORD), ("Worker", "")])
def test_a_wrong_name_or_password_is_told_in_the_same_words(bare: Study, name: str, password: str) -> None:
    browser = bare.browser()
    browser.get("/login")
    reply = browser.post("/login", {"name": name, "password": password})
    assert reply.status_code == 401
    assert "Wrong name or password." in reply.text


def test_a_person_without_a_password_cannot_come_in(bare: Study) -> None:
    with bare.store.write() as tx:
        people.add(tx, name="Program", role="worker", kind="program")
    assert log_in(bare.browser(), "Program", "") == 401


def test_a_person_who_was_shut_out_cannot_come_in_and_is_out_at_once(bare: Study) -> None:
    browser = bare.browser("worker")
    with bare.store.write() as tx:
        people.set_state(tx, bare.people["worker"].person_id, "ended")
    assert "Log in" in browser.get("/jobs").text
    assert log_in(bare.browser()) == 401


def test_a_session_that_was_planted_is_worth_nothing_after_login(bare: Study) -> None:
    """Session fixation: whoever knows the cookie from before the login must not be logged in by it."""
    browser = bare.browser()
    browser.client.cookies.set("grater-session", "planted-by-somebody-else", domain="testserver.local", path="/")
    log_in(browser)
    thief = bare.browser()
    thief.client.cookies.set("grater-session", "planted-by-somebody-else")
    assert "Log in" in thief.get("/jobs").text


def test_a_login_ends_the_session_that_it_came_with(bare: Study) -> None:
    browser = bare.browser("worker")
    old = browser.client.cookies["grater-session"]
    browser.get("/me")
    browser.post("/login", {"name": "Manager", "password": PASSWORD})
    with bare.store.read() as tx:
        assert credentials.find_session(tx, old) is None


def test_tokens_are_stored_as_hashes_only(bare: Study) -> None:
    browser = bare.browser("worker")
    token = browser.client.cookies["grater-session"]
    with bare.store.read() as tx:
        rows = tx.connection.exec_driver_sql("select * from sessions").all()
    assert rows
    assert token not in repr(rows)


def test_logging_out_ends_the_session_on_the_server(bare: Study) -> None:
    browser = bare.browser("worker")
    token = browser.client.cookies["grater-session"]
    browser.post("/logout")
    with bare.store.read() as tx:
        assert credentials.find_session(tx, token) is None


def test_a_session_ends_with_time(bare: Study) -> None:
    browser = bare.browser("worker")
    bare.clock.now += 12 * HOUR + 1
    assert "Log in" in browser.get("/jobs").text


def test_cookies_are_out_of_reach_of_scripts_and_other_sites(bare: Study) -> None:
    browser = bare.browser()
    browser.client.follow_redirects = False
    browser.get("/login")
    cookie = browser.post("/login", {"name": "Worker", "password": PASSWORD}).headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert "path=/" in cookie


def test_too_many_tries_are_stopped_and_time_brings_them_back(bare: Study) -> None:
    browser = bare.browser()
    for _ in range(10):
        assert log_in(browser, password="wrong password") == 401
    assert log_in(browser) == 429
    bare.clock.now += MINUTE
    assert log_in(browser) == 200


@pytest.mark.parametrize(
    "path", ["//evil.example", "https://evil.example", "/\\evil.example", "\\evil", "", "jobs", "/a\nb"]
)
def test_a_login_sends_nobody_to_another_site(path: str) -> None:
    assert own_path(path) == "/"


def test_a_login_goes_back_to_the_page_that_asked_for_it(bare: Study) -> None:
    browser = bare.browser()
    assert browser.get("/me").url.params["next"] == "/me"
    reply = browser.post("/login", {"name": "Worker", "password": PASSWORD, "next": "/me"})
    assert reply.url.path == "/me"


def test_a_form_of_a_visitor_needs_the_cookie_that_came_with_it(bare: Study) -> None:
    browser, other = bare.browser(), bare.browser()
    browser.get("/login")
    other.csrf = browser.csrf
    assert other.post("/login", {"name": "Worker", "password": PASSWORD}).status_code == 403


@pytest.mark.parametrize("password", ["short", "x" * 201])
def test_passwords_have_a_length(password: str) -> None:
    with pytest.raises(BadInput, match="10 to 200"):
        hash_password(password)


def test_a_password_is_not_ones_name() -> None:
    with pytest.raises(BadInput, match="something other than your name"):
        hash_password("Bartholomew", name="bartholomew")


def test_no_stored_hash_means_no_password_at_all() -> None:
    assert not is_password("", "nobody has this password")
    assert not is_password("not a hash", "x")


def join(study: Study, token: str, **form: str) -> tuple[Browser, int, str]:
    browser = study.browser()
    browser.get(f"/join/{token}")
    filled = {"name": "Grace", "password": "long enough words", "again": "long enough words", **form}
    reply = browser.post(f"/join/{token}", filled)
    return browser, reply.status_code, reply.text


def invitation(study: Study, role: str = "annotator", days: float = 14) -> str:
    with study.store.write() as tx:
        return invitations.make(tx, role=role, days=days)


def test_an_invitation_makes_a_person_of_its_role_and_logs_them_in(bare: Study) -> None:
    token = invitation(bare)
    assert "You are invited to the study" in bare.browser().get(f"/join/{token}").text
    browser, status, _ = join(bare, token)
    assert status == 200
    assert "Grace" in browser.get("/me").text
    with bare.store.read() as tx:
        assert people.named(tx, "Grace").role == "annotator"


def test_an_invitation_works_once(bare: Study) -> None:
    token = invitation(bare)
    join(bare, token)
    assert bare.browser().get(f"/join/{token}").status_code == 404


def test_an_invitation_runs_out(bare: Study) -> None:
    token = invitation(bare, days=1)
    bare.clock.now += DAY + 1
    assert bare.browser().get(f"/join/{token}").status_code == 404


def test_an_invitation_cannot_be_guessed_from_the_database(bare: Study) -> None:
    token = invitation(bare)
    with bare.store.read() as tx:
        assert token not in repr(tx.connection.exec_driver_sql("select * from invitations").all())


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"again": "other words here"}, "the two passwords differ"),
        ({"password": "short", "again": "short"}, "10 to 200"),
        ({"name": "Worker"}, "choose another name"),
        ({"name": " "}, "name: expected"),
        ({"name": "a\u202eb"}, "name: expected"),
    ],
)
def test_what_is_wrong_with_joining_is_told_and_the_link_still_works(
    bare: Study, form: dict[str, str], words: str
) -> None:
    token = invitation(bare)
    _, status, text = join(bare, token, **form)
    assert status == 422
    assert words in text
    assert join(bare, token)[1] == 200


def test_the_set_up_link_makes_the_first_owner_once(bare: Study) -> None:
    with bare.store.write() as tx:
        people.set_role(tx, bare.people["owner"].person_id, "worker")
    link = setup_link(bare.settings, bare.store)
    assert link is not None
    path = link.removeprefix(bare.settings.base_url)
    browser = bare.browser()
    browser.get(path)
    form = {"name": "Ida", "password": "long enough words", "again": "long enough words"}
    assert browser.post(path, form).status_code == 200
    assert setup_link(bare.settings, bare.store) is None
    with bare.store.read() as tx:
        assert people.named(tx, "Ida").role == "owner"


def test_an_older_set_up_link_is_dead_once_a_new_one_is_made(bare: Study) -> None:
    with bare.store.write() as tx:
        people.set_role(tx, bare.people["owner"].person_id, "worker")
    first = setup_link(bare.settings, bare.store)
    setup_link(bare.settings, bare.store)
    assert first is not None
    assert bare.browser().get(first.removeprefix(bare.settings.base_url)).status_code == 404


def test_a_new_password_ends_every_other_session(bare: Study) -> None:
    here, there = bare.browser("worker"), bare.browser("worker")
    form = {"old": PASSWORD, "password": "something quite new", "again": "something quite new"}
    assert here.post("/me/password", form).status_code == 200
    assert "Log in" in there.get("/jobs").text
    assert "Log out" in here.get("/jobs").text
    assert log_in(bare.browser(), password="something quite new") == 200


@pytest.mark.parametrize(
    "form",
    [
        {"old": "not it at all", "password": "something quite new", "again": "something quite new"},
        {"old": PASSWORD, "password": "something quite new", "again": "something else now"},
        {"old": PASSWORD, "password": "short", "again": "short"},
    ],
)
def test_a_password_changes_only_when_all_is_right(bare: Study, form: dict[str, str]) -> None:
    assert bare.browser("worker").post("/me/password", form).status_code == 422
    assert log_in(bare.browser()) == 200
