"""A manager's life by keyboard alone, from an empty study to its report, on a desktop and on a phone's screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from grater.annotate.store import checks
from tests.browser.site import Site, live_site
from tests.browser.test_first_run import let_answer

SCREENS = {"desktop": {"width": 1200, "height": 900}, "phone": {"width": 390, "height": 800}}
ESSAYS = (
    "# Market\nWe arrive to the square at six and look for a place near of the fountain.\n---\n"
    "# School\nIn my school we learn about boats. I am interested on ships.\n---\n"
    "# Garden\nBehind of our house there is a garden with a wall."
)
MOST_TABS = 120


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Site]:
    with live_site(tmp_path) as running:
        yield running


@pytest.mark.parametrize("screen", ["desktop", pytest.param("phone", marks=pytest.mark.slow)])
def test_from_nothing_to_the_report_by_keys(chromium: Browser, empty: Site, tmp_path: Path, screen: str) -> None:
    with empty.visit(chromium, empty.person("owner"), viewport=SCREENS[screen]) as (page, _):
        page.goto("/manage")
        paste_texts(page)
        job_id = make_a_job(page)
        try_it(page)
        invite_and_open(page)
        let_answer(empty, job_id)
        look(page)
        report(page, tmp_path)
    with empty.store.read() as tx:
        assert checks.violations(tx) == []


def tab_to(page: Page, wanted: Locator) -> None:
    """Press Tab until the field or the button has the focus, which must be seen."""
    expect(wanted).to_be_visible()
    for _ in range(MOST_TABS):
        if wanted.evaluate("node => node === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{MOST_TABS} tabs do not lead to {wanted}")


def press(page: Page, wanted: Locator) -> None:
    tab_to(page, wanted)
    page.keyboard.press("Enter")


def fill(page: Page, wanted: Locator, text: str) -> None:
    tab_to(page, wanted)
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(text)


def paste_texts(page: Page) -> None:
    fill(page, page.get_by_label("Name of the study"), "Two schools")
    fill(page, page.get_by_label("Paste one essay or several"), ESSAYS.replace("---\n", "\n\n"))
    expect(page.get_by_text("1 essay, ")).to_be_visible()
    press(page, page.get_by_role("button", name="Split at the double blank lines"))
    expect(page.get_by_text("3 essays, 39 words")).to_be_visible()
    press(page, page.get_by_role("button", name="Continue"))
    tab_to(page, page.get_by_label("One that runs here"))
    page.keyboard.press("ArrowUp")  # round to the last one
    expect(page.get_by_label("None yet")).to_be_checked()
    press(page, page.get_by_role("button", name="Continue"))
    expect(page.get_by_role("heading", name="What should raters do?")).to_be_visible()


def make_a_job(page: Page) -> str:
    expect(page.get_by_label("Error tags (tag set)")).to_be_hidden()  # no task is chosen yet
    tab_to(page, page.locator("[name=task]").first)
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("Error or OK")).to_be_checked()
    expect(page.get_by_label("Error tags (tag set)")).to_be_hidden()  # another task's
    fill(page, page.get_by_label("Pay per judgment, in cents"), "10")
    expect(page.locator("#preview")).to_contain_text("EUR")
    press(page, page.get_by_role("button", name="Create the job"))
    expect(page.get_by_role("heading", name="Before it opens")).to_be_visible()
    return page.url.rsplit("/", 1)[1]


def try_it(page: Page) -> None:
    press(page, page.get_by_role("link", name="Try it as a rater"))
    expect(page.locator("mark.target").first).to_be_visible()
    page.keyboard.press(page.locator("input[data-key]").first.get_attribute("data-key") or "")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("This would be saved")
    press(page, page.get_by_role("link", name="Back to the job").last)


def invite_and_open(page: Page) -> None:
    expect(page.get_by_role("heading", name="Before it opens")).to_be_visible()
    press(page, page.get_by_role("button", name="Create links"))
    expect(page.get_by_role("status")).to_contain_text("/join/")
    press(page, page.get_by_role("link", name="Next: open the job"))
    expect(page.locator("[aria-current=step]")).to_have_text("Open")
    press(page, page.get_by_role("button", name="Open it for raters"))
    expect(page.get_by_role("button", name="Pause")).to_be_visible()


def look(page: Page) -> None:
    page.reload()
    press(page, page.get_by_role("link", name="Dashboard", exact=True))
    expect(page.get_by_role("heading", name="Agreement over time")).to_be_visible()
    expect(page.locator("dt:text-is('Units finished') + dd small")).to_contain_text("of ")


def report(page: Page, folder: Path) -> None:
    menu = page.get_by_role("navigation", name="Main").get_by_role("link", name="Export", exact=True)
    press(page, menu)
    fill(page, page.get_by_label("Title"), "By keys alone")
    with page.expect_download(timeout=180_000) as download:  # a report, on a machine with much to do
        press(page, page.get_by_role("button", name="Create the report"))
    download.value.save_as(folder / "report.html")
    assert "By keys alone" in (folder / "report.html").read_text("utf-8")
