"""Which strings are words of English: a list, for telling a misspelling from a wrong word.

The list, `words.model`, is made of two that Debian ships (`wbritish-large` and `wamerican-large` 2020.12.07), which
come from Kevin Atkinson's SCOWL (Spell Checker Oriented Word Lists); NOTICE has its terms.  Forms in *'s* are left
out.  It is read when it is first asked for.
"""

from __future__ import annotations

from functools import cache

from grater.models import read_model, shipped

KIND = "words"


@cache
def words() -> frozenset[str]:
    """All words of the list, as written there: names have their capital."""
    return frozenset(read_model(shipped(KIND), kind=KIND).strings["words"])


def is_word(text: str) -> bool:
    """Whether the text is on the list, as it stands or in lower case."""
    known = words()
    return text in known or text.lower() in known
