"""Lint for learner corpora: what is wrong with an annotated corpus, and on which line.

`check_corpora` gives the findings of several corpora, `check_essays` those of one as it streams by; `check_together`
compares files that should hold the same sentences; `RULES` names what is looked for.  What looks odd but is allowed
is counted in a `Census`.
"""

from grater.corpora.check.findings import Census, CheckResult, Finding, census_of
from grater.corpora.check.rules import RULES, check_corpora, check_essays, check_together

__all__ = [
    "RULES",
    "Census",
    "CheckResult",
    "Finding",
    "census_of",
    "check_corpora",
    "check_essays",
    "check_together",
]
