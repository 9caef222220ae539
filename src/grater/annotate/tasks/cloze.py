"""Fill the blank: the writer's word never reaches the page.

T&C 2008, section 4.1: a preposition of a sentence is replaced with a blank, and the rater fills in the best one,
given the rest of the sentence. The blank has the same width for every word. Departure: words outside the 34
prepositions are accepted (*near*, *out of*), so labels are not a closed set; *towards* counts as *toward*.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grater.annotate.tasks.task import (
    FORM,
    LABEL,
    Answer,
    Choice,
    Field,
    Form,
    Rng,
    Shown,
    Unit,
    only_item,
    pieces_around,
    read_fields,
)
from grater.corpora.text.prepositions import PREPOSITIONS, canonical
from grater.errors import BadInput, Problem
from grater.model import Json

SHOWN_BLANK = "_____"

GUIDELINES = """\
One word of the sentence is hidden. **Fill the blank** with the preposition that fits best, given the rest of the
sentence.

- Write **one** preposition. If several would fit, write the first that comes to mind.
- Do not look the sentence up. Any preposition that a native speaker could have written there is a good answer.
- Capitalisation does not matter.
"""

FIELDS = (
    Field(LABEL, "words", "The preposition that fits best", tuple(Choice(word, word) for word in PREPOSITIONS)),
)


@dataclass(frozen=True, slots=True)
class Cloze:
    """Fill in the hidden preposition."""

    name: str = "cloze"
    title: str = "Fill the blank"
    kind: str = "prep"
    labels: tuple[str, ...] = ()
    verdict: Mapping[str, str] | None = None
    guidelines: str = GUIDELINES
    summary: str = "The preposition is blanked out: which word fits? The writer’s word is not shown."
    source: str = "Tetreault and Chodorow 2008, section 4.1"

    def show(self, unit: Unit, *, rng: Rng) -> Shown:  # noqa: ARG002
        span = only_item(unit).item.span
        return Shown(before="", pieces=pieces_around(unit.essay, span, blank=SHOWN_BLANK), after="", fields=FIELDS)

    def read(self, unit: Unit, form: Form, *, kept: Mapping[str, Json]) -> tuple[Answer, ...]:  # noqa: ARG002
        words = read_fields(FIELDS, form)[LABEL]
        if len(words) > 1:
            raise BadInput(Problem(FORM, f"{LABEL}: expected one preposition, found {len(words)}"))
        return (Answer(only_item(unit).item.item_id, canonical(words[0]) or words[0]),)


TASK = Cloze()
