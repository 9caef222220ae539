"""Fast hands on the marking page: letters before the button is up, a click at once after a drag.

Nothing here waits for the page.  Where a test needs a page that lags behind, it makes one: timers of no delay come
late, as on a machine with too much to do.

What the marking page weighs on a slow line; its essay is there, and stands still, from the beginning.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, expect

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


def test_a_click_at_once_after_a_drag_counts(desk: EssayPage) -> None:
    desk.page.evaluate(LATE)
    desk.mark("repeat", "vt", "repeated")
    desk.click("come")
    desk.press("Enter")
    desk.fill(tag="sva", correction="comes")
    assert desk.quotes() == [("repeat", "Vt", ["repeated"]), ("come", "SVA", ["comes"])]


def _press(desk: EssayPage, words: str) -> None:
    """The button down on a word, and kept down."""
    left, right, middle = desk.place(words)
    desk.page.mouse.move((left + right) / 2, middle)
    desk.page.mouse.down()


@pytest.mark.parametrize(("take", "early", "rest"), [(_hold, "s", "va"), (_hold, "sva", ""), (_press, "sv", "a")])
def test_letters_typed_before_the_button_is_up_are_the_tag_of_the_selected_words(
    site: Site, chromium: Browser, take: Callable[[EssayPage, str], None], early: str, rest: str
) -> None:
    with marking(site, chromium, TEXT) as desk:
        take(desk, "repeat")
        desk.page.keyboard.type(early)
        desk.page.mouse.up()
        desk.fill(tag=rest, correction="repeats")
        assert desk.quotes() == [("repeat", "SVA", ["repeats"])]


def test_a_whole_mark_typed_before_the_button_is_up(desk: EssayPage) -> None:
    _hold(desk, "repeat")
    desk.type("vt", "Tab", "repeatex", "Backspace", "d", "Enter")
    desk.page.mouse.up()
    assert desk.quotes() == [("repeat", "Vt", ["repeated"])]


def test_a_selection_goes_on_while_letters_wait(desk: EssayPage) -> None:
    _hold(desk, "drinks")
    desk.page.keyboard.type("wo")
    _, right, middle = desk.place("drinks always")
    desk.page.mouse.move(right - 1, middle, steps=4)
    desk.page.mouse.up()
    desk.fill(tag="adv", correction="always drinks")
    assert desk.quotes() == [("drinks always", "WOadv", ["always drinks"])]


def test_letters_typed_while_the_next_words_are_selected_leave_the_open_mark_alone(desk: EssayPage) -> None:
    desk.drag("repeat")
    desk.page.keyboard.type("sva")  # the slip stays open
    _hold(desk, "come")
    desk.page.keyboard.type("v")
    desk.page.mouse.up()
    desk.fill(tag="t", correction="came")
    assert desk.quotes() == [("repeat", "SVA", []), ("come", "Vt", ["came"])]


LONG = "\n".join(
    f"In year {n} she own two small bakery near the old harbour, and every morning she wake up." for n in range(12)
)
MOST_BYTES, MOST_REQUESTS, MOST_SHIFT = 60_000, 10, 0.05
SHIFTS = """() => new Promise((resolve) => {
  let sum = 0;
  new PerformanceObserver((list) => list.getEntries().forEach((entry) => { sum += entry.value; }))
    .observe({ type: 'layout-shift', buffered: true });
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum)));
})"""


def test_the_marking_page_is_light_and_stands_still(site: Site, chromium: Browser) -> None:
    person = site.person()
    address = site.lease(site.marking_job(LONG), person)
    with site.visit(chromium, person) as (page, _):
        network = page.context.new_cdp_session(page)
        network.send("Network.enable")
        loaded: list[float] = []
        network.on("Network.loadingFinished", lambda event: loaded.append(event["encodedDataLength"]))
        page.goto(address, wait_until="load")
        expect(page.locator("#essay .piece").first).to_be_visible()
        assert page.evaluate(SHIFTS) < MOST_SHIFT
        assert sum(n > 0 for n in loaded) <= MOST_REQUESTS  # of nothing: from the cache of the browser
        assert sum(loaded) <= MOST_BYTES


def test_the_essay_is_readable_without_scripts(site: Site, chromium: Browser) -> None:
    person = site.person()
    address = site.lease(site.marking_job(LONG), person)
    with site.visit(chromium, person, java_script_enabled=False) as (page, _):
        page.goto(address)
        expect(page.locator("#essay p")).to_have_count(LONG.count("\n") + 1)
        expect(page.get_by_text("Marking an essay needs JavaScript")).to_be_visible()
