"""Corpora from Python: read, convert, count, check, and edits as judgments."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from grater.library.sources import (
    DEFAULT_RESAMPLES,
    EssaySource,
    TableSource,
    checked,
    corpora_of,
    essays_of,
)
from grater.model import Essay

if TYPE_CHECKING:
    from grater.corpora.check import CheckResult
    from grater.corpora.formats import Conversion
    from grater.corpora.statistics import CorpusStatistics
    from grater.tables import Judgments


@checked
def read_corpus(path: Path | str, *, format_name: str | None = None) -> list[Essay]:
    """The essays of a corpus, with their annotators and edits; the format is guessed from the name if not given."""
    from grater.corpora import read_corpus

    return list(read_corpus(path, format_name=format_name))


@checked
def convert(
    source: EssaySource, target: Path | str, *, from_format: str | None = None, to_format: str | None = None
) -> Conversion:
    """Write a corpus in another format; the result names everything that the new format cannot hold."""
    from grater.corpora import write_corpus
    from grater.corpora.formats import Conversion

    conversion = Conversion()
    essays = conversion.counting(essays_of(source, from_format))
    write_corpus(essays, target, conversion.report, format_name=to_format)
    return conversion


@checked
def corpus_statistics(
    *corpora: EssaySource,
    by: str | None = None,
    merge_alternatives: bool = False,
    split_tags: bool = False,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> CorpusStatistics:
    """Documents, sentences, tokens, types and edits of one or several corpora, by annotator, tag and `by`."""
    from grater.corpora.statistics import corpus_statistics

    return corpus_statistics(
        corpora_of(corpora),
        by=by,
        merge_alternatives=merge_alternatives,
        split_tags=split_tags,
        resamples=resamples,
        seed=seed,
    )


@checked
def check_corpus(*corpora: EssaySource, tagset: str | None = None) -> CheckResult:
    """Every defect of one or several corpora; the tag set is guessed if not given."""
    from grater.corpora.check import check_corpora
    from grater.corpora.tagsets import TAGSETS

    return check_corpora(corpora_of(corpora), tagset=TAGSETS[tagset] if tagset else None)


@checked
def corpus_judgments(
    corpus: EssaySource,
    decisions: TableSource,
    *,
    tags: Sequence[str],
    match: Literal["tag", "any"] = "tag",
    items: TableSource | None = None,
) -> Judgments:
    """The annotators' edits as judgments of the items that systems decided on."""
    from grater.corpora.judgments import items_of, judgments_from_edits
    from grater.tables import as_decisions, as_items

    judged = items_of(as_decisions(decisions), as_items(items) if items is not None else None)
    return judgments_from_edits(essays_of(corpus), judged, tags=tags, match=match)
