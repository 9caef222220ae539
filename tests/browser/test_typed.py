"""Nothing that was typed is dropped without a word (P14): open slips, forms left, refused or sent when signed out.

A key pressed as soon as a page is seen counts, however long the page's modules take to come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Dialog, Page, Route, expect

from grater.annotate import credentials
from grater.annotate.people import Person
from tests.browser.essay_page import EssayPage, open_own_desk
from tests.browser.site import Site
from tests.browser.test_adjudication import marked, rated
from tests.browser.tour import studio_job

TEXT = "He repeat the question again. She own a bakery."
COMMENT = "#slip-comment"


def comment_on(desk: EssayPage, words: str, *, tag: str, comment: str) -> None:
    """Open the slip for words and fill it but for the correction."""
    desk.drag(words)
    desk.page.keyboard.type(tag)
    desk.page.locator(COMMENT).fill(comment)


@contextmanager
def asked(page: Page, *, stay: bool = True) -> Iterator[None]:
    """The browser asks before the page is left, and is answered."""
    kinds: list[str] = []

    def answer(dialog: Dialog) -> None:
        kinds.append(dialog.type)
        if stay:
            dialog.dismiss()
        else:
            dialog.accept()

    page.once("dialog", answer)
    with page.expect_event("dialog"):
        yield
    assert kinds == ["beforeunload"]


def test_finish_keeps_the_open_slip_and_opens_it_again_where_the_correction_is_owed(desk: EssayPage) -> None:
    comment_on(desk, "own", tag="sva", comment="third person")
    desk.finish()
    expect(desk.page.locator("#save-state")).to_contain_text("1 mark without a correction")
    expect(desk.page.locator(COMMENT)).to_have_value("third person")
    assert desk.quotes() == [("own", "SVA", [])]
    desk.page.locator("#correction-1").fill("owns")
    desk.finish()
    expect(desk.page.get_by_role("heading", name="Thank you")).to_be_visible()
    assert desk.page.evaluate("localStorage.length") == 0


def test_a_comment_without_a_kind_of_error_holds_the_slip_whatever_is_pressed(desk: EssayPage) -> None:
    comment_on(desk, "own", tag="", comment="third person")
    desk.finish()
    expect(desk.page.locator("#save-state")).to_contain_text("no kind of error yet")
    elsewheres: tuple[Callable[[], None], ...] = (
        lambda: desk.click("repeat"),
        lambda: desk.drag("question"),
        lambda: desk.page.locator("#insert-after").click(),
    )
    for elsewhere in elsewheres:
        elsewhere()
        expect(desk.page.locator(COMMENT)).to_have_value("third person")
        expect(desk.page.locator("#announce")).to_contain_text("not saved yet")
    desk.page.locator("#slip-tag").fill("sva")
    desk.click("repeat")
    expect(desk.page.locator(".entry-comment")).to_have_text("third person")


def test_a_slip_left_by_escape_has_its_words_again_when_it_is_opened_again(desk: EssayPage) -> None:
    comment_on(desk, "own", tag="sva", comment="third person")
    desk.press("Escape")
    expect(desk.page.locator("#announce")).to_contain_text("Not saved")
    desk.drag("own")
    expect(desk.page.locator(COMMENT)).to_have_value("third person")
    expect(desk.page.locator("#slip-tag")).to_have_value("sva")


def test_removing_another_mark_saves_the_open_slip(desk: EssayPage) -> None:
    desk.mark("repeat", "vt", "repeated")
    comment_on(desk, "own", tag="sva", comment="third person")
    desk.page.get_by_role("button", name="Remove Vt, repeat → repeated").click()
    expect(desk.page.locator(".entry-comment")).to_have_text("third person")
    assert desk.quotes() == [("own", "SVA", [])]


def test_an_open_slip_survives_leaving_the_page(desk: EssayPage) -> None:
    desk.mark("own", "sva", "owns")
    desk.expect_state("saved")
    desk.click("own")
    desk.page.locator(COMMENT).fill("third person")
    desk.page.goto("/jobs")
    desk.page.goto(desk.address)
    expect(desk.page.locator(COMMENT)).to_have_value("third person")
    expect(desk.page.locator("#announce")).to_contain_text("not saved yet")
    desk.page.get_by_role("button", name="Save", exact=False).first.click()
    expect(desk.page.locator(".entry")).to_have_count(1)
    expect(desk.page.locator(".entry-comment")).to_have_text("third person")
    assert desk.page.evaluate("Object.keys(localStorage).filter((name) => name.includes(':slip:')).length") == 0


def test_giving_an_essay_back_waits_for_what_is_typed(desk: EssayPage) -> None:
    comment_on(desk, "own", tag="", comment="third person")
    desk.page.evaluate("document.querySelector('form.stop').requestSubmit()")  # the slip may cover the button
    expect(desk.page.locator(COMMENT)).to_have_value("third person")


def test_an_adjudicators_open_slip_is_kept_and_leaving_asks(site: Site, chromium: Browser) -> None:
    unit_id, adjudicator = marked(site), site.person("adjudicator")
    with site.visit(chromium, adjudicator) as (page, _):
        desk = open_own_desk(page, site, adjudicator, unit_id)
        comment_on(desk, "puppy", tag="", comment="which one?")
        with asked(page):
            page.get_by_role("link", name="Work").click()
        page.get_by_role("button", name="Save the decision").click()
        expect(page.locator(COMMENT)).to_have_value("which one?")
        assert page.url.endswith(unit_id)


def test_an_adjudication_left_half_done_is_there_again(site: Site, chromium: Browser) -> None:
    unit_id, adjudicator = marked(site), site.person("adjudicator")
    with site.visit(chromium, adjudicator) as (page, _):
        desk = open_own_desk(page, site, adjudicator, unit_id)
        page.locator("#place-1 label").first.click()
        page.locator("#comment").fill("both are right")
        desk.mark("puppy", "wci", "dog")
        with asked(page, stay=False):
            page.goto("/adjudicate")
        page.goto(f"/adjudicate/{unit_id}")
        expect(page.locator("#comment")).to_have_value("both are right")
        expect(page.locator("#place-1 input").first).to_be_checked()
        expect(page.locator(".entry-words")).to_have_text("puppy → dog")
        expect(page.get_by_text("What you filled in earlier is back")).to_be_visible()


def test_a_comment_sent_after_the_session_ended_comes_back_after_the_login(site: Site, chromium: Browser) -> None:
    unit_id, adjudicator = rated(site, "error"), site.person("adjudicator")
    with site.visit(chromium, adjudicator) as (page, _):
        page.goto(f"/adjudicate/{unit_id}")
        page.get_by_label("Error", exact=False).first.check()
        page.locator("#comment").fill("see the guidelines, 3")
        with site.store.write() as tx:
            credentials.end_all_sessions(tx, adjudicator.person_id)
        page.get_by_role("button", name="Save as gold").click()
        expect(page.get_by_text("What you filled in is kept in this tab")).to_be_visible()
        site.log_in(page.context, adjudicator)
        page.goto("/jobs")
        page.get_by_role("link", name="go back to it").click()
        expect(page.locator("#comment")).to_have_value("see the guidelines, 3")
        page.get_by_role("button", name="Save as gold").click()
        page.wait_for_url("**/adjudicate")
        assert page.evaluate("sessionStorage.length") == 0


def test_instructions_looked_at_and_not_saved_are_asked_about(site: Site, chromium: Browser) -> None:
    manager, job_id = site.person("manager"), site.rating_job("error")
    with site.visit(chromium, manager) as (page, _):
        page.goto(f"/manage/jobs/{job_id}/guidelines")
        page.locator("#markdown").fill("Mark the smallest span.")
        page.get_by_role("button", name="Preview").click()
        expect(page.get_by_text("Not saved yet")).to_be_visible()
        with asked(page):
            page.get_by_role("link", name="People").click()
        expect(page.locator("#markdown")).to_have_value("Mark the smallest span.")


def test_a_message_typed_next_to_another_form_is_asked_about(site: Site, chromium: Browser) -> None:
    worker, job_id = site.person("worker"), site.rating_job("error")
    with site.visit(chromium, worker) as (page, _):
        page.goto(f"/jobs/{job_id}/talk")
        page.locator("#message").fill("the third sentence is cut off")
        page.locator("#words").fill("more pay")
        with asked(page):
            page.get_by_role("button", name="Send review").click()
        page.locator("#message").fill("")
        with page.expect_navigation():  # a question that nobody answers would hold it
            page.get_by_role("button", name="Send review").click()


def a_form(site: Site, person: Person) -> str:
    return site.lease(site.rating_job("error"), person)


def a_studio(site: Site, _: Person) -> str:
    return f"/manage/jobs/{studio_job(site)}/gold/studio"


def an_essay(site: Site, _: Person) -> str:
    return f"/adjudicate/{marked(site)}"


@pytest.mark.parametrize(
    ("address_of", "module", "keys", "effect"),
    [
        (a_form, "keys.js", "1", "input[value=error]:checked"),
        (a_studio, "press.js", "2", "input[value=ok]:checked"),
        (an_essay, "adjudicate.js", "b", "#place-1 input[value=B]:checked"),
    ],
)
def test_a_key_before_its_module(site: Site, chromium: Browser, address_of, module, keys, effect) -> None:  # type: ignore[no-untyped-def]
    person = site.person("manager")
    with site.visit(chromium, person) as (page, _):
        held: list[Route] = []
        page.route(f"**/{module}*", lambda route: held.append(route))
        with page.expect_request(f"**/{module}*"):
            page.goto(address_of(site, person), wait_until="commit")
        expect(page.get_by_role("contentinfo")).to_be_visible()
        page.keyboard.type(keys)
        expect(page.locator(effect)).to_have_count(0)
        for route in held:
            route.continue_()
        expect(page.locator(effect)).to_have_count(1)
