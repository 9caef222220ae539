"""The tables of a study in the form that statistics take: data frames, one query each.

Judgments are verdicts. A task maps its labels to error, ok and unknown; tasks without such a map (cloze,
construction, marking) have no verdicts, and their jobs are left out. Programs are mixed with people only on request.
Decisions on items of a kind that nobody judged (such as gaps, if only prepositions were judged) are left out unless
that kind is requested.

If a job requested more judgments only where raters differed, `redundancy` is the number that every item was to have:
shares and agreement use the first judgments of each item, up to that number (`grater.tables.read`).

A study may have half a million judgments; a dict for each row would take ten times the memory of its columns.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import polars as pl
from sqlalchemy import ColumnElement, Integer, Select, Text, case, cast, func, select, type_coerce

from grater.annotate import content, gold, jobs, judgments
from grater.annotate.jobs import Job
from grater.annotate.judgments import PEOPLE, groups
from grater.annotate.store import Tx, schema
from grater.annotate.store.transaction import HOUR
from grater.annotate.tasks import TASKS, choice, usage, verify
from grater.annotate.tasks.task import OK
from grater.annotate.terms import terms_of
from grater.errors import UsageError
from grater.measure.evaluation.cases import own_work_sentence
from grater.model import EDIT, PROGRAM, Json
from grater.tables import (
    Judgments,
    Table,
    read_decisions,
    read_gold,
    read_items,
    read_judgments,
    with_confidence,
    without_flags,
)
from grater.tables.read import TYPE_OF_RATING
from grater.tables.schema import LIST_SEPARATOR

EXPERT, CROWD = "expert", "crowd"
MARK = "mark"
"""The kind of items that are annotators' marks: verdicts on them are about annotators, not about systems."""
CHOICE, USAGE = choice.TASK.name, usage.TASK.name
"""Raters chose between two words; what they prefer is not an error in itself, and a report shows it separately."""


@dataclass(frozen=True, slots=True)
class Counting:
    """Which judgments of people count: those without these flags and of at least this confidence (low 0, high 1).

    T&C 2008, 5.1: raters flag other errors near the place, which a detector of prepositions should not be blamed for.
    """

    drop_flags: tuple[str, ...] = ()
    min_confidence: float | None = None

    def of(self, judgments: Judgments | None) -> Judgments | None:
        """The judgments that count; None if there are none."""
        if judgments is None:
            return None
        kept = self._kept(judgments)
        return kept if len(kept) else None

    def require_some(self, judgments: Judgments | None) -> None:
        """Refuse a scheme that leaves nothing, and note what it leaves out."""
        if judgments is not None and not len(kept := self._kept(judgments)):
            reasons = ", ".join(reason for reason, n in kept.dropped.items() if n)
            raise UsageError(f"no judgment is left: {len(judgments):,} are left out ({reasons})")

    def _kept(self, judgments: Judgments) -> Judgments:
        kept = without_flags(judgments, self.drop_flags) if self.drop_flags else judgments
        return kept if self.min_confidence is None else with_confidence(kept, self.min_confidence)


ALL_COUNT = Counting()


@dataclass(frozen=True, slots=True, eq=False)
class StudyTables:
    """The tables of a study; a table without rows is None. Answers to hidden gold are only in `on_gold`.

    `programs` are verdicts of programs, unless these were requested to count among people; those of a model on its
    own corrections never count, have a separate name, and are listed in `own_work`.
    """

    name: str
    judgments: Judgments | None
    experts: Judgments | None
    decisions: Table | None
    items: Table | None
    gold: Table | None
    on_gold: Judgments | None = None
    hours: tuple[float, ...] = ()
    redundancy: int = 0
    programs: Judgments | None = None
    own_work: tuple[str, ...] = ()


def study_tables(
    tx: Tx,
    name: str,
    *,
    job_names: Collection[str] = (),
    kind: str = "",
    with_programs: bool = False,
    counting: Counting = ALL_COUNT,
) -> StudyTables:
    """Everything that can be evaluated, of one `kind` if named; crowd and experts apart where both judged."""
    chosen = _jobs(tx, job_names)
    given = verdicts_of(tx, chosen, (*PEOPLE, PROGRAM) if with_programs else PEOPLE)
    if not kind:
        given = given.join(place_columns(tx, (MARK,)), on="item", how="anti")
    kinds = {kind} if kind else kinds_of(tx, given["item"].unique().to_list())
    places, decided = place_columns(tx, kinds), decision_columns(tx, kinds)
    if kind:
        given = given.join(places, on="item", how="semi")
    by_programs = verdicts_of(tx, chosen, (PROGRAM,))
    own = _own_work(tx, by_programs, decided)
    if len(own):
        given = given.join(own, on=["item", "rater"], how="anti")
        by_programs = by_programs.join(own, on=["item", "rater"], how="left").with_columns(
            rater=pl.coalesce("by", "rater")
        )
        by_programs = by_programs.drop("by", "system")
    experts, crowd = given.filter(group=EXPERT), given.filter(pl.col("group") != EXPERT)
    both = bool(len(experts) and len(crowd))
    if counting != ALL_COUNT:
        counting.require_some(latest_judgments(given, f"judgments of {name}"))
    return StudyTables(
        name=name,
        judgments=counting.of(latest_judgments(crowd if both else given, f"judgments of {name}")),
        experts=counting.of(latest_judgments(experts, f"experts of {name}")) if both else None,
        decisions=read_decisions(decided, name="decisions") if len(decided) else None,
        items=read_items(places, name="items") if len(places) else None,
        gold=_gold(tx, chosen),
        on_gold=latest_judgments(verdicts_of(tx, chosen, PEOPLE, role="gold"), f"gold of {name}"),
        hours=hours_of(crowd if both else given),
        redundancy=redundancy_of(job for job in chosen if TASKS[job.task].verdict),
        programs=latest_judgments(by_programs, f"programs of {name}"),
        own_work=tuple(_own_work_notes(own, by_programs, given.filter(pl.col("group") != PROGRAM))),
    )


def _own_work(tx: Tx, by_programs: pl.DataFrame, decided: pl.DataFrame) -> pl.DataFrame:
    """Judgments of models on flags of systems that are the same model: item, rater, system, name of the pair."""
    behind, rows = content.models(tx), []
    for job in jobs.all(tx):
        program = job.name.removeprefix(f"{job.options.get('of')} by ")
        model = str(job.options.get(content.MODEL) or program)
        for system in (name for name, own in behind.items() if "of" in job.options and own == model):
            flags = decided.filter(pl.col("flagged").cast(pl.Boolean), system=system).select("item")
            judged = by_programs.filter(rater=program).select("item", "rater").unique().join(flags, on="item")
            name = f"{program} on its own corrections ({system})"
            rows.append(judged.with_columns(system=pl.lit(system), by=pl.lit(name)))
    return pl.concat(rows).unique(["item", "rater"]) if rows else pl.DataFrame()


def _own_work_notes(own: pl.DataFrame, by_programs: pl.DataFrame, by_people: pl.DataFrame) -> Iterator[str]:
    """A sentence for each model that judged itself, with people's verdicts on the same items."""
    for (program, system), rows in own.group_by("rater", "system", maintain_order=True) if len(own) else ():
        own_verdicts = by_programs.filter(pl.col("rater").is_in(rows["by"].unique().implode()))
        people = by_people.join(rows, on="item", how="semi")
        yield own_work_sentence(program, system, own_verdicts["label"], people["label"])


def judged_by_programs(tx: Tx, *, job_names: Collection[str] = ()) -> dict[str, int]:
    """The number of each program's verdicts, by name; they count only on request."""
    given = verdicts_of(tx, _jobs(tx, job_names), (PROGRAM,))
    return dict(given.group_by("rater").len().sort("rater").iter_rows()) if len(given) else {}


def redundancy_of(chosen: Iterable[Job]) -> int:
    """The judgments that every item of these jobs has, if some jobs requested more where raters differed; else 0."""
    rules = [terms_of(job.options).redundancy for job in chosen]
    return min((rule.least for rule in rules if rule and not rule.is_fixed), default=0)


def labels_of(
    tx: Tx, task: str, *, groups: Collection[str] = PEOPLE, job_names: Collection[str] = ()
) -> Judgments | None:
    """The judgments of these groups in the jobs of one task (only in these, if any are named), with its labels."""
    chosen = [job for job in jobs.all(tx) if job.task == task and (not job_names or job.name in job_names)]
    frames = [label_columns(tx, job.job_id) for job in chosen]
    given = pl.concat(frames).filter(pl.col("group").is_in(list(groups))) if frames else pl.DataFrame()
    return latest_judgments(given, task)


def all_verdicts(tx: Tx, name: str) -> Judgments | None:
    """People's judgments in all jobs whose task has verdicts, experts and crowd together."""
    return latest_judgments(verdicts_of(tx, jobs.all(tx), PEOPLE), name)


def latest_judgments(frame: pl.DataFrame, name: str) -> Judgments | None:
    """One judgment per rater and item: the latest, if a rater judged an item in several jobs."""
    if not len(frame):
        return None
    at = pl.from_epoch("ms", time_unit="ms").dt.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").alias("at")
    dated = frame.sort("ms", maintain_order=True).with_columns(at).drop("ms", "is_dated")
    texts = [pl.col(column).replace("", None) for column in ("confidence", "stage")]
    return read_judgments(dated.with_columns(*texts, pl.col("batch").cast(pl.String)), name=name, duplicates="last")


def verdicts_of(tx: Tx, chosen: Collection[Job], groups: Collection[str], *, role: str = "work") -> pl.DataFrame:
    """Every verdict of these jobs by raters of these groups."""
    frames = [_verdicts(tx, job, role) for job in chosen if TASKS[job.task].verdict]
    if not frames:
        return pl.DataFrame(schema={"item": pl.String, "group": pl.String, "ms": pl.Int64})
    return pl.concat(frames).filter(pl.col("group").is_in(list(groups)))


def _verdicts(tx: Tx, job: Job, role: str) -> pl.DataFrame:
    verdict = dict(TASKS[job.task].verdict or {})
    if job.task == verify.TASK.name and _asks_about_edits(tx, job):
        verdict[verify.BAD] = OK  # an edit that mends nothing is not right
    frame = label_columns(tx, job.job_id, role=role).filter(pl.col("label").is_in(list(verdict)))
    types = TYPE_OF_RATING if job.task == usage.TASK.name else {}
    return frame.with_columns(
        pl.col("label").replace_strict(verdict, return_dtype=pl.String),
        type=pl.col("label").replace_strict(types, default=None, return_dtype=pl.String),
        job=pl.lit(job.name),
    )


def _asks_about_edits(tx: Tx, job: Job) -> bool:
    items, asked = schema.items, schema.unit_items.join(schema.items).join(schema.units)
    query = select(items.c.item_id).select_from(asked).where(schema.units.c.job_id == job.job_id)
    return tx.first(query.where(items.c.kind == EDIT).limit(1)) is not None


def _jobs(tx: Tx, names: Collection[str]) -> list[Job]:
    """The named jobs; else all, but without preferences (`choice`) if other jobs asked about errors."""
    if not names:
        chosen = jobs.all(tx)
        asked = [job for job in chosen if job.task != CHOICE]
        return asked if any(TASKS[job.task].verdict for job in asked) else chosen
    chosen = [jobs.named(tx, name) for name in names]
    if not any(TASKS[job.task].verdict for job in chosen):
        raise UsageError(f"expected a job whose task has verdicts, found {', '.join(job.task for job in chosen)}")
    return chosen


def _gold(tx: Tx, chosen: Collection[Job]) -> Table | None:
    """Active gold; its accepted labels are converted to verdicts like judgments."""
    verdicts = {job.name: TASKS[job.task].verdict or {} for job in chosen}
    rows: dict[str, dict[str, str | None]] = {}
    for job, each in gold.all(tx):
        if each.state == "active" and job in verdicts:
            labels = dict.fromkeys(verdicts[job].get(label, label) for label in sorted(each.accepted))
            row = {"item": each.item_id, "label": LIST_SEPARATOR.join(labels), "reason": each.reason or None}
            rows.setdefault(each.item_id, {**row, "state": each.state, "job": job})
    return read_gold(pl.DataFrame(list(rows.values())), name="gold") if rows else None


def hours_of(given: pl.DataFrame) -> tuple[float, ...]:
    """The times of judgments in hours since the first, without unknown times."""
    times = given.filter("is_dated")["ms"].sort().to_list() if len(given) else []
    return tuple((time - times[0]) / HOUR for time in times)


# Columns out of the database

LONGEST = 200
"""Characters of an item whose words are worth a cell; a whole essay is not."""
IS_PROGRAM = schema.people.c.kind == PROGRAM

Columns: TypeAlias = Mapping[str, tuple[ColumnElement[Any], Any]]
"""The columns of a frame: where each comes from, and its type."""

LABELS: Columns = {
    "item": (schema.judgments.c.item_id, str),
    "rater": (case((IS_PROGRAM, schema.people.c.name), else_=schema.people.c.pseudonym), str),
    "label": (schema.judgments.c.label, str),
    "confidence": (schema.judgments.c.confidence, str),
    "seconds": (schema.submissions.c.seconds, float),
    "ms": (schema.submissions.c.at, int),
    "was_leased": (schema.submissions.c.lease_id.is_not(None), bool),
    "flags": (type_coerce(schema.judgments.c.flags, Text), str),
    "alternatives": (type_coerce(schema.judgments.c.alternatives, Text), str),
    "stage": (schema.units.c.stage, str),
    "batch": (schema.units.c.batch, int),
    "person": (schema.people.c.person_id, str),
}
DECISIONS: Columns = {
    "item": (schema.decisions.c.item_id, str),
    "system": (schema.decisions.c.system, str),
    "flagged": (schema.decisions.c.flagged, bool),
    "score": (schema.decisions.c.score, float),
    "type": (schema.decisions.c.type, str),
    "suggestion": (schema.decisions.c.suggestion, str),
}
LENGTH = cast(schema.items.c.end - schema.items.c.start, Integer)
TARGET = func.substr(schema.essays.c.text, cast(schema.items.c.start + 1, Integer), LENGTH)
ITEMS: Columns = {
    "item": (schema.items.c.item_id, str),
    "essay": (schema.items.c.essay_id, str),
    "start": (schema.items.c.start, int),
    "end": (schema.items.c.end, int),
    "kind": (schema.items.c.kind, str),
    "target": (case((LENGTH < LONGEST, TARGET)), str),
}


def _selected(columns: Columns) -> Select[Any]:
    return select(*(column.label(name) for name, (column, _) in columns.items()))


def _frame(tx: Tx, query: Select[Any], columns: Columns) -> pl.DataFrame:
    """The rows of a query with these columns."""
    cells = list(zip(*tx.all(query), strict=True)) or [()] * len(columns)
    kinds = [kind for _, kind in columns.values()]
    return pl.DataFrame(
        [pl.Series(name, list(some), dtype=kind) for name, some, kind in zip(columns, cells, kinds, strict=True)]
    )


def label_columns(tx: Tx, job_id: str, *, role: str = "work") -> pl.DataFrame:
    """The valid judgments of a job's work (or gold), oldest first.

    `group` is the rater's group, `ms` the time, `is_dated` whether that is known: judgments from a file without times
    get the time of their import. People appear by pseudonym, programs by name. Cached, since reports ask for them
    repeatedly.
    """

    def read() -> pl.DataFrame:
        is_asked = (schema.submissions.c.job_id == job_id) & (schema.submissions.c.status == "valid")
        everybody = judgments.JUDGED.join(schema.people, schema.people.c.person_id == schema.submissions.c.person_id)
        query = _selected(LABELS).select_from(everybody).where(is_asked, schema.units.c.role == role)
        frame = _frame(tx, query, LABELS)
        group = pl.col("person").replace_strict(groups(tx), return_dtype=pl.String)
        lists = [_entries(frame[name]) for name in ("flags", "alternatives")]
        is_dated = pl.col("was_leased") | ~pl.col("ms").is_in(list(undated(tx)))
        named = frame.with_columns(lists).select(pl.exclude("person", "was_leased"), group=group, is_dated=is_dated)
        return named.sort("ms", "item", "rater")

    return tx.once((label_columns, job_id, role), read)


def undated(tx: Tx) -> set[int]:
    """The times of imports, which judgments without a time are stored with."""
    return {row.at for row in tx.all(select(schema.imports.c.at))}


def judged_items(tx: Tx) -> set[str]:
    """The work items with a valid judgment by a rater, in jobs with verdicts."""
    job_ids = [job.job_id for job in jobs.all(tx) if TASKS[job.task].verdict]
    others = [person_id for person_id, group in groups(tx).items() if group not in PEOPLE]
    query = (
        select(schema.judgments.c.item_id)
        .select_from(judgments.JUDGED)
        .distinct()
        .where(
            schema.submissions.c.job_id.in_(sorted(job_ids)),
            schema.submissions.c.status == "valid",
            schema.units.c.role == "work",
            schema.submissions.c.person_id.not_in(others),
        )
    )
    return {row.item_id for row in tx.all(query)}


def decision_columns(tx: Tx, kinds: Collection[str] = ()) -> pl.DataFrame:
    """The decisions, by system and item; only on items of these kinds, if any are named."""
    query = _selected(DECISIONS)
    if kinds:
        query = query.join(schema.items, schema.items.c.item_id == schema.decisions.c.item_id).where(
            schema.items.c.kind.in_(sorted(kinds))
        )
    texts = [pl.when(pl.col(name) != "").then(pl.col(name)).alias(name) for name in ("type", "suggestion")]
    return _frame(tx, query, DECISIONS).sort("system", "item").with_columns(texts)


def essay_columns(tx: Tx) -> Table:
    """The essay and document of every item that has them: item, essay, document."""
    query = select(schema.items.c.item_id, schema.items.c.essay_id).where(schema.items.c.essay_id.is_not(None))
    documents = _documents(tx)
    rows = [(row.item_id, row.essay_id, documents.get(row.essay_id)) for row in tx.all(query)]
    frame = pl.DataFrame(rows, dict.fromkeys(("item", "essay", "document"), pl.String), orient="row")
    return Table("items", frame, "items")


def _documents(tx: Tx) -> dict[str, str | None]:
    essays = schema.essays.c
    of_essays = select(essays.essay_id, essays.metadata, essays.tokens.is_(None).label("is_text"))
    return {
        row.essay_id: str(row.metadata.get("document") or "") or (row.essay_id if row.is_text else None)
        for row in tx.all(of_essays)
    }


def place_columns(tx: Tx, kinds: Collection[str] = (), *, everything: bool = False) -> pl.DataFrame:
    """Items in essays, with their text and all other data of the study.

    With `everything`, also items without a place, and the names that other tables gave to items.
    """
    columns = {**ITEMS, "outside": (schema.items.c.outside_id, str)} if everything else ITEMS
    query = _selected(columns).select_from(schema.items.join(schema.essays, isouter=everything))
    further = select(schema.items.c.item_id, schema.items.c.payload).where(schema.items.c.payload != {})
    if not everything:
        further = further.where(schema.items.c.essay_id.is_not(None))
    if kinds:
        is_wanted = schema.items.c.kind.in_(sorted(kinds))
        query, further = query.where(is_wanted), further.where(is_wanted)
    frame = _frame(tx, query, columns).sort("item")
    document = pl.col("essay").replace_strict(_documents(tx), default=None, return_dtype=pl.String)
    frame = frame.with_columns(document=document)
    payloads = {row.item_id: row.payload for row in tx.all(further)}
    for name in sorted({name for payload in payloads.values() for name in payload} - set(frame.columns)):
        cells = {item: _cell(payload.get(name)) for item, payload in payloads.items()}
        added = pl.col("item").replace_strict(cells, default=None, return_dtype=pl.String)
        frame = frame.with_columns(added.alias(name))
    return frame


def as_frame(rows: Iterable[Mapping[str, Json]], columns: Iterable[str]) -> pl.DataFrame:
    """Rows under fixed columns, as text."""
    cells = list(rows)
    return pl.DataFrame(
        {name: pl.Series(name, [_cell(row.get(name)) for row in cells], dtype=pl.String) for name in columns}
    )


def _cell(value: Json) -> str | None:
    """A value as text: lists are joined by `|`, other nested values become JSON, missing values empty cells."""
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, list | tuple):
        return LIST_SEPARATOR.join(str(each) for each in value) or None
    if isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False, sort_keys=True) if value else None
    return repr(value) if isinstance(value, float) else str(value)


def decided_kinds(tx: Tx, system: str) -> set[str]:
    query = select(schema.items.c.kind).distinct().join(schema.decisions)
    return {row.kind for row in tx.all(query.where(schema.decisions.c.system == system))}


def kinds_of(tx: Tx, item_ids: Collection[str]) -> set[str]:
    wanted = set(item_ids)
    return {row.kind for row in tx.all(select(schema.items.c.item_id, schema.items.c.kind)) if row.item_id in wanted}


def _entries(cells: pl.Series) -> pl.Series:
    """JSON lists as text for tables, joined; each distinct list is converted once, since most are empty."""
    known = {text: LIST_SEPARATOR.join(map(str, json.loads(text))) or None for text in cells.unique().to_list()}
    return cells.replace_strict(known, return_dtype=pl.String)
