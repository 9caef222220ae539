"""Making a study, its status, imports and exports, and its server: new, status, import, verify, export,
backup, restore and `grater serve`.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict, Unpack
from zipfile import is_zipfile

from grater.cli.command import Done, say
from grater.cli.study import ServerUrl, answers_of, opened, pasted, unmet_gold
from grater.corpora import note_left_out
from grater.errors import MissingExtra, UsageError
from grater.options import (
    Columns,
    Correcting,
    FormatName,
    Opt,
    RaterColumns,
    StudyName,
    WorksheetTask,
    described,
    require_different,
)
from grater.result import encode
from grater.sheet import counted

if TYPE_CHECKING:
    from grater.annotate.status import Step


@described
def make_study_file(
    study: StudyName, *, name: Annotated[str, Opt("The study's name; default: the file's name.")] = ""
) -> Done:
    """Create an empty study; an existing one is not changed."""
    from grater.annotate.status import new_study

    with new_study(study, name=name) as store:
        file = pasted(study)
        message = f"{store.name}: a new study; next: grater serve {file}, or grater study import {file} FILE..."
        return Done({"study": store.name}, [message])


NEXT_STEPS: Mapping[Step, str] = {
    "import": "import essays: grater study import STUDY FILE...",
    "plan": "add a job: grater job new STUDY --task TASK; or run systems: grater study decide STUDY --system S",
    "sample": "have the systems judged: grater job new STUDY --design sampling --system NAME --n N",
    "serve": "send the link of the invitation, and open the pages: grater serve STUDY",
    "invite": "invite raters: grater people invite STUDY --role annotator; then grater serve STUDY",
    "wait": "wait for raters, with grater serve STUDY running",
    "report": "see the results: grater study report STUDY; export them: grater study export STUDY FOLDER",
}


@described
def show_status(study: StudyName) -> Done:
    """Show counts, the progress of each job, and the next step."""
    from grater.annotate.status import status

    with opened(study) as store, store.read() as tx:
        summary = status(tx)
    counts = [
        counted(summary.essays, "essay"),
        counted(summary.items, "item"),
        counted(summary.decisions, "decision"),
    ]
    people = counted(summary.people, "person", "people")
    invited = f" and {counted(summary.n_invited, 'open invitation')}" if summary.n_invited else ""
    return Done(
        summary.to_dict(),
        [f"next: {NEXT_STEPS[summary.next_step].replace('STUDY', pasted(study))}"],
        [f"{summary.name}: {', '.join([*counts, people])}{invited}"],
        sheets=[summary.sheet()] if summary.jobs else [],
        warnings=[f"{each.job.name}: {words}" for each in summary.jobs for words in each.warnings],
    )


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


class Importing(TypedDict, total=False):
    """What `import_files` takes besides essays and samples."""

    format_name: FormatName
    items: Annotated[Sequence[Path], Opt("A table of items, for their places and other columns.", "FILE", default=())]
    decisions: Annotated[Sequence[Path], Opt("Decisions of systems.", "FILE", default=())]
    judgments: Annotated[Sequence[Path], Opt("Judgments of raters.", "FILE", default=())]
    gold: Annotated[Sequence[Path], Opt("Items with known answers.", "FILE", default=())]
    practice: Annotated[Sequence[Path], Opt("Known answers to practise on.", "FILE", default=())]
    job: Annotated[str | None, Opt("The job that judgments, gold or practice belong to.")]
    task: Annotated[str, Opt("The task that imported judgments answer.", default="error")]
    columns: Columns
    rater_columns: RaterColumns
    encoding: Annotated[str, Opt("The encoding of texts that are not UTF-8.", "NAME", default="")]
    skip_unreadable: Annotated[bool, Opt("Leave out text files that cannot be read.", default=False)]
    preview: Annotated[bool, Opt("Check everything and report it; store nothing.", default=False)]


@described
def import_into(
    study: StudyName,
    *files: Annotated[Path, Opt("Essays, in any corpus format.", "[FILE]")],
    sample: Annotated[Sequence[Path], Opt("The sample from which the judged items were drawn.", "FILE")] = (),
    **options: Unpack[Importing],
) -> Done:
    """Import files; importing a file again changes nothing."""
    from grater.annotate import jobs
    from grater.annotate.importing import import_files
    from grater.annotate.standing import has_gold

    judged = [*options.get("judgments", ()), *options.get("gold", ()), *options.get("practice", ())]
    items, decisions = options.get("items", ()), options.get("decisions", ())
    if not any((files, sample, judged, items, decisions)):
        raise UsageError("expected files to import, found none; see grater study import --help")
    require_different([*files, *items, *judged])
    require_different([*files, *decisions, *sample])
    job = options.get("job") or ""
    with opened(study) as store:
        done = import_files(store, corpora=files, samples=sample, **options)
        with store.read() as tx:
            is_untested = bool(options.get("gold") and job) and not has_gold(jobs.named(tx, job))
    note_left_out(files, options.get("format_name"))
    messages = []
    for each in done:
        known = f", {each.known:,} already there" if each.known else ""
        messages.append(f"{each.name}: {counted(each.new, NOUNS[each.kind])}{known}")
    if is_untested:
        messages.append(unmet_gold(study, job))
    next_step = f"next: grater study status {pasted(study)}"
    messages.append("preview: nothing was stored; import without --preview" if options.get("preview") else next_step)
    warnings = [f"{each.name}: {words}" for each in done for words in each.warnings]
    return Done(encode([each.to_dict() for each in done]), messages, warnings=warnings)


@described
def write_units(
    study: StudyName,
    job: Annotated[str, Opt("The name of the job; none with --sample.", "[JOB]")] = "",
    *,
    worksheet: Annotated[Path, Opt("The worksheet to write, .csv or .xlsx.", "FILE", needed=True)] = Path("-"),
    sample: Annotated[str, Opt("A sample of the study, instead of a job.", "NAME")] = "",
    task: WorksheetTask = "error",
    rater: Annotated[Sequence[str], Opt("Write a worksheet for this rater; repeatable.", "NAME")] = (),
) -> Done:
    """Write what is to judge as worksheets; import them with `grater study import --judgments SHEET --job JOB`."""
    from grater.annotate.worksheets import write_worksheet

    with opened(study) as store:
        written = write_worksheet(store, worksheet, job=job, sample=sample, task=task, raters=rater)
    again = f"grater study import {pasted(study)} --judgments SHEET --job {shlex.quote(job or 'NAME')}"
    messages = [f"{file}: {counted(n_items, 'item')} to judge" for file, n_items in written.items()]
    value = [{"file": str(file), "items": n_items} for file, n_items in written.items()]
    return Done(value, [*messages, f"next, when a sheet is filled in: {again}"])


@described
def verify(study: StudyName) -> Done:
    """Look for lost, duplicate or orphaned work in a study."""
    from grater.annotate.store import checks

    with opened(study) as store, store.read() as tx:
        violations = checks.violations(tx)
    value = [{"kind": each.kind, "message": each.message} for each in violations]
    found = counted(len(violations), "violation") if violations else "no problems found"
    return Done(value, [found], list(map(str, violations)), status=1 if violations else 0)


@described
def export_to(
    study: StudyName,
    folder: Annotated[Path, Opt("The new folder to write.", "FOLDER")],
    *,
    names: Annotated[bool, Opt("Name raters instead of using pseudonyms.")] = False,
    raw: Annotated[bool, Opt("Do not escape formulas for spreadsheets.")] = False,
) -> Done:
    """Write a consistent snapshot of the study, without secrets."""
    from grater.annotate.archive import export

    with opened(study) as store:
        done = export(store, folder, names=names, raw=raw)
    who = "names" if names else "pseudonyms"
    messages = [f"{done.folder}: {counted(done.files, 'file')}, raters by {who}; manifest.json has their hashes"]
    if done.losses:
        messages.append(f"{counted(done.losses, 'thing')} that some corpus format cannot hold: essays/losses.jsonl")
    value = {"folder": str(done.folder), "files": done.files, "counts": encode(done.counts), "losses": done.losses}
    return Done(value, messages)


@described
def backup(
    study: StudyName,
    file: Annotated[Path, Opt("The new file to write.", "FILE")],
) -> Done:
    """Back up the whole study to a file that only you can read; the study may be in use."""
    from grater.annotate.archive import back_up

    made = back_up(study, file)
    size = f"{made.path}: {counted(made.n_bytes, 'byte')}, with names and secrets: keep it safe"
    message = f"{size}; restore it with grater study restore FILE STUDY"
    return Done({"file": str(made.path), "engine": made.engine, "bytes": made.n_bytes}, [message])


@described
def restore(
    file: Annotated[Path, Opt("A backup, or an export as a folder or zip.", "FILE")],
    study: Annotated[str, Opt("A new file, or an empty PostgreSQL database.", "STUDY")],
) -> Done:
    """Restore a study from a backup, or from an export, which has no passwords.

    A damaged archive is refused.
    """
    from grater.annotate.archive import import_archive
    from grater.annotate.archive import restore as restore_backup

    is_export = file.is_dir() or file.suffix.lower() == ".zip" or is_zipfile(file)
    with import_archive(file, study) if is_export else restore_backup(file, study) as store:
        back = f"people have no passwords: grater people invite {pasted(study)} --back NAME"
        message = (
            f"{store.name}: restored from {file}; {back if is_export else f'next: grater serve {pasted(study)}'}"
        )
        return Done({"study": store.name, "restored_from": str(file)}, [message])


HOST, PORT = "127.0.0.1", 8000


@described
def serve(
    study: StudyName,
    *,
    host: Annotated[str, Opt("The address to listen on; 0.0.0.0 for all.")] = HOST,
    port: Annotated[int, Opt("The port to listen on.", min=0, max=65535)] = PORT,
    processes: Annotated[int, Opt("Number of processes; more than one needs PostgreSQL.", min=1)] = 1,
    private_webhooks: Annotated[bool, Opt("Allow webhooks inside the server's own network.")] = False,
    check_page: Annotated[bool, Opt("Open 'Check my writing' at /check to everyone, without login.")] = False,
    editors: Annotated[bool, Opt("Serve LanguageTool's protocol to editors at /v2/check.")] = False,
    offered: Annotated[
        Sequence[str], Opt("An external system that managers may run from pages.", "NAME=SYSTEM", flag="--offer")
    ] = (),
    url: ServerUrl = "",
    proxies: Annotated[
        Sequence[str], Opt("A trusted proxy, by IP address or network.", "ADDRESS", flag="--proxy")
    ] = (),
    **correcting: Unpack[Correcting],
) -> None:
    """Serve a study in the browser; the first start prints a one-time set-up link."""
    from grater.annotate.systems import require_one_host
    from grater.detect.external import is_external
    from grater.detect.systems import load_system

    try:
        from grater.annotate.web import serving as server  # the extra may be missing, and then one line says so
        from grater.annotate.web.context import Settings
        from grater.annotate.web.serving import setup_link
    except ImportError as error:
        raise MissingExtra(f"the server needs {error.name}: pip install 'grater[server]'") from error

    address = url or f"http://{HOST if host == '0.0.0.0' else host}:{port}"
    server.require_proxies(proxies)
    for system in offered:
        if "=" not in system.partition(":")[0] or not is_external(system):
            raise UsageError(f"expected NAME=SYSTEM with an external system, found {system!r}")
    cache, chat = answers_of(study, correcting)
    chat["cache"] = str(cache)
    require_one_host([load_system(system, chat=chat) for system in offered])
    settings = Settings(
        base_url=address,
        private_webhooks=private_webhooks,
        proxies=tuple(proxies),
        systems=tuple(offered),
        chat=chat,
        check_page=check_page,
        editors=editors,
    )
    with opened(study) as store, store.serving():
        server.require_processes(store, processes)
        link = setup_link(settings, store)
        if link:
            say(f"set up the study with this link, which works once and within a day: {link}")
        say(f"{store.name}: serving at {address}; stop with Ctrl-C")
        server.run(study, settings, store, host=host, port=port, processes=processes)
