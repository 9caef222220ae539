"""A system's suggestion checked against the writer's word, both shown as such.

T&C 2008, section 6.4, after Gamon et al. 2008: quick, and it estimates precision alone.  The rater knows that a
system flagged the place; only this task and `choice` intend that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from grater.annotate.tasks.task import (
    ERROR,
    LABEL,
    OK,
    UNKNOWN,
    Accepted,
    Answer,
    Choice,
    Field,
    Form,
    Piece,
    Rng,
    Shown,
    Subject,
    Unit,
    all_accepted,
    only_item,
    pieces_around,
    read_fields,
    reading_with,
    suggested_word,
    the_one,
    words_before,
    writers_word,
)
from grater.model import EDIT, Json

SUGGESTION, FINE, WRITER, BAD = "suggestion better", "both fine", "writer's better", "both bad"

GUIDELINES = """\
A program suggests a change to the **highlighted** word. Compare **the writer's word** with **the suggestion**; the
sentence with the suggestion in it is shown under the first answer.

- **The suggestion is better**: the writer's word is wrong, and the suggestion corrects it. *He depends **of** his
  brother.* → *on*
- **Both are fine**: the change is not needed, but does no harm. *They met **by** the fountain.* → *at*
- **The writer's word is better**: the change would make the sentence worse. *He waited **for** the bus.* → *to*
- **Both are bad**: the writer's word is wrong, and so is the suggestion. *She is good **in** chess.* → *on*
- Ignore other errors, or fix them in your head. "(no word)" means that the word would be deleted, or that the writer
  used none.
"""


@dataclass(frozen=True, slots=True)
class Verify:
    """Check a system's suggestion."""

    name: str = "verify"
    title: str = "Check a suggestion"
    kind: str = "prep"
    labels: tuple[str, ...] = (SUGGESTION, FINE, WRITER, BAD)
    verdict: Mapping[str, str] | None = field(
        default_factory=lambda: {SUGGESTION: ERROR, FINE: OK, WRITER: OK, BAD: UNKNOWN}
    )
    guidelines: str = GUIDELINES
    summary: str = "A system’s suggestion next to the writer’s word: is it better?"
    subject: Subject = "suggestion"
    source: str = "Tetreault and Chodorow 2008, section 6.4"
    keeps: bool = False

    def show(self, unit: Unit, *, rng: Rng) -> Shown:  # noqa: ARG002
        unit_item = only_item(unit)
        span = unit_item.item.span
        suggested = suggested_word(unit, unit_item)
        is_edit = unit_item.item.kind == EDIT
        reading = reading_with(unit.essay, span, suggested, as_is=is_edit)
        question = _question(writers_word(unit, unit_item), suggested, reading=reading)
        pieces = pieces_around(unit.essay, span)
        return Shown(
            before=words_before(unit.essay, span, n_sentences=1), pieces=pieces, after="", fields=(question,)
        )

    def read(self, unit: Unit, form: Form, *, kept: Mapping[str, Json]) -> tuple[Answer, ...]:  # noqa: ARG002
        unit_item = only_item(unit)
        question = _question(writers_word(unit, unit_item), suggested_word(unit, unit_item))
        return (Answer(unit_item.item.item_id, the_one(read_fields((question,), form), LABEL)),)

    def right(self, answers: Sequence[Answer], accepted: Accepted) -> bool:
        return all_accepted(answers, accepted)


def _question(written: str, suggested: str, *, reading: tuple[Piece, ...] = ()) -> Field:
    choices = (
        Choice(SUGGESTION, f"The suggestion is better: {suggested}", "1", reading),
        Choice(FINE, "Both are fine", "2"),
        Choice(WRITER, f"The writer's word is better: {written}", "3"),
        Choice(BAD, "Both are bad", "4"),
    )
    return Field(LABEL, "one", f"Writer: {written} · Suggestion: {suggested}", choices)


TASK = Verify()
