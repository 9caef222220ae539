"""Penn tags as numbers; the order must not change, it is part of every model."""

from __future__ import annotations

TAGS = (
    *("#", "$", "''", "(", ")", ",", "-LRB-", "-RRB-", ".", ":"),
    *("CC", "CD", "DT", "EX", "FW", "IN", "JJ", "JJR", "JJS", "LS", "MD", "NN", "NNP", "NNPS", "NNS", "PDT", "POS"),
    *("PRP", "PRP$", "RB", "RBR", "RBS", "RP", "SYM", "TO", "UH", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ"),
    *("WDT", "WP", "WP$", "WRB", "``", "HYPH", "NFP", "ADD", "AFX", "GW", "XX"),
)
TAG_NUMBERS = {tag: number for number, tag in enumerate(TAGS, 1)}
STRANGE_TAG = len(TAGS) + 1
