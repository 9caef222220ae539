"""The pictures of the guide: `python -m tests.browser.pictures docs/images/guide` takes them all anew."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

from grater.store import leases, people, units
from tests.browser.chromium import launch
from tests.browser.essay_page import EssayPage
from tests.browser.site import Site, live_site
from tests.browser.test_adjudication import marked

WIDE: ViewportSize = {"width": 1000, "height": 600}
PHONE: ViewportSize = {"width": 360, "height": 720}
ESSAY = (
    "Last summer I visit my aunt in lisbon, she own two small bakery near the old harbour. Every morning she wake up "
    "at four and bake the bread, because of the first customers come at six.\n\n"
    "My aunt adopted puppy from the shelter and it follow her to everywhere. She says that a dog makes people "
    "to smile, and a people who smile buy more cakes. I am agree with her.\n\n"
    "In my opinion, a small shop can to compete with the supermarkets if it gives to customers something special."
)
MARKS = (
    ("visit", "vt", "visited"), ("lisbon", "mec", "Lisbon"), ("own", "sva", "owns"), ("bakery", "nn", "bakeries"),
    ("because of", "rloc", "because"), ("to everywhere", "wcip", "everywhere"), ("to smile", "vform", "smile"),
    ("am agree", "vform", "agree"), ("can to compete", "vm", "can compete"),
)  # fmt: skip
FORMS = ("usage", "cloze", "choice", "error", "construction", "verify")


def take(browser: Browser, site: Site, folder: Path) -> None:
    _marking(browser, site, folder)
    _forms(browser, site, folder)
    _staff(browser, site, folder)


def _marking(browser: Browser, site: Site, folder: Path) -> None:
    person = site.person()
    job_id = site.marking_job(ESSAY)
    with _page(browser, site, person, viewport=WIDE) as page:
        page.goto("/jobs")
        page.screenshot(path=folder / "jobs.png")
        page.goto(f"/jobs/{job_id}")
        page.screenshot(path=folder / "job.png")
        desk = _desk(page, site, person, site.lease(job_id, person))
        for words, tag, correction in MARKS:
            desk.drag(words)
            desk.fill(tag=tag, correction=correction)
        desk.click("puppy")
        page.locator("#insert-before").click()
        desk.fill(tag="art", correction="a")
        desk.click("lisbon")
        desk.press("Escape", "Shift+ArrowRight", "Shift+ArrowRight", "Enter")
        desk.fill(tag="runon", correction="Lisbon. She")
        desk.saved()
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=folder / "marking.png")
        desk.drag("gives to customers")
        page.keyboard.type("wo")
        page.screenshot(path=folder / "marking-slip.png")
        desk.press("Escape")
        page.evaluate("scrollTo(0, 0)")
        page.emulate_media(color_scheme="dark", reduced_motion="reduce")
        page.screenshot(path=folder / "marking-dark.png")
        page.emulate_media(color_scheme="light")
        page.context.set_offline(True)
        desk.click("special")
        desk.press("Delete", "w")
        desk.fill(tag="cip", correction="unusual")
        desk.expect_state("offline")
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=folder / "marking-offline.png")
        page.context.set_offline(False)
        desk.saved()
        page.goto(desk.address)
        page.set_viewport_size(PHONE)
        page.screenshot(path=folder / "marking-phone.png")
    with _page(browser, site, person, viewport=PHONE, has_touch=True, is_mobile=True) as page:
        desk = _desk(page, site, person, desk.address)
        desk.tap("opinion")
        page.locator("#stretch-on").tap()
        page.locator("#mark").tap()
        page.wait_for_timeout(500)  # the mark of the finger fades
        page.screenshot(path=folder / "marking-phone-slip.png")


def _forms(browser: Browser, site: Site, folder: Path) -> None:
    for task in FORMS:
        person = site.person("worker")
        with _page(browser, site, person, viewport=WIDE) as page:
            page.goto(site.lease(site.rating_job(task), person))
            page.screenshot(path=folder / f"form-{task}.png")
            page.set_viewport_size(PHONE)
            page.screenshot(path=folder / f"form-{task}-phone.png")


def _staff(browser: Browser, site: Site, folder: Path) -> None:
    unit_id = marked(site, "She adopted puppy. He own three chair near the sea, in summer.", comment="")
    with _page(browser, site, site.person("adjudicator"), viewport=WIDE) as page:
        page.goto("/adjudicate")
        page.screenshot(path=folder / "adjudicate.png")
        page.goto(f"/adjudicate/{unit_id}")
        page.locator("#place-3 input[value=own]").check()
        page.set_viewport_size({"width": 1000, "height": 800})
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=folder / "adjudicate-essay.png")
    with site.store.read() as tx:
        job_id = units.the(tx, unit_id).job.job_id
    paths = {
        "manage": "/manage",
        "manage-job": f"/manage/jobs/{job_id}",
        "manage-new-job": "/manage/jobs/new",
        "manage-units": f"/manage/jobs/{job_id}/units",
        "manage-unit": f"/manage/units/{unit_id}",
        "manage-agreement": f"/manage/jobs/{job_id}/agreement",
        "manage-guidelines": f"/manage/jobs/{job_id}/guidelines",
        "manage-import": "/manage/import",
        "manage-people": "/manage/people",
        "manage-export": "/manage/export",
        "manage-webhooks": "/manage/webhooks",
        "me": "/me",
        "api": "/api",
    }
    with _page(browser, site, site.person("owner"), viewport=WIDE) as page:
        for name, path in paths.items():
            page.goto(path)
            height = 420 if name in ("manage-guidelines", "api") else WIDE["height"]  # text in bulk makes large files
            page.screenshot(
                path=folder / f"{name}.png", clip={"x": 0, "y": 0, "width": WIDE["width"], "height": height}
            )
    context = browser.new_context(base_url=site.url, viewport=WIDE)
    page = context.new_page()
    page.goto("/login")
    page.screenshot(path=folder / "login.png")
    context.close()


@contextmanager
def _page(browser: Browser, site: Site, person: people.Person, **options: object) -> Iterator[Page]:
    context = site.context(browser, person, **options)
    yield context.new_page()
    context.close()


def _desk(page: Page, site: Site, person: people.Person, address: str) -> EssayPage:
    page.goto(address)
    expect(page.locator("#save-state")).to_have_text("All marks saved")
    with site.store.read() as tx:
        lease = leases.find(tx, address.rpartition("/")[2], person_id=person.person_id)
    assert lease is not None
    return EssayPage(page, site, person, lease.unit_id, address)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as study, live_site(Path(study)) as site, sync_playwright() as playwright:
        browser = launch(playwright)
        take(browser, site, folder)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
