"""A report written as commands ask for it: its first figure alone, the whole folder, or both."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from grater.cli.command import say_done
from grater.report.build import Inputs, build, headline
from grater.report.drawing import FileType
from grater.report.save import save_figure, save_report
from grater.sheet import counted


def save_asked(
    inputs: Inputs, out: Path | None, figure: Path | None, wanted: Sequence[FileType], *, as_json: bool
) -> None:
    """Write the headline figure, the report, or both, and say where they are."""
    if figure is not None:
        save_figure(headline(inputs), figure)
    if out is None:
        say_done(f"the figure is {figure}", {"files": [str(figure)]}, as_json=as_json)
        return
    result = build(inputs)
    written = [*save_report(result, out, file_types=wanted), *([figure] if figure else [])]
    message = f"the report is {written[0]}; {counted(len(result.figures), 'figure')} in {out}/figures"
    say_done(message, {"report": str(written[0]), "files": [str(path) for path in written]}, as_json=as_json)
