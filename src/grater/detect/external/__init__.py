"""External systems, used like our own detectors.

A corrector returns the edits that a system would make to an essay: a checker, a command, a file of corrected text. An
`ExternalDetector` turns edits into a decision on every item, so that any system is scored like ours. The rule is that
of "From edits to judgments" (docs/corpora.md), so a system and an annotator with the same edits get the same answers:
an edit counts for an item if, normalised, it overlaps the item's tokens, or inserts into its gap if the item has no
width. If an edit replaces exactly the item's words, its correction is the suggestion. Decisions are made on the items
of a table, or else on every preposition and every gap where one may be missing.

Systems have names such as `harper`, `languagetool:URL`, `command:LINE`, `chat:URL#MODEL`, `corrected:FILE` and
`edits:FILE`. `NAME=` before the system renames it: `mine=command:./check.sh`; by default a system is named after its
file or command.

Some are known only by their output: corrected text, or edits, of the same essays. Edits come from an M2 file or any
annotated corpus; essays are matched by their ids. If the file has several annotators, name one after an at sign:
`edits:out.m2@2`.

Corrected essays come as lines of text or in any corpus format. They are matched by their ids where the file has them
(our JSONL, M2, NUCLE), by their order where it is plain text with one essay per line. Edits are the differences
between the two, token by token, in the best alignment (`corpora.normalise`); shifted or shuffled lines are refused,
and text that is not tokenised is tokenised like the essay (`corpora.fitting`).

Every edit is accounted for (`Decided.types`): on an item, or on none, by its type.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any, Protocol

from grater.corpora import read_corpus
from grater.corpora.fitting import fitted_lines, odd_lines, require_lines_fit
from grater.corpora.judgments import overlaps, reach
from grater.corpora.merge import shared_ends
from grater.corpora.normalise import TokenEdit, normalised_edits
from grater.corpora.text.analysis import analyse
from grater.corpora.text.prepositions import PREPOSITIONS
from grater.corpora.text.tokens import tokens_of
from grater.detect.detector import SCHEMES, Finding
from grater.detect.external.chat import chatted
from grater.detect.external.programs import ERRORS, SHARE, Command, Harper, LanguageTool
from grater.detect.external.texts import edits_between, typed
from grater.detect.prepositions.candidates import MISSING, PREP, candidates_of
from grater.errors import BadInput, Problem, UnknownName, UsageError, unknown
from grater.model import DELETE, Decision, Edit, Essay, Item, Json, Span

ARTICLE, CAPITAL, REPETITION = "article", "capital", "repetition"
ARTICLES = ("a", "an", "the")
WORDS = re.compile(r"\s+|[\w'’-]+|[^\w\s]")

CHOICE, EXTRANEOUS, ADDED = "choice", "extraneous", "missing"
LINES = (".txt", ".out", "")


class Corrector(Protocol):
    """A system that corrects texts; `about` describes it and its source in one line."""

    @property
    def name(self) -> str: ...

    @property
    def about(self) -> str: ...

    def correct(self, essays: Iterable[Essay]) -> Iterator[tuple[Essay, tuple[Edit, ...]]]:
        """Every essay with the system's edits, in the order of the essays."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Decided:
    """A system's edits of an essay, and their decisions on its items."""

    essay: Essay
    edits: tuple[Edit, ...]
    findings: tuple[Finding, ...]
    rest: Counter[str] | None = None
    """Where every edit is an item, those that are none, by reason."""

    def types(self) -> tuple[int, Counter[str]]:
        """The number of edits that decide on an item, and the others by type or by the reason they cannot."""
        if self.rest is not None:
            return len(self.findings), self.rest
        tokens = tokens_of(self.essay)
        places = [place for finding in self.findings if (place := reach(finding.item.span, tokens))]
        changes = normalised_edits(replace(self.essay, edits=self.edits, annotators=()))
        deciding = [change for change in changes if any(overlaps(change, *place) for place in places)]
        n_on_items, others = 0, Counter[str]()
        for edit in typed(self.essay, self.edits):
            start, end = reach(edit.span, tokens) or (0, 0)
            if any(start <= change.start and change.end <= end for change in deciding):
                n_on_items += 1
            else:
                others[edit.tag] += 1
        return n_on_items, others


@dataclass(frozen=True, slots=True, eq=False)
class ExternalDetector:
    """`places` are the items to decide on, by essay; by default, prepositions."""

    corrector: Corrector
    places: Mapping[str, Sequence[Item]] | None = None

    @property
    def name(self) -> str:
        return self.corrector.name

    @property
    def kinds(self) -> tuple[str, ...]:
        if self.places is None:
            return PREP, MISSING
        return tuple(sorted({item.kind for items in self.places.values() for item in items}))

    @property
    def card(self) -> Mapping[str, Json]:
        model = getattr(self.corrector, "model", "")
        return {"name": self.name, "about": self.corrector.about, **({"model": model} if model else {})}

    def find(self, essays: Iterable[Essay]) -> Iterator[Finding]:
        for decided in self.decide(essays):
            yield from decided.findings

    def in_language(self, language: str) -> ExternalDetector:
        """The same for a variant of English, if the system supports several."""
        knows = isinstance(self.corrector, Harper | LanguageTool)
        return replace(self, corrector=replace(self.corrector, language=language)) if knows else self  # type: ignore[type-var]

    def decide(self, essays: Iterable[Essay]) -> Iterator[Decided]:
        """Every essay with the system's decisions, and their edits."""
        for essay, edits in self.corrector.correct(essays):
            places = _prepositions(essay) if self.places is None else self.places.get(essay.essay_id, ())
            yield Decided(essay, tuple(edits), tuple(findings(essay, edits, places, self.name)))

    def marks(self, essay: Essay) -> Iterator[Finding]:
        """Every edit of the system as a flag, of whatever kind."""
        for _, edits in self.corrector.correct([essay]):
            for edit in edits:
                yield _mark(essay, edit, self.name)


def _mark(essay: Essay, edit: Edit, system: str) -> Finding:
    """An edit as a flag on the changed words; alternatives that change other words are left out."""
    span, first = trimmed(essay.text, edit.span, edit.replacements[0]) if edit.replacements else (edit.span, None)
    others = (trimmed(essay.text, edit.span, words) for words in edit.replacements[1:])
    item = Item(
        essay.essay_id, span, _kind(str(edit.extra.get("kind") or edit.tag.lower()), span.of(essay.text), first)
    )
    suggestion = DELETE if first == "" else first
    decision = Decision(
        item_id=item.item_id, system=system, flagged=True, type=_type(item, suggestion), suggestion=suggestion
    )
    return Finding(
        item=item,
        decision=decision,
        target=span.of(essay.text),
        probabilities=(),
        alternatives=tuple(words for where, words in others if where == span),
        message=edit.comment,
        confidence=edit.extra.get(SHARE),  # type: ignore[arg-type]
    )


def trimmed(text: str, span: Span, words: str) -> tuple[Span, str]:
    """A change without the unchanged whole words at its ends: of *discussed about*, only *about*."""
    old, new = WORDS.findall(span.of(text)), WORDS.findall(words)
    n_before, n_after = shared_ends(old, new)
    start = span.start + sum(map(len, old[:n_before]))
    end = span.end - sum(map(len, old[len(old) - n_after :]))
    better = "".join(new[n_before : len(new) - n_after])
    changed = text[start:end]
    if n_before + n_after == 0 or changed.strip() == better.strip() == "":
        return span, words
    return _without_spaces(Span(start, end), changed), better.strip()


def _without_spaces(span: Span, words: str) -> Span:
    start = span.start + len(words) - len(words.lstrip())
    return Span(start, max(start, span.end - (len(words) - len(words.rstrip()))))


def _kind(kind: str, target: str, better: str | None) -> str:
    """The kind of a mark by its words, if they are more specific than the system."""
    changed = {word.lower() for word in (target, better or "") if word}
    if kind == REPETITION:
        return kind
    if target and better and len(changed) == 1 and target != better:
        return CAPITAL
    if changed and changed <= set(ARTICLES):
        return ARTICLE
    if changed and changed <= set(PREPOSITIONS):
        return PREP if target else MISSING
    return kind


def findings(essay: Essay, edits: Sequence[Edit], items: Iterable[Item], system: str) -> Iterator[Finding]:
    """A finding for each item, by the edits of one system."""
    tokens = tokens_of(essay)
    corrected = replace(essay, edits=tuple(edits), annotators=(system,))
    changes = [edit for edit in normalised_edits(corrected) if not edit.is_empty]
    for item in items:
        if item.span.end > len(essay.text):
            raise UsageError(
                f"essay {essay.essay_id}: expected places within its {len(essay.text):,} characters, "
                f"found {item.span.start}-{item.span.end}"
            )
        token_range = reach(item.span, tokens)
        here = [edit for edit in changes if token_range and overlaps(edit, *token_range)]
        yield Finding(
            item=item,
            decision=_decision(item, here, token_range, system),
            target=item.span.of(essay.text),
            probabilities=(),
        )


def _decision(item: Item, here: Sequence[TokenEdit], token_range: tuple[int, int] | None, system: str) -> Decision:
    if not here:
        return Decision(item.item_id, system, flagged=False)
    exact = [edit for edit in here if (edit.start, edit.end) == token_range and edit.replacement is not None]
    suggestion = None
    if exact and exact[0].replacement is not None:
        suggestion = " ".join(exact[0].replacement) or DELETE
    return Decision(item.item_id, system, flagged=True, type=_type(item, suggestion), suggestion=suggestion)


def _type(item: Item, suggestion: str | None) -> str:
    if item.span.start == item.span.end:
        return ADDED
    return EXTRANEOUS if suggestion == DELETE else CHOICE


def _prepositions(essay: Essay) -> Iterator[Item]:
    for sentence in analyse(essay):
        yield from (candidate.item_in(essay.essay_id) for candidate in candidates_of(sentence))


def is_external(name: str) -> bool:
    """Whether a name is that of an external system."""
    return _parts(name)[1] in SCHEMES


def external(
    name: str, *, places: Mapping[str, Sequence[Item]] | None = None, chat: Mapping[str, Any] | None = None
) -> ExternalDetector:
    """The system with this name, deciding on these items, by default on prepositions; `chat` configures models."""
    return ExternalDetector(_corrector(*_parts(name), chat or {}), places)


def _parts(name: str) -> tuple[str, str, str]:
    own, equals, rest = name.partition("=")
    if not equals or ":" in own:
        own, rest = "", name
    scheme, _, value = rest.partition(":")
    return own, scheme, value


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise UsageError(f"expected a command, found {line!r}: {error}") from error


def _corrector(own: str, scheme: str, value: str, chat: Mapping[str, Any]) -> Corrector:
    if scheme == "harper":
        if value not in ("", ERRORS):
            raise UsageError(
                f"expected harper, or harper:{ERRORS} for its marks without those of style, found {value!r}"
            )
        return Harper(own or "harper", without_style=value == ERRORS)
    if not value:
        raise UsageError(f"expected {scheme}:SOMETHING, found {scheme!r} alone")
    if scheme == "languagetool":
        return LanguageTool(value, own or "languagetool")
    if scheme == "chat":
        return chatted(own, value, chat)
    if scheme == "command":
        words = _words(value)
        return Command(value, own or PurePath(words[0]).stem)
    if scheme == "corrected":
        return Corrected(Path(value), own or Path(value).stem)
    file, _, annotator = value.partition("@")
    return Edited(Path(file), own or Path(file).stem, annotator)


@dataclass(frozen=True, slots=True, eq=False)
class Edited:
    """A file of edits; `annotator` is empty where it has only one."""

    path: Path
    name: str
    annotator: str = ""

    @property
    def about(self) -> str:
        return f"edits in {self.path.name}"

    def correct(self, essays: Iterable[Essay]) -> Iterator[tuple[Essay, tuple[Edit, ...]]]:
        edited = {essay.essay_id: essay for essay in read_corpus(self.path)}
        annotator = self._chosen(edited.values())
        for essay in essays:
            theirs = edited.get(essay.essay_id)
            if theirs is None or theirs.text != essay.text:
                why = "found none" if theirs is None else "found another text under this id"
                raise BadInput(Problem(self.path.name, f"expected edits of essay {essay.essay_id!r}, {why}"))
            yield essay, tuple(edit for edit in theirs.edits if edit.rater == annotator)

    def _chosen(self, essays: Iterable[Essay]) -> str:
        names = sorted({name for essay in essays for name in essay.annotators})
        if self.annotator and self.annotator not in names:
            raise UnknownName(f"{self.path.name}: {unknown('annotator', self.annotator, names)}")
        if not self.annotator and len(names) > 1:
            message = f"expected one annotator, found {', '.join(names)}; choose with edits:{self.path.name}@NAME"
            raise BadInput(Problem(self.path.name, message))
        return self.annotator or (names[0] if names else "")


@dataclass(frozen=True, slots=True, eq=False)
class Corrected:
    """A file of corrected text."""

    path: Path
    name: str

    @property
    def about(self) -> str:
        return f"corrected text in {self.path.name}"

    def correct(self, essays: Iterable[Essay]) -> Iterator[tuple[Essay, tuple[Edit, ...]]]:
        if self.path.suffix in LINES:
            yield from self._by_order(list(essays), self.path.read_text(encoding="utf-8").splitlines())
        else:
            yield from self._by_id(essays, {essay.essay_id: essay.text for essay in read_corpus(self.path)})

    def _by_order(self, essays: Sequence[Essay], lines: Sequence[str]) -> Iterator[tuple[Essay, tuple[Edit, ...]]]:
        if len(lines) != len(essays):
            message = (
                f"expected a line for each of {len(essays)} essays, found {len(lines)}; write an essay on one line"
            )
            raise BadInput(Problem(self.path.name, message))
        words = [[span.of(essay.text) for span in tokens_of(essay)] for essay in essays]
        if 2 * len(odd_lines(words, lines).cut) > len(lines):  # written as people write, not in tokens
            lines = fitted_lines(words, lines)
        require_lines_fit(words, lines, name=self.path.name, source_name="the corpus")
        for essay, line in zip(essays, lines, strict=True):
            yield essay, edits_between(essay, line, rater=self.name)

    def _by_id(self, essays: Iterable[Essay], texts: Mapping[str, str]) -> Iterator[tuple[Essay, tuple[Edit, ...]]]:
        for essay in essays:
            if essay.essay_id not in texts:
                raise BadInput(
                    Problem(self.path.name, f"expected a correction of essay {essay.essay_id!r}, found none")
                )
            yield essay, edits_between(essay, texts[essay.essay_id], rater=self.name)


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """A corrector whose edits are already known, by essay."""

    name: str
    about: str
    edits: Mapping[str, tuple[Edit, ...]]

    def correct(self, essays: Iterable[Essay]) -> Iterator[tuple[Essay, tuple[Edit, ...]]]:
        return ((essay, self.edits.get(essay.essay_id, ())) for essay in essays)
