"""A study made, where it stands, what it takes in and gives out, and its server: new, status, import, verify, export,
backup, restore and `grater serve`.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias
from zipfile import is_zipfile

import typer
from typer import Argument, Option

from grater.cli.command import (
    Columns,
    Format,
    Json,
    RaterColumns,
    entries,
    print_json,
    require_different,
    say,
    say_done,
    show_sheets,
    tell_left_out,
    warn,
)
from grater.cli.study import StudyName, pasted, tell_unmet_gold
from grater.errors import MissingExtra, UsageError
from grater.sheet import counted
from grater.tables import parse_columns

if TYPE_CHECKING:
    from grater.annotate.status import Step


def make_study_file(
    study: StudyName,
    name: Annotated[str, Option(help="The study's name; default: the file's name.")] = "",
    as_json: Json = False,
) -> None:
    """Create an empty study; an existing one is left as it is."""
    from grater.annotate.status import new_study

    with new_study(study, name=name) as store:
        file = pasted(study)
        message = f"{store.name}: a new study; next: grater serve {file}, or grater study import {file} FILE..."
        say_done(message, {"study": store.name}, as_json=as_json)


NEXT_STEPS: Mapping[Step, str] = {
    "import": "import essays: grater study import STUDY FILE...",
    "plan": "add a job: grater job new STUDY --task TASK; or run systems: grater study decide STUDY --system S",
    "sample": "have the systems judged: grater job new STUDY --design sampling --system NAME --n N",
    "serve": "send the link of the invitation, and open the pages: grater serve STUDY",
    "invite": "invite raters: grater people invite STUDY --role annotator; then grater serve STUDY",
    "wait": "wait for raters, with grater serve STUDY running",
    "report": "see the results: grater study report STUDY; export them: grater study export STUDY FOLDER",
}


def show_status(study: StudyName, as_json: Json = False) -> None:
    """Show counts, the progress of each job, and the next step."""
    from grater.annotate.status import status
    from grater.annotate.store import open_store

    with open_store(study) as store, store.read() as tx:
        summary = status(tx)
    if as_json:
        print_json(summary.to_dict())
        return
    counts = [
        counted(summary.essays, "essay"),
        counted(summary.items, "item"),
        counted(summary.decisions, "decision"),
    ]
    people = counted(summary.people, "person", "people")
    invited = f" and {counted(summary.n_invited, 'open invitation')}" if summary.n_invited else ""
    typer.echo(f"{summary.name}: {', '.join([*counts, people])}{invited}")
    if summary.jobs:
        show_sheets([summary.sheet()])
    warn(f"{each.job.name}: {words}" for each in summary.jobs for words in each.warnings)
    say(f"next: {NEXT_STEPS[summary.next_step].replace('STUDY', pasted(study))}")


Tables: TypeAlias = list[Path]

NOUNS = {
    "corpus": "new essay",
    "items": "new item",
    "decisions": "new decision",
    "sample": "new drawn item",
    "judgments": "new judgment",
    "gold": "new gold item",
    "practice": "new practice item",
}
"""What a file brings, by its kind."""


def import_into(
    study: StudyName,
    files: Annotated[list[Path] | None, Argument(metavar="FILE...", help="Essays, in any corpus format.")] = None,
    format_name: Format = None,
    items: Annotated[
        Tables, Option(metavar="FILE", help="A table of items, for their places and other columns.")
    ] = [],
    decisions: Annotated[Tables, Option(metavar="FILE", help="Decisions of systems.")] = [],
    sample: Annotated[Tables, Option(metavar="FILE", help="The sample that the judged items were drawn as.")] = [],
    judgments: Annotated[Tables, Option(metavar="FILE", help="Judgments of raters.")] = [],
    gold: Annotated[Tables, Option(metavar="FILE", help="Items with known answers.")] = [],
    practice: Annotated[Tables, Option(metavar="FILE", help="Known answers to practise on, for --job.")] = [],
    job: Annotated[str | None, Option(help="The job that judgments, gold or practice belong to.")] = None,
    task: Annotated[str, Option(help="The task that imported judgments answer.")] = "error",
    columns: Columns = [],
    rater_columns: RaterColumns = [],
    encoding: Annotated[
        str, Option(metavar="NAME", help="The encoding of texts that are not UTF-8, as in cp1252; default: a guess.")
    ] = "",
    keep_duplicates: Annotated[
        bool, Option("--keep-duplicates", help="Import texts that are there already under another name.")
    ] = False,
    skip_unreadable: Annotated[
        bool, Option("--skip-unreadable", help="Leave out text files that cannot be read.")
    ] = False,
    preview: Annotated[bool, Option("--preview", help="Check everything and report it; store nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Import files; importing a file again changes nothing."""
    from grater.annotate import jobs
    from grater.annotate.importing import import_files
    from grater.annotate.standing import has_gold
    from grater.annotate.store import open_store

    corpora = files or []
    if not any((corpora, items, decisions, sample, judgments, gold, practice)):
        raise UsageError("expected files to import, found none; see grater study import --help")
    require_different([*corpora, *items, *judgments, *gold, *practice])
    require_different([*corpora, *decisions, *sample])
    with open_store(study) as store:
        done = import_files(
            store,
            corpora=corpora,
            items=items,
            decisions=decisions,
            samples=sample,
            judgments=judgments,
            gold=gold,
            practice=practice,
            format_name=format_name,
            job=job,
            task=task,
            columns=parse_columns(columns),
            rater_columns=entries(rater_columns),
            encoding=encoding,
            keep_duplicates=keep_duplicates,
            skip_unreadable=skip_unreadable,
            preview=preview,
        )
        with store.read() as tx:
            is_untested = bool(gold and job) and not has_gold(jobs.named(tx, job or ""))
    warn(f"{each.name}: {words}" for each in done for words in each.warnings)
    tell_left_out(corpora, format_name)
    if as_json:
        print_json([each.to_dict() for each in done])
        return
    for each in done:
        known = f", {each.known:,} already there" if each.known else ""
        say(f"{each.name}: {counted(each.new, NOUNS[each.kind])}{known}")
    if job and is_untested:
        tell_unmet_gold(study, job)
    if preview:
        say("preview: nothing was stored; import without --preview")
        return
    say(f"next: grater study status {pasted(study)}")


def write_units(
    study: StudyName,
    job: Annotated[str, Argument(metavar="JOB", help="The name of the job; none with --sample.")] = "",
    worksheet: Annotated[Path, Option(metavar="FILE", help="The worksheet to write, .csv or .xlsx.")] = Path("-"),
    sample: Annotated[str, Option(metavar="NAME", help="A sample of the study, instead of a job.")] = "",
    task: Annotated[str, Option(help="The task of the worksheet: error, usage or verify.")] = "error",
    rater: Annotated[list[str], Option(metavar="NAME", help="Write a worksheet for this rater; repeatable.")] = [],
    as_json: Json = False,
) -> None:
    """Write what is to judge as worksheets; import them with `grater study import --judgments SHEET --job JOB`."""
    from grater.annotate.store import open_store
    from grater.annotate.worksheets import write_worksheet

    with open_store(study) as store:
        written = write_worksheet(store, worksheet, job=job, sample=sample, task=task, raters=rater)
    if as_json:
        print_json([{"file": str(file), "items": n_items} for file, n_items in written.items()])
        return
    for file, n_items in written.items():
        say(f"{file}: {counted(n_items, 'item')} to judge")
    again = f"grater study import {pasted(study)} --judgments SHEET --job {shlex.quote(job or 'NAME')}"
    say(f"next, when a sheet is filled in: {again}")


def verify(study: StudyName, as_json: Json = False) -> None:
    """Look for lost, duplicate or orphaned work in a study; exit status 1 if there is any."""
    from grater.annotate.store import checks, open_store

    with open_store(study) as store, store.read() as tx:
        violations = checks.violations(tx)
    if as_json:
        print_json([{"kind": each.kind, "message": each.message} for each in violations])
    else:
        for each in violations:
            typer.echo(str(each))
        say(counted(len(violations), "violation") if violations else "no problems found")
    if violations:
        raise typer.Exit(1)


def export_to(
    study: StudyName,
    folder: Annotated[Path, Argument(metavar="FOLDER", help="The new folder to write.")],
    names: Annotated[bool, Option("--names", help="Name raters instead of using pseudonyms.")] = False,
    raw: Annotated[
        bool, Option("--raw", help="Do not escape cells that a spreadsheet would read as formulas.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write a consistent snapshot of the study, without secrets."""
    from grater.annotate.archive import export
    from grater.annotate.store import open_store

    with open_store(study) as store:
        done = export(store, folder, names=names, raw=raw)
    if as_json:
        print_json({"folder": str(done.folder), "files": done.files, "counts": done.counts, "losses": done.losses})
        return
    who = "names" if names else "pseudonyms"
    say(f"{done.folder}: {counted(done.files, 'file')}, raters by {who}; manifest.json lists them with their hashes")
    if done.losses:
        say(f"{counted(done.losses, 'thing')} that some corpus format cannot hold: essays/losses.jsonl")


def backup(
    study: StudyName,
    file: Annotated[Path, Argument(metavar="FILE", help="The new file to write.")],
    pseudonyms: Annotated[
        bool, Option("--pseudonyms", help="Leave out names, addresses, passwords, sessions and tokens (SQLite).")
    ] = False,
    as_json: Json = False,
) -> None:
    """Back up the whole study to a file that only you can read; the study may be in use."""
    from grater.annotate.backup import back_up

    made = back_up(study, file, pseudonyms=pseudonyms)
    if as_json:
        print_json({"file": str(made.path), "engine": made.engine, "bytes": made.n_bytes})
        return
    who = "people by pseudonyms, no secrets" if pseudonyms else "with names and secrets: keep it safe"
    say(f"{made.path}: {counted(made.n_bytes, 'byte')}, {who}; restore it with grater study restore FILE STUDY")


def restore(
    file: Annotated[
        Path,
        Argument(metavar="FILE", help="A file from grater study backup, a folder from study export or a zip of it."),
    ],
    study: Annotated[str, Argument(metavar="STUDY", help="A new file, or an empty PostgreSQL database.")],
    as_json: Json = False,
) -> None:
    """Restore a study: from a backup with passwords and work in progress, from an export without passwords.

    A damaged archive is refused.
    """
    from grater.annotate.archive import import_archive
    from grater.annotate.backup import restore as restore_backup

    is_export = file.is_dir() or file.suffix.lower() == ".zip" or is_zipfile(file)
    with import_archive(file, study) if is_export else restore_backup(file, study) as store:
        back = f"people have no passwords: grater people invite {pasted(study)} --back NAME"
        message = (
            f"{store.name}: restored from {file}; {back if is_export else f'next: grater serve {pasted(study)}'}"
        )
        say_done(message, {"study": store.name, "restored_from": str(file)}, as_json=as_json)


HOST, PORT = "127.0.0.1", 8000


def serve(
    study: StudyName,
    host: Annotated[str, Option(help="The address to listen on; 0.0.0.0 for all.")] = HOST,
    port: Annotated[int, Option(min=0, max=65535, help="The port to listen on.")] = PORT,
    processes: Annotated[int, Option(min=1, help="Number of processes; more than one needs PostgreSQL.")] = 1,
    private_webhooks: Annotated[
        bool, Option("--private-webhooks", help="Allow webhooks inside the server's own network.")
    ] = False,
    check_page: Annotated[
        bool, Option("--check-page", help="Open 'Check my writing' at /check to everyone, without login.")
    ] = False,
    editors: Annotated[
        bool, Option("--editors", help="Serve LanguageTool's protocol to editors at /v2/check.")
    ] = False,
    offered: Annotated[
        list[str] | None,
        Option(
            "--offer",
            metavar="NAME=SYSTEM",
            help="An external system that managers may run from pages, as in mine=command:PROGRAM.",
        ),
    ] = None,
    url: Annotated[
        str | None, Option(help="The public address of the server, as in https://rate.example.org.")
    ] = None,
    proxies: Annotated[
        list[str] | None,
        Option(
            "--proxy",
            metavar="ADDRESS",
            help="A trusted proxy, whose X-Forwarded-For is used: an IP address or network.",
        ),
    ] = None,
) -> None:
    """Serve a study in the browser; the first start prints a one-time set-up link."""
    from grater.annotate.store import open_store
    from grater.detect.external import is_external

    try:
        from grater.annotate.web import serving as server  # the extra may be missing, and then one line says so
        from grater.annotate.web.context import Settings
        from grater.annotate.web.serving import setup_link
    except ImportError as error:
        raise MissingExtra(f"the server needs {error.name}: pip install 'grater[server]'") from error

    address = url or f"http://{HOST if host == '0.0.0.0' else host}:{port}"
    server.require_proxies(proxies or ())
    for system in offered or ():
        if "=" not in system.partition(":")[0] or not is_external(system):
            raise UsageError(f"expected NAME=SYSTEM with an external system, found {system!r}")
    settings = Settings(
        base_url=address,
        private_webhooks=private_webhooks,
        proxies=tuple(proxies or ()),
        systems=tuple(offered or ()),
        check_page=check_page,
        editors=editors,
    )
    with open_store(study) as store, store.serving():
        server.require_processes(store, processes)
        link = setup_link(settings, store)
        if link:
            say(f"set up the study with this link, which works once and within a day: {link}")
        say(f"{store.name}: serving at {address}; stop with Ctrl-C")
        server.run(study, settings, store, host=host, port=port, processes=processes)
