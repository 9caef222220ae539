"""Scores of systems that corrected the same sentences, with intervals, paired tests and rank groups; the base of
metrics.

**A metric** counts a hypothesis against references (`count`), turns sums of counts into scores (`scores`), gives the
denominator of each score (`cases`) and describes its settings (`signature`). For the human ceiling it also counts
against each annotator alone (`against_each`) and against subsets of them (`among`). Third parties register metrics
through the entry-point group `grater.metrics`. 0/0 is 1, as in m2scorer and ERRANT: a system that proposes nothing
has precision 1, and a corpus without errors gives recall 1; F is 0 if both are 0.

**References** are sentences with their annotators; plain text counts as an annotator who rewrote every sentence. A
hypothesis is plain text, one sentence per line, or edits (M2). Both must have the same sentences in the same order
with the same words; the error message shows the first difference. A corrected text applies each edit's first
alternative; of overlapping edits, only the first in the text is applied.

**Intervals** come from `grater.uncertainty`; units are documents if known, else sentences, and the annotator that
each sentence was scored against is held fixed. Systems are ranked by the metric's last score (F or GLEU); those whose
paired difference is not significant at 95 % after Holm's correction share a letter. Tables show per cent with two
decimals, as is usual for these scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from math import isnan
from pathlib import PurePath
from typing import Literal, NamedTuple, Protocol, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from grater import __version__
from grater.corpora import with_documents
from grater.corpora.fitting import begun, fitted_lines, is_english, require_lines_fit
from grater.corpora.formats import Source
from grater.corpora.m2 import FORMAT as M2_FORMAT
from grater.corpora.merge import merge_annotators
from grater.corpora.normalise import corrected_text
from grater.corpora.source import NamedSentences
from grater.corpora.text.tokens import words_of
from grater.errors import BadInput, Problem, UsageError
from grater.model import Edit, Essay, Interval, Span, short_hash
from grater.options import Registry
from grater.result import FLAT, HIDDEN, Data, Estimate, Result, in_json
from grater.sheet import (
    UNDEFINED,
    Sheet,
    Signature,
    count,
    counted,
    listed,
    p_value,
    percent,
    undefined_notes,
    with_notes,
)
from grater.uncertainty import (
    BASIS,
    SENTENCES,
    Basis,
    Influence,
    Ints,
    Numbers,
    PairTest,
    Scope,
    Units,
    few_draws,
    grouped_rows,
    holm,
    influences,
    paired_tests,
    rank_groups,
    share,
)

Bools: TypeAlias = npt.NDArray[np.bool_]
Mode: TypeAlias = Literal["cs", "cse", "ds", "dt"]
Tier: TypeAlias = Literal["op", "main", "full"]

NOBODY = "0"
"""Whom the official scorers take a block without A lines to be from."""


class Sourced(Protocol):
    """A sentence before correction: an `Essay`, or a metric's own representation."""

    @property
    def text(self) -> str: ...

    @property
    def tokens(self) -> tuple[Span, ...] | None: ...

    @property
    def line(self) -> int | None: ...

    @property
    def annotators(self) -> tuple[str, ...]: ...


Sentences: TypeAlias = Sequence[Sourced]
"""Sentences with the edits of annotators."""


class SourceSentence(NamedTuple):
    """A sentence without edits; `tokens` default to its words."""

    text: str
    tokens: tuple[Span, ...] | None
    line: int | None
    annotators: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class References:
    """The sentences that all systems are scored on; `name` is for messages.

    `engine` is the full name of the engine that extracted the edits, if the references were plain text.
    """

    name: str
    sentences: Sentences
    engine: str = ""

    @property
    def essays(self) -> Sequence[Essay]:
        return cast("Sequence[Essay]", self.sentences)

    @property
    def n_annotators(self) -> int:
        return len({name for sentence in self.sentences for name in sentence.annotators})

    @property
    def has_errant_types(self) -> bool:
        from grater.corpora.tagsets import TAGSETS  # which scores without types need not wait for

        return all(edit.tag in TAGSETS["errant"] for essay in self.essays for edit in essay.edits)

    @property
    def documents(self) -> list[str | None] | None:
        known = [each.metadata.get("document") if isinstance(each, Essay) else None for each in self.sentences]
        names = [None if name is None else str(name) for name in known]
        return names if any(name is not None for name in names) else None


@dataclass(frozen=True, slots=True, eq=False)
class Hypothesis:
    """A system's output: lines of text, or sentences with edits; `name` is the file, for messages.

    `words` are the tokenised lines, set once they are known to fit their sources.
    """

    system: str
    name: str
    texts: Sequence[str] | None = None
    sentences: Sentences = ()
    words: Sequence[list[str]] | None = None

    @property
    def essays(self) -> Sequence[Essay]:
        return cast("Sequence[Essay]", self.sentences)

    @property
    def n_sentences(self) -> int:
        return len(self.essays if self.texts is None else self.texts)

    def only(self, places: Sequence[int]) -> Hypothesis:
        if self.texts is not None:
            return replace(self, texts=[self.texts[place] for place in places], words=None)
        return replace(self, sentences=[self.essays[place] for place in places])


def source_words(sentence: Sourced) -> list[str]:
    """The tokens that came with the text, or else its whitespace-separated words, as in M2."""
    if sentence.tokens is None:
        return sentence.text.split()
    return [token.of(sentence.text) for token in sentence.tokens]


def fit_hypotheses(
    references: References, hypotheses: Sequence[Hypothesis], *, tokenise: bool = False
) -> tuple[list[Hypothesis], list[str]]:
    """The hypotheses whose lines were checked against the references, and warnings of lines that may not belong.

    With `tokenise`, plain text is tokenised like the references.
    """
    words = [source_words(sentence) for sentence in references.sentences]
    fitting, warnings = list[Hypothesis](), list[str]()
    for hypothesis in hypotheses:
        if hypothesis.texts is not None:
            texts = fitted_lines(words, hypothesis.texts) if tokenise else hypothesis.texts
            hypothesis = replace(hypothesis, texts=texts, words=[text.split() for text in texts])
            warnings += require_lines_fit(
                words,
                texts,
                name=hypothesis.name,
                source_name=references.name,
                advice="pass `tokenise` to tokenise both alike",
                words=hypothesis.words,
            )
        fitting.append(hypothesis)
    return fitting, warnings


def require_same_sources(
    references: Sequence[Sourced],
    hypotheses: Sequence[Sourced | str],
    *,
    reference_name: str = "reference",
    hypothesis_name: str = "hypothesis",
) -> None:
    """Raise `BadInput` unless the hypotheses belong to the references, sentence by sentence."""
    n_there, n_here = len(references), len(hypotheses)

    def shown(sentence: Sourced | str) -> str:
        return begun(sentence if isinstance(sentence, str) else sentence.text)

    for number, (there, here) in enumerate(zip(references, hypotheses, strict=False), 1):
        if isinstance(here, str) or (there.text == here.text and there.tokens == here.tokens):
            continue
        words, given = source_words(there), source_words(here)
        if words != given:
            at, sides = next((at, pair) for at, pair in enumerate(zip_longest(words, given)) if pair[0] != pair[1])
            expected, instead = ("nothing" if word is None else repr(word) for word in sides)
            where = "" if there.line is None else f":{there.line}"
            why = "; the two are tokenised in different ways" if "".join(words) == "".join(given) else ""
            message = f"expected in sentence {number} the source of {reference_name}{where}, found {instead} in "
            message += f"place of {expected} as token {at}{why}: {shown(here)}"
            if n_there != n_here:
                message += f" ({n_there} sentences there, {n_here} here)"
            raise BadInput(Problem(hypothesis_name, message, here.line))
    if n_there == n_here:
        return
    message = f"expected {counted(n_there, 'sentence')}, as in {reference_name}, found {n_here:,}"
    if n_here > n_there:
        first = hypotheses[n_there]
        line = None if isinstance(first, str) else first.line
        more = f"sentence {n_there + 1} is the first too many: {shown(first)}"
        raise BadInput(Problem(hypothesis_name, f"{message}; {more}", n_there + 1 if line is None else line))
    missing = references[n_here]
    where = "" if missing.line is None else f":{missing.line}"
    more = f"nothing for sentence {n_here + 1} of {reference_name}{where}: {shown(missing)}"
    raise BadInput(Problem(hypothesis_name, f"{message}; {more}"))


def corrected_texts(essay: Essay) -> dict[str, str]:
    """The sentence as each annotator corrects it; unchanged if nobody is known to have read it."""
    if not essay.annotators:
        return {"0": " ".join(essay.text.split())}
    return {
        annotator: corrected_text(essay.text, [edit for edit in essay.edits if edit.rater == annotator])
        for annotator in essay.annotators
    }


def hypothesis_texts(references: References, hypothesis: Hypothesis) -> Sequence[str]:
    """A hypothesis as lines of text, after checking that it fits the references."""
    lines = hypothesis.essays if hypothesis.texts is None else hypothesis.texts
    require_same_sources(references.sentences, lines, reference_name=references.name, hypothesis_name=hypothesis.name)
    if hypothesis.texts is not None:
        return hypothesis.texts
    return [next(iter(corrected_texts(essay).values())) for essay in hypothesis.essays]


# References and hypotheses as they are given


def read_references(
    given: Sequence[NamedSentences],
    *,
    metric: Metric,
    source: NamedSentences | None = None,
    documents: str | Sequence[str] | None = None,
    engine: str = "grater",
    quickly: bool = False,
    tokenise: bool = False,
) -> References:
    """References from one or several annotators; `quickly` reads M2 in the metric's own format.

    For metrics that compare edits, the engine extracts edits from plain text. `documents` is a file or a list of
    names.
    """
    name = ", ".join(each.file for each in given) or "references"
    plain = {each.name: each.texts for each in given if each.texts is not None}
    if not plain:
        if source is not None:
            raise UsageError("annotated references contain their source sentences; leave out `source`")
        if len(given) == 1:
            read = References(name, _sentences(metric, given[0], quickly=quickly and documents is None))
        else:
            read = References(name, list(merge_annotators({each.name: each for each in given})))
    elif len(plain) < len(given):
        raise UsageError("expected references all with edits (.m2, .jsonl) or all in plain text, found both")
    elif source is None or source.texts is None:
        wish = "references in plain text need the sentences before correction: `source`"
        raise UsageError(f"expected the source of the references, found none; {wish}")
    else:
        read = _plain_references(name, source, plain, metric=metric, engine=engine, tokenise=tokenise)
    if documents is None:
        return read
    if isinstance(documents, str):
        return replace(read, sentences=list(with_documents(read.essays, documents)))
    if len(documents) != len(read.essays):
        raise UsageError(f"expected the documents of {len(read.essays):,} sentences, found {len(documents):,}")
    named = [{**essay.metadata, "document": name} for essay, name in zip(read.essays, documents, strict=True)]
    essays = [replace(essay, metadata=each) for essay, each in zip(read.essays, named, strict=True)]
    return replace(read, sentences=essays)


def _plain_references(
    name: str,
    source: NamedSentences,
    texts: Mapping[str, Sequence[str]],
    *,
    metric: Metric,
    engine: str,
    tokenise: bool,
) -> References:
    """Annotators who rewrote each sentence, or the edits that the engine extracts from their sentences."""
    sources: Sequence[str] = source.texts or ()
    if tokenise:
        words = [words_of(line) for line in sources]
        sources = [" ".join(line) for line in words]
        texts = {called: fitted_lines(words, lines) for called, lines in texts.items()}
    if metric.references_are_texts:
        return References(name, rewritten(sources, texts, source_name=source.file))
    from grater.corpora.edits.engine import load_engine
    from grater.corpora.parallel import parallel_essays  # edits in M2 need no tagger

    chosen = load_engine(engine)
    return References(name, list(parallel_essays(sources, texts, chosen, source_name=source.file)), chosen.name)


def rewritten(sources: Sequence[str], texts: Mapping[str, Sequence[str]], *, source_name: str) -> list[Essay]:
    """Essays whose annotators rewrote each sentence completely; `texts` has their sentences by name."""
    sentences = [SourceSentence(source, None, number) for number, source in enumerate(sources, 1)]
    for name, lines in texts.items():
        require_same_sources(sentences, lines, reference_name=source_name, hypothesis_name=name)
    essays = []
    for number, source in enumerate(sources):
        new = {name: lines[number] for name, lines in texts.items() if lines[number].split() != source.split()}
        edits = tuple(Edit(Span(0, len(source)), (text,), "", name) for name, text in new.items())
        essays.append(Essay(short_hash(f"{number}:{source}"), source, edits, tuple(texts), line=number + 1))
    return essays


def read_hypotheses(given: Sequence[NamedSentences], *, metric: Metric, quickly: bool = False) -> list[Hypothesis]:
    hypotheses = []
    for each in given:
        sentences = () if each.texts is not None else _sentences(metric, each, quickly=quickly)
        hypotheses.append(Hypothesis(each.name, each.file, each.texts, sentences))
    return hypotheses


def _sentences(metric: Metric, given: NamedSentences, *, quickly: bool) -> Sentences:
    if quickly and given.source is not None and given.kind == "m2":
        return metric.read(given.source)
    return list(given)


# Counts and metrics


@dataclass(frozen=True, slots=True, eq=False)
class SentenceCounts:
    """`cells` has the shape (sentences, rows, columns); sentence i has `n_rows[i]` rows, padded with zeros.

    `references` are the annotators that the sentences were compared with, if the metric chooses one. `by_type` has an
    array (sentences, columns) for each error type, if the metric has types.
    """

    system: str
    cells: Ints | Numbers
    n_rows: Ints
    references: tuple[str, ...] = ()
    by_type: Mapping[str, Ints] = field(default_factory=dict)

    @property
    def n_sentences(self) -> int:
        return len(self.cells)

    @property
    def expected(self) -> Numbers:
        """The mean row of each sentence."""
        rows: Numbers = self.cells.sum(axis=1) / np.maximum(self.n_rows, 1)[:, None]
        return rows


def of_rows(
    system: str, rows: Ints | Numbers, *, references: Sequence[str] = (), by_type: Mapping[str, Ints] | None = None
) -> SentenceCounts:
    """Counts with one row per sentence."""
    return SentenceCounts(system, rows[:, None, :], np.ones(len(rows), np.int64), tuple(references), by_type or {})


@dataclass(frozen=True, slots=True, eq=False)
class AnnotatorCounts:
    annotators: tuple[str, ...]
    cells: Ints


@dataclass(frozen=True, slots=True)
class MetricOptions:
    """Options of all metrics, each of which uses those it needs; with `tier` None there are no scores by type.

    `engine` extracts edits from plain text; `extracts` records that it had to, for the signature.
    """

    beta: float = 0.5
    mode: Mode = "cs"
    tier: Tier | None = None
    max_unchanged: int = 2
    engine: str = "grater"
    extracts: bool = False

    def __post_init__(self) -> None:
        if not self.beta > 0 or self.beta == float("inf"):
            raise UsageError(f"expected a beta above 0, found {self.beta:g}")


METRICS: Registry[Metric] = Registry(
    "metric",
    "grater.metrics",
    {
        "cleme": "grater.measure.corrections.cleme:METRIC",
        "errant": "grater.measure.corrections.errant:METRIC",
        "gleu": "grater.measure.corrections.gleu:METRIC",
        "m2": "grater.measure.corrections.maxmatch:METRIC",
    },
)


COLUMNS = ("tp", "fp", "fn")
WITHOUT_TYPES = ("cleme", "gleu", "m2")


def precision_recall_f(counts: npt.ArrayLike, *, beta: float) -> Numbers:
    """Precision, recall and F in place of the tp, fp, fn of the last axis, unrounded."""
    tp, fp, fn = np.moveaxis(np.asarray(counts, np.float64), -1, 0)
    precision, recall = _ratio(tp, tp + fp, 1.0), _ratio(tp, tp + fn, 1.0)
    f = _ratio((1 + beta**2) * precision * recall, beta**2 * precision + recall, 0.0)
    return np.stack([precision, recall, f], axis=-1)


def _ratio(above: Numbers, below: Numbers, otherwise: float) -> Numbers:
    ratio: Numbers = np.divide(above, below, out=np.full(np.shape(below), otherwise), where=below != 0)
    return ratio


class Metric:
    """The base of all metrics; it compares corrected sentences. The last count is the number of cases.

    `columns` names the counts; `references_are_texts` if plain-text references need no edits.
    """

    __slots__ = ()
    name: str
    columns: tuple[str, ...]
    references_are_texts: bool

    def read(self, source: Source) -> Sentences:
        """Read an M2 file in the format that is fastest for this metric."""
        return list(M2_FORMAT.read(source))

    def score_names(self, options: MetricOptions) -> tuple[str, ...]:
        """The scores in the order of the table; the last one ranks and compares systems."""
        return (self.name,)

    def scores(self, sums: Numbers, options: MetricOptions) -> Numbers:
        """Map sums of counts in the last axis to scores in the last axis."""
        raise NotImplementedError

    def cases(self, sums: Numbers, options: MetricOptions) -> Numbers:
        """The denominator of each score, from the same sums."""
        return sums[..., -1:]

    def rows(self, counts: SentenceCounts) -> Numbers:
        """One row per sentence; the scores of their sum are the corpus scores."""
        return counts.cells[:, 0].astype(np.float64)

    def sentence_scores(self, counts: SentenceCounts, options: MetricOptions) -> Numbers:
        """The scores of each sentence alone: (sentences, scores)."""
        return self.scores(self.rows(counts), options)

    def count(
        self, references: References, hypotheses: Sequence[Hypothesis], options: MetricOptions
    ) -> list[SentenceCounts]:
        raise NotImplementedError

    def signature(self, references: References, options: MetricOptions) -> Signature:
        raise NotImplementedError

    def as_hypothesis(self, essays: Sequence[Essay], annotator: str) -> Hypothesis:
        """The annotator's corrections as the output of a system."""
        return Hypothesis(annotator, annotator, texts=[corrected_texts(essay)[annotator] for essay in essays])

    def against_each(
        self, references: References, hypotheses: Sequence[Hypothesis], options: MetricOptions
    ) -> Iterator[AnnotatorCounts]:
        """Counts of each hypothesis in turn; every annotator must have read every sentence."""
        raise UsageError(f"the metric {self.name} has no ceiling: it has no counts against each annotator alone")

    def among(self, counts: AnnotatorCounts, subsets: Bools, options: MetricOptions) -> list[SentenceCounts]:
        """Counts against each of several sets of annotators."""
        raise NotImplementedError


Keys: TypeAlias = Callable[[Ints], list[Numbers]]
"""From sums with a sentence added, (tp, fp, fn) in the last axis, to what is wanted high, first things first."""


def choose_annotators(cells: Ints, subsets: Bools, keys: Keys) -> Ints:
    """The annotator chosen for each sentence, for every set: (sets, sentences), from (sentences, annotators, 3).

    `subsets` has one row per set, or such rows for each sentence.
    """
    n_sets = subsets.shape[-2]
    so_far = np.zeros((n_sets, 1, 3), np.int64)
    chosen = np.zeros((n_sets, len(cells)), np.int64)
    everywhere = np.broadcast_to(subsets, (len(cells), n_sets, cells.shape[1]))
    for sentence, (counts, subsets) in enumerate(zip(cells, everywhere, strict=True)):
        if (counts == counts[0]).all():  # as of most sentences that a system leaves alone
            chosen[:, sentence] = subsets.argmax(axis=1)
            so_far += counts[0]
            continue
        best = subsets
        for key in keys(so_far + counts):
            key = np.where(best, key, -np.inf)
            best = key == key.max(axis=1, keepdims=True)
        place = best.argmax(axis=1)
        chosen[:, sentence] = place
        so_far += counts[place][:, None, :]
    return chosen


class EditMetric(Metric):
    """The base of metrics that count true positives, false positives and false negatives of edits.

    `keys` orders the annotators of a sentence, for metrics that choose one.
    """

    __slots__ = ()

    def keys(self, options: MetricOptions) -> Keys:
        raise NotImplementedError

    def score_names(self, options: MetricOptions) -> tuple[str, ...]:
        return "precision", "recall", f"f{options.beta:g}"

    def scores(self, sums: Numbers, options: MetricOptions) -> Numbers:
        return precision_recall_f(sums, beta=options.beta)

    def cases(self, sums: Numbers, options: MetricOptions) -> Numbers:
        tp, fp, fn = np.moveaxis(sums, -1, 0)
        return np.stack([tp + fp, tp + fn, tp + fp + fn], axis=-1)

    def among(self, counts: AnnotatorCounts, subsets: Bools, options: MetricOptions) -> list[SentenceCounts]:
        chosen = choose_annotators(counts.cells, subsets, self.keys(options))
        return [of_rows("", rows) for rows in counts.cells[np.arange(len(counts.cells)), chosen]]


# Scores of systems


Test: TypeAlias = Literal["paired", "randomisation"]

MOST_PAIRS = 40
"""Pairs of systems that a table has a row for."""
AS_ASKED = "sentences taken as independent, as asked"


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    unit_of: Ints
    scope: Scope

    def units(self, rows: Numbers) -> Units:
        return Units(grouped_rows(rows, self.unit_of, self.scope.n_units), self.scope.unit)


def design_of(n_sentences: int, documents: Sequence[str | None] | None, basis: Basis) -> Design:
    """Documents as units if they are known; a sentence without one is a separate unit."""
    if basis.units == "document" and documents is None:
        raise UsageError("the references do not name their documents; pass `documents`")
    if documents is None or basis.units not in ("auto", "document"):
        note = SENTENCES if documents is None else AS_ASKED
        return Design(np.arange(n_sentences), Scope("sentence", n_sentences, note=note))
    if len(documents) != n_sentences:
        raise UsageError(f"expected the documents of {counted(n_sentences, 'sentence')}, found {len(documents):,}")
    n_alone = sum(name is None for name in documents)
    names = [f"sentence {number}" if name is None else f"document {name}" for number, name in enumerate(documents)]
    codes = {name: code for code, name in enumerate(dict.fromkeys(names))}
    note = f"{counted(n_alone, 'sentence')} without a document taken as independent" if n_alone else ""
    unit_of = np.array([codes[name] for name in names], np.int64)
    return Design(unit_of, Scope("document", len(codes), note=note))


@dataclass(frozen=True, slots=True)
class ScoredCounts(Data):
    """Scores by name and the counts they come from, of a system or of one type of its errors."""

    scores: Mapping[str, Interval] = field(metadata=FLAT)
    counts: Mapping[str, float]

    @property
    def shown_counts(self) -> Mapping[str, float]:
        """True positives, false positives and false negatives; nothing for GLEU, whose ten counts mean little."""
        return self.counts if len(self.counts) == 3 else {}

    def cells(self) -> tuple[str, ...]:
        return (*map(percent, self.scores.values()), *map(count, self.shown_counts.values()))


@dataclass(frozen=True, slots=True, eq=False)
class SystemScores(Data):
    """One row of the table; `sentences` are the counts behind it."""

    system: str
    overall: ScoredCounts = field(metadata=FLAT)
    by_type: Mapping[str, ScoredCounts]
    group: str
    sentences: SentenceCounts = field(metadata=HIDDEN)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scores(Result):
    metric: str
    headline: str = field(metadata=HIDDEN)
    systems: tuple[SystemScores, ...]
    pairs: tuple[PairTest, ...]
    scope: Scope
    signature: Signature
    warnings: tuple[str, ...] = ()
    references: str = ""
    n_annotators: int = 0
    shows_types: bool = field(default=False, metadata=HIDDEN)
    shows_methods: bool = field(default=False, metadata=HIDDEN)

    @property
    def paragraph(self) -> str:
        """A paragraph for a paper, shown instead of tables."""
        return self.methods if self.shows_methods else ""

    @property
    @in_json()
    def verdict(self) -> str:
        """Which systems are better than which, in one sentence; empty if nothing was compared."""
        if not self.pairs or all(isnan(pair.p) for pair in self.pairs):
            return ""
        ranked, baseline = [system.system for system in self.systems], self.signature.options.get("baseline", "")
        apart = {frozenset(pair.systems) for pair in self.pairs if pair.is_apart()}
        worse = {
            name: tuple(other for other in ranked[place + 1 :] if {name, other} in apart)
            for place, name in enumerate(ranked)
        }
        parts = []
        for others in dict.fromkeys(filter(None, worse.values())):
            better = [name for name in ranked if worse[name] == others]
            parts.append(f"{listed(better)} {'is' if len(better) == 1 else 'are'} better than {listed(others)}")
        letters = dict.fromkeys(letter for system in self.systems for letter in system.group)
        groups = [[system.system for system in self.systems if letter in system.group] for letter in letters]
        if baseline:
            groups = [[baseline, *(name for name in ranked if name != baseline and {name, baseline} not in apart)]]
        pairs = [[f"{each[0]} from {each[1]}"] if len(each) == 2 else each for each in groups if len(each) > 1]
        if baseline:
            pairs = [[f"{baseline} from {listed(each[1:])}"] for each in groups if len(each) > 1]
        if same := [listed(each) for each in pairs]:
            parts.append(f"{'nothing' if parts else 'Nothing'} separates {', nor '.join(same)}")
        return "; ".join(parts) + "."

    @property
    @in_json()
    def methods(self) -> str:
        """What a paper must state about these numbers."""
        options, scope = self.signature.options, self.scope
        level, unit, names = f"{100 * scope.level:g} %", scope.unit, [system.system for system in self.systems]
        n_sentences = counted(self.systems[0].sentences.n_sentences, "sentence")
        whose = f" of {counted(self.n_annotators, 'annotator')}" if self.n_annotators else ""
        where = f" ({self.references})" if self.references else ""
        words = [
            f"We scored the output of {listed(names)} on {n_sentences} against the references{whose}{where} by "
            f"{METHODS.get(self.metric, self.metric)}, as implemented in grater {__version__}."
        ]
        if "beta" in options:
            words.append(f"Recall weighs {options['beta']} times as much as precision (beta).")
        if options.get("tokens") == "grater":
            words.append("Outputs were tokenised by grater and aligned with the tokens of their sources.")
        if "engine" in options:
            words.append(f"Edits were extracted from plain text by {options['engine']}.")
        how = "come from the jackknife over"
        if options.get("interval") == "bootstrap":
            how = f"are from {options['resamples']} bootstrap resamples of"
        words.append(f"{level} confidence intervals {how} {counted(scope.n_units or 0, unit)}.")
        if self.pairs:
            test = f"randomisation tests ({options['resamples']} swaps)" if "test" in options else "t tests"
            title, others = score_title(self.headline), options.get("baseline", "each other")
            words.append(
                f"Systems were compared with {others} on {title} by {test} paired by {unit}, with Holm's correction "
                f"for {counted(len(self.pairs), 'pair')} at {level}."
            )
        return " ".join([*words, *([self.verdict] if self.verdict else []), f"Signature: {self.signature}"])

    def estimates(self) -> Iterator[Estimate]:
        """Scores by system and type; the type is empty for the overall score."""
        for system in self.systems:
            for kind, scored in {"": system.overall, **system.by_type}.items():
                for name, score in scored.scores.items():
                    yield {"system": system.system, "type": kind, "score": name}, score

    def sheets(self) -> list[Sheet]:
        by_type = [_type_sheet(system) for system in self.systems if system.by_type and self.shows_types]
        sheets = [_system_sheet(self), *by_type, *([_pair_sheet(self)] if self.pairs else [])]
        notes = [self.scope.sentence, *([self.verdict] if self.verdict else [])]
        return with_notes(sheets, notes, str(self.signature))


METHODS = {
    "cleme": "CLEME (Ye et al., 2023)",
    "errant": "ERRANT (Bryant, Felice and Briscoe, 2017)",
    "gleu": "GLEU (Napoles et al., 2015, 2016)",
    "m2": "MaxMatch (M2; Dahlmeier and Ng, 2012)",
}


def _system_sheet(scores: Scores) -> Sheet:
    first, options = scores.systems[0], scores.signature.options
    counts = (name.upper() for name in first.overall.shown_counts)
    columns = ("", *map(score_title, first.overall.scores), *counts, "group")
    rows = [(system.system, *system.overall.cells(), system.group) for system in scores.systems]
    test = f"({'randomisation' if 'test' in options else 'paired t'} test, Holm)"
    letters = f"Systems that share a letter are not significantly different at 95 % {test}."
    if baseline := options.get("baseline"):
        letters = f"The last column: significantly better or worse than {baseline} at 95 %, or neither {test}."
    undefined = undefined_notes(score for system in scores.systems for score in system.overall.scores.values())
    title = f"{metric_title(scores.metric)}, {counted(first.sentences.n_sentences, 'sentence')}"
    notes = (*([letters] if scores.pairs else []), *undefined)
    return Sheet(title, columns, tuple(rows), notes=notes, name="scores")


def _type_sheet(system: SystemScores) -> Sheet:
    columns = ("", *map(score_title, system.overall.scores), "TP", "FP", "FN")
    rows = [(name, *scored.cells()) for name, scored in system.by_type.items()]
    return Sheet(f"{system.system} by type", columns, tuple(rows), name="types")


def _pair_sheet(scores: Scores) -> Sheet:
    rows = [
        (" – ".join(pair.systems), percent(pair.difference), p_value(pair.p), p_value(pair.p_holm))
        for pair in scores.pairs[:MOST_PAIRS]
    ]
    n_more = len(scores.pairs) - MOST_PAIRS
    more = [f"{n_more:,} more pairs are in the JSON and the frame."] if n_more > 0 else []
    notes = (*more, *undefined_notes(pair.difference for pair in scores.pairs))
    test = "randomisation p" if "test" in scores.signature.options else "p"
    title = f"Differences of {score_title(scores.headline)}"
    return Sheet(title, ("", "difference", test, "Holm"), tuple(rows), notes=notes, name="pairs")


def score_title(name: str) -> str:
    """`P`, `R`, `F0.5`, `GLEU`."""
    return {"precision": "P", "recall": "R"}.get(name, name.upper())


TITLES = {
    "cleme": "CLEME",
    "errant": "ERRANT",
    "gleu": "GLEU",
    "m2": "M2 (MaxMatch)",
}


def metric_title(name: str) -> str:
    return TITLES.get(name, name)


def score_systems(
    metric: Metric,
    references: References,
    hypotheses: Sequence[Hypothesis],
    *,
    options: MetricOptions | None = None,
    basis: Basis = BASIS,
    test: Test = "paired",
    baseline: str = "",
    tokenised: bool = False,
    warnings: Sequence[str] = (),
) -> Scores:
    """Score and compare the systems; with a baseline, every other system is compared only with it.

    If `tokenised`, `fit_hypotheses` tokenised them and gave the `warnings`.
    """
    names = [hypothesis.system for hypothesis in hypotheses]
    if doubled := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"expected systems of different names, found {doubled!r} twice; rename one of the files")
    if not names:
        raise UsageError("expected at least one hypothesis to score, found none")
    _require_baseline(baseline, names)
    options, left_out = _with_types_known(knowing_texts(options or MetricOptions(), hypotheses), references)
    counts = metric.count(references, hypotheses, options)
    if not counts[0].n_sentences:
        raise UsageError(f"{references.name}: expected sentences to score, found none")
    signature = metric.signature(references, options)
    if tokenised:
        signature = replace(signature, options={**signature.options, "tokens": "grater"})
    alike = []
    for own in counts if metric.columns == COLUMNS else ():
        tp, fp, fn = own.cells.sum(axis=(0, 1))
        if tp and not fp and not fn:
            alike.append(f"{own.system} has no error by the references: is it one of them?")
    scores = compare_counts(
        metric,
        counts,
        signature,
        options=options,
        documents=references.documents,
        basis=basis,
        test=test,
        baseline=baseline,
    )
    return replace(
        scores,
        warnings=(*warnings, *alike, *left_out, *scores.warnings),
        references=", ".join(PurePath(name).name for name in references.name.split(", ")),
        n_annotators=references.n_annotators,
    )


def _with_types_known(options: MetricOptions, references: References) -> tuple[MetricOptions, list[str]]:
    """Drop types for plain text that is not English, since engines assign types only for English."""
    is_made = options.extracts or references.engine
    if not is_made or (options.tier is None and options.mode != "cse"):
        return options, []
    if is_english(source_words(sentence) for sentence in references.sentences):
        return options, []
    if options.mode == "cse":
        raise UsageError("mode cse compares types of errors, which are known for English only; use mode cs")
    return replace(options, tier=None), ["types of errors are left out: they are known for English only"]


def knowing_texts(options: MetricOptions, hypotheses: Sequence[Hypothesis]) -> MetricOptions:
    """The options, with a record of whether any hypothesis is plain text and may need edits extracted."""
    return replace(options, extracts=any(hypothesis.texts is not None for hypothesis in hypotheses))


def _require_baseline(baseline: str, names: Sequence[str]) -> None:
    if baseline and baseline not in names:
        raise UsageError(f"expected the baseline to be one of {', '.join(names)}, found {baseline!r}")


def compare_counts(
    metric: Metric,
    counts: Sequence[SentenceCounts],
    signature: Signature,
    *,
    options: MetricOptions,
    documents: Sequence[str | None] | None = None,
    basis: Basis,
    test: Test = "paired",
    baseline: str = "",
) -> Scores:
    """Scores of systems already counted on the same sentences; `signature` says how they were counted."""
    _require_baseline(baseline, [own.system for own in counts])
    design = design_of(counts[0].n_sentences, documents, basis)
    units = {own.system: design.units(metric.rows(own)) for own in counts}
    its = {name: influences_of(metric, own, options, basis) for name, own in units.items()}
    counts = sorted(counts, key=lambda own: (-its[own.system][-1].value, own.system))
    ranked = {own.system: its[own.system][-1] for own in counts}
    pairs = paired_tests(ranked, baseline=baseline)
    used = {**basis.signature(design.scope.unit), **({"baseline": baseline} if baseline else {})}
    warnings = list(design.scope.warnings)
    if any(it.is_concentrated for it in ranked.values()):
        warnings.insert(0, f"one {design.scope.unit} has most of the cases: intervals rest on little else")
    warnings[:0] = few_draws(basis, len(pairs), are_swaps=test == "randomisation")
    if test == "randomisation" and pairs:
        used |= {"test": test, "resamples": str(basis.n_resamples), "seed": str(basis.seed)}
        from grater.uncertainty import randomisation

        found = [
            randomisation(
                units[pair.first],
                units[pair.second],
                lambda sums: metric.scores(sums, options)[..., -1],
                n_swaps=basis.n_resamples,
                seed=basis.seed,
            )
            for pair in pairs
        ]
        pairs = [replace(pair, p=p, p_holm=to) for pair, p, to in zip(pairs, found, holm(found), strict=True)]
    letters = _letters(list(ranked), pairs, baseline)
    systems = [
        SystemScores(
            system=own.system,
            overall=scored(metric, its[own.system], own.expected, options),
            by_type={
                kind: scored(metric, influences_of(metric, design.units(rows), options, basis), rows, options)
                for kind, rows in ((kind, rows.astype(np.float64)) for kind, rows in own.by_type.items())
            },
            group=letters[own.system],
            sentences=own,
        )
        for own in counts
    ]
    return Scores(
        metric=metric.name,
        headline=metric.score_names(options)[-1],
        systems=tuple(systems),
        pairs=tuple(pairs),
        scope=design.scope,
        signature=replace(signature, options={**signature.options, **used}),
        warnings=tuple(warnings),
    )


def influences_of(metric: Metric, units: Units, options: MetricOptions, basis: Basis) -> list[Influence]:
    """Every score of the metric, and the influence of each unit."""
    dens = metric.cases(units.rows, options).T
    return influences(units, lambda sums: metric.scores(sums, options), dens, basis)


def scored(metric: Metric, its: Sequence[Influence], rows: Numbers, options: MetricOptions) -> ScoredCounts:
    names, totals = metric.score_names(options), rows.sum(axis=0).tolist()
    return ScoredCounts(
        {name: share(it, n=float(it.den.sum())) for name, it in zip(names, its, strict=True)},
        {name: int(n) if n == int(n) else n for name, n in zip(metric.columns, totals, strict=True)},
    )


def _letters(ranked: Sequence[str], pairs: Sequence[PairTest], baseline: str) -> dict[str, str]:
    """Rank groups, or the side of the baseline that each system is on."""
    apart = [pair for pair in pairs if pair.is_apart()]
    if pairs and all(isnan(pair.p) for pair in pairs):
        return dict.fromkeys(ranked, UNDEFINED)
    if not baseline:
        return rank_groups(ranked, [pair.systems for pair in apart])
    sides = {pair.first: "better" if pair.difference.value > 0 else "worse" for pair in apart}
    return {name: "baseline" if name == baseline else sides.get(name, "not significant") for name in ranked}
