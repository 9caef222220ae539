"""Files that should hold the same sentences: do their texts and tokens agree?

Annotators of one test set often have a file each (CoNLL-2014: twelve).  Scores and agreement hold only if the files
have the same sentences, cut into the same tokens.  Files are read side by side, essay by essay, and each is held
against the first. Two files are taken for the same set if most of the essays that they share by number have the same
letters; of files that are not, nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest

from grater.corpora.check.finding import Finding, shown
from grater.model import Essay

RULE = "files-differ"


def check_together(corpora: Mapping[str, Iterable[Essay]]) -> Iterator[tuple[str, Finding]]:
    """For every file that differs from the first, its name and where it does so first."""
    first_name, *other_names = corpora
    comparisons = {name: _Comparison(first_name) for name in other_names}
    for first, *others in zip_longest(*corpora.values()):
        for comparison, other in zip(comparisons.values(), others, strict=True):
            comparison.see(first, other)
    for name, comparison in comparisons.items():
        for finding in comparison.findings():
            yield name, finding


class _Comparison:
    """What one file has otherwise than the first."""

    def __init__(self, first_name: str) -> None:
        self._first_name = first_name
        self._n_pairs = 0
        self._n_same_letters = 0
        self._n_different = 0
        self._n_unpaired = 0
        self._finding: Finding | None = None

    def see(self, first: Essay | None, other: Essay | None) -> None:
        if first is None or other is None:
            self._n_unpaired += first is not other
            self._keep(other or first, self._end(first, other))
            return
        self._n_pairs += 1
        self._n_same_letters += _letters(first) == _letters(other)
        difference = self._difference(first, other)
        self._n_different += difference is not None
        self._keep(other, difference)

    def _keep(self, essay: Essay | None, message: str | None) -> None:
        if essay and message and not self._finding:
            self._finding = Finding(RULE, essay.essay_id, essay.line, message)

    def _difference(self, first: Essay, other: Essay) -> str | None:
        noun = "essay" if other.tokens is None else "sentence"
        where = f"{noun} {self._n_pairs:,}, the first of those that differ from {self._first_name}"
        if first.tokens is not None and other.tokens is not None and len(first.tokens) != len(other.tokens):
            return f"{where}, has {len(other.tokens)} tokens here and {len(first.tokens)} there"
        if first.text == other.text:
            return None
        here, there = _parting(other.text, first.text)
        return f"{where}, has {shown(here)} here and {shown(there)} there"

    def _end(self, first: Essay | None, other: Essay | None) -> str | None:
        if first is other:
            return None
        return f"the file has {'fewer' if other is None else 'more'} essays than {self._first_name}"

    def findings(self) -> Iterator[Finding]:
        if self._finding and self._n_same_letters * 2 > self._n_pairs:
            n_different = self._n_different + self._n_unpaired
            message = f"{self._finding.message} (differing: {n_different:,})"
            yield Finding(RULE, self._finding.essay_id, self._finding.line, message)


def _letters(essay: Essay) -> str:
    return "".join(essay.text.split())


def _parting(here: str, there: str) -> tuple[str, str]:
    """The two texts from a little before the place where they part."""
    at = next((i for i, pair in enumerate(zip_longest(here, there)) if pair[0] != pair[1]), 0)
    start = max(0, at - 15)
    return here[start : at + 15], there[start : at + 15]
