"""Learner corpora in all common formats, as one data type.

`read_corpus` gives the essays of a file or folder, `write_corpus` writes them, `formats.FORMATS` lists the formats
(docs/corpora.md). Reading streams: only the ids of earlier essays are kept in memory.
"""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from grater.corpora.formats import FORMATS, EssayIds, FolderFormat, Format, Loss, Report
from grater.corpora.merge import attach_documents, merge_annotators, stems
from grater.corpora.plain import bare_name
from grater.corpora.source import (
    OPENERS,
    PathSource,
    files_of,
    guess_format,
    guessed_encoding,
    ignore_progress,
    left_out,
    open_source,
    replacing,
    replacing_folder,
)
from grater.errors import BadInput, Problem, UsageError
from grater.model import Essay
from grater.options import require_different
from grater.progress import NOTES, reading
from grater.sheet import counted

__all__ = ["FORMATS", "Loss", "Report", "format_for", "note_left_out", "open_corpora", "read_corpus", "read_merged"]
__all__ += ["with_documents", "write_corpus"]

MOST_NAMED = 5
LARGEST_GUESSED = 1 << 20


def read_corpus(
    path: Path | str,
    *,
    format_name: str | None = None,
    encoding: str = "",
    advance: Callable[[int], None] = ignore_progress,
) -> Iterator[Essay]:
    """The essays of a file, a folder of files, or standard input (`-`), one by one; the encoding is UTF-8."""
    path = Path(path)
    chosen = format_for(path, format_name)
    files = files_of(path, chosen)
    if isinstance(chosen, FolderFormat):
        sources = [PathSource(file, file.relative_to(path).as_posix(), advance, encoding) for file in files]
        return _with_folder_named(chosen.read(sources), path)
    guessed = {} if encoding or chosen.name != "text" else _guessed(files)
    sources = [open_source(file, advance=advance, encoding=guessed.get(file, encoding)) for file in files]
    if len(sources) == 1:
        return chosen.read(sources[0])
    if chosen.name == "text":
        named = zip(sources, names_apart(files), strict=True)
        return (replace(essay, essay_id=name) for source, name in named for essay in chosen.read(source))
    return _with_ids_apart(essay for source in sources for essay in chosen.read(source))


def _guessed(files: Iterable[Path]) -> dict[Path, str]:
    """The guessed encoding of texts that are not UTF-8, with a note; large ones are streamed and must be UTF-8."""
    small = [file for file in files if file.is_file() and file.stat().st_size <= LARGEST_GUESSED]
    guessed = {file: encoding for file in small if (encoding := guessed_encoding(file))}
    if guessed:
        named = [f"{file} ({encoding})" for file, encoding in list(guessed.items())[:MOST_NAMED]]
        more = ", ..." if len(guessed) > len(named) else ""
        NOTES.info(f"not UTF-8, so the encoding is a guess; check the accents: {', '.join(named)}{more}")
    return guessed


def _with_folder_named(essays: Iterable[Essay], folder: Path) -> Iterator[Essay]:
    """Add the folder to the file names in errors, since a folder format knows only names inside it."""
    try:
        yield from essays
    except BadInput as error:
        places = [replace(problem, name=str(folder / problem.name)) for problem in error.problems]
        raise BadInput(*places) from error


def _with_ids_apart(essays: Iterable[Essay]) -> Iterator[Essay]:
    """Essays of several files; an id that repeats gets the suffix `#2`, `#3`."""
    ids = EssayIds()
    for essay in essays:
        essay_id = ids.of_document(essay.essay_id)
        yield essay if essay_id == essay.essay_id else replace(essay, essay_id=essay_id)


def names_apart(files: Sequence[Path]) -> list[str]:
    """A name for the essay of each text file: the file's name, with its folders if two files share it."""
    names = [bare_name(str(file)) for file in files]
    for name, n_files in Counter(names).items():
        if n_files > 1:
            same = {place: file.absolute() for place, file in enumerate(files) if names[place] == name}
            root = os.path.commonpath([file.parent for file in same.values()])
            inside = {place: (file.parent / name).relative_to(root).as_posix() for place, file in same.items()}
            if len(set(inside.values())) < n_files:  # `a.txt` and `a.docx`
                inside = {place: file.relative_to(root).as_posix() for place, file in same.items()}
            for place, apart in inside.items():
                names[place] = apart
    return names


def read_merged(paths: Sequence[Path | str], *, format_name: str | None = None) -> Iterator[Essay]:
    """The essays of several files with all their annotators; colliding annotators are named by the file's stem."""
    if len(paths) == 1:
        return read_corpus(paths[0], format_name=format_name)
    short = stems(str(path) for path in paths)
    return merge_annotators({short[str(path)]: read_corpus(path, format_name=format_name) for path in paths})


@contextmanager
def open_corpora(paths: Sequence[Path], format_name: str | None = None) -> Iterator[dict[str, Iterable[Essay]]]:
    """The corpora at some paths by name, with one progress bar."""
    require_different(paths)
    n_passes = max((format_for(path, format_name).n_passes for path in paths), default=1)
    with reading("reading", *paths, n_passes=n_passes) as advance:

        def essays(path: Path) -> Iterator[Essay]:
            yield from read_corpus(path, format_name=format_name, advance=advance)

        yield {str(path): essays(path) for path in paths}


def note_left_out(paths: Iterable[Path], format_name: str | None) -> None:
    """Note files of folders that are not read, so that essays in another format do not go missing unnoticed."""
    for path in paths:
        chosen = format_for(path, format_name)
        if files := [str(file.relative_to(path)) for file in left_out(path, chosen)]:
            names = ", ".join(files[:MOST_NAMED]) + (", ..." if len(files) > MOST_NAMED else "")
            n_files = counted(len(files), "file")
            NOTES.info(f"{path}: left out {n_files} of another format than {chosen.name}: {names}")


def with_documents(sentences: Iterable[Essay], path: Path | str) -> Iterable[Essay]:
    """The sentences with their documents.

    The file is a corpus of these documents in the same order (CoNLL's SGML), a table with a column `document` and one
    row per sentence, or a text file with one id per line; an empty id means unknown.
    """
    path = Path(path)
    suffix = (path.with_suffix("") if path.suffix in OPENERS else path).suffix.lower()
    if suffix not in (".csv", ".tsv", ".txt"):
        return attach_documents(sentences, read_corpus(path))
    known, lines = list(sentences), open_source(path).lines()
    if suffix == ".txt":
        names = [line.strip() for line in lines]
    else:
        rows = csv.DictReader(lines, delimiter="," if suffix == ".csv" else "\t")
        if "document" not in (rows.fieldnames or ()):
            message = f"expected a column 'document', found {', '.join(rows.fieldnames or ('none',))}"
            raise BadInput(Problem(str(path), message, 1))
        names = [(row["document"] or "").strip() for row in rows]
    if len(names) != len(known):
        message = f"expected the documents of {len(known):,} sentences, one per line, found {len(names):,}"
        raise BadInput(Problem(str(path), message))
    return [
        replace(sentence, metadata={**sentence.metadata, "document": name}) if name else sentence
        for sentence, name in zip(known, names, strict=True)
    ]


def write_corpus(
    essays: Iterable[Essay], path: Path | str, report: Report, *, format_name: str | None = None
) -> None:
    """Write essays, all or nothing; `report` is called with everything that the format cannot store."""
    path = Path(path)
    chosen = FORMATS[format_name] if format_name else guess_format(path, exists=False)
    if isinstance(chosen, FolderFormat):
        with replacing_folder(path) as write_file:
            for name, text in chosen.write(essays, report):
                write_file(name, text)
        return
    with replacing(path) as stream:
        stream.writelines(chosen.write(essays, report))


def format_for(path: Path, format_name: str | None) -> Format:
    """The named format, or the one implied by the path."""
    if format_name:
        return FORMATS[format_name]
    if str(path) == "-":
        raise UsageError("expected a format for standard input, which has no file name; name the format")
    return guess_format(path, exists=True)
