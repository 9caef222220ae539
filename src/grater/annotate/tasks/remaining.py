"""The errors that are left in a corrected sentence: missed, half-right, introduced.

A unit is one corrected sentence, with an item for each system that wrote it so, of kind `remaining/SYSTEM`, at the
place of the source sentence and with the correction in its payload (`"words"`). The rater sees both sentences and
counts; the label is the three numbers, as in `1 0 2`. Errors per 100 words are computed from the answers
(`grater.measure.corrections.recall`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grater.annotate.tasks.rank import N_BEFORE, candidates, changed_words
from grater.annotate.tasks.task import (
    Answer,
    Choice,
    Field,
    Form,
    Piece,
    Rng,
    Shown,
    Subject,
    Unit,
    read_fields,
    sentence_around,
    the_one,
    words_before,
)
from grater.errors import UsageError
from grater.model import Json

HIGHEST = 5
QUESTIONS = {
    "missed": "Missed: errors of the writer that are still there",
    "half_right": "Half-right: changed, and still wrong",
    "introduced": "Introduced: errors that were not there before",
}
CHOICES = tuple(Choice(str(n), str(n) if n < HIGHEST else f"{n} or more", str(n)) for n in range(HIGHEST + 1))
FIELDS = tuple(Field(name, "one", question, CHOICES) for name, question in QUESTIONS.items())

GUIDELINES = """\
You see a learner's sentence **as it was corrected**, and below it as it was written. **Count the errors that a reader
of the corrected sentence still finds.**

- **Missed**: the writer's error is still there.
- **Half-right**: the writer's error was changed, and the place is still wrong.
- **Introduced**: the correction made an error where there was none, or changed the meaning.
- Errors of grammar and usage count; style and ideas do not. An error counts once.
"""


@dataclass(frozen=True, slots=True)
class Remaining:
    """Count the errors left in a corrected sentence."""

    name: str = "remaining"
    title: str = "Errors that are left"
    kind: str = "remaining"
    labels: tuple[str, ...] = ()
    verdict: Mapping[str, str] | None = None
    guidelines: str = GUIDELINES
    summary: str = "A system’s corrected sentence: how many errors are left, missed, half-right or introduced?"
    subject: Subject = "corrected"

    def show(self, unit: Unit, *, rng: Rng) -> Shown:  # noqa: ARG002
        text, written = _both(unit)
        marked = tuple(Piece(piece.text, piece.mark) for piece in changed_words(written, text))
        return Shown(
            before=words_before(unit.essay, unit.items[0].item.span, n_sentences=N_BEFORE),
            pieces=marked,
            after=f"As written: {written}",
            fields=FIELDS,
            question="How many errors does a reader of the corrected sentence still meet?",
        )

    def read(self, unit: Unit, form: Form, *, kept: Mapping[str, Json]) -> tuple[Answer, ...]:  # noqa: ARG002
        values = read_fields(FIELDS, form)
        counts = [the_one(values, name) for name in QUESTIONS]
        words = len(_both(unit)[0].split())
        payload: dict[str, Json] = {**dict(zip(QUESTIONS, map(int, counts), strict=True)), "words": words}
        return tuple(Answer(each.item.item_id, " ".join(counts), payload=payload) for each in unit.items)


def _both(unit: Unit) -> tuple[str, str]:
    """The corrected sentence and the original one."""
    found = candidates(unit)
    if len(found) != 1:
        raise UsageError(f"unit {unit.unit_id}: expected one corrected sentence, found {len(found)}")
    sentence, _ = sentence_around(unit.essay, unit.items[0].item.span)
    return found[0][0], sentence.of(unit.essay.text)


TASK = Remaining()
