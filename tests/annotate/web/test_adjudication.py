"""Adjudicators: what raters said side by side, the answer that counts, and a form that a decision fills again."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.annotate import adjudication, judgments
from grater.annotate.jobs import Job
from grater.annotate.tasks import TASKS, Answer, Unit
from grater.annotate.tasks.construction import CONSTRUCTIONS
from grater.annotate.units import StudyUnit
from grater.annotate.web.adjudication import MORE, decided, earlier_choices, filled_by
from grater.model import Edit, Essay, Json, Span
from grater.uncertainty import generator
from tests.annotate.tasks.units import OF, noun_unit, unit_at
from tests.annotate.web.studies import Study, hidden
from tests.annotate.web.test_jobs import TWO
from tests.annotate.web.test_work import all_of
from tests.examples import examples


def decision(study: Study, unit_id: str) -> str:
    found = study.read(adjudication.find, unit_id)
    return found.answers[0].label if found else ""


def test_adjudication_shows_raters_side_by_side_and_stores_gold(study: Study) -> None:
    all_of(study, "worker", "usage", {"label": "1", "better": "on", "confidence": "high"})
    all_of(study, "annotator", "usage", {"label": "2", "confidence": "low"})
    adjudicator = study.browser("adjudicator")
    assert "0 of 10 decided" in adjudicator.get("/adjudicate").text
    unit_id = study.units_of(study.jobs["usage"])[0]
    page = adjudicator.get(f"/adjudicate/{unit_id}").text
    assert "<td>A</td>" in page
    assert "<td>B</td>" in page
    assert "Worker" not in page  # whose answer it is should not matter
    assert "Incorrect: another is needed</span>" in page
    reply = adjudicator.post(f"/adjudicate/{unit_id}", {"label": "1", "version": "0", "confidence": "high"})
    assert reply.status_code == 422  # a better preposition is owed here too
    form = {"label": "1", "better": "upon", "confidence": "high", "version": "0", "comment": "as in the guide"}
    assert adjudicator.post(f"/adjudicate/{unit_id}", form).status_code == 200
    with study.store.read() as tx:
        decided = adjudication.find(tx, unit_id)
        assert len(judgments.table(tx, study.jobs["usage"])) == 20  # the originals stay
    assert (decided.answers[0].label, decided.answers[0].alternatives) == ("1", ("upon",))
    assert "1 of 10 decided" in adjudicator.get("/adjudicate").text


def test_a_decision_made_from_an_older_one_is_stale(study: Study) -> None:
    for who in TWO:
        all_of(study, who, "error", {"label": "error"})
    unit_id = study.units_of(study.jobs["error"])[0]
    one, other = study.browser("adjudicator"), study.browser("owner")
    assert 'value="error" data-key="1" checked' in one.get(f"/adjudicate/{unit_id}").text  # as all raters say
    assert one.post(f"/adjudicate/{unit_id}", {"label": "ok", "version": "0"}).status_code == 200
    reply = other.post(f"/adjudicate/{unit_id}", {"label": "error", "version": "0", "comment": "my reasons"})
    assert reply.status_code == 409
    assert 'value="error" data-key="1" checked' in reply.text  # what was filled in is still there
    assert "my reasons" in reply.text
    assert decision(study, unit_id) == "ok"
    form = {"label": "error", "version": hidden(reply.text, "version")}
    assert other.post(f"/adjudicate/{unit_id}", form).status_code == 200
    assert decision(study, unit_id) == "error"


def test_a_choice_is_adjudicated_by_whose_word_it_is(study: Study) -> None:
    for who in TWO:
        all_of(study, who, "choice", {"label": "equally good"})
    unit_id = study.units_of(study.jobs["choice"])[0]
    adjudicator = study.browser("adjudicator")
    page = adjudicator.get(f"/adjudicate/{unit_id}").text
    adjudicator.post(f"/adjudicate/{unit_id}", {"label": "first", "version": "0"})
    is_system_first = "zzz-suggested" in page.partition('value="first"')[2].partition("</label>")[0].lower()
    decided = study.read(adjudication.find, unit_id)
    assert decided.answers[0].label == ("system" if is_system_first else "writer")


def test_a_unit_that_is_skipped_stays_and_a_decided_one_is_found_again(study: Study) -> None:
    for who in TWO:
        all_of(study, who, "error", {"label": "ok"})
    browser, job = study.browser("adjudicator"), f"/adjudicate/jobs/{study.jobs['error']}"
    first, second = re.findall(r'href="(/adjudicate/[\w-]+)">', browser.get(job).text)[1:3]
    assert f'href="{second}">Skip' in browser.get(first).text
    browser.post(second, {"label": "error", "version": "0", "comment": "as agreed"})
    assert second in browser.get(f"{job}?show=decided").text
    assert second not in browser.get(f"{job}?show=undecided").text
    assert first in browser.get(f"{job}?show=undecided").text
    assert "as agreed" in browser.get(second).text


TEXT = "She adopted puppy. He own three chair near the sea, in summer 😀 of rain."
WORDS = ("adopted puppy", "puppy", "own", "three chair", "chair", "near", "in summer", "of")


def edit(words: str, correction: str = "x", tag: str = "Others") -> Edit:
    start = TEXT.index(words)
    return Edit(Span(start, start + len(words)), (correction,), tag, "")


EDITS = st.builds(edit, st.sampled_from(WORDS), st.sampled_from(["x", "y"]), st.sampled_from(["Others", "Mec"]))
SOME = st.lists(EDITS, max_size=4, unique=True).map(tuple)


def table(*by_rater: tuple[Edit, ...], gold: tuple[Edit, ...] | None = None) -> adjudication.EssayTable:
    earlier = None
    if gold is not None:
        sent: list[Json] = [sent_by_page(each) for each in gold]
        earlier = adjudication.Adjudication("u", 1, "p", (Answer("i", "marked", payload={"edits": sent}),), "", 0)
    pairs = zip("AB", by_rater, strict=True)
    theirs = {letter: tuple(replace(each, rater=letter) for each in edits) for letter, edits in pairs}
    return adjudication.EssayTable(study_unit("marking", Unit("u", Essay("e", TEXT), ())), theirs, (), earlier)


def sent_by_page(each: Edit) -> dict[str, Json]:
    span: dict[str, Json] = {"start": each.span.start, "end": each.span.end, "quote": each.span.of(TEXT)}
    return {**span, "tag": each.tag, "replacements": list(each.replacements), "comment": each.comment}


def contents(edits: tuple[Edit, ...]) -> set[tuple[Span, tuple[str, ...], str]]:
    return {(each.span, each.replacements, each.tag) for each in edits}


@examples(150)
@given(SOME, SOME, SOME)
def test_an_earlier_decision_fills_the_form_so_that_it_decides_the_same(
    first: tuple[Edit, ...], second: tuple[Edit, ...], gold: tuple[Edit, ...]
) -> None:
    """Whatever was decided, also what no annotator said and several edits at one place."""
    before = table(first, second, gold=gold)
    assert contents(decided(before, earlier_choices(before))) == contents(gold)


def test_what_nobody_marked_is_added_and_what_was_chosen_already_is_there_once() -> None:
    here = table((edit("own", "owns", "SVA"),), ())
    (place,) = here.places
    own = [edit("of", "during"), edit("own", "owns", "SVA")]
    filled = {f"choice {place.name}": "A", MORE: json.dumps([sent_by_page(each) for each in own])}
    assert [each.span.of(TEXT) for each in decided(here, filled)] == ["own", "of"]


SUGGESTED = unit_at(OF, payload={"suggestion": "on"})
FORMS: list[tuple[str, Unit, dict[str, list[str]]]] = [
    ("usage", SUGGESTED, {"label": ["0"], "confidence": ["low"], "flags": ["spelling", "grammar"]}),
    ("usage", SUGGESTED, {"label": ["1"], "better": ["on, upon"], "confidence": ["high"]}),
    ("usage", SUGGESTED, {"label": ["e"], "others": ["on"], "confidence": ["high"], "flags": []}),
    ("cloze", SUGGESTED, {"label": ["on"]}),
    ("error", SUGGESTED, {"label": ["unknown"]}),
    ("verify", SUGGESTED, {"label": ["both bad"]}),
    ("construction", noun_unit("no-context"), {name: ["no" if "the" in name else "yes"] for name in CONSTRUCTIONS}),
]


def study_unit(task: str, unit: Unit) -> StudyUnit:
    return StudyUnit(unit, Job("j", "j", task, "", 2, "pool", "open", 1), "work", 0, False, None, 0, 2)


@pytest.mark.parametrize(("task", "unit", "form"), FORMS)
def test_a_decision_fills_the_form_that_gives_it(task: str, unit: Unit, form: dict[str, list[str]]) -> None:
    shown = TASKS[task].show(unit, rng=generator(0, "page"))
    answers = TASKS[task].read(unit, form, kept=shown.kept)
    filled = filled_by(study_unit(task, unit), shown, [], answers)
    assert filled["label" if "label" in form else CONSTRUCTIONS[0]]
    assert TASKS[task].read(unit, filled, kept=shown.kept) == answers


def test_a_decision_that_the_form_could_not_give_leaves_it_empty_and_sides_are_not_guessed() -> None:
    item_id = SUGGESTED.items[0].item.item_id
    for task, answers in (
        ("error", [Answer(item_id, "no such label")]),
        ("error", [Answer(item_id, "error", flags=("odd",))]),
        ("error", [Answer("x", "ok")] * 2),
        ("choice", [Answer(item_id, "writer")]),
    ):
        shown = TASKS[task].show(SUGGESTED, rng=generator(0, "page"))
        assert filled_by(study_unit(task, SUGGESTED), shown, [], answers) == {}
