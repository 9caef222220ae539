"""Adjudicating in Chromium, with mouse and keyboard, wide and narrow, with script and without.

Items of every form task on the task's own form; essays place by place: one side, the other, nothing, something else,
and what nobody marked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import pytest
from playwright.sync_api import Browser, Page, expect

from grater.annotate import adjudication
from grater.annotate.people import Person
from grater.annotate.tasks.construction import CONSTRUCTIONS
from grater.annotate.tasks.marking import edits_of
from grater.model import Json
from tests.browser.essay_page import open_own_desk
from tests.browser.form_page import PHONE, WAYS, answer, tab_to
from tests.browser.site import Site, live_site

TASKS = {
    "usage": ({"label": ["1"], "better": ["at"], "confidence": ["high"]}, {"label": ["2"], "confidence": ["low"]}),
    "cloze": ({"label": ["at"]}, {"label": ["on"]}),
    "choice": ({"label": ["first"]}, {"label": ["second"]}),
    "error": ({"label": ["error"]}, {"label": ["ok"]}),
    "construction": ({name: ["yes"] for name in CONSTRUCTIONS}, {name: ["no"] for name in CONSTRUCTIONS}),
    "verify": ({"label": ["both fine"]}, {"label": ["both bad"]}),
}
"""What two raters say of the same unit."""
TEXT = "She adopted puppy. He own three chair near the sea, in <b>summer</b>."
FIRST = (("puppy", "a puppy", "ArtOrDet"), ("own", "owns", "SVA"), ("chair", "chairs", "Nn"))
SECOND = (("adopted", "adopted a", "ArtOrDet"), ("own", "owned", "Vt"), ("near", "by", "Wcip"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A study of our own: the Tab key passes everything that waits for a decision, whoever left it there."""
    with live_site(tmp_path_factory.mktemp("adjudication")) as running:
        yield running


def rated(site: Site, task: str) -> str:
    """A unit of a form task about which two raters differ."""
    job_id = site.rating_job(task, n_units=1)
    (unit_id,) = {site.answer(job_id, site.person("worker"), fields)[1].unit_id for fields in TASKS[task]}
    return unit_id


@pytest.mark.parametrize(
    "way", [pytest.param(way, marks=() if WAYS[way][2] else pytest.mark.slow) for way in WAYS]
)  # without script the same forms are filled in by raters (`test_ratings`)
def test_a_whole_session_over_items_of_every_task(site: Site, chromium: Browser, way: str) -> None:
    hand, size, has_script = WAYS[way]
    by_task = {task: rated(site, task) for task in TASKS}
    with site.visit(chromium, site.person("adjudicator"), viewport=size, java_script_enabled=has_script) as (page, _):
        page.goto("/adjudicate")
        for unit_id in by_task.values():
            follow(page, hand, f"/adjudicate/{unit_id}")
            assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
            assert page.locator("tbody tr").count() >= 2, "both raters are on the page"
            answer(page, hand, has_script=has_script, button="Save as gold")
            assert page.url.endswith("/adjudicate")
            assert page.locator(f'a[href="/adjudicate/{unit_id}"]').count() == 0, "a decided unit no longer waits"
        page.goto(f"/adjudicate/{by_task['usage']}")
        checked = page.locator("input:checked").evaluate_all("inputs => inputs.map((input) => input.value)")
        assert checked == ["0", "low"], "the earlier decision is filled in"
    found = {task: labels_of(site, unit_id) for task, unit_id in by_task.items()}
    assert found.pop("choice") < {"writer", "system"}, "whose word the first one was is for the server to know"
    assert found == {
        "usage": {"0"}, "cloze": {"with"}, "error": {"error"}, "construction": {"yes"},
        "verify": {"suggestion better"},
    }  # fmt: skip


def follow(page: Page, hand: str, href: str) -> None:
    with page.expect_navigation():
        if hand == "mouse":
            page.locator(f'a[href="{href}"]').click()
        else:
            tab_to(page, lambda focus: focus["href"] == href)
            page.keyboard.press("Enter")


def labels_of(site: Site, unit_id: str) -> set[str]:
    return {each.label for each in decision_of(site, unit_id).answers}


def decision_of(site: Site, unit_id: str) -> adjudication.Adjudication:
    with site.store.read() as tx:
        decision = adjudication.find(tx, unit_id)
    assert decision is not None
    return decision


def marked(
    site: Site,
    text: str = TEXT,
    *,
    comment: str = "<i>as I see it</i>",
    said: Sequence[Sequence[tuple[str, str, str]]] = (FIRST, SECOND),
    annotators: Sequence[Person] = (),
) -> str:
    """An essay that two annotators have marked; gives its unit."""
    job_id = site.marking_job(text, judgments=2)
    for person, marks in zip(annotators or (site.person(), site.person()), said, strict=True):
        edits = [edit(text, *mark, comment=comment) for mark in marks]
        _, unit = site.answer(job_id, person, {"edits": [json.dumps(edits)]})
    return unit.unit_id


def edit(text: str, words: str, correction: str, tag: str, *, comment: str = "") -> dict[str, Json]:
    start = text.index(words)
    span: dict[str, Json] = {"start": start, "end": start + len(words), "quote": words}
    return {**span, "tag": tag, "replacements": [correction], "comment": comment}


def decide_with_mouse(page: Page) -> None:
    page.locator("#place-1").get_by_text("Nn", exact=True).click()
    page.locator("#place-2").get_by_text("nothing wrong here").click()
    page.locator("#place-3").get_by_text("Something else").click()
    page.locator("#place-3").get_by_label("Kind of error").select_option("SVA")
    page.locator("#place-3").get_by_label("Correction").fill("has")
    page.get_by_role("button", name="Save the decision").click()


def decide_with_keyboard(page: Page) -> None:
    """Every radio group is one stop of the Tab key; arrows choose in it."""

    def to(selector: str) -> None:
        tab_to(page, lambda _: page.evaluate("(it) => document.activeElement.matches(it)", selector))

    for place in (1, 2, 3):
        to(f"#place-{place} input[type=radio]")
        page.keyboard.press("Space")
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    to("#place-3 select[name^=tag]")
    page.keyboard.type("SVA")
    to("#place-3 input[name^=correction]")
    page.keyboard.type("has")
    to("#decision button.primary")
    page.keyboard.press("Enter")


def decide_with_letters(page: Page) -> None:
    """The letter of an annotator, `n` or `e` decides a place, and the next open one comes."""
    expect(page.locator("#place-1 .passage")).to_contain_text("He own three chair near the sea")
    page.keyboard.type("bbb")
    page.keyboard.press("Shift+A")
    assert page.locator(".place input:checked").evaluate_all("all => all.map((one) => one.value)") == ["A"] * 4
    page.keyboard.type("jjje")
    page.keyboard.press("Tab")
    page.keyboard.type("SVA")
    page.keyboard.press("Tab")
    page.keyboard.type("has")
    page.keyboard.press("Control+Enter")


WITHOUT_SCRIPT = {"viewport": PHONE, "java_script_enabled": False}


@pytest.mark.parametrize(
    ("decide", "options"),
    [
        (decide_with_mouse, {"viewport": PHONE}),
        (decide_with_mouse, WITHOUT_SCRIPT),
        (decide_with_keyboard, {}),
        (decide_with_keyboard, WITHOUT_SCRIPT),
        (decide_with_letters, {}),
        (decide_with_letters, {"viewport": PHONE}),
    ],
)
def test_an_essay_is_adjudicated(site: Site, chromium: Browser, decide, options) -> None:  # type: ignore[no-untyped-def]
    unit_id = marked(site)
    with site.visit(chromium, site.person("adjudicator"), **options) as (page, _):
        page.goto(f"/adjudicate/{unit_id}")
        width = options.get("viewport", {"width": 1280})["width"]
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        legends = page.locator(".place legend").all_inner_texts()
        assert [words.split(" ", 1)[1] for words in legends] == [
            "Is there an error?", "Is there an error?", "What kind of error?", "All agree",
        ]  # fmt: skip
        decide(page)
        page.wait_for_url("**/adjudicate")
    gold = gold_of(site, unit_id)
    assert [edit for edit in gold if edit[0] != "near"] == [
        ("puppy", ("a puppy",), "ArtOrDet"), ("own", ("has",), "SVA"), ("chair", ("chairs",), "Nn"),
    ]  # fmt: skip


def test_eighteen_places_fill_two_screens_and_every_card_holds_its_text(site: Site, chromium: Browser) -> None:
    """Beside a long word and a long correction; at first eighteen places took 9.6 screens."""
    words = ["Unfortunately", "incomprehensibility-of-everything", *(f"people{n}" for n in range(10, 26))]
    text = "".join(f"In the long run the {word} of this town hope that it will become better. " for word in words)
    said = [[(word, f"{word} indeed", "Mec") for word in words], [(word, word[1:], "Wcip") for word in words]]
    unit_id = marked(site, text, comment="", said=said)
    with site.visit(chromium, site.person("adjudicator"), viewport={"width": 1280, "height": 800}) as (page, _):
        page.goto(f"/adjudicate/{unit_id}")
        assert page.locator(".place").count() == 18
        assert page.evaluate("document.documentElement.scrollHeight") < 2 * 800
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") == width
            cards = page.locator(".sides .choice > span, .side-says").evaluate_all(
                "all => all.map((it) => [it.scrollWidth - it.clientWidth, it.scrollHeight - it.clientHeight])"
            )
            assert max(map(max, cards)) <= 0


def test_a_comment_by_key_reaches_the_annotator_who_reads_it_under_their_mark(site: Site, chromium: Browser) -> None:
    annotator, other = site.person(), site.person()
    unit_id = marked(site, annotators=(annotator, other))
    with site.visit(chromium, site.person("adjudicator")) as (page, complaints):
        complaints.allow.append("422")
        page.goto(f"/adjudicate/{unit_id}")
        page.keyboard.press("m")
        page.keyboard.type("plural after three")
        page.keyboard.press("Control+Enter")
        expect(page.get_by_role("alert")).to_contain_text("not decided yet")
        page.keyboard.press("Shift+A")
        page.keyboard.press("Control+Enter")
        page.wait_for_url("**/adjudicate")
    for who, n in ((annotator, 1), (other, 0)):
        with site.visit(chromium, who) as (page, _):
            page.goto("/jobs")
            page.get_by_role("link", name="1 essay that you handed in").click()
            page.get_by_role("link", name="She adopted puppy").click()
            expect(page.get_by_text("Adjudicator: plural after three")).to_have_count(n)
            expect(page.get_by_role("button", name="Reopen this essay")).to_have_count(0)


def gold_of(site: Site, unit_id: str) -> list[tuple[str, tuple[str, ...], str]]:
    edits = edits_of(decision_of(site, unit_id).answers[0], rater="gold")
    return [(edit.span.of(TEXT), edit.replacements, edit.tag) for edit in edits]


def test_what_nobody_marked_is_marked_in_the_essay_and_comes_back(site: Site, chromium: Browser) -> None:
    unit_id = marked(site)
    adjudicator = site.person("adjudicator")
    with site.visit(chromium, adjudicator) as (page, _):
        desk = open_own_desk(page, site, adjudicator, unit_id)
        desk.mark("in ", "wcip", "during")
        desk.drag("three")
        page.keyboard.type("mec")
        desk.press("Tab", "Enter")  # no correction: it is owed
        decide_with_mouse(page)
        expect(page.locator("#slip-tag")).to_have_value("Mec")
        desk.press("Tab")
        page.keyboard.type("3")
        desk.press("Enter")
        page.get_by_role("button", name="Save the decision").click()
        page.wait_for_url("**/adjudicate")
        everything = [
            ("puppy", ("a puppy",), "ArtOrDet"), ("own", ("has",), "SVA"), ("three", ("3",), "Mec"),
            ("chair", ("chairs",), "Nn"), ("in", ("during",), "Wcip"),
        ]  # fmt: skip
        assert gold_of(site, unit_id) == everything
        page.goto(desk.address)
        expect(page.locator("#whole")).to_have_attribute("open", "")
        expect(page.locator(".entry-code")).to_have_text(["Mec", "Wcip"])
        page.locator(".entry .remove").first.click()
        page.get_by_role("button", name="Save the decision").click()
        page.wait_for_url("**/adjudicate")
        assert gold_of(site, unit_id) == [each for each in everything if each[2] != "Mec"]


def test_marks_of_ones_own_survive_a_decision_without_script(site: Site, chromium: Browser) -> None:
    unit_id = marked(site)
    own = edit(TEXT, "in", "during", "Wcip")
    for has_script in (True, False):
        with site.visit(chromium, site.person("adjudicator"), java_script_enabled=has_script) as (page, _):
            page.goto(f"/adjudicate/{unit_id}")
            if has_script:
                page.locator("#more").evaluate("(field, own) => { field.value = JSON.stringify([own]); }", own)
                decide_with_mouse(page)
            else:
                page.get_by_text("The whole essay").click()
                expect(page.locator("#whole li")).to_contain_text("during")
                page.get_by_role("button", name="Save the decision").click()
            page.wait_for_url("**/adjudicate")
        assert ("in", ("during",), "Wcip") in gold_of(site, unit_id)
