"""The live page of a crowd job keeps itself up to date, until somebody says stop."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from tests.browser.site import Site
from tests.browser.tour import answered, crowd_job

A_WHILE = 31_000
"""Milliseconds, by the page's own clock."""


def test_new_judgments_appear_until_the_page_is_stopped(site: Site, chromium: Browser) -> None:
    job_id, rater = crowd_job(site), site.person("worker")
    with site.visit(chromium, site.person("manager")) as (page, _):
        page.clock.install()
        page.goto(f"/manage/jobs/{job_id}/crowd")
        raters = page.locator("dt:text-is('Working now') + dd small")
        expect(raters).to_have_text("of 0 raters")
        answered(site, job_id, rater, "error")
        page.clock.fast_forward(A_WHILE)
        expect(raters).to_have_text("of 1 rater")
        page.get_by_label("Update this page automatically").uncheck()
        answered(site, job_id, site.person("worker"), "error")
        page.clock.fast_forward(A_WHILE)
        page.wait_for_load_state("networkidle")
        expect(raters).to_have_text("of 1 rater")
