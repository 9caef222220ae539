"""The study of article-number constructions analysed (Lee, Tetreault & Chodorow 2009, sections 4 and 5).

Raters say of each of five constructions of a noun whether it would do: without context, then with it.  What comes
out: how freely each rater says yes (Table 4), where two raters part (Table 5), how often several constructions are
right, how near the raters come to the original (the ceilings of section 4), and what agreement depends on: the stage,
a previous mention of the noun, the frequency of the construction.
"""

from grater.agreement.constructions.marks import CONSTRUCTIONS, IN_CONTEXT, NO_CONTEXT, Marks, marks_of
from grater.agreement.constructions.summary import ConstructionStudy, construction_study

__all__ = [
    "CONSTRUCTIONS",
    "IN_CONTEXT",
    "NO_CONTEXT",
    "ConstructionStudy",
    "Marks",
    "construction_study",
    "marks_of",
]
