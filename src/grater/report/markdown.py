"""The report in Markdown: the same words and tables, with pictures as files beside it."""

from __future__ import annotations

from grater.report.figure import Report, Section, Sheet


def as_markdown(report: Report, *, figures: str = "figures") -> str:
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
    lines = [_line(sheet.columns), "|".join(["", *("---" if words else "---:" for words in sheet.is_words), ""])]
    lines += [_line(row) for row in sheet.rows]
    return "\n\n".join([f"**{sheet.title}**", "\n".join(lines), *([sheet.note] if sheet.note else [])])


def _line(cells: tuple[str, ...]) -> str:
    return (
        "| " + " | ".join(cell.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
    )
