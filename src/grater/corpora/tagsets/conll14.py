"""The 28 tags of the CoNLL-2013 and 2014 shared tasks: NUCLE's, with prepositions apart.

Ng et al. 2013 and 2014, "The CoNLL-2014 Shared Task on Grammatical Error Correction", section 3: the organisers split
`Wcip` into `Prep` and `Wci`, and moved redundant articles and prepositions out of `Rloc`, whose rest they called
`Rloc-`. They give no groups; ours are NUCLE's and one more for `Prep`.
"""

from __future__ import annotations

from grater.corpora.tagsets import nucle
from grater.corpora.tagsets.nucle import REDUNDANCY, WORD_CHOICE
from grater.corpora.tagsets.tagset import Tag, TagSet

IN_PLACE_OF: dict[str, tuple[Tag, ...]] = {
    "Wcip": (
        Tag(
            "Prep",
            "Preposition",
            "Prepositions",
            "A preposition is wrong, missing or unnecessary.",
            "They arrived [to → at] the station in time.",
        ),
        Tag(
            "Wci",
            "Wrong collocation/idiom",
            WORD_CHOICE,
            "Words that do not go together: a wrong collocation or idiom.",
            "We must [do → make] a decision today.",
        ),
    ),
    "Rloc": (
        Tag(
            "Rloc-",
            "Local redundancy",
            REDUNDANCY,
            "Nearby words already say it; it should be removed. Articles and prepositions are counted elsewhere.",
            "Please repeat the question [again → ∅].",
        ),
    ),
}

TAGSET = TagSet(
    "conll14",
    "CoNLL-2014 (Ng et al. 2014)",
    tuple(tag for old in nucle.TAGSET for tag in IN_PLACE_OF.get(old.code, (old,))),
)
