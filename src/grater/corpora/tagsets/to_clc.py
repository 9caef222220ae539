"""Maps into the CLC codes: from ERRANT.  NUCLE and CoNLL-2014 tags do not name the word class that a CLC code needs.

Our reading of the definitions.  The CLC tells agreement, countability and form of one word class apart; ERRANT does
not.
"""

from __future__ import annotations

from grater.corpora.tagsets import errant
from grater.corpora.tagsets.mapped import Mapped, broader, exact, nothing, one_of
from grater.corpora.tagsets.to_errant import CLASSES

CLASS_OF = {main: one for one, main in CLASSES.items() if main != "DET"}
DETERMINER = "the CLC has codes of their own for quantifiers, and for agreement and countability of determiners"

FROM_ERRANT: dict[str, Mapped] = {
    **{f"{letter}:{main}": exact(letter + one) for letter in errant.OPERATIONS for main, one in CLASS_OF.items()},
    **{f"{letter}:DET": broader(f"{letter}D", DETERMINER) for letter in errant.OPERATIONS},
    **{f"{letter}:OTHER": exact(letter) for letter in errant.OPERATIONS},
    **{f"{letter}:PART": broader(f"{letter}T", "the CLC has no class for particles") for letter in errant.OPERATIONS},
    **{
        f"{letter}:CONTR": nothing("the CLC has no code for contractions; by the word, a verb or punctuation")
        for letter in errant.OPERATIONS
    },
    **{
        f"{letter}:NOUN:POSS": broader("FN", "FN is any wrong form of a noun; the CLC also uses punctuation codes")
        for letter in errant.OPERATIONS
    },
    "R:ADJ:FORM": broader("FJ", "a form that does not exist is IJ"),
    "R:MORPH": one_of("DJ", "DN", "DV", "DY", reason="by the word class of the correction"),
    "R:NOUN:INFL": broader("IN", "the plural of a noun that has none is CN"),
    "R:NOUN:NUM": one_of(
        "FN", "AGN", "CN", reason="AGN for agreement, CN for countability, else FN: only a reader can tell"
    ),
    "R:ORTH": broader("RP", "the CLC counts capitals and word division as punctuation"),
    "R:SPELL": broader("S", "American spellings are SA"),
    "M:VERB:FORM": broader("FV", "the CLC has no code for a missing infinitival to"),
    "R:VERB:FORM": exact("FV"),
    "U:VERB:FORM": broader("FV", "the CLC has no code for an unnecessary infinitival to"),
    "R:VERB:INFL": exact("IV"),
    "R:VERB:SVA": exact("AGV"),
    "M:VERB:TENSE": broader("TV", "a missing auxiliary may also be MV"),
    "R:VERB:TENSE": exact("TV"),
    "U:VERB:TENSE": broader("TV", "an unnecessary auxiliary may also be UV"),
    "R:WO": broader("W", "W is any wrong order, with other changes too"),
    "UNK": nothing("every CLC code says what is wrong; UNK does not"),
}
