"""Fast hands on the marking page: letters before the button is up, a click at once after a drag.

Nothing here waits for the page.  Where a test needs a page that lags behind, it makes one: timers of no delay come
late, as on a machine with too much to do.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.browser.essay_page import EssayPage, marking
from tests.browser.site import Site

TEXT = "Every morning he drinks always tea.\nAgain and again he repeat it again.\n\nThe end come soon."

LATE = """() => {
  const onTime = window.setTimeout;
  window.setTimeout = (action, delay = 0, ...more) => onTime(action, delay || 5_000, ...more);
}"""


def _hold(desk: EssayPage, words: str) -> None:
    """Drag over words and keep the button down."""
    left, right, middle = desk.place(words)
    desk.page.mouse.move(left + 1, middle)
    desk.page.mouse.down()
    desk.page.mouse.move(right - 1, middle, steps=4)


def test_a_click_at_once_after_a_drag_counts(site: Site, chromium: Browser) -> None:
    with marking(site, chromium, TEXT) as desk:
        desk.page.evaluate(LATE)
        desk.mark("repeat", "vt", "repeated")
        desk.click("come")
        desk.press("Enter")
        desk.fill(tag="sva", correction="comes")
        assert desk.quotes() == [("repeat", "Vt", ["repeated"]), ("come", "SVA", ["comes"])]


@pytest.mark.parametrize("early", ["s", "sva"])
def test_letters_typed_before_the_button_is_up_are_the_tag_of_the_selected_words(
    site: Site, chromium: Browser, early: str
) -> None:
    with marking(site, chromium, TEXT) as desk:
        _hold(desk, "repeat")
        desk.page.keyboard.type(early)
        desk.page.mouse.up()
        desk.fill(tag="sva".removeprefix(early), correction="repeats")
        assert desk.quotes() == [("repeat", "SVA", ["repeats"])]


def test_a_whole_mark_typed_before_the_button_is_up(site: Site, chromium: Browser) -> None:
    with marking(site, chromium, TEXT) as desk:
        _hold(desk, "repeat")
        desk.page.keyboard.type("vt")
        desk.press("Tab")
        desk.page.keyboard.type("repeatex")
        desk.press("Backspace")
        desk.page.keyboard.type("d")
        desk.press("Enter")
        desk.page.mouse.up()
        assert desk.quotes() == [("repeat", "Vt", ["repeated"])]


def test_a_selection_goes_on_while_letters_wait(site: Site, chromium: Browser) -> None:
    with marking(site, chromium, TEXT) as desk:
        _hold(desk, "drinks")
        desk.page.keyboard.type("wo")
        _, right, middle = desk.place("drinks always")
        desk.page.mouse.move(right - 1, middle, steps=4)
        desk.page.mouse.up()
        desk.fill(tag="adv", correction="always drinks")
        assert desk.quotes() == [("drinks always", "WOadv", ["always drinks"])]


def test_letters_typed_while_a_word_is_clicked_are_its_tag(site: Site, chromium: Browser) -> None:
    with marking(site, chromium, TEXT) as desk:
        left, right, middle = desk.place("come")
        desk.page.mouse.move((left + right) / 2, middle)
        desk.page.mouse.down()
        desk.page.keyboard.type("sv")
        desk.page.mouse.up()
        desk.fill(tag="a", correction="comes")
        assert desk.quotes() == [("come", "SVA", ["comes"])]


def test_letters_typed_while_the_next_words_are_selected_leave_the_open_mark_alone(
    site: Site, chromium: Browser
) -> None:
    with marking(site, chromium, TEXT) as desk:
        desk.drag("repeat")
        desk.page.keyboard.type("sva")  # the slip stays open
        _hold(desk, "come")
        desk.page.keyboard.type("v")
        desk.page.mouse.up()
        desk.fill(tag="t", correction="came")
        assert desk.quotes() == [("repeat", "SVA", []), ("come", "Vt", ["came"])]
