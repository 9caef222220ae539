"""The rules of the check, by name; a new one is a function here or beside, and a line in a table.

Three kinds: a rule on an edit gives a message or nothing, a rule on an essay gives findings, and a rule on a corpus
sees every essay and speaks at the end.  All stream: an essay is let go as soon as it has been seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Protocol, TypeAlias

from grater.corpora.check.annotators import Coverage, contradicts_noop
from grater.corpora.check.census import Census, census_of
from grater.corpora.check.changes import changes_nothing, equals_text, keeps_redundancy, lacks_correction
from grater.corpora.check.characters import has_odd_characters, has_odd_correction, has_odd_whitespace
from grater.corpora.check.finding import Finding
from grater.corpora.check.identity import Emptiness, repeats_id
from grater.corpora.check.places import crosses_sentences, is_duplicate
from grater.corpora.check.tags import UnknownTags, exempt_tags
from grater.corpora.tagsets import TagSet
from grater.model import Edit, Essay

EditRule: TypeAlias = Callable[[Edit, Essay], str | None]
EssayRule: TypeAlias = Callable[[Essay], Iterator[Finding]]


class CorpusRule(Protocol):
    def see(self, essay: Essay) -> None: ...

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
    "changes-nothing": "a correction that changes nothing but runs of spaces or the coding of letters",
    "redundancy": "an Rloc or Rloc- that removes no word",
    "whitespace": "a correction that glues words together, doubles a space, or holds a line end or a double space",
    "odd-characters": "no-break spaces, tabs, controls, zero-width characters",
    "no-correction": "no correction where the tag owes one",
    "duplicate": "the same span, tag and correction twice by one annotator",
    "across-sentences": "a span that runs over two sentences",
    "noop": "an M2 no-op line beside edits of the same annotator, or twice",
    "unknown-tag": "a tag that is not in the tag set, given or guessed",
    "coverage": "annotators who did not read the same essays",
    "same-id": "two documents with one id",
    "empty": "no essay at all",
    "files-differ": "files of one set whose texts or tokens differ",
}
"""Every rule with what it finds, for the page and for the reader of a report."""


def check_essays(
    essays: Iterable[Essay], *, tagset: TagSet | None = None, tally: Callable[[Census], None] | None = None
) -> Iterator[Finding]:
    """Every defect, in the order of the corpus; those of the corpus as a whole come last.

    Without `tagset` the one that fits best is taken.  `tally` hears the census of lawful oddities once, at the end.
    """
    exempt = exempt_tags(tagset)
    edit_rules = EDIT_RULES | {"no-correction": partial(lacks_correction, exempt=exempt)}
    corpus_rules: tuple[CorpusRule, ...] = (UnknownTags(tagset), Coverage(), Emptiness())
    census = Census()
    for essay in essays:
        yield from sorted(_of_essay(essay, edit_rules), key=lambda finding: finding.line or 0)
        census += census_of(essay, exempt=exempt)
        for rule in corpus_rules:
            rule.see(essay)
    for rule in corpus_rules:
        yield from rule.findings()
    if tally:
        tally(census)


def _of_essay(essay: Essay, edit_rules: dict[str, EditRule]) -> Iterator[Finding]:
    for edit in essay.edits:
        for name, edit_rule in edit_rules.items():
            message = edit_rule(edit, essay)
            if message:
                yield Finding(name, essay.essay_id, edit.line or essay.line, message)
    for essay_rule in ESSAY_RULES:
        yield from essay_rule(essay)
