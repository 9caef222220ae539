"""What callers have, as the packages want it: paths, frames, sentences or essays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from grater.model import Essay

if TYPE_CHECKING:
    from grater.evaluate.edits.metrics import Metric
    from grater.evaluate.edits.systems import Hypothesis, References
    from grater.tables import Table


TableSource: TypeAlias = Any
"""A path, a frame of pandas, polars or Arrow, or a table that was read before."""

EssaySource: TypeAlias = Path | str | Iterable[Essay]
"""A path of a corpus in any format, or essays."""

TextSource: TypeAlias = Path | str | Sequence[str] | Sequence[Essay]
"""A path, sentences, or essays with edits."""

DEFAULT_RESAMPLES = 1000


def essays_of(source: EssaySource, format_name: str | None = None) -> Iterable[Essay]:
    from grater.corpora import read_corpus

    return read_corpus(source, format_name=format_name) if isinstance(source, str | Path) else source


def corpora_of(sources: Sequence[EssaySource]) -> dict[str, list[Essay]]:
    """Corpora by name: the path, or their number."""
    names = [
        str(source) if isinstance(source, str | Path) else f"corpus {number}"
        for number, source in enumerate(sources, start=1)
    ]
    return {name: list(essays_of(source)) for name, source in zip(names, sources, strict=True)}


def items_of(source: TableSource | None) -> Table | None:
    from grater.tables import as_items

    return None if source is None else as_items(source)


def gold_of(source: TableSource | None) -> Table | None:
    from grater.tables import as_gold

    return None if source is None else as_gold(source)


def references_of(references: TextSource, source: TextSource | None, *, metric: Metric, engine: str) -> References:
    from grater.evaluate.edits.systems import References, rewritten

    name = str(references) if isinstance(references, str | Path) else "references"
    texts = _texts(references)
    if texts is None:
        return References(name=name, sentences=_annotated(references))
    originals = _texts(source) if source is not None else None
    if originals is None:
        from grater.errors import UsageError

        raise UsageError(f"{name}: plain text references need the sentences before correction: give source")
    if metric.references_are_texts:
        return References(name=name, sentences=rewritten(originals, {name: texts}, source_name="source"))
    from grater.corpora.parallel import parallel_essays
    from grater.text.edits.engine import load_engine

    chosen = load_engine(engine)
    return References(
        name=name, sentences=list(parallel_essays(originals, {name: texts}, chosen)), engine=chosen.name
    )


def hypothesis_of(system: str, hypothesis: TextSource) -> Hypothesis:
    from grater.evaluate.edits.systems import Hypothesis

    name = str(hypothesis) if isinstance(hypothesis, str | Path) else system
    texts = _texts(hypothesis)
    if texts is not None:
        return Hypothesis(system=system, name=name, texts=texts)
    return Hypothesis(system=system, name=name, sentences=_annotated(hypothesis))


def _texts(source: TextSource) -> list[str] | None:
    """The sentences of plain text; none where the source has edits."""
    if not isinstance(source, str | Path):
        return [text for text in source if isinstance(text, str)] or None
    from grater.corpora.plain import sentences_alone
    from grater.corpora.source import open_source

    is_annotated = {".m2", ".jsonl"} & set(Path(source).suffixes)
    return None if is_annotated else sentences_alone(open_source(Path(source)))


def _annotated(source: TextSource) -> list[Essay]:
    return [essay for essay in essays_of(source) if isinstance(essay, Essay)]  # type: ignore[arg-type]
