"""The invariant checker: whether a study keeps its promises (`grater study check`).

Each rule is a query that finds what must not be; a healthy study gives no violation at any moment, also right after
the machine lost its power.  The rules read the tables as they are and trust none of the code that writes them.
"""

from __future__ import annotations

from grater.store.checks.rules import RULES
from grater.store.checks.violation import Violation
from grater.store.transaction import Tx

__all__ = ["RULES", "Violation", "violations"]


def violations(tx: Tx) -> list[Violation]:
    """Everything that breaks a promise."""
    return [Violation(kind, text) for kind, rules in RULES.items() for rule in rules for text in rule(tx)]
