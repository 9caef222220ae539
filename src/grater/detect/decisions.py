"""The decisions of detectors on a corpus, as the tables of decisions and items (docs/tables.md), or as edits.

Every place that a detector looked at is a row, flagged or not. The item's place is in the decisions themselves, or
with its context in a separate table of items. An external system may decide on the items of a table (`ItemPlaces`),
and its decisions then use that table's item names.

As edits (`corrected_essays`), any system becomes a corrector that can be scored. An external system supplies its own
edits, of any kind; of several suggestions the first is used, and marks without one are left out. For our own
detectors, every flag with a suggestion is an edit. Corrections are tokenised if the essay has tokens, so that they
can be compared with its annotators, and changes of only white space, which tokens cannot represent, are left out.
Among overlapping edits, the first in the text stays.

**Words.** For each place, flagged or not, a system has a best word, and possibly others with probabilities.

T&C 2008, section 4: in the cloze test a system fills every blank; in the choice test raters compare its word with the
writer's wherever the two differ. A flag is different: it needs a margin above a threshold, so the few flags of a
cautious system are its most confident mismatches, not a sample of them.

Systems with probabilities supply their words with them. Any other system (a checker, a corrected file) would write
its suggestion where it flags and the writer's word elsewhere, without a probability. *No word* (`-NONE-`) is an
answer for articles, but not for prepositions, which both tests blank out.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from grater.corpora.edits.engine import GraterEngine, WordEdit
from grater.corpora.normalise import TokenEdit, TokenRange, normalise, token_texts
from grater.corpora.text.prepositions import canonical
from grater.corpora.text.tokens import tokens_of
from grater.detect.detector import Detector, Finding
from grater.detect.external import Decided, ExternalDetector, Known
from grater.detect.external.texts import TAG, typed
from grater.detect.prepositions.candidates import PREP
from grater.errors import Problems, UsageError
from grater.model import DELETE, EDIT, Decision, Edit, Essay, Item, Span, document_of, edit_item, item_at
from grater.result import Data, in_json
from grater.sheet import counted
from grater.tables import read_items

AROUND = 80
"""Characters of context on each side of an item."""

TYPES = ("choice", "extraneous", "missing")

DECISION: dict[str, type] = {
    "item": str,
    "system": str,
    "flagged": bool,
    "score": float,
    "type": str,
    "suggestion": str,
}
ANSWERS: dict[str, type] = {"best": str, "probability": float, "answers": str}
PLACE: dict[str, type] = {"essay": str, "start": int, "end": int, "kind": str}
ITEM: dict[str, type] = {"item": str, **PLACE, "document": str, "target": str, "context": str}
FILLED: dict[str, type] = {"item": str, "system": str, "flagged": bool, "suggestion": str, "answers": str}
COLUMNS: dict[str, type] = {**FILLED, "target": str, **PLACE}


@dataclass(frozen=True, slots=True)
class EditAccount(Data):
    """A system's edits: how many are on an item, and on none, by type."""

    n_on_items: int = 0
    others: Mapping[str, int] = field(default_factory=dict)

    @property
    @in_json()
    def n_all(self) -> int:
        return self.n_on_items + sum(self.others.values())

    def __add__(self, decided: Decided) -> EditAccount:
        n_on_items, others = decided.types()
        return EditAccount(self.n_on_items + n_on_items, Counter(self.others) + others)

    def sentence(self) -> str:
        """`12 edits: 3 on items, 9 on none (5 R:VERB, 4 M:DET)`."""
        types = ", ".join(f"{n:,} {name}" for name, n in Counter(self.others).most_common())
        none = f", {sum(self.others.values()):,} on none ({types})" if types else ""
        return f"{counted(self.n_all, 'edit')}: {self.n_on_items:,} on items{none}"


class DecisionRows:
    """Collects the findings of several systems.

    `with_places` adds the items' places to the decisions, `with_documents` also the documents of their essays.
    `names` gives a table's item names, by id. `with_answers` adds the system's answer for every place, flagged or
    not: its best word, that word's probability, and all its answers.
    """

    def __init__(
        self,
        *,
        with_places: bool,
        names: Mapping[str, str] | None = None,
        with_answers: bool = False,
        with_documents: bool = False,
    ) -> None:
        self.with_places, self.with_answers = with_places, with_answers
        self.with_documents = with_places and with_documents
        self.names = names or {}
        self.edits: dict[str, EditAccount] = {}
        self.models: dict[str, str] = {}
        self._decisions: list[tuple[object, ...]] = []
        self._items: dict[str, tuple[object, ...]] = {}

    def add(self, essays: Iterable[Essay], detector: Detector) -> None:
        """Add all findings of a detector."""
        if model := detector.card.get("model"):
            self.models[detector.name] = str(model)
        if isinstance(detector, ExternalDetector):
            account = EditAccount()
            for decided in detector.decide(essays):
                account += decided
                for finding in decided.findings:
                    self._add(finding, decided.essay)
            self.edits[detector.name] = account
            return
        read: dict[str, Essay] = {}
        for finding in detector.find(_kept(essays, read)):
            self._add(finding, read[finding.item.essay_id])

    def add_batch(self, essays: Sequence[Essay], detectors: Sequence[Detector]) -> None:
        """Add the findings of several detectors essay by essay, in the same order however a corpus is divided."""
        by_detector = [_by_essay(detector.find(essays)) for detector in detectors]
        for essay in essays:
            for by_essay in by_detector:
                for finding in by_essay.get(essay.essay_id, ()):
                    self._add(finding, essay)

    def _add(self, finding: Finding, essay: Essay) -> None:
        item, decision = finding.item, finding.decision
        name = self.names.get(decision.item_id, decision.item_id)
        place = (item.essay_id, item.span.start, item.span.end, item.kind)
        row = (name, decision.system, decision.flagged, decision.score, decision.type or None, decision.suggestion)
        where = (*(place if self.with_places else ()), *([document_of(essay)] if self.with_documents else []))
        self._decisions.append((*row, *self._answers(finding), *where))
        if not self.with_places and name not in self._items:
            context = essay.text[max(0, item.span.start - AROUND) : item.span.end + AROUND]
            self._items[name] = (name, *place, document_of(essay), finding.target, " ".join(context.split()))

    def _answers(self, finding: Finding) -> tuple[object, ...]:
        if not self.with_answers:
            return ()
        answers = answers_of(finding)
        return answers[0][0], answers[0][1], answers_cell(answers)

    @property
    def schema(self) -> dict[str, type[pl.DataType]]:
        """The columns of the decisions."""
        places = (PLACE if self.with_places else {}) | ({"document": str} if self.with_documents else {})
        return DECISION | (ANSWERS if self.with_answers else {}) | places

    def decisions(self) -> pl.DataFrame:
        """The decisions; of language models with a column that names the `model`."""
        frame = pl.DataFrame(self._decisions, schema=self.schema, orient="row")
        model = pl.col("system").replace_strict(self.models, default=None, return_dtype=pl.String)
        return frame.with_columns(model=model) if self.models else frame

    def items(self) -> pl.DataFrame:
        return pl.DataFrame(list(self._items.values()), schema=ITEM, orient="row")


def _by_essay(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    by_essay: dict[str, list[Finding]] = {}
    for finding in findings:
        by_essay.setdefault(finding.item.essay_id, []).append(finding)
    return by_essay


def _kept(essays: Iterable[Essay], read: dict[str, Essay]) -> Iterator[Essay]:
    for essay in essays:
        read[essay.essay_id] = essay
        yield essay


def summary(decisions: pl.DataFrame) -> list[dict[str, int]]:
    """The number of items, of flags and of each type, for each system; types of edits by frequency."""
    counted = decisions.get_column("type").drop_nulls().value_counts().sort("count", "type", descending=[True, False])
    names = [*TYPES, *(name for name in counted.get_column("type") if name not in TYPES)]
    by_type = (pl.col("type").eq(name).sum().alias(name) for name in names)
    systems = decisions.group_by("system", maintain_order=True)
    rows = systems.agg(pl.len().alias("items"), pl.col("flagged").sum(), *by_type).to_dicts()
    return [{name: n for name, n in row.items() if n or name in (*TYPES, "flagged")} for row in rows]


@dataclass(frozen=True, slots=True)
class ItemPlaces:
    """Items by essay, and their names in a table, by id."""

    by_essay: Mapping[str, Sequence[Item]] = field(hash=False)
    names: Mapping[str, str] = field(hash=False)


EDITS = "edits"
"""The word for every edit as a place."""

BEFORE = re.compile(r" (?=n['’]t\b|['’](?:s|re|ve|ll|d|m)\b|[.,;:!?%)\]])")
"""The space before what is written together with the word before it."""


@dataclass(frozen=True, slots=True, eq=False)
class EditDetector(ExternalDetector):
    """A corrector, each of whose edits is a separate item with our type; other edits are counted."""

    @property
    def kinds(self) -> tuple[str, ...]:
        return (EDIT,)

    def decide(self, essays: Iterable[Essay]) -> Iterator[Decided]:
        engine = GraterEngine()
        for essay, edits in self.corrector.correct(essays):
            found, rest = _edit_findings(essay, edits, self.name, engine)
            yield Decided(essay, tuple(edits), tuple(found), rest)


def on_edits(detectors: Iterable[Detector], essays: Iterable[Essay]) -> list[Detector]:
    """The systems, deciding on their own edits."""
    correctors = (
        detector.corrector if isinstance(detector, ExternalDetector) else _known(detector, essays)
        for detector in detectors
    )
    return [EditDetector(corrector) for corrector in correctors]


def _known(detector: Detector, essays: Iterable[Essay]) -> Known:
    edits = {essay.essay_id: essay.edits for essay in corrected_essays(detector, essays)}
    return Known(detector.name, "", edits)


def _edit_findings(
    essay: Essay, edits: Sequence[Edit], system: str, engine: GraterEngine
) -> tuple[list[Finding], Counter[str]]:
    """Every edit as a finding; and, by reason, the number of edits that cannot be judged as one."""
    tokens, is_tokenised = tokens_of(essay), essay.tokens is not None
    words = [token.of(essay.text) for token in tokens]
    changes, rest = dict[tuple[int, int, str], TokenEdit](), Counter[str]()
    made, is_ours = typed(essay, edits), all(edit.tag == TAG for edit in edits)
    for edit in made:
        [change, *_] = normalise(edit, essay.text, tokens, is_tokenised=is_tokenised)
        place = (change.start, change.end, " ".join(change.replacement or ()))
        reason = "no correction" if change.replacement is None else "no change" if change.is_empty else ""
        if reason := reason or ("made twice" if place in changes else ""):
            rest[reason] += 1
        else:
            changes[place] = change
    ours = [WordEdit(start, end, "", correction) for start, end, correction in changes]
    types = [] if is_ours else engine.types(words, ours)
    found = []
    for number, ((start, end, correction), change) in enumerate(changes.items()):
        span = TokenRange(start, end, ()).span(essay.text, tokens)
        shown = correction if is_tokenised else BEFORE.sub("", correction)
        name = types[number] or engine.types(words, [ours[number]])[0] if types else change.tag
        item = edit_item(essay.essay_id, span, shown)
        decision = Decision(item.item_id, system, flagged=True, type=name, suggestion=shown or DELETE)
        found.append(Finding(item=item, decision=decision, target=span.of(essay.text), probabilities=()))
    return found, rest


def read_item_places(path: Any) -> ItemPlaces:
    """The items of a table."""
    by_essay: dict[str, list[Item]] = {}
    names: dict[str, str] = {}
    problems = Problems(str(path) if isinstance(path, str | Path) else "items")
    for line, row in enumerate(read_items(path).frame.iter_rows(named=True), 2):
        item = item_at(str(row["essay"]), row["start"], row["end"], str(row["kind"]), str(row["item"]))
        if item.item_id in names:
            problems.add(
                f"expected one item at a place, found {row['item']!r} where {names[item.item_id]!r} is", line=line
            )
        by_essay.setdefault(item.essay_id, []).append(item)
        names[item.item_id] = str(row["item"])
    problems.done()
    return ItemPlaces(by_essay=by_essay, names=names)


def corrected_essays(detector: Detector, essays: Iterable[Essay]) -> Iterator[Essay]:
    """The essays with the detector as their only annotator."""
    kept = list(essays)
    if isinstance(detector, ExternalDetector):
        by_essay = {essay.essay_id: list(edits) for essay, edits in detector.corrector.correct(kept)}
    else:
        groups = groupby(detector.find(kept), key=lambda finding: finding.item.essay_id)
        by_essay = {essay_id: list(_edits(findings, detector.name)) for essay_id, findings in groups}
    for essay in kept:
        edits = _fitted(by_essay.get(essay.essay_id, []), essay, detector.name)
        yield replace(essay, edits=tuple(edits), annotators=(detector.name,))


def _edits(findings: Iterable[Finding], system: str) -> Iterator[Edit]:
    for finding in findings:
        suggestion = finding.decision.suggestion
        if finding.decision.flagged and suggestion is not None:
            words = "" if suggestion == DELETE else suggestion
            yield Edit(span=finding.item.span, replacements=(words,), tag=finding.item.kind, rater=system)


def _fitted(edits: Iterable[Edit], essay: Essay, system: str) -> Iterator[Edit]:
    """Edits that change something, with one correction each and without overlaps."""
    end, was_insertion = 0, False
    for edit in sorted(edits, key=lambda edit: edit.span):
        if not edit.replacements or edit.span.start < end or (was_insertion and edit.span == Span(end, end)):
            continue
        words = edit.replacements[0]
        old, new = edit.span.of(essay.text), words
        if essay.tokens is not None:
            old, new = " ".join(old.split()), " ".join(token_texts(words))
        if new != old:
            yield replace(edit, replacements=(new,), rater=system)
            end, was_insertion = edit.span.end, edit.span.start == edit.span.end


Answers: TypeAlias = tuple[tuple[str, float | None], ...]
"""Words and what the system gives them, the likeliest first."""


def answers_of(finding: Finding) -> Answers:
    """The system's words for the place, likeliest first."""
    given = finding.words or finding.probabilities
    if not given:
        given_word = finding.decision.suggestion or finding.target or DELETE
        return ((given_word, None),)
    if finding.item.kind != PREP:
        return tuple(given)
    return tuple((word, share) for word, share in given if word != DELETE)


def best_word(finding: Finding) -> str:
    return answers_of(finding)[0][0]


def written_word(finding: Finding) -> str:
    """The writer's word in the form of answers: a preposition in canonical spelling, `-NONE-` for a gap."""
    return canonical(finding.target) or finding.target.lower() or DELETE


def is_mismatch(finding: Finding) -> bool:
    """Whether the system would write another word than the writer."""
    return best_word(finding).lower() != written_word(finding)


def answers_cell(answers: Sequence[tuple[str, float | None]]) -> str:
    """A JSON object, `{"on": 0.52, "at": 0.31}`, likeliest first; a word without a probability has null."""
    return json.dumps(dict(answers), ensure_ascii=False)


@dataclass(frozen=True, slots=True, eq=False)
class Filled:
    """A system's answers to some places: its own words, and the writer's."""

    system: str
    findings: tuple[Finding, ...]
    names: Mapping[str, str]

    @property
    def decisions(self) -> pl.DataFrame:
        """The system's best words as suggestions, as `grater lab cloze` takes them."""
        return pl.DataFrame([self._row(finding) for finding in self.findings], schema=COLUMNS, orient="row")

    @property
    def mismatches(self) -> pl.DataFrame:
        """The same where system and writer differ: the items of a choice test."""
        differing = [self._row(finding) for finding in self.findings if is_mismatch(finding)]
        return pl.DataFrame(differing, schema=COLUMNS, orient="row")

    @property
    def written(self) -> pl.DataFrame:
        """The writer's words by item."""
        rows = [(self._name(finding), written_word(finding)) for finding in self.findings]
        return pl.DataFrame(rows, schema={"item": pl.String, "label": pl.String}, orient="row")

    def _name(self, finding: Finding) -> str:
        return self.names.get(finding.item.item_id, finding.item.item_id)

    def _row(self, finding: Finding) -> tuple[object, ...]:
        answers, span = answers_of(finding), finding.item.span
        words = (answers[0][0], answers_cell(answers), written_word(finding))
        place = (finding.item.essay_id, span.start, span.end, finding.item.kind)
        return (self._name(finding), self.system, finding.decision.flagged, *words, *place)


def filled(
    detector: Detector,
    essays: Iterable[Essay],
    *,
    wanted: Collection[str] = (),
    names: Mapping[str, str] | None = None,
) -> Filled:
    """A system's words for the blanks of these items (by their table's names), or for all its places."""
    called = names or {}
    asked = set(wanted)
    places = tuple(
        place
        for place in _places(detector, essays)
        if not asked or called.get(place.item.item_id, place.item.item_id) in asked
    )
    missing = len(asked) - len(places)
    if asked and not places:
        raise UsageError(
            f"{detector.name} looks at no place among the {len(asked):,} judged; are these the essays of the items?"
        )
    if missing > 0:
        raise UsageError(
            f"{detector.name} looks at {len(places):,} of the {len(asked):,} judged places only: it has no word for "
            f"the other {missing:,}; leave them out, or name the table of items"
        )
    return Filled(system=detector.name, findings=places, names=called)


def _places(detector: Detector, essays: Iterable[Essay]) -> Iterator[Finding]:
    """Places with words of the writer's, which a blank can hide."""
    return (finding for finding in detector.find(essays) if len(finding.item.span))
