"""The documents that the sentences of an M2 file were cut from, found by their words.

M2 does not say where one essay ends and the next begins; the SGML of the same corpus does.  Both are in the same
order, so each sentence is looked for from where the one before ended, first in the same document and then in those
after it.  White space and quotation marks are not compared: tokenisers put in the one and change the other (`"`
becomes two backticks or two apostrophes).  Words between sentences, and whole documents, may be passed over.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from grater.errors import Problems
from grater.model import Essay

QUOTES = "\"'`´‘’‚‛“”„‟«»"
COMPARED = re.compile(rf"[^\s{QUOTES}]")
LEADING_QUOTES = re.compile(rf"[\s{QUOTES}]*")
QUOTE = re.compile(rf"``|''|[{QUOTES}]")
MOST_QUOTED = 60


@dataclass(frozen=True, slots=True)
class Letters:
    """What is compared of a document, and where in its text each character of that stood."""

    document: Essay
    letters: str
    offsets: tuple[int, ...]

    def offset(self, start: int, n_quotes: int) -> int:
        """Where the text of these letters begins, with the quotation marks before it that belong to it."""
        text = self.document.text
        before = self.offsets[start - 1] + 1 if start else 0
        offset = self.offsets[start] if start < len(self.offsets) else len(text)
        quotes = [before + quote.start() for quote in QUOTE.finditer(text[before:offset])]
        return quotes[-n_quotes:][0] if n_quotes and quotes else offset


class Finder:
    """Walks through documents in order; `find` says where a sentence stands, and the next is looked for after it."""

    def __init__(self, documents: Iterable[Essay]) -> None:
        self._rest = iter(documents)
        self._ahead: deque[Letters] = deque()
        self._at = 0

    def find(self, sentence: str) -> tuple[Essay, int] | None:
        """The document and the offset in it; nothing where the sentence is in none from here on."""
        wanted = "".join(COMPARED.findall(sentence))
        for n_passed, document in enumerate(self._documents()):
            start = document.letters.find(wanted, 0 if n_passed else self._at)
            if start >= 0:
                self._pass(n_passed, start + len(wanted))
                return document.document, document.offset(start, _n_leading_quotes(sentence))
        return None

    def _documents(self) -> Iterator[Letters]:
        yield from tuple(self._ahead)
        for document in self._rest:
            self._ahead.append(_letters(document))
            yield self._ahead[-1]

    def _pass(self, n_documents: int, at: int) -> None:
        for _ in range(n_documents):
            self._ahead.popleft()
        self._at = at


def attach_documents(essays: Iterable[Essay], documents: Iterable[Essay]) -> Iterator[Essay]:
    """The essays with `document` and `document_start` in their metadata; one that is in no document is an error."""
    finder, problems = Finder(documents), Problems("documents")
    for number, essay in enumerate(essays, 1):
        position = finder.find(essay.text)
        if position is None:
            where = f"sentence {number}" if essay.line is None else f"sentence {number} (line {essay.line})"
            problems.add(
                f"expected {where} in a document after the sentence before it, found none: {_quoted(essay.text)}"
            )
            continue
        document, start = position
        metadata = {**essay.metadata, "document": document.essay_id, "document_start": start}
        yield replace(essay, metadata=metadata)
    problems.done()


def _letters(document: Essay) -> Letters:
    letters = [(match.group(), match.start()) for match in COMPARED.finditer(document.text)]
    return Letters(document, "".join(letter for letter, _ in letters), tuple(start for _, start in letters))


def _n_leading_quotes(sentence: str) -> int:
    leading = LEADING_QUOTES.match(sentence)
    return len(QUOTE.findall(leading.group())) if leading else 0


def _quoted(text: str) -> str:
    return repr(text if len(text) <= MOST_QUOTED else text[: MOST_QUOTED - 3] + "...")
