"""Edit-based scores as `errant_compare` counts them, with edits extracted from plain text if necessary.

Bryant, Felice and Briscoe 2017, "Automatic annotation and evaluation of error types for grammatical error
correction", section 5; checked against `errant_compare` of errant 3.0.2.  Four modes say when two edits match:

    cs   same span and correction (ERRANT's default)       ds   same span
    cse  same span, correction and type                    dt   token by token; an insertion is on the token after it

A true positive has the reference's type, a false positive the hypothesis's. No-ops match nothing. Edits of type `UNK`
(detected but not corrected) count only in detection. If an annotator has several edits at the matched span, each edit
of the *reference* there counts as a true positive, as in ERRANT.

With several annotators, each sentence uses the pair (hypothesis, reference) that gives the best F of the corpus *so
far*, rounded to four places; ties go to more true positives, then fewer false positives, fewer false negatives, and
the earlier pair. The choice therefore depends on beta and on the order of sentences, as in ERRANT.

Departure: an edit that an annotator has twice (same span, correction and type; `errant_parallel` can write these)
counts once. ERRANT counts one hypothesis edit as two true positives there (errant #49). The signature says
`duplicates:once`; without duplicates, the numbers equal ERRANT's. 0/0 is 1, as in ERRANT.

**Tables** hold token indices and integer codes. They are built from essays with tokens, or directly from the blocks
of an M2 file. As in `errant_compare`, corrections are compared as strings: `-NONE-` and an empty correction differ,
although both delete. A *group* is one annotator's edits of one sentence, possibly none. A block without A lines is
one group without edits; it belongs to the file's only annotator, or else to annotator 0, as in ERRANT.

**Matching** handles all sentences and all pairs of annotators at once. An edit is cut into the *units* of its mode:
itself, or its tokens. Units of a sentence that match each other share an integer key; the rest is counting keys.

**Types** have three tiers: the operation (`M`issing, `U`nnecessary, `R`eplacement), the main type (`NOUN:NUM`) and
both (`R:NOUN:NUM`). As in `errant_compare`, the operation is the first character of a type, and the main type starts
at the third; types of other schemes (`ArtOrDet`) make sense only in the full tier. `UNK` stays `UNK` in all tiers.

**Plain text** is turned into edits by an engine (`corpora.edits.engine`): our own rules, or the errant package.  The
signature names the engine and its version.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast, get_args

import numpy as np

from grater.corpora.formats import Source
from grater.corpora.m2 import CORRECTION_AS_READ, NOOP, correction_of, read_blocks
from grater.errors import UnknownName, UsageError
from grater.measure.corrections.scores import (
    COLUMNS,
    NOBODY,
    AnnotatorCounts,
    EditMetric,
    Hypothesis,
    Keys,
    MetricOptions,
    Mode,
    References,
    SentenceCounts,
    Sentences,
    Sourced,
    SourceSentence,
    Tier,
    choose_annotators,
    of_rows,
    require_same_sources,
    source_words,
)
from grater.model import Edit, Essay, Span
from grater.sheet import Signature, digest
from grater.uncertainty import Ints, Numbers

# Edits as arrays


_Line: TypeAlias = tuple[int, str, int, int, str, str, int]
"""Sentence, annotator, start, end, tag, correction, and 1 for a no-op."""


@dataclass(frozen=True, slots=True, eq=False)
class EditTable(Sequence[SourceSentence]):
    """Sentences with one row per edit, in the order of the file; `tag` and `correction` index `tags`, `corrections`.

    Groups are ordered by sentence, then by the first appearance of the annotator.
    """

    sentences: Sequence[SourceSentence]
    group_sentence: Ints
    group_annotator: Sequence[str]
    group: Ints
    start: Ints
    end: Ints
    tag: Ints
    correction: Ints
    tags: Sequence[str]
    corrections: Sequence[str]

    def __len__(self) -> int:
        return len(self.sentences)

    def __getitem__(self, place: Any) -> Any:
        return self.sentences[place]

    def only(self, rows: Ints) -> EditTable:
        names = ("group", "start", "end", "tag", "correction")
        return replace(self, **{name: getattr(self, name)[rows] for name in names})


def read_table(source: Source) -> EditTable:
    """Read the edits of an M2 file without building essays."""
    sentences, lines = list[SourceSentence](), list[_Line]()
    for index, block in enumerate(read_blocks(source.lines(), name=source.name)):
        sentences.append(SourceSentence(block.text, None, block.line))
        lines += [
            (index, mark.annotator, mark.start, mark.end, mark.tag, mark.correction, int(mark.tag == NOOP))
            for mark in block.annotations
        ]
    return _table(sentences, lines)


def table_of(essays: Iterable[Essay]) -> EditTable:
    """The edits of essays that are sentences, such as those read from M2."""
    sentences, lines = list[SourceSentence](), list[_Line]()
    for index, essay in enumerate(essays):
        sentences.append(SourceSentence(essay.text, essay.tokens, essay.line))
        lines += [(index, annotator, 0, 0, "", "", 1) for annotator in essay.annotators]
        if essay.tokens is None:
            raise UsageError(f"essay {essay.essay_id!r} has no tokens; convert the corpus to M2 first")
        starts = [token.start for token in essay.tokens]
        for edit in essay.edits:
            start, end = _tokens(edit.span, essay, essay.tokens, starts)
            lines.append((index, edit.rater, start, end, edit.tag, _spelt(edit, essay.text), 0))
    return _table(sentences, lines)


def _spelt(edit: Edit, text: str) -> str:
    if not edit.extra and len(edit.replacements) == 1:  # nearly always
        return edit.replacements[0]
    as_read = edit.extra.get(CORRECTION_AS_READ)
    return as_read if isinstance(as_read, str) else correction_of(edit.replacements, words=edit.span.of(text))


def _tokens(span: Span, essay: Essay, tokens: tuple[Span, ...], starts: list[int]) -> tuple[int, int]:
    start, end = bisect_left(starts, span.start), bisect_left(starts, span.end)
    begins = tokens[start].start if start < len(tokens) else len(essay.text)
    ends = tokens[end - 1].end if start < end else begins
    if (begins, ends) != (span.start, span.end):
        raise UsageError(
            f"essay {essay.essay_id!r}: edit {span.start}-{span.end} begins or ends inside a token; "
            "convert the corpus to M2 first, which grows edits to whole tokens"
        )
    return start, end


def _table(sentences: Sequence[SourceSentence], lines: Sequence[_Line]) -> EditTable:
    columns = list(zip(*lines, strict=True)) if lines else [()] * 7
    annotator, annotators = _coded(columns[1])
    tag, tags = _coded(columns[4])
    correction, corrections = _coded(columns[5])
    sentence, start, end, is_noop = (np.array(columns[place], np.int64) for place in (0, 2, 3, 6))
    code = sentence * max(1, len(annotators)) + annotator
    _, first, group = np.unique(code, return_index=True, return_inverse=True)
    appearance = np.argsort(first)
    group = np.argsort(appearance)[group]
    first = first[appearance]
    of_group = [annotators[place] for place in annotator[first].tolist()]
    silent = (np.bincount(sentence, minlength=len(sentences)) == 0).nonzero()[0]
    places = np.searchsorted(sentence[first], silent)
    name = annotators[0] if len(annotators) == 1 else NOBODY
    group_sentence = np.insert(sentence[first], places, silent)
    group_annotator = np.insert(np.array(of_group, object), places, name).tolist()
    readers: list[list[str]] = [[] for _ in sentences]
    for place, reader in zip(group_sentence.tolist(), group_annotator, strict=True):
        readers[place].append(reader)
    return EditTable(
        sentences=[each._replace(annotators=tuple(own)) for each, own in zip(sentences, readers, strict=True)],
        group_sentence=group_sentence,
        group_annotator=group_annotator,
        group=group + np.searchsorted(places, group, side="right"),
        start=start,
        end=end,
        tag=tag,
        correction=correction,
        tags=tags,
        corrections=corrections,
    ).only((is_noop == 0).nonzero()[0])


def _coded(strings: Iterable[str]) -> tuple[Ints, list[str]]:
    places: dict[str, int] = {}
    codes = [places.setdefault(string, len(places)) for string in strings]
    return np.array(codes, np.int64), list(places)


UNCORRECTED = "UNK"
MOST = 1 << 62


@dataclass(frozen=True, slots=True)
class MatchUnits:
    """One side of the comparison: the group, key and type (an index into `Matched.types`) of each unit."""

    group_sentence: Ints
    group_annotator: Sequence[str]
    group: Ints
    key: Ints
    type_of: Ints

    @property
    def sentence(self) -> Ints:
        return self.group_sentence[self.group]


@dataclass(frozen=True, slots=True)
class Matched:
    """All pairs of annotators: by sentence, then by the hypothesis's annotator, then by the reference's.

    `counts` has a row (tp, fp, fn) for each pair; `ours` and `theirs` are its two groups.
    """

    hypothesis: MatchUnits
    reference: MatchUnits
    types: tuple[str, ...]
    n_sentences: int
    ours: Ints
    theirs: Ints
    counts: Ints


def match(references: EditTable, hypotheses: EditTable, *, mode: Mode) -> Matched:
    """Count the matches of every pair of annotators; the sentences must be the same."""
    if mode not in MODES:
        raise UnknownName(f"unknown mode {mode!r} of ERRANT; known: {', '.join(MODES)}")
    hypothesis, reference, types = _units(_once(hypotheses), _once(references), mode)
    ours, theirs, n_before = _pairs(hypothesis, reference, n_sentences=len(references))
    our_group, our_key, our_n = _tally(hypothesis)
    their_group, their_key, their_n = _tally(reference)
    order = np.argsort(their_key, kind="stable")
    left, right = (np.searchsorted(their_key[order], our_key, side=side) for side in ("left", "right"))
    n_met = right - left
    mine = np.repeat(np.arange(len(our_key)), n_met)
    other = order[np.arange(len(mine)) - np.repeat(np.cumsum(n_met) - n_met, n_met) + np.repeat(left, n_met)]
    pair = n_before[our_group[mine]] + their_group[other]
    tp, n_matched = (
        np.bincount(pair, weights=n, minlength=len(ours)).astype(np.int64) for n in (their_n[other], our_n[mine])
    )
    fp = np.bincount(hypothesis.group, minlength=len(hypothesis.group_sentence))[ours] - n_matched
    fn = np.bincount(reference.group, minlength=len(reference.group_sentence))[theirs] - tp
    counts = np.stack([tp, fp, fn], axis=1)
    return Matched(
        hypothesis=hypothesis,
        reference=reference,
        types=types,
        n_sentences=len(references),
        ours=ours,
        theirs=theirs,
        counts=counts,
    )


def _once(table: EditTable) -> EditTable:
    """The edits without duplicates; the first of each is kept."""
    code = joined(table.group, table.start, table.end, table.tag, table.correction)
    return table.only(np.sort(np.unique(code, return_index=True)[1]))


def _units(
    hypotheses: EditTable, references: EditTable, mode: Mode
) -> tuple[MatchUnits, MatchUnits, tuple[str, ...]]:
    tags, (tag, other_tag) = _shared(hypotheses.tags, references.tags)
    _, (correction, other_correction) = _shared(hypotheses.corrections, references.corrections)
    sides = [
        _cut(hypotheses, tag[hypotheses.tag], correction[hypotheses.correction], tags, mode),
        _cut(references, other_tag[references.tag], other_correction[references.correction], tags, mode),
    ]
    columns = [np.concatenate(column) for column in zip(*(key for _, _, key in sides), strict=True)]
    code = np.unique(joined(*columns), return_inverse=True)[1]
    keys = np.split(code, [len(sides[0][0])])
    hypothesis, reference = (
        MatchUnits(table.group_sentence, table.group_annotator, group, key, type_of)
        for table, (group, type_of, _), key in zip((hypotheses, references), sides, keys, strict=True)
    )
    return hypothesis, reference, tuple(tags)


def _shared(ours: Sequence[str], theirs: Sequence[str]) -> tuple[list[str], tuple[Ints, Ints]]:
    """The names of both sides, sorted, and for each side its own codes as indices into them."""
    names = sorted({*ours, *theirs})
    places = {name: place for place, name in enumerate(names)}
    first, second = (np.array([places[name] for name in own], np.int64) for own in (ours, theirs))
    return names, (first, second)


def _cut(
    table: EditTable, tag: Ints, correction: Ints, tags: Sequence[str], mode: Mode
) -> tuple[Ints, Ints, tuple[Ints, ...]]:
    """The group and type of each unit, and the columns that make up its key."""
    sentence = table.group_sentence[table.group]
    if mode == "dt":
        length = np.maximum(table.end - table.start, 1)
        edit = np.repeat(np.arange(len(length)), length)
        token = table.start[edit] + np.arange(len(edit)) - (np.cumsum(length) - length)[edit]
        return table.group[edit], tag[edit], (sentence[edit], token)
    if mode == "ds":
        return table.group, tag, (sentence, table.start, table.end)
    kept = np.array([name != UNCORRECTED for name in tags], np.bool_)[tag]
    columns = (sentence, table.start, table.end, correction, *([tag] if mode == "cse" else []))
    return table.group[kept], tag[kept], tuple(column[kept] for column in columns)


def _pairs(ours: MatchUnits, theirs: MatchUnits, *, n_sentences: int) -> tuple[Ints, Ints, Ints]:
    """The two groups of each pair, and the number of pairs before those of each hypothesis group."""
    n_theirs = np.bincount(theirs.group_sentence, minlength=n_sentences)
    first_theirs = np.cumsum(n_theirs) - n_theirs
    n_of_group = n_theirs[ours.group_sentence]
    n_before = np.cumsum(n_of_group) - n_of_group
    our_group = np.repeat(np.arange(len(n_of_group)), n_of_group)
    place = np.arange(len(our_group)) - n_before[our_group]
    their_group = first_theirs[ours.group_sentence[our_group]] + place
    return our_group, their_group, n_before - first_theirs[ours.group_sentence]


def _tally(units: MatchUnits) -> tuple[Ints, Ints, Ints]:
    """Each distinct key of each group, with its count."""
    _, first, n = np.unique(joined(units.group, units.key), return_index=True, return_counts=True)
    return units.group[first], units.key[first], n


def joined(*columns: Ints) -> Ints:
    """One number per row; rows have the same number if all columns are equal."""
    code = columns[0]
    for column in columns[1:]:
        width = int(column.max(initial=0)) + 1
        if int(code.max(initial=0)) >= MOST // width:
            code = np.unique(code, return_inverse=True)[1]
        code = code * width + column
    return code


TP, FP, FN = range(3)
"""The columns of every array of counts."""


def tier_of(type_name: str, tier: Tier) -> str:
    if tier == "full" or type_name == "UNK":
        return type_name
    return type_name[:1] if tier == "op" else type_name[2:]


MODES: tuple[Mode, ...] = get_args(Mode)


# The metric


def errant_signature(references: Sentences, *, mode: Mode, beta: float) -> Signature:
    """How scores against these references are computed; scores with equal signatures are comparable."""
    table = as_table(references)
    texts = (" ".join(sentence.text.split()) for sentence in table)
    groups = (f"{place} {name}" for place, name in zip(table.group_sentence, table.group_annotator, strict=True))
    numbers = np.stack([table.group, table.start, table.end, table.tag, table.correction], axis=1).tolist()
    edits = (
        f"{group} {start} {end} {table.tags[tag]} {table.corrections[correction]}"
        for group, start, end, tag, correction in numbers
    )
    parts = digest([*texts, *groups, *edits])
    options = {"mode": mode, "beta": f"{beta:g}", "duplicates": "once", "zero": "1", "reference": parts}
    return Signature("errant", options)


def choose_pairs(matched: Matched, *, beta: float) -> Ints:
    """For each sentence, the pair that maximises F of the corpus so far; ties go to the first."""
    n_pairs = np.bincount(matched.hypothesis.group_sentence[matched.ours], minlength=matched.n_sentences)
    first, place = np.cumsum(n_pairs) - n_pairs, np.arange(n_pairs.max(initial=0))
    is_there = place < n_pairs[:, None]
    cells = matched.counts[np.where(is_there, first[:, None] + place, first[:, None])]
    pairs: Ints = first + choose_annotators(cells, is_there[:, None], errant_keys(beta))[0]
    return pairs


def _by_type(matched: Matched, chosen: Ints, tier: Tier) -> dict[str, Ints]:
    """Sentences x (tp, fp, fn) of the chosen pairs for each type; matches have the reference's type."""
    ours, theirs = matched.hypothesis, matched.reference
    our_rows = np.isin(ours.group, matched.ours[chosen]).nonzero()[0]
    their_rows = np.isin(theirs.group, matched.theirs[chosen]).nonzero()[0]
    made_up = our_rows[~np.isin(ours.key[our_rows], theirs.key[their_rows])]
    is_met = np.isin(theirs.key[their_rows], ours.key[our_rows])
    sentence = np.concatenate([ours.sentence[made_up], theirs.sentence[their_rows]])
    type_of = np.concatenate([ours.type_of[made_up], theirs.type_of[their_rows]])
    column = np.concatenate([np.full(len(made_up), FP), np.where(is_met, TP, FN)])
    name_of = {place: tier_of(matched.types[place], tier) for place in np.unique(type_of).tolist()}
    counts = {name: np.zeros((matched.n_sentences, 3), np.int64) for name in sorted(set(name_of.values()))}
    for place, name in name_of.items():
        own = type_of == place
        np.add.at(counts[name], (sentence[own], column[own]), 1)
    return counts


def errant_keys(beta: float) -> Keys:
    """F so far to four places, then more true positives, fewer false positives, fewer false negatives.

    Follows ERRANT's order of operations, because the last bit can decide a choice.
    """

    def keys(sums: Ints) -> list[Numbers]:
        tp, fp, fn = np.moveaxis(sums.astype(np.float64), -1, 0)
        precision = np.divide(tp, tp + fp, out=np.ones(tp.shape), where=fp != 0)
        recall = np.divide(tp, tp + fn, out=np.ones(tp.shape), where=fn != 0)
        below = beta**2 * precision + recall
        f = np.divide((1 + beta**2) * precision * recall, below, out=np.zeros(tp.shape), where=below != 0)
        rounded = np.round(f, 4)
        # Python's `round` is exact; numpy's is not where the fifth place is a 5 followed by nothing much.
        near = np.abs(f * 1e4 % 1 - 0.5) < 1e-6
        rounded[near] = [round(value, 4) for value in f[near].tolist()]
        return [rounded, tp, -fp, -fn]

    return keys


@dataclass(frozen=True, slots=True)
class ErrantMetric(EditMetric):
    name: str = "errant"
    columns: tuple[str, ...] = COLUMNS
    references_are_texts: bool = False

    def read(self, source: Source) -> Sentences:
        return read_table(source)

    def count(
        self, references: References, hypotheses: Sequence[Hypothesis], options: MetricOptions
    ) -> list[SentenceCounts]:
        table = as_table(references.sentences)
        return [_counted(references.name, table, hypothesis, options) for hypothesis in hypotheses]

    def signature(self, references: References, options: MetricOptions) -> Signature:
        made = errant_signature(references.sentences, mode=options.mode, beta=options.beta)
        return replace(
            made, options={**made.options, **extracted_with(references, options), "tokens": "as-reference"}
        )

    def as_hypothesis(self, essays: Sequence[Essay], annotator: str) -> Hypothesis:
        own = [tuple(edit for edit in essay.edits if edit.rater == annotator) for essay in essays]
        sentences = [replace(of, edits=edits, annotators=(annotator,)) for of, edits in zip(essays, own, strict=True)]
        return Hypothesis(annotator, annotator, sentences=sentences)

    def against_each(
        self, references: References, hypotheses: Sequence[Hypothesis], options: MetricOptions
    ) -> Iterator[AnnotatorCounts]:
        theirs = as_table(references.sentences)
        annotators = tuple(dict.fromkeys(theirs.group_annotator))
        for hypothesis in hypotheses:
            ours = as_table(_edits_of_hypothesis(theirs, hypothesis, options))
            require_same_sources(theirs, ours, reference_name=references.name, hypothesis_name=hypothesis.name)
            if len(ours.group_sentence) != len(ours):
                raise UsageError(
                    f"{hypothesis.name}: expected the edits of one annotator, found several; keep one of them"
                )
            matched = match(theirs, ours, mode=options.mode)
            place = {name: number for number, name in enumerate(annotators)}
            annotator = np.array([place[name] for name in theirs.group_annotator], np.int64)
            cells = np.zeros((len(theirs), len(annotators), 3), np.int64)
            cells[theirs.group_sentence[matched.theirs], annotator[matched.theirs]] = matched.counts
            yield AnnotatorCounts(annotators, cells)

    def keys(self, options: MetricOptions) -> Keys:
        return errant_keys(options.beta)


def extracted_with(references: References, options: MetricOptions) -> dict[str, str]:
    """The engine behind a score, for its signature."""
    if not options.extracts:
        return {"engine": references.engine} if references.engine else {}
    from grater.corpora.edits.engine import load_engine

    return {"engine": load_engine(options.engine).name}


def _counted(name: str, references: EditTable, hypothesis: Hypothesis, options: MetricOptions) -> SentenceCounts:
    edits = as_table(_edits_of_hypothesis(references, hypothesis, options))
    require_same_sources(references, edits, reference_name=name, hypothesis_name=hypothesis.name)
    matched = match(references, edits, mode=options.mode)
    chosen = choose_pairs(matched, beta=options.beta)
    annotators = [references.group_annotator[group] for group in matched.theirs[chosen].tolist()]
    by_type = _by_type(matched, chosen, options.tier) if options.tier else {}
    return of_rows(hypothesis.system, matched.counts[chosen], references=annotators, by_type=by_type)


def _edits_of_hypothesis(references: EditTable, hypothesis: Hypothesis, options: MetricOptions) -> Sentences:
    if hypothesis.texts is None:
        return hypothesis.sentences
    return extracted(references, hypothesis, hypothesis.texts, options)


def extracted(
    sentences: Sequence[Sourced], hypothesis: Hypothesis, texts: Sequence[str], options: MetricOptions
) -> list[Essay]:
    """The sentences of the references, with the edits that turn them into a system's text."""
    from grater.corpora.edits.engine import load_engine
    from grater.corpora.parallel import parallel_essays  # edits in M2 need neither this nor a tagger

    sources = [" ".join(source_words(sentence)) for sentence in sentences]
    engine = load_engine(options.engine)
    return list(parallel_essays(sources, {hypothesis.name: texts}, engine, source_name="the references"))


def as_table(sentences: Sentences) -> EditTable:
    return sentences if isinstance(sentences, EditTable) else table_of(cast("Sequence[Essay]", sentences))


METRIC = ErrantMetric()
