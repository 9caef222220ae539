"""`grater study import`: files into a study, all of them or none."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from grater.cli.judgment_options import Columns
from grater.cli.options import Format, Json
from grater.cli.output import print_json, require_different, say
from grater.cli.reading import tell_left_out
from grater.cli.study_option import StudyName, pasted
from grater.errors import UsageError
from grater.sheet import counted
from grater.store import open_store
from grater.study.importing import import_files
from grater.tables import parse_columns
from grater.tables.files import SPREADSHEETS

app = typer.Typer()

Tables: TypeAlias = list[Path]
TABLES = (".csv", ".tsv", ".parquet", *SPREADSHEETS)
"""What no corpus format is called."""

NOUNS = {
    "corpus": "new essay",
    "items": "new item",
    "decisions": "new decision",
    "judgments": "new judgment",
    "gold": "new gold item",
    "practice": "new practice item",
}
"""What a file brings, by its kind."""


@app.command()
def bring(
    study: StudyName,
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE...", help="Essays, in any corpus format.")
    ] = None,
    format_name: Format = None,
    items: Annotated[Tables, typer.Option(metavar="FILE", help="A table of items; repeatable.")] = [],  # noqa: B006
    decisions: Annotated[Tables, typer.Option(metavar="FILE", help="What systems said of items.")] = [],  # noqa: B006
    judgments: Annotated[Tables, typer.Option(metavar="FILE", help="Judgments made elsewhere.")] = [],  # noqa: B006
    gold: Annotated[Tables, typer.Option(metavar="FILE", help="Known answers, for --job.")] = [],  # noqa: B006
    practice: Annotated[Tables, typer.Option(metavar="FILE", help="Known answers to practise on, for --job.")] = [],  # noqa: B006
    job: Annotated[str | None, typer.Option(help="The job that judgments, gold or practice belong to.")] = None,
    task: Annotated[str, typer.Option(help="The task that imported judgments answer.")] = "error",
    columns: Columns = [],  # noqa: B006
    as_json: Json = False,
) -> None:
    """Bring files in; the same file again changes nothing."""
    corpora = files or []
    everything = [*corpora, *items, *decisions, *judgments, *gold, *practice]
    if not everything:
        raise UsageError("expected files to import, found none; see grater study import --help")
    require_different(everything)
    table = next((path for path in corpora if path.suffix.lower() in TABLES and not format_name), None)
    if table:
        kinds = "--items, --decisions, --judgments, --gold or --practice"
        raise UsageError(f"{table}: expected essays, found a table; say what it holds: {kinds}")
    with open_store(study) as store:
        done = import_files(
            store,
            corpora=corpora,
            items=items,
            decisions=decisions,
            judgments=judgments,
            gold=gold,
            practice=practice,
            format_name=format_name,
            job=job,
            task=task,
            columns=parse_columns(columns),
        )
    tell_left_out(corpora, format_name)
    if as_json:
        print_json([each.as_json() for each in done])
        return
    for each in done:
        known = f", {each.known:,} known already" if each.known else ""
        say(f"{each.name}: {counted(each.new, NOUNS[each.kind])}{known}")
    say(f"next: grater study status {pasted(study)}")
