"""Which of two words fits better, where the writer and a system differ.

T&C 2008, section 4.2; T,C&M 2013, section 4.1.2: the two are shown in random order, with "equally good" and "equally
bad". The server stores the side of the writer's word and never sends it; the stored label says whose word was chosen,
and the payload gives the sides, so that a preference for one side can be tested.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from grater.annotate.tasks.task import (
    ERROR,
    LABEL,
    OK,
    UNKNOWN,
    Answer,
    Choice,
    Field,
    Form,
    Piece,
    Rng,
    Shown,
    Subject,
    Unit,
    only_item,
    pieces_around,
    read_fields,
    reading_with,
    suggested_word,
    the_one,
    writers_word,
)
from grater.errors import UsageError
from grater.model import Json

WRITER, SYSTEM, GOOD, BAD = "writer", "system", "equally good", "equally bad"
FIRST, SECOND = "first", "second"
SHOWN_BLANK = "_____"
N_AROUND = 6
"""Words on each side of the blank in which each of the two is shown."""

GUIDELINES = """\
A word of the sentence is left out, and **two words** are offered for it. **Which one fits better?**

- Read the sentence with the first word in the blank, then with the second; each is shown in its place.
- If both fit equally well, say **equally good**. If neither fits, say **equally bad**.
- "(no word)" means that the blank stays empty.
- Ignore other errors, or fix them in your head. The order of the two words means nothing.
"""


@dataclass(frozen=True, slots=True)
class WhichFits:
    """Choose between the writer's word and the system's, not knowing which is which."""

    name: str = "choice"
    title: str = "Which word fits better?"
    kind: str = "prep"
    labels: tuple[str, ...] = (WRITER, SYSTEM, GOOD, BAD)
    verdict: Mapping[str, str] | None = field(
        default_factory=lambda: {SYSTEM: ERROR, WRITER: OK, GOOD: OK, BAD: UNKNOWN}
    )
    guidelines: str = GUIDELINES
    summary: str = "The writer’s word or the system’s: which fits better? In random order."
    subject: Subject = "suggestion"
    source: str = "Tetreault and Chodorow 2008, section 4.2; Tetreault, Chodorow and Madnani 2013, section 4.1.2"

    def show(self, unit: Unit, *, rng: Rng) -> Shown:
        unit_item = only_item(unit)
        words = {WRITER: writers_word(unit, unit_item), SYSTEM: suggested_word(unit, unit_item)}
        first = WRITER if rng.random() < 0.5 else SYSTEM
        second = SYSTEM if first == WRITER else WRITER
        span = unit_item.item.span
        pieces = pieces_around(unit.essay, span, blank=SHOWN_BLANK)
        readings = [reading_with(unit.essay, span, words[whose], n_around=N_AROUND) for whose in (first, second)]
        question = _question(words[first], words[second], readings)
        return Shown(before="", pieces=pieces, after="", fields=(question,), kept={FIRST: first})

    def read(self, unit: Unit, form: Form, *, kept: Mapping[str, Json]) -> tuple[Answer, ...]:
        picked = the_one(read_fields((_question("", ""),), form), LABEL)
        first = kept.get(FIRST)
        if first not in (WRITER, SYSTEM):
            raise UsageError(f"unit {unit.unit_id}: expected to know whose word stood first, found {first!r}")
        second = SYSTEM if first == WRITER else WRITER
        label = {FIRST: str(first), SECOND: second}.get(picked, picked)
        return (Answer(only_item(unit).item.item_id, label, payload={FIRST: first}),)


def _question(first: str, second: str, readings: Sequence[tuple[Piece, ...]] = ((), ())) -> Field:
    choices = (
        Choice(FIRST, first, "1", readings[0]),
        Choice(SECOND, second, "2", readings[1]),
        Choice(GOOD, "Equally good", "3"),
        Choice(BAD, "Equally bad", "4"),
    )
    return Field(LABEL, "one", "Which word fits better?", choices)


TASK = WhichFits()
