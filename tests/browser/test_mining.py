"""Mined suspects in Chromium: one key each, undo by key; and by buttons without JavaScript on a phone."""

from __future__ import annotations

from itertools import count as numbers

from playwright.sync_api import Browser, expect

from grater.annotate import content
from grater.annotate.mining import NewList, all_of, mine_study
from grater.model import Essay
from tests.annotate.study.mined_lists import MORE, TEXT, count
from tests.browser.site import Site

NUMBER = numbers(1)


def mined_list(site: Site) -> str:
    """The id of a new list of three suspects."""
    number = next(NUMBER)
    with site.store.write() as tx:
        content.add_essays(tx, [Essay(f"mined-{number}", TEXT), Essay(f"mined-more-{number}", MORE)])
    return mine_study(site.store, NewList(name=f"Extraneous {number}", most=3), count, source="our own text").job_id


def verdicts(site: Site, job_id: str) -> list[tuple[str, int]]:
    """The verdict on every suspect, and how often somebody decided."""
    with site.store.read() as tx:
        return [(each.verdict, each.version) for each in all_of(tx, job_id)]


def test_a_list_is_gone_through_by_keys_alone(site: Site, chromium: Browser) -> None:
    job_id = mined_list(site)
    with site.visit(chromium, site.person("adjudicator")) as (page, _):
        page.goto(f"/mining/{job_id}/1")
        expect(page.get_by_role("heading", level=1)).to_have_text("discussed about the")
        page.keyboard.press("y")
        expect(page.get_by_text("discussed about the: accepted")).to_be_visible()
        page.keyboard.press("u")
        expect(page.get_by_role("heading", level=1)).to_have_text("discussed about the")
        assert verdicts(site, job_id)[0] == ("", 2)
        page.keyboard.press("s")
        expect(page.get_by_role("heading", level=1)).to_have_text("marry with her")
        page.keyboard.press("n")
        expect(page.get_by_role("heading", level=1)).to_have_text("entered into the")
        page.keyboard.press("y")
        expect(page.get_by_role("heading", level=1)).to_have_text("discussed about the")
        page.keyboard.press("n")
        expect(page.get_by_text("3 of 3 decided")).to_be_visible()
    assert verdicts(site, job_id) == [("n", 3), ("n", 1), ("y", 1)]


def test_buttons_do_the_same_without_script_on_a_phone(site: Site, chromium: Browser) -> None:
    job_id = mined_list(site)
    person = site.person("manager")
    with site.visit(chromium, person, viewport={"width": 360, "height": 720}, java_script_enabled=False) as (page, _):
        page.goto(f"/mining/{job_id}")
        page.get_by_role("link", name="Start").click()
        page.get_by_role("button", name="Yes, an error").click()
        page.get_by_role("button", name="Undo").click()
        page.get_by_role("button", name="No", exact=True).click()
        page.goto(f"/mining/{job_id}/1")
        expect(page.get_by_text(f"Rejected by {person.name}")).to_be_visible()
        page.get_by_role("button", name="Undo verdict").click()
        expect(page.get_by_text("0 of 3 decided")).to_be_visible()
    assert verdicts(site, job_id)[0] == ("", 4)
