"""Which format a path speaks of, and which files a folder contributes to it.

A file is known by its suffix (`essays.m2`, `essays.sgml.gz`); a folder by the suffixes of the files inside, `.txt`
last, since brat keeps such files beside its `.ann` files and others a readme.  A folder with two formats is refused,
so that no file is passed over unnoticed; `left_out` names the rest.  Whoever knows better names the format.
"""

from __future__ import annotations

from pathlib import Path

from grater.corpora.formats import FORMATS, FolderFormat, Format
from grater.corpora.source import OPENERS
from grater.errors import BadInput, Problem, UsageError

TEXT = ".txt"
DOCUMENTS = (".doc", ".docx", ".odt", ".pages", ".pdf", ".rtf")
"""Files that hold more than their words; nobody wants to hear of bytes that are not UTF-8."""


def guess_format(path: Path, *, exists: bool) -> Format:
    """The format of a path by its name; `exists` says whether the path must be there already."""
    if exists and not path.exists():
        raise BadInput(Problem(str(path), "no such file or folder"))
    inside = path.is_dir() or not (exists or _suffix(path))
    suffixes = {_suffix(file) for file in _files_below(path)} if inside else {_suffix(path)}
    formats = [FORMATS[name] for name in FORMATS]
    fitting = [candidate for candidate in formats if suffixes & set(candidate.suffixes)]
    chosen = [candidate for candidate in fitting if TEXT not in candidate.suffixes] or fitting
    if not chosen:
        raise UsageError(f"{path}: {_why_unknown(path, formats)}")
    if len(chosen) > 1:
        names = ", ".join(candidate.name for candidate in chosen)
        raise UsageError(f"{path}: expected files of one format in this folder, found {names}; name one of them")
    return chosen[0]


def files_of(path: Path, chosen: Format) -> list[Path]:
    """The files that a path stands for in a format: itself, or those of a folder in order of name."""
    if str(path) != "-" and not path.exists():
        raise BadInput(Problem(str(path), "no such file or folder"))
    if not path.is_dir():
        if isinstance(chosen, FolderFormat):
            raise BadInput(Problem(str(path), f"expected a folder, which {chosen.name} is kept in, found a file"))
        return [path]
    wanted = {*chosen.suffixes, TEXT} if isinstance(chosen, FolderFormat) else set(chosen.suffixes)
    files = [file for file in _files_below(path) if _suffix(file) in wanted]
    if not files:
        expected = " or ".join(sorted(chosen.suffixes))
        raise BadInput(Problem(str(path), f"expected files that end in {expected}, found none in this folder"))
    return files


def left_out(path: Path, chosen: Format) -> list[Path]:
    """The files of a folder that are not read, since their names speak of no format or of another."""
    if not path.is_dir():
        return []
    read = set(files_of(path, chosen))
    return [file for file in _files_below(path) if file not in read]


def _files_below(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file() and not file.name.startswith("."))


def _suffix(path: Path) -> str:
    """The suffix that tells the format: `.m2` of `essays.m2.gz` too."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    while suffixes and suffixes[-1] in OPENERS:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _why_unknown(path: Path, formats: list[Format]) -> str:
    by_name = sorted(formats, key=lambda candidate: candidate.name)
    known = ", ".join(f"{candidate.name} ({' '.join(candidate.suffixes)})" for candidate in by_name)
    kind = "no file in this folder tells" if path.is_dir() else "the file name does not tell"
    if path.is_file() and path.suffix.lower() in DOCUMENTS:
        return f"expected text, found a {path.suffix} document; save it as text (.txt, UTF-8) first"
    return f"{kind} which format it is; name the format, one of: {known}"
