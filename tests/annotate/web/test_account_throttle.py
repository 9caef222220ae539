"""Guessing is slow, and nobody can lock others out by it (P13)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grater.annotate.store.transaction import MINUTE
from grater.annotate.web.security import client_address
from tests.annotate.web.client import Client
from tests.annotate.web.studies import BASE, PASSWORD, Browser, Study, served
from tests.cli.running import grater

THEIRS, OURS = "203.0.113.7", "198.51.100.4"
PROXY = "10.1.2.3"


def browser_at(study: Study, address: str) -> Browser:
    return Browser(Client(study.client().app, base_url=BASE, address=address))


def log_in(browser: Browser, name: str = "Worker", password: str = PASSWORD, **headers: str) -> int:
    browser.client.cookies.delete("grater-session")
    browser.get("/login")
    form = {"name": name, "password": password}
    return int(browser.post("/login", form, headers=headers, follow_redirects=False).status_code)


def guess(browser: Browser, times: int, name: str = "Worker") -> list[int]:
    return [log_in(browser, name, "a wrong password") for _ in range(times)]


def test_tries_from_one_address_take_nothing_from_a_person_elsewhere(bare: Study) -> None:
    assert guess(browser_at(bare, THEIRS), 12) == [401] * 10 + [429] * 2
    assert log_in(browser_at(bare, OURS)) == 303


def test_an_address_that_is_refused_uses_up_no_name(bare: Study) -> None:
    """Names once ran out of tries by attempts that were refused already."""
    thief = browser_at(bare, OURS)
    guess(thief, 10, "Manager")
    assert guess(thief, 20, "Worker") == [429] * 20
    bare.clock.now += MINUTE // 10  # one more try for the address, and Worker has all of theirs
    assert log_in(browser_at(bare, OURS)) == 303


def test_who_came_from_here_before_is_not_held_up_by_others_here(bare: Study) -> None:
    assert log_in(browser_at(bare, OURS)) == 303
    neighbour = browser_at(bare, OURS)
    assert guess(neighbour, 12, "Manager")[-1] == 429
    assert log_in(browser_at(bare, OURS)) == 303
    assert log_in(browser_at(bare, OURS), "Annotator") == 429  # who has never been here waits


def test_a_browser_that_was_used_before_is_not_held_up_even_by_tries_of_the_same_name(bare: Study) -> None:
    own = browser_at(bare, OURS)
    assert log_in(own) == 303
    assert guess(browser_at(bare, OURS), 12)[-1] == 429
    assert log_in(own) == 303
    assert guess(own, 12)[-1] == 429  # a known browser guesses no faster than others
    own.client.cookies.set("grater-device", "planted.0000")
    bare.clock.now += MINUTE
    assert guess(own, 11)[-1] == 429


def test_coming_in_now_and_then_gives_no_more_tries_at_others(bare: Study) -> None:
    thief = browser_at(bare, OURS)
    statuses = []
    for _ in range(4):
        statuses += guess(thief, 4, "Manager")
        thief.client.cookies.clear()
        log_in(thief, "Worker")
        thief.client.cookies.clear()
    assert statuses == [401] * 10 + [429] * 6


def test_a_forwarded_address_is_believed_of_a_named_proxy_only(bare: Study) -> None:
    named = replace(bare.settings, proxies=("10.0.0.0/8",))
    for settings, at_last in ((bare.settings, 429), (named, 303)):
        bare.settings = settings
        for number in range(10):
            sent_on = {"x-forwarded-for": f"192.0.2.{number}"}
            assert log_in(browser_at(bare, PROXY), password="wrong", **sent_on) == 401
        assert log_in(browser_at(bare, PROXY), **{"x-forwarded-for": "192.0.2.99"}) == at_last


@pytest.mark.parametrize(
    ("host", "forwarded", "expected"),
    [
        (PROXY, ["192.0.2.1"], "192.0.2.1"),
        (PROXY, ["1.1.1.1, 192.0.2.1"], "192.0.2.1"),  # the first was written by whoever sent it
        (PROXY, ["1.1.1.1", "192.0.2.1, 10.9.9.9"], "192.0.2.1"),  # two proxies of ours
        (PROXY, [], PROXY),
        (PROXY, ["unknown"], PROXY),
        (PROXY, ["192.0.2.1, <script>"], PROXY),
        (THEIRS, ["192.0.2.1"], THEIRS),
        (PROXY, ["2001:db8::1"], "2001:db8::/64"),
        ("testclient", ["192.0.2.1"], "testclient"),
        ("::ffff:192.0.2.1", [], "192.0.2.1"),
    ],
)
def test_the_address_of_a_request(host: str, forwarded: list[str], expected: str) -> None:
    assert client_address(host, forwarded, ["10.0.0.0/8"]) == expected


def test_a_proxy_that_is_no_address_is_refused(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    with served(tmp_path):
        ran = grater(capsys, "serve", tmp_path / "study.db", "--proxy", "proxy.example")
    assert ran.status == 2
    assert ran.err == "proxy: expected an IP address or network (10.0.0.0/8), found 'proxy.example'\n"
