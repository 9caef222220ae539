"""The input of conversions: a corpus or parallel text, with its edits kept, extracted again, or typed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from grater.corpora import format_for, note_left_out, read_corpus, with_documents
from grater.corpora.formats import Report
from grater.corpora.merge import stems
from grater.corpora.source import open_source, read_sentences
from grater.errors import UsageError
from grater.model import Essay
from grater.progress import reading


@contextmanager
def opened(
    sources: Sequence[Path], format_name: str | None, documents: Path | str | None, engine: str
) -> Iterator[Iterable[Essay]]:
    """The essays of a corpus or of parallel text, with a progress bar."""
    if len(sources) > 1:
        yield _parallel(sources, engine)
        return
    n_passes = format_for(sources[0], format_name).n_passes
    with reading(f"reading {sources[0]}", sources[0], n_passes=n_passes) as advance:
        essays = read_corpus(sources[0], format_name=format_name, advance=advance)
        yield with_documents(essays, documents) if documents else essays
    note_left_out(sources, format_name)


def _parallel(files: Sequence[Path], engine: str) -> Iterator[Essay]:
    from grater.corpora.edits.engine import load_engine
    from grater.corpora.parallel import parallel_essays  # loads the tagger

    first, *others = [read_sentences(open_source(file)) for file in files]
    corrections = {str(file): lines for file, lines in zip(files[1:], others, strict=True)}
    if len(corrections) < len(others):
        raise UsageError("expected each corrected file once")
    names = stems(corrections) if len(corrections) > 1 else dict.fromkeys(corrections, "0")
    return parallel_essays(first, corrections, load_engine(engine), source_name=str(files[0]), annotators=names)


def with_new_edits(
    essays: Iterable[Essay], report: Report, *, edits: str, types: str, engine: str
) -> Iterable[Essay]:
    if edits == types == "keep":
        return essays
    from grater.corpora.edits.engine import GraterEngine, load_engine
    from grater.corpora.parallel import assign_types, extract_again  # loads the tagger

    if edits == "extract":
        return extract_again(essays, load_engine(engine), report)
    return assign_types(essays, GraterEngine(), report)
