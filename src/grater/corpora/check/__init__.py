"""Lint for learner corpora: what is wrong with an annotated corpus, said with the line where it stands.

`check_essays` gives the findings of one corpus as it streams by; `check_together` compares files that should hold the
same sentences; `RULES` names what is looked for.  What looks odd and is lawful is counted in a `Census`.
"""

from grater.corpora.check.findings import Census, Finding, census_of
from grater.corpora.check.rules import RULES, check_essays, check_together

__all__ = ["RULES", "Census", "Finding", "census_of", "check_essays", "check_together"]
