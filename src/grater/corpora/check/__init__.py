"""Lint for learner corpora: what is wrong with an annotated corpus, and on which line.

`check_corpora` gives the findings of several corpora, `check_essays` those of one as it streams by; `check_together`
compares files that should hold the same sentences.  What looks odd but is allowed is counted in a `Census`.

A new rule is a function here or in `edits`, and a line in a table.  Three kinds: a rule on an edit gives a message or
nothing, a rule on an essay gives findings, and a rule on a corpus sees every essay and speaks at the end.  All
stream: an essay is let go as soon as it has been seen.

*Coverage*: a corpus in which each essay was read by one person is shared out, not uneven, and nothing is reported.
Where some essays have several annotators, those who are missing elsewhere are named.  In M2 an annotator without a
line is absent for scoring (docs/corpora.md), so a file that leaves out an annotator who agrees with another, as the
CoNLL-2014 combined files do, says less than the files it was made of.

*Files of one test set*: annotators often have a file each (CoNLL-2014: twelve).  Scores and agreement hold only if
the files have the same sentences, cut into the same tokens.  `check_together` reads the files side by side and
compares each with the first.  Two files are taken for the same set if most of the essays that they share by number
have the same letters; of files that are not, nothing is reported.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from difflib import get_close_matches
from functools import partial
from itertools import zip_longest
from typing import Any, Protocol, TypeAlias

from grater.corpora.check.edits import (
    changes_nothing,
    crosses_sentences,
    equals_text,
    has_odd_characters,
    has_odd_correction,
    has_odd_whitespace,
    is_duplicate,
    keeps_redundancy,
    lacks_correction,
)
from grater.corpora.check.findings import Census, CheckResult, Finding, census_of, shown
from grater.corpora.m2 import noops_as_read
from grater.corpora.tagsets import TagSet, all_tagsets, guess_tagset
from grater.errors import BadInput
from grater.model import Edit, Essay, Json, short_hash

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

    def state(self) -> Json:
        counts: list[Json] = [[sorted(readers), sorted(raters), n] for (readers, raters), n in self._counts.items()]
        first: list[Json] = [[sorted(readers), *where] for readers, where in self._first.items()]
        return {"counts": counts, "first": first, "tokenised": self._is_tokenised}

    def take(self, state: Any) -> None:
        for readers, raters, n in state["counts"]:
            self._counts[frozenset(readers), frozenset(raters)] += n
        for readers, essay_id, line in state["first"]:
            self._first.setdefault(frozenset(readers), (essay_id, line))
        self._is_tokenised |= state["tokenised"]

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


REPEAT = re.compile(r"(?P<own>.+)#\d+")


class Emptiness:
    """A file without a single essay is seldom what somebody meant."""

    def __init__(self) -> None:
        self._is_empty = True

    def see(self, essay: Essay) -> None:  # noqa: ARG002 (that there is one is all that matters)
        self._is_empty = False

    def state(self) -> Json:
        return self._is_empty

    def take(self, state: Any) -> None:
        self._is_empty &= state

    def findings(self) -> Iterator[Finding]:
        if self._is_empty:
            yield Finding("empty", "", None, "expected essays, found none; is it the right file and format?")


def repeats_id(essay: Essay) -> Iterator[Finding]:
    """Readers number a document id that comes again, `a#2`; repeated sentences, which have no ids, are allowed."""
    repeat = REPEAT.fullmatch(essay.essay_id)
    if repeat and essay.tokens is None and repeat["own"] != short_hash(essay.text):
        message = f"expected a different id for each document, found {repeat['own']!r} again"
        yield Finding("same-id", essay.essay_id, essay.line, message)


def exempt_tags(tagset: TagSet | None) -> frozenset[str]:
    """The tags that owe no correction, in the given set or in any that we know."""
    tagsets = (tagset,) if tagset else all_tagsets()
    return frozenset(tag.code for known in tagsets for tag in known if not tag.owes_correction)


MOST_HINTS = 50
"""Unknown tags for which one that looks like it is looked for: whoever has more uses another set."""


class UnknownTags:
    """Counts tags while a corpus goes by; without a given set, the one that fits best is guessed at the end."""

    def __init__(self, tagset: TagSet | None) -> None:
        self._tagset = tagset
        self._counts: Counter[str] = Counter()
        self._first: dict[str, tuple[str, int | None]] = {}

    def see(self, essay: Essay) -> None:
        for edit in essay.edits:
            self._counts[edit.tag] += 1
            self._first.setdefault(edit.tag, (essay.essay_id, edit.line))

    def state(self) -> Json:
        first: list[Json] = [[tag, *where] for tag, where in self._first.items()]
        return {"counts": dict(self._counts), "first": first}

    def take(self, state: Any) -> None:
        self._counts.update(state["counts"])
        for tag, essay_id, line in state["first"]:
            self._first.setdefault(tag, (essay_id, line))

    def findings(self) -> Iterator[Finding]:
        tagset = self._tagset or guess_tagset(self._counts)
        unknown = [(tag, *where) for tag, where in self._first.items() if tag not in tagset]
        for number, (tag, essay_id, line) in enumerate(unknown):
            message = self._message(tag, tagset, is_hinted=number < MOST_HINTS)
            yield Finding("unknown-tag", essay_id, line, message)

    def _message(self, tag: str, tagset: TagSet, *, is_hinted: bool) -> str:
        near = get_close_matches(tag, list(tagset.by_code), n=1) if is_hinted else []
        hint = f"; did you mean {near[0]!r}?" if near else ""
        how = "" if self._tagset else ", the set that fits this corpus best"
        n_edits = self._counts[tag]
        return f"the tag {tag!r} of {n_edits:,} {_edits(n_edits)}, here first, is not in {tagset.name}{how}{hint}"


def _edits(n_edits: int) -> str:
    return "edit" if n_edits == 1 else "edits"


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


EditRule: TypeAlias = Callable[[Edit, Essay], str | None]
EssayRule: TypeAlias = Callable[[Essay], Iterator[Finding]]


class CorpusRule(Protocol):
    """A rule that speaks at the end; what it has seen of one part of a corpus, another takes as if it had seen it."""

    def see(self, essay: Essay) -> None: ...

    def state(self) -> Json: ...

    def take(self, state: Any) -> None: ...

    def findings(self) -> Iterator[Finding]: ...


EDIT_RULES: dict[str, EditRule] = {
    "equals-text": equals_text,
    "changes-nothing": changes_nothing,
    "redundancy": keeps_redundancy,
    "whitespace": has_odd_whitespace,
    "odd-characters": has_odd_correction,
}
ESSAY_RULES: tuple[EssayRule, ...] = (
    has_odd_characters,
    is_duplicate,
    crosses_sentences,
    contradicts_noop,
    repeats_id,
)

RULES: dict[str, str] = {
    "equals-text": "a correction that equals the text",
    "changes-nothing": "a correction that changes only runs of spaces or the encoding of letters",
    "redundancy": "an Rloc or Rloc- that removes no word",
    "whitespace": "a correction that glues words together, doubles a space, or contains a line end or a double space",
    "odd-characters": "no-break spaces, tabs, controls, zero-width characters",
    "no-correction": "no correction where the tag needs one",
    "duplicate": "the same span, tag and correction twice by one annotator",
    "across-sentences": "a span that covers two sentences",
    "noop": "an M2 no-op line beside edits of the same annotator, or twice",
    "unknown-tag": "a tag that is not in the tag set, given or guessed",
    "coverage": "annotators who did not read the same essays",
    "same-id": "two documents with one id",
    "empty": "no essay at all",
    "files-differ": "files of one set whose texts or tokens differ",
}
"""Every rule with what it finds, for the page and for the reader of a report."""


class CorpusCheck:
    """The check of one corpus as it goes by; the parts of a corpus may be checked apart and put together in order."""

    def __init__(self, tagset: TagSet | None = None) -> None:
        self.census = Census()
        self._exempt = exempt_tags(tagset)
        self._edit_rules = EDIT_RULES | {"no-correction": partial(lacks_correction, exempt=self._exempt)}
        self._rules: tuple[CorpusRule, ...] = (UnknownTags(tagset), Coverage(), Emptiness())

    def of_essays(self, essays: Iterable[Essay]) -> Iterator[Finding]:
        """The defects of single essays, in the order of the corpus."""
        for essay in essays:
            yield from sorted(_of_essay(essay, self._edit_rules), key=lambda finding: finding.line or 0)
            self.census += census_of(essay, exempt=self._exempt)
            for rule in self._rules:
                rule.see(essay)

    def of_corpus(self) -> Iterator[Finding]:
        """The defects of the corpus as a whole."""
        for rule in self._rules:
            yield from rule.findings()

    def state(self) -> Json:
        """What was seen, for `take`."""
        return {"census": asdict(self.census), "rules": [rule.state() for rule in self._rules]}

    def take(self, state: Any) -> None:
        """Take over what another has seen of the next part of the corpus."""
        self.census += Census(**state["census"])
        for rule, seen in zip(self._rules, state["rules"], strict=True):
            rule.take(seen)


def check_essays(
    essays: Iterable[Essay], *, tagset: TagSet | None = None, tally: Callable[[Census], None] | None = None
) -> Iterator[Finding]:
    """Every defect, in the order of the corpus; those of the corpus as a whole come last.

    Without `tagset` the one that fits best is taken.  `tally` hears the census of allowed oddities once, at the end.
    """
    check = CorpusCheck(tagset)
    yield from check.of_essays(essays)
    yield from check.of_corpus()
    if tally:
        tally(check.census)


def _of_essay(essay: Essay, edit_rules: dict[str, EditRule]) -> Iterator[Finding]:
    for edit in essay.edits:
        for name, edit_rule in edit_rules.items():
            message = edit_rule(edit, essay)
            if message:
                yield Finding(name, essay.essay_id, edit.line or essay.line, message)
    for essay_rule in ESSAY_RULES:
        yield from essay_rule(essay)


UNREADABLE = "unreadable"


def check_corpora(
    corpora: Mapping[str, Iterable[Essay]],
    *,
    tagset: TagSet | None = None,
) -> CheckResult:
    """The defects of every corpus by its name, then those of all of them side by side.

    Several corpora are read twice, so they must not be iterators.  A file that cannot be read is not compared: its
    problems are findings too.
    """
    tallies: list[Census] = []
    findings = tuple(_findings(corpora, tagset, tallies.append))
    return CheckResult(findings, sum(tallies, start=Census()))


def _findings(
    corpora: Mapping[str, Iterable[Essay]], tagset: TagSet | None, tally: Callable[[Census], None]
) -> Iterator[tuple[str, Finding]]:
    is_readable = True
    for name, essays in corpora.items():
        try:
            for finding in check_essays(essays, tagset=tagset, tally=tally):
                yield name, finding
        except BadInput as error:
            is_readable = False
            for problem in error.problems:
                yield problem.name, Finding(UNREADABLE, "", problem.line, problem.message)
    if len(corpora) > 1 and is_readable:
        yield from check_together(corpora)
