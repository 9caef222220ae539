"""The ends of a selection or a mark, moved by their handles with finger, mouse and keys."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Browser, Page, expect

from tests.browser.essay_page import EssayPage, marking
from tests.browser.modules import call
from tests.browser.site import Site
from tests.browser.test_marking import PHONE
from tests.browser.test_modules import SLOWLY

FAMILY, FLAGS, CAFE = "\U0001f468‍\U0001f469‍\U0001f467", "\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7", "cafe\u0301"
TEXT = (
    f"Every morning he drinks always tea in a {CAFE} near us.\r\n"
    f"My {FAMILY} family own it. We wave {FLAGS} there. שלום עולם, they says."
)
LETTERS = st.lists(
    st.sampled_from(["a", " ", "e\u0301", "\U0001f600", FAMILY, FLAGS[:2], "\U0001f1e9", "\r\n", "\n", "ש"]),
    max_size=25,
).map("".join)
HANDS: dict[str, dict[str, Any]] = {"mouse": {}, "finger": PHONE}


@pytest.mark.parametrize("hand", HANDS)
def test_the_end_of_a_mark_is_pulled_on_and_its_start_back(site: Site, chromium: Browser, hand: str) -> None:
    with marking(site, chromium, TEXT, **HANDS[hand]) as desk:
        made(desk, "own", tag="sva", correction="owns")
        opened(desk, "own", hand)
        above = desk.page.locator("#picker").bounding_box()
        assert above
        assert above["y"] > desk.page.locator(".piece.chosen").bounding_box()["y"], "the slip hides no words"  # type: ignore[index]
        desk.pull("end", "own", "it", hand)
        expect(desk.page.locator(".slip-words")).to_have_text("own it")
        desk.pull("start", "own it", "family", hand)
        expect(desk.page.locator(".slip-words")).to_have_text("family own it")
        expect(desk.page.locator("#correction-1")).to_have_value("owns")
        desk.page.locator("[data-part=save]").click()
        start = TEXT.index("family own it")
        assert desk.saved() == [(start, start + 13, "family own it", "SVA", ["owns"])]
        expect(desk.page.locator(".handle:visible")).to_have_count(0)
        desk.page.locator("#undo").click()
        assert desk.quotes() == [("own", "SVA", ["owns"])], "one step back"


def test_a_finger_pulls_by_whole_words_outwards_and_by_letters_back(site: Site, chromium: Browser) -> None:
    with marking(site, chromium, TEXT, **PHONE) as desk:
        desk.tap("drinks")
        desk.pull("end", "drinks", "alw", "finger")
        expect(desk.page.locator(".at-cursor")).to_have_text("drinks always")
        desk.pull("end", "drinks always", "drink", "finger")
        expect(desk.page.locator(".at-cursor")).to_have_text("drink")
        desk.pull("end", "drink", "always", "finger")
        expect(desk.page.locator(".at-cursor")).to_have_text("drinks always")
        desk.page.locator("#mark").click()  # the first tap after a made-up drag is lost now and then, hence clicks
        expect(desk.page.locator("#correction-1")).to_have_value("drinks always")
        desk.pull("end", "drinks always", "tea", "finger")
        expect(desk.page.locator("#correction-1")).to_have_value("drinks always tea")
        desk.page.locator("#tag-WOadv").click()
        desk.page.locator("#correction-1").fill("always drinks tea")
        desk.page.locator("[data-part=save]").click()
        assert desk.quotes() == [("drinks always tea", "WOadv", ["always drinks tea"])]


def test_words_selected_the_phones_own_way_can_be_marked(site: Site, chromium: Browser) -> None:
    """Headless Chromium selects nothing on a long press, so the selection is made for it."""
    with marking(site, chromium, TEXT, **PHONE) as desk:
        desk.tap("tea")
        desk.page.evaluate(SELECT, "morning he")
        desk.page.locator("#mark").tap()
        desk.page.locator("#tag-Nn").tap()
        desk.page.locator("#correction-1").fill("evening she")
        desk.page.locator("[data-part=save]").tap()
        assert desk.quotes() == [("morning he", "Nn", ["evening she"])]


SELECT = """(words) => {
  const node = [...document.querySelectorAll('.piece')].find((piece) => piece.textContent.includes(words)).lastChild;
  getSelection().setBaseAndExtent(node, node.data.indexOf(words), node, node.data.indexOf(words) + words.length);
}"""


@pytest.mark.parametrize(("words", "to", "found"), [
    ("tea", CAFE, f"tea in a {CAFE}"), ("My", FAMILY, f"My {FAMILY}"), ("wave", FLAGS[:2], f"wave {FLAGS[:2]}"),
    ("wave", FLAGS, f"wave {FLAGS}"), ("שלום", "עול", "שלום עול"),
])  # fmt: skip
def test_no_letter_is_cut_by_an_offset(site: Site, chromium: Browser, words: str, to: str, found: str) -> None:
    with marking(site, chromium, TEXT) as desk:
        made(desk, words, tag="others", correction="x")
        opened(desk, words, "mouse")
        desk.pull("end", words, to, "mouse")
        desk.press("Control+Enter")
        start = TEXT.index(found)
        assert desk.saved() == [(start, start + len(found), found, "Others", ["x"])]


def test_a_mark_turns_round_when_an_end_is_pulled_over_the_other(desk: EssayPage) -> None:
    made(desk, "always", tag="woadv", correction="x")
    opened(desk, "always", "mouse")
    desk.pull("start", "always", "tea", "mouse", to_end=True)
    expect(desk.page.locator(".slip-words")).to_have_text("tea")
    desk.page.locator("[data-part=cancel]").click()
    assert desk.quotes() == [("always", "WOadv", ["x"])], "cancelled"
    expect(desk.page.locator(".marked")).to_have_text("always")


def test_a_gap_has_one_handle_and_moves(desk: EssayPage) -> None:
    desk.click("tea")
    desk.page.locator("#insert-before").click()
    expect(desk.page.locator(".handle:visible")).to_have_count(1)
    desk.pull("start", "tea", "near", "mouse")
    desk.fill(tag="mec", correction="!")
    start = TEXT.index("near")
    assert desk.saved() == [(start, start, "", "Mec", ["!"])]


def test_the_ends_are_moved_with_the_keyboard_alone(desk: EssayPage) -> None:
    made(desk, "drinks", tag="vt", correction="drank")
    desk.press("Enter")
    while "handle-end" not in desk.page.evaluate("document.activeElement.className"):
        desk.press("Tab")
    desk.press("ArrowRight", "ArrowRight", "ArrowLeft", "Alt+ArrowLeft")
    expect(desk.page.locator(".slip-words")).to_have_text("drinks alway")
    desk.press("Shift+Tab", "ArrowLeft", "Enter")
    assert desk.page.evaluate("document.activeElement.id") == "slip-tag"
    desk.press("Control+Enter")
    assert desk.quotes() == [("he drinks alway", "Vt", ["drank"])]


@SLOWLY
@given(st.lists(LETTERS, min_size=1, max_size=4))
def test_letters_near_a_place_are_the_letters_of_the_whole_text(module_page: Page, texts: list[str]) -> None:
    """Between the two ends of the text lie a chunk or two, so that neither is near the other."""
    script = """v.map((raw) => {
      const text = new m.Text(raw + ' word'.repeat(150) + raw);
      const near = [...raw].length + 2;
      const places = Array.from({ length: near }, (_, n) => [n, text.length - n]).flat();
      const edge = (place, step) => text.letterEdge(place, step);
      const found = places.map((place) => [place, text.letterAt(place), edge(place, 1), edge(place, -1)]);
      return [text.offsets.text, found];
    })"""
    for whole, found in call(module_page, "text", script, texts):  # type: ignore[attr-defined]
        edges = module_page.evaluate(GRAPHEMES, whole)
        for place, at, after, before in found:
            assert at == max(edge for edge in edges if edge <= place)
            assert after == min((edge for edge in edges if edge > place), default=len(whole))
            assert before == max((edge for edge in edges if edge < place), default=0)


def test_where_an_end_goes_that_is_pulled(module_page: Page) -> None:
    """Text, span, side, offset under the pointer, whether by a finger; and what comes of it."""
    family = f"a {FAMILY} b"
    cases = [
        ([family, 0, 1, "end", 4, False], [0, 1]),  # inside the family: before it, and the blank is dropped
        ([family, 0, 1, "end", 7, False], [0, 7]),
        ([FLAGS, 0, 2, "end", 3, False], [0, 2]),  # half of the second flag
        (["one two three", 4, 7, "end", 10, True], [4, 13]),  # a finger outwards
        (["one two three", 4, 7, "end", 10, False], [4, 10]),
        (["one two three", 4, 7, "end", 6, True], [4, 6]),  # a finger back
        (["one two three", 4, 7, "start", 1, True], [0, 7]),
        (["one two three", 4, 7, "start", 13, False], [8, 13]),  # turned round
        (["one two three", 4, 7, "end", 4, False], [4, 7]),  # never empty
        (["one two three", 4, 4, "start", 9, False], [9, 9]),  # a gap moves
    ]
    script = """await (async () => {
      const { Text } = await import('/static/marking/text.js');
      return v.map(([raw, start, end, side, offset, isCoarse]) => {
        const span = m.pulled(new Text(raw), { start, end }, side, offset, { isCoarse });
        return [span.start, span.end];
      });
    })()"""
    assert call(module_page, "handles", script, [case for case, _ in cases]) == [found for _, found in cases]


GRAPHEMES = """(text) => {
  const edges = [0];
  for (const { segment } of new Intl.Segmenter('en').segment(text)) edges.push(edges.at(-1) + [...segment].length);
  return edges;
}"""


def made(desk: EssayPage, words: str, *, tag: str, correction: str) -> None:
    desk.click(words)
    desk.press("Enter")
    desk.fill(tag=tag, correction=correction)


def opened(desk: EssayPage, words: str, hand: str) -> None:
    desk.click(words) if hand == "mouse" else desk.tap(words)
    expect(desk.page.locator("#picker")).to_be_visible()
