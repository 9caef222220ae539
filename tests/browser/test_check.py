"""Check my writing in a real browser: by keyboard alone, on a phone, in the dark, and without scripts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from grater.annotate import judgments
from grater.annotate.writing import JOB
from tests.browser.chromium import watched
from tests.browser.site import Site
from tests.browser.test_accessibility import complaints

TEXT = "She is interested of music. I arrived to the station. I listened the music."
MENDED = "She is interested in music. I arrived at the station. I listened to the music."


def checked(page: Page) -> Page:
    """The page with the marks of the text."""
    page.goto("/check")
    expect(page.locator("#text")).to_be_focused()
    page.keyboard.type(TEXT)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".spot").first).to_be_visible()
    return page


@pytest.fixture
def desk(site: Site, chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(base_url=site.url, viewport={"width": 360, "height": 720})
    with watched(context) as (page, _):
        yield checked(page)
    context.close()


def test_marks_are_accepted_and_rejected_by_keys_and_kept_with_consent(site: Site, desk: Page) -> None:
    expect(desk.locator(".spot")).to_have_count(3)
    for key in "naar":
        desk.keyboard.press(key)
    expect(desk.locator(".spot.is-accepted")).to_have_count(2)
    expect(desk.locator(".spot.is-rejected")).to_have_count(1)
    expect(desk.locator("#place-1 span")).to_have_text("in")
    expect(desk.locator("#place-3 span")).to_have_text("the")
    assert complaints(desk, dark=True) == []
    assert desk.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing to scroll sideways"
    desk.locator("[name=consent]").press("Space")
    desk.locator("[formaction='/check/keep']").press("Enter")
    expect(desk.get_by_role("status")).to_contain_text("3 answers are kept")
    with site.store.read() as tx:
        labels = [row["label"] for row in judgments.table(tx) if row["job"] == JOB]
    assert sorted(map(str, labels)) == ["suggestion better", "suggestion better", "writer's better"]


def test_no_note_is_cut_off_next_to_the_text(site: Site, chromium: Browser) -> None:
    """The column of notes is as long as they are, and the text stays in sight beside the last of them."""
    context = chromium.new_context(base_url=site.url, viewport={"width": 1280, "height": 400})
    with watched(context) as (page, _):
        notes = checked(page).locator(".check-notes")
        assert notes.evaluate("list => list.scrollHeight <= list.clientHeight")
        notes.locator("li").last.scroll_into_view_if_needed()
        expect(page.locator("#place-1")).to_be_in_viewport()
    context.close()


def test_accepted_changes_are_made_without_scripts(site: Site, chromium: Browser) -> None:
    context = chromium.new_context(base_url=site.url, java_script_enabled=False)
    with watched(context) as (page, _):
        page.goto("/check")
        page.locator("#text").fill(TEXT)
        page.get_by_role("button", name="Check my writing").click()
        for accept in page.get_by_label("Accept").all():
            accept.check()
        page.get_by_role("button", name="Apply the accepted changes").click()
        expect(page.locator("#text")).to_have_value(MENDED)
    context.close()


def test_a_file_that_is_chosen_is_shown_before_it_is_checked(site: Site, chromium: Browser) -> None:
    context = chromium.new_context(base_url=site.url)
    with watched(context) as (page, _):
        page.goto("/check")
        page.locator("#file").set_input_files({"name": "a.txt", "mimeType": "text/plain", "buffer": TEXT.encode()})
        expect(page.locator("#text")).to_have_value(TEXT)
    context.close()


def test_a_text_outlives_an_error_page(site: Site, chromium: Browser) -> None:
    """A proxy answers in the place of the server; its page knows nothing of the text."""
    context = chromium.new_context(base_url=site.url)
    with watched(context) as (page, complaints):
        complaints.allow.append("503")
        page.goto("/check")
        page.locator("#text").fill(TEXT)
        page.route("**/check", lambda route: route.fulfill(status=503, body="<title>Busy</title>"))
        page.get_by_role("button", name="Check my writing").click()
        expect(page).to_have_title("Busy")
        page.unroute("**/check")
        page.goto("/check")
        expect(page.locator("#text")).to_have_value(TEXT)
        expect(page.get_by_role("status")).to_contain_text("Your text is back")
        page.locator("#text").fill("All is well.")
        page.get_by_role("button", name="Check my writing").click()
        expect(page.locator("#checked-title")).to_be_visible()
        page.goto("/check")
        expect(page.locator("#text")).to_have_value("")
    context.close()
