"""Judgments into a study one row at a time: the plain way, which the columns of `study.importing` are held to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grater.annotate import content, jobs, people, units
from grater.annotate.content import StudyItem
from grater.annotate.importing import GROUP_ROLES, as_json
from grater.annotate.store import Tx, schema, submissions
from grater.annotate.store.clock import from_iso
from grater.annotate.store.ids import body_hash, new_id
from grater.annotate.tasks import TASKS
from grater.annotate.tasks.task import Answer
from grater.annotate.units import NewUnit
from grater.corpora.formats import parse_json
from grater.model import Json
from grater.tables import Judgments


def add_judgments(tx: Tx, table: Judgments, *, job: str, task: str) -> int:
    """Add every judgment of a table under a new job; return the count."""
    rows = list(table.frame.iter_rows(named=True))
    by_item: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_item[str(row["item"])].append(row)
    ids = _item_ids(tx, list(by_item))
    most = max(len(each) for each in by_item.values())
    made = jobs.add(tx, name=job, task=TASKS[task].name, judgments=most, options={"imported": table.name})
    places = content.items_of(tx, list(ids.values()))
    new = [_unit(places[ids[name]], each) for name, each in by_item.items()]
    raters = _raters(tx, rows)
    units_with_rows = zip(units.add_all(tx, made.job_id, new), by_item.items(), strict=True)
    submissions.store_all(
        tx,
        (
            _submission(tx.now, made.job_id, unit_id, ids[name], raters[str(judged["rater"])], judged, n)
            for unit_id, (name, each) in units_with_rows
            for judged, n in _slotted(each)
        ),
    )
    tx.execute(schema.slots.update().where(schema.slots.c.job_id == made.job_id).values(state="filled"))
    jobs.set_state(tx, made.job_id, "closed")
    return len(rows)


def _unit(place: StudyItem, rows: Sequence[Mapping[str, Any]]) -> NewUnit:
    essay_id = place.item.essay_id if place.item else None
    wanted = sum(_status(row) == "valid" for row in rows)
    return NewUnit(((place.item_id, {}),), essay_id, stage=str(rows[0].get("stage") or ""), wanted=wanted)


def _item_ids(tx: Tx, names: Sequence[str]) -> dict[str, str]:
    known = content.items_by_name(tx, names)
    content.add_items(tx, [StudyItem(name, None) for name in names if name not in known])
    return {name: known.get(name, name) for name in names}


def _raters(tx: Tx, rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """People by the names of raters; somebody who is in the study already is the same person."""
    by_name: dict[str, str] = {}
    for row in rows:
        name, group = str(row["rater"]), row.get("group") or "crowd"
        if name not in by_name:
            role = GROUP_ROLES.get(group, "worker")
            kind = "program" if group == "program" else "human"
            person = people.by_name(tx, name) or people.add(tx, name=name, role=role, kind=kind)
            by_name[name] = person.person_id
    return by_name


def _slotted(rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], int | None]]:
    """Each judgment with its slot; only those that are valid have one."""
    n = 0
    for row in rows:
        n += _status(row) == "valid"
        yield row, n if _status(row) == "valid" else None


def _status(row: Mapping[str, Any]) -> str:
    status = row.get("status") or "valid"
    return status if status in schema.STATUSES else "withdrawn"


def _submission(
    now: int, job_id: str, unit_id: str, item_id: str, person_id: str, row: Mapping[str, Any], n: int | None
) -> tuple[dict[str, Any], list[Answer]]:
    body = as_json(row)
    answer = Answer(
        item_id,
        str(row["label"]),
        "" if row.get("confidence") is None else f"{row['confidence']:g}",
        _entries(row.get("flags")),
        _entries(row.get("alternatives")),
        _payload(row),
    )
    stored = {
        "submission_id": new_id(),
        "job_id": job_id,
        "unit_id": unit_id,
        "n": n,
        "person_id": person_id,
        "lease_id": None,
        "body": body,
        "body_hash": body_hash(body),
        "seconds": row.get("seconds"),
        "at": _time(row.get("at"), now),
        "status": _status(row),
    }
    return stored, [answer]


def _entries(cell: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in cell.split("|") if part.strip()) if cell else ()


def _payload(row: Mapping[str, Any]) -> dict[str, Json]:
    payload = parse_json(row.get("payload") or "{}")
    assert isinstance(payload, dict)
    return payload


def _time(text: object, now: int) -> int:
    """When it was judged, where the table says so in a form that we can read."""
    try:
        return from_iso(str(text)) if text else now
    except ValueError:
        return now
