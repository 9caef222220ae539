"""axe-core on every page: nothing serious, nothing critical; in the dark on one page of every look."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page

from grater.store import units
from tests.browser.chromium import watched
from tests.browser.essay_page import marking
from tests.browser.site import Site
from tests.browser.test_adjudication import marked

RATINGS = ("usage", "cloze", "choice", "error", "construction", "verify")
STAFF = (
    "/manage",
    "/manage/jobs/new",
    "/manage/import",
    "/manage/people",
    "/manage/export",
    "/manage/webhooks",
    "/adjudicate",
    "/me",
    "/api",
)
SERIOUS = ("serious", "critical")
CONTRAST = {"runOnly": {"type": "rule", "values": ["color-contrast"]}, "resultTypes": ["violations"]}


def complaints(page: Page, *, dark: bool = False) -> list[str]:
    """What axe finds serious in the page as it stands; with `dark` also there, where only the colours can differ."""
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    found = Axe().run(page).response["violations"]
    if dark:
        page.emulate_media(color_scheme="dark", reduced_motion="reduce")
        found += Axe().run(page, options=CONTRAST).response["violations"]
    return [
        f"{page.url}: {each['id']}: {node['html'][:120]}"
        for each in found
        if each["impact"] in SERIOUS
        for node in each["nodes"]
    ]


@contextmanager
def visited(site: Site, chromium: Browser, role: str) -> Iterator[Page]:
    context = site.context(chromium, site.person(role), viewport={"width": 1100, "height": 800})
    with watched(context) as (page, _):
        yield page
    context.close()


@pytest.mark.parametrize("task", RATINGS)
def test_the_form_of_a_task(site: Site, chromium: Browser, task: str) -> None:
    person = site.person("worker")
    context = site.context(chromium, person)
    with watched(context) as (page, _):
        page.goto(site.lease(site.rating_job(task), person))
        assert complaints(page, dark=task == "usage") == []
    context.close()


def test_the_pages_around_the_work(site: Site, chromium: Browser) -> None:
    job_id = site.rating_job("usage")
    with visited(site, chromium, "worker") as page:
        for path in ("/jobs", f"/jobs/{job_id}", f"/jobs/{job_id}/done", "/me"):
            page.goto(path)
            assert complaints(page, dark=path == "/jobs") == []


def test_the_login(site: Site, chromium: Browser) -> None:
    context = chromium.new_context(base_url=site.url)
    with watched(context) as (page, _):
        page.goto("/login")
        assert complaints(page) == []
    context.close()


def test_the_marking_page_with_its_slip_and_its_marks(site: Site, chromium: Browser) -> None:
    with marking(site, chromium, "She own a bakery. He repeat it again and again.") as desk:
        assert complaints(desk.page) == []
        desk.drag("own")
        desk.page.keyboard.type("s")
        assert complaints(desk.page, dark=True) == []
        desk.press("Escape")
        for words, tag in (("own", "sva"), ("own a", "wcip"), ("again and again", "rloc"), ("repeat", "vt")):
            desk.drag(words) if words != "own a" else desk.press("Shift+ArrowRight", "Enter")
            desk.fill(tag=tag, correction="x")
        desk.expect_state("saved")
        assert complaints(desk.page, dark=True) == []


def test_adjudication_of_an_essay(site: Site, chromium: Browser) -> None:
    unit_id = marked(site)
    with visited(site, chromium, "adjudicator") as page:
        page.goto(f"/adjudicate/{unit_id}")
        page.locator("input[value=own]").first.check()
        assert complaints(page, dark=True) == []


def test_the_pages_of_owners_and_managers(site: Site, chromium: Browser) -> None:
    job_id = site.rating_job("usage")
    with site.store.read() as tx:
        unit_id = units.ids_of_job(tx, job_id)[0]
    more = [f"/manage/jobs/{job_id}{rest}" for rest in ("", "/guidelines", "/agreement", "/units")]
    with visited(site, chromium, "owner") as page:
        for path in (*STAFF, *more, f"/manage/units/{unit_id}"):
            reply = page.goto(path)
            assert reply is not None
            assert reply.status == 200, path
            assert complaints(page, dark=path == more[0]) == []


def test_axe_would_see_grey_on_white_and_a_field_without_a_label(module_page: Page) -> None:
    """A negative control: the check above can fail."""
    module_page.set_content(
        '<html lang="en"><title>t</title><main><h1>t</h1><p id="pale">pale words</p><input type="text"></main></html>'
    )
    module_page.evaluate("document.getElementById('pale').style.color = '#ddd'")
    found = {line.split(": ")[1] for line in complaints(module_page, dark=True)}
    assert {"color-contrast", "label"} <= found
