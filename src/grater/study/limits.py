"""What a job, a list or a sample may be called: one line that can be shown, typed and quoted."""

from __future__ import annotations

from grater.errors import UsageError

LONGEST_NAME = 80


def require_name(name: str) -> str:
    """The name; one that is empty, too long, or has signs that cannot be seen is refused."""
    if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        shown = f"{name[:40]!r}" if len(name) <= LONGEST_NAME else f"{len(name):,}"
        raise UsageError(f"name: expected 1 to {LONGEST_NAME} letters that can be seen, found {shown}")
    return name


MOST_JUDGMENTS = 100


MOST_UNITS = 1_000_000


MINUTES_OF_A_MONTH = 43_200


LONGEST_GUIDELINES = 100_000


LONGEST_FACT = 200


LONGEST_COMMENT = 2000


MOST_CENTS = 1_000_000


LONGEST_TITLE = 200


LONGEST_REASON = 500


MOST_GOLD_UNITS = 100_000


MOST_UNITS_A_RATER = 1_000_000


MOST_PANEL_PLACES = 1_000_000


LONGEST_PANEL_TEXT = 1000


MOST_DAYS = 365


MOST_AT_ONCE = 100


N_SAMPLED = 300


MOST_SAMPLED = 1_000_000


LONGEST_URL = 2000


MOST_VERBS = 30


LONGEST_VERB = 40
