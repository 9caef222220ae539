"""Which article and number can this noun take?  Five constructions, without and then with context.

Lee, Tetreault and Chodorow 2009, section 3.1. The noun with its article is shown as [?], with the five constructions
of Table 1 below it, always in the order of Table 2. Stage `no-context` shows the sentence alone and asks yes or no
for each; stage `in-context`, days later (the server keeps the delay), shows the five sentences before and asks yes,
no, or yes* for the ones most likely in the original. The grey answer of their note 1 is there if the unit's payload
asks for it (`"grey": true`); analysis and gold merge it with yes.

A unit is one noun in one stage: five items with kinds like `construction/no-context/a-singular`, each with its words
in the payload (`"words": "a lamb"`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from grater.annotate.tasks.task import (
    Accepted,
    Answer,
    Choice,
    Field,
    Form,
    Rng,
    Shown,
    Subject,
    Unit,
    UnitItem,
    pieces_around,
    read_fields,
    reading_with,
    the_one,
    words_before,
)
from grater.errors import UsageError
from grater.model import Json

YES, NO, STARRED, GREY = "yes", "no", "yes*", "grey"
NO_CONTEXT, IN_CONTEXT = "no-context", "in-context"
CONSTRUCTIONS = ("null-singular", "a-singular", "the-singular", "null-plural", "the-plural")
N_SENTENCES = 5
SHOWN_BLANK = "[?]"
N_AROUND = 5
"""Words on each side of the noun in which each of its forms is shown."""
MERGED = {GREY: YES}
QUESTIONS = {
    NO_CONTEXT: "Would each form make a good sentence, in some context that you can imagine?",
    IN_CONTEXT: (
        "Does each form make a good sentence in this context? Yes* is for the form, or forms, most likely to have "
        "been in the original."
    ),
}

GUIDELINES = """\
A noun, with its article if it had one, is hidden behind **[?]**. Below the sentence are its **five possible
forms**, each shown in its place. For *each* of them, say whether it makes a good sentence.

- **First round** (the sentence alone): **yes** if the form would make a good sentence *in some context* that you can
  imagine, otherwise **no**.
- **Second round** (with the five sentences before): **yes** if the form makes a good sentence *in this context*,
  otherwise **no**. Mark with **yes\\*** the form, or forms, *most likely to have been in the original text*.
- Several forms can be right. Judge each one on its own: *We saw **a lamb** in the field.* and *We saw **lambs** in
  the field.* are both good, and *We saw **lamb** in the field.* is not.
- If **grey** is offered, use it for forms between yes and no.
"""


@dataclass(frozen=True, slots=True)
class Construction:
    """Judge the five article-number constructions of a noun."""

    name: str = "construction"
    title: str = "Articles and noun number"
    kind: str = "construction"
    labels: tuple[str, ...] = (YES, NO, STARRED, GREY)
    verdict: Mapping[str, str] | None = None
    guidelines: str = GUIDELINES
    summary: str = "Which forms of the noun are possible here: a, the or no article, singular or plural? Two rounds."
    subject: Subject = "noun"
    source: str = "Lee, Tetreault and Chodorow 2009, section 3.1"
    merged: Mapping[str, str] = field(default_factory=lambda: MERGED, hash=False)

    def show(self, unit: Unit, *, rng: Rng) -> Shown:  # noqa: ARG002
        span = _in_order(unit)[0].item.span
        before = words_before(unit.essay, span, n_sentences=N_SENTENCES) if unit.stage == IN_CONTEXT else ""
        pieces = pieces_around(unit.essay, span, blank=SHOWN_BLANK)
        question = QUESTIONS.get(unit.stage, QUESTIONS[NO_CONTEXT])
        return Shown(before=before, pieces=pieces, after="", fields=_questions(unit), question=question)

    def read(self, unit: Unit, form: Form, *, kept: Mapping[str, Json]) -> tuple[Answer, ...]:  # noqa: ARG002
        values = read_fields(_questions(unit), form)
        return tuple(Answer(item.item.item_id, the_one(values, construction(item))) for item in _in_order(unit))

    def right(self, answers: Sequence[Answer], accepted: Accepted) -> bool:
        """Whether each construction with a known answer got it; grey counts as yes unless the gold answer is grey."""
        labels = {answer.item_id: answer.label for answer in answers}
        return all(
            item_id in labels and bool({labels[item_id], MERGED.get(labels[item_id], labels[item_id])} & of)
            for item_id, of in accepted.items()
        )


def construction(unit_item: UnitItem) -> str:
    """The construction that an item asks about: the last part of its kind."""
    return unit_item.item.kind.rpartition("/")[2]


def _in_order(unit: Unit) -> list[UnitItem]:
    """The five items in the order of Table 2, so that their stored order reveals nothing."""
    by_construction = {construction(item): item for item in unit.items}
    if sorted(by_construction) != sorted(CONSTRUCTIONS) or len(unit.items) != len(CONSTRUCTIONS):
        names = ", ".join(sorted(by_construction)) or "none"
        raise UsageError(f"unit {unit.unit_id}: expected {', '.join(CONSTRUCTIONS)}, found {names}")
    return [by_construction[name] for name in CONSTRUCTIONS]


def _questions(unit: Unit) -> tuple[Field, ...]:
    starred = (Choice(STARRED, "Yes*", "s"),) if unit.stage == IN_CONTEXT else ()
    grey = (Choice(GREY, "Grey", "g"),) if unit.payload.get(GREY) else ()
    choices = (*starred, Choice(YES, "Yes", "y"), *grey, Choice(NO, "No", "n"))
    return tuple(_question(unit, item, choices) for item in _in_order(unit))


def _question(unit: Unit, unit_item: UnitItem, choices: tuple[Choice, ...]) -> Field:
    words = _words(unit_item)
    reading = reading_with(unit.essay, unit_item.item.span, words, n_around=N_AROUND)
    return Field(construction(unit_item), "one", words, choices, reading=reading)


def _words(unit_item: UnitItem) -> str:
    words = unit_item.payload.get("words")
    if not isinstance(words, str) or not words:
        raise UsageError(f"item {unit_item.item.item_id}: expected the words of its construction, found none")
    return words


TASK = Construction()
