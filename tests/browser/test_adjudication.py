"""Adjudicating an essay in Chromium: one side, the other, nothing, something else; with mouse and keyboard."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Browser, Page, expect

from grater.server.work import desk_of, hand_in
from grater.store import adjudications, leases
from grater.tasks.marking import edits_of
from tests.browser.chromium import watched
from tests.browser.site import Site

TEXT = "She adopted puppy. He own three chair near the sea, in <b>summer</b>."
FIRST = (("puppy", "a puppy", "ArtOrDet"), ("own", "owns", "SVA"), ("chair", "chairs", "Nn"))
SECOND = (("adopted", "adopted a", "ArtOrDet"), ("own", "owned", "Vt"), ("near", "by", "Wcip"))


def marked(site: Site, text: str = TEXT, *, comment: str = "<i>as I see it</i>") -> str:
    """An essay that two annotators have marked; gives its unit."""
    job_id = site.marking_job(text, judgments=2)
    unit_id = ""
    for marks in (FIRST, SECOND):
        person = site.person()
        lease_id = site.lease(job_id, person).rpartition("/")[2]
        with site.store.read() as tx:
            desk = desk_of(tx, lease_id, person_id=person.person_id)
            lease = leases.find(tx, lease_id, person_id=person.person_id)
        edits = [
            {"start": text.index(words), "end": text.index(words) + len(words), "quote": words, "tag": tag,
             "replacements": [correction], "comment": comment}
            for words, correction, tag in marks
        ]  # fmt: skip
        hand_in(site.store, desk, {"edits": [json.dumps(edits)]}, seconds=1)
        assert lease is not None
        unit_id = lease.unit_id
    return unit_id


def decide_with_mouse(page: Page) -> None:
    page.locator("#place-1").get_by_text("Nn", exact=True).click()
    page.locator("#place-2").get_by_text("nothing wrong here").click()
    page.locator("#place-3").get_by_text("Something else").click()
    page.locator("#place-3").get_by_label("Kind of error").select_option("SVA")
    page.locator("#place-3").get_by_label("Correction").fill("has")
    page.get_by_role("button", name="Store the decision").click()


def decide_with_keyboard(page: Page) -> None:
    """Every radio group is one stop of the Tab key; arrows choose in it."""

    def tab_to(selector: str) -> None:
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
                return
        raise AssertionError(f"{selector} cannot be reached with the Tab key")

    tab_to("#place-1 input[type=radio]")
    page.keyboard.press("Space")
    tab_to("#place-2 input[type=radio]")
    page.keyboard.press("Space")
    tab_to("#place-3 input[type=radio]")
    page.keyboard.press("Space")
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    tab_to("#place-3 select[name^=tag]")
    page.keyboard.type("SVA")
    tab_to("#place-3 input[name^=correction]")
    page.keyboard.type("has")
    tab_to("form[action^='/adjudicate'] button")
    page.keyboard.press("Enter")


@pytest.mark.parametrize("decide", [decide_with_mouse, decide_with_keyboard])
@pytest.mark.parametrize("options", [{}, {"viewport": {"width": 360, "height": 740}}], ids=["desktop", "phone"])
def test_an_essay_is_adjudicated(site: Site, chromium: Browser, decide, options) -> None:  # type: ignore[no-untyped-def]
    unit_id = marked(site)
    context = site.context(chromium, site.person("adjudicator"), **options)
    with watched(context) as (page, _):
        page.goto(f"/adjudicate/{unit_id}")
        width = options.get("viewport", {"width": 1280})["width"]
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        legends = page.locator(".place legend").all_inner_texts()
        assert [words.split(" ", 1)[1] for words in legends] == [
            "Is there an error?", "Is there an error?", "What kind of error?", "All say the same",
        ]  # fmt: skip
        decide(page)
        page.wait_for_url("**/adjudicate")
    context.close()
    gold = gold_of(site, unit_id)
    assert [edit for edit in gold if edit[0] != "near"] == [
        ("puppy", ("a puppy",), "ArtOrDet"), ("own", ("has",), "SVA"), ("chair", ("chairs",), "Nn"),
    ]  # fmt: skip


def gold_of(site: Site, unit_id: str) -> list[tuple[str, tuple[str, ...], str]]:
    with site.store.read() as tx:
        decision = adjudications.find(tx, unit_id)
    assert decision is not None
    return [(edit.span.of(TEXT), edit.replacements, edit.tag) for edit in edits_of(decision.answers[0], rater="gold")]


def test_a_place_without_a_decision_is_named_and_nothing_is_forgotten(site: Site, chromium: Browser) -> None:
    unit_id = marked(site)
    context = site.context(chromium, site.person("adjudicator"), java_script_enabled=False)
    with watched(context) as (page, complaints):
        complaints.allow.append("422")
        page.goto(f"/adjudicate/{unit_id}")
        page.locator("#place-1 label").nth(0).click()
        page.locator("#place-3 label").nth(1).click()
        page.get_by_role("button", name="Store the decision").click()
        expect(page.get_by_role("alert")).to_contain_text("no decision yet for: 2")
        expect(page.locator("#place-3 input[value=B]")).to_be_checked()
        page.locator("#place-2 label").nth(1).click()
        page.get_by_role("button", name="Store the decision").click()
        page.wait_for_url("**/adjudicate")
        page.goto(f"/adjudicate/{unit_id}")
        checked = page.locator(".place input[type=radio]:checked").evaluate_all("nodes => nodes.map((n) => n.value)")
        assert len(checked) == 4, "the earlier decision is filled in"
    context.close()
    assert len(gold_of(site, unit_id)) == 4
