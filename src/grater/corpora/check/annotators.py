"""Annotators who did not all read the same essays, and no-op lines that contradict the edits beside them.

A corpus in which each essay was read by one person is shared out, not uneven: nothing is said.  Where some essays
have several annotators, those who are missing elsewhere are named.  In M2 an annotator without a line is absent for
scoring (docs/corpora.md), so a file that leaves out an annotator who agrees with another, as the CoNLL-2014 combined
files do, says less than the files it was made of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from grater.corpora.check.finding import Finding
from grater.corpora.m2.noops import noops_as_read
from grater.model import Essay

DROPPED = "a combined file that drops an annotator who agrees; use the single-annotator files for agreement"
RARE = "an annotator of few sentences; do not count the others as agreement"


class Coverage:
    """Counts, while a corpus goes by, who read what and who marked what; a few numbers however long it is."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[frozenset[str], frozenset[str]]] = Counter()
        self._first: dict[frozenset[str], tuple[str, int | None]] = {}
        self._is_tokenised = False

    def see(self, essay: Essay) -> None:
        readers = frozenset(essay.annotators)
        self._counts[readers, frozenset(edit.rater for edit in essay.edits)] += 1
        self._first.setdefault(readers, (essay.essay_id, essay.line))
        self._is_tokenised |= essay.tokens is not None

    def findings(self) -> Iterator[Finding]:
        if max(map(len, self._first), default=0) < 2:
            return
        for annotator in sorted(frozenset().union(*self._first)):
            for readers, (essay_id, line) in self._first.items():
                if readers and annotator not in readers:
                    yield Finding("coverage", essay_id, line, self._message(annotator))
                    break

    def _message(self, annotator: str) -> str:
        without = {key: n for key, n in self._counts.items() if key[0] and annotator not in key[0]}
        marked = {key: n for key, n in without.items() if key[1]}
        others = _listed(frozenset().union(*(readers for readers, _ in without)))
        n_all, n_without, n_marked = (sum(counts.values()) for counts in (self._counts, without, marked))
        if not self._is_tokenised or not marked:
            what = "sentences" if self._is_tokenised else "essays"
            return f"annotator {annotator!r} is missing from {n_without:,} of {n_all:,} {what} that {others} read"
        why = RARE if n_marked * 2 > n_all else DROPPED
        where = f"{n_marked:,} of {n_all:,} sentences although {others} has edits there"
        return f"annotator {annotator!r} has no line in {where}: {why}"


def _listed(annotators: frozenset[str]) -> str:
    return "annotator " + " or ".join(map(repr, sorted(annotators)))


def contradicts_noop(essay: Essay) -> Iterator[Finding]:
    """An M2 annotator who says that there is no error and marks some; or who says so twice."""
    with_edits = {edit.rater for edit in essay.edits}
    as_read = noops_as_read(essay) or [[] for _ in essay.annotators]
    for annotator, lines in zip(essay.annotators, as_read, strict=True):
        if annotator in with_edits and lines:
            message = f"annotator {annotator!r} has a no-op line, which says that there is no error, beside edits"
            yield Finding("noop", essay.essay_id, essay.line, message)
        elif len(lines) > 1:
            message = f"annotator {annotator!r} has {len(lines)} no-op lines; one is enough"
            yield Finding("noop", essay.essay_id, essay.line, message)
