"""Maps into the CoNLL-2014 tags: from NUCLE, from ERRANT, from the CLC codes.

NUCLE's is the organisers' own re-mapping (Ng et al. 2013 and 2014, section 3).  The other two are our reading of the
definitions: the published ones map data, not tags.  That a CoNLL-2014 tag does not tell missing from unnecessary does
not make it broader: the edit itself says so.
"""

from __future__ import annotations

from grater.corpora.tagsets import nucle
from grater.corpora.tagsets.mapped import Mapped, broader, exact, nothing, one_of

FROM_NUCLE: dict[str, Mapped] = {tag.code: exact(tag.code) for tag in nucle.TAGSET} | {
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
FROM_ERRANT: dict[str, Mapped] = {
    **{f"M:{main}": mapped for main, mapped in ERRANT_MISSING.items()},
    **{f"R:{main}": mapped for main, mapped in ERRANT_REPLACEMENT.items()},
    **{f"U:{main}": mapped for main, mapped in ERRANT_UNNECESSARY.items()},
    "UNK": broader("Um", "UNK is any error without a correction, whatever its kind"),
}

DETERMINER = "CoNLL-2014 does not tell agreement, countability and form of determiners apart"
NUMBER = "CoNLL-2014 has one tag for the number of nouns"
EXTRA = broader("Rloc-", "Rloc- is any word that says nothing new")
FROM_CLC: dict[str, Mapped] = {
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
    **dict.fromkeys(("DJ", "DN", "DV", "DY"), broader("Wform", "Wform does not say the word class")),
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
    "QL": nothing("an error of the question is none of the writer's"),
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
