"""One essay counted: its text, and each annotator's reading of it.

Dahlmeier, Ng & Wu 2013, section 5.  Two choices are ours.  A sentence reaches to the start of the next, so an edit
over the space after a full stop is still inside; an edit over the first letter of the next sentence is not.  And
*alternatives* are either kind: several edits of one annotator on the same span, or one edit with several corrections.
Counted apart, as in the paper, every edit is one; merged, every marked place is one, under each of its tags.  An M2
no-op says that nothing was found: it is never an edit.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from grater.corpora.statistics.counts import CorpusCounts
from grater.corpora.tagsets.split import split
from grater.model import Edit, Essay, Span
from grater.text.sentences import sentences_of
from grater.text.tokens import tokens_of

NOOP = "noop"


@dataclass(frozen=True, slots=True)
class Counting:
    """How edits are counted: alternatives merged into one, `Wcip` and `Rloc` split by their words."""

    merge_alternatives: bool = False
    split_tags: bool = False


@dataclass(frozen=True, slots=True)
class EssayCounts:
    """The counts of one essay: of its text alone, of every reading of it, and its distinct words."""

    text: CorpusCounts
    by_annotator: Mapping[str, CorpusCounts]
    words: frozenset[str]


def count_essay(essay: Essay, counting: Counting) -> EssayCounts:
    tokens, sentences = tokens_of(essay), sentences_of(essay)
    text, starts = essay.text, [sentence.start for sentence in sentences]
    words = frozenset([text[token.start : token.end] for token in tokens])
    by_annotator = {
        annotator: _reading(essay, edits, starts, len(tokens), counting)
        for annotator, edits in edits_by_annotator(essay).items()
    }
    unread = 0 if by_annotator else len(sentences)
    return EssayCounts(CorpusCounts(len(sentences), len(tokens), unread), by_annotator, words)


def edits_by_annotator(essay: Essay) -> dict[str, list[Edit]]:
    """The edits of everyone who read the essay, an empty list for one who found nothing."""
    by_annotator: dict[str, list[Edit]] = {annotator: [] for annotator in essay.annotators}
    for edit in essay.edits:
        edits = by_annotator.setdefault(edit.rater, [])
        if edit.tag != NOOP:
            edits.append(edit)
    return by_annotator


def _reading(
    essay: Essay, edits: Sequence[Edit], starts: Sequence[int], n_tokens: int, counting: Counting
) -> CorpusCounts:
    if not edits:  # most sentences of most corpora
        return CorpusCounts(sentences_read=len(starts), tokens_read=n_tokens, by_sentence=_zeros(len(starts)))
    by_place: dict[Span, list[Edit]] = defaultdict(list)
    for edit in edits:
        by_place[edit.span].append(edit)
    counted = by_place if counting.merge_alternatives else [edit.span for edit in edits]
    found = [sentence_index(span, starts) for span in counted]
    return CorpusCounts(
        sentences_read=len(starts),
        tokens_read=n_tokens,
        edits=len(counted),
        edits_inside=sum(index is not None for index in found),
        places=len(by_place),
        places_with_several=sum(_has_alternatives(place) for place in by_place.values()),
        edits_with_several=sum(len(edit.replacements) > 1 for edit in edits),
        by_tag=_tags(by_place.values(), essay.text, counting),
        by_sentence=_edits_per_sentence(found, len(starts)),
    )


def sentence_index(span: Span, starts: Sequence[int]) -> int | None:
    """Which sentence holds the whole span; none where it runs into the next."""
    if not starts:
        return None
    index = max(bisect_right(starts, span.start) - 1, 0)
    is_last = index + 1 == len(starts)
    return index if is_last or span.end <= starts[index + 1] else None


def _edits_per_sentence(found: Iterable[int | None], n_sentences: int) -> dict[int, int]:
    by_index = Counter(index for index in found if index is not None)
    by_number = Counter(by_index.values())
    return dict(by_number) | _zeros(n_sentences - len(by_index))


def _zeros(n_sentences: int) -> dict[int, int]:
    return {0: n_sentences} if n_sentences else {}


def _has_alternatives(place: Sequence[Edit]) -> bool:
    return len(place) > 1 or len(place[0].replacements) > 1


def _tags(places: Iterable[Sequence[Edit]], text: str, counting: Counting) -> Counter[str]:
    by_tag: Counter[str] = Counter()
    for place in places:
        tags = [split(edit, text) if counting.split_tags else edit.tag for edit in place]
        by_tag.update(set(tags) if counting.merge_alternatives else tags)
    return by_tag
