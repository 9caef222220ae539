"""Swipes on a phone: left for the first answer, right for the second; short, steep and edge ones do nothing."""

from __future__ import annotations

from playwright.sync_api import Browser, Page, expect

from tests.browser.site import Site
from tests.browser.test_ratings import PHONE


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
    person, job_id = site.person("worker"), site.rating_job("error")
    with site.visit(chromium, person, **PHONE) as (page, _):
        page.goto(site.lease(job_id, person))
        expect(page.get_by_text("Or swipe: left for “Error”, right for “OK”.")).to_be_visible()
        page.locator("#quick").check()
        for start, dx, dy in ((200, -60, 0), (200, -100, 90), (10, 150, 0)):
            swipe(page, start, dx, dy)
            expect(page.locator("input[name=label]:checked")).to_have_count(0)
        swipe(page, 200, -120)
        expect(page.get_by_text("1 of 2 done")).to_be_visible()
        swipe(page, 120, 120)
        expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    assert [answer.label for answer in site.handed_in(job_id)] == ["error", "ok"]
