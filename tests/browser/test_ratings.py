"""One whole session of every form task in Chromium, from the instructions to the thanks.

Hand (mouse, keyboard alone), width (desktop, phone) and script (on, off) in four combinations that have every pair.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.chromium import watched
from tests.browser.form_page import WAYS, answer, go_on
from tests.browser.site import Site

TASKS = ("usage", "cloze", "choice", "error", "construction", "verify")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("task", TASKS)
def test_a_whole_session(site: Site, chromium: Browser, task: str, way: str) -> None:
    hand, size, has_script = WAYS[way]
    person, job_id = site.person("worker"), site.rating_job(task)
    context = site.context(chromium, person, viewport=size, java_script_enabled=has_script)
    with watched(context) as (page, _):
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
    context.close()
    n_items = 5 if task == "construction" else 1
    assert len(site.handed_in(job_id)) == n_pages * n_items > 0
