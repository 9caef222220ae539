"""A system's suggestion checked against the writer's word, both shown as such.

T&C 2008, section 6.4, after Gamon et al. 2008: quick, and it estimates precision alone.  The rater knows that a
system flagged the place; only this task and `choice` intend that.
"""

from __future__ import annotations

from grater.annotate.tasks.task import (
    ERROR,
    LABEL,
    OK,
    UNKNOWN,
    Choice,
    Field,
    OneItem,
    Unit,
    only_item,
    reading_with,
    suggested_word,
    writers_word,
)
from grater.model import EDIT

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


def _questions(unit: Unit) -> tuple[Field, ...]:
    asked = only_item(unit)
    written, suggested = writers_word(unit, asked), suggested_word(unit, asked)
    reading = reading_with(unit.essay, asked.item.span, suggested, as_is=asked.item.kind == EDIT)
    choices = (
        Choice(SUGGESTION, f"The suggestion is better: {suggested}", "1", reading),
        Choice(FINE, "Both are fine", "2"),
        Choice(WRITER, f"The writer's word is better: {written}", "3"),
        Choice(BAD, "Both are bad", "4"),
    )
    return (Field(LABEL, "one", f"Writer: {written} · Suggestion: {suggested}", choices),)


TASK = OneItem(
    name="verify",
    title="Check a suggestion",
    labels=(SUGGESTION, FINE, WRITER, BAD),
    verdict={SUGGESTION: ERROR, FINE: OK, WRITER: OK, BAD: UNKNOWN},
    guidelines=GUIDELINES,
    summary="A system’s suggestion next to the writer’s word: is it better?",
    subject="suggestion",
    source="Tetreault and Chodorow 2008, section 6.4",
    questions=_questions,
    n_before=1,
)
"""Check a system's suggestion."""
