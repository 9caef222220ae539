"""What callers have, as the packages want it: paths, frames, sentences or essays; options of the right type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypeVar

from grater.errors import UsageError
from grater.model import Essay

if TYPE_CHECKING:
    from grater.measure.corrections.metrics import Metric
    from grater.measure.corrections.systems import Hypothesis, References
    from grater.tables import Table


T = TypeVar("T")
P = ParamSpec("P")

TableSource: TypeAlias = Any
"""A path, a frame of pandas, polars or Arrow, or a table that was read before."""

EssaySource: TypeAlias = Path | str | Iterable[Essay]
"""A path of a corpus in any format, or essays."""

TextSource: TypeAlias = Path | str | Sequence[str] | Sequence[Essay]
"""A path, sentences, or essays with edits."""

DEFAULT_RESAMPLES = 1000


def _is_truth(value: object) -> bool:
    return type(value).__name__ in ("bool", "bool_")  # numpy's too, without numpy


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not _is_truth(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_several(value: object, will_do: Callable[[object], bool]) -> bool:
    """Whether a value can be gone through; one text would be taken for its letters.  Only lists are looked into."""
    is_one = isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable)
    return not is_one and (not isinstance(value, list | tuple) or all(map(will_do, value)))


EXPECTED: Mapping[str, tuple[str, Callable[[object], bool]]] = {
    "bool": ("True or False", _is_truth),
    "int": ("a whole number", lambda value: isinstance(value, Integral) and not _is_truth(value)),
    "float": ("a number", _is_number),
    "str": ("text", _is_text),
    "Sequence[str]": ("a list of texts", lambda value: _is_several(value, _is_text)),
    "Sequence[float]": ("a list of numbers", lambda value: _is_several(value, _is_number)),
    "Mapping[str, str]": ("a dictionary", lambda value: isinstance(value, Mapping)),
    "Mapping[str, float]": ("a dictionary", lambda value: isinstance(value, Mapping)),
}
"""What to expect of an option by its annotation, and whether a value will do."""


def checked(function: Callable[P, T]) -> Callable[P, T]:
    """The function; an option that is not of its annotated type is refused before it fails somewhere inside."""
    kinds = {name: str(kind).removesuffix(" | None") for name, kind in function.__annotations__.items()}
    optional = {name for name, kind in function.__annotations__.items() if kind != kinds[name]}
    expected = {name: EXPECTED[kind] for name, kind in kinds.items() if kind in EXPECTED}

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> T:
        for name, value in ((name, value) for name, value in options.items() if name in expected):
            words, will_do = expected[name]
            if not will_do(value) and not (value is None and name in optional):
                raise UsageError(f"{name}: expected {words}, found {value!r}")
        return function(*args, **options)

    return call


def essays_of(source: EssaySource, format_name: str | None = None) -> Iterable[Essay]:
    from grater.corpora import read_corpus

    if isinstance(source, str | Path):
        return read_corpus(source, format_name=format_name)
    essays = require_several(source, "a path of a corpus or essays (grater.Essay)")
    return list(_all_essays(essays)) if isinstance(essays, list | tuple) else _all_essays(essays)


def require_several(source: Iterable[T], wanted: str) -> Iterable[T]:
    """Something to go through that is no frame, whose columns would be taken for what is wanted."""
    is_other = isinstance(source, Mapping | bytes) or hasattr(source, "columns")
    if is_other or not isinstance(source, Iterable):
        raise UsageError(f"expected {wanted}, found {type(source).__name__}")
    return source


def _all_essays(essays: Iterable[Essay]) -> Iterator[Essay]:
    for essay in essays:
        if not isinstance(essay, Essay):
            raise UsageError(f"expected essays (grater.Essay), found {type(essay).__name__}")
        yield essay


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
    from grater.measure.corrections.systems import References, rewritten

    name = str(references) if isinstance(references, str | Path) else "references"
    texts = _texts(references)
    if texts is None:
        return References(name=name, sentences=_annotated(references))
    originals = _texts(source) if source is not None else None
    if originals is None:
        raise UsageError(f"{name}: plain text references need the sentences before correction: give source")
    if metric.references_are_texts:
        return References(name=name, sentences=rewritten(originals, {name: texts}, source_name="source"))
    from grater.corpora.edits.engine import load_engine
    from grater.corpora.parallel import parallel_essays

    chosen = load_engine(engine)
    return References(
        name=name, sentences=list(parallel_essays(originals, {name: texts}, chosen)), engine=chosen.name
    )


def hypothesis_of(system: str, hypothesis: TextSource) -> Hypothesis:
    from grater.measure.corrections.systems import Hypothesis

    name = str(hypothesis) if isinstance(hypothesis, str | Path) else system
    texts = _texts(hypothesis)
    if texts is not None:
        return Hypothesis(system=system, name=name, texts=texts)
    return Hypothesis(system=system, name=name, sentences=_annotated(hypothesis))


def _texts(source: TextSource) -> list[str] | None:
    """The sentences of plain text; none where the source has edits."""
    if not isinstance(source, str | Path):
        several = require_several(source, "a path, sentences, or essays (grater.Essay)")
        return [text for text in several if isinstance(text, str)] or None
    from grater.corpora.plain import sentences_alone
    from grater.corpora.source import open_source

    is_annotated = {".m2", ".jsonl"} & set(Path(source).suffixes)
    return None if is_annotated else sentences_alone(open_source(Path(source)))


def _annotated(source: TextSource) -> list[Essay]:
    return list(essays_of(source))  # type: ignore[arg-type]
