"""The features of a noun phrase: templates over its row, and the class prior.

In the manner of Han, Chodorow & Leacock 2006 and Lee 2004, whom the paper builds on: the head, words and tags around
and inside the phrase, and their combinations.  Groups can be left out to see what they are worth: `context`
(previous mentions; Lee et al. 2009, section 5, "features from a wider context should improve performance"),
`entropy` (the noun's own distribution) and `agreement` (verbs that show its number).
"""

from __future__ import annotations

from grater.detect.articles.rows import FIELDS
from grater.detect.learning.hashing import Hashing, Template, template

SENTENCE, CONTEXT, ENTROPY, AGREEMENT, PRIOR = "sentence", "context", "entropy", "agreement", "prior"

TEMPLATES: tuple[Template, ...] = (
    template(SENTENCE, "head"),
    template(SENTENCE, "l1"),
    template(SENTENCE, "r1"),
    template(SENTENCE, "m1"),
    template(SENTENCE, "m2"),
    template(SENTENCE, "l1", "head"),
    template(SENTENCE, "m1", "head"),
    template(SENTENCE, "m2", "head"),
    template(SENTENCE, "head", "r1"),
    template(SENTENCE, "l2", "l1"),
    template(SENTENCE, "l2", "l1", "head"),
    template(SENTENCE, "l3", "l2", "l1"),
    template(SENTENCE, "r1", "r2"),
    template(SENTENCE, "head", "r1", "r2"),
    template(SENTENCE, "l1", "m1"),
    template(SENTENCE, "l1", "r1"),
    template(SENTENCE, "l1", "head", "r1"),
    template(SENTENCE, "l1", "m1", "head"),
    template(SENTENCE, "l2", "l1", "m1"),
    template(SENTENCE, "m1", "r1"),
    template(SENTENCE, "r1", "r2", "r3"),
    template(SENTENCE, "verb", "nearest", "l1.tag"),
    template(SENTENCE, "verb", "head"),
    template(SENTENCE, "verb", "l1"),
    template(SENTENCE, "prior", "l1"),
    template(SENTENCE, "prior", "l1", "head"),
    template(SENTENCE, "head", "next"),
    template(SENTENCE, "r1", "next"),
    template(SENTENCE, "r1", "next.form", "l1"),
    template(SENTENCE, "prior.form", "l1"),
    template(SENTENCE, "prior.form", "l1", "head"),
    template(SENTENCE, "initial", "head"),
    template(SENTENCE, "initial", "m1.tag", "r1"),
    template(SENTENCE, "l1.tag", "m1.tag", "r1.tag"),
    template(SENTENCE, "l2.tag", "l1.tag", "m1.tag", "m2.tag"),
    template(SENTENCE, "l1.tag", "r1.tag", "r2.tag", "n.modifiers"),
    template(SENTENCE, "m2.tag", "head"),
    template(SENTENCE, "head", "r1.tag", "l1.tag"),
    template(SENTENCE, "l1", "m1.tag", "r1"),
    template(SENTENCE, "head.class", "l1.tag", "r1.tag"),
    template(SENTENCE, "head.class", "l1"),
    template(SENTENCE, "head.class", "r1"),
    template(SENTENCE, "head.class", "m1"),
    template(SENTENCE, "head.class", "m2"),
    template(SENTENCE, "head.class", "l2", "l1"),
    template(SENTENCE, "head.class", "l1", "r1"),
    template(SENTENCE, "head.class", "r1", "r2"),
    template(SENTENCE, "head.class", "l1.class", "r1.class"),
    template(SENTENCE, "head.class", "verb.class", "l1.tag"),
    template(SENTENCE, "head.class", "l1.class", "m1.class"),
    template(SENTENCE, "head", "l1.class"),
    template(SENTENCE, "head", "r1.class"),
    template(SENTENCE, "l2.class", "l1", "m1.class"),
    template(SENTENCE, "head.class", "prior.form", "l1"),
    template(CONTEXT, "head.class", "mention.form", "l1.tag"),
    template(CONTEXT, "mention", "mention.form"),
    template(CONTEXT, "mention.form", "head"),
    template(CONTEXT, "mention.form", "mention.count", "n.modifiers"),
    template(CONTEXT, "mention.form", "l1"),
    template(CONTEXT, "mention.form", "r1"),
    template(CONTEXT, "mention.form", "m1"),
    template(CONTEXT, "mention.phrase", "mention"),
    template(ENTROPY, "shares"),
    template(ENTROPY, "entropy", "l1.tag", "r1.tag"),
    template(ENTROPY, "shares", "l1"),
    template(ENTROPY, "shares", "r1"),
    template(ENTROPY, "shares", "m1"),
    template(ENTROPY, "shares", "m2"),
    template(ENTROPY, "shares", "l2", "l1"),
    template(ENTROPY, "shares", "mention", "mention.form"),
    template(ENTROPY, "shares", "prior.form", "l1"),
    template(AGREEMENT, "agreement", "left.agreement"),
    template(AGREEMENT, "agreement", "head"),
    template(AGREEMENT, "agreement", "shares"),
    template(AGREEMENT, "agreement", "m1"),
    template(AGREEMENT, "left.agreement", "shares"),
    template(AGREEMENT, "left.agreement", "l2"),
    Template("prior", PRIOR, ()),
)
HASHING = Hashing(FIELDS, TEMPLATES)
GROUPS = (SENTENCE, CONTEXT, ENTROPY, AGREEMENT, PRIOR)


def columns_of(*groups: str) -> tuple[int, ...]:
    """The templates of some groups."""
    return tuple(place for place, each in enumerate(TEMPLATES) if each.group in groups)
