"""Whether a corpus holds essays at all, and whether each document has an id of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grater.corpora.check.finding import Finding
from grater.model import Essay, short_hash

REPEAT = re.compile(r"(?P<own>.+)#\d+")


class Emptiness:
    """A file without a single essay is seldom what somebody meant."""

    def __init__(self) -> None:
        self._is_empty = True

    def see(self, essay: Essay) -> None:  # noqa: ARG002 (that there is one is all that matters)
        self._is_empty = False

    def findings(self) -> Iterator[Finding]:
        if self._is_empty:
            yield Finding("empty", "", None, "expected essays, found none; is it the right file and format?")


def repeats_id(essay: Essay) -> Iterator[Finding]:
    """Readers number a document id that comes again, `a#2`; repeated sentences, which have no ids, are lawful."""
    repeat = REPEAT.fullmatch(essay.essay_id)
    if repeat and essay.tokens is None and repeat["own"] != short_hash(essay.text):
        message = f"expected an id of its own for each document, found {repeat['own']!r} again"
        yield Finding("same-id", essay.essay_id, essay.line, message)
