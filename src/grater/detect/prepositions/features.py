"""The 25 features of a context, and the class prior.

T&C 2008, section 3.1, has 25 features: words and tags next to the preposition and in the heads of nearby phrases,
combinations of heads, and features of tags only for words that training did not see.  The paper does not list them
(Tetreault & Chodorow, COLING 2008, section 3.1, names some); `TEMPLATES` is our list, and docs/detectors.md explains
each.  `learning.hashing` makes a 32-bit key of each.
"""

from __future__ import annotations

from grater.detect.learning.hashing import Hashing, Template, template
from grater.detect.prepositions.contexts import FIELDS

TEMPLATES: tuple[Template, ...] = (
    template("words", "l1"),
    template("words", "r1"),
    template("n-grams", "l2", "l1"),
    template("n-grams", "r1", "r2"),
    template("n-grams", "l1", "r1"),
    template("n-grams", "l3", "l2", "l1"),
    template("n-grams", "r1", "r2", "r3"),
    template("n-grams", "l2", "l1", "r1"),
    template("n-grams", "l1", "r1", "r2"),
    template("n-grams", "l2", "l1", "r1", "r2"),
    template("heads", "verb", "nearest"),
    template("heads", "noun", "nearest"),
    template("heads", "head", "head.tag"),
    template("combinations", "l1", "head"),
    template("combinations", "verb", "head"),
    template("combinations", "noun", "head"),
    template("combinations", "verb", "l1"),
    template("combinations", "r1", "head"),
    template("combinations", "l2", "l1", "head"),
    template("combinations", "head", "after"),
    template("tags", "l1.tag", "r1.tag", "head.tag"),
    template("tags", "l2.tag", "l1.tag", "r1.tag", "r2.tag"),
    template("tags", "verb.tag", "noun.tag", "head.tag", "nearest"),
    template("words and tags", "l1", "r1.tag", "head.tag"),
    template("words and tags", "prior", "l1.tag", "r1.tag"),
)
PRIOR = Template("prior", "prior", ())
ALL = (*TEMPLATES, PRIOR)
HASHING = Hashing(FIELDS, ALL)
