"""Nothing is lost on the marking page: no network, two tabs, reload, back button, an ended session."""

from __future__ import annotations

import pytest
from playwright.sync_api import Route, expect

from grater.annotate import credentials
from tests.browser.essay_page import EssayPage
from tests.browser.site import Site

TEXT = "He repeat the question again. 😀 She own a bakery."


@pytest.fixture
def desk(desk: EssayPage) -> EssayPage:
    desk.complaints.allow.append("Failed to load resource")
    return desk


def test_marks_made_off_line_are_kept_and_saved_when_the_network_is_back(desk: EssayPage) -> None:
    desk.page.context.set_offline(True)
    desk.mark("repeat", "sva", "repeats")
    desk.expect_state("offline")
    kept = desk.page.evaluate("Object.keys(localStorage).filter((name) => name.includes(':draft:')).length")
    assert kept == 1
    desk.mark("own", "sva", "owns")
    desk.page.context.set_offline(False)
    assert desk.quotes() == [("repeat", "SVA", ["repeats"]), ("own", "SVA", ["owns"])]
    assert desk.page.evaluate("Object.keys(localStorage).filter((name) => !name.includes(':seen:'))") == []


def test_what_the_browser_kept_is_taken_up_again_after_a_reload(desk: EssayPage) -> None:
    desk.page.route("**/draft", lambda route: route.abort())
    desk.mark("own", "sva", "owns")
    desk.expect_state("offline")
    desk.page.unroute("**/draft")
    desk.page.reload()
    assert desk.quotes() == [("own", "SVA", ["owns"])]
    expect(desk.page.locator(".entry")).to_have_count(1)


def test_a_finished_essay_off_line_waits_and_is_sent_once(desk: EssayPage) -> None:
    desk.mark("own", "sva", "owns")
    desk.expect_state("saved")
    desk.page.context.set_offline(True)
    desk.finish()
    desk.expect_state("unsent")
    assert desk.page.locator("#essay").evaluate("essay => essay.inert"), "a mark made now would be lost"
    desk.page.context.set_offline(False)
    assert desk.handed_in()
    assert desk.page.evaluate("Object.keys(localStorage).filter((name) => !name.includes(':seen:'))") == []


def test_an_answer_whose_receipt_was_lost_counts_once(desk: EssayPage) -> None:
    desk.mark("own", "sva", "owns")
    desk.expect_state("saved")
    lost: list[int] = []

    def lose_the_first(route: Route) -> None:
        if route.request.method == "POST" and not lost:
            lost.append(route.fetch(max_redirects=0).status)  # it arrives, and the answer does not
            route.abort()
        else:
            route.continue_()

    desk.page.route(f"**{desk.address}", lose_the_first)
    desk.finish()
    assert desk.handed_in()
    assert lost == [303]


def test_an_answer_that_the_server_refuses_leaves_the_essay_open_and_saving(desk: EssayPage) -> None:
    desk.mark("own", "sva", "owns")
    desk.expect_state("saved")
    refusal = "<main><p>this is not the essay</p></main>"
    desk.page.route(
        f"**{desk.address}", lambda route: route.fulfill(status=422, content_type="text/html", body=refusal)
    )
    desk.finish()
    expect(desk.page.locator("#save-state")).to_contain_text("this is not the essay")
    desk.mark("repeat", "sva", "repeats")
    assert [tag for _, tag, _ in desk.quotes()] == ["SVA", "SVA"]


def mark_on_both(desk: EssayPage, other: EssayPage, words: str = "own") -> None:
    """The other tab saves a mark; the one made here then comes too late."""
    desk.complaints.allow.append("409")
    other.mark("own", "sva", "owns")
    assert other.quotes() == [("own", "SVA", ["owns"])]
    desk.page.bring_to_front()
    desk.mark(words, "vt", "repeated")


def test_marks_of_two_tabs_are_put_together(desk: EssayPage) -> None:
    with desk.second_tab() as other:
        mark_on_both(desk, other, "repeat")
        assert desk.quotes() == [("repeat", "Vt", ["repeated"]), ("own", "SVA", ["owns"])]
        expect(desk.page.locator("#stale")).to_be_hidden()


def test_an_essay_is_there_after_a_reload_without_a_network(desk: EssayPage) -> None:
    desk.complaints.allow.append("ERR_INTERNET_DISCONNECTED")
    desk.mark("own", "sva", "owns")
    desk.expect_state("saved")
    kept = "async () => (await (await caches.open('essays')).keys()).some((one) => one.url.includes('/leases/'))"
    desk.page.wait_for_function(kept)
    desk.page.context.set_offline(True)
    desk.page.reload()
    expect(desk.page.locator(".entry-code")).to_have_text("SVA")
    desk.mark("repeat", "vt", "repeated")
    desk.expect_state("offline")
    desk.page.context.set_offline(False)
    assert desk.quotes() == [("repeat", "Vt", ["repeated"]), ("own", "SVA", ["owns"])]


def test_the_older_of_two_tabs_is_asked_and_may_keep_its_own(desk: EssayPage) -> None:
    with desk.second_tab() as other:
        mark_on_both(desk, other)
        expect(desk.page.get_by_role("heading", name="saved somewhere else")).to_be_visible()
        expect(desk.page.locator("#stale-differences")).to_have_text(
            "Here: own → repeated (Vt). There: own → owns (SVA)."
        )
        desk.press("Escape")
        expect(desk.page.locator("#stale")).to_be_visible()
        assert tags(other) == ["SVA"], "nothing is overwritten before the choice"
        desk.page.get_by_role("button", name="Keep the version here").click()
        assert desk.quotes() == [("own", "Vt", ["repeated"])]


def test_the_other_version_can_be_taken_and_undo_brings_mine_back(desk: EssayPage) -> None:
    with desk.second_tab() as other:
        mark_on_both(desk, other)
        desk.page.get_by_role("button", name="Use the other version").click()
        expect(desk.page.locator(".entry-code")).to_have_text("SVA")
        assert tags(desk) == ["SVA"]
        desk.page.locator("#undo").click()
        assert desk.quotes() == [("own", "Vt", ["repeated"])]


def test_an_essay_is_reopened_left_and_revised_later(desk: EssayPage, site: Site) -> None:
    page = desk.page
    desk.mark("own", "sva", "owns")
    page.get_by_role("button", name="Finish essay").click()
    page.get_by_role("link", name="See all that you handed in").click()
    page.locator("main td a").click()
    page.get_by_role("button", name="Reopen this essay").click()
    expect(page.locator(".entry-code")).to_have_text("SVA")
    desk.mark("repeat", "vt", "repeated")
    page.get_by_role("button", name="Stop for now").click()  # at once: what is not saved yet goes along
    page.get_by_role("button", name="Reopen this essay").click()
    expect(page.locator(".entry-code")).to_have_text(["Vt", "SVA"])
    page.get_by_role("button", name="Finish essay").click()
    expect(page.get_by_text("version 2")).to_be_visible()
    (answer,) = site.handed_in(desk.job_id)
    assert [each["tag"] for each in answer.payload["edits"]] == ["Vt", "SVA"]  # type: ignore[union-attr, index, call-overload]


def test_an_ended_session_keeps_the_marks_in_the_browser(desk: EssayPage, site: Site) -> None:
    with site.store.write() as tx:
        credentials.end_all_sessions(tx, desk.person.person_id)
    desk.mark("own", "sva", "owns")
    desk.expect_state("signed-out")
    assert desk.page.evaluate("localStorage.length") == 1


def tags(desk: EssayPage) -> list[str]:
    return [tag for *_, tag, _ in desk.stored()]
