"""Units to show and answer: a little essay of our own with places in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grater.annotate.tasks import Unit, UnitItem
from grater.annotate.tasks.construction import CONSTRUCTIONS
from grater.annotate.tasks.task import Rng, Task
from grater.model import Essay, Item, Json, Span
from grater.uncertainty import generator

TEXT = (
    "Last spring my cousin opened a bakery. The street was very quiet then. She depends of her brother for the "
    "bread. In the morning they bake. Nobody complains."
)
ESSAY = Essay("essay-1", TEXT)


def span_of(words: str, *, text: str = TEXT) -> Span:
    start = text.index(words)
    return Span(start, start + len(words))


OF, IN = span_of("of"), span_of("In")


def unit_at(
    span: Span, *, kind: str = "prep", payload: Mapping[str, Json] | None = None, essay: Essay = ESSAY
) -> Unit:
    return Unit("u1", essay, (UnitItem(Item(essay.essay_id, span, kind), payload or {}),))


def noun_unit(stage: str, *, grey: bool = False) -> Unit:
    """Five constructions of a bakery, the items in an order of no meaning."""
    words = ["bakery", "a bakery", "the bakery", "bakeries", "the bakeries"]
    place = span_of("a bakery")
    items = [
        UnitItem(Item("essay-1", place, f"construction/{stage}/{name}"), {"words": form})
        for name, form in zip(CONSTRUCTIONS, words, strict=True)
    ]
    return Unit("u5", ESSAY, tuple(reversed(items)), stage, {"grey": True} if grey else {})


def rng() -> Rng:
    return generator(7, "test")


def unit_for(task_name: str) -> Unit:
    """A unit that the named task can show."""
    if task_name == "construction":
        return noun_unit("no-context")
    if task_name == "marking":
        return Unit("u9", ESSAY, (UnitItem(Item("essay-1", Span(0, len(TEXT)), "essay")),))
    if task_name in ("rank", "fate", "remaining"):
        return corrected_unit(task_name, ("depends on",) if task_name == "remaining" else ("depends on", "counts on"))
    return unit_at(OF, payload={"suggestion": "on"})


def corrected_unit(task_name: str, words: Sequence[str]) -> Unit:
    """A sentence corrected by systems; the last two of them wrote the same."""
    texts = [f"She {each} her brother for the bread." for each in (*words, words[-1])]
    items = [
        UnitItem(Item("essay-1", OF, f"{task_name}/S{number}"), {"words": text}) for number, text in enumerate(texts)
    ]
    return Unit("u7", ESSAY, tuple(items))


FILLED: dict[str, dict[str, list[str]]] = {
    "usage": {"label": ["1"], "better": ["on, upon"], "flags": ["grammar"], "confidence": ["high"]},
    "cloze": {"label": ["on"]},
    "choice": {"label": ["first"]},
    "error": {"label": ["error"]},
    "construction": {name: ["yes" if "a-" in name else "no"] for name in CONSTRUCTIONS},
    "marking": {"edits": ['[{"start": 83, "end": 85, "quote": "of", "tag": "Wcip", "replacements": ["on"]}]']},
    "verify": {"label": ["suggestion better"]},
}
"""Whole forms of the tasks for which first choices are not enough."""


def filled(task: Task) -> dict[str, list[str]]:
    """A whole form: the one above, or the first choice of every required field, and a word where it has none."""
    fields = task.show(unit_for(task.name), rng=rng()).fields
    return FILLED.get(task.name) or {
        field.name: [field.choices[0].value if field.choices else "on"] for field in fields if field.required
    }
