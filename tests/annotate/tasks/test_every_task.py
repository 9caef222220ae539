"""What holds for every task that is registered."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.annotate.tasks import TASKS, Unit, UnitItem
from grater.annotate.tasks.task import ERROR, OK, UNKNOWN, Field, Shown, Task, source_of
from grater.annotate.web.rendering import as_html
from grater.errors import BadInput
from grater.model import Essay, Item, Json, Span
from tests.annotate.tasks.units import OF, TEXT, filled, rng, unit_at, unit_for
from tests.examples import examples

ALL = [TASKS[name] for name in TASKS]
SHOW_MORE = ("choice", "verify", "construction", "marking", "rank", "fate", "remaining")
"""Tasks that are about a system's word, or about more than one item."""
BLIND = [task for task in ALL if task.name not in SHOW_MORE]
"""Tasks of one item that must not show what a system said (P10)."""
FROM_PAPERS = ("choice", "cloze", "construction", "error", "marking", "usage", "verify")


def everything(shown: Shown) -> str:
    """All the text that a page can make of what is shown."""
    return " ".join([shown.before, *(piece.text for piece in shown.pieces), shown.after, repr(shown.fields)])


@pytest.mark.parametrize("task", ALL, ids=lambda task: task.name)
def test_a_filled_form_gives_an_answer_for_each_item_with_a_label_and_verdict_of_the_task(task: Task) -> None:
    unit = unit_for(task.name)
    shown = task.show(unit, rng=rng())
    answers = task.read(unit, filled(task), kept=shown.kept)
    assert sorted(answer.item_id for answer in answers) == sorted(each.item.item_id for each in unit.items)
    assert all(not task.labels or answer.label in task.labels for answer in answers)
    if task.verdict is not None:
        assert set(task.verdict) == set(task.labels)
        assert set(task.verdict.values()) <= {ERROR, OK, UNKNOWN}
    assert all(str(value) not in everything(shown) for value in shown.kept.values()), "what the server remembers"


@pytest.mark.parametrize("task", [task for task in ALL if task.name != "marking"], ids=lambda task: task.name)
def test_an_empty_form_and_an_answer_that_nobody_offered_are_refused_and_the_field_is_named(task: Task) -> None:
    unit = unit_for(task.name)
    shown = task.show(unit, rng=rng())
    name = next(field.name for field in shown.fields if field.required)
    with pytest.raises(BadInput, match=f"form: {name}: expected an answer"):
        task.read(unit, {}, kept=shown.kept)
    with pytest.raises(BadInput, match=name):
        task.read(unit, {**filled(task), name: ["<script>"]}, kept=shown.kept)


@pytest.mark.parametrize("task", BLIND, ids=lambda task: task.name)
def test_a_blind_page_is_the_same_whatever_a_system_decided(task: Task) -> None:
    payload: dict[str, Json] = {"suggestion": "on", "flagged": True, "stratum": "error", "score": 0.97}
    assert task.show(unit_at(OF, payload=payload), rng=rng()) == task.show(unit_at(OF), rng=rng())


@pytest.mark.parametrize("name", ["cloze", "choice", "construction"])
@examples(40)
@given(word=st.text(alphabet="qxzjkQXZJK", min_size=3, max_size=12), sentence=st.sampled_from(["a {} b.", "{} a b."]))
def test_the_writers_word_never_reaches_a_page_that_hides_it(name: str, word: str, sentence: str) -> None:
    text = f"Nothing here. {sentence.format(word)} More of it."
    start = text.index(word)
    items = tuple(
        UnitItem(Item("e", Span(start, start + len(word)), each.item.kind), each.payload)
        for each in unit_for(name).items
    )
    shown = TASKS[name].show(Unit("u", Essay("e", text), items, "in-context"), rng=rng())
    pieces = "".join(piece.text for piece in shown.pieces)
    assert word not in pieces + shown.before + shown.after
    if name != "choice":  # there it stands among the choices, without a word on whose it is
        assert word not in everything(shown)


@pytest.mark.parametrize("name", ["cloze", "choice"])
def test_a_blank_is_equally_wide_for_every_word(name: str) -> None:
    blanks = []
    for word in ("of", "without"):
        essay, place = Essay("e", f"We went {word} them."), Span(8, 8 + len(word))
        shown = TASKS[name].show(unit_at(place, payload={"suggestion": "to"}, essay=essay), rng=rng())
        blanks += [piece.text for piece in shown.pieces if piece.mark == "blank"]
    assert blanks == blanks[:1] * 2


@pytest.mark.parametrize("task", ALL, ids=lambda task: task.name)
def test_shortcut_keys_are_single_and_free_of_doubles(task: Task) -> None:
    fields: tuple[Field, ...] = task.show(unit_for(task.name), rng=rng()).fields
    by_field = [[choice.key for choice in field.choices if choice.key] for field in fields]
    is_row_by_row = len({tuple(of_field) for of_field in by_field}) == 1
    keys = by_field[0] if is_row_by_row else [key for of_field in by_field for key in of_field]
    assert len(keys) == len(set(keys))
    assert all(len(key) == 1 for key in keys)


ITALIC, BOLD = re.compile(r"(→\s*|,\s*)?<em>(.*?)</em>", re.DOTALL), re.compile(r"<strong>(.*?)</strong>", re.DOTALL)


def plain(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", "", html).split())


@pytest.mark.parametrize("task", ALL, ids=lambda task: task.name)
def test_examples_of_the_guidelines_speak_of_their_own_sentence(task: Task) -> None:
    """An example is a sentence in italics with its words in question in bold; after an arrow comes what is better."""
    for paragraph in re.split(r"</?(?:li|p|ol|ul)>", as_html(task.guidelines)):
        quoted = [(bool(arrow), words) for arrow, words in ITALIC.findall(paragraph)]
        examples = [words for _, words in quoted if plain(words).endswith(".")]
        for words in examples:
            assert len(BOLD.findall(words)) == 1, f"what is in question in {plain(words)!r}?"
        for is_better, words in quoted if examples else ():
            if words in examples or plain(paragraph).startswith(f"{plain(words)}:"):
                continue
            if is_better:
                assert plain(words) not in [plain(BOLD.findall(example)[0]) for example in examples]
            else:
                assert any(plain(words) in plain(example) for example in examples), f"{words!r} is in no example here"


@pytest.mark.parametrize("name", FROM_PAPERS)
def test_managers_are_told_the_paper_of_the_guidelines_and_raters_are_not(name: str) -> None:
    year = re.compile("2008|2009|2011|2013")
    assert year.search(source_of(TASKS[name]))
    assert not year.search(TASKS[name].guidelines)


@pytest.mark.parametrize("task", BLIND, ids=lambda task: task.name)
def test_pieces_put_together_are_the_sentence(task: Task) -> None:
    pieces = task.show(unit_at(OF), rng=rng()).pieces
    shown = "".join(TEXT[OF.start : OF.end] if piece.mark else piece.text for piece in pieces)
    assert shown == "She depends of her brother for the bread."
