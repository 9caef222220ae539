"""Read references and hypotheses from paths, sentences, or essays with edits.

`NAME=FILE` names a file; otherwise the shortest distinctive part of its own name is used. The last suffix gives the
format: `.m2` and our `.jsonl` have edits, anything else has one sentence per line. `-` is standard input, whose
format is recognised from its first lines. Several references are treated as annotators of the same text.

If the roles of files are not stated (`ref0.m2 ref1.m2 mine.txt`), `references_first` assigns them: the first file is
a reference, and so are files whose names differ from it only in a number, and M2 files with several annotators.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias

from grater.corpora import read_corpus, with_documents
from grater.corpora.fitting import fitted_lines
from grater.corpora.merge import merge_annotators
from grater.corpora.source import OPENERS, open_source, sentences_alone
from grater.corpora.text.tokens import words_of
from grater.errors import UsageError
from grater.measure.corrections.saved import SavedScores, read_saved
from grater.measure.corrections.scores import Hypothesis, Metric, References, Sentences, rewritten
from grater.model import Essay
from grater.options import require_different

Given: TypeAlias = Any
"""A path, sentences or essays; several of them in a list, or by name."""

Kind: TypeAlias = Literal["m2", "jsonl", "text"]
KINDS: dict[str, Kind] = {".m2": "m2", ".jsonl": "jsonl"}
"""Suffixes of tokenised sentences with edits; JSONL knows their documents too."""


def by_name(given: Given, name: str) -> dict[str, Given]:
    """Every source by its name; `name` is used for one that has none."""
    if isinstance(given, Mapping):
        return dict(given)
    if isinstance(given, str | Path):
        return dict(named_files([Path(given)]))
    members = list(_several(given, name))
    if any(isinstance(each, Path) or (isinstance(each, str) and _is_file(each)) for each in members[:20]):
        return dict(named_files([Path(each) for each in members]))
    if all(isinstance(each, str | Essay) for each in members):
        return {name: members} if members else {}
    return {f"{name} {number}": each for number, each in enumerate(members, 1)}


def _several(given: Given, name: str) -> Iterable[Any]:
    if isinstance(given, Mapping | bytes) or hasattr(given, "columns") or not isinstance(given, Iterable):
        found = type(given).__name__
        raise UsageError(f"{name}: expected a path, sentences, or essays (grater.Essay), found {found}")
    return given


def _is_file(name: str) -> bool:
    try:
        return split_name(Path(name))[1].is_file()
    except (OSError, ValueError):  # a sentence, too long for a name
        return False


def split_name(path: Path) -> tuple[str, Path]:
    """Split `NAME=FILE`; if a file exists under the whole string, there is no NAME."""
    name, equals, file = str(path).partition("=")
    return (name, Path(file)) if equals and name and file and not path.exists() else ("", path)


def named_files(files: Sequence[Path]) -> list[tuple[str, Path]]:
    """Each file with its NAME, else its stem, or its whole name if stems are equal, or its path."""
    named = [split_name(file) for file in files]
    choices = [(_plain_name(file).stem, file.name, str(file)) for _, file in named]
    level = next(level for level in (0, 1, 2) if level == 2 or len({each[level] for each in choices}) == len(choices))
    pairs = [(name or each[level], file) for (name, file), each in zip(named, choices, strict=True)]
    if doubled := next((name for name, n in Counter(name for name, _ in pairs).items() if n > 1), None):
        raise UsageError(f"expected different names, found {doubled!r} twice; rename one: NEW=FILE")
    return pairs


def _plain_name(path: Path) -> Path:
    """The name without a compression suffix: `A.m2` for `A.m2.gz`."""
    return path.with_suffix("") if path.suffix in OPENERS else path


def kind_of(path: Path) -> Kind:
    """The content type of a file by its name, or of standard input by its first lines."""
    if str(path) != "-":
        return KINDS.get(_plain_name(path).suffix.lower(), "text")
    first, second = [*islice(open_source(path).lines(), 2), "", ""][:2]
    if "grater-corpus" in first:
        return "jsonl"
    is_block = first.startswith("S ") and (not second.strip() or second.startswith("A "))
    return "m2" if is_block else "text"


def references_first(files: Sequence[Path]) -> tuple[list[Path], list[Path], list[str]]:
    """Files as references and hypotheses, and notes on how each was classified."""
    first = split_name(files[0])[1]
    paths = {file: split_name(file)[1] for file in files[1:]}
    alike = [file for file, path in paths.items() if _differs_in_number(first, path) or _has_annotators(path)]
    names = ", ".join(str(paths[file]) for file in alike)
    if alike and len(alike) < len(paths):
        note = f"{names}: read as a reference, like {first}; systems go into `hypotheses`"
        return [files[0], *alike], [file for file in paths if file not in alike], [note]
    note = f"{names}: scored as a system, though it looks like a reference; systems go into `hypotheses`"
    return [files[0]], list(paths), [note] if alike else []


def systems_behind(files: Sequence[Path]) -> tuple[list[Path], list[Path], list[str]]:
    """The references and hypotheses among the files, and notes; both must be present."""
    references, hypotheses, notes = references_first(files) if files else ([], [], [])
    if not hypotheses:
        raise UsageError("expected a reference and at least one hypothesis: REF HYP..., or `hypotheses`; found fewer")
    return references, hypotheses, notes


def require_piped_once(*sources: Given) -> None:
    """Refuse standard input in two places, since a system would be scored against itself."""
    given = [each for source in sources for each in (source if isinstance(source, list | tuple) else [source])]
    files = [split_name(Path(each))[1] for each in given if isinstance(each, str | Path)]
    if sum(str(file) == "-" for file in files) > 1:
        raise UsageError("expected standard input in one place, found '-' in several; name files for the others")


def _differs_in_number(one: Path, other: Path) -> bool:
    """Whether two names differ only in a number: `ref0.m2` and `ref1.m2`."""
    one_name, other_name = (re.sub(r"\d+", "#", str(path)) for path in (one, other))
    return one != other and one_name == other_name


def _has_annotators(file: Path) -> bool:
    """Whether an M2 file has several annotators, which a system's output never has."""
    if str(file) == "-" or kind_of(file) != "m2" or not file.is_file():
        return False
    last = {line.rstrip().rpartition("|||")[2] for line in open_source(file).lines() if line.startswith("A ")}
    return len(last) > 1


def read_references(
    given: Given,
    *,
    metric: Metric,
    source: Given = None,
    documents: Any = None,
    engine: str = "grater",
    quickly: bool = False,
    tokenise: bool = False,
) -> References:
    """References from one or several sources; `quickly` reads them in the metric's own format if possible.

    For metrics that compare edits, the engine extracts edits from plain text. `documents` is a file or a list of
    names.
    """
    sources = by_name(given, "references")
    name = (
        ", ".join(str(each) if isinstance(each, str | Path) else called for called, each in sources.items())
        or "references"
    )
    texts = {called: _texts(each) for called, each in sources.items()}
    plain = {called: lines for called, lines in texts.items() if lines is not None}
    if not plain:
        if source is not None:
            raise UsageError("annotated references contain their source sentences; leave out `source`")
        if len(sources) == 1:
            [only] = sources.values()
            read = References(name, _sentences(metric, only, quickly=quickly and documents is None))
        else:
            corpora = {called: _essays(each) for called, each in sources.items()}
            read = References(name, list(merge_annotators(corpora)))
    elif len(plain) < len(sources):
        raise UsageError("expected references all with edits (.m2, .jsonl) or all in plain text, found both")
    else:
        originals = None if source is None else _texts(Path(source) if isinstance(source, str) else source)
        if originals is None:
            wish = "references in plain text need the sentences before correction: `source`"
            raise UsageError(f"expected the source of the references, found none; {wish}")
        read = _rewritten(name, originals, plain, metric=metric, source=source, engine=engine, tokenise=tokenise)
    return read if documents is None else replace(read, sentences=_documented(read.essays, documents))


def _rewritten(
    name: str,
    originals: Sequence[str],
    plain: Mapping[str, Sequence[str]],
    *,
    metric: Metric,
    source: Given,
    engine: str,
    tokenise: bool,
) -> References:
    source_name = str(source) if isinstance(source, str | Path) else "source"
    if tokenise:
        words = [words_of(line) for line in originals]
        originals = [" ".join(line) for line in words]
        plain = {called: fitted_lines(words, lines) for called, lines in plain.items()}
    if metric.references_are_texts:
        return References(name, rewritten(originals, plain, source_name=source_name))
    from grater.corpora.edits.engine import load_engine
    from grater.corpora.parallel import parallel_essays  # edits in M2 need no tagger

    chosen = load_engine(engine)
    return References(name, list(parallel_essays(originals, plain, chosen, source_name=source_name)), chosen.name)


def _documented(essays: Sequence[Essay], documents: Any) -> list[Essay]:
    if isinstance(documents, str | Path):
        return list(with_documents(essays, documents))
    if len(documents) != len(essays):
        raise UsageError(f"expected the documents of {len(essays):,} sentences, found {len(documents):,}")
    return [
        replace(essay, metadata={**essay.metadata, "document": name})
        for essay, name in zip(essays, documents, strict=True)
    ]


def read_hypotheses(given: Given, *, metric: Metric, quickly: bool = False) -> list[Hypothesis]:
    hypotheses = []
    for system, each in by_name(given, "hypothesis").items():
        name = str(each) if isinstance(each, str | Path) else system
        texts = _texts(each)
        sentences = () if texts is not None else _sentences(metric, each, quickly=quickly)
        hypotheses.append(Hypothesis(system, name, texts=texts, sentences=sentences))
    return hypotheses


def _texts(given: Given) -> list[str] | None:
    """The sentences of plain text; None if the source has edits."""
    if not isinstance(given, str | Path):
        members = list(_several(given, "sentences"))
        if kinds := {type(each).__name__ for each in members if not isinstance(each, str | Essay)}:
            raise UsageError(f"expected sentences or essays (grater.Essay), found {', '.join(sorted(kinds))}")
        return [text for text in members if isinstance(text, str)] or (None if members else [])
    file = Path(given)
    kind = kind_of(file)
    # JSON lines of another program are most likely sentences with corrections
    is_foreign = kind == "jsonl" and "grater-corpus" not in next(iter(open_source(file).lines()), "")
    return sentences_alone(open_source(file)) if kind == "text" or is_foreign else None


def _sentences(metric: Metric, given: Given, *, quickly: bool) -> Sentences:
    if quickly and isinstance(given, str | Path) and kind_of(Path(given)) == "m2":
        return metric.read(open_source(Path(given)))
    return list(_essays(given))


def _essays(given: Given) -> Iterator[Essay]:
    if isinstance(given, str | Path):
        return read_corpus(given, format_name=kind_of(Path(given)) if str(given) == "-" else None)
    return iter(given)


def read_all_saved(files: Sequence[Path]) -> list[SavedScores]:
    """Saved results, given as FILE or NAME=FILE."""
    named = named_files(files)
    require_different([file for _, file in named])
    return [read_saved("".join(open_source(file).lines()), name=str(file), label=name) for name, file in named]
