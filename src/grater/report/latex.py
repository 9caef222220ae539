"""The report's tables in LaTeX (booktabs), ready for a paper."""

from __future__ import annotations

from grater.report.figure import Report, Sheet

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


def as_latex(report: Report) -> str:
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
            _line(sheet.columns),
            r"\midrule",
            *(_line(row) for row in sheet.rows),
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{escaped(sheet.title)}.{note}}}",
            rf"\label{{tab:{sheet.name}}}",
            r"\end{table}",
        ]
    )


def escaped(text: str) -> str:
    return "".join(ESCAPES.get(character, character) for character in text)


def _line(cells: tuple[str, ...]) -> str:
    return " & ".join(map(escaped, cells)) + r" \\"
