"""One whole session of every form task in Chromium, from the login or the instructions to the thanks.

Hand (mouse, keyboard alone), width (desktop, phone) and script (on, off) in four combinations that have every pair.
One task is done in all four; each of the others in two that have both hands, with script and without, and in all
four among the slow tests.
"""

from __future__ import annotations

from collections.abc import Collection

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.form_page import WAYS, answer, go_on, log_in_with_keys, rating
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
    person, job_id = site.person("worker"), site.rating_job(task)
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
ONE_KEY = {
    "error": ("1", ["error"] * 2),
    "verify": ("3", ["writer's better"] * 2),
    "construction": ("ynyyn", ["yes", "no", "yes", "yes", "no"]),
    "rank": ("11", ["1"] * 6),
    "pairs": ("3", ["1"] * 6),
    "fate": ("gg", ["gone"] * 6),
    "remaining": ("201", ["2 0 1"] * 4),
}
"""The keys for a unit of a task, and the labels of all units that they answer."""


@pytest.mark.parametrize("task", ONE_KEY)
def test_one_key_answers_and_goes_on_without_a_page_being_loaded(site: Site, chromium: Browser, task: str) -> None:
    keys, labels = ONE_KEY[task]
    with rating(site, chromium, task) as form:
        page = form.page
        page.locator("#quick").check()
        page.evaluate("window.isTheSame = true")
        page.keyboard.type(keys)
        if task != "construction":  # its second stage opens days later
            expect(page.get_by_text("1 of 2 done")).to_be_visible()
            assert page.evaluate("window.isTheSame")
            assert not page.url.endswith(form.address)
            page.keyboard.press("Backspace")
            expect(page.get_by_text("0 of 2 done")).to_be_visible()
            page.keyboard.type(keys)
            expect(page.get_by_text("1 of 2 done")).to_be_visible()
            page.keyboard.type(keys)
        expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
        assert form.labels() == labels


def test_one_tap_answers_and_goes_on_on_a_phone(site: Site, chromium: Browser) -> None:
    with rating(site, chromium, "choice", surname=" Featherstonehaugh", **PHONE) as form:
        page = form.page
        assert page.locator(".head-inner").evaluate("node => node.clientHeight") < 60, "the head is one row"
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        page.get_by_label("One key or tap").tap()
        page.get_by_text("Equally good").tap()
        expect(page.get_by_text("1 of 2 done")).to_be_visible()
        page.get_by_text("Equally bad").tap()
        expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
        assert form.labels() == ["equally good", "equally bad"]


def swipe(page: Page, start: int, dx: int, dy: int = 0) -> None:
    """A finger that moves over the sentence from `start` pixels of the left edge."""
    place = page.locator("form[data-swipe]").bounding_box()
    assert place is not None
    touch, y = page.context.new_cdp_session(page), place["y"] + 20
    steps = [("touchStart", 0.0), *(("touchMove", part / 4) for part in range(1, 5)), ("touchEnd", 1.0)]
    for kind, part in steps:
        points = [] if kind == "touchEnd" else [{"x": start + part * dx, "y": y + part * dy}]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def test_a_swipe_answers_and_a_short_steep_or_edge_one_does_not(site: Site, chromium: Browser) -> None:
    with rating(site, chromium, **PHONE) as form:
        page = form.page
        expect(page.get_by_text("Or swipe: left for “Error”, right for “OK”.")).to_be_visible()
        page.locator("#quick").check()
        for start, dx, dy in ((200, -60, 0), (200, -100, 90), (10, 150, 0)):
            swipe(page, start, dx, dy)
            expect(page.locator("input[name=label]:checked")).to_have_count(0)
        swipe(page, 200, -120)
        expect(page.get_by_text("1 of 2 done")).to_be_visible()
        swipe(page, 120, 120)
        expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
        assert form.labels() == ["error", "ok"]
