"""The full rating scheme for prepositions in learner text.

T&C 2008, section 5.1.  The target is highlighted in its sentence and the sentence before is shown.  First the rater
flags other errors in the context (two words on each side and the commanding verb): spelling, determiner or number,
other grammar, so that a detector of prepositions need not answer for them.  Then the rating: 0 extraneous, 1
incorrect (with the best prepositions), 2 correct, e equally good (with the others), and the confidence, low or high.
Departure: flags are one question with three boxes, in the paper's order, instead of three questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from grater.annotate.tasks.task import (
    CONFIDENCE,
    ERROR,
    LABEL,
    OK,
    Accepted,
    Answer,
    Choice,
    Field,
    Form,
    Rng,
    Shown,
    Unit,
    all_accepted,
    only_item,
    pieces_around,
    read_fields,
    the_one,
    words_before,
)
from grater.corpora.text.prepositions import PREPOSITIONS
from grater.model import Json

EXTRANEOUS, INCORRECT, CORRECT, EQUAL = "0", "1", "2", "e"

GUIDELINES = """\
You see one sentence from a learner's essay, with one **preposition highlighted**, and the sentence before it.
Judge the highlighted preposition only.

1. **Look at the words near it**: two words to the left, two to the right, and the verb that it belongs to. Tick
   whatever is wrong *there* besides the preposition: spelling; an article, determiner or plural; other grammar.
2. **Fix those errors in your head**, then judge the preposition as if they were not there.
3. **Rate it.**
   - **0 extraneous**: there should be no preposition here. *We discussed **about** the plan.*
   - **1 incorrect**: a different preposition is needed. Write the best one, or several. *She is good **in** chess.* →
     *at*
   - **2 correct**: this is the one you would expect. *He waited **for** the bus.*
   - **e equally good**: it is right, and others would be just as good. Write them. *They met **by** the fountain.* →
     *at*, *near*
4. **Say how sure you are**: low or high. If you are guessing, say low.

A preposition is *correct* if a native speaker could have written it here with this meaning, even if you would
have phrased the whole sentence differently. Do not judge style.
"""

SUGGESTED = tuple(Choice(word, word) for word in PREPOSITIONS)
FIELDS = (
    Field(
        "flags",
        "many",
        "Other errors near it (two words on each side, and its verb)?",
        (
            Choice("spelling", "Spelling", "s"),
            Choice("determiner", "Article, determiner or plural", "d"),
            Choice("grammar", "Other grammar", "g"),
        ),
        required=False,
    ),
    Field(
        LABEL,
        "one",
        "The highlighted preposition is …",
        (
            Choice(EXTRANEOUS, "Extraneous: there should be none", "0"),
            Choice(INCORRECT, "Incorrect: another is needed", "1"),
            Choice(CORRECT, "Correct", "2"),
            Choice(EQUAL, "Correct, and others are equally good", "e"),
        ),
    ),
    Field("better", "words", "Best preposition, or several with commas", SUGGESTED, (INCORRECT,)),
    Field("others", "words", "The others that are equally good, with commas", SUGGESTED, (EQUAL,)),
    Field(CONFIDENCE, "one", "How sure are you?", (Choice("low", "Low", "l"), Choice("high", "High", "h"))),
)


@dataclass(frozen=True, slots=True)
class Usage:
    """Rate a learner's preposition: extraneous, incorrect, correct, equally good."""

    name: str = "usage"
    title: str = "Preposition usage"
    kind: str = "prep"
    labels: tuple[str, ...] = (EXTRANEOUS, INCORRECT, CORRECT, EQUAL)
    verdict: Mapping[str, str] | None = field(
        default_factory=lambda: {EXTRANEOUS: ERROR, INCORRECT: ERROR, CORRECT: OK, EQUAL: OK}
    )
    guidelines: str = GUIDELINES
    summary: str = "Rate one preposition in detail: correct, incorrect or extraneous, and which words would fit."
    source: str = "Tetreault and Chodorow 2008, section 5.1; Tetreault, Chodorow and Madnani 2013, section 5.5"
    keeps: bool = False

    def show(self, unit: Unit, *, rng: Rng) -> Shown:  # noqa: ARG002
        span = only_item(unit).item.span
        before = words_before(unit.essay, span, n_sentences=1)
        return Shown(before=before, pieces=pieces_around(unit.essay, span), after="", fields=FIELDS)

    def read(self, unit: Unit, form: Form, *, kept: Mapping[str, Json]) -> tuple[Answer, ...]:  # noqa: ARG002
        values = read_fields(FIELDS, form)
        words = values.get("better", ()) or values.get("others", ())
        item_id = only_item(unit).item.item_id
        answer = Answer(
            item_id=item_id,
            label=the_one(values, LABEL),
            confidence=the_one(values, CONFIDENCE),
            flags=values["flags"],
            alternatives=words,
        )
        return (answer,)

    def right(self, answers: Sequence[Answer], accepted: Accepted) -> bool:
        return all_accepted(answers, accepted)


TASK = Usage()
