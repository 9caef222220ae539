"""Runs: long work that a server does in the background, with how far it is, what it reads and what it made.

A run waits, is claimed by one process, and ends well or badly.  Whoever works on it says so again and again
(`beat`); a run whose process fell silent for `STALE_MS` is claimed anew and begins from its start.  A process that
was only held up finds then that the run is no longer its own, and changes nothing.  A run that has ended
`MOST_TRIES` processes before its own end has failed: else it would end every other, and nothing behind it would ever
begin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Update, and_, or_, select

from grater.annotate.store import events, schema
from grater.annotate.store.ids import new_id
from grater.annotate.store.transaction import Columns, Tx
from grater.errors import NotFound
from grater.model import Json

STALE_MS = 60_000
MOST_TRIES = 5
GIVEN_UP = "Begun {n} times, and the server ended each time before it was done; nothing was stored."


@dataclass(frozen=True, slots=True)
class Run:
    """`done` of `total` steps, 0 where nobody knows; `words` say what came of it, or what went wrong."""

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
    """Add a run that waits, with the files that it reads."""
    run = Run(run_id=new_id(), kind=kind, title=title, options=options, person_id=actor, made_at=tx.now)
    tx.insert(schema.runs, COLUMNS.row(run))
    _keep(tx, run.run_id, files, is_result=False)
    events.write(tx, actor, "run.added", run.run_id, {"kind": kind, "title": title})
    return run


def _keep(tx: Tx, run_id: str, files: Sequence[RunFile], *, is_result: bool) -> None:
    rows = [
        {"run_id": run_id, "position": n, "name": file.name, "content": file.content, "is_result": is_result}
        for n, file in enumerate(files)
    ]
    if rows:
        tx.insert(schema.run_files, rows)


def get(tx: Tx, run_id: str) -> Run:
    row = tx.first(select(*COLUMNS).where(schema.runs.c.run_id == run_id))
    if row is None:
        raise NotFound("there is no such run in this study")
    return COLUMNS.read(row)


def latest(tx: Tx, *, most: int) -> list[Run]:
    """The newest first."""
    query = select(*COLUMNS).order_by(schema.runs.c.made_at.desc(), schema.runs.c.run_id).limit(most)
    return [COLUMNS.read(row) for row in tx.all(query)]


def claim(tx: Tx) -> Run | None:
    """The oldest run that waits, or whose process fell silent; from now on it is the caller's."""
    while (run := _next(tx)) is not None:
        if run.tries >= MOST_TRIES:
            _end(tx, run, words=GIVEN_UP.format(n=run.tries), is_failed=True)
            continue
        begun = {"state": "running", "started_at": tx.now, "beat_at": tx.now, "done": 0, "tries": run.tries + 1}
        tx.execute(schema.runs.update().where(schema.runs.c.run_id == run.run_id).values(begun))
        return get(tx, run.run_id)
    return None


def _next(tx: Tx) -> Run | None:
    silent = and_(schema.runs.c.state == "running", schema.runs.c.beat_at < tx.now - STALE_MS)
    query = (
        select(*COLUMNS)
        .where(or_(schema.runs.c.state == "waiting", silent))
        .order_by(schema.runs.c.made_at, schema.runs.c.run_id)
        .limit(1)
    )
    row = tx.first(tx.locked(query, of=schema.runs, skip=True))
    return None if row is None else COLUMNS.read(row)


def release_all(tx: Tx) -> None:
    """Every run that was being worked on waits again: for the only process of a study, at its start."""
    tx.execute(schema.runs.update().where(schema.runs.c.state == "running").values(state="waiting"))


def beat(tx: Tx, run: Run, *, done: int, total: int) -> None:
    """Say that somebody works on it, and how far it is."""
    tx.execute(_own(run).values(beat_at=tx.now, done=done, total=total))


def finish(tx: Tx, run: Run, *, words: str, is_failed: bool = False, files: Sequence[RunFile] = ()) -> bool:
    """End a run; what it read is dropped, what it made is kept.  False where it is another's by now."""
    if not tx.execute(_own(run).values(beat_at=tx.now)).rowcount:
        return False
    _end(tx, run, words=words, is_failed=is_failed, files=files)
    return True


def _own(run: Run) -> Update:
    """The run as long as it is in the hands of whoever claimed it."""
    return schema.runs.update().where(
        schema.runs.c.run_id == run.run_id, schema.runs.c.state == "running", schema.runs.c.tries == run.tries
    )


def _end(tx: Tx, run: Run, *, words: str, is_failed: bool, files: Sequence[RunFile] = ()) -> None:
    state = "failed" if is_failed else "done"
    tx.execute(schema.run_files.delete().where(schema.run_files.c.run_id == run.run_id))
    _keep(tx, run.run_id, files, is_result=True)
    over = schema.runs.update().where(schema.runs.c.run_id == run.run_id)
    tx.execute(over.values(state=state, words=words, ended_at=tx.now))
    events.write(tx, run.person_id, "run.ended", run.run_id, {"kind": run.kind, "title": run.title, "state": state})


def with_results(tx: Tx) -> set[str]:
    """The runs that have made a file."""
    query = select(schema.run_files.c.run_id).where(schema.run_files.c.is_result)
    return {row.run_id for row in tx.all(query)}


def files_of(tx: Tx, run_id: str, *, is_result: bool) -> list[RunFile]:
    query = (
        select(schema.run_files)
        .where(schema.run_files.c.run_id == run_id, schema.run_files.c.is_result == is_result)
        .order_by(schema.run_files.c.position)
    )
    return [RunFile(name=row.name, content=bytes(row.content)) for row in tx.all(query)]
