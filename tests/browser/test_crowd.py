"""What scripts of pages do in crowd jobs: gold chosen by keys, the way out after an ejection, live pages."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from grater.annotate import panels
from tests.browser.site import Site, live_site
from tests.browser.tour import answered, crowd_job


def say(page: Page, words: str) -> None:
    page.get_by_label(words, exact=False).first.check()
    with page.expect_navigation():
        page.get_by_role("button", name="Save and continue").click()


def start(page: Page) -> None:
    with page.expect_navigation():
        page.get_by_role("button", name="Start").first.click()


def test_gold_of_a_first_job_is_chosen_by_keys_and_anyone_who_misses_it_learns_what_to_do(
    chromium: Browser, tmp_path: Path
) -> None:
    with live_site(tmp_path) as site:  # a study without other gold
        job_id = site.rating_job("error", n_units=6)
        with site.store.write() as tx:
            panel = panels.add(tx, job_id, panels.NewPanel(provider="generic", unsigned=True))
        _choose_gold(chromium, site, job_id)
        _miss_gold(chromium, site, f"/p/{panel.panel_id}?id=p-1")


def _choose_gold(chromium: Browser, site: Site, job_id: str) -> None:
    with site.visit(chromium, site.person("manager")) as (page, _):
        page.goto(f"/manage/jobs/{job_id}/gold")
        page.get_by_role("link", name="Choose gold one by one").click()
        expect(page.get_by_role("heading", name="Gold studio")).to_be_visible()
        for n in range(1, 5):
            page.keyboard.press("1")  # the tick box has the focus now, and keys go on
            page.keyboard.press("a")
            expect(page.get_by_text(f"{n} gold unit")).to_be_visible()
        page.goto(f"/manage/jobs/{job_id}/terms")
        page.get_by_role("button", name="Use the recommended rule").click()
        expect(page.get_by_label("Questions in the entry quiz")).to_have_value("2")


def _miss_gold(chromium: Browser, site: Site, link: str) -> None:
    with site.visit(chromium, None) as (page, _):
        page.goto(link)
        start(page)
        start(page)
        say(page, "OK")  # the gold accepts error
        say(page, "OK")
        expect(page.get_by_text("You have been removed from this job")).to_be_visible()
        expect(page.get_by_text("give your place back on the page that sent you here")).to_be_visible()
        expect(page.get_by_text("log in to continue")).to_have_count(0)


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
