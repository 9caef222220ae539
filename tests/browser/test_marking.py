"""Whole marking sessions in Chromium: mouse and keyboard alone, wide and narrow; a finger on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.essay_page import EssayPage, marking, open_essay
from tests.browser.form_page import go_on, log_in_with_keys
from tests.browser.site import Site

TEXT = (
    "Last year I visit my aunt in lisbon, she own two small bakery near the harbour.\r\n\r\n"
    "She adopted puppy \U0001f468‍\U0001f469‍\U0001f467 from the shelter. We drinks always tea.\n"
    "It was a very care answer."
)
WIDTHS: dict[str, dict[str, Any]] = {"desktop": {}, "phone": {"viewport": {"width": 360, "height": 740}}}
IS_FIELD_SEEN = """slip => slip.querySelector("textarea").getBoundingClientRect().bottom
    <= slip.querySelector(".slip-buttons").getBoundingClientRect().top"""
PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}


def handed_in(desk: EssayPage) -> list[tuple[str, str, list[str]]]:
    """Quote, tag and replacements of the one essay that the annotator has handed in."""
    edits = desk.handed_in()["edits"]
    return [(TEXT[edit["start"] : edit["end"]], edit["tag"], edit["replacements"]) for edit in edits]


@pytest.mark.parametrize("width", WIDTHS)
def test_a_session_with_the_mouse(site: Site, chromium: Browser, width: str) -> None:
    with marking(site, chromium, TEXT, **WIDTHS[width]) as desk:

        def fill(tag: str, correction: str) -> None:
            desk.page.locator(f"#tag-{tag}").click()
            desk.page.keyboard.type(correction)
            desk.page.locator("[data-part=save]").click()

        desk.drag("visit")
        fill("Vt", "visited")
        left, right, middle = desk.place("bakery")
        desk.page.mouse.dblclick((left + right) / 2, middle)
        fill("Nn", "bakeries")
        desk.click("puppy")
        desk.page.locator("#insert-before").click()
        fill("ArtOrDet", "a")
        assert desk.saved() == [
            (12, 17, "visit", "Vt", ["visited"]),
            (55, 61, "bakery", "Nn", ["bakeries"]),
            (95, 95, "", "ArtOrDet", ["a"]),
        ]
        desk.finish()
        assert handed_in(desk) == [
            ("visit", "Vt", ["visited"]),
            ("bakery", "Nn", ["bakeries"]),
            ("", "ArtOrDet", ["a"]),
        ]


@contextmanager
def logged_in_with_keys(site: Site, chromium: Browser, **options: object) -> Iterator[EssayPage]:
    """The same page, reached by the keyboard alone: login, the job, its first essay."""
    person, job_id = site.person(), site.marking_job(TEXT)
    with site.visit(chromium, None, **options) as (page, complaints):
        log_in_with_keys(page, person.name, f"/jobs/{job_id}")
        go_on(page, "keyboard", "Start")
        yield replace(open_essay(page, site, person, page.url.removeprefix(site.url)), complaints=complaints)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_session_with_the_keyboard_alone(site: Site, chromium: Browser, width: str) -> None:
    with logged_in_with_keys(site, chromium, **WIDTHS[width]) as desk:
        expect(desk.page.locator("#essay")).to_be_focused()
        desk.press("ArrowRight", "ArrowRight", "ArrowRight")
        desk.fill(tag="vt", correction="visited")
        desk.press("ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight")
        desk.press("Shift+ArrowRight", "Shift+ArrowRight", "Enter")
        desk.fill(tag="runon", correction="Lisbon. She")
        desk.press("End", "ArrowRight", "ArrowRight", "ArrowRight", "^", "Enter")
        desk.fill(tag="art", correction="a")
        desk.press("Control+End", "ArrowLeft", "ArrowLeft")
        desk.fill(tag="word form", correction="careful")
        assert desk.quotes() == [
            ("visit", "Vt", ["visited"]),
            ("lisbon, she", "Srun", ["Lisbon. She"]),
            ("", "ArtOrDet", ["a"]),
            ("care", "Wform", ["careful"]),
        ]
        assert desk.saved()[2][0] == TEXT.index("puppy")
        desk.press("Control+Home", "Alt+ArrowDown", "Delete", "Alt+ArrowDown")
        assert [tag for _, tag, _ in desk.quotes()] == ["Srun", "ArtOrDet", "Wform"]
        assert "Srun" in desk.page.locator(".entry.here").inner_text(), "the list follows the cursor"
        desk.press("Control+Enter")
        expect(desk.page.get_by_text("Runons, comma splice; Article or Determiner; Word form")).to_be_visible()
        assert [tag for _, tag, _ in handed_in(desk)] == ["Srun", "ArtOrDet", "Wform"]


def test_a_session_with_a_finger_on_a_phone(site: Site, chromium: Browser) -> None:
    with marking(site, chromium, TEXT, **PHONE | {"viewport": {"width": 360, "height": 640}}) as desk:
        assert desk.page.evaluate("document.documentElement.scrollWidth") <= 360
        way = desk.page.get_by_role("link", name="Work")
        assert way.evaluate("way => way.parentElement.scrollWidth <= way.parentElement.clientWidth")  # not cut
        expect(desk.page.get_by_text("Tap a word, then Mark")).to_be_visible()
        desk.tap("drinks")
        desk.page.locator("#stretch-on").tap()
        desk.page.locator("#mark").tap()
        desk.page.locator("#tag-WOadv").tap()
        assert desk.page.locator("#picker").evaluate(IS_FIELD_SEEN)
        desk.page.keyboard.type("always drink")
        desk.page.locator("[data-part=save]").tap()
        expect(desk.page.get_by_text("Tap a word, then Mark")).to_be_hidden()
        desk.tap("puppy")
        desk.page.locator("#insert-before").tap()
        desk.page.locator("#tag-ArtOrDet").tap()
        desk.page.keyboard.type("a")
        desk.page.locator("[data-part=save]").tap()
        assert desk.quotes() == [("", "ArtOrDet", ["a"]), ("drinks always", "WOadv", ["always drink"])]
        desk.tap("drinks always")
        expect(desk.page.locator("#slip-tag")).to_have_value("WOadv")
        desk.page.locator("[data-part=remove]").tap()
        assert desk.quotes() == [("", "ArtOrDet", ["a"])]
        desk.page.locator("#send").tap()
        assert handed_in(desk) == [("", "ArtOrDet", ["a"])]


OFFERED = (("visit", "visited", "Vt"), ("in", "at", "Wcip"), ("own", "has", "SVA"), ("bakery", "bakeries", "Nn"))


@pytest.mark.parametrize("hand", ["keys", "finger"])
def test_one_key_or_tap_accepts_changes_or_rejects_a_suggestion(site: Site, chromium: Browser, hand: str) -> None:
    with marking(site, chromium, TEXT, offered=OFFERED, **(PHONE if hand == "finger" else {})) as desk:
        page = desk.page
        expect(page.locator("#ghost-words")).to_have_text("4 of 4 suggestions open")

        def ask(key: str, button: str) -> None:
            if hand == "keys":
                desk.press(key)
            else:
                page.locator("#ghost-line").get_by_role("button", name=button).tap()

        ask("Alt+ArrowDown", "Next suggestion")
        expect(page.locator("#ghost-words")).to_have_text("Suggestion: visit → visited (Verb Tense)")
        ask("Enter", "Accept")
        ask("Alt+ArrowDown", "Next suggestion")
        ask("Delete", "Reject")
        ask("Alt+ArrowDown", "Next suggestion")
        if hand == "keys":
            page.keyboard.type("sva")
            desk.press("Tab")
        else:
            ask("", "Change")
            page.locator(".correction").tap()
        desk.press("Control+a")
        page.keyboard.type("owns")
        desk.press("Enter")
        expect(page.locator("#ghost-words")).to_have_text("1 of 4 suggestions open")
        assert desk.quotes() == [("visit", "Vt", ["visited"]), ("own", "SVA", ["owns"])]
        page.reload()
        expect(page.locator("#ghost-words")).to_have_text("1 of 4 suggestions open")
        page.locator("#send").click()
        suggested = desk.handed_in()["suggestions"]
    assert suggested.pop("fates") == ["accepted", "rejected", "changed", "left"]
    assert suggested == {"system": "a system", "shown": True, "origins": ["accepted", "changed"]}


def test_letters_select_by_letter_and_never_half_an_emoji(desk: EssayPage) -> None:
    desk.click("puppy")
    desk.press("Alt+ArrowRight", "Alt+ArrowRight", "Alt+Shift+ArrowRight")
    desk.page.keyboard.type("others")
    desk.press("Tab", "Backspace", "Enter")
    family = TEXT.index("\U0001f468")
    assert desk.saved() == [(family, family + 5, TEXT[family : family + 5], "Others", [""])]


def test_arrows_go_up_and_down_the_lines(site: Site, chromium: Browser) -> None:
    with marking(site, chromium, "We saw it.\r\n\r\nShe adopted puppy.\nIt was good.") as desk:
        desk.click("adopted")
        desk.press("ArrowDown")
        expect(desk.page.locator(".at-cursor")).to_have_text("was")
        desk.press("ArrowUp", "ArrowUp")
        expect(desk.page.locator(".at-cursor")).to_have_text("saw")
        for step, words in (("Right", "saw it"), ("Left", "saw"), ("Left", "We saw")):  # over its start and round
            desk.press(f"Shift+Arrow{step}")
            expect(desk.page.locator(".at-cursor")).to_have_text(words)


def test_arrows_go_where_they_point_in_a_text_from_right_to_left(site: Site, chromium: Browser) -> None:
    with marking(site, chromium, "שלום עולם טוב") as desk:
        desk.press("ArrowLeft")
        expect(desk.page.locator(".at-cursor")).to_have_text("עולם")
        desk.press("ArrowRight")
        expect(desk.page.locator(".at-cursor")).to_have_text("שלום")
