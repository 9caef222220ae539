"""How far annotators of a corpus agree: whether a token is wrong, in what way, and what should stand there.

Dahlmeier, Ng & Wu 2013 (NUCLE), section 3; docs/raters-needed.md has our choices and numbers.
"""

from grater.agreement.edits.marks import Marks, Several, marks_of
from grater.agreement.edits.summary import (
    CorpusAgreement,
    EditAgreement,
    EditOptions,
    PairOfAnnotators,
    edit_agreement,
    mean_of,
)

__all__ = [
    "CorpusAgreement",
    "EditAgreement",
    "EditOptions",
    "Marks",
    "PairOfAnnotators",
    "Several",
    "edit_agreement",
    "marks_of",
    "mean_of",
]
