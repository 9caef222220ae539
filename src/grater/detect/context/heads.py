"""What the network answers: six questions about every word, asked at its first piece.

| head | answers |
|---|---|
| `prep` | the preposition that should stand where the writer wrote one at this word, or none |
| `prep-gap` | the preposition that is missing before this word, or none |
| `article` | the article that should stand where the writer wrote one at this word: a, the, or none |
| `article-gap` | the article that is missing before this word, or none |
| `number` | the number that the noun at this word should have |
| `verb` | the form that the verb at this word should have |

The columns of all heads lie side by side in the order above.  Prepositions come in the order of `text.prepositions`.
*to* before a verb is not a preposition here but part of the verb's form.
"""

from __future__ import annotations

from dataclasses import dataclass

from grater.corpora.text.prepositions import PREPOSITIONS
from grater.corpora.text.verbs import VerbForms
from grater.model import DELETE

ARTICLES = ("a", "the", DELETE)
NUMBERS = ("singular", "plural")
FORMS = ("base", "to", "present", "s", "past", "past_plural", "participle", "ing")
"""*go*, *to go*, *go* or *are*, *goes*, *went* or *was*, *went* or *were*, *gone*, *going*."""


@dataclass(frozen=True, slots=True)
class Head:
    """The columns [start, end) of one question, and their answers."""

    name: str
    start: int
    answers: tuple[str, ...]

    @property
    def end(self) -> int:
        return self.start + len(self.answers)

    @property
    def columns(self) -> slice:
        return slice(self.start, self.end)


def _laid_out(*questions: tuple[str, tuple[str, ...]]) -> tuple[Head, ...]:
    heads: list[Head] = []
    for name, answers in questions:
        heads.append(Head(name=name, start=heads[-1].end if heads else 0, answers=answers))
    return tuple(heads)


HEADS = _laid_out(
    ("prep", (*PREPOSITIONS, DELETE)),
    ("prep-gap", (*PREPOSITIONS, DELETE)),
    ("article", ARTICLES),
    ("article-gap", ARTICLES),
    ("number", NUMBERS),
    ("verb", FORMS),
)
PREP_HEAD, PREP_GAP_HEAD, ARTICLE_HEAD, ARTICLE_GAP_HEAD, NUMBER_HEAD, VERB_HEAD = HEADS
WIDTH = HEADS[-1].end
"""Columns of all heads: 86."""


def surfaces(forms: VerbForms) -> tuple[str, ...]:
    """What is written for each of `FORMS`; forms of one surface cannot be told apart."""
    return (
        forms.base,
        f"to {forms.base}",
        forms.present,
        forms.s,
        forms.past,
        forms.past_plural,
        forms.participle,
        forms.ing,
    )
