"""Whole essays: spans with quotes, tags, corrections; gold by planted errors."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from grater.annotate.tasks import Unit, UnitItem
from grater.annotate.tasks.marking import TASK, edits_of, planted_found
from grater.annotate.tasks.task import Answer
from grater.errors import BadInput
from grater.model import Edit, Essay, Item, Json, Span
from tests.each import for_each

TEXT = "She go 👩‍🚀 home.\r\nWe buyed bread in there."
UNIT = Unit("u", Essay("e", TEXT), (UnitItem(Item("e", Span(0, len(TEXT)), "essay")),))


def edit(words: str, tag: str = "SVA", replacements: Sequence[str] = ("x",), **more: Json) -> dict[str, Json]:
    start = TEXT.index(words)
    place: dict[str, Json] = {"start": start, "end": start + len(words), "quote": words}
    return {**place, "tag": tag, "replacements": list(replacements), **more}


def read(*edits: object, **more: list[str]) -> Answer:
    return TASK.read(UNIT, {"edits": [json.dumps(edits)], **more}, kept={})[0]


def test_edits_come_back_as_they_were_made() -> None:
    answer = read(edit("go", replacements=["goes"], comment="third person"), edit("buyed", "Vform", ["bought"]))
    first, second = edits_of(answer, rater="Ada")
    assert first == Edit(Span(4, 6), ("goes",), "SVA", "Ada", "third person")
    assert second.span.of(TEXT) == "buyed"
    assert answer.label == "marked"


def test_offsets_are_code_points_behind_an_emoji_and_a_line_end() -> None:
    start = TEXT.index("buyed")
    utf16 = len(TEXT[:start].encode("utf-16-le")) // 2
    assert utf16 == start + 2  # two characters of the emoji are beyond U+FFFF
    wrong = {**edit("buyed"), "start": utf16, "end": utf16 + 5}
    with pytest.raises(BadInput, match="edit 1: expected the quote"):
        read(wrong)


def test_spans_may_overlap_share_a_place_and_have_no_width_in_an_essay_that_is_marked_clean_or_set_aside() -> None:
    gap: dict[str, Json] = {"start": 3, "end": 3, "quote": "", "tag": "Vm", "replacements": [" can"]}
    answer = read(edit("She go"), edit("go"), edit("go", "Vt"), gap, set_aside=["on"])
    assert (answer.label, len(edits_of(answer, rater=""))) == ("set-aside", 4)
    assert read().label == TASK.read(UNIT, {"edits": [""]}, kept={})[0].label == "clean"


def test_words_to_go_are_an_empty_correction_and_three_tags_owe_none() -> None:
    assert edits_of(read(edit("in ", "Rloc", [""])), rater="")[0].replacements == ("",)
    for tag in ("Um", "Cit", "Wa"):
        assert edits_of(read(edit("go", tag, [])), rater="")[0].replacements == ()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"replacements": []}, "expected a correction for SVA"),
        ({"start": 4, "end": 4, "quote": "", "tag": "Vm", "replacements": [""]}, "expected words to insert"),
        ({"tag": "Nonsense"}, "expected a tag of nucle"),
        ({"tag": 3}, "expected a tag of nucle"),
        ({"start": -1}, "0 <= start <= end"),
        ({"end": 10_000}, "0 <= start <= end"),
        ({"start": True}, "0 <= start <= end"),
        ({"start": 6, "end": 4}, "0 <= start <= end"),
        ({"quote": "Go"}, "expected the quote 'go'"),
        ({"replacements": "goes"}, "replacements as a list"),
        ({"replacements": [1]}, "replacements as a list"),
        ({"replacements": ["x" * 2001]}, "at most 2000"),
        ({"replacements": ["\ud83d"]}, "replacements as a list"),
        ({"comment": "a\0b"}, "comment"),
        ({"comment": None}, "comment"),
    ],
)
def test_an_edit_that_does_not_hold_is_refused(change: dict[str, Json], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        read({**edit("go"), **change})


@for_each(["{}", "[1", "null", "[" * 100_000], name=len)
def test_what_is_no_list_of_edits_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="expected a JSON list"):
        TASK.read(UNIT, {"edits": [text]}, kept={})


def test_every_bad_edit_is_reported() -> None:
    with pytest.raises(BadInput) as caught:
        read({**edit("go"), "tag": "?"}, edit("home"), "no edit")
    assert [problem.message.split(":")[1].strip() for problem in caught.value.problems] == ["edit 1", "edit 3"]


def test_gold_is_right_where_half_of_the_planted_errors_are_found() -> None:
    answer = read(edit("go"), edit("bread in", "Rloc"))
    start = TEXT.index("in there")
    places = frozenset({"4-6:SVA", "21-26", f"{start}-{start + 2}:Rloc"})
    assert planted_found([answer], {answer.item_id: places}) == (2, 3)
    answer = read(edit("go"))
    for known, is_right in ((("4-6", "21-26"), True), (("4-6", "21-26", "27-32"), False), (("4-6:Vt",), False)):
        assert TASK.right([answer], {answer.item_id: frozenset(known)}) == is_right


def test_another_tag_set_can_be_named() -> None:
    unit = Unit("u", UNIT.essay, UNIT.items, payload={"tagset": "errant"})
    form = {"edits": [json.dumps([edit("go", "R:VERB:SVA")])]}
    assert TASK.read(unit, form, kept={})[0].payload["tagset"] == "errant"
    with pytest.raises(BadInput, match="expected a tag of errant"):
        TASK.read(unit, {"edits": [json.dumps([edit("go", "Wcip")])]}, kept={})
