"""Check my writing in a real browser: while typing, on a phone, in the dark, and without scripts."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import Browser, Page, expect

from grater.annotate import judgments
from grater.annotate.writing import JOB
from tests.browser.site import Site
from tests.browser.test_accessibility import complaints

TEXT = "She was interested of music. I arrived to the station. I listened the music."
MENDED = "She was interested in music. I arrived at the station. I listened to the music."


@pytest.fixture
def desk(site: Site, chromium: Browser) -> Iterator[Page]:
    """The page on a small screen, with the marks of the text that was typed."""
    with site.visit(chromium, None, viewport={"width": 360, "height": 720}) as (page, heard):
        heard.allow += ["422", "429", "503"]
        page.goto("/check")
        expect(page.locator("#text")).to_be_focused()
        page.keyboard.type(TEXT)
        expect(page.locator("[data-under] mark")).to_have_text(["of", "to", "the"])
        yield page


def test_marks_come_while_typing_and_are_answered_in_place_and_kept_with_consent(site: Site, desk: Page) -> None:
    notes, text = desk.locator("[data-notes] li"), desk.locator("#text")
    expect(desk.get_by_text("3 places to look at again")).to_be_visible()
    desk.keyboard.press("Alt+ArrowDown")
    desk.keyboard.press("Alt+Enter")
    expect(text).to_have_value(TEXT.replace("interested of", "interested in"))
    expect(notes).to_have_count(2)
    desk.keyboard.press("Control+z")
    expect(text).to_have_value(TEXT)
    expect(notes).to_have_count(3)
    for _ in range(2):
        desk.get_by_role("button", name="Accept").first.click()
    expect(notes.get_by_role("button").first).to_be_focused()
    expect(text).to_have_value(MENDED.replace("listened to", "listened"))
    assert complaints(desk, dark=True) == []
    assert desk.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing to scroll sideways"
    desk.get_by_role("button", name="Reject").click()
    expect(desk.get_by_text("Nothing to look at again")).to_be_visible()
    desk.get_by_role("button", name="Send my answers").click()
    expect(desk.get_by_text("tick the box first")).to_be_visible()
    desk.locator("[data-share] [name=consent]").press("Space")
    desk.get_by_role("button", name="Send my answers").click()
    expect(desk.get_by_text("3 answers are kept")).to_be_visible()
    with site.store.read() as tx:
        labels = [row["label"] for row in judgments.table(tx) if row["job"] == JOB]
    assert sorted(map(str, labels)) == ["suggestion better", "suggestion better", "writer's better"]


def test_only_what_changed_is_sent_and_marks_move_with_the_words(desk: Page) -> None:
    with desk.expect_request("**/check/marks") as asked:
        desk.keyboard.type("\nHe discussed about it.")
    assert parse_qs(asked.value.post_data)["text"] == ["He discussed about it."]
    desk.locator("#text").press("Control+Home")
    desk.keyboard.type("Yes. ")
    expect(desk.locator("[data-under] mark")).to_have_count(4)
    desk.locator("[data-notes] li button").first.click()
    expect(desk.locator("#text")).to_have_value(f"Yes. {TEXT.replace(' of ', ' in ')}\nHe discussed about it.")


def test_a_mark_that_is_touched_has_its_note_within_reach(desk: Page) -> None:
    desk.locator("#text").press("Control+End")
    desk.keyboard.type("\n" * 30)
    desk.evaluate("scrollTo(0, 0)")
    box = desk.locator("[data-under] mark").nth(1).bounding_box()
    assert box
    desk.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    here = desk.locator("[data-notes] .is-here")
    expect(here).to_be_in_viewport(ratio=1)
    here.get_by_role("button", name="Accept").click()
    expect(desk.locator("[data-under] mark")).to_have_text(["of", "the"])


@pytest.mark.parametrize(("status", "words"), [(429, "That was much text"), (503, "busy")])
def test_a_server_that_has_enough_is_asked_again_when_it_said(desk: Page, status: int, words: str) -> None:
    refusals = [{"status": status, "headers": {"retry-after": "2"}}]
    desk.route("**/check/marks", lambda route: route.fulfill(**refusals.pop()) if refusals else route.continue_())  # type: ignore[arg-type]
    desk.keyboard.type(" I arrived to the house.")
    expect(desk.get_by_text(words)).to_be_visible()
    expect(desk.locator("[data-under] mark")).to_have_count(4)


def test_a_text_outlives_the_page_until_a_file_is_chosen(desk: Page) -> None:
    desk.reload()
    expect(desk.locator("#text")).to_have_value(TEXT)
    expect(desk.locator("[data-under] mark")).to_have_count(3)
    other = b"She was interested of music."
    desk.locator("#file").set_input_files({"name": "a.txt", "mimeType": "text/plain", "buffer": other})
    expect(desk.locator("#text")).to_have_value(other.decode())
    expect(desk.locator("[data-under] mark")).to_have_count(1)
