"""Error, OK or unknown: the quick question for a crowd.

Madnani et al. 2011, section 2.1 (extraneous prepositions); T,C&M 2013, sections 5.3-5.5 (confused and extraneous
prepositions, determiners, collocations). The target is highlighted in its sentence; `unknown` is for contexts too
garbled to decide. The question depends on the item's kind, which is the same for every item of a job, so it reveals
nothing about a single item. A unit's payload may name another kind to ask about (`"asks": "prep-extraneous"`): the
items of a mined corpus are prepositions, as detectors decide on them, and the question of Madnani 2.1 is whether they
are extraneous.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from grater.annotate.tasks.task import ERROR, LABEL, OK, UNKNOWN, Choice, Field, OneItem, Unit, only_item

QUESTIONS: Mapping[str, str] = {
    "prep": "Is the highlighted preposition wrong here?",
    "prep-extraneous": "Is the highlighted preposition extraneous: should there be none?",
    "prep-confused": "Is the highlighted preposition the wrong one here?",
    "prep-missing": "Is a preposition missing at the mark?",
    "article": "Is the highlighted article or determiner wrong here?",
    "article-missing": "Is an article or determiner missing at the mark?",
    "number": "Is the number (singular or plural) of the highlighted noun wrong here?",
    "verb-form": "Is the form of the highlighted verb wrong here?",
    "collocation": "Are the highlighted words a wrong collocation: words that do not go together?",
}
ASKS = "asks"
ANY_KIND = "Is there an error in the highlighted words?"

GUIDELINES = """\
Some words of a learner's sentence are **highlighted**. Say whether they are an error *of the kind asked about*.

- **Error**: they are wrong here. **OK**: a native speaker could have written them. **Unknown**: the sentence is
  too confused to tell; use it rarely.
- There are often **other errors** in the sentence, even inside the highlighted words. **Ignore them, or fix them in
  your head**, and judge as if they were not there. If you are asked whether words go together, as in *He **made an
  decision** after lunch*, answer OK: *made* and *decision* do, and *an* is another kind of error.
- *Extraneous preposition*: there should be no preposition here at all. *They entered **into** the room.* If a
  different preposition is needed, it is not extraneous.
- *Confused preposition*: a different preposition is needed. *He depends **of** his brother.* → *on*
- *Missing preposition*: one is needed where the mark is.
- *Article or determiner*: *a*, *an*, *the*, *this* or the like is wrong, should not be there, or is missing at the
  mark. *We visited **a** Eiffel Tower.* → *the*
- *Number*: the noun is singular and should be plural, or the other way round. *She has many **friend** here.* →
  *friends*
- *Verb form*: another form of the same verb is needed. *My brother **work** in a bank.* → *works*
- *Collocation*: each word is right by itself, but they are not used together. *We had **big rain** all night.* →
  *heavy rain*
"""

BY_KIND: Mapping[str, tuple[str, ...]] = {
    "Extraneous preposition": ("prep", "prep-extraneous"),
    "Confused preposition": ("prep", "prep-confused"),
    "Missing preposition": ("prep", "prep-missing"),
    "Article or determiner": ("article", "article-missing"),
    "Number": ("number",),
    "Verb form": ("verb-form",),
    "Collocation": ("collocation",),
}
"""The kinds of items that a paragraph of the guidelines speaks of, by its first words."""

CHOICES = (Choice(ERROR, "Error", "1"), Choice(OK, "OK", "2"), Choice(UNKNOWN, "Unknown: too hard to tell", "3"))


def _questions(unit: Unit) -> tuple[Field, ...]:
    kind = str(unit.payload.get(ASKS) or only_item(unit).item.kind)
    return (Field(LABEL, "one", QUESTIONS.get(kind, ANY_KIND), CHOICES),)


def _guidelines_for(kinds: Set[str]) -> str:
    """The guidelines without paragraphs on kinds that a job does not ask about."""
    if not kinds <= set(QUESTIONS):
        return GUIDELINES
    first, *others = GUIDELINES.split("\n- ")
    wanted = (each for each in others if kinds & set(BY_KIND.get(each.partition("*:")[0].removeprefix("*"), kinds)))
    return "\n- ".join((first, *wanted)).rstrip() + "\n"


TASK = OneItem(
    name="error",
    title="Error or OK",
    labels=(ERROR, OK, UNKNOWN),
    verdict={ERROR: ERROR, OK: OK, UNKNOWN: UNKNOWN},
    guidelines=GUIDELINES,
    summary="Is the highlighted word an error or not? The quickest question, for crowds and experts.",
    source="Madnani et al. 2011, section 2.1; Tetreault, Chodorow and Madnani 2013, sections 5.3 to 5.5",
    questions=_questions,
    guidelines_for=_guidelines_for,
)
"""Say whether highlighted words are an error."""
