"""The fate of a marked error in systems' corrections: gone, still there, or replaced by another error.

A unit is one mark of a source sentence with an item for each system, of kind `fate/SYSTEM`, at the place of the mark,
with the corrected sentence in its payload (`"words"`). Systems with the same output share a row; nothing shows which
systems a row stands for. Recall is computed from the answers (`grater.measure.corrections.recall`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from grater.annotate.tasks.rank import N_BEFORE, ORDER, answered, in_order, rows_of, shuffled
from grater.annotate.tasks.task import Answer, Choice, Form, Rng, Shown, Subject, Unit, pieces_around, words_before
from grater.measure.corrections.recall import FATES, GONE, REPLACED, THERE
from grater.model import Json

GUIDELINES = """\
A learner's sentence has an error in the **highlighted** words, or a word is missing at the mark. Below it are
corrections of the sentence. **What became of this error** in each of them?

- **Gone**: the error is no longer there, however it was repaired.
- **Still there**: the error is as it was.
- **Replaced**: something was changed, and the place is still wrong.
- Ask about this error alone. Other errors, old or new, do not count.
- Words that a correction changes are underlined.
"""

CHOICES = (Choice(GONE, "Gone", "g"), Choice(THERE, "Still there", "s"), Choice(REPLACED, "Replaced", "r"))


@dataclass(frozen=True, slots=True)
class FateTask:
    """Say what became of an error."""

    name: str = "fate"
    title: str = "What became of an error"
    kind: str = "fate"
    labels: tuple[str, ...] = FATES
    verdict: Mapping[str, str] | None = None
    guidelines: str = GUIDELINES
    summary: str = (
        "A marked error in systems’ corrections: gone, still there, or replaced? For the recall of correctors."
    )
    subject: Subject = "mark"

    def show(self, unit: Unit, *, rng: Rng) -> Shown:
        order, span = shuffled(unit, rng), unit.items[0].item.span
        return Shown(
            before=words_before(unit.essay, span, n_sentences=N_BEFORE),
            pieces=pieces_around(unit.essay, span),
            after="",
            fields=rows_of(unit, cast("list[int]", order), CHOICES),
            kept={ORDER: order},
            question="What became of the highlighted error in each correction?",
        )

    def read(self, unit: Unit, form: Form, *, kept: Mapping[str, Json]) -> tuple[Answer, ...]:
        rows = in_order(unit, kept)
        return tuple(
            Answer(each.item.item_id, fate)
            for (_, items), fate in zip(rows, answered(unit, form, kept, CHOICES), strict=True)
            for each in items
        )


TASK = FateTask()
