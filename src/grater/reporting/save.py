"""A report written to a folder: `report.html`, `report.md`, `tables.tex` and every figure as SVG, PNG and PDF.

The page works offline: charts are inline SVG, nothing is loaded, and colours follow the reader's light or dark theme.
Its one script moves a threshold and marks the current section; everything else works without it.  From a number a
link leads to the items behind it, further down on the same page.  The Markdown has the same words and tables, with
the figures as files next to it; the LaTeX has the tables, ready for a paper.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from grater.errors import MissingExtra, UnknownName, UsageError, unknown
from grater.files import complaining, replacing
from grater.reporting.build import Inputs, build, headline
from grater.reporting.document import Figure, Report, Section
from grater.reporting.drawing import FILE_TYPES, FileType, as_bytes, as_svg, variables
from grater.sheet import as_latex, as_markdown

FIGURES = "figures"
SPOKEN = re.compile(r' (?:role|aria-(?!hidden)[\w-]+)="[^"]*"')
"""What screen readers announce for each mark of a chart; on a page the alternative text replaces it."""


def save_report(report: Report, folder: Path, *, file_types: Sequence[FileType] = FILE_TYPES) -> list[Path]:
    """Write every file, each all or nothing, and return their paths; the page comes first."""
    with complaining(folder):
        (folder / FIGURES).mkdir(parents=True, exist_ok=True)
    written = []
    for name, contents in _files(report, file_types):
        with replacing(folder / name) as stream:
            stream.write(contents)
        written.append(folder / name)
    return written


def file_types(names: Sequence[str]) -> list[FileType]:
    """The types that were asked for, else all."""
    for name in names:
        if name not in FILE_TYPES:
            raise UnknownName(unknown("type of figure", name, list(FILE_TYPES)))
    return [name for name in FILE_TYPES if not names or name in names]


def built(
    inputs: Inputs, out: Path | str | None, figure: Path | str | None = None, types: Sequence[str] = ()
) -> Report:
    """The report, written to a folder where one is named; `figure` is a file for the first figure alone."""
    wanted = file_types(types)
    if figure is not None:
        save_figure(headline(inputs), Path(figure))
    report = build(inputs)
    written = save_report(report, Path(out), file_types=wanted) if out is not None else []
    return replace(report, files=(*written, *([Path(figure)] if figure is not None else [])))


def _files(report: Report, file_types: Sequence[FileType]) -> Iterator[tuple[str, bytes]]:
    yield "report.html", report_html(report).encode()
    yield "report.md", report_markdown(report, figures=FIGURES).encode()
    yield "tables.tex", report_latex(report).encode()
    for figure in report.figures:
        for file_type in file_types:
            yield f"{FIGURES}/{figure.name}.{file_type}", as_bytes(figure, file_type)


def report_html(report: Report) -> str:
    """The whole page."""
    try:
        from jinja2 import Environment
        from markupsafe import Markup
    except ImportError as error:
        raise MissingExtra("the page is made by Jinja2: pip install 'grater[report]'") from error
    folder = files("grater.reporting") / "templates"
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string((folder / "report.html").read_text(encoding="utf-8"))
    style = (folder / "report.css").read_text(encoding="utf-8")
    script = (folder / "report.js").read_text(encoding="utf-8")
    drawn = {figure.name: Markup(_inline(figure, "wide")) for figure in report.figures}
    narrow = {
        figure.name: Markup(_inline(replace(figure, name=f"{figure.name}-narrow", spec=figure.narrow), "narrow"))
        for figure in report.figures
        if figure.narrow is not None
    }
    return template.render(
        report=report.deduplicated,
        drawn=drawn,
        narrow=narrow,
        style=Markup(style),
        script=Markup(script),
        allowed=b64encode(sha256(script.encode()).digest()).decode(),
        curves=Markup(_json([asdict(slider) for slider in report.sliders])),
        light=Markup(variables("light")),
        dark=Markup(variables("dark")),
    )


def _json(value: object) -> str:
    """JSON that is safe in a page, whatever it quotes."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")


def _inline(figure: Figure, size: str) -> str:
    """A chart whose marks are not read out one by one: its alternative text has the same words."""
    svg = SPOKEN.sub("", as_svg(figure, theme="page"))
    return svg.replace("<svg ", f'<svg aria-hidden="true" class="{size}" ', 1)


def report_markdown(report: Report, *, figures: str = FIGURES) -> str:
    """`figures` is the folder of the SVG files, seen from the Markdown file."""
    deduplicated = report.deduplicated
    quote = [f"> {line}".replace(f"> {report.leader} ", f"> **{report.leader}** ") for line in report.headline[:1]]
    notes = [line for line in report.notes if line not in report.headline[:1]]
    parts = [f"# {report.title}", " · ".join(report.byline.lines), *quote, *notes]
    if deduplicated.answer:
        parts += _section_markdown(deduplicated.answer, figures, "##")
    else:
        parts += report.also
    for group in report.examples:
        shown = [f"- {view.before}**{view.target or '∅'}**{view.after}".replace("\n", " ") for view in group.items]
        parts += [f"**{group.title}**", "\n".join(shown)]
    for part, sections in deduplicated.by_part.items():
        parts.append(f"## {part}")
        for section in sections:
            parts += _section_markdown(section, figures, "###")
    cite = ["## How to cite", report.citation, f"```bibtex\n{report.bibtex}\n```"]
    return "\n\n".join([*parts, *cite, *report.left_out, report.made]).rstrip() + "\n"


def _section_markdown(section: Section, figures: str, level: str) -> list[str]:
    warnings = (f"**Warning:** {line}" for line in section.warnings)
    parts = [f"{level} {section.title}", *section.words[:1], *warnings, *section.words[1:]]
    for figure in section.figures:
        parts += [f"![{figure.title}]({figures}/{figure.name}.svg)", f"**{figure.title}.** {figure.words}"]
    parts += [as_markdown(sheet).rstrip("\n") for sheet in section.sheets]
    parts += [section.scope] if section.scope else []
    return [*parts, *(f"`{signature}`" for signature in section.signature.splitlines())]


def report_latex(report: Report) -> str:
    r"""Every table; `\usepackage{booktabs}` is all they need."""
    cite = "".join(f"% {line}\n" for line in report.bibtex.splitlines())
    sheets = [
        # In a paper a table stands alone: each that has an interval says what it speaks of.
        replace(sheet, notes=(*sheet.notes, section.scope))
        if section.scope and any("[" in cell for row in sheet.rows for cell in row)
        else sheet
        for section in report.parts
        for sheet in section.sheets
    ]
    return f"% {report.made}\n% \\usepackage{{booktabs}}\n{cite}\n" + "\n".join(map(as_latex, sheets))


def save_figure(figure: Figure, path: Path) -> None:
    """One figure as a separate file, its type by the end of the name: .svg, .png or .pdf."""
    file_type = path.suffix.lower().removeprefix(".")
    if file_type not in FILE_TYPES:
        raise UsageError(f"{path}: expected a name that ends in {', '.join(f'.{each}' for each in FILE_TYPES)}")
    contents = as_bytes(figure, file_type)
    with replacing(path) as stream:
        stream.write(contents)
