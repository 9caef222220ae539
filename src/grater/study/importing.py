"""Files into a study: essays in every corpus format, and tables of items, decisions, judgments, gold and practice.

All files of one call come in together or not at all.  The very same file again is no error and changes nothing; an
essay that is there with another text is an error that names it; so is a system that decides otherwise than it did.

Judgments that were made elsewhere become a closed job: one unit per item, one submission per judgment.  Raters become
people of the study who cannot log in.  Items that the study does not have are kept by their names, with no place in
an essay.  A judgment keeps its status, seconds, time, flags, alternatives, confidence and payload.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time
from math import isfinite, isnan
from pathlib import Path, PurePath
from typing import Any, Literal

from grater.corpora.formats import parse_json
from grater.errors import BadInput, Problem, Problems
from grater.model import Decision, Essay, Item, Json, Span
from grater.store import Store, Tx, decisions, dump, essays, items, jobs, people, schema, slots, submissions, units
from grater.store.clock import from_iso
from grater.store.ids import body_hash, new_id
from grater.store.items import StudyItem
from grater.store.units import NewUnit
from grater.study.gold import add_gold
from grater.study.systems import require_same_decisions
from grater.study.texts import named_essays
from grater.tables import Judgments, Table, read_decisions, read_gold, read_items, read_judgments
from grater.tables.judgments import ANY
from grater.tasks import TASKS
from grater.tasks.task import Answer

GROUP_ROLES = {"expert": "annotator", "crowd": "worker", "writer": "worker", "program": "worker"}


def add_judgments(tx: Tx, table: Judgments, *, job: str, task: str) -> int:
    """Add every judgment of a table under a new job; return the count."""
    rows = list(table.frame.iter_rows(named=True))
    by_item: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_item[str(row["item"])].append(row)
    ids = _item_ids(tx, list(by_item))
    most = max(len(each) for each in by_item.values())
    source = PurePath(table.name).name
    made = jobs.add(tx, name=job, task=TASKS[task].name, judgments=most, options={"imported": source})
    places = items.of_ids(tx, list(ids.values()))
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
    slots.fill_all(tx, made.job_id)
    jobs.set_state(tx, made.job_id, "closed")
    return len(rows)


def _unit(place: StudyItem, rows: Sequence[Mapping[str, Any]]) -> NewUnit:
    essay_id = place.item.essay_id if place.item else None
    wanted = sum(_status(row) == "valid" for row in rows)
    return NewUnit(((place.item_id, {}),), essay_id, stage=str(rows[0].get("stage") or ""), wanted=wanted)


def _item_ids(tx: Tx, names: Sequence[str]) -> dict[str, str]:
    known = items.by_name(tx, names)
    items.add_all(tx, [StudyItem(name, None) for name in names if name not in known])
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
    """The cells of a row that say something, as JSON; dates and other kinds of a table become their words."""
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


PLACE = ("item", "essay", "start", "end", "kind")


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of one file: rows that are new, rows that were there."""

    name: str
    kind: str
    new: int
    known: int = 0

    def to_dict(self) -> dict[str, Json]:
        return {"file": self.name, "kind": self.kind, "new": self.new, "known": self.known}


def import_files(
    store: Store,
    *,
    corpora: Sequence[Path] = (),
    items: Sequence[Path] = (),
    decisions: Sequence[Path] = (),
    judgments: Sequence[Path] = (),
    gold: Sequence[Path] = (),
    practice: Sequence[Path] = (),
    format_name: str | None = None,
    job: str | None = None,
    task: str = "error",
    columns: Mapping[str, str] | None = None,
    actor: str | None = None,
) -> list[Imported]:
    """Bring files in, all or nothing; judgments, gold and practice go to the named `job`, made for judgments."""
    asked = [
        *((path, "corpus", lambda tx, path, key: _corpus(tx, path, key, format_name)) for path in corpora),
        *((path, "items", lambda tx, path, _: _items(tx, path, columns)) for path in items),
        *((path, "decisions", lambda tx, path, _: _decisions(tx, path, columns)) for path in decisions),
        *((path, "judgments", lambda tx, path, _: _judgments(tx, path, columns, job, task)) for path in judgments),
        *((path, "gold", lambda tx, path, _: _gold(tx, path, columns, job, "gold")) for path in gold),
        *((path, "practice", lambda tx, path, _: _gold(tx, path, columns, job, "practice")) for path in practice),
    ]
    with store.write() as tx:
        return [_one(tx, path, kind, bring, actor) for path, kind, bring in asked]


def _one(
    tx: Tx, path: Path, kind: str, bring: Callable[[Tx, Path, str], tuple[int, int]], actor: str | None
) -> Imported:
    sha256 = fingerprint(path)
    earlier = dump.find_import(tx, kind=kind, sha256=sha256)
    if earlier is not None:
        return Imported(str(path), kind, 0, earlier.n_rows)
    import_id = dump.start_import(tx, kind=kind, name=path.name, sha256=sha256)
    n_new, n_known = bring(tx, path, import_id)
    dump.finish_import(tx, import_id, n_rows=n_new + n_known, actor=actor)
    return Imported(str(path), kind, n_new, n_known)


def fingerprint(path: Path) -> str:
    """A hash of a file, or of a folder's files with their names."""
    total = hashlib.sha256()
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file():
            total.update(f"{file.relative_to(path) if path.is_dir() else ''}\0".encode())
            with file.open("rb") as stream:
                total.update(hashlib.file_digest(stream, "sha256").digest())
    return total.hexdigest()


def _corpus(tx: Tx, path: Path, import_id: str, format_name: str | None) -> tuple[int, int]:
    return essays.add_all(tx, named_essays(path, format_name), import_id=import_id)


def _items(tx: Tx, path: Path, columns: Mapping[str, str] | None) -> tuple[int, int]:
    table = read_items(path, columns=columns)
    texts = {essay.essay_id: essay for essay in essays.of_ids(tx, _column(table, "essay"))}
    n_new = items.add_all(tx, _placed(table, texts))
    return n_new, len(table) - n_new


def _placed(table: Table, by_id: Mapping[str, Essay]) -> Iterator[StudyItem]:
    """The items of a table, each held against its essay: inside the text, and on the words that it names."""
    problems = Problems(table.name)
    for number, row in enumerate(table.frame.iter_rows(named=True), 2):
        item = Item(str(row["essay"]), Span(row["start"], row["end"]), str(row["kind"]))
        complaint = _complaint(item, row, by_id.get(item.essay_id))
        if complaint:
            problems.add(complaint, line=number)
            continue
        payload = as_json({name: value for name, value in row.items() if name not in PLACE})
        yield items.of(item, outside_id=str(row["item"]), payload=payload)
    problems.done()


def _complaint(item: Item, row: Mapping[str, Any], essay: Essay | None) -> str:
    if essay is None:
        return f"expected an essay of the study, found {item.essay_id!r}; import its corpus first"
    if not item.span.start <= item.span.end <= len(essay.text):
        return f"expected a span inside the essay ({len(essay.text)} characters), found {item.span}"
    target = row.get("target")
    if target is not None and target != item.span.of(essay.text):
        return f"expected {target!r} at {item.span.start}-{item.span.end}, found {item.span.of(essay.text)!r}"
    return ""


def _decisions(tx: Tx, path: Path, columns: Mapping[str, str] | None) -> tuple[int, int]:
    table = read_decisions(path, columns=columns)
    ids = items.by_name(tx, _column(table, "item"))
    _require_known(table.name, _column(table, "item"), ids)
    require_same_decisions(tx, _decided(table, ids))
    n_new = decisions.add_all(tx, _decided(table, ids))
    return n_new, len(table) - n_new


def _decided(table: Table, ids: Mapping[str, str]) -> Iterator[Decision]:
    for row in table.frame.iter_rows(named=True):
        yield Decision(
            item_id=ids[str(row["item"])],
            system=row["system"],
            flagged=row["flagged"],
            score=row.get("score"),
            type=row.get("type") or "",
            suggestion=row.get("suggestion"),
        )


def _judgments(tx: Tx, path: Path, columns: Mapping[str, str] | None, job: str | None, task: str) -> tuple[int, int]:
    table = read_judgments(path, columns=columns, status=(ANY,))
    return add_judgments(tx, table, job=job or path.stem, task=task), 0


def _gold(
    tx: Tx, path: Path, columns: Mapping[str, str] | None, job: str | None, role: Literal["gold", "practice"]
) -> tuple[int, int]:
    table = read_gold(path, columns=columns)
    ids = items.by_name(tx, _column(table, "item"))
    _require_known(table.name, _column(table, "item"), ids)
    return add_gold(tx, table, ids, job=job, role=role)


def _column(table: Table, name: str) -> list[str]:
    return [str(value) for value in table.frame[name].to_list()]


def _require_known(name: str, wanted: Sequence[str], known: Mapping[str, str]) -> None:
    problems = Problems(name)
    for number, each in enumerate(wanted, 2):
        if each not in known:
            problems.add(f"expected an item of the study, found {each!r}; import its items first", line=number)
    problems.done()


KINDS = ("corpus", "items", "decisions", "judgments", "gold", "practice")
