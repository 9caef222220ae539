"""Two-factor login through the pages, and its rule through page, API and command."""

from __future__ import annotations

import re
from base64 import b32encode
from pathlib import Path

import pyotp
import pytest

from grater.annotate import invitations, people, second_factor
from grater.annotate.store import events
from grater.annotate.store.transaction import MINUTE
from grater.annotate.web.security import API
from grater.errors import UsageError
from tests.annotate.web.studies import PASSWORD, Browser, Study, hidden
from tests.cli.running import grater

FACTOR = "/me/second-factor"


def code_of(study: Study, who: str, *, steps: int = 0) -> str:
    """What the telephone of a person shows, some steps from now."""
    factor = study.read(second_factor.find, study.people[who].person_id)
    return pyotp.HOTP(factor.secret).at(study.clock.now // 1000 // second_factor.STEP_SECONDS + steps)


def next_step(study: Study) -> None:
    study.clock.now += second_factor.STEP_SECONDS * 1000


def set_up(study: Study, who: str) -> list[str]:
    """A second factor by way of the pages; give the recovery codes."""
    browser = study.browser(who)
    page = browser.post(FACTOR, {"password": PASSWORD}).text
    assert "otpauth://totp/grater:" in page
    assert page.count('aria-label="QR code for an authenticator app"><svg viewBox=') == 1
    page = browser.post(f"{FACTOR}/confirm", {"code": code_of(study, who)}).text
    codes = re.findall(r"\b[A-Z2-7]{4}(?:-[A-Z2-7]{4}){3}\b", page)
    assert "Log out" in browser.get(FACTOR).text
    next_step(study)
    return codes


def password_step(study: Study, who: str, browser: Browser | None = None) -> tuple[Browser, str]:
    browser = browser or study.browser()
    browser.get("/login")
    page = browser.post("/login", {"name": study.people[who].name, "password": PASSWORD, "next": "/me"})
    assert "One more step" in page.text
    return browser, hidden(page.text, "ticket")


def code_step(browser: Browser, ticket: str, code: str) -> tuple[int, str]:
    reply = browser.post("/login/code", {"ticket": ticket, "code": code, "next": "/me"})
    return int(reply.status_code), str(reply.url.path)


def logged_in(study: Study, who: str) -> Browser:
    """By both steps."""
    browser, ticket = password_step(study, who)
    assert code_step(browser, ticket, code_of(study, who)) == (200, "/me")
    return browser


VECTORS = {59: "287082", 1111111109: "081804", 1234567890: "005924", 2000000000: "279037", 20000000000: "353130"}
"""RFC 6238, appendix B, SHA-1: the last six of eight digits at these seconds."""


@pytest.mark.parametrize("seconds", VECTORS)
def test_codes_are_those_of_rfc_6238(bare: Study, seconds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pyotp, "random_base32", lambda: b32encode(b"1234567890" * 2).decode())
    bare.clock.now, person = seconds * 1000, bare.people["owner"]
    with bare.store.write() as tx:
        second_factor.begin(tx, person)
        with pytest.raises(UsageError):
            second_factor.confirm(tx, person, f"{(int(VECTORS[seconds]) + 1) % 10**6:06}")
        assert second_factor.confirm(tx, person, VECTORS[seconds])
        assert not second_factor.use_code(tx, person, VECTORS[seconds])


def test_a_code_is_asked_after_the_password_and_counts_once(bare: Study) -> None:
    old = bare.browser("owner")
    set_up(bare, "owner")
    assert old.get("/me").url.path == "/login"  # a session that began without it
    browser, ticket = password_step(bare, "owner")
    assert browser.get("/me").url.path == "/login"  # the password alone opens nothing
    code = code_of(bare, "owner")
    assert code_step(browser, ticket, code) == (200, "/me")
    thief, ticket = password_step(bare, "owner")
    assert code_step(thief, ticket, code)[0] == 401  # who saw it cannot use it again
    next_step(bare)
    assert code_step(thief, ticket, code)[0] == 401
    assert code_step(thief, ticket, code_of(bare, "owner")) == (200, "/me")


def test_clocks_may_differ_by_one_step(bare: Study) -> None:
    set_up(bare, "owner")
    bare.clock.now += 10 * MINUTE
    statuses = []
    for steps in (-2, 2, -1, 1):
        browser, ticket = password_step(bare, "owner")
        statuses.append(code_step(browser, ticket, code_of(bare, "owner", steps=steps))[0])
    assert statuses == [401, 401, 200, 200]


def test_a_recovery_code_lets_in_once_and_is_kept_as_a_hash(bare: Study) -> None:
    codes = set_up(bare, "manager")
    assert len(set(codes)) == 10
    browser, ticket = password_step(bare, "manager")
    assert code_step(browser, ticket, codes[3].lower().replace("-", " ")) == (200, "/me")
    assert "9 recovery codes left" in browser.get(FACTOR).text
    again, ticket = password_step(bare, "manager")
    assert code_step(again, ticket, codes[3])[0] == 401
    with bare.store.read() as tx:
        kept = repr(tx.connection.exec_driver_sql("select * from recovery_codes").all())
        assert "factor.recovered" in [event.verb for event in events.all(tx)]
    assert not any(code in kept or code.replace("-", "") in kept for code in codes)


def test_codes_are_guessed_slowly_and_a_known_browser_is_not_kept_out(bare: Study) -> None:
    set_up(bare, "owner")
    own = logged_in(bare, "owner")
    thief, stolen = password_step(bare, "owner")
    assert [code_step(thief, stolen, "000000")[0] for _ in range(11)] == [401] * 10 + [429]
    own.post("/logout")
    next_step(bare)
    _, ticket = password_step(bare, "owner", own)
    assert code_step(own, ticket, code_of(bare, "owner")) == (200, "/me")


def test_a_ticket_is_not_made_up_and_ends_with_time_and_with_the_password(bare: Study) -> None:
    set_up(bare, "owner")
    browser, ticket = password_step(bare, "owner")
    for made_up in ("", "nonsense", "a.b.c", f"{bare.people['owner'].person_id}.9999999999999.00"):
        assert code_step(browser, made_up, code_of(bare, "owner"))[0] == 422, made_up
    assert browser.get("/me").url.path == "/login"
    bare.clock.now += 5 * MINUTE
    assert code_step(browser, ticket, code_of(bare, "owner"))[0] == 422
    browser, ticket = password_step(bare, "owner")
    bare.write(people.set_password, bare.people["owner"].person_id, "another hash")
    assert code_step(browser, ticket, code_of(bare, "owner"))[0] == 422


def test_a_link_for_a_lost_password_does_not_go_round_the_second_factor(bare: Study) -> None:
    set_up(bare, "owner")
    link = bare.write(invitations.invite_back, bare.people["owner"].person_id)
    browser = bare.browser()
    browser.get(f"/join/{link}")
    page = browser.post(f"/join/{link}", {"password": "something quite new", "again": "something quite new"})
    assert "One more step" in page.text
    assert browser.get("/me").url.path == "/login"


def test_setting_up_and_turning_off_take_the_password_and_a_code(bare: Study) -> None:
    browser = bare.browser("manager")
    assert browser.post(FACTOR, {"password": "not it at all"}).status_code == 422
    browser.post(FACTOR, {"password": PASSWORD})
    assert browser.post(f"{FACTOR}/confirm", {"code": "000000"}).status_code == 422
    set_up(bare, "manager")
    browser = logged_in(bare, "manager")
    browser.get(FACTOR)
    next_step(bare)
    assert browser.post(FACTOR, {"password": PASSWORD}).status_code == 422  # it is on; nobody swaps the telephone
    assert browser.post(f"{FACTOR}/off", {"password": PASSWORD, "code": "000000"}).status_code == 422
    code = code_of(bare, "manager")
    assert browser.post(f"{FACTOR}/off", {"password": "not it at all", "code": code}).status_code == 422
    assert "Set it up" in browser.post(f"{FACTOR}/off", {"password": PASSWORD, "code": code}).text


def test_who_must_have_one_is_led_to_it_and_does_nothing_before(bare: Study) -> None:
    headers = bare.bearer("manager")
    owner = bare.browser("owner")
    assert owner.post("/manage/second-factor", {"roles": "manager"}).url.path == "/manage/people"
    manager = bare.browser("manager")
    assert manager.get("/manage/people").url.path == FACTOR
    assert manager.post("/manage/invitations", {"role": "worker"}).url.path == FACTOR
    assert bare.client().get(f"{API}/people", headers=headers).status_code == 403
    assert bare.browser("worker").get("/jobs").url.path == "/jobs"
    assert owner.get("/manage").url.path == "/manage"
    set_up(bare, "manager")
    assert bare.client().get(f"{API}/people", headers=headers).status_code == 200
    browser = logged_in(bare, "manager")
    next_step(bare)
    assert browser.get("/manage/people").url.path == "/manage/people"
    form = {"password": PASSWORD, "code": code_of(bare, "manager")}
    assert browser.post(f"{FACTOR}/off", form).status_code == 422


@pytest.mark.parametrize("door", ["page", "command"])
def test_an_owner_rules_it(bare: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str], door: str) -> None:
    """The page does it by the call that a program makes."""

    def status_of(path: str, form: dict[str, object], *options: str) -> int:
        if door == "page":
            return 0 if bare.browser("owner").post(path, form).status_code == 200 else 2
        return grater(capsys, "people", "second-factor", tmp_path / "study.db", *options).status

    set_up(bare, "manager")
    browser = logged_in(bare, "manager")
    path = f"/manage/people/{bare.people['manager'].person_id}/second-factor"
    assert [status_of(path, {}, "--reset", "Manager") for _ in range(2)] == [0, 2]  # there is none any more
    assert browser.get("/me").url.path == "/login"
    fresh = bare.browser()
    fresh.get("/login")
    assert fresh.post("/login", {"name": "Manager", "password": PASSWORD, "next": "/me"}).url.path == "/me"
    assert status_of("/manage/second-factor", {"roles": "worker"}, "--require", "worker") == 2
    assert status_of("/manage/second-factor", {"roles": "manager"}, "--require", "manager") == 0
    assert bare.read(second_factor.required_roles) == ("manager",)
