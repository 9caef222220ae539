"""Words that keep their full stop, in two lists: those that never end a sentence, and those that may.

Kiss & Strunk 2006 ("Unsupervised Multilingual Sentence Boundary Detection", Computational Linguistics 32:4) learn
abbreviations from a corpus; one essay is too small to learn from, so these are listed.  Words that are also common
words of English (no, sat, sun, mar, art) are left out: a learner who writes *no.* has ended a sentence.  Case counts
where it tells the two apart (*Dr.*, *Wed.*); lower-case entries are found in any case.
"""

from __future__ import annotations

_NEVER_FINAL = (
    "Mr Mrs Ms Mx Dr Prof St Mt Rev Gen Col Capt Cpt Lt Sgt Maj Gov Sen Rep Hon Messrs Mme Mlle Fr "
    "Fig Figs fig figs Eq Eqs Vol Vols vol vols Ch pp vs cf viz approx incl e.g i.e Nos nos"
)
NEVER_FINAL = frozenset(_NEVER_FINAL.split())
"""A name, a number or the rest of the sentence must follow."""

_MAY_BE_FINAL = (
    "etc al Jr Sr Inc Ltd Co Corp Bros Dept dept Univ Assn Ave Blvd Rd Ph.D B.Sc M.Sc B.Ed M.Ed M.Phil B.Eng M.Eng "
    "Jan Feb Apr Jun Jul Aug Sep Sept Oct Nov Dec Mon Tue Tues Wed Thu Thur Thurs Fri a.m p.m"
)
MAY_BE_FINAL = frozenset(_MAY_BE_FINAL.split())
"""The capital of the next word decides."""

ABBREVIATIONS = NEVER_FINAL | MAY_BE_FINAL
