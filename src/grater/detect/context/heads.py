"""The outputs of the network: six questions about every word, answered at its first piece.

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
from itertools import accumulate

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


ANSWERS = {
    "prep": (*PREPOSITIONS, DELETE),
    "prep-gap": (*PREPOSITIONS, DELETE),
    "article": ARTICLES,
    "article-gap": ARTICLES,
    "number": NUMBERS,
    "verb": FORMS,
}
STARTS = [0, *accumulate(map(len, ANSWERS.values()))]
HEADS = tuple(Head(name, start, answers) for start, (name, answers) in zip(STARTS, ANSWERS.items(), strict=False))
PREP_HEAD, PREP_GAP_HEAD, ARTICLE_HEAD, ARTICLE_GAP_HEAD, NUMBER_HEAD, VERB_HEAD = HEADS
WIDTH = HEADS[-1].end
"""Columns of all heads: 86."""


def surfaces(forms: VerbForms) -> tuple[str, ...]:
    """The word for each of `FORMS`; forms spelled alike cannot be distinguished."""
    present, past = (forms.present, forms.s), (forms.past, forms.past_plural)
    return (forms.base, f"to {forms.base}", *present, *past, forms.participle, forms.ing)
