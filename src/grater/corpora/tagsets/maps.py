"""What a tag of one set is in another: the same, something broader, one of several, or nothing.

*Into CoNLL-2014.*  NUCLE's is the organisers' own re-mapping (Ng et al. 2013 and 2014, section 3).  Those from ERRANT
and from the CLC codes are our reading of the definitions: the published ones map data, not tags.  That a CoNLL-2014
tag does not tell missing from unnecessary does not make it broader: the edit itself says so.

*Into ERRANT.*  Its operation (M, R, U) is in the edit, not in a CoNLL-2014 tag, and its main type is the word class,
which most of those tags do not name; so most answers are one of several, by the operation, or nothing.

*Into the CLC codes.*  From ERRANT only: NUCLE and CoNLL-2014 tags do not name the word class that a CLC code needs.
The CLC tells agreement, countability and form of one word class apart; ERRANT does not.

Other pairs go by way of CoNLL-2014 (`translation`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from grater.corpora.tagsets import conll14, errant, nucle

Relation: TypeAlias = Literal["exact", "broader", "split", "none"]
"""exact: the same errors.  broader: the nearest tag covers more, or cuts otherwise; something is lost.  split: one of
several tags, and only the words of the edit can tell which.  none: no counterpart."""


@dataclass(frozen=True, slots=True)
class Mapped:
    """The answer of a map: no code for `none`, several for `split`, else one.  `reason` says what is lost or
    needed."""

    relation: Relation
    codes: tuple[str, ...]
    reason: str = ""

    @property
    def code(self) -> str | None:
        """The one counterpart, where there is one."""
        return self.codes[0] if len(self.codes) == 1 else None


def exact(code: str) -> Mapped:
    return Mapped("exact", (code,))


def broader(code: str, reason: str) -> Mapped:
    return Mapped("broader", (code,), reason)


def one_of(*codes: str, reason: str) -> Mapped:
    return Mapped("split", codes, reason)


def nothing(reason: str) -> Mapped:
    return Mapped("none", (), reason)


def _any_operation(main: str) -> Mapped:
    codes = [f"{letter}:{main}" for letter in errant.OPERATIONS if f"{letter}:{main}" in errant.TAGSET]
    return one_of(*codes, reason="M, R or U by what the edit does")


BY_WORDS = "ERRANT goes by the word class of the words that change, which this tag does not name"
STRUCTURE = "ERRANT has no types for the structure of sentences; what changes are words and punctuation"

ERRANT_FROM_CONLL14: dict[str, Mapped] = {
    "Vt": _any_operation("VERB:TENSE"),
    "Vm": _any_operation("VERB:TENSE"),
    "V0": one_of("M:VERB", "M:VERB:TENSE", reason="M:VERB:TENSE if the missing verb is an auxiliary, else M:VERB"),
    "Vform": _any_operation("VERB:FORM"),
    "SVA": exact("R:VERB:SVA"),
    "ArtOrDet": _any_operation("DET"),
    "Nn": one_of("R:NOUN:NUM", "R:NOUN:INFL", reason="R:NOUN:INFL if the plural does not exist, else R:NOUN:NUM"),
    "Npos": _any_operation("NOUN:POSS"),
    "Pform": broader("R:PRON", "R:PRON is any pronoun for another"),
    "Pref": nothing("a reference is corrected by a pronoun, a noun or a determiner"),
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
QUANTIFIER = "ERRANT treats quantifiers as determiners or adjectives, by their tags"
AGREES = "ERRANT has agreement for verbs only"
COUNTS = "ERRANT has no types for countability"
MORPH = "R:MORPH does not name the word class"
FORMS = "ERRANT has forms for adjectives, nouns and verbs only"

ERRANT_FROM_CLC: dict[str, Mapped] = {
    **{f"{letter}{one}": exact(f"{letter}:{main}") for letter in errant.OPERATIONS for one, main in CLASSES.items()},
    **{f"{letter}Q": broader(f"{letter}:DET", QUANTIFIER) for letter in errant.OPERATIONS},
    **{
        letter: broader(f"{letter}:OTHER", "the code says what to do, not with which word class")
        for letter in errant.OPERATIONS
    },
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
    "QL": nothing("an error in the question is not the writer's"),
    "S": exact("R:SPELL"),
    "SA": broader("R:SPELL", "ERRANT's word list is British: an American spelling is a wrong one"),
    "SX": nothing("a word that exists is typed by its word class"),
    "TV": broader("R:VERB:TENSE", "a missing or unnecessary auxiliary is M or U"),
    "W": broader("R:WO", "R:WO is exact reordering only"),
    "X": nothing("ERRANT has no type for negation"),
}


NUCLE_FROM_CONLL14: dict[str, Mapped] = {tag.code: exact(tag.code) for tag in conll14.TAGSET} | {
    "ArtOrDet": broader("ArtOrDet", "a redundant article may be Rloc in NUCLE"),
    "Prep": broader("Wcip", "Wcip is also collocations and idioms; a redundant preposition may be Rloc in NUCLE"),
    "Wci": broader("Wcip", "Wcip is also prepositions"),
    "Rloc-": broader("Rloc", "Rloc is also redundant articles and prepositions"),
}


CLASS_OF = {main: one for one, main in CLASSES.items() if main != "DET"}
CLC_DETERMINERS = "the CLC has codes of their own for quantifiers, and for agreement and countability of determiners"

CLC_FROM_ERRANT: dict[str, Mapped] = {
    **{f"{letter}:{main}": exact(letter + one) for letter in errant.OPERATIONS for main, one in CLASS_OF.items()},
    **{f"{letter}:DET": broader(f"{letter}D", CLC_DETERMINERS) for letter in errant.OPERATIONS},
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


CONLL14_FROM_NUCLE: dict[str, Mapped] = {tag.code: exact(tag.code) for tag in nucle.TAGSET} | {
    "ArtOrDet": broader("ArtOrDet", "CoNLL-2014 counts redundant articles here too, which NUCLE calls Rloc"),
    "Wcip": one_of("Prep", "Wci", reason="Prep if only prepositions change, else Wci"),
    "Rloc": one_of(
        "ArtOrDet", "Prep", "Rloc-", reason="ArtOrDet if only articles go, Prep if only prepositions go, else Rloc-"
    ),
}

WORDS = "CoNLL-2014 has no word classes; a wrong word is Wci, whatever its class"
LINKS = "Trans is about links between clauses and sentences; a conjunction between words fits no tag better"
NO_CLASS = "the type does not say what is wrong, only that no other type fits"

ERRANT_MISSING: dict[str, Mapped] = {
    "ADJ": nothing("CoNLL-2014 has no tag for a missing adjective"),
    "ADV": nothing("CoNLL-2014 has no tag for a missing adverb"),
    "CONJ": broader("Trans", LINKS),
    "CONTR": nothing("a missing contraction is a missing verb, a negation or a possessive"),
    "DET": exact("ArtOrDet"),
    "NOUN": nothing("CoNLL-2014 has no tag for a missing noun"),
    "NOUN:POSS": exact("Npos"),
    "OTHER": broader("Others", NO_CLASS),
    "PART": broader("Wci", "a particle belongs to its verb: CoNLL-2014 calls it a collocation"),
    "PREP": exact("Prep"),
    "PRON": broader("Pref", "CoNLL-2014 has no tag for a missing pronoun; Pref is the nearest"),
    "PUNCT": broader("Mec", "Mec is also spelling, capitals and typing"),
    "VERB": exact("V0"),
    "VERB:FORM": broader("Vform", "ERRANT means a missing infinitival to"),
    "VERB:TENSE": one_of("Vt", "Vm", reason="Vm if the auxiliary is a modal, else Vt"),
}
ERRANT_UNNECESSARY: dict[str, Mapped] = {
    **dict.fromkeys(
        ("ADJ", "ADV", "NOUN", "OTHER", "PART", "PRON", "VERB"),
        broader("Rloc-", "Rloc- is any word that says nothing new"),
    ),
    "CONJ": broader("Trans", LINKS),
    "CONTR": nothing("an unnecessary contraction is a verb, a negation or a possessive"),
    "DET": exact("ArtOrDet"),
    "NOUN:POSS": exact("Npos"),
    "PREP": exact("Prep"),
    "PUNCT": broader("Mec", "Mec is also spelling, capitals and typing"),
    "VERB:FORM": broader("Vform", "ERRANT means an unnecessary infinitival to"),
    "VERB:TENSE": one_of("Vt", "Vm", reason="Vm if the auxiliary is a modal, else Vt"),
}
ERRANT_REPLACEMENT: dict[str, Mapped] = {
    "ADJ": broader("Wci", WORDS),
    "ADJ:FORM": broader("Wform", "Wform is any word in the wrong form; CoNLL-2014 has no tag for comparatives"),
    "ADV": broader("Wci", WORDS),
    "CONJ": broader("Trans", LINKS),
    "CONTR": broader("Wtone", "a contraction written out is a matter of tone"),
    "DET": exact("ArtOrDet"),
    "MORPH": broader("Wform", "MORPH also holds forms that have no type of their own"),
    "NOUN": broader("Wci", WORDS),
    "NOUN:INFL": broader("Nn", "a plural that does not exist may also be called Mec"),
    "NOUN:NUM": exact("Nn"),
    "NOUN:POSS": exact("Npos"),
    "ORTH": broader("Mec", "Mec is also spelling and punctuation"),
    "OTHER": broader("Others", NO_CLASS),
    "PART": broader("Wci", "a particle belongs to its verb: CoNLL-2014 calls it a collocation"),
    "PREP": exact("Prep"),
    "PRON": one_of("Pform", "Pref", reason="Pform if only the form of the pronoun changes, else Pref"),
    "PUNCT": broader("Mec", "Mec is also spelling, capitals and typing"),
    "SPELL": broader("Mec", "Mec is also punctuation, capitals and typing"),
    "VERB": broader("Wci", WORDS),
    "VERB:FORM": exact("Vform"),
    "VERB:INFL": broader("Vform", "a verb form that does not exist may also be called Mec"),
    "VERB:SVA": exact("SVA"),
    "VERB:TENSE": one_of("Vt", "Vm", reason="Vm if a modal verb changes, else Vt"),
    "WO": one_of("WOinc", "WOadv", reason="WOadv if an adverb or adjective moves, else WOinc"),
}
CONLL14_FROM_ERRANT: dict[str, Mapped] = {
    **{f"M:{main}": mapped for main, mapped in ERRANT_MISSING.items()},
    **{f"R:{main}": mapped for main, mapped in ERRANT_REPLACEMENT.items()},
    **{f"U:{main}": mapped for main, mapped in ERRANT_UNNECESSARY.items()},
    "UNK": broader("Um", "UNK is any error without a correction, whatever its kind"),
}

DETERMINER = "CoNLL-2014 does not tell agreement, countability and form of determiners apart"
NUMBER = "CoNLL-2014 has one tag for the number of nouns"
EXTRA = broader("Rloc-", "Rloc- is any word that says nothing new")
CONLL14_FROM_CLC: dict[str, Mapped] = {
    "AG": nothing("the code does not say which word fails to agree"),
    "AGA": broader("Pref", "Pref is also pronouns that point to nothing clear"),
    **dict.fromkeys(
        ("AGD", "AGQ", "CD", "CQ", "DD", "DI", "DQ", "FD", "FQ", "IQ"),
        broader("ArtOrDet", DETERMINER),
    ),
    "AGN": broader("Nn", NUMBER),
    "AGV": exact("SVA"),
    "AS": nothing("CoNLL-2014 has no tag for the complements of verbs; Wci, Prep or WOinc, by what changes"),
    "CE": broader("Um", "Um cannot be corrected at all; a compound error sometimes can"),
    "CL": broader("Wci", "Wci is also idioms"),
    "CN": broader("Nn", NUMBER),
    "DA": broader("Pform", "Pform is any wrong form of a pronoun"),
    "DC": broader("Trans", LINKS),
    **dict.fromkeys(("DJ", "DN", "DV", "DY"), broader("Wform", "Wform does not name the word class")),
    "DT": broader("Prep", "Prep is any wrong preposition"),
    "FA": exact("Pform"),
    **dict.fromkeys(("FJ", "FY", "IJ", "IY"), broader("Wform", "CoNLL-2014 has no tag for comparatives")),
    "FN": one_of("Nn", "Npos", reason="Npos if the possessive changes, else Nn"),
    "FV": exact("Vform"),
    "IA": broader("Pform", "Pform is any wrong form of a pronoun"),
    "ID": broader("Wci", "Wci is also collocations"),
    "IN": broader("Nn", NUMBER),
    "IV": broader("Vform", "a verb form that does not exist may also be called Mec"),
    "L": exact("Wtone"),
    "M": nothing("the code does not say what is missing"),
    "MA": broader("Pref", "CoNLL-2014 has no tag for a missing pronoun; Pref is the nearest"),
    "MC": broader("Trans", LINKS),
    "MD": exact("ArtOrDet"),
    "MJ": nothing("CoNLL-2014 has no tag for a missing adjective"),
    "MN": nothing("CoNLL-2014 has no tag for a missing noun"),
    **dict.fromkeys(("MP", "RP", "UP"), broader("Mec", "Mec is also spelling, capitals and typing")),
    **dict.fromkeys(("MQ", "RQ", "UQ"), broader("ArtOrDet", "CoNLL-2014 counts quantifiers as determiners")),
    "MT": exact("Prep"),
    "MV": exact("V0"),
    "MY": nothing("CoNLL-2014 has no tag for a missing adverb"),
    "QL": nothing("an error in the question is not the writer's"),
    "R": broader("Others", NO_CLASS),
    "RA": broader("Pref", "Pref is a pronoun that points to the wrong thing"),
    "RC": broader("Trans", LINKS),
    "RD": exact("ArtOrDet"),
    **dict.fromkeys(("RJ", "RN", "RV", "RY"), broader("Wci", WORDS)),
    "RT": exact("Prep"),
    **dict.fromkeys(("S", "SA", "SX"), broader("Mec", "Mec is also punctuation, capitals and typing")),
    "TV": one_of("Vt", "Vm", reason="Vm if a modal verb changes, else Vt"),
    "U": EXTRA,
    "UA": EXTRA,
    "UC": broader("Trans", LINKS),
    "UD": exact("ArtOrDet"),
    **dict.fromkeys(("UJ", "UN", "UV", "UY"), EXTRA),
    "UT": exact("Prep"),
    "W": one_of("WOinc", "WOadv", reason="WOadv if an adverb or adjective moves, else WOinc"),
    "X": nothing("CoNLL-2014 has no tag for negation; Vform or Others, by what changes"),
}
