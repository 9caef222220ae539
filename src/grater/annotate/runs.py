"""Runs: long background work of a server, such as a system run over the essays, a big import, or a report.

A request is stored as a run before work begins, so it survives a restart. A run waits, is claimed by one process, and
succeeds or fails. The working process reports every few seconds (`beat`); a run whose process is silent for
`STALE_MS` is claimed by another and starts over. A process that was only delayed then finds that the run is no longer
its own, and changes nothing. A run fails after it has crashed `MOST_TRIES` processes; otherwise it would crash all
others and block the queue.

One thread per process works on runs, one after the other, while any are waiting. Each kind of run stores its result
in one transaction or is idempotent, so starting over is safe. An error ends only its own run.
"""

from __future__ import annotations

import logging
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias, cast

from pydantic import Field
from sqlalchemy import Update, and_, or_, select

from grater.annotate import content, jobs
from grater.annotate.importing import Importing, import_kind
from grater.annotate.reporting import LONGEST, study_inputs
from grater.annotate.requests import Body, example
from grater.annotate.store import Store, Tx, events, schema
from grater.annotate.store.transaction import Columns, new_id
from grater.annotate.systems import decide, load_offered, model_in, require_offered
from grater.errors import GraterError, StoreBusy, StoreFull, UsageError
from grater.model import Json
from grater.reporting.build import build
from grater.reporting.save import report_html
from grater.reporting.versions import parse_versions
from grater.sheet import counted

RUN = schema.runs.c

STALE_MS = 60_000
MOST_TRIES = 5
MOST_RUNS = 50
GIVEN_UP = "Begun {n} times, and the server ended each time before it was done; nothing was stored."
UNFORESEEN = "Something went wrong on our side ({kind}); the server's log has the rest. Nothing was stored."
BEAT_SECONDS = 2.0
LOG = logging.getLogger("grater.annotate.runs")


@dataclass(frozen=True, slots=True)
class Run:
    """`done` of `total` steps, 0 if unknown; `words` is its result or the error."""

    run_id: str
    kind: str
    title: str
    options: Mapping[str, Json] = field(hash=False)
    state: str = "waiting"
    done: int = 0
    total: int = 0
    words: str = ""
    person_id: str | None = None
    made_at: int = 0
    started_at: int | None = None
    ended_at: int | None = None
    beat_at: int | None = None
    tries: int = 0

    @property
    def is_over(self) -> bool:
        return self.state in ("done", "failed")


@dataclass(frozen=True, slots=True)
class RunFile:
    name: str
    content: bytes = field(repr=False)


COLUMNS = Columns(Run, schema.runs)


def add(
    tx: Tx,
    kind: str,
    title: str,
    options: Mapping[str, Json],
    *,
    files: Sequence[RunFile] = (),
    actor: str | None = None,
) -> Run:
    run = Run(new_id(), kind, title, options, person_id=actor, made_at=tx.now)
    tx.insert(schema.runs, COLUMNS.row(run))
    _keep(tx, run.run_id, files, is_result=False)
    events.write(tx, actor, "run.added", run.run_id, {"kind": kind, "title": title})
    return run


def _keep(tx: Tx, run_id: str, files: Sequence[RunFile], *, is_result: bool) -> None:
    rows = [
        {"run_id": run_id, "position": n, "name": file.name, "content": file.content, "is_result": is_result}
        for n, file in enumerate(files)
    ]
    tx.insert(schema.run_files, rows)


def get(tx: Tx, run_id: str) -> Run:
    query = select(*COLUMNS).where(RUN.run_id == run_id)
    return COLUMNS.get(tx, query, "there is no such run in this study")


def latest(tx: Tx, *, most: int) -> list[Run]:
    query = select(*COLUMNS).order_by(RUN.made_at.desc(), RUN.run_id).limit(most)
    return COLUMNS.all(tx, query)


def claim(tx: Tx) -> Run | None:
    """Claim the oldest run that is waiting, or whose process fell silent."""
    silent = and_(RUN.state == "running", RUN.beat_at < tx.now - STALE_MS)
    next_one = select(*COLUMNS).where(or_(RUN.state == "waiting", silent)).order_by(RUN.made_at, RUN.run_id).limit(1)
    while row := tx.first(tx.locked(next_one, of=schema.runs, skip=True)):
        run = COLUMNS.read(row)
        if run.tries >= MOST_TRIES:
            _end(tx, run, words=GIVEN_UP.format(n=run.tries), is_failed=True)
            continue
        begun = {"state": "running", "started_at": tx.now, "beat_at": tx.now, "done": 0, "tries": run.tries + 1}
        tx.execute(schema.runs.update().where(RUN.run_id == run.run_id).values(begun))
        return get(tx, run.run_id)
    return None


def finish(tx: Tx, run: Run, *, words: str, is_failed: bool = False, files: Sequence[RunFile] = ()) -> bool:
    """End a run; its inputs are dropped and its results kept. False if another process owns it now."""
    if not tx.execute(_own(run).values(beat_at=tx.now)).rowcount:
        return False
    _end(tx, run, words=words, is_failed=is_failed, files=files)
    return True


def _own(run: Run) -> Update:
    """The run, as long as it belongs to the process that claimed it."""
    return schema.runs.update().where(RUN.run_id == run.run_id, RUN.state == "running", RUN.tries == run.tries)


def _end(tx: Tx, run: Run, *, words: str, is_failed: bool, files: Sequence[RunFile] = ()) -> None:
    state = "failed" if is_failed else "done"
    tx.execute(schema.run_files.delete().where(schema.run_files.c.run_id == run.run_id))
    _keep(tx, run.run_id, files, is_result=True)
    over = schema.runs.update().where(RUN.run_id == run.run_id)
    tx.execute(over.values(state=state, words=words, ended_at=tx.now))
    events.write(tx, run.person_id, "run.ended", run.run_id, {"kind": run.kind, "title": run.title, "state": state})


def with_results(tx: Tx) -> set[str]:
    query = select(schema.run_files.c.run_id).where(schema.run_files.c.is_result)
    return {row.run_id for row in tx.all(query)}


def files_of(tx: Tx, run_id: str, *, is_result: bool) -> list[RunFile]:
    query = (
        select(schema.run_files)
        .where(schema.run_files.c.run_id == run_id, schema.run_files.c.is_result == is_result)
        .order_by(schema.run_files.c.position)
    )
    return [RunFile(name=row.name, content=bytes(row.content)) for row in tx.all(query)]


# What can be asked for


class ReportAsked(Body):
    """A report of the study, or of one job."""

    job: str = Field(default="", description="Its name: the report is of this job alone.")
    title: str = Field(default="", max_length=LONGEST)
    author: str = Field(default="", max_length=LONGEST)
    earlier: list[str] = Field(default=[], description="NEW=OLD: the system OLD is an earlier version of NEW.")


class NewRun(ReportAsked):
    """A `system` to run over all essays, or a report (of a `job`, with a `title`)."""

    model_config = example(kind="report", title="Two schools")
    kind: Literal["system", "report"]
    system: str = ""


def ask(
    tx: Tx,
    sent: NewRun,
    *,
    systems: Sequence[str] = (),
    chat: Mapping[str, Json] | None = None,
    actor: str | None = None,
) -> Run:
    """Store a request for a run.

    `systems` are external ones that may be run besides those installed; `chat` configures language models.
    """
    of_report = sent.model_dump(include={"job", "title", "author", "earlier"})
    if sent.kind == "report":
        about = jobs.named(tx, sent.job).title if sent.job else "the study"
        parse_versions(sent.earlier)
        return add(tx, sent.kind, f"Report: {sent.title or about}", of_report, actor=actor)
    if any(of_report.values()):
        raise UsageError("job, title, author and earlier are for a report; expected none of them")
    system = require_offered(sent.system, systems)
    if not content.n_essays(tx):
        raise UsageError("the study has no essays yet; import some first")
    of_system: dict[str, Json] = {"system": system, "chat": dict(chat or {})}
    return add(tx, sent.kind, f"Run {sent.system} over the essays", of_system, actor=actor)


def what_came(tx: Tx, system: str) -> str:
    """The report of a system's latest run; empty if it ran elsewhere."""
    ended = (run for run in latest(tx, most=MOST_RUNS) if run.kind == "system" and run.state == "done")
    return next((run.words for run in ended if run.words.startswith(f"{system}: ")), "")


# How it is done


@dataclass(slots=True, eq=False)
class Steps:
    """The progress of a run, stored every few seconds by a separate thread."""

    store: Store
    run: Run
    total: int = 0
    done: int = 0
    _over: threading.Event = field(default_factory=threading.Event)

    def advance(self, n: int) -> None:
        self.done += n

    def _keep_beating(self) -> None:
        while not self._over.wait(BEAT_SECONDS):
            try:
                with self.store.write() as tx:
                    tx.execute(_own(self.run).values(beat_at=tx.now, done=self.done, total=self.total))
            except GraterError as error:  # the next beat may get through
                LOG.warning("%s: %s", self.run.title, error)

    def __enter__(self) -> Steps:
        threading.Thread(target=self._keep_beating, name=f"beat {self.run.run_id}", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()


Outcome: TypeAlias = tuple[str, list[RunFile]]
"""The result of a run in words, and the files that it made."""


def _system(steps: Steps) -> Outcome:
    with steps.store.read() as tx:
        steps.total = content.n_essays(tx)
    options = steps.run.options
    system = load_offered(str(options["system"]), cast("Mapping[str, Json]", options.get("chat") or {}))
    (done,) = decide(steps.store, [system], advance=steps.advance)
    if model := model_in(system):
        left = [f" {counted(len(model.unanswered), 'text')} without a usable answer."] if model.unanswered else []
        return f"{done.system}: {counted(done.n_items, 'edit')}. Used: {model.spent()}.{''.join(left)}", []
    return f"{done.system}: {done.n_items} places, {done.n_flagged} flagged, {done.n_new} new.", []


def report_page(store: Store, sent: ReportAsked) -> str:
    """The report as one page that works offline."""
    names = [sent.job] if sent.job else []
    earlier = parse_versions(sent.earlier)
    with store.read() as tx:
        inputs = study_inputs(tx, title=sent.title, author=sent.author, job_names=names, earlier=earlier)
    return report_html(build(inputs))


def _report(steps: Steps) -> Outcome:
    page = report_page(steps.store, ReportAsked.model_validate(steps.run.options))
    return "The report is ready.", [RunFile("report.html", page.encode())]


def _import(steps: Steps) -> Outcome:
    sent = Importing.model_validate({name: value for name, value in steps.run.options.items() if value})
    with steps.store.read() as tx:
        files = files_of(tx, steps.run.run_id, is_result=False)
    with tempfile.TemporaryDirectory(prefix="grater-run-") as folder:
        paths: dict[Path, None] = {}
        for file in files:
            path = Path(folder) / file.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.content)
            # of a corpus an archive is one path, its folder
            paths[Path(folder) / Path(file.name).parts[0] if sent.kind == "corpus" else path] = None
        imported = import_kind(steps.store, sent, list(paths), actor=steps.run.person_id)
    new, known = sum(each.new for each in imported), sum(each.known for each in imported)
    words = f"{counted(len(imported), 'file')}: {new:,} new, {known:,} already in the study."
    preview = ["Preview: nothing was stored."] if sent.preview else []
    return " ".join([*preview, words, *(f"{warning}." for each in imported for warning in each.warnings)]), []


WORK: Mapping[str, Callable[[Steps], Outcome]] = {
    "system": _system,
    "report": _report,
    "import": _import,
}


def work_once(store: Store) -> Run | None:
    """Claim a run and complete it; None if none is waiting."""
    with store.write() as tx:
        run = claim(tx)
    if run is None:
        return None
    try:
        with Steps(store, run) as steps:
            words, files = WORK[run.kind](steps)
        with store.write() as tx:
            finish(tx, run, words=words, files=files)
    except (StoreBusy, StoreFull):  # nothing is wrong with the run: it begins again when its process has been silent
        raise
    except Exception as error:
        words = str(error) if isinstance(error, GraterError) else UNFORESEEN.format(kind=type(error).__name__)
        if not isinstance(error, GraterError):
            LOG.exception("%s", run.title)
        with store.write() as tx:
            finish(tx, run, words=words, is_failed=True)
    return run


@dataclass(slots=True, eq=False)
class Runner:
    """The only worker of a process: a thread that lives while runs are waiting."""

    store: Store
    _thread: threading.Thread | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def wake(self) -> None:
        """Start the worker unless it is running."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._work, name="runs", daemon=True)
                self._thread.start()

    def take_up(self) -> None:
        """At server start: on SQLite there is only this server, so unfinished runs wait again."""
        if not self.store.is_postgres:
            with self.store.write() as tx:
                # Every run that was being worked on waits again: for the only process of a study, at its start.
                tx.execute(schema.runs.update().where(RUN.state == "running").values(state="waiting"))
        self.wake()

    def wait(self, run_id: str, *, seconds: float) -> Run:
        """The run once it has ended, or its state after some seconds."""
        end = time.monotonic() + seconds
        self.wake()
        while True:
            with self.store.read() as tx:
                run = get(tx, run_id)
            if run.is_over or time.monotonic() >= end:
                return run
            self.wake()  # the thread may just have ended
            time.sleep(0.05)

    def _work(self) -> None:
        try:
            while work_once(self.store) is not None:
                pass
        except Exception:  # a full disk, a closed study: the run stays, and the next wake begins it again
            LOG.exception("the background task stopped")
