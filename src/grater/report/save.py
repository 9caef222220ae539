"""A report written to a folder: `report.html`, `report.md`, `tables.tex` and every figure as SVG, PNG and PDF."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from grater.files import complaining, replacing
from grater.report.drawing import FILE_TYPES, FileType, as_bytes
from grater.report.figure import Report
from grater.report.latex import as_latex
from grater.report.markdown import as_markdown
from grater.report.page import as_html

FIGURES = "figures"


def save_report(report: Report, folder: Path, *, file_types: Sequence[FileType] = FILE_TYPES) -> list[Path]:
    """Write everything, each file all or nothing, and say what was written; the page comes first."""
    with complaining(folder):
        (folder / FIGURES).mkdir(parents=True, exist_ok=True)
    written = []
    for name, contents in _files(report, file_types):
        with replacing(folder / name) as stream:
            stream.write(contents)
        written.append(folder / name)
    return written


def _files(report: Report, file_types: Sequence[FileType]) -> Iterator[tuple[str, bytes]]:
    yield "report.html", as_html(report).encode()
    yield "report.md", as_markdown(report, figures=FIGURES).encode()
    yield "tables.tex", as_latex(report).encode()
    for figure in report.figures:
        for file_type in file_types:
            yield f"{FIGURES}/{figure.name}.{file_type}", as_bytes(figure, file_type)
