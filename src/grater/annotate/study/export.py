"""A study as a folder: one consistent snapshot, the same bytes whenever nothing has changed (P8).

For people and other tools: tables of items, judgments (of every status), raters (pseudonyms unless `names`), gold,
payments and decisions; per job a ratings matrix and a `task, worker, label` table; the essays as NUCLE SGML, M2, brat
and JSONL; agreement and costs.  For grater: `tables/`, every row of every table without secrets, from which
`import_archive` makes the study again.  `manifest.json` has the hash and size of each file and the counts.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl

from grater import __version__
from grater.annotate.store import Store, Tx, dump, events, jobs, people
from grater.annotate.store.migrations import VERSION
from grater.annotate.store.schema.columns import to_text
from grater.annotate.study import tables
from grater.annotate.study.corpus import TASK as MARKING
from grater.annotate.study.corpus import marked_essays, marked_in
from grater.annotate.study.money import costs
from grater.annotate.study.suggestions import has_suggestions, suggestion_frame
from grater.annotate.study.tables import redundancy_of
from grater.annotate.study.terms import whole_protocol
from grater.annotate.tasks import TASKS
from grater.annotate.tasks.task import Task, merged_by
from grater.corpora import Loss, write_corpus
from grater.errors import GraterError, UsageError
from grater.files import complaining
from grater.measure.agreement import agreement
from grater.measure.agreement.edits import edit_agreement
from grater.model import Essay, Json
from grater.tables import equal_in_number, read_judgments, with_labels, write_table

FORMAT = "grater-study"
CORPORA = {"essays.sgml": "nucle", "essays.m2": "m2", "essays.jsonl": "jsonl", "brat": "brat"}


@dataclass(frozen=True, slots=True)
class Exported:
    folder: Path
    files: int
    counts: dict[str, int]
    losses: int


def export(store: Store, folder: Path, *, names: bool = False, raw: bool = False) -> Exported:
    """Write the whole study to a new folder; `raw` leaves cells alone that a spreadsheet would run."""
    with _all_or_nothing(folder) as partial, store.read() as tx:
        _tables(tx, partial, names=names)
        _frames(tx, partial, names=names, raw=raw)
        losses = _corpora(tx, partial, names=names)
        counts = _manifest(tx, partial, names=names, raw=raw)
        n_files = sum(1 for file in partial.rglob("*") if file.is_file())
    return Exported(folder, n_files, counts, losses)


def _tables(tx: Tx, folder: Path, *, names: bool) -> None:
    (folder / "tables").mkdir()
    for name in dump.table_names():
        with (folder / "tables" / f"{name}.jsonl").open("w", encoding="utf-8", newline="") as stream:
            stream.writelines(f"{to_text(row)}\n" for row in dump.rows(tx, name, names=names))


def _frames(tx: Tx, folder: Path, *, names: bool, raw: bool) -> None:
    raters = {each.person_id: each.name if names else each.pseudonym for each in people.all(tx)}
    whole = {
        "items": tables.item_frame(tx),
        "judgments": tables.judgment_frame(tx, names=names),
        "raters": tables.rater_frame(tx, names=names),
        "gold": tables.gold_frame(tx),
        "payments": tables.payment_frame(tx, raters),
        "decisions": tables.decision_frame(tx),
        "adjudications": tables.adjudication_frame(tx, raters),
    }
    if has_suggestions(tx):
        whole["suggestions"] = suggestion_frame(tx, raters)
    for name, frame in whole.items():
        write_table(frame, folder / f"{name}.csv", raw=raw)
    by_job = {job.name: _work(whole["judgments"], job.name) for job in jobs.all(tx)}
    _job_folders(by_job, folder, raw=raw)
    _write_json(folder / "agreement.json", _agreements(tx, by_job, names=names))
    _write_json(folder / "costs.json", {job.name: costs(tx, job.job_id) for job in jobs.all(tx)})
    _write_json(folder / "protocol.json", {job.name: whole_protocol(tx, job) for job in jobs.all(tx)})


def _job_folders(by_job: Mapping[str, pl.DataFrame], folder: Path, *, raw: bool) -> None:
    """The tables of each job in a numbered folder, and which job that is."""
    for number, judged in enumerate(by_job.values(), 1):
        job_folder = folder / "jobs" / f"{number:02d}"
        job_folder.mkdir(parents=True)
        write_table(tables.rating_frame(judged), job_folder / "ratings.csv", raw=raw)
        write_table(tables.label_frame(judged), job_folder / "labels.csv", raw=raw)
    _write_json(folder / "jobs.json", [{"folder": f"jobs/{n:02d}", "name": name} for n, name in enumerate(by_job, 1)])


def _agreements(tx: Tx, by_job: Mapping[str, pl.DataFrame], *, names: bool) -> dict[str, Json]:
    """The agreement in each job, on edits where essays were marked."""
    agreed: dict[str, Json] = {}
    for job in jobs.all(tx):
        if job.task == MARKING:
            agreed[job.name] = _edit_agreement(marked_in(tx, job.job_id, names=names))
        else:
            agreed[job.name] = _agreement(by_job[job.name], TASKS[job.task], redundancy_of([job]))
    return agreed


def _work(judged: pl.DataFrame, job: str) -> pl.DataFrame:
    """A job's judgments by people on work units; programs are never mixed in, practice and gold are no result."""
    is_work = (pl.col("role") == "work") & (pl.col("kind") != "program")
    return judged.filter((pl.col("job") == job) & is_work)


def _agreement(rows: pl.DataFrame, task: Task, least: int) -> Json:
    """How far raters agree; where asking stopped early, on the judgments that every item was to have."""
    try:
        judged = read_judgments(rows.select("item", "rater", "label", "status", "at"))
        judged = equal_in_number(judged, least)
        merged = merged_by(task)
        return agreement(with_labels(judged, merged) if merged else judged).to_dict()
    except GraterError as error:
        return {"reason": str(error)}


def _edit_agreement(essays: Sequence[Essay]) -> Json:
    """How far annotators agree on where errors are, of what kind, and how to mend them."""
    try:
        return edit_agreement(essays).to_dict()
    except GraterError as error:
        return {"reason": str(error)}


def _corpora(tx: Tx, folder: Path, *, names: bool) -> int:
    """The essays in each format; what a format cannot hold is written down beside them."""
    essays = list(marked_essays(tx, names=names))
    if not essays:
        return 0
    place = folder / "essays"
    place.mkdir()
    lost: list[Json] = []
    for name, format_name in CORPORA.items():

        def report(loss: Loss, format_name: str = format_name) -> None:
            lost.append({"format": format_name, **asdict(loss)})

        write_corpus(essays, place / name, report, format_name=format_name)
    with (place / "losses.jsonl").open("w", encoding="utf-8", newline="") as stream:
        stream.writelines(f"{to_text(loss)}\n" for loss in lost)
    return len(lost)


def _manifest(tx: Tx, folder: Path, *, names: bool, raw: bool) -> dict[str, int]:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    tables = {name: _n_lines(folder / "tables" / f"{name}.jsonl") for name in dump.table_names()}
    listed: dict[str, Json] = {
        file.relative_to(folder).as_posix(): {"sha256": sha256(file), "bytes": file.stat().st_size} for file in files
    }
    manifest: dict[str, Json] = {
        "format": FORMAT,
        "grater": __version__,
        "schema": VERSION,
        "names": names,
        "raw": raw,
        "study": dump.meta_values(tx),
        "last_event": events.latest(tx),
        "counts": tables,
        "files": listed,
    }
    _write_json(folder / "manifest.json", manifest)
    return {name: n for name, n in tables.items() if n}


def sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _n_lines(file: Path) -> int:
    with file.open("rb") as stream:
        return sum(1 for _ in stream)


def _write_json(path: Path, value: Json) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8", newline="")


@contextmanager
def _all_or_nothing(folder: Path) -> Iterator[Path]:
    """A folder to write to that takes its name only when it is whole; one that is in use is refused."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder}: expected a new or empty folder to write to, found one that is in use")
    with complaining(folder):
        partial = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
        try:
            yield partial
            partial.chmod(0o755)
            partial.replace(folder)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
