"""What pages call the values that a study stores: one table for an editor, and the filter `shown` of the templates.

A value that is plain English already (`open`, `paused`, `valid`) is shown as it is.  The words of pay and of panels
are decided where the policies and endings are, because reports and messages use them too.
"""

from __future__ import annotations

from collections.abc import Mapping

from grater.crowd.panels import ENDING_WORDS
from grater.crowd.pay import POLICY_WORDS

STATES: Mapping[str, str] = {
    "ejected": "removed",
    "ended": "no access",
    "forgiven": "not counted",
    "human": "person",
    "joined": "working",
    "joint": "joint seat",
    "new": "not tested",
    "quiz": "in the quiz",
    "returned": "left early",
    "screened-out": "screened out",
    "suspended": "under review",
    "timed-out": "timed out",
    "waiting": "queued",
}
"""Of jobs, raters, places in a panel, gold, payments, webhooks and tasks in the background."""

REASON_WORDS: Mapping[str, str] = {
    "gold": "too many wrong answers to gold",
    "manager": "decided by a manager",
    "quiz": "failed the entry quiz",
}
"""Why a rater's standing changed; other reasons are sentences already."""

PROVIDER_WORDS: Mapping[str, str] = {
    "prolific": "Prolific",
    "connect": "CloudResearch Connect",
    "sona": "SONA",
    "generic": "Another platform",
    "open": "Anywhere: a link for anyone",
}
"""Where the raters of a crowd come from, in the order in which they are offered."""

VOCABULARIES: Mapping[str, Mapping[str, str]] = {
    "": STATES,
    "policy": POLICY_WORDS,
    "ending": ENDING_WORDS,
    "provider": PROVIDER_WORDS,
    "reason": REASON_WORDS,
}


def shown(value: str, vocabulary: str = "") -> str:
    """The words for a value; the value itself where it needs none."""
    return VOCABULARIES[vocabulary].get(value, value)
