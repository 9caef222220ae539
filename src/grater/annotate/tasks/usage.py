"""The full rating scheme for prepositions in learner text.

T&C 2008, section 5.1.  The target is highlighted in its sentence and the sentence before is shown.  First the rater
flags other errors in the context (two words on each side and the commanding verb): spelling, determiner or number,
other grammar, so that a detector of prepositions need not answer for them.  Then the rating: 0 extraneous, 1
incorrect (with the best prepositions), 2 correct, e equally good (with the others), and the confidence, low or high.
Departure: flags are one question with three boxes, in the paper's order, instead of three questions.
"""

from __future__ import annotations

from grater.annotate.tasks.task import CONFIDENCE, ERROR, FLAGS, LABEL, OK, Choice, Field, OneItem, Unit
from grater.corpora.text.prepositions import PREPOSITIONS

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
        FLAGS,
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


def _questions(_unit: Unit) -> tuple[Field, ...]:
    return FIELDS


TASK = OneItem(
    name="usage",
    title="Preposition usage",
    labels=(EXTRANEOUS, INCORRECT, CORRECT, EQUAL),
    verdict={EXTRANEOUS: ERROR, INCORRECT: ERROR, CORRECT: OK, EQUAL: OK},
    guidelines=GUIDELINES,
    summary="Rate one preposition in detail: correct, incorrect or extraneous, and which words would fit.",
    source="Tetreault and Chodorow 2008, section 5.1; Tetreault, Chodorow and Madnani 2013, section 5.5",
    questions=_questions,
    n_before=1,
)
"""Rate a learner's preposition: extraneous, incorrect, correct, equally good."""
