"""Mined lists in a study: suspects that people accept or reject, as tables, and as a balanced corpus.

Madnani et al. 2011, section 2.1 (`grater.detect.mining`). A list is a job of the task `error` whose units need no
raters. Each unit is a suspicious trigram at its first use, most suspicious first, with its counts and up to
`EXAMPLES` places. Anyone who may adjudicate decides: `y` is the label error, `n` is ok. Each verdict is an
adjudication; a version without an answer revokes earlier ones, and `unknown` also leaves a suspect open. Suspects are
the first units of their job, so a suspect's place in the list is its position in the job, and a page reads only the
one it shows.

The balanced corpus is a job: accepted errors, as many correct uses, some of both as gold. Items are of the kind
`prep`, as detectors decide on them, and raters are asked whether the preposition is extraneous, not whether it is
wrong. Units are shuffled, and the mined data stay with the list, so raters cannot tell errors from correct uses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeAlias, cast

import polars as pl
from pydantic import AfterValidator, Field
from sqlalchemy import ColumnElement, Select, Text, and_, bindparam, case, func, select, type_coerce

from grater.annotate import adjudication, content, jobs, units
from grater.annotate.content import own_essays
from grater.annotate.gold import make_gold
from grater.annotate.jobs import Job
from grater.annotate.people import Person
from grater.annotate.plans import NewJob, plan_job
from grater.annotate.requests import LARGEST, Body, example, require_name
from grater.annotate.store import Store, Tx, schema
from grater.annotate.store.transaction import ONE, Record
from grater.annotate.tasks import TASKS, Answer
from grater.annotate.tasks.error import ASKS
from grater.annotate.tasks.task import ERROR, OK, Piece, pieces_around
from grater.annotate.units import NewUnit
from grater.detect.mining import review
from grater.detect.mining.ranking import MOST, RATIO, Suspect, Use, by_trigram, uses_of
from grater.errors import BadInput, NotFound, Problem, Problems, UsageError
from grater.model import Essay, Item, Json, Span
from grater.result import HIDDEN, Data, in_json, key
from grater.tables import Table
from grater.uncertainty import generator

UNIT, DECIDED = schema.units.c, schema.adjudications.c

TASK, KIND = "error", "prep-extraneous"
MINED = "mined"
"""The option of a job that says where its counts came from: it marks the job as a mined list."""

EXAMPLES = 5
LABELS = {review.YES: ERROR, review.NO: OK}
VERDICTS = {label: verdict for verdict, label in LABELS.items()}
NUMBERS = ("n_trigram", "n_bigram", "expected")


@dataclass(frozen=True, slots=True)
class Verdict(Data):
    """One suspect, its place in the list (from 1), and the decision; `by` is empty if it is open."""

    unit_id: str = field(metadata=key("unit"))
    place: int = field(metadata=HIDDEN)
    item: Item = field(metadata=HIDDEN)
    payload: Mapping[str, Json] = field(metadata=HIDDEN)
    version: int
    label: str = field(metadata=HIDDEN)
    by: str
    at: int | None = field(metadata=HIDDEN)

    @property
    @in_json()
    def trigram(self) -> str:
        return str(self.payload["trigram"])

    @property
    @in_json()
    def bigram(self) -> str:
        first, _, last = self.trigram.split(" ")
        return f"{first} {last}"

    @property
    @in_json()
    def verdict(self) -> str:
        return VERDICTS.get(self.label, review.OPEN)

    @property
    @in_json()
    def n_uses(self) -> int:
        return int(self.number("n_uses"))

    @property
    @in_json(flat=True)
    def _numbers(self) -> dict[str, Json]:
        return {name: self.number(name) for name in (*NUMBERS, "score")}

    def number(self, name: str) -> float:
        return cast(float, self.payload[name])


# Queries: the suspects of a job, each with its newest decision

LAST_PLACE = 2**31
"""No list is that long, and no database takes any number that people may type."""

PLACE = UNIT.position
LABEL = case(
    *((type_coerce(DECIDED.answers, Text).contains(f'"label":"{label}"'), label) for label in (ERROR, OK)), else_=""
).label("label")
"""Of the newest decision, empty where it is open.  Equal JSON is equal text (`schema.columns`), so that it can be
seen without reading every answer."""


def _decided(*columns: ColumnElement[Any]) -> Select[Any]:
    older = schema.adjudications.alias()
    newest = select(func.max(older.c.version)).where(older.c.unit_id == UNIT.unit_id).scalar_subquery()
    is_newest = and_(DECIDED.unit_id == UNIT.unit_id, DECIDED.version == newest)
    suspects = select(*columns).select_from(schema.units).outerjoin(schema.adjudications, is_newest)
    return suspects.where(UNIT.job_id == bindparam("job"), UNIT.wanted == 0, UNIT.role == "work")


SUSPECTS = (
    _decided(
        *(UNIT[name] for name in ("unit_id", "position", "payload")),
        *(schema.items.c[name] for name in ("essay_id", "start", "end", "kind")),
        *(DECIDED.version, LABEL, DECIDED.at, schema.people.c.name),
    )
    .join(schema.unit_items, schema.unit_items.c.unit_id == UNIT.unit_id)
    .join(schema.items, schema.items.c.item_id == schema.unit_items.c.item_id)
    .outerjoin(schema.people, schema.people.c.person_id == DECIDED.person_id)
)
OPEN_PLACE = _decided(PLACE).where(LABEL == "").order_by(PLACE).limit(ONE)


def _verdict(row: Record) -> Verdict:
    is_decided = bool(row.label)
    return Verdict(
        unit_id=row.unit_id,
        place=row.position,
        item=Item(row.essay_id, Span(row.start, row.end), row.kind),
        payload=row.payload,
        version=row.version or 0,
        label=row.label,
        by=row.name if is_decided else "",
        at=row.at if is_decided else None,
    )


def all_of(
    tx: Tx, job_id: str, verdict: str | None = None, *, start: int = 0, most: int | None = None
) -> list[Verdict]:
    """The list, most suspicious first, or those with a verdict (possibly OPEN); at most `most` from number `start`
    on.
    """
    query = SUSPECTS if verdict is None else SUSPECTS.where(LABEL.in_([LABELS.get(verdict, "")]))
    return [_verdict(row) for row in tx.all(query.order_by(PLACE).offset(start).limit(most), job=job_id)]


def find(tx: Tx, job_id: str, place: int) -> Verdict | None:
    query = SUSPECTS.where(bindparam("place") == PLACE)
    row = tx.first(query, job=job_id, place=place) if 0 < place <= LAST_PLACE else None
    return None if row is None else _verdict(row)


def the_suspect(tx: Tx, job_id: str, place: int) -> Verdict:
    suspect = find(tx, job_id, place)
    if suspect is None:
        raise NotFound(f"there is no entry {place} in this list")
    return suspect


def next_open(tx: Tx, job_id: str, place: int) -> int:
    """The place of the next open suspect after this one, continuing from the start; 0 if none is open."""
    after, before = OPEN_PLACE.where(bindparam("place") < PLACE), OPEN_PLACE.where(bindparam("place") > PLACE)
    return tx.value(after, job=job_id, place=place) or tx.value(before, job=job_id, place=place) or 0


def far(tx: Tx, job_id: str) -> review.ReviewProgress:
    query = _decided(LABEL, func.count().label("n")).group_by(LABEL)
    n_of = {row.label: row.n for row in tx.all(query, job=job_id)}
    return review.ReviewProgress(n_of.get(ERROR, 0), n_of.get(OK, 0), n_of.get("", 0))


Name: TypeAlias = Annotated[str, AfterValidator(require_name)]


class NewList(Body):
    """A list of the study's `most` worst suspects."""

    model_config = example(name="suspects", most=50)
    name: Name = Field(min_length=1, max_length=80)
    most: int = Field(default=MOST, ge=1, le=2_000)


def mine_study(
    store: Store,
    sent: NewList,
    count: review.TrigramCounter,
    *,
    source: str,
    least_bigram: float = 1,
    ratio: float = RATIO,
    actor: str | None = None,
) -> Job:
    """Mine the essays of the study and store the worst suspects as a list; counting blocks nobody."""
    mined = review.mine(uses_in(store), count, least_bigram=least_bigram, ratio=ratio)
    if not mined.suspects:
        raise UsageError("no preposition in these essays is suspicious by these counts")
    with store.write() as tx:
        return keep(tx, sent.name, mined.suspects[: sent.most], source=source, actor=actor)


def keep(tx: Tx, name: str, suspects: Sequence[Suspect], *, source: str, actor: str | None = None) -> Job:
    """Store suspects, worst first, as a list of the study."""
    content.hold(tx)
    content.require_essays(tx, {use.essay_id for each in suspects for use in each.uses[:EXAMPLES]})
    title = f"Mined: {name}"
    job = jobs.add(tx, name=name, task=TASK, title=title, judgments=1, options={MINED: source}, actor=actor)
    jobs.add_guidelines(tx, job.job_id, TASKS[TASK].guidelines, actor=actor)
    firsts = [Item(each.uses[0].essay_id, each.uses[0].span, KIND) for each in suspects]
    content.add_items(tx, (content.study_item(item) for item in firsts))
    units.add_all(
        tx,
        job.job_id,
        [
            NewUnit(((item.item_id, {}),), item.essay_id, wanted=0, payload=_payload(each))
            for each, item in zip(suspects, firsts, strict=True)
        ],
    )
    return job


def the_list(tx: Tx, job_id: str) -> Job:
    job = jobs.get(tx, job_id)
    if MINED not in job.options:
        raise NotFound(f"{job.name}: this job is not a mined list")
    return job


def lists(tx: Tx) -> list[Job]:
    return [job for job in jobs.all(tx) if MINED in job.options]


def decide(tx: Tx, each: Verdict, verdict: str, person: Person, *, version: int | None = None) -> str:
    """Accept (y), reject (n) or withdraw (nothing); return which.

    `version` is the decision that this one was based on; without it, repeating a verdict adds no decision.
    """
    spoken = review.SPOKEN.get(verdict.strip().lower())
    if spoken is None:
        raise BadInput(Problem("form", f"verdict: expected y, n or nothing, found {verdict[:20]!r}"))
    if version is None and spoken == each.verdict:
        return spoken
    answers = [Answer(each.item.item_id, LABELS[spoken])] if spoken else []
    adjudication.save(tx, unit_id=each.unit_id, person_id=person.person_id, answers=answers, version=version)
    return spoken


def examples(tx: Tx, each: Verdict) -> list[tuple[Piece, ...]]:
    """The sentences of the first uses, split at the preposition."""
    first_uses = cast("list[tuple[str, int, int]]", each.payload["places"])
    places = [Item(essay_id, Span(start, end), KIND) for essay_id, start, end in first_uses]
    texts = {essay.essay_id: essay for essay in content.essays_of(tx, [place.essay_id for place in places])}
    return [pieces_around(texts[place.essay_id], place.span) for place in places]


def uses_in(store: Store) -> list[Use]:
    """Every use of a preposition between two words in the essays of the study."""
    with store.read() as tx:
        corpus = list(own_essays(tx))
    if not corpus:
        raise UsageError(f"{store.name}: the study has no essays yet; import some first")
    return list(uses_of(corpus))


def _payload(suspect: Suspect) -> dict[str, Json]:
    numbers: dict[str, Json] = {name: getattr(suspect, name) for name in (*NUMBERS, "score")}
    places: list[Json] = [[use.essay_id, use.span.start, use.span.end] for use in suspect.uses[:EXAMPLES]]
    return {"trigram": suspect.words, **numbers, "n_uses": len(suspect.uses), "places": places}


def add_list(store: Store, name: str, table: Table, decider: Callable[[Tx], Person]) -> Job:
    """Import a list that `grater lab mine` wrote; its verdicts, if any, become those of `decider`."""
    require_name(name)
    verdicts = {trigram: verdict for trigram, verdict in review.verdicts_of(table).items() if verdict != review.OPEN}
    suspects = _suspects(table, by_trigram(uses_in(store)))
    with store.write() as tx:
        job = keep(tx, name, suspects, source=table.name)
        for each in all_of(tx, job.job_id) if verdicts else ():
            decide(tx, each, verdicts.get(each.trigram, review.OPEN), decider(tx))
    return job


def verdict_table(tx: Tx, job_id: str) -> pl.DataFrame:
    """The list in the format of `grater lab mine`."""
    verdicts = all_of(tx, job_id)
    texts = {essay.essay_id: essay for essay in content.essays_of(tx, [each.item.essay_id for each in verdicts])}
    firsts = [_first_use(each, texts[each.item.essay_id]) for each in verdicts]
    table = review.suspects_table(
        [
            Suspect(use.trigram, uses=(use,), **{name: each.number(name) for name in NUMBERS})
            for each, use in zip(verdicts, firsts, strict=True)
        ],
        {each.trigram: each.verdict for each in verdicts},
    )
    return table.with_columns(n_uses=pl.Series([each.n_uses for each in verdicts], dtype=pl.Int64))


def _first_use(each: Verdict, essay: Essay) -> Use:
    span = each.item.span
    pieces = pieces_around(essay, span)
    first, middle, last = each.trigram.split(" ")
    return Use(
        trigram=(first, middle, last),
        essay_id=essay.essay_id,
        document=str(essay.metadata.get("document") or ""),
        span=span,
        context="".join(piece.text for piece in pieces),
        offset=0 if pieces[0].mark else len(pieces[0].text),
    )


def _suspects(table: Table, uses: Mapping[str, Sequence[Use]]) -> list[Suspect]:
    """The rows of a list as suspects, at their places in the study's essays."""
    problems = Problems(table.name)
    by_trigram: dict[str, Suspect] = {}
    for line, row in enumerate(table.frame.iter_rows(named=True), 2):
        trigram = " ".join(str(row["trigram"] or "").split())
        if trigram not in uses:
            problems.add(f"expected a trigram of the study's essays, found {trigram!r}", line=line)
        elif trigram in by_trigram:
            problems.add(f"expected every trigram once, found {trigram!r} again", line=line)
        else:
            numbers = {name: _number(row.get(name), name, problems, line) for name in NUMBERS}
            by_trigram[trigram] = Suspect(uses[trigram][0].trigram, uses=tuple(uses[trigram]), **numbers)
    problems.done()
    if not by_trigram:
        raise BadInput(Problem(table.name, "expected trigrams, found none"))
    return list(by_trigram.values())


def _number(cell: object, name: str, problems: Problems, line: int) -> float:
    try:
        value = float(str(cell))
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        problems.add(f"{name}: expected a number, found {str(cell)[:20]!r}", line=line)
    return value


JUDGMENTS = 3
"""Raters asked about each item."""


class NewBalanced(Body):
    """A job of `n_each` errors and as many correct uses, with `n_gold` of them as gold; not open yet."""

    model_config = example(name="balanced", judgments=3, n_each=1, n_gold=0)
    name: Name = Field(min_length=1, max_length=80)
    judgments: int = Field(default=JUDGMENTS, ge=1, le=100)
    n_each: int = Field(default=review.N_EACH, ge=1, le=2_000)
    n_gold: int = Field(default=review.N_GOLD, ge=0, le=2_000)
    seed: int = Field(default=0, ge=0, le=LARGEST)


def balanced_job(
    store: Store, job_id: str, sent: NewBalanced, count: review.TrigramCounter, *, actor: str | None = None
) -> tuple[Job, review.Balanced]:
    """Create a job of a list's accepted trigrams and as many correct uses, some of them gold; not open yet.

    Correct uses are attested by `count`, not suspicious, and not on the list.
    """
    with store.read() as tx:
        the_list(tx, job_id)
        verdicts = {each.trigram: each.verdict for each in all_of(tx, job_id)}
    rng = generator(sent.seed, "mine", "balanced")
    made = review.balanced_from(
        review.mine(uses_in(store), count), verdicts, rng=rng, n_each=sent.n_each, n_gold=sent.n_gold
    )
    rows = made.items.select("essay", "start", "end", "kind", "label", "trigram", "gold").rows()
    placed = [
        (Item(essay, Span(start, end), kind), label, trigram, gold)
        for essay, start, end, kind, label, trigram, gold in rows
    ]
    with store.write() as tx:
        content.hold(tx)
        content.require_essays(tx, {item.essay_id for item, *_ in placed})
        content.add_items(tx, (content.study_item(item) for item, *_ in placed))
        ids = [item.item_id for item, *_ in placed]
        plan = NewJob.checked(
            name=sent.name, task=TASK, judgments=sent.judgments, item_ids=ids, seed=sent.seed, open=False
        )
        job = plan_job(tx, plan, asks={ASKS: KIND}, actor=actor)
        for item, label, trigram, gold in placed:
            if gold:
                make_gold(tx, job, item.item_id, [label], reason=_reason(trigram, label), actor=actor)
    return job, made


def _reason(trigram: str, label: str) -> str:
    first, middle, last = trigram.split(" ")
    if label == ERROR:
        return f"People say “{first} {last}”: “{middle}” is extraneous."
    return f"“{trigram}” is common usage."
