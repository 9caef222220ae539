"""The report as one HTML page that works offline: charts are inline SVG, nothing is loaded, no script runs.

Colours follow the reader's light or dark.  From a number a link leads to the items behind it, further down on the
same page.

The report in Markdown: the same words and tables, with pictures as files beside it.

The report's tables in LaTeX (booktabs), ready for a paper.

A report written to a folder: `report.html`, `report.md`, `tables.tex` and every figure as SVG, PNG and PDF.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path

from grater.errors import MissingExtra
from grater.files import complaining, replacing
from grater.report.document import Report, Section, Sheet
from grater.report.drawing import FILE_TYPES, FileType, as_bytes, as_svg, variables


def report_html(report: Report) -> str:
    """The whole page."""
    try:
        from jinja2 import Environment
        from markupsafe import Markup
    except ImportError as error:
        raise MissingExtra("the page is made by Jinja2: pip install 'grater[report]'") from error
    folder = files("grater.report") / "templates"
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string((folder / "report.html").read_text(encoding="utf-8"))
    style = (folder / "report.css").read_text(encoding="utf-8")
    drawn = {figure.name: Markup(_silent(as_svg(figure, theme="page"))) for figure in report.figures}
    return template.render(
        report=report,
        drawn=drawn,
        style=Markup(style),
        light=Markup(variables("light")),
        dark=Markup(variables("dark")),
    )


def _silent(svg: str) -> str:
    """A chart whose marks are not read out one by one: its alternative text has the words beside it."""
    return svg.replace("<svg ", '<svg aria-hidden="true" ', 1)


def report_markdown(report: Report, *, figures: str = "figures") -> str:
    """`figures` is the folder of the SVG files, seen from the Markdown file."""
    parts = [f"# {report.title}", *report.headline]
    for section in report.sections:
        parts += _section(section, figures)
    return "\n\n".join([*parts, *report.left_out, report.made]).rstrip() + "\n"


def _section(section: Section, figures: str) -> list[str]:
    parts = [f"## {section.title}", *section.words]
    for figure in section.figures:
        parts += [f"![{figure.title}]({figures}/{figure.name}.svg)", f"**{figure.title}.** {figure.words}"]
    parts += [sheet_markdown(sheet) for sheet in section.sheets]
    return [*parts, *(f"`{signature}`" for signature in section.signature.splitlines())]


def sheet_markdown(sheet: Sheet) -> str:
    """A table with its title above and its note below."""
    lines = [
        _markdown_line(sheet.columns),
        "|".join(["", *("---" if words else "---:" for words in sheet.is_words), ""]),
    ]
    lines += [_markdown_line(row) for row in sheet.rows]
    return "\n\n".join([f"**{sheet.title}**", "\n".join(lines), *([sheet.note] if sheet.note else [])])


def _markdown_line(cells: tuple[str, ...]) -> str:
    return (
        "| " + " | ".join(cell.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
    )


ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "−": "$-$",
    "…": r"\dots{}",
    "∅": r"$\emptyset$",
}


def report_latex(report: Report) -> str:
    """Every table; `\\usepackage{booktabs}` is all they need."""
    return f"% {report.made}\n% \\usepackage{{booktabs}}\n\n" + "\n\n".join(map(sheet_latex, report.sheets)) + "\n"


def sheet_latex(sheet: Sheet) -> str:
    """One `table` with its caption and label."""
    note = f" {escaped(sheet.note)}" if sheet.note else ""
    return "\n".join(
        [
            r"\begin{table}[t]",
            r"\centering\small",
            rf"\begin{{tabular}}{{{''.join('l' if words else 'r' for words in sheet.is_words)}}}",
            r"\toprule",
            _latex_line(sheet.columns),
            r"\midrule",
            *(_latex_line(row) for row in sheet.rows),
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{escaped(sheet.title)}.{note}}}",
            rf"\label{{tab:{sheet.name}}}",
            r"\end{table}",
        ]
    )


def escaped(text: str) -> str:
    return "".join(ESCAPES.get(character, character) for character in text)


def _latex_line(cells: tuple[str, ...]) -> str:
    return " & ".join(map(escaped, cells)) + r" \\"


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
    yield "report.html", report_html(report).encode()
    yield "report.md", report_markdown(report, figures=FIGURES).encode()
    yield "tables.tex", report_latex(report).encode()
    for figure in report.figures:
        for file_type in file_types:
            yield f"{FIGURES}/{figure.name}.{file_type}", as_bytes(figure, file_type)
