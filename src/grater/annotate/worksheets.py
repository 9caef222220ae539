"""Judgments that are made outside the server: worksheets out of a study, judgments into it.

A sheet has the units of a job, or the items of a sample that nobody has judged (`grater.annotate.tasks.worksheet`).

Judgments that were made elsewhere become a closed job: one unit per item, one submission per judgment.  Those for a
job that is there join it, be they a second rater's worksheet or of a job that others do on the server: they fill free
slots, and add slots where none is free.  Raters become people of the study who cannot log in.  Items that the study
does not have are kept by their names, with no place in an essay.  A judgment keeps its status, seconds, time, flags,
alternatives, confidence and payload; its body is its row, every cell that says something.  Rows go to the store in
slices, in the order of their units: memory is that of the table and one slice.  All of it happens in one transaction,
under the constraints of the schema.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time
from itertools import count, groupby
from math import isfinite, isnan
from pathlib import Path, PurePath
from typing import Any

import polars as pl
from sqlalchemy import func, select

from grater.annotate import content, jobs, people, samples, units
from grater.annotate.jobs import Job
from grater.annotate.judgments import GROUP
from grater.annotate.people import Person
from grater.annotate.store import Store, events, schema
from grater.annotate.store.transaction import Tx, body_hash, chunks, from_iso, new_id
from grater.annotate.submissions import store_all
from grater.annotate.tables import judged_items
from grater.annotate.tasks import TASKS, Answer
from grater.annotate.tasks.task import SUGGESTION, Unit, UnitItem
from grater.annotate.tasks.worksheet import VERIFY, sheet_of
from grater.annotate.terms import IMPORTED
from grater.annotate.units import NewUnit
from grater.corpora.formats import parse_json
from grater.errors import BadInput, Problem, Problems, UsageError
from grater.measure.sampling.draw import to_judge
from grater.model import ADJUDICATED, PROGRAM, Json, is_adjudicated
from grater.tables import Judgments
from grater.tables import write_worksheet as write_sheet
from grater.tables.read import require_raters
from grater.tables.schema import VALID
from grater.tables.worksheets import Worksheet

NOT_IN_A_NAME = re.compile(r"[^\w.-]+")


def write_worksheet(
    store: Store, path: Path, *, job: str = "", sample: str = "", task: str = "error", raters: Sequence[str] = ()
) -> dict[Path, int]:
    """Write the units of a job, or the items of a sample that nobody has judged, as a sheet, .csv or .xlsx.

    With raters there is a sheet for each, `SHEET-NAME.xlsx`: what the job has assigned to them, or else all of it,
    without what they have judged.  Returns the number of items of every file.
    """
    if bool(job) == bool(sample):
        raise UsageError(f"expected a job or a sample for the worksheet, found {'both' if job else 'none'}")
    sheets: dict[Path, Worksheet] = {}
    with store.read() as tx:
        asked = _units_of_job(tx, job) if job else _units_of_sample(tx, sample, task)
        made = jobs.named(tx, job) if job else None
        judged = judged_labels(tx, made.job_id) if made else {}
        assigned = jobs.assignments_of(tx, made.job_id) if made else []
        for rater in raters or ("",):
            person = people.by_name(tx, rater) if rater else None
            mine = {each.unit_id for each in assigned if person and each.person_id == person.person_id}
            left = [
                (name, unit)
                for name, unit in asked
                if not person
                or ((unit.unit_id, person.person_id) not in judged and unit.unit_id in (mine or (unit.unit_id,)))
            ]
            if not left:
                raise UsageError(
                    f"no worksheet is written: nothing is left to judge{f' for {rater}' if rater else ''}"
                )
            file = path if len(raters) < 2 else path.with_stem(f"{path.stem}-{NOT_IN_A_NAME.sub('_', rater)}")
            sheets[file] = sheet_of(TASKS[made.task if made else task], left, rater=rater)
    for file, sheet in sheets.items():
        write_sheet(sheet, file)
    return {file: len(sheet) for file, sheet in sheets.items()}


def _units_of_job(tx: Tx, name: str) -> list[tuple[str, Unit]]:
    """The work units of one item each whose essay the study has, by the names of their items."""
    placed = [row for row in units.of_one_item(tx, jobs.named(tx, name).job_id) if row.essay_id]
    items = content.items_of(tx, [row.item_id for row in placed])
    return [(items[row.item_id].outside_id or row.item_id, units.get(tx, row.unit_id).unit) for row in placed]


def _units_of_sample(tx: Tx, name: str, task: str) -> list[tuple[str, Unit]]:
    sample = samples.named(tx, name)
    items = content.items_of(tx, to_judge(sample, judged_items(tx)))
    essays = {
        each.essay_id: each for each in content.essays_of(tx, [i.item.essay_id for i in items.values() if i.item])
    }
    system = sample.meta.systems[-1] if task == VERIFY and sample.meta and sample.meta.systems else None
    decided = content.all_decisions(tx, system=system) if system else ()
    words = {each.item_id: each.suggestion for each in decided if each.suggestion}
    asked = []
    for item_id, each in items.items():
        if each.item and (task != VERIFY or item_id in words):
            payload = {SUGGESTION: words[item_id]} if item_id in words else {}
            unit = Unit(item_id, essays[each.item.essay_id], (UnitItem(each.item, payload),))
            asked.append((each.outside_id or item_id, unit))
    return asked


GROUP_ROLES = {"expert": "annotator", "annotator": "annotator"}
"""What people of a group become in a study; those of any other group are workers."""

UNITS_AT_A_TIME = 1_000

STATUS, PLACE = "_status", "_place"
"""Columns added to those of the table: the status that the study gives a judgment, and the number of its row."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A row of the table, and the unit, item, status and slot of its judgment."""

    row: Mapping[str, Any]
    unit_id: str
    item_id: str
    status: str
    n: int | None


def add_judgments(tx: Tx, table: Judgments, *, job: str, task: str) -> tuple[int, int]:
    """Add the judgments of a table to a job, new or not; return how many are new and how many were there."""
    earlier = next((each for each in jobs.all(tx) if each.name == job), None)
    if earlier is not None:
        return _join(tx, table, earlier)
    most = max(table.frame.group_by("item").len()["len"])
    options = {IMPORTED: PurePath(table.name).name}
    made = jobs.add(tx, name=job, task=TASKS[task].name, judgments=most, options=options)
    n_new = _add_units(tx, made, table.frame, _people(tx, table.frame))
    jobs.set_state(tx, made.job_id, "closed")
    return n_new, 0


def _people(tx: Tx, frame: pl.DataFrame) -> dict[str, str]:
    """People by the names of raters; somebody who is in the study already is the same person."""
    first = frame.unique("rater", keep="first", maintain_order=True)
    names = [str(name) for name in first["rater"].to_list()]
    groups = first["group"].to_list() if "group" in frame.columns else [None] * len(names)
    by_name, systems = {each.name: each.person_id for each in people.all(tx)}, set(content.system_names(tx))
    for name, group in zip(names, groups, strict=True):
        if name not in by_name:
            implied = ADJUDICATED if is_adjudicated(name) else PROGRAM if name in systems else ""
            by_name[name] = _new_rater(tx, name, str(group or implied)).person_id
    return by_name


def _add_units(tx: Tx, job: Job, frame: pl.DataFrame, raters: Mapping[str, str]) -> int:
    """Judgments of items that the job does not ask about yet, a unit for each item; only valid ones have a slot."""
    first = pl.col(PLACE).min().over("item")
    together = frame.with_columns(_status(frame).alias(STATUS)).with_row_index(PLACE).sort(first, PLACE).drop(PLACE)
    of_items = ([*rows] for _, rows in groupby(together.iter_rows(named=True), key=lambda row: str(row["item"])))
    for portion in chunks(of_items, UNITS_AT_A_TIME):
        places = _places(tx, [str(rows[0]["item"]) for rows in portion])
        new = [
            NewUnit(
                ((item_id, {}),),
                essay_id,
                stage=str(rows[0].get("stage") or ""),
                wanted=sum(row[STATUS] == VALID for row in rows),
            )
            for rows, (item_id, essay_id) in zip(portion, places, strict=True)
        ]
        unit_ids, judged = units.add_all(tx, job.job_id, new, state="filled"), []
        for rows, unit_id, (item_id, _) in zip(portion, unit_ids, places, strict=True):
            slots = count(1)
            for row in rows:
                status = row.pop(STATUS)
                judged.append(Judged(row, unit_id, item_id, status, next(slots) if status == VALID else None))
        _store(tx, job, judged, raters)
    return frame.height


def _join(tx: Tx, table: Judgments, job: Job) -> tuple[int, int]:
    """Judgments for a job that is there.

    One that its rater has made already is known; another label for it is a problem, and so is an item that the job
    does not ask about, unless the job itself was imported.
    """
    require_raters(table, "further judgments of a job")
    units.wait_for_everybody(tx, job.job_id)
    is_imported, labels = IMPORTED in job.options, TASKS[job.task].labels
    frame, problems = table.frame.with_columns(_status(table.frame).alias(STATUS)), Problems(table.name)
    ids = content.items_by_name(tx, frame["item"].cast(pl.String).to_list())
    unit_of = {row.item_id: row.unit_id for row in units.of_one_item(tx, job.job_id)}
    is_new = pl.Series([ids.get(str(name)) not in unit_of for name in frame["item"].to_list()], dtype=pl.Boolean)
    if not is_imported:
        for name in frame.filter(is_new)["item"].unique(maintain_order=True):
            problems.add(f"expected an item of the job {job.name}, found {name!r}; name another `job`")
    raters = _people(tx, frame)
    before, slots = judged_labels(tx, job.job_id), _slots(tx, job.job_id)
    own_trust = schema.trust.c.job_id == job.job_id
    out = {row.person_id for row in tx.all(select(schema.trust).where(own_trust, schema.trust.c.state == "ejected"))}
    judged: list[Judged] = []
    filled: dict[str, list[int]] = {}
    n_known = 0
    for row in frame.iter_rows(named=True):
        item_id = ids.get(str(row["item"]), "")
        if item_id not in unit_of:
            continue
        unit_id, person_id, label = unit_of[item_id], raters[str(row["rater"])], str(row["label"])
        earlier = before.get((unit_id, person_id))
        if earlier == label:
            n_known += 1
        elif earlier is not None:
            found = f"found {label!r}; delete the row, or change the judgment on the server"
            problems.add(f"{row['rater']} has judged item {row['item']!r} as {earlier!r} already, {found}")
        elif not is_imported and labels and label not in labels:
            problems.add(f"item {row['item']!r}: expected one of {', '.join(labels)}, found {label!r}")
        else:
            status, n = row.pop(STATUS), None
            status = "untrusted" if status == VALID and person_id in out else status
            if status == VALID:
                own = slots[unit_id]
                n = min((n for n, state in own.items() if state == "free"), default=max(own, default=0) + 1)
                own[n] = "filled"
                filled.setdefault(unit_id, []).append(n)
            if status in (VALID, "untrusted"):
                before[unit_id, person_id] = label
            judged.append(Judged(row, unit_id, item_id, status, n))
    problems.done()
    _fill_slots(tx, job, slots, filled)
    _store(tx, job, judged, raters)
    n_new = len(judged) + _add_units(tx, job, frame.filter(is_new), raters)
    if is_imported:
        wanted = tx.value(select(func.max(schema.units.c.wanted)).where(schema.units.c.job_id == job.job_id))
        tx.execute(
            schema.jobs.update().where(schema.jobs.c.job_id == job.job_id).values(judgments=max(wanted or 1, 1))
        )
    else:
        units.settle_slots(tx, job, filled)
        units.log_finished(tx, filled)
    return n_new, n_known


def judged_labels(tx: Tx, job_id: str) -> dict[tuple[str, str], str]:
    """The labels of a job's judgments that count, by unit and person."""
    own = schema.submissions.c
    query = select(own.unit_id, own.person_id, schema.judgments.c.label).join(
        schema.judgments, schema.judgments.c.submission_id == own.submission_id
    )
    rows = tx.all(query.where(own.job_id == job_id, own.status.in_((VALID, "untrusted"))))
    return {(row.unit_id, row.person_id): row.label for row in rows}


def _slots(tx: Tx, job_id: str) -> dict[str, dict[int, str]]:
    slots: dict[str, dict[int, str]] = defaultdict(dict)
    for row in tx.all(select(schema.slots).where(schema.slots.c.job_id == job_id)):
        slots[row.unit_id][row.n] = row.state
    return slots


def _fill_slots(
    tx: Tx, job: Job, slots: Mapping[str, Mapping[int, str]], filled: Mapping[str, Sequence[int]]
) -> None:
    """Mark slots as filled, new ones too; the event of the submissions that fill them says so."""
    for some in chunks(filled):
        own_units = schema.units.c.unit_id.in_(some)
        there = {(row.unit_id, row.n) for row in tx.all(select(schema.slots).where(schema.slots.c.unit_id.in_(some)))}
        rows = []
        for unit in tx.all(select(schema.units).where(own_units)):
            own = {"unit_id": unit.unit_id, "job_id": job.job_id, "batch": unit.batch, "shuffle": unit.shuffle}
            for n in filled[unit.unit_id]:
                if (unit.unit_id, n) in there:
                    units.set_slot(tx, unit.unit_id, n, "filled")
                else:
                    rows.append({**own, "n": n, "state": "filled"})
            wanted = sum(state != "closed" for state in slots[unit.unit_id].values())
            if wanted != unit.wanted:
                tx.execute(schema.units.update().where(schema.units.c.unit_id == unit.unit_id).values(wanted=wanted))
        tx.insert(schema.slots, rows)


def _new_rater(tx: Tx, name: str, group: str) -> Person:
    """Somebody without a password; the payload has a group that role and kind do not imply."""
    payload: dict[str, Json] = {GROUP: group} if group in (ADJUDICATED, "writer") else {}
    kind = PROGRAM if group == PROGRAM else "human"
    return people.add(tx, name=name, role=GROUP_ROLES.get(group, "worker"), kind=kind, payload=payload)


def _status(frame: pl.DataFrame) -> pl.Expr:
    """A status that the study does not know is that of a judgment which does not count."""
    if "status" not in frame.columns:
        return pl.lit(VALID)
    given = pl.col("status").cast(pl.String)
    is_known = given.is_in(schema.STATUSES)
    is_blank = given.is_null() | (given == "")
    return pl.when(is_blank).then(pl.lit(VALID)).when(is_known).then(given).otherwise(pl.lit("withdrawn"))


def _places(tx: Tx, names: Sequence[str]) -> list[tuple[str, str | None]]:
    """Ids and essays of items; those that the study does not have are added."""
    known = content.item_places(tx, names)
    tx.insert(schema.items, [{"item_id": name} for name in names if name not in known])
    return [known.get(name, (name, None)) for name in names]


def _store(tx: Tx, job: Job, judged: Iterable[Judged], raters: Mapping[str, str]) -> None:
    """Store submissions of one judgment each, with an event for each portion; a body is its row."""
    for portion in chunks(judged):
        sent = [_submission(tx, job, each, raters) for each in portion]
        store_all(tx, [(row, [_answer(each)]) for row, each in zip(sent, portion, strict=True)])
        names = ("unit_id", "person_id", "status", "n", "body_hash")
        stored = {str(row["submission_id"]): [row[name] for name in names] for row in sent}
        events.write(tx, None, "submissions.imported", job.job_id, {"stored": stored})


def _submission(tx: Tx, job: Job, each: Judged, raters: Mapping[str, str]) -> dict[str, Any]:
    body = as_json(each.row)
    return {
        "submission_id": new_id(),
        "job_id": job.job_id,
        "unit_id": each.unit_id,
        "n": each.n,
        "person_id": raters[str(each.row["rater"])],
        "body": body,
        "body_hash": body_hash(body),
        "seconds": each.row.get("seconds"),
        "at": _time(each.row.get("at"), tx.now),
        "status": each.status,
    }


def _answer(each: Judged) -> Answer:
    confidence = each.row.get("confidence")
    return Answer(
        each.item_id,
        str(each.row["label"]),
        confidence="" if confidence is None else f"{confidence:g}",
        flags=_entries(each.row.get("flags")),
        alternatives=_entries(each.row.get("alternatives")),
        payload=_payload(each.row),
    )


def _entries(cell: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (cell or "").split("|") if part.strip())


def _payload(row: Mapping[str, Any]) -> dict[str, Json]:
    text = row.get("payload") or "{}"
    try:
        payload = parse_json(text)
    except ValueError:
        payload = None
    if not isinstance(payload, dict):
        message = f"payload of item {row['item']!r}: expected a JSON object, found {text[:60]!r}"
        raise BadInput(Problem("judgments", message))
    return payload


def as_json(row: Mapping[str, Any]) -> dict[str, Json]:
    """The non-empty cells of a row, as JSON; dates and other types of a table become text."""
    return {name: _cell(value) for name, value in row.items() if not _is_blank(value)}


def _is_blank(value: object) -> bool:
    return value is None or (isinstance(value, float) and isnan(value))


def _cell(value: Any) -> Json:
    if isinstance(value, bool | int | str) or (isinstance(value, float) and isfinite(value)):
        return value
    if isinstance(value, Mapping):
        return as_json(value)
    if isinstance(value, list):
        return [None if _is_blank(each) else _cell(each) for each in value]
    return value.isoformat() if isinstance(value, date | time) else str(value)


def _time(text: object, now: int) -> int:
    """When it was judged, where the table says so in a form that we can read."""
    try:
        return from_iso(str(text)) if text else now
    except ValueError:
        return now
