"""Lint for learner corpora: defects of an annotated corpus, with their lines.

`check_corpora` gives the findings of several corpora, `check_essays` those of one as it streams by; `check_together`
compares files that should have the same sentences. Odd but allowed annotations are counted in a `Census`: NUCLE lets
annotators mark overlapping spans (Dahlmeier, Ng and Wu 2013, section 2), give one error several tags (section 4) and
leave `Um`, `Cit` and `Wa` without a correction; it also grows spans that start or end inside a word (section 3).

To add a rule, add a function here and a line in a table. There are three kinds: a rule on an edit returns a message
or None, a rule on an essay yields findings, and a rule on a corpus sees every essay and reports at the end. All of
them stream.

*Edits*: `Rloc` that removes nothing is the NUCLE annotators' own review rule (section 4: "redundancy errors that did
not remove the annotated word"). A correction that inserts or removes a space between two words changes something:
only runs of whitespace and Unicode composition are normalised before comparing strings. Annotators may include an
adjacent space in a deletion, so whitespace is judged by the resulting text: an edit is suspicious if it joins two
words, doubles a space, or has a line end, tab or double space inside its correction. In tokenised text (M2) a
correction has no spaces at its ends. The same span, tag and correction twice by one rater is a defect. Half of the
per-sentence study rests on edits that lie inside one sentence (section 5), so those that do not are reported.

*Coverage*: nothing is reported if each essay was read by only one person. If some essays have several annotators,
those missing from other essays are listed. In M2 an annotator without a line is absent for scoring (docs/corpora.md),
so a file that leaves out an annotator who agrees with another, as the CoNLL-2014 combined files do, says less than
the files it was made of.

*Files of one test set*: annotators often have a file each (CoNLL-2014: twelve). Scores and agreement hold only if the
files have the same sentences, cut into the same tokens. `check_together` compares each file with the first. Two files
count as the same set if most of the essays with the same number have the same letters; other files are not compared.
"""

from __future__ import annotations

import json
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from difflib import get_close_matches
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

from grater.corpora.formats import Source
from grater.corpora.m2 import noops_as_read
from grater.corpora.merge import first_difference
from grater.corpora.tagsets import TagSet, all_tagsets, guess_tagset
from grater.corpora.text.sentences import sentences_of
from grater.errors import BadInput, UsageError
from grater.model import Edit, Essay, Json, Span, short_hash
from grater.result import Result, encode, in_json, key
from grater.sheet import Sheet, counted

if TYPE_CHECKING:
    import polars as pl

MOST_CHARACTERS = 60

Known: TypeAlias = tuple[str, str, str]
"""A finding that was accepted before: rule, essay, message.  Lines and paths may move."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A defect of a corpus; `line` is that of the edit or essay, if the format has lines."""

    rule: str
    essay_id: str
    line: int | None
    message: str

    def __str__(self) -> str:
        return f"{self.message} [{self.rule}]"


def shown(words: str) -> str:
    """Words in quotes, with invisible characters escaped, shortened if long."""
    return repr(words if len(words) <= MOST_CHARACTERS else words[: MOST_CHARACTERS - 1] + "…")


def described(edit: Edit, essay: Essay) -> str:
    """The edit in a few words: `Mec 'teh' → 'the'`, or for an insertion `Mec after 'So' → ','`."""
    corrections = " or ".join(map(shown, edit.replacements)) or "no correction"
    if len(edit.span):
        return f"{edit.tag} {shown(edit.span.of(essay.text))} → {corrections}"
    words = essay.text[max(0, edit.span.start - MOST_CHARACTERS) : edit.span.start].split()
    where = f"after {shown(words[-1])}" if words else "at the start"
    return f"{edit.tag} {where} → {corrections}"


@dataclass(frozen=True, slots=True)
class Census:
    """Additive counts of allowed oddities.

    `overlaps` counts pairs of one rater's edits with different but overlapping spans; `second_tags` and
    `alternatives` count additional edits of one rater on the same span, with another tag or with the same tag and
    another correction; `uncorrected` counts edits without a correction whose tag requires none; `inside_words` counts
    edits that start or end inside a word.
    """

    essays: int = 0
    edits: int = 0
    overlaps: int = 0
    second_tags: int = 0
    alternatives: int = 0
    uncorrected: int = 0
    inside_words: int = 0

    def __add__(self, other: Census) -> Census:
        names = [column.name for column in fields(self)]
        return Census(**{name: getattr(self, name) + getattr(other, name) for name in names})

    def notes(self) -> list[str]:
        """The oddities found, in words."""
        sizes = ("essays", "edits")
        odd = {name.replace("_", " "): n for name, n in asdict(self).items() if n and name not in sizes}
        return ["allowed, and only counted: " + ", ".join(f"{n:,} {name}" for name, n in odd.items())] if odd else []


def _findings_json(findings: Iterable[tuple[str, Finding]]) -> list[dict[str, Json]]:
    return [{"file": name, **encode(finding)} for name, finding in findings]


@dataclass(frozen=True, slots=True, repr=False)
class CheckResult(Result):
    """The findings of several corpora, each with the name of its file, and the census of all of them."""

    findings: tuple[tuple[str, Finding], ...] = field(metadata=key(write=_findings_json))
    census: Census

    @property
    @in_json()
    def by_rule(self) -> dict[str, int]:
        """The number of findings by rule, most first."""
        return dict(Counter(finding.rule for _, finding in self.findings).most_common())

    def chosen(self, *, only: Collection[str] = (), ignore: Collection[str] = ()) -> CheckResult:
        """The findings of some rules; unknown names are errors."""
        known = sorted([*RULES, UNREADABLE])
        if unknown := sorted({*only, *ignore} - set(known)):
            raise UsageError(f"expected rules among {', '.join(known)}, found {', '.join(unknown)}")
        kept = [
            (name, finding)
            for name, finding in self.findings
            if (not only or finding.rule in only) and finding.rule not in ignore
        ]
        return CheckResult(tuple(kept), self.census)

    def without_known(self, known: Counter[Known]) -> CheckResult:
        """The findings that a baseline does not have; each of its findings excuses one."""
        left, new = known.copy(), []
        for name, finding in self.findings:
            key = (finding.rule, finding.essay_id, finding.message)
            if left[key] > 0:
                left[key] -= 1
            else:
                new.append((name, finding))
        return CheckResult(tuple(new), self.census)

    def to_frame(self) -> pl.DataFrame:
        """One finding per row."""
        import polars as pl  # the lines on a terminal need not wait for it

        types = {"file": pl.String, "rule": pl.String, "essay_id": pl.String, "line": pl.Int64, "message": pl.String}
        rows = [
            (name, finding.rule, finding.essay_id, finding.line, finding.message) for name, finding in self.findings
        ]
        return pl.DataFrame(rows, schema=types, orient="row")

    def sheets(self) -> list[Sheet]:
        rows = [
            (name, "" if finding.line is None else str(finding.line), finding.essay_id, finding.rule, finding.message)
            for name, finding in self.findings
        ]
        columns = ("file", "line", "essay", "rule", "message")
        sizes = f"{counted(self.census.essays, 'essay')}, {counted(self.census.edits, 'edit')}"
        return [Sheet("Findings", columns, tuple(rows), (f"{sizes}.", *self.census.notes()), name="findings")]


def read_known(source: Source) -> Counter[Known]:
    """The findings of an earlier check, from its JSON."""
    try:
        findings = json.loads("".join(source.lines()))["findings"]
        return Counter((one["rule"], one["essay_id"], one["message"]) for one in findings)
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{source.name}: expected the JSON that a check printed, found something else") from error


def census_of(essay: Essay, *, exempt: Collection[str]) -> Census:
    """The counts of one essay; `exempt` tags require no correction."""
    by_rater: defaultdict[str, list[Edit]] = defaultdict(list)
    for edit in essay.edits:
        by_rater[edit.rater].append(edit)
    contents = {(edit.rater, edit.span, edit.tag, edit.replacements) for edit in essay.edits}
    tags = {content[:3] for content in contents}
    return Census(
        essays=1,
        edits=len(essay.edits),
        overlaps=sum(map(_n_overlaps, by_rater.values())),
        second_tags=len(tags) - len({(edit.rater, edit.span) for edit in essay.edits}),
        alternatives=len(contents) - len(tags),
        uncorrected=sum(not any(edit.replacements) and edit.tag in exempt for edit in essay.edits),
        inside_words=sum(_is_inside_word(edit, essay.text) for edit in essay.edits),
    )


def _n_overlaps(edits: list[Edit]) -> int:
    """The number of overlapping pairs: in span order, each edit overlaps all earlier ones except ended and identical
    ones.

    Each span is looked up once, because an annotator's draft is checked at every save.
    """
    spans = sorted(edit.span for edit in edits)
    ends = sorted(span.end for span in spans)
    n_overlaps, n_same = 0, Counter[Span]()
    for n_before, span in enumerate(spans):
        if len(span):
            n_overlaps += n_before - bisect_right(ends, span.start) - n_same[span]
        n_same[span] += 1
    return n_overlaps


def _is_inside_word(edit: Edit, text: str) -> bool:
    return any(
        0 < offset < len(text) and text[offset - 1].isalnum() and text[offset].isalnum()
        for offset in (edit.span.start, edit.span.end)
    )


REDUNDANCY = ("Rloc", "Rloc-")
PIECE = re.compile(r"\w+|[^\w\s]")


def equals_text(edit: Edit, essay: Essay) -> str | None:
    if edit.span.of(essay.text) not in edit.replacements:
        return None
    if not len(edit.span):
        return f"inserts nothing: {described(edit, essay)}"
    return f"the correction equals the text: {described(edit, essay)}"


def changes_nothing(edit: Edit, essay: Essay) -> str | None:
    """Corrections that equal the text exactly are left to `equals_text`."""
    words = edit.span.of(essay.text)
    if words in edit.replacements:
        return None
    before, after = _neighbours(edit.span, essay.text)
    level = _level(before + words + after)
    if not any(_level(before + replacement + after) == level for replacement in edit.replacements):
        return None
    return f"the correction changes only runs of spaces or the encoding of letters: {described(edit, essay)}"


def _neighbours(span: Span, text: str) -> tuple[str, str]:
    """The characters before and after a span, empty at the ends of the text."""
    return text[max(0, span.start - 1) : span.start], text[span.end : span.end + 1]


def _level(words: str) -> str:
    return " ".join(unicodedata.normalize("NFC", words).split())


def keeps_redundancy(edit: Edit, essay: Essay) -> str | None:
    """A redundancy whose correction keeps every word and punctuation mark."""
    if edit.tag not in REDUNDANCY or not edit.replacements:
        return None
    before, *after = (
        Counter(PIECE.findall(words.lower())) for words in (edit.span.of(essay.text), *edit.replacements)
    )
    is_kept = all(before <= pieces for pieces in after)
    return f"a redundancy that removes nothing: {described(edit, essay)}" if is_kept else None


def lacks_correction(edit: Edit, essay: Essay, *, exempt: Collection[str]) -> str | None:
    """A missing correction, unless the tag is `exempt`."""
    if edit.replacements or edit.tag in exempt:
        return None
    return f"expected a correction, found none: {described(edit, essay)}"


ODD = re.compile(
    "[\\x00-\\x09\\x0b-\\x1f\\x7f-\\xa0\\xad\\u200b\\u200e\\u200f\\u2028\\u2029\\u202a-\\u202e\\u2060\\ufeff\\ufffd]"
)
"""Controls but for the line feed, no-break and zero-width space, soft hyphen, marks of direction, the replacement
character.  Joiners stay: emoji need them."""

NAMES = {
    "\t": "tab",
    "\r": "carriage return",
    "\x85": "next line",
    "\xa0": "no-break space",
    "\xad": "soft hyphen",
    "\u200b": "zero-width space",
    "\ufeff": "byte-order mark",
    "\ufffd": "replacement character, a sign of wrong decoding",
}


def has_odd_characters(essay: Essay) -> Iterator[Finding]:
    """At most one finding per essay."""
    counted = Counter(ODD.findall(essay.text))
    if counted:
        names = ", ".join(f"{_named(character)} ({n} times)" for character, n in counted.items())
        yield Finding("odd-characters", essay.essay_id, essay.line, f"the text contains {names}")


def has_odd_correction(edit: Edit, essay: Essay) -> str | None:
    characters = dict.fromkeys(character for words in edit.replacements for character in ODD.findall(words))
    if not characters:
        return None
    return f"the correction contains {', '.join(map(_named, characters))}: {described(edit, essay)}"


def _named(character: str) -> str:
    name = NAMES.get(character) or unicodedata.name(character, "control character").lower()
    return f"U+{ord(character):04X} {name}"


def has_odd_whitespace(edit: Edit, essay: Essay) -> str | None:
    for replacement in edit.replacements:
        if trouble := _odd_whitespace(replacement, edit, essay):
            return f"{trouble}: {described(edit, essay)}"
    return None


def _odd_whitespace(replacement: str, edit: Edit, essay: Essay) -> str:
    if "\n" in replacement:
        return "the correction contains a line end"
    if "  " in replacement.strip():
        return "the correction contains a double space"
    if essay.tokens is not None:
        return "the correction begins or ends with a space" if replacement != replacement.strip() else ""
    words = edit.span.of(essay.text)
    before, after = _neighbours(edit.span, essay.text)
    if not replacement:  # a space alone may be deleted: the two words were one
        is_gluing = words.strip() not in ("", words) and before.isalnum() and after.isalnum()
        return "the deletion glues two words together" if is_gluing else ""
    # Where the edit meets the text: the character outside, and the outermost of span and correction.
    for outer, old, new in ((before, words[:1], replacement[0]), (after, words[-1:], replacement[-1])):
        if outer.isalnum() and old.isspace() and new.isalnum():
            return "the correction glues two words together"
        if outer.isspace() and new.isspace() and not old.isspace():
            return "the correction doubles a space"
    return ""


def is_duplicate(essay: Essay) -> Iterator[Finding]:
    by_content: defaultdict[tuple[Span, str, tuple[str, ...], str], list[Edit]] = defaultdict(list)
    for edit in essay.edits:
        by_content[edit.span, edit.tag, edit.replacements, edit.rater].append(edit)
    for first, *others in by_content.values():
        for edit in others:
            where = f" at line {first.line}" if first.line is not None else ""
            message = f"the same edit by {edit.rater!r} is already there{where}: {described(edit, essay)}"
            yield Finding("duplicate", essay.essay_id, edit.line, message)


def crosses_sentences(essay: Essay) -> Iterator[Finding]:
    """An edit with characters of two sentences."""
    if essay.tokens is not None or not essay.edits:
        return
    sentences = sentences_of(essay)
    starts, ends = [sentence.start for sentence in sentences], [sentence.end for sentence in sentences]
    for edit in essay.edits:
        n_touched = bisect_left(starts, edit.span.end) - bisect_right(ends, edit.span.start)
        if n_touched > 1:
            message = f"the span covers {n_touched} sentences: {described(edit, essay)}"
            yield Finding("across-sentences", essay.essay_id, edit.line or essay.line, message)


@dataclass(slots=True)
class CorpusRule:
    """What a rule that reports at the end has counted, and where each thing came first."""

    counts: Counter[Any] = field(default_factory=Counter)
    first: dict[Any, tuple[str, int | None]] = field(default_factory=dict)


DROPPED = "a combined file that drops an annotator who agrees; use the single-annotator files for agreement"
RARE = "an annotator of few sentences; do not count the others as agreement"


class Coverage(CorpusRule):
    """Counts who read and marked what, in constant memory."""

    def see(self, essay: Essay) -> None:
        readers = frozenset(essay.annotators)
        self.counts[readers, frozenset(edit.rater for edit in essay.edits), essay.tokens is not None] += 1
        self.first.setdefault(readers, (essay.essay_id, essay.line))

    def findings(self) -> Iterator[Finding]:
        if max(map(len, self.first), default=0) < 2:
            return
        for annotator in sorted(frozenset().union(*self.first)):
            for readers, (essay_id, line) in self.first.items():
                if readers and annotator not in readers:
                    yield Finding("coverage", essay_id, line, self._message(annotator))
                    break

    def _message(self, annotator: str) -> str:
        without = {key: n for key, n in self.counts.items() if key[0] and annotator not in key[0]}
        marked = {key: n for key, n in without.items() if key[1]}
        names = sorted(frozenset().union(*(readers for readers, *_ in without)))
        others = f"annotator {' or '.join(map(repr, names))}"
        n_all, n_without, n_marked = (sum(counts.values()) for counts in (self.counts, without, marked))
        is_tokenised = any(has_tokens for *_, has_tokens in self.counts)
        if not is_tokenised or not marked:
            what = "sentences" if is_tokenised else "essays"
            return f"annotator {annotator!r} is missing from {n_without:,} of {n_all:,} {what} that {others} read"
        why = RARE if n_marked * 2 > n_all else DROPPED
        where = f"{n_marked:,} of {n_all:,} sentences although {others} has edits there"
        return f"annotator {annotator!r} has no line in {where}: {why}"


def contradicts_noop(essay: Essay) -> Iterator[Finding]:
    """An M2 annotator with a no-op and edits, or with two no-ops."""
    with_edits = {edit.rater for edit in essay.edits}
    as_read = noops_as_read(essay) or [[] for _ in essay.annotators]
    for annotator, lines in zip(essay.annotators, as_read, strict=True):
        if annotator in with_edits and lines:
            message = f"annotator {annotator!r} has a no-op line as well as edits"
            yield Finding("noop", essay.essay_id, essay.line, message)
        elif len(lines) > 1:
            message = f"annotator {annotator!r} has {len(lines)} no-op lines; one is enough"
            yield Finding("noop", essay.essay_id, essay.line, message)


REPEAT = re.compile(r"(?P<own>.+)#\d+")


def repeats_id(essay: Essay) -> Iterator[Finding]:
    """Readers number repeated document ids, `a#2`; repeated sentences, which have no ids, are allowed."""
    repeat = REPEAT.fullmatch(essay.essay_id)
    if repeat and essay.tokens is None and repeat["own"] != short_hash(essay.text):
        message = f"expected a different id for each document, found {repeat['own']!r} again"
        yield Finding("same-id", essay.essay_id, essay.line, message)


def exempt_tags(tagset: TagSet | None) -> frozenset[str]:
    """The tags that require no correction, in the given set or in any known set."""
    tagsets = (tagset,) if tagset else all_tagsets()
    return frozenset(tag.code for known in tagsets for tag in known if not tag.owes_correction)


MOST_HINTS = 50
"""Unknown tags for which one that looks like it is looked for: a corpus with more uses another set."""


@dataclass(slots=True)
class UnknownTags(CorpusRule):
    """Counts tags; without a given set, it guesses the best match at the end."""

    tagset: TagSet | None = None

    def see(self, essay: Essay) -> None:
        for edit in essay.edits:
            self.counts[edit.tag] += 1
            self.first.setdefault(edit.tag, (essay.essay_id, edit.line))

    def findings(self) -> Iterator[Finding]:
        tagset = self.tagset or guess_tagset(self.counts)
        unknown = [(tag, *where) for tag, where in self.first.items() if tag not in tagset]
        for number, (tag, essay_id, line) in enumerate(unknown):
            near = get_close_matches(tag, list(tagset.by_code), n=1) if number < MOST_HINTS else []
            hint = f"; did you mean {near[0]!r}?" if near else ""
            how = "" if self.tagset else ", the set that fits this corpus best"
            n_edits = counted(self.counts[tag], "edit")
            message = f"the tag {tag!r} of {n_edits}, here first, is not in {tagset.name}{how}{hint}"
            yield Finding("unknown-tag", essay_id, line, message)


RULE = "files-differ"


def check_together(corpora: Mapping[str, Sequence[Essay]]) -> Iterator[tuple[str, Finding]]:
    """For every file that differs from the first, its name and the first difference; other texts are another set."""
    (first_name, first), *others = corpora.items()
    for name, other in others:
        pairs = list(zip(first, other, strict=False))
        noun = "sentence" if other and other[0].tokens is not None else "essay"
        found = [
            (two, f"{noun} {number:,}, the first of those that differ from {first_name}, has {difference}")
            for number, (one, two) in enumerate(pairs, 1)
            if (difference := _difference(one, two))
        ]
        unpaired = [*first[len(pairs) :], *other[len(pairs) :]]
        n_different = len(found) + len(unpaired)
        if unpaired:
            more = "fewer" if len(other) < len(first) else "more"
            found.append((unpaired[0], f"the file has {more} essays than {first_name}"))
        n_same_letters = sum("".join(one.text.split()) == "".join(two.text.split()) for one, two in pairs)
        if found and n_same_letters * 2 > len(pairs):
            essay, message = found[0]
            yield name, Finding(RULE, essay.essay_id, essay.line, f"{message} (differing: {n_different:,})")


def _difference(first: Essay, other: Essay) -> str:
    """The other essay's tokens or words where the two begin to differ, next to those of the first."""
    if first.tokens is not None and other.tokens is not None and len(first.tokens) != len(other.tokens):
        return f"{len(other.tokens)} tokens here and {len(first.tokens)} there"
    if first.text == other.text:
        return ""
    at = first_difference(other.text, first.text)
    here, there = (shown(text[max(0, at - 15) : at + 15]) for text in (other.text, first.text))
    return f"{here} here and {there} there"


EditRule: TypeAlias = Callable[[Edit, Essay], str | None]


EDIT_RULES: dict[str, EditRule] = {
    "equals-text": equals_text,
    "changes-nothing": changes_nothing,
    "redundancy": keeps_redundancy,
    "whitespace": has_odd_whitespace,
    "odd-characters": has_odd_correction,
}
ESSAY_RULES = (has_odd_characters, is_duplicate, crosses_sentences, contradicts_noop, repeats_id)

RULES = {*EDIT_RULES, "no-correction", "duplicate", "across-sentences", "noop"}
RULES |= {"unknown-tag", "coverage", "same-id", "empty", RULE}
"""Every rule by name; docs/corpora.md says what each finds."""


class CorpusCheck:
    """The check of one corpus as it is read."""

    def __init__(self, tagset: TagSet | None = None) -> None:
        self.census = Census()
        self._exempt = exempt_tags(tagset)
        self._edit_rules = EDIT_RULES | {"no-correction": partial(lacks_correction, exempt=self._exempt)}
        self._rules: tuple[UnknownTags | Coverage, ...] = (UnknownTags(tagset=tagset), Coverage())

    def of_essays(self, essays: Iterable[Essay]) -> Iterator[Finding]:
        """The defects of single essays, in the order of the corpus."""
        for essay in essays:
            findings = [
                Finding(name, essay.essay_id, edit.line or essay.line, message)
                for edit in essay.edits
                for name, edit_rule in self._edit_rules.items()
                if (message := edit_rule(edit, essay))
            ]
            findings += [finding for essay_rule in ESSAY_RULES for finding in essay_rule(essay)]
            yield from sorted(findings, key=lambda finding: finding.line or 0)
            self.census += census_of(essay, exempt=self._exempt)
            for rule in self._rules:
                rule.see(essay)

    def of_corpus(self) -> Iterator[Finding]:
        """The defects of the corpus as a whole."""
        for rule in self._rules:
            yield from rule.findings()
        if not self.census.essays:
            yield Finding("empty", "", None, "expected essays, found none; is it the right file and format?")


def check_essays(essays: Iterable[Essay], *, tagset: TagSet | None = None) -> Iterator[Finding]:
    """Every defect, in corpus order, then those of the whole; without `tagset`, by the set that fits best."""
    check = CorpusCheck(tagset)
    return chain(check.of_essays(essays), check.of_corpus())


UNREADABLE = "unreadable"


def check_corpora(corpora: Mapping[str, Iterable[Essay]], *, tagset: TagSet | None = None) -> CheckResult:
    """The defects of every corpus by name, then those found by comparing all of them.

    The problems of an unreadable file become findings; then nothing is compared.
    """
    findings: list[tuple[str, Finding]] = []
    census, is_readable = Census(), True
    kept: dict[str, list[Essay]] = {name: [] for name in corpora}
    for name, essays in corpora.items():
        check = CorpusCheck(tagset)
        essays = _kept(essays, kept[name]) if len(corpora) > 1 else essays
        try:
            findings.extend((name, each) for each in chain(check.of_essays(essays), check.of_corpus()))
            census += check.census
        except BadInput as error:
            is_readable = False
            findings += [(each.name, Finding(UNREADABLE, "", each.line, each.message)) for each in error.problems]
    if len(corpora) > 1 and is_readable:
        findings += check_together(kept)
    return CheckResult(tuple(findings), census)


def _kept(essays: Iterable[Essay], kept: list[Essay]) -> Iterator[Essay]:
    for essay in essays:
        kept.append(essay)
        yield essay
