"""Spans of every kind on the marking page: overlapping, empty, several on one place, over line ends; and undo."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.essay_page import EssayPage, marking
from tests.browser.site import Site

TEXT = "Every morning he drinks always tea.\r\nAgain and again he repeat it again.\n\nThe end come soon."


def test_overlapping_marks_are_stacked_and_each_prints_its_code(desk: EssayPage) -> None:
    desk.mark("drinks always", "woadv", "always drinks")
    desk.drag("always")  # inside the mark above
    desk.fill(tag="wcip", correction=None)
    desk.mark("tea.", "mec", "tea!")
    assert [(quote, tag) for quote, tag, _ in desk.quotes()] == [
        ("drinks always", "WOadv"), ("always", "Wcip"), ("tea.", "Mec"),
    ]  # fmt: skip
    codes = desk.page.locator(".code")
    assert codes.evaluate_all("nodes => nodes.map((node) => node.dataset.code)") == ["WOadv", "Wcip", "Mec"]
    lanes = codes.evaluate_all("nodes => nodes.map((node) => node.className.match(/lane-(\\d)/)[1])")
    assert lanes[0] != lanes[1]
    pieces = desk.page.locator(".marked").evaluate_all(
        "nodes => nodes.map((n) => [n.textContent, n.dataset.marks.split(' ').length])"
    )
    assert pieces == [["drinks ", 1], ["always", 2], ["tea.", 1]]


def test_several_marks_on_the_same_words(desk: EssayPage) -> None:
    for tag in ("sva", "vt"):
        desk.mark("repeat", tag, "repeats")
    desk.click("come")
    desk.press("Enter")
    desk.fill(tag="sva", correction="comes")
    desk.press("Shift+Enter")
    desk.fill(tag="vt", correction="came")
    assert [(quote, tag) for quote, tag, _ in desk.quotes()] == [
        ("repeat", "SVA"), ("repeat", "Vt"), ("come", "SVA"), ("come", "Vt"),
    ]  # fmt: skip


def test_gaps_at_the_start_between_letters_and_at_the_end(desk: EssayPage) -> None:
    desk.page.locator("#essay").focus()
    desk.press("Control+Home", "^", "Enter")
    desk.fill(tag="trans", correction="So")
    desk.press("Control+End")
    desk.page.locator("#insert-after").click()
    desk.fill(tag="mec", correction="!")
    desk.click("tea")
    desk.press("Alt+ArrowLeft", "Alt+ArrowRight", "Enter")
    desk.fill(tag="mec", correction="h")
    inside = TEXT.index("tea") + 1
    assert [(start, end, words) for start, end, _, _, words in desk.saved()] == [
        (0, 0, ["So"]), (inside, inside, ["h"]), (len(TEXT), len(TEXT), ["!"]),
    ]  # fmt: skip
    expect(desk.page.locator(".insertion")).to_have_count(3)


def test_a_mark_runs_over_a_line_end(desk: EssayPage) -> None:
    desk.drag("tea.", to="Again")
    desk.fill(tag="srun", correction="tea again")
    assert desk.quotes() == [("tea.\r\nAgain", "Srun", ["tea again"])]


def test_leaving_the_correction_as_it_is_and_emptying_it_are_two_things(desk: EssayPage) -> None:
    desk.drag("Again and again")
    desk.type("rloc", "Tab", "Backspace", "Enter")
    desk.drag("tea.")
    desk.type("um", "Enter")
    assert desk.quotes() == [("tea.", "Um", []), ("Again and again", "Rloc", [""])]


def test_another_way_to_correct_is_an_alternative(desk: EssayPage) -> None:
    desk.drag("come")
    desk.type("sva", "Tab", "comes")
    desk.page.get_by_role("button", name="Add an alternative").click()
    desk.type("will come", "Enter")
    assert desk.quotes() == [("come", "SVA", ["comes", "will come"])]


def test_undo_and_redo_go_through_everything(desk: EssayPage) -> None:
    desk.mark("repeat", "sva", "repeats")
    desk.click("repeat")
    desk.type("Tab", "repeated", "Enter", "Delete")
    seen = []
    for key in ("Control+z", "Control+z", "Control+z", "Control+y", "Control+Shift+z"):
        desk.press(key)
        seen.append([words for _, _, words in desk.quotes()])
    assert seen == [[["repeated"]], [["repeats"]], [], [["repeats"]], [["repeated"]]]
    desk.press("Control+z")
    desk.mark("tea.", "mec", "tea!")
    desk.press("Control+y")  # what was undone is forgotten once something new is done
    assert [words for _, _, words in desk.quotes()] == [["tea!"], ["repeats"]]


def test_escape_leaves_everything_as_it_was(desk: EssayPage) -> None:
    desk.drag("repeat")
    desk.page.keyboard.type("sva")
    desk.press("Escape")
    assert desk.page.evaluate("document.activeElement.id") == "essay"
    assert desk.quotes() == []
    expect(desk.page.locator("#picker")).to_be_hidden()


def test_a_mark_that_owes_a_correction_holds_the_essay_back(desk: EssayPage) -> None:
    desk.mark("repeat", "sva", None)
    expect(desk.page.locator(".entry-note")).to_have_text("no correction yet")
    desk.finish()
    expect(desk.page.locator("#slip-tag")).to_have_value("SVA")
    desk.type("Tab", "repeats", "Enter")
    desk.finish()
    expect(desk.page.get_by_role("heading", name="Thank you")).to_be_visible()


def test_an_essay_without_marks_is_asked_about(desk: EssayPage) -> None:
    desk.finish()
    desk.page.get_by_role("button", name="No, keep marking").click()
    assert desk.page.url.endswith(desk.address)
    desk.finish()
    desk.page.get_by_role("button", name="Yes, finish it").click()
    expect(desk.page.get_by_role("heading", name="Thank you")).to_be_visible()


def test_an_essay_can_be_set_aside(desk: EssayPage) -> None:
    desk.page.get_by_label("Set aside").check()
    desk.expect_state("saved")
    desk.page.reload()
    expect(desk.page.get_by_label("Set aside")).to_be_checked()
    desk.finish()
    expect(desk.page.get_by_role("heading", name="Thank you")).to_be_visible()


def test_findings_of_the_check_are_notes_that_lead_to_their_place(desk: EssayPage) -> None:
    desk.mark("Again and again", "rloc", "again and Again")
    note = desk.page.locator("#findings button")
    expect(note).to_contain_text("a redundancy that removes nothing")
    desk.click("come")
    note.click()
    expect(desk.page.locator(".at-cursor")).to_have_text("Again and again")
    desk.press("Delete")
    expect(desk.page.locator("#findings")).to_be_hidden()


def test_every_tag_shows_its_name_on_a_phone_too(desk: EssayPage) -> None:
    desk.page.locator("#essay").focus()
    desk.press("Enter")
    for width, height in ((1280, 800), (360, 640)):
        desk.page.set_viewport_size({"width": width, "height": height})
        expect(desk.page.locator("#tag-Vform .tag-name")).to_be_visible()
        expect(desk.page.locator("[data-part=save]")).to_be_in_viewport()


EVIL = "</script><script>alert('x')</script> <img src=x onerror=alert(1)> {{ 7 * 7 }} &lt;b&gt; \u2028 own"


def test_markup_in_a_text_a_correction_and_a_comment_stays_text(site: Site, chromium: Browser) -> None:
    with marking(site, chromium, EVIL) as desk:
        desk.page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
        desk.drag("own")
        desk.type("sva", "Tab", "<img src=x onerror=alert(2)>", "Tab", "<script>alert(3)</script>", "Enter")
        assert desk.quotes() == [("own", "SVA", ["<img src=x onerror=alert(2)>"])]
        desk.page.reload()
        expect(desk.page.locator(".entry-comment")).to_have_text("<script>alert(3)</script>")
        expect(desk.page.locator("#essay")).to_contain_text("<img src=x onerror=alert(1)> {{ 7 * 7 }} &lt;b&gt;")
        assert desk.page.locator("main img, main script[src*=x]").count() == 0


def test_a_breach_of_the_content_policy_would_be_seen(desk: EssayPage) -> None:
    """A negative control: every other test here fails on such a complaint."""
    desk.page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.bad = 1' }))"
    )
    assert desk.page.evaluate("window.bad") is None
    assert len(desk.complaints.unexpected) == 1
    desk.complaints.allow.append("Content Security Policy")
