"""Parallel text: sentences and their corrections, one per line in separate files, as essays with edits.

The edits are made by an engine (`corpora.edits.engine`): our own rules, or the errant package.  Each corrected file
is one annotator.  Words are those between white space, as in M2, so both sides must be tokenised alike.

Sides of unequal length, corrections of empty lines, shifted or shuffled lines, and differently tokenised corrections
are refused (`corpora.fitting`) before anything is written. An empty source line is a sentence without words.

`extract_again` and `assign_types` do the same for a corpus that has edits: the first makes new edits of each
annotator's corrected text, the second keeps the edits and types them.  An essay without tokens is cut into sentences
first, as for M2.

`combine` makes one correction of several by majority votes on edits (Tarnavskyi, Chernodub & Omelianchuk 2022,
"Ensembling and knowledge distilling of large sequence taggers for grammatical error correction", section 4): edits
with the same span and correction in enough systems are applied. Among overlapping edits, the one in more systems
wins, then the first, then the shorter. Insertions at one point overlap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from grater.corpora.edits.engine import AT_ONCE, Engine, GraterEngine, WordEdit
from grater.corpora.fitting import require_lines_fit
from grater.corpora.formats import EssayIds, Report
from grater.corpora.m2 import token_spans_of_line
from grater.corpora.normalise import TokenRange, corrected_text, cut, has_whole_tokens, tokens_of_edit
from grater.errors import BadInput, Problem, UsageError
from grater.model import Edit, Essay, Span

UNCORRECTED = "UNK"


def parallel_essays(
    sources: Sequence[str],
    corrections: Mapping[str, Sequence[str]],
    engine: Engine,
    *,
    source_name: str = "source",
    annotators: Mapping[str, str] | None = None,
) -> Iterator[Essay]:
    """One essay for each source sentence, with the edits of every annotator.

    `corrections` are lines by the name of their file; `annotators` gives each file's annotator another name.
    """
    words = [line.split() for line in sources]
    sides = {name: [line.split() for line in lines] for name, lines in corrections.items()}
    for name, corrected in sides.items():
        _require_same_length(words, corrected, source_name=source_name, name=name)
        require_lines_fit(words, corrections[name], source_name=source_name, name=name)
    made = [engine.extract(zip(words, corrected, strict=True)) for corrected in sides.values()]
    ids, names = EssayIds(), [(annotators or {}).get(name, name) for name in sides]
    for number, (sentence, *by_annotator) in enumerate(zip(words, *made, strict=True), 1):
        text = " ".join(sentence)
        tokens, edits = token_spans_of_line(text), dict(zip(names, by_annotator, strict=True))
        marked = tuple(_edit(edit, text, tokens, name) for name, of_file in edits.items() for edit in of_file)
        yield Essay(ids.of_text(text), text, marked, tuple(edits), tokens, line=number)


def _edit(edit: WordEdit, text: str, tokens: Sequence[Span], annotator: str) -> Edit:
    span = TokenRange(edit.start, edit.end, ()).span(text, tokens)
    is_uncorrected = edit.type == UNCORRECTED and edit.correction == span.of(text)
    return Edit(span, () if is_uncorrected else (edit.correction,), edit.type, annotator)


def _require_same_length(
    words: Sequence[list[str]], corrected: Sequence[list[str]], *, source_name: str, name: str
) -> None:
    if len(words) != len(corrected):
        shorter = "the corrections end" if len(corrected) < len(words) else "the source ends"
        sizes = f"{len(words)} lines in {source_name}, {len(corrected)} here"
        message = f"expected a correction for every source line; {shorter} first ({sizes})"
        raise BadInput(Problem(name, message, min(len(words), len(corrected)) + 1))
    for number, (source, new) in enumerate(zip(words, corrected, strict=True), 1):
        if new and not source:
            message = "expected a source sentence for the correction, found an empty line"
            raise BadInput(Problem(name, message, number))


def extract_again(essays: Iterable[Essay], engine: Engine, report: Report) -> Iterator[Essay]:
    """Sentences with new edits, extracted from each annotator's corrected text."""
    sentences = _sentences(essays, report)
    while batch := list(islice(sentences, AT_ONCE)):
        pairs = []
        for essay in batch:
            for name in essay.annotators:
                corrected = corrected_text(essay.text, [edit for edit in essay.edits if edit.rater == name])
                pairs.append((_words(essay), corrected.split()))
        made = iter(engine.extract(pairs))
        for essay in batch:
            tokens = essay.tokens or ()
            edits = [_edit(edit, essay.text, tokens, name) for name in essay.annotators for edit in next(made)]
            yield replace(essay, edits=tuple(edits))


def assign_types(essays: Iterable[Essay], engine: GraterEngine, report: Report) -> Iterator[Essay]:
    """Sentences with their edits and types in place of tags; an edit without a type keeps its tag."""
    for essay in _sentences(essays, report):
        edits = [
            typed
            for name in essay.annotators
            for typed in _typed(essay, [edit for edit in essay.edits if edit.rater == name], engine)
        ]
        yield replace(essay, edits=tuple(edits))


def _typed(essay: Essay, edits: Sequence[Edit], engine: GraterEngine) -> list[Edit]:
    """Alternatives of an edit could have different types; the first decides."""
    ranges = [tokens_of_edit(edit, essay.text, essay.tokens or ()) for edit in edits]
    known = [
        WordEdit(place.start, place.end, "", edit.replacements[0])
        for edit, place in zip(edits, ranges, strict=True)
        if place is not None and edit.replacements
    ]
    types = iter(engine.types(_words(essay), known) if known else [])
    return [
        replace(edit, tag=next(types) or edit.tag) if place is not None and edit.replacements else edit
        for edit, place in zip(edits, ranges, strict=True)
    ]


def _sentences(essays: Iterable[Essay], report: Report) -> Iterator[Essay]:
    ids = EssayIds()
    for essay in essays:
        if has_whole_tokens(essay):
            yield essay
        else:
            yield from (block.essay for block in cut(essay, ids, report))


def _words(essay: Essay) -> list[str]:
    return [token.of(essay.text) for token in essay.tokens or ()]


COMBINED = "combined"


def combine(
    sources: Sequence[str],
    systems: Mapping[str, Sequence[str]],
    *,
    at_least: int,
    engine: Engine,
    source_name: str = "source",
) -> Iterator[Essay]:
    """Sentences with the edits that at least `at_least` systems propose."""
    if not 1 <= at_least <= len(systems):
        raise UsageError(f"expected a number of systems from 1 to {len(systems)}, found {at_least}")
    for essay in parallel_essays(sources, systems, engine, source_name=source_name):
        yield replace(essay, edits=tuple(_agreed(essay.edits, at_least)), annotators=(COMBINED,))


def _agreed(edits: Iterable[Edit], at_least: int) -> Iterator[Edit]:
    votes = Counter(replace(edit, rater=COMBINED) for edit in edits)
    wanted = [edit for edit, n in votes.items() if n >= at_least]
    wanted.sort(key=lambda edit: (-votes[edit], edit.span.start, len(edit.span), edit.replacements))
    taken: list[Edit] = []
    for edit in wanted:
        if not any(_overlap(edit, other) for other in taken):
            taken.append(edit)
    yield from sorted(taken, key=lambda edit: (edit.span.start, edit.span.end))


def _overlap(one: Edit, other: Edit) -> bool:
    """Whether both change the same text; insertions at one point do."""
    if one.span == other.span:
        return True
    return max(one.span.start, other.span.start) < min(one.span.end, other.span.end)
