"""One whole session of every form task in Chromium, from the login or the instructions to the thanks.

Hand (mouse, keyboard alone), width (desktop, phone) and script (on, off) in four combinations that have every pair.
One task is done in all four; each of the others in two that have both hands, with script and without, and in all
four among the slow tests.
"""

from __future__ import annotations

from collections.abc import Collection

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.form_page import WAYS, answer, go_on, log_in_with_keys
from tests.browser.site import Site

TASKS = ("usage", "cloze", "choice", "error", "construction", "verify", "rank", "fate", "remaining")
OPPOSITES = (("mouse-phone-plain", "keyboard-phone-script"), ("mouse-desktop-script", "keyboard-desktop-plain"))


def quick_ways(task: str) -> Collection[str]:
    return WAYS if task == "usage" else OPPOSITES[TASKS.index(task) % 2]


SESSIONS = [
    pytest.param(task, way, marks=() if way in quick_ways(task) else pytest.mark.slow)
    for task in TASKS
    for way in WAYS
]


@pytest.mark.parametrize(("task", "way"), SESSIONS)
def test_a_whole_session(site: Site, chromium: Browser, task: str, way: str) -> None:
    hand, size, has_script = WAYS[way]
    person, job_id = site.member("worker"), site.rating_job(task)
    visitor = None if hand == "keyboard" else person
    with site.visit(chromium, visitor, viewport=size, java_script_enabled=has_script) as (page, _):
        if visitor is None:
            log_in_with_keys(page, person.name, f"/jobs/{job_id}")
        else:
            page.goto(f"/jobs/{job_id}")
        go_on(page, hand, "Start")
        n_pages = 0
        while not page.url.endswith("/done"):
            if has_script:
                assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
            answer(page, hand, has_script=has_script)
            n_pages += 1
            assert n_pages < 5, "the same page came back"
        expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    n_items = {"construction": 5, "rank": 3, "fate": 3, "remaining": 2}.get(task, 1)
    assert len(site.handed_in(job_id)) == n_pages * n_items > 0


PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
KEYS = {"error": "1", "verify": "3", "construction": "ynyyn", "rank": "11", "fate": "gg", "remaining": "201"}
KEYS["pairs"] = "3"


@pytest.mark.parametrize("task", KEYS)
def test_one_key_answers_and_goes_on_without_a_page_being_loaded(site: Site, chromium: Browser, task: str) -> None:
    person = site.person("worker")
    job_id = site.rating_job("rank", pairs=True) if task == "pairs" else site.rating_job(task)
    with site.visit(chromium, person) as (page, _):
        page.goto(site.lease(job_id, person))
        page.locator("#quick").check()
        page.evaluate("window.isTheSame = true")
        first = page.url
        page.keyboard.type(KEYS[task])
        if task != "construction":  # its second stage opens days later
            expect(page.get_by_text("1 of 2 done")).to_be_visible()
            assert page.evaluate("window.isTheSame")
            assert page.url != first
            page.keyboard.press("Backspace")
            expect(page.get_by_text("0 of 2 done")).to_be_visible()
            page.keyboard.type(KEYS[task])
            expect(page.get_by_text("1 of 2 done")).to_be_visible()
            page.keyboard.type(KEYS[task])
        expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    labels = [answer.label for answer in site.handed_in(job_id)]
    expected = {
        "error": ["error"] * 2,
        "verify": ["writer's better"] * 2,
        "construction": ["yes", "no", "yes", "yes", "no"],
        "rank": ["1"] * 6,
        "pairs": ["1"] * 6,
        "fate": ["gone"] * 6,
        "remaining": ["2 0 1"] * 4,
    }
    assert labels == expected[task]


def test_one_tap_answers_and_goes_on_on_a_phone(site: Site, chromium: Browser) -> None:
    person, job_id = site.person("worker", surname=" Featherstonehaugh"), site.rating_job("choice")
    with site.visit(chromium, person, **PHONE) as (page, _):
        page.goto(site.lease(job_id, person))
        assert page.locator(".head-inner").evaluate("node => node.clientHeight") < 60, "the head is one row"
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        page.get_by_label("One key or tap").tap()
        page.get_by_text("Equally good").tap()
        expect(page.get_by_text("1 of 2 done")).to_be_visible()
        page.get_by_text("Equally bad").tap()
        expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    assert [answer.label for answer in site.handed_in(job_id)] == ["equally good", "equally bad"]
