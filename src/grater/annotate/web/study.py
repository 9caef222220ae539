"""The study for managers: files in, its essays and items, the whole study and its report to take home.

An import is all or nothing, through the same door as the command line.  The export is one snapshot, a zip of the
folder that `grater study export` writes.  The report is the page that `grater study report` writes, without the files
of its figures; one that was made in the background is the file of its run.

Marks that were made here are not on the page of an essay: those of a unit that is not finished stay hidden (P9), and
the others are on the unit's own page.
"""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

from fastapi import Query
from starlette.background import BackgroundTask
from starlette.responses import FileResponse, HTMLResponse, Response

from grater.annotate import content, importing, jobs, people, runs, units
from grater.annotate.adjudication import sent_edit
from grater.annotate.archive import export as export_study
from grater.annotate.content import StudyItem
from grater.annotate.evaluation import Scheme, evaluate_study
from grater.annotate.importing import Importing
from grater.annotate.runs import NewRun, ReportAsked, Run, RunFile, report_page
from grater.annotate.status import rename_study, study_name
from grater.annotate.store import Store, Tx
from grater.annotate.tables import Counting
from grater.annotate.tasks import TASKS
from grater.annotate.web import calls
from grater.annotate.web.calls import Body, Most, Shape, Start, When, by_form, calls_about, example, list_at, page_at
from grater.annotate.web.context import Changing, Context, Reading, RequestContext, Routes, number_of
from grater.annotate.web.rendering import pager
from grater.annotate.web.security import EVERYBODY, MANAGERS, OWNERS, POLICY_HEADER, READ_ONLY_POLICY
from grater.annotate.web.uploads import received
from grater.annotate.writing import NewPublicPages, open_to_public, public_pages
from grater.corpora import FORMATS
from grater.errors import NotFound, UsageError
from grater.model import Essay as StoredEssay
from grater.model import Json
from grater.reporting.versions import earlier_versions
from grater.sheet import counted
from grater.uncertainty import Basis, Population

pages = Routes(MANAGERS)
of_owners = Routes(OWNERS)

ROWS = 50


@page_at(pages, "/manage/import")
def _import_page(context: RequestContext, tx: Reading, *, done: Sequence[importing.Imported] = ()) -> Response:
    shown = {"earlier": importing.all_imports(tx), "jobs": jobs.all(tx), "preview": context.text("preview")}
    values = {**shown, "formats": list(FORMATS), "tasks": list(TASKS), "done": done}
    megabytes = context.server.settings.most_upload_bytes // 1_000_000
    return context.page("manage_import.html", values, megabytes=megabytes)


@by_form(pages, "/manage/import", refused=_import_page)
def bring_in_form(context: RequestContext) -> Response:
    done = brought_in(context)
    return context.go("/manage/runs") if isinstance(done, Run) else _import_page(context, done=done)


BIG = 5_000_000
"""Larger imports, in bytes, run in the background."""


def brought_in(context: RequestContext) -> list[importing.Imported] | Run:
    """Import the files of the form; a big import becomes a background run."""
    sent = context.sent(Importing)
    with received(context) as paths:
        files = [(path, file) for path in paths for file in files_in(path)]
        if sum(file.stat().st_size for _, file in files) <= BIG:
            return _imported(context, sent, paths)
        kept = [RunFile(file.relative_to(path.parent).as_posix(), file.read_bytes()) for path, file in files]
        title, actor = f"Import {counted(len(kept), 'file')}", context.person_id
        with context.changing() as tx:
            run = runs.add(tx, "import", title, sent.model_dump(), files=kept, actor=actor)
        return context.server.runner.wait(run.run_id, seconds=0)


def _imported(context: RequestContext, sent: Importing, paths: list[Path]) -> list[importing.Imported]:
    """Import the files; messages name them, not our folders."""
    files = paths if sent.kind == "corpus" else [file for path in paths for file in files_in(path)]
    done = importing.import_kind(context.store, sent, files, actor=context.person_id)
    return [replace(file, name=Path(file.name).name) for file in done]


def files_in(path: Path) -> list[Path]:
    return sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]


def rename_to(context: RequestContext, name: str) -> None:
    with context.changing() as tx:
        rename_study(tx, name, actor=context.person_id)
    context.server.title.forget()


@page_at(pages, "/manage/essays")
def essay_page(context: RequestContext, tx: Reading) -> Response:
    """A page of essays, or one of them: ids come from files, so they are never part of a path."""
    if essay_id := context.text("essay_id") or context.request.query_params.get("essay", ""):
        essay, asked = _essay(tx, essay_id), units.of_essay(tx, essay_id)
        return context.page("manage_essay.html", essay=essay, asked=asked)
    q = context.request.query_params.get("q", "")
    here = pager(content.n_essays(tx, words=q), number_of(context, "page", 1), size=ROWS)
    on_page = content.some_essays(tx, start=here.start, most=here.size, words=q)
    return context.page("manage_essays.html", essays=on_page, pager=here, q=q)


def _essay(tx: Tx, essay_id: str) -> StoredEssay:
    essay = content.find_essay(tx, essay_id)
    if essay is None:
        raise NotFound("there is no such essay in this study")
    return essay


LONGEST_TARGET = 80


def _targets(tx: Tx, some: Sequence[StudyItem]) -> list[str]:
    """The words of each item, cut where they are long; none for one that is in no essay."""
    texts = {each.essay_id: each.text for each in content.essays_of(tx, [e.item.essay_id for e in some if e.item])}
    words = [each.item.span.of(texts.get(each.item.essay_id, "")) if each.item else "" for each in some]
    return [each if len(each) <= LONGEST_TARGET else f"{each[:LONGEST_TARGET]}…" for each in words]


@pages.get("/manage/items")
def item_list_page(context: Context, tx: Reading, page: int = 1, kind: str = "", q: str = "") -> Response:
    """A page of items, each in its sentence."""
    kinds = content.item_kinds(tx)
    here = pager(content.n_items(tx, kind=kind or None, words=q), page, size=ROWS)
    on_page = content.some_items(tx, kind=kind or None, start=here.start, most=here.size, words=q)
    texts = {each.essay_id: each for each in content.essays_of(tx, [e.item.essay_id for e in on_page if e.item])}
    rows = list(zip(on_page, _targets(tx, on_page), strict=True))
    return context.page("manage_items.html", rows=rows, texts=texts, kinds=kinds, kind=kind, pager=here, q=q)


@pages.get("/manage/export")
def export_page(context: Context, tx: Reading, job: str = "") -> Response:
    """`job` is the name of the one whose report is wanted."""
    systems = content.system_names(tx)
    suggested = earlier_versions(systems)
    # Every system, the earlier version that its name suggests, and all that it could have.
    versions = [(new, suggested.get(new, ""), [old for old in systems if old != new]) for new in systems]
    shown = {"jobs": jobs.all(tx), "chosen": job}
    return context.page("manage_export.html", shown, versions=versions if len(systems) > 1 else [])


@pages.post("/manage/export")
def download(context: Context) -> Response:
    return _zipped_study(context.server.store, names=bool(context.text("names")), raw=bool(context.text("raw")))


@pages.post("/manage/report")
def make_report(context: Context) -> Response:
    """The file of a run that ends soon, or else the page with its progress."""
    run = run_now(context, context.sent(NewRun, kind="report"))
    return result_file(context.server.store, run.run_id) if run.is_over else context.go("/manage/runs")


def asked_run(context: RequestContext, sent: NewRun) -> Run:
    """A run of a system that is installed or that the server was started with."""
    settings = context.server.settings
    with context.changing() as tx:
        return runs.ask(tx, sent, systems=settings.systems, chat=settings.chat, actor=context.person_id)


def run_now(context: RequestContext, sent: NewRun) -> Run:
    """A run that is over, unless it takes longer than a page waits; that it failed is an error."""
    run_id, seconds = asked_run(context, sent).run_id, context.server.settings.wait_seconds
    run = context.server.runner.wait(run_id, seconds=seconds)
    if run.state == "failed":
        raise UsageError(run.words)
    return run


EPOCH = (1980, 1, 1, 0, 0, 0)
"""The oldest time that a zip can hold: the same study gives the same bytes."""


def _zipped_study(store: Store, *, names: bool, raw: bool) -> Response:
    """An export as a download; its files are gone from the server once it is sent."""
    folder = Path(tempfile.mkdtemp(prefix="grater-export-"))
    try:
        export_study(store, folder / "study", names=names, raw=raw)
        archive = folder / "study.zip"
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
            for file in sorted(path for path in (folder / "study").rglob("*") if path.is_file()):
                member = zipfile.ZipInfo(file.relative_to(folder / "study").as_posix(), EPOCH)
                member.compress_type = zipfile.ZIP_DEFLATED
                member.external_attr = 0o644 << 16
                with file.open("rb") as source, packed.open(member, "w", force_zip64=True) as target:
                    shutil.copyfileobj(source, target)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    after = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    return FileResponse(archive, media_type="application/zip", filename="study.zip", background=after)


def result_file(store: Store, run_id: str, *, is_shown: bool = False) -> Response:
    """The file that a run made: a page that works offline, to save or to read at once."""
    with store.read() as tx:
        runs.get(tx, run_id)
        made = runs.files_of(tx, run_id, is_result=True)
    if not made:
        raise NotFound("this task has no file (yet)")
    place = "inline" if is_shown else "attachment"
    headers = {"content-disposition": f'{place}; filename="{made[0].name}"', POLICY_HEADER: READ_ONLY_POLICY}
    return Response(made[0].content, media_type="text/html; charset=utf-8", headers=headers)


api = calls_about("study", MANAGERS)
api_of_owners = calls_about("study", OWNERS)
for_raters = calls_about("study", EVERYBODY)


class Study(Shape):
    """`kinds` counts the items of each kind."""

    name: str
    essays: int
    items: int
    people: int
    jobs: int
    kinds: dict[str, int]


class Task(Shape):
    """`verdict` by label (error, ok, unknown), null for a task without verdicts."""

    name: str
    title: str
    kind: str
    labels: list[str]
    verdict: dict[str, str] | None
    guidelines: str


class Item(Shape):
    """A place in an essay, code points from `start` to `end`; null for one known only from a table of judgments."""

    item: str
    kind: str
    essay: str | None
    start: int | None
    end: int | None
    target: str
    name: str | None
    payload: calls.Object


class ImportedFiles(Shape):
    imported: list[importing.Imported]


class Import(Shape):
    import_id: str
    kind: str
    name: str
    sha256: str
    n_rows: int
    at: When


class NewStudyName(Body):
    model_config = example(name="Prepositions of two schools")
    name: calls.Name


@by_form(pages, "/manage/name", then="/manage")
@api.post("/study")
def rename(context: Context, sent: NewStudyName) -> Study:
    """Rename the study."""
    rename_to(context, sent.name)
    with context.server.store.read() as tx:
        return one_study(tx)


@api.get("/study")
def one_study(tx: Reading) -> Study:
    """Counts of what the study contains."""
    return Study(
        name=study_name(tx),
        essays=content.n_essays(tx),
        items=content.n_items(tx),
        people=people.count(tx),
        jobs=len(jobs.all(tx)),
        kinds=dict(content.item_kinds(tx)),
    )


class PublicPages(Shape):
    """`check_page` is "Check my writing" at `/check`, `editors` LanguageTool's protocol at `/v2`.

    `opened_at_start` names what the command that started the server opened: that stays open here.
    """

    check_page: bool
    editors: bool
    opened_at_start: list[str]


@page_at(of_owners, "/manage/public")
def public_page(context: RequestContext, tx: Reading, *, is_saved: bool = False) -> Response:
    settings = context.server.settings
    shown = {
        "chosen": public(context, tx),
        "at_start": settings,
        "most": settings.check_letters,
        "is_saved": is_saved,
    }
    links = {"check_link": settings.link("/check"), "editors_link": settings.link("/v2")}
    return context.page("manage_public.html", {**shown, **links})


@api_of_owners.get("/public")
def public(context: Context, tx: Reading) -> PublicPages:
    """What is open to people without an account."""
    chosen = public_pages(tx)
    opened = [name for name in ("check_page", "editors") if getattr(context.server.settings, name)]
    return PublicPages(check_page=chosen.check_page, editors=chosen.editors, opened_at_start=opened)


@by_form(of_owners, "/manage/public", then=lambda context, _: public_page(context, is_saved=True))
@api_of_owners.post("/public")
def set_public(context: Context, tx: Changing, sent: NewPublicPages) -> PublicPages:
    """Open or close "Check my writing", and the calls for editors."""
    open_to_public(tx, sent, actor=context.person_id)
    return public(context, tx)


@list_at(for_raters, "/tasks", "tasks")
def task_list() -> list[Task]:
    """Every task with its labels and default instructions."""
    return [Task.of(TASKS[name]) for name in TASKS]


@list_at(api, "/items", "items")
def item_list(tx: Reading, start: Start = 0, most: Most = calls.A_PAGE, kind: str | None = None) -> list[Item]:
    """The items of the study in order, optionally of one kind."""
    here, shown = content.some_items(tx, kind=kind, start=start, most=most), []
    for item, target in zip(here, _targets(tx, here), strict=True):
        known = {"item": item.item_id, "kind": item.kind, "name": item.outside_id, "payload": item.payload}
        span = asdict(item.item.span) if item.item else {"start": None, "end": None}
        place = {"essay": item.item.essay_id if item.item else None, **span}
        shown.append(Item.model_validate({**known, **place, "target": target}))
    return shown


@api.post("/import", openapi_extra=calls.form_with_files(Importing))
def bring_in(context: Context) -> ImportedFiles:
    """Import files, all or nothing, as `multipart/form-data`.

    Essays in every corpus format, and tables of items, decisions, samples, judgments, gold and practice; zip, gz, bz2
    and xz are unpacked.  What is wrong is reported with its line, and then nothing is stored.
    """
    sent = context.sent(Importing)
    with received(context) as paths:
        done = _imported(context, sent, paths)
    return ImportedFiles(imported=done)


@list_at(api, "/imports", "imports")
def import_list(tx: Reading) -> list[Import]:
    """Every imported file, oldest first."""
    return [Import.of(file) for file in importing.all_imports(tx)]


@api.get("/export", response_class=FileResponse, responses={200: {"content": {"application/zip": {}}}})
def export(context: Context, names: bool = False, raw: bool = False) -> Response:
    """The whole study as a zip; the same study gives the same bytes.

    `names`: people by name, not by pseudonym.  `raw`: CSV cells that a spreadsheet would run are left as they are.
    """
    return _zipped_study(context.server.store, names=names, raw=raw)


@api.get("/report", response_class=HTMLResponse)
def report(context: Context, asked: Annotated[ReportAsked, Query()]) -> Response:
    """The report of the study, or of one job, as one HTML page."""
    # A download, for its style stands in it, which the policy of our pages forbids.
    headers = {"content-disposition": 'attachment; filename="report.html"'}
    return HTMLResponse(report_page(context.server.store, asked), headers=headers)


@api.get("/evaluation", response_model=calls.Object)
def evaluation(
    tx: Reading,
    job: Annotated[list[str], Query(description="Only judgments of the jobs of these names.")] = [],  # noqa: B006
    kind: Annotated[str, Query(description="Only items of this kind, as in prep.")] = "",
    sample: Annotated[str, Query(description="Estimate for the whole corpus from the sample of this name.")] = "",
    truth: Annotated[str, Query(description="majority, share, adjudicated, or the name of a rater.")] = "majority",
    redundancy: Annotated[int | None, Query(ge=0, description="First judgments of an item; 0 takes all.")] = None,
    with_programs: Annotated[bool, Query(description="Let programs vote among people.")] = False,
    drop_flags: Annotated[str, Query(description="Leave out judgments with these flags, separated by commas.")] = "",
    min_confidence: Annotated[float | None, Query(description="Leave out less confident judgments.")] = None,
    contexts: Annotated[str, Query(description="Separate items with these flags.")] = "",
    population: Annotated[Population, Query(description="Other essays like these, or exactly these.")] = "wider",
    assist: Annotated[str, Query(description="With a sample: a program that judged every item.")] = "",
    corrected: Annotated[bool, Query(description="Scores corrected for what raters get wrong on gold too.")] = False,
) -> dict[str, Json]:
    """Precision, recall and F of every system, on the judged items or estimated for the whole corpus.

    As `grater study evaluate --json` prints it; `scope` has what the intervals speak of.
    """
    scheme = Scheme(Counting(_entries(drop_flags), min_confidence), _entries(contexts))
    return evaluate_study(
        tx,
        study_name(tx),
        job_names=[jobs.named(tx, name).name for name in job],
        kind=kind,
        sample=sample,
        truth=truth,
        redundancy=redundancy,
        with_programs=with_programs,
        scheme=scheme,
        assist=assist,
        corrected=corrected,
        basis=Basis(population=population),
    ).to_dict()


def _entries(text: str) -> tuple[str, ...]:
    return tuple(entry.strip() for entry in text.split(",") if entry.strip())


class Essay(Shape):
    essay_id: str
    text: str
    metadata: calls.Object


class Marks(Shape):
    """What one annotator marked before the essay came in; no edits: nothing was wrong."""

    annotator: str
    edits: list[calls.Edit]


class AskedIn(Shape):
    """A job that asks about the essay, in these units."""

    job_id: str
    unit_ids: list[str]


class WholeEssay(Essay):
    """Marks that were made here are in the units."""

    marks: list[Marks]
    asked: list[AskedIn]


@list_at(api, "/essays", "essays")
def essay_list(tx: Reading, start: Start = 0, most: Most = calls.A_PAGE) -> list[Essay]:
    """The essays of the study, in order of import."""
    return [Essay.of(essay) for essay in content.some_essays(tx, start=start, most=most)]


@api.get("/essay")
def one_essay(tx: Reading, essay_id: Annotated[str, Query(description="As its file calls it.")]) -> WholeEssay:
    """An essay with its imported marks and the units about it."""
    essay = _essay(tx, essay_id)
    asked = [AskedIn(job_id=job.job_id, unit_ids=ids) for job, ids in units.of_essay(tx, essay_id)]
    by_annotator = {name: [edit for edit in essay.edits if edit.rater == name] for name in essay.annotators}
    marks = [
        Marks(annotator=name, edits=[calls.Edit.model_validate(sent_edit(essay.text, edit)) for edit in edits])
        for name, edits in by_annotator.items()
    ]
    return WholeEssay(**Essay.of(essay).model_dump(), marks=marks, asked=asked)


class DeletingEssay(calls.Deleting):
    model_config = example(essay_id="essay-2", word="delete")
    essay_id: str


@by_form(pages, "/manage/essays/delete", then="/manage/essays", refused=essay_page)
@api.post("/essay/delete", status_code=204)
def delete_one_essay(context: Context, tx: Changing, sent: DeletingEssay) -> None:
    """Delete an essay that no job or sample uses."""
    content.delete_essay(tx, sent.essay_id, word=sent.word, actor=context.person_id)
