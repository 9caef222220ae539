"""The study through the API: what it holds, its essays as their writers left them, files in, everything out."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import ConfigDict
from starlette.responses import FileResponse, HTMLResponse, Response

from grater.annotate.store import dump, essays, items, jobs, people, units
from grater.annotate.study.essay_adjudication import sent_edit
from grater.annotate.study.evaluation import Scheme, evaluate_study
from grater.annotate.study.importing import KINDS
from grater.annotate.study.jobs import delete_essay
from grater.annotate.study.status import rename_study, study_name
from grater.annotate.study.tables import Counting, targets_of
from grater.annotate.study.writing import Public, open_to_public, public_pages
from grater.annotate.tasks import TASKS
from grater.annotate.web.calls import (
    A_PAGE,
    Body,
    Deleted,
    Deleting,
    Edit,
    Most,
    Name,
    Object,
    Page,
    Shape,
    Start,
    When,
    calls_about,
    cut,
    example,
    form_of,
)
from grater.annotate.web.context import Context, RequestContext
from grater.annotate.web.study.files import brought_in, report_file, zipped_study
from grater.errors import NotFound
from grater.uncertainty.bootstrap import Chance
from grater.uncertainty.population import Population

router = calls_about("study")


class Study(Shape):
    """`kinds` counts the items of each kind."""

    name: str
    essays: int
    items: int
    people: int
    jobs: int
    kinds: dict[str, int]


class Task(Shape):
    """`verdict` is what the labels come to (error, ok, unknown), null where they come to nothing."""

    name: str
    title: str
    kind: str
    labels: list[str]
    verdict: dict[str, str] | None
    guidelines: str


class Tasks(Shape):
    tasks: list[Task]


class Item(Shape):
    """A place in an essay, code points from `start` to `end`; null for one known only from a table of judgments."""

    item: str
    kind: str
    essay: str | None
    start: int | None
    end: int | None
    target: str
    name: str | None
    payload: Object


class Items(Page):
    items: list[Item]


class Imported(Shape):
    """`known` are rows that were there already; the very same file again changes nothing."""

    file: str
    kind: str
    new: int
    known: int


class ImportedFiles(Shape):
    imported: list[Imported]


class Import(Shape):
    import_id: str
    kind: str
    name: str
    sha256: str
    n_rows: int
    at: When


class Imports(Shape):
    imports: list[Import]


NOWHERE = {"essay": None, "start": None, "end": None}
FILES = form_of(
    "kind",
    "files",
    kind={"type": "string", "enum": list(KINDS)},
    files={"type": "array", "items": {"type": "string", "format": "binary"}},
    format={"type": "string", "description": "Of a corpus; guessed from the names if empty."},
    job={"type": "string", "description": "Its name: judgments, gold and practice go there."},
    task={"type": "string", "description": "Of a job that judgments make.", "default": "error"},
)


class NewStudyName(Body):
    model_config = example(name="Prepositions of two schools")
    name: Name


@router.post("/study")
def rename(context: Context, sent: NewStudyName) -> Study:
    """Rename the study."""
    with context.changing() as tx:
        rename_study(tx, sent.name, actor=context.person.person_id)
    context.server.title.forget()
    return one_study(context)


@router.get("/study")
def one_study(context: Context) -> Study:
    """Counts of what the study contains."""
    with context.server.store.read() as tx:
        return Study(
            name=study_name(tx),
            essays=essays.count(tx),
            items=items.count(tx),
            people=people.count(tx),
            jobs=len(jobs.all(tx)),
            kinds=dict(items.kinds(tx)),
        )


class PublicPages(Shape):
    """`check_page` is "Check my writing" at `/check`, `editors` LanguageTool's protocol at `/v2`.

    `opened_at_start` names what the command that started the server opened: that stays open here.
    """

    check_page: bool
    editors: bool
    opened_at_start: list[str]


class NewPublicPages(Body):
    model_config = example(check_page=True, editors=False)
    check_page: bool
    editors: bool


@router.get("/public")
def public(context: Context) -> PublicPages:
    """What is open to people without an account."""
    with context.server.store.read() as tx:
        return _public(context, public_pages(tx))


@router.post("/public")
def set_public(context: Context, sent: NewPublicPages) -> PublicPages:
    """Open or close "Check my writing", and the calls for editors."""
    with context.changing() as tx:
        wanted = Public(check_page=sent.check_page, editors=sent.editors)
        return _public(context, open_to_public(tx, wanted, actor=context.person.person_id))


def _public(context: RequestContext, chosen: Public) -> PublicPages:
    settings = context.server.settings
    opened = [name for name in ("check_page", "editors") if getattr(settings, name)]
    return PublicPages(check_page=chosen.check_page, editors=chosen.editors, opened_at_start=opened)


@router.get("/tasks")
def task_list(context: Context) -> Tasks:  # noqa: ARG001
    """Every task with its labels and default instructions."""
    return Tasks(tasks=[Task.of(TASKS[name]) for name in TASKS])


@router.get("/items")
def item_list(context: Context, start: Start = 0, most: Most = A_PAGE, kind: str | None = None) -> Items:
    """The items of the study in order, optionally of one kind."""
    with context.server.store.read() as tx:
        here, following = cut(items.some(tx, kind=kind, start=start, most=most + 1), start, most)
        targets = targets_of(tx, list(here))
    shown = [_item(item, target) for item, target in zip(here, targets, strict=True)]
    return Items(items=shown, next=following)


@router.post("/import", openapi_extra=FILES)
def bring_in(context: Context) -> ImportedFiles:
    """Import files, all or nothing, as `multipart/form-data`.

    Essays in every corpus format, and tables of items, decisions, judgments, gold and practice; zip, gz, bz2 and xz
    are unpacked.  What is wrong is told with its line, and then nothing is stored.
    """
    return ImportedFiles(imported=[Imported.model_validate(file.to_dict()) for file in brought_in(context)])


@router.get("/imports")
def import_list(context: Context) -> Imports:
    """Every imported file, oldest first."""
    with context.server.store.read() as tx:
        return Imports(imports=[Import.of(file) for file in dump.all_imports(tx)])


@router.get("/export", response_class=FileResponse, responses={200: {"content": {"application/zip": {}}}})
def export(context: Context, names: bool = False, raw: bool = False) -> Response:
    """The whole study as a zip; the same study gives the same bytes.

    `names`: people by name, not by pseudonym.  `raw`: CSV cells that a spreadsheet would run are left as they are.
    """
    return zipped_study(context.server.store, names=names, raw=raw)


@router.get("/report", response_class=HTMLResponse)
def report(
    context: Context,
    job: str = "",
    title: str = "",
    author: Annotated[str, Query(description="The author, shown under the title.")] = "",
    earlier: Annotated[list[str], Query(description="NEW=OLD: the system OLD is an earlier version of NEW.")] = [],  # noqa: B006
    drop_flags: Annotated[str, Query(description="Leave out judgments with these flags, separated by commas.")] = "",
    min_confidence: Annotated[float | None, Query(description="Leave out less confident judgments.")] = None,
) -> Response:
    """The report of the study, or of one job, as one HTML page."""
    counting = Counting(_entries(drop_flags), min_confidence)
    return report_file(context.server.store, job=job, title=title, author=author, earlier=earlier, counting=counting)


class Evaluation(Shape):
    """As `grater study evaluate --json` prints it; `scope` has what the intervals speak of."""

    model_config = ConfigDict(extra="allow")
    systems: list[Object]
    scope: Object
    warnings: list[str]
    signature: str


@router.get("/evaluation")
def evaluation(
    context: Context,
    job: Annotated[list[str], Query(description="Only judgments of the jobs of these names.")] = [],  # noqa: B006
    kind: Annotated[str, Query(description="Only items of this kind, as in prep.")] = "",
    sample: Annotated[str, Query(description="Estimate for the whole corpus from the sample of this name.")] = "",
    truth: Annotated[str, Query(description="majority, share, adjudicated, or the name of a rater.")] = "majority",
    redundancy: Annotated[int | None, Query(ge=0, description="First judgments of an item; 0 takes all.")] = None,
    with_programs: Annotated[bool, Query(description="Let programs vote among people.")] = False,
    drop_flags: Annotated[str, Query(description="Leave out judgments with these flags, separated by commas.")] = "",
    min_confidence: Annotated[float | None, Query(description="Leave out less confident judgments.")] = None,
    contexts: Annotated[str, Query(description="Items with these flags apart from the others.")] = "",
    confidence_apart: Annotated[float | None, Query(description="Items below this confidence apart.")] = None,
    population: Annotated[Population, Query(description="Other essays like these, or exactly these.")] = "wider",
    assist: Annotated[str, Query(description="With a sample: a program that judged every item.")] = "",
    corrected: Annotated[bool, Query(description="Scores corrected for what raters get wrong on gold too.")] = False,
    errors_by_flag: Annotated[bool, Query(description="Corrected apart on what a system flags.")] = False,
    seed: Annotated[int, Query(ge=0, description="The same seed gives the same numbers.")] = 0,
) -> Evaluation:
    """Precision, recall and F of every system, on the judged items or estimated for the whole corpus."""
    scheme = Scheme(Counting(_entries(drop_flags), min_confidence), _entries(contexts), confidence_apart)
    with context.server.store.read() as tx:
        result = evaluate_study(
            tx,
            study_name(tx),
            job_names=[jobs.named(tx, name).name for name in job],
            kind=kind,
            sample=sample,
            truth=truth,
            redundancy=redundancy,
            with_programs=with_programs,
            scheme=scheme,
            population=population,
            assist=assist,
            corrected=corrected,
            errors_by_flag=errors_by_flag,
            chance=Chance(seed=seed),
        )
    return Evaluation.model_validate(result.to_dict())


def _entries(text: str) -> tuple[str, ...]:
    return tuple(entry.strip() for entry in text.split(",") if entry.strip())


def _item(item: items.StudyItem, target: str) -> Item:
    place = item.item
    where = {"essay": place.essay_id, "start": place.span.start, "end": place.span.end} if place else NOWHERE
    values = {"item": item.item_id, "kind": item.kind, "target": target, "name": item.outside_id}
    return Item.model_validate({**values, **where, "payload": item.payload})


EssayId = Annotated[str, Query(description="Whatever its file called it.")]


class Essay(Shape):
    essay_id: str
    text: str
    metadata: Object


class Essays(Page):
    essays: list[Essay]


class Marks(Shape):
    """What one annotator marked before the essay came in; no edits: nothing was wrong."""

    annotator: str
    edits: list[Edit]


class AskedIn(Shape):
    """A job that asks about the essay, in these units."""

    job_id: str
    unit_ids: list[str]


class WholeEssay(Essay):
    """Marks that were made here are in the units."""

    marks: list[Marks]
    asked: list[AskedIn]


@router.get("/essays")
def essay_list(context: Context, start: Start = 0, most: Most = A_PAGE) -> Essays:
    """The essays of the study, in order of import."""
    with context.server.store.read() as tx:
        here, following = cut(essays.some(tx, start=start, most=most + 1), start, most)
    return Essays(essays=[Essay.of(essay) for essay in here], next=following)


@router.get("/essay")
def one_essay(context: Context, essay_id: EssayId) -> WholeEssay:
    """An essay with its imported marks and the units about it."""
    with context.server.store.read() as tx:
        essay = essays.find(tx, essay_id)
        if essay is None:
            raise NotFound("there is no such essay in this study")
        asked = [AskedIn(job_id=job.job_id, unit_ids=ids) for job, ids in units.of_essay(tx, essay_id)]
    by_annotator = {name: [edit for edit in essay.edits if edit.rater == name] for name in essay.annotators}
    marks = [
        Marks(annotator=name, edits=[Edit.model_validate(sent_edit(essay.text, edit)) for edit in edits])
        for name, edits in by_annotator.items()
    ]
    return WholeEssay(**Essay.of(essay).model_dump(), marks=marks, asked=asked)


class DeletingEssay(Deleting):
    model_config = example(essay_id="essay-2", word="delete")
    essay_id: str


@router.post("/essay/delete")
def delete_one_essay(context: Context, sent: DeletingEssay) -> Deleted:
    """Delete an essay that no job or sample uses."""
    with context.changing() as tx:
        delete_essay(tx, sent.essay_id, word=sent.word, actor=context.person.person_id)
    return Deleted(deleted=sent.essay_id)
