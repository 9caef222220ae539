"""`grater corpus check`: every defect of a corpus with its line; exit status 1 if there is any."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from grater.cli.options import Format, Json
from grater.cli.output import print_json, say
from grater.cli.reading import reading_all
from grater.corpora.check import Census, Finding, check_essays, check_together
from grater.corpora.tagsets import TAGSETS, TagSet
from grater.errors import BadInput, Problem
from grater.sheet import counted

app = typer.Typer()

UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Placed:
    """A finding with the file it is about; in a folder, a line means nothing without its essay."""

    file: str
    finding: Finding

    def __str__(self) -> str:
        is_inside = Path(self.file).is_dir() and self.finding.essay_id
        where = f"{self.file}, essay {self.finding.essay_id}" if is_inside else self.file
        return str(Problem(where, str(self.finding), self.finding.line))


@app.command()
def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Corpora; several are compared as well.")],
    format_name: Format = None,
    tagset: Annotated[
        str | None, typer.Option(metavar="NAME", help="nucle, conll14, errant or clc; guessed if not given.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Look for edits that change nothing, duplicates, spans across sentences, unknown tags and more."""
    wanted = TAGSETS[tagset] if tagset else None
    counted: list[Census] = []
    found: list[Placed] = []
    for placed in _findings(files, format_name, wanted, counted):
        found.append(placed)
        if not as_json:
            typer.echo(str(placed))
    census = sum(counted, start=Census())
    if as_json:
        rows = [{"file": each.file, **asdict(each.finding)} for each in found]
        print_json({"findings": rows, "census": asdict(census)})
    else:
        _tell(census, len(found), len(files))
    raise typer.Exit(1 if found else 0)


def _findings(
    files: list[Path], format_name: str | None, tagset: TagSet | None, counted: list[Census]
) -> Iterator[Placed]:
    """The findings of each file, then those of the files together; a file that cannot be read is not compared."""
    is_readable = True
    with reading_all(files, format_name) as corpora:
        for name, essays in corpora.items():
            for placed in _with_unreadable(name, check_essays(essays, tagset=tagset, tally=counted.append)):
                is_readable &= placed.finding.rule != UNREADABLE
                yield placed
    if len(files) > 1 and is_readable:
        with reading_all(files, format_name) as corpora:
            for name, finding in check_together(corpora):
                yield Placed(name, finding)


def _with_unreadable(name: str, findings: Iterator[Finding]) -> Iterator[Placed]:
    """The findings of a file; where it cannot be read, the reader's problems are findings too."""
    try:
        for finding in findings:
            yield Placed(name, finding)
    except BadInput as error:
        for problem in error.problems:
            yield Placed(problem.name, Finding(UNREADABLE, "", problem.line, problem.message))


def _tell(census: Census, n_found: int, n_files: int) -> None:
    defects = counted(n_found, "defect") if n_found else "no defects"
    sizes = f"{counted(census.essays, 'essay')}, {counted(census.edits, 'edit')}"
    say(f"{defects} in {counted(n_files, 'file')}: {sizes}")
    lawful = {
        name.replace("_", " "): n for name, n in asdict(census).items() if n and name not in ("essays", "edits")
    }
    if lawful:
        say("lawful, and only counted: " + ", ".join(f"{n:,} {name}" for name, n in lawful.items()))
