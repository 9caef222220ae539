"""Gold: units with known answers, how an answer does on them, and when a rater meets them.

A gold answer is a set of accepted labels per item, with a reason to show once the job is closed.  Only active gold
counts.

Gold belongs to one of two pools: the entry quiz, or hidden among the work.  The quiz gets what the job's rule needs
(`terms.quiz_pool`) of the gold that nobody has met; a question of the quiz is never hidden gold later, for raters
talk.  Hidden gold rests after as many viewings as the rule says, by default as many as a unit of work has raters:
then nobody, not even many raters who compare what they saw, knows gold by how often it comes.  Where all of it rests,
the least seen comes again, and an event tells the manager.  Who was ejected knows that their last question was gold,
so it rests at once.

A work unit can become gold while nobody has touched it: no more judgments are asked for it.  Otherwise the item would
be gold and work at once, and a rater would meet it twice, the second time with the answer known.

The gold schedule says whether a unit of work or hidden gold is due next for a rater (docs/crowd-jobs.md).  A job with
a gold rule begins with its quiz, all gold.  After that every turn of a rater is gold with the same chance, drawn for
this rater and turn from the study's key: nobody can predict it, it falls the same on every visit, and what came
before tells nothing of it (P5).  A turn is over when its unit is answered: what was given back, ran out or was taken
back comes again in the same turn, gold and work alike (`leases`).  A rater meets each gold once, so their limit is
what the hidden gold covers (`limit_of`), and nobody who has met all of it stands still before that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sqlalchemy import Select, bindparam, exists, func, literal_column, select

from grater.annotate import jobs, units
from grater.annotate.jobs import Job
from grater.annotate.requests import require_length
from grater.annotate.store import events, schema, trust
from grater.annotate.store.transaction import PRIME, Record, Tx, multiplier
from grater.annotate.tasks import TASKS
from grater.annotate.tasks.task import Answer
from grater.annotate.terms import Terms, gold_rate, quiz_pool, terms_of
from grater.errors import Conflict, NotFound, UsageError
from grater.registry import unknown

LONGEST_REASON = 500


@dataclass(frozen=True, slots=True)
class Gold:
    unit_id: str
    item_id: str
    accepted: frozenset[str]
    reason: str = ""
    state: str = "active"
    pool: str = "hidden"


ALERTS = "alerts"
"""The option of a job that names what its manager has been alerted to since gold was last made."""


def add(tx: Tx, unit_id: str, item_id: str, accepted: Iterable[str], *, reason: str = "") -> None:
    """Make the known answers of one item of a gold or practice unit part of the study."""
    row = {"unit_id": unit_id, "item_id": item_id, "accepted": sorted(set(accepted)), "reason": reason}
    tx.insert(schema.gold, row)
    events.write(tx, None, "gold.added", unit_id, {"item_id": item_id, "state": "active"})
    fill_quiz(tx, units.get(tx, unit_id).job)


def fill_quiz(tx: Tx, job: Job) -> None:
    """Move gold that nobody has met to the quiz, until it has what the job's rule needs."""
    if job.options.get(ALERTS):
        jobs.set_options(tx, job.job_id, {ALERTS: []})
    rule = terms_of(job.options).gold
    if rule is None or not rule.quiz:
        return
    rows = tx.all(OF_JOB.where(schema.gold.c.state == "active").order_by(schema.units.c.shuffle), job=job.job_id)
    n_missing = quiz_pool(rule, len(rows)) - sum(row.pool == "quiz" for row in rows)
    unmet = [row.unit_id for row in rows if row.pool == "hidden" and not row.n_met]
    for unit_id in unmet[: max(0, n_missing)]:
        set_pool(tx, unit_id, "quiz")


def set_pool(tx: Tx, unit_id: str, pool: str, *, actor: str | None = None) -> None:
    """Move gold that no rater has met to the quiz, or among the hidden gold."""
    if pool not in schema.GOLD_POOLS:
        raise UsageError(unknown("pool", pool, list(schema.GOLD_POOLS)))
    known = of_unit(tx, unit_id)
    if not known:
        raise NotFound(NO_GOLD)
    if known[0].pool == pool:
        return
    if tx.value(select(exists().where(schema.leases.c.unit_id == unit_id))):
        raise Conflict("raters have seen this gold, so it stays in its pool; move gold that nobody has seen")
    tx.execute(schema.gold.update().where(schema.gold.c.unit_id == unit_id).values(pool=pool))
    for each in known:
        events.write(tx, actor, "gold.pool", unit_id, {"item_id": each.item_id, "pool": pool})


def set_reason(tx: Tx, unit_id: str, reason: str, *, actor: str | None = None) -> None:
    """What raters who missed it read, in place of the reason that the gold was made with."""
    require_length("reason", reason, LONGEST_REASON)
    tx.execute(schema.gold.update().where(schema.gold.c.unit_id == unit_id).values(reason=reason))
    events.write(tx, actor, "gold.reason", unit_id, {"reason": reason})


def of_unit(tx: Tx, unit_id: str) -> list[Gold]:
    query = select(schema.gold).where(schema.gold.c.unit_id == unit_id).order_by(schema.gold.c.item_id)
    return [read(row) for row in tx.all(query)]


def all(tx: Tx) -> list[tuple[str, Gold]]:  # noqa: A001  (read as gold.all)
    query = (
        select(schema.jobs.c.name, schema.gold)
        .join(schema.units, schema.units.c.unit_id == schema.gold.c.unit_id)
        .join(schema.jobs)
    )
    order = (tx.binary(schema.jobs.c.name), tx.binary(schema.gold.c.item_id), tx.binary(schema.gold.c.unit_id))
    return [(row.name, read(row)) for row in tx.all(query.order_by(*order))]


def read(row: Record) -> Gold:
    return Gold(
        unit_id=row.unit_id,
        item_id=row.item_id,
        accepted=frozenset(row.accepted),
        reason=row.reason,
        state=row.state,
        pool=row.pool,
    )


def grade(task: str, answers: Sequence[Answer], known: Iterable[Gold]) -> bool | None:
    """Whether the answers are right; None where nothing is known about the unit."""
    accepted: Mapping[str, frozenset[str]] = {gold.item_id: gold.accepted for gold in known}
    return TASKS[task].right(answers, accepted) if accepted else None


def work_with(tx: Tx, job_id: str, item_id: str) -> str | None:
    """The work unit of a job that asks about this item alone or with others."""
    unit_id: str | None = tx.value(_units_with(job_id, item_id).where(schema.units.c.role == "work").limit(1))
    return unit_id


def is_known(tx: Tx, job_id: str, item_id: str) -> bool:
    """Whether the item is gold or practice in this job already."""
    return tx.first(_units_with(job_id, item_id).where(schema.units.c.role != "work")) is not None


def _units_with(job_id: str, item_id: str) -> Select[Any]:
    return (
        select(schema.units.c.unit_id)
        .join(schema.unit_items, schema.unit_items.c.unit_id == schema.units.c.unit_id)
        .where(schema.units.c.job_id == job_id, schema.unit_items.c.item_id == item_id)
    )


def convert(
    tx: Tx,
    unit_id: str,
    item_id: str,
    accepted: Iterable[str],
    *,
    reason: str,
    role: Literal["gold", "practice"] = "gold",
    actor: str | None = None,
) -> bool:
    """Make an untouched work unit gold (or practice); False, and nothing done, where somebody has met it already."""
    jobs.lock(tx, units.get(tx, unit_id).job.job_id)
    traces = (schema.submissions.c.unit_id == unit_id, schema.leases.c.unit_id == unit_id)
    if not units.hold_unit(tx, unit_id) or any(tx.value(select(exists().where(trace))) for trace in traces):
        return False
    units.close_slots(tx, unit_id)
    tx.execute(schema.units.update().where(schema.units.c.unit_id == unit_id).values(role=role, batch=0))
    add(tx, unit_id, item_id, accepted, reason=reason)
    events.write(tx, actor, f"unit.{role}", unit_id)
    return True


Due: TypeAlias = Literal["work", "hidden", "quiz"]

IN_QUIZ = ("new", "quiz")

NO_GOLD = "there is no such gold in this study"

N_MET = (
    select(func.count())
    .where(schema.leases.c.unit_id == schema.units.c.unit_id)
    .correlate(schema.units)
    .scalar_subquery()
)
"""Viewings: a unit that comes again to the same rater has the same lease."""

OF_JOB = (
    select(
        schema.gold.c.unit_id, schema.gold.c.pool, schema.gold.c.state, schema.gold.c.revealed, N_MET.label("n_met")
    )
    .join(schema.units, schema.units.c.unit_id == schema.gold.c.unit_id)
    .where(schema.units.c.job_id == bindparam("job"), schema.units.c.role == literal_column("'gold'"))
)
N_HIDDEN = OF_JOB.with_only_columns(func.count(schema.gold.c.unit_id.distinct())).where(
    schema.gold.c.pool == literal_column("'hidden'")
)

PRACTICE = select(schema.units.c.unit_id).where(
    schema.units.c.job_id == bindparam("job"), schema.units.c.role == literal_column("'practice'")
)
SENT = select(func.count(schema.submissions.c.unit_id.distinct())).where(
    schema.submissions.c.job_id == bindparam("job"),
    schema.submissions.c.person_id == bindparam("person"),
    schema.submissions.c.unit_id.not_in(PRACTICE),
)
"""From one index, without a look at the units: a rater may have answered thousands."""

ANSWERED = SENT.where(schema.submissions.c.status != literal_column("'withdrawn'"))
VALID = SENT.where(schema.submissions.c.status == literal_column("'valid'"))


def has_gold(job: Job) -> bool:
    """Whether raters of this job are tested."""
    return terms_of(job.options).gold is not None


def exposure_of(job: Job) -> int:
    """The number of viewings after which hidden gold of the job rests."""
    rule = terms_of(job.options).gold
    return (rule.exposure if rule else 0) or most_judgments(job)


def most_judgments(job: Job) -> int:
    """The most raters that a unit of work may have."""
    redundancy = terms_of(job.options).redundancy
    return redundancy.most if redundancy else job.judgments


def limit_of(tx: Tx, job: Job) -> int:
    """The answers that one rater may give, 0 for any number: what is agreed, and what hidden gold can cover.

    Gold that is suspended later takes nothing from what a rater was promised.
    """
    terms = terms_of(job.options)
    n_hidden = 0 if terms.gold is None else int(tx.value(N_HIDDEN, job=job.job_id) or 0)
    covered = terms.gold.quiz + int(n_hidden / gold_rate(terms.page)) if terms.gold and n_hidden else 0
    return min(filter(None, (terms.limit, covered)), default=0)


def due(tx: Tx, job: Job, person_id: str) -> Due:
    terms = terms_of(job.options)
    if terms.gold is None:
        return "work"
    if is_in_quiz(terms, trust.find(tx, job.job_id, person_id).state):
        return "quiz"
    turn = str(n_answered(tx, job.job_id, person_id))
    chance = multiplier(tx.key, "gold", job.job_id, person_id, turn) / PRIME
    return "hidden" if chance < gold_rate(terms.page) else "work"


def is_in_quiz(terms: Terms, state: str) -> bool:
    """Whether the rater has yet to pass the entry quiz."""
    return terms.gold is not None and terms.gold.quiz > 0 and state in IN_QUIZ


def n_answered(tx: Tx, job_id: str, person_id: str) -> int:
    """The number of units, practice aside, that a rater has answered and not taken back."""
    return int(tx.value(ANSWERED, job=job_id, person=person_id) or 0)


def n_sent(tx: Tx, job_id: str, person_id: str) -> int:
    return int(tx.value(SENT, job=job_id, person=person_id) or 0)


def n_valid(tx: Tx, job_id: str, person_id: str) -> int:
    """The number of units, practice aside, with an answer that counts: what a limit and a code are for."""
    return int(tx.value(VALID, job=job_id, person=person_id) or 0)
