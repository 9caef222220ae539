"""What a study takes in and gives out: import, check, export, backup, restore and import-archive."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from grater.annotate.store import checks, jobs
from grater.annotate.store.gold import has_gold
from grater.annotate.study.archive import back_up, export, import_archive
from grater.annotate.study.archive import restore as restore_backup
from grater.annotate.study.importing import import_files
from grater.annotate.study.status import open_study
from grater.cli.command import Columns, Format, Json, print_json, require_different, say, say_done, tell_left_out
from grater.cli.study import StudyName, pasted, tell_unmet_gold
from grater.errors import UsageError
from grater.sheet import counted
from grater.tables import parse_columns
from grater.tables.files import SPREADSHEETS

import_app = typer.Typer()

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


@import_app.command()
def import_into(
    study: StudyName,
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE...", help="Essays, in any corpus format.")
    ] = None,
    format_name: Format = None,
    items: Annotated[Tables, typer.Option(metavar="FILE", help="A table of items; repeatable.")] = [],  # noqa: B006
    decisions: Annotated[Tables, typer.Option(metavar="FILE", help="Decisions of systems.")] = [],  # noqa: B006
    judgments: Annotated[Tables, typer.Option(metavar="FILE", help="Judgments made elsewhere.")] = [],  # noqa: B006
    gold: Annotated[Tables, typer.Option(metavar="FILE", help="Known answers, for --job.")] = [],  # noqa: B006
    practice: Annotated[Tables, typer.Option(metavar="FILE", help="Known answers to practise on, for --job.")] = [],  # noqa: B006
    job: Annotated[str | None, typer.Option(help="The job that judgments, gold or practice belong to.")] = None,
    task: Annotated[str, typer.Option(help="The task that imported judgments answer.")] = "error",
    columns: Columns = [],  # noqa: B006
    as_json: Json = False,
) -> None:
    """Import files; importing a file again changes nothing."""
    corpora = files or []
    everything = [*corpora, *items, *decisions, *judgments, *gold, *practice]
    if not everything:
        raise UsageError("expected files to import, found none; see grater study import --help")
    require_different(everything)
    if not format_name:
        _refuse_tables(corpora)
    with open_study(study) as store:
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
        with store.read() as tx:
            is_untested = bool(gold and job) and not has_gold(jobs.named(tx, job or ""))
    tell_left_out(corpora, format_name)
    if as_json:
        print_json([each.to_dict() for each in done])
        return
    for each in done:
        known = f", {each.known:,} already there" if each.known else ""
        say(f"{each.name}: {counted(each.new, NOUNS[each.kind])}{known}")
    if job and is_untested:
        tell_unmet_gold(study, job)
    say(f"next: grater study status {pasted(study)}")


def _refuse_tables(corpora: Sequence[Path]) -> None:
    """A table among the essays: its suffix does not tell what it holds."""
    table = next((path for path in corpora if path.suffix.lower() in TABLES), None)
    if table:
        kinds = "--items, --decisions, --judgments, --gold or --practice"
        raise UsageError(f"{table}: expected essays, found a table; name it with {kinds}")


check_app = typer.Typer()


@check_app.command()
def check(study: StudyName, as_json: Json = False) -> None:
    """Check a study for lost, duplicate or orphaned work; exit status 1 if there is any."""
    with open_study(study) as store, store.read() as tx:
        violations = checks.violations(tx)
    if as_json:
        print_json([{"kind": each.kind, "message": each.message} for each in violations])
    else:
        for each in violations:
            typer.echo(str(each))
        say(counted(len(violations), "violation") if violations else "no problems found")
    if violations:
        raise typer.Exit(1)


export_app = typer.Typer()


@export_app.command()
def export_to(
    study: StudyName,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The new folder to write.")],
    names: Annotated[bool, typer.Option("--names", help="Name raters instead of using pseudonyms.")] = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="Do not escape cells that a spreadsheet would read as formulas.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write a consistent snapshot of the study, without secrets."""
    with open_study(study) as store:
        done = export(store, folder, names=names, raw=raw)
    if as_json:
        print_json({"folder": str(done.folder), "files": done.files, "counts": done.counts, "losses": done.losses})
        return
    who = "names" if names else "pseudonyms"
    say(f"{done.folder}: {counted(done.files, 'file')}, raters by {who}; manifest.json lists them with their hashes")
    if done.losses:
        say(f"{counted(done.losses, 'thing')} that some corpus format cannot hold: essays/losses.jsonl")


backup_app = typer.Typer()


@backup_app.command()
def backup(
    study: StudyName,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The new file to write.")],
    pseudonyms: Annotated[
        bool,
        typer.Option("--pseudonyms", help="Leave out names, addresses, passwords, sessions and tokens (SQLite)."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Back up the whole study to a file that only you can read; the study may be in use."""
    made = back_up(study, file, pseudonyms=pseudonyms)
    if as_json:
        print_json({"file": str(made.path), "engine": made.engine, "bytes": made.n_bytes})
        return
    who = "people by pseudonyms, no secrets" if pseudonyms else "with names and secrets: keep it safe"
    say(f"{made.path}: {counted(made.n_bytes, 'byte')}, {who}; restore it with grater study restore FILE STUDY")


restore_app = typer.Typer()


@restore_app.command()
def restore_from_backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file from grater study backup.")],
    study: Annotated[str, typer.Argument(metavar="STUDY", help="A new file, or an empty PostgreSQL database.")],
    as_json: Json = False,
) -> None:
    """Restore a study from a backup: people, passwords, work in progress."""
    with restore_backup(file, study) as store:
        message = f"{store.name}: restored from {file}; next: grater serve {pasted(study)}"
        say_done(message, {"study": store.name, "restored_from": str(file)}, as_json=as_json)


archive_app = typer.Typer()


@archive_app.command()
def restore(
    study: StudyName,
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A folder from grater study export, or a zip of it.")
    ],
    as_json: Json = False,
) -> None:
    """Restore a study from an export; a damaged archive is refused."""
    with import_archive(folder, study) as store:
        message = (
            f"{store.name}: restored from {folder}; people have no passwords: grater study invite STUDY --back NAME"
        )
        say_done(message, {"study": store.name, "restored_from": str(folder)}, as_json=as_json)
