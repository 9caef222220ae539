"""Maps into ERRANT's types: from CoNLL-2014 and from the CLC codes.  NUCLE goes there by way of CoNLL-2014.

ERRANT's operation (M, R, U) is in the edit, not in a CoNLL-2014 tag, and its main type is the word class, which most
of those tags do not name; so most answers are `split` by the operation, or `none`.  The maps are our reading of the
definitions.
"""

from __future__ import annotations

from grater.corpora.tagsets import errant
from grater.corpora.tagsets.mapped import Mapped, broader, exact, nothing, one_of


def _any_operation(main: str) -> Mapped:
    codes = [f"{letter}:{main}" for letter in errant.OPERATIONS if f"{letter}:{main}" in errant.TAGSET]
    return one_of(*codes, reason="M, R or U by what the edit does")


BY_WORDS = "ERRANT goes by the word class of the words that change, which this tag does not name"
STRUCTURE = "ERRANT has no types for the structure of sentences; what changes are words and punctuation"

FROM_CONLL14: dict[str, Mapped] = {
    "Vt": _any_operation("VERB:TENSE"),
    "Vm": _any_operation("VERB:TENSE"),
    "V0": one_of("M:VERB", "M:VERB:TENSE", reason="M:VERB:TENSE if the missing verb is an auxiliary, else M:VERB"),
    "Vform": _any_operation("VERB:FORM"),
    "SVA": exact("R:VERB:SVA"),
    "ArtOrDet": _any_operation("DET"),
    "Nn": one_of("R:NOUN:NUM", "R:NOUN:INFL", reason="R:NOUN:INFL if the plural does not exist, else R:NOUN:NUM"),
    "Npos": _any_operation("NOUN:POSS"),
    "Pform": broader("R:PRON", "R:PRON is any pronoun for another"),
    "Pref": nothing("a reference is mended by a pronoun, a noun or a determiner"),
    "Prep": _any_operation("PREP"),
    "Wci": nothing(BY_WORDS),
    "Wa": nothing("ERRANT has no type for acronyms"),
    "Wform": one_of("R:MORPH", "R:ADJ:FORM", reason="R:ADJ:FORM if an adjective is compared, else R:MORPH"),
    "Wtone": nothing(BY_WORDS),
    **dict.fromkeys(("Srun", "Smod", "Spar", "Sfrag", "Ssub"), nothing(STRUCTURE)),
    "WOinc": broader("R:WO", "R:WO is any exact reordering"),
    "WOadv": broader("R:WO", "R:WO is any exact reordering"),
    "Trans": nothing(BY_WORDS),
    "Mec": nothing("ERRANT tells punctuation, spelling and orthography apart; the tag does not"),
    "Rloc-": nothing(BY_WORDS),
    "Cit": nothing("ERRANT has no type for citations"),
    "Others": nothing(BY_WORDS),
    "Um": broader("UNK", "UNK is any error without a correction, whatever its kind"),
}

CLASSES = {
    "A": "PRON",
    "C": "CONJ",
    "D": "DET",
    "J": "ADJ",
    "N": "NOUN",
    "P": "PUNCT",
    "T": "PREP",
    "V": "VERB",
    "Y": "ADV",
}
QUANTIFIER = "ERRANT takes quantifiers for determiners or adjectives, by their tags"
AGREES = "ERRANT has agreement for verbs only"
COUNTS = "ERRANT knows nothing of countability"
MORPH = "R:MORPH does not say the word class"
FORMS = "ERRANT has forms for adjectives, nouns and verbs only"

FROM_CLC: dict[str, Mapped] = {
    **{f"{letter}{one}": exact(f"{letter}:{main}") for letter in errant.OPERATIONS for one, main in CLASSES.items()},
    **{f"{letter}Q": broader(f"{letter}:DET", QUANTIFIER) for letter in errant.OPERATIONS},
    **{letter: broader(f"{letter}:OTHER", "the code says what to do, not what with") for letter in errant.OPERATIONS},
    "AG": nothing("the code does not say which word fails to agree"),
    "AGA": broader("R:PRON", AGREES),
    "AGD": broader("R:DET", AGREES),
    "AGN": broader("R:NOUN:NUM", AGREES),
    "AGQ": broader("R:DET", f"{AGREES}; {QUANTIFIER}"),
    "AGV": exact("R:VERB:SVA"),
    "AS": nothing("ERRANT has no type for the complements of verbs"),
    "CD": broader("R:DET", COUNTS),
    "CE": nothing("several errors at once: ERRANT types each, or calls it UNK where there is no correction"),
    "CL": nothing(BY_WORDS),
    "CN": broader("R:NOUN:NUM", f"{COUNTS}; a plural that does not exist is R:NOUN:INFL"),
    "CQ": broader("R:DET", f"{COUNTS}; {QUANTIFIER}"),
    **dict.fromkeys(("DJ", "DN", "DV", "DY"), broader("R:MORPH", MORPH)),
    "DA": broader("R:PRON", FORMS),
    "DC": broader("R:CONJ", FORMS),
    "DD": broader("R:DET", FORMS),
    "DI": broader("R:DET", FORMS),
    "DQ": broader("R:DET", f"{FORMS}; {QUANTIFIER}"),
    "DT": broader("R:PREP", FORMS),
    "FA": broader("R:PRON", FORMS),
    "FD": broader("R:DET", FORMS),
    "FJ": exact("R:ADJ:FORM"),
    "FN": one_of("R:NOUN:NUM", "R:NOUN:POSS", reason="R:NOUN:POSS if the possessive changes, else R:NOUN:NUM"),
    "FQ": broader("R:DET", f"{FORMS}; {QUANTIFIER}"),
    "FV": exact("R:VERB:FORM"),
    "FY": broader("R:ADV", FORMS),
    "IA": broader("R:PRON", FORMS),
    "ID": nothing(BY_WORDS),
    "IJ": broader("R:ADJ:FORM", "R:ADJ:FORM is also forms that exist"),
    "IN": exact("R:NOUN:INFL"),
    "IQ": broader("R:DET", f"{FORMS}; {QUANTIFIER}"),
    "IV": exact("R:VERB:INFL"),
    "IY": broader("R:ADV", FORMS),
    "L": nothing(BY_WORDS),
    "QL": nothing("an error of the question is none of the writer's"),
    "S": exact("R:SPELL"),
    "SA": broader("R:SPELL", "ERRANT's word list is British: an American spelling is a wrong one"),
    "SX": nothing("a word that exists is typed by its word class"),
    "TV": broader("R:VERB:TENSE", "a missing or unnecessary auxiliary is M or U"),
    "W": broader("R:WO", "R:WO is exact reordering only"),
    "X": nothing("ERRANT has no type for negation"),
}
