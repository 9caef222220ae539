"""Gold and practice: units with known answers, their sources, and grading.

A gold answer is a set of accepted labels per item, with a reason to show after the job is closed. Only active gold
counts. Practice comes first, once for everybody, and shows the expected answers.

Gold belongs to one of two pools: the entry quiz, or hidden among the work. The quiz gets the number that the job's
rule needs (`terms.quiz_pool`) of the gold that nobody has seen; a quiz question never becomes hidden gold later,
since raters talk. Hidden gold is rested after the number of viewings in the rule, by default the number of raters of
a work unit, so that even raters who compare notes cannot recognise gold by its frequency. If all of it is resting,
the least seen is used again, and an event informs the manager. Ejected raters know that their last question was gold,
so it is rested at once. If the job shows misses (`trust.show_miss`), gold that was shown still counts but is never
used again.

Gold comes from a table, from items on which experts agree, from known or planted errors. Madnani et al. 2011, section
3, used 75 of 1,000 sentences as gold; here one call selects items on which every expert agrees. An item of the job
becomes gold instead of work, as long as nobody has seen it: otherwise a rater could get it both as work and as gold,
knowing the answer the second time.

Candidates for gold are units that nobody has seen, in this order: gold of earlier jobs, items on which all experts
agree, items on which all raters of another job agree (`LEAST_CROWD` or more), and random units of the job itself
(`MOST_OWN` at most), which the manager answers because a first study has no other gold. A manager reviews each,
changes the accepted answers or the reason, and accepts or skips it (`grater.annotate.web.units`). Earlier reasons are
suggested again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Literal

from pydantic import Field
from sqlalchemy import bindparam, exists, func, literal_column, select

from grater.annotate import content, jobs, units
from grater.annotate.content import plant, shown
from grater.annotate.jobs import Job
from grater.annotate.judgments import label_counts
from grater.annotate.requests import Body, example, require_length
from grater.annotate.store import events, schema
from grater.annotate.store.transaction import Columns, Record, Tx
from grater.annotate.tasks import TASKS
from grater.annotate.tasks.error import ASKS
from grater.annotate.tasks.marking import DEFAULT_TAGSET, SUGGESTIONS
from grater.annotate.tasks.task import UNKNOWN, Answer, Unit, UnitItem, is_right
from grater.annotate.terms import quiz_pool, terms_of
from grater.annotate.units import NewUnit, Role
from grater.corpora.tagsets import TAGSETS, TagSet
from grater.errors import Conflict, NotFound, UsageError
from grater.model import Edit, Essay, Item, Json, Span
from grater.sheet import counted
from grater.tables import Table
from grater.tables.schema import LIST_SEPARATOR
from grater.uncertainty import generator

UNIT, KNOWN = schema.units.c, schema.gold.c

LONGEST_REASON = 500


@dataclass(frozen=True, slots=True)
class Gold:
    unit_id: str
    item_id: str
    accepted: frozenset[str]
    reason: str = ""
    state: str = "active"
    pool: str = "hidden"


COLUMNS = Columns(Gold, schema.gold, without=["accepted"])
ALERTS = "alerts"
"""The option of a job that names what its manager has been alerted to since gold was last made."""


def add(tx: Tx, unit_id: str, item_id: str, accepted: Iterable[str], *, reason: str = "") -> None:
    """Store the known answers of one item of a gold or practice unit."""
    row = {"unit_id": unit_id, "item_id": item_id, "accepted": sorted(set(accepted)), "reason": reason}
    tx.insert(schema.gold, row)
    events.write(tx, None, "gold.added", unit_id, {"item_id": item_id, "state": "active"})
    fill_quiz(tx, units.get(tx, unit_id).job)


def fill_quiz(tx: Tx, job: Job) -> None:
    """Move unseen gold to the quiz until it has the number that the job's rule needs."""
    if job.options.get(ALERTS):
        jobs.set_options(tx, job.job_id, {ALERTS: []})
    rule = terms_of(job.options).gold
    if rule is None or not rule.quiz:
        return
    rows = tx.all(OF_JOB.where(KNOWN.state == "active").order_by(UNIT.shuffle), job=job.job_id)
    n_missing = quiz_pool(rule, len(rows)) - sum(row.pool == "quiz" for row in rows)
    unmet = [row.unit_id for row in rows if row.pool == "hidden" and not row.n_met]
    for unit_id in unmet[: max(0, n_missing)]:
        set_pool(tx, unit_id, "quiz")


def set_pool(tx: Tx, unit_id: str, pool: str, *, actor: str | None = None) -> None:
    """Move unseen gold to the quiz or to the hidden gold; or any gold permanently to the shown gold."""
    known = of_unit(tx, unit_id)
    if not known:
        raise NotFound(NO_GOLD)
    if known[0].pool == pool:
        return
    if pool != "shown" and tx.value(select(exists().where(schema.leases.c.unit_id == unit_id))):
        raise Conflict("raters have seen this gold, so it stays in its pool; move gold that nobody has seen")
    tx.execute(schema.gold.update().where(KNOWN.unit_id == unit_id).values(pool=pool))
    for each in known:
        events.write(tx, actor, "gold.pool", unit_id, {"item_id": each.item_id, "pool": pool})


def set_reason(tx: Tx, unit_id: str, reason: str, *, actor: str | None = None) -> None:
    """Set the reason shown to raters who missed it."""
    if not tx.execute(schema.gold.update().where(KNOWN.unit_id == unit_id).values(reason=reason)).rowcount:
        raise NotFound(NO_GOLD)
    events.write(tx, actor, "gold.reason", unit_id, {"reason": reason})


def of_unit(tx: Tx, unit_id: str) -> list[Gold]:
    return [read(row) for row in tx.all(OF_UNIT, unit=unit_id)]


def all(tx: Tx) -> list[tuple[str, Gold]]:  # noqa: A001  (read as gold.all)
    query = select(schema.jobs.c.name, schema.gold).select_from(schema.gold.join(schema.units).join(schema.jobs))
    order = (tx.binary(schema.jobs.c.name), tx.binary(KNOWN.item_id), tx.binary(KNOWN.unit_id))
    return [(row.name, read(row)) for row in tx.all(query.order_by(*order))]


def read(row: Record) -> Gold:
    return COLUMNS.read(row, accepted=frozenset(row.accepted))


def grade(task: str, answers: Sequence[Answer], known: Iterable[Gold]) -> bool | None:
    """Whether the answers are right; None if no answer of the unit is known."""
    accepted: Mapping[str, frozenset[str]] = {gold.item_id: gold.accepted for gold in known}
    return is_right(TASKS[task], answers, accepted) if accepted else None


def _units_with(tx: Tx, job_id: str, item_id: str) -> dict[str, str]:
    """A unit of a job that asks about this item, alone or with others, by role."""
    query = select(UNIT.role, UNIT.unit_id).join(schema.unit_items)
    query = query.where(UNIT.job_id == job_id, schema.unit_items.c.item_id == item_id)
    return {row.role: row.unit_id for row in reversed(tx.all(query))}


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
    """Turn an untouched work unit into gold (or practice); False, with no change, if somebody has already seen it."""
    jobs.lock(tx, units.get(tx, unit_id).job.job_id)
    if not units.close_unmet(tx, unit_id):
        return False
    tx.execute(schema.units.update().where(UNIT.unit_id == unit_id).values(role=role, batch=0))
    add(tx, unit_id, item_id, accepted, reason=reason)
    events.write(tx, actor, f"unit.{role}", unit_id)
    return True


NO_GOLD = "there is no such gold in this study"

OF_UNIT = select(schema.gold).where(KNOWN.unit_id == bindparam("unit")).order_by(KNOWN.item_id)

N_MET = select(func.count()).where(schema.leases.c.unit_id == UNIT.unit_id).correlate(schema.units).scalar_subquery()
"""Viewings: a unit that comes again to the same rater has the same lease."""

OF_JOB = (
    select(KNOWN.unit_id, KNOWN.pool, KNOWN.state, KNOWN.revealed, N_MET.label("n_met"))
    .join(schema.units)
    .where(UNIT.job_id == bindparam("job"), UNIT.role == literal_column("'gold'"))
)

LOOKS = (ASKS, "grey", "pairs", "tagset")
"""The options that a job has for all its units."""
REASON = "All experts who judged this gave this answer."
PLANTED = "These errors were added to the essay to see whether they are found."
LEAST_EXPERTS, LEAST_CROWD = 2, 3
MOST_OWN = 200
OWN = "Nobody has answered it yet: choose it only if the answer is beyond doubt"


def add_gold(
    tx: Tx, table: Table, ids: Mapping[str, str], *, job: str | None, role: Literal["gold", "practice"] = "gold"
) -> tuple[int, int]:
    """Add a gold (or practice) unit for every row; return the number of new ones and of those already seen."""
    if job is None:
        raise UsageError(f"{table.name}: {role} belongs to a job; expected its name, found none")
    target, n_new = jobs.named(tx, job), 0
    for row in table.frame.iter_rows(named=True):
        accepted = [label.strip() for label in str(row["label"]).split(LIST_SEPARATOR) if label.strip()]
        reason = str(row.get("reason") or "")
        n_new += make_gold(tx, target, ids[str(row["item"])], accepted, reason=reason, role=role)
    return n_new, len(table) - n_new


def looks_of(tx: Tx, job_id: str) -> dict[str, Json]:
    """How the units of a job are shown: known units must look like all others and offer the same answers."""
    unit_ids = units.ids_of_job(tx, job_id, role="work")
    payload = units.get(tx, unit_ids[0]).unit.payload if unit_ids else {}
    return {name: payload[name] for name in LOOKS if name in payload}


def _new_unit(tx: Tx, job: Job, item_id: str, role: Role) -> str:
    """Add a gold (or practice) unit of one item to a job that does not ask about it."""
    _require_no_suggestions(job)
    item = content.items_of(tx, [item_id]).get(item_id)
    place = item.item if item else None
    asked = ((item_id, shown(item) if item else {}),)
    new = NewUnit(asked, place.essay_id if place else None, role=role, payload=looks_of(tx, job.job_id))
    if place:
        _require_showable(tx, job, place, new)
    (unit_id,) = units.add_all(tx, job.job_id, [new])
    return unit_id


def _require_no_suggestions(job: Job) -> None:
    if SUGGESTIONS in job.options:
        raise UsageError(f"{job.name}: this job offers a system's marks, and none would point at planted errors")


def _require_showable(tx: Tx, job: Job, item: Item, new: NewUnit) -> None:
    """Refuse items that cannot be shown to raters: a noun without its five forms, or no suggestion."""
    essay = content.find_essay(tx, item.essay_id)
    if essay is None:
        return
    unit = Unit("new", essay, (UnitItem(item, new.items[0][1]),), new.stage, new.payload)
    try:
        TASKS[job.task].show(unit, rng=generator(0, item.item_id))
    except UsageError as error:
        message = f"item {item.item_id}: cannot be shown as {new.role} of job {job.name!r}: {error}"
        raise UsageError(message) from error


@dataclass(frozen=True, slots=True)
class MadeGold:
    """The number of gold units made, and the number of items that raters had already seen."""

    made: int
    met: int


def make_gold(
    tx: Tx,
    job: Job,
    item_id: str,
    accepted: Sequence[str],
    *,
    reason: str,
    role: Literal["gold", "practice"] = "gold",
    actor: str | None = None,
) -> bool:
    """Make one item gold (or practice) of a job; False if a rater has already seen it."""
    known = TASKS[job.task].labels
    if not accepted:
        raise UsageError(f"{job.name}: gold needs at least one accepted answer")
    wrong = [label for label in accepted if known and label not in known and job.task != "marking"]
    if wrong:
        raise UsageError(f"{job.name}: expected answers from {', '.join(known)}, found {wrong[0]!r}")
    require_length("reason", reason, LONGEST_REASON)
    jobs.lock(tx, job.job_id)  # of two who make the same gold at once the second sees that it is known
    by_role = _units_with(tx, job.job_id, item_id)
    if by_role.keys() - {"work"}:
        return False
    if by_role:
        return convert(tx, by_role["work"], item_id, accepted, reason=reason, role=role, actor=actor)
    add(tx, _new_unit(tx, job, item_id, role), item_id, accepted, reason=reason)
    return True


def _make_all(
    tx: Tx,
    job: Job,
    known: Iterable[tuple[str, Sequence[str]]],
    *,
    reason: str,
    most: int | None = None,
    actor: str | None = None,
) -> MadeGold:
    """Make at most `most` items with accepted answers gold."""
    made = met = 0
    for item_id, accepted in known:
        if made == most:
            break
        is_made = make_gold(tx, job, item_id, accepted, reason=reason, actor=actor)
        made += is_made
        met += not is_made
    return MadeGold(made, met)


class GoldWanted(Body):
    """Items on which at least `least` experts all agree (in the job `source`, else in all jobs), at most `most`.

    Essays of a marking job become gold by their known errors; then only the `reason` is used.
    """

    model_config = example(least=1, most=5)
    source: str | None = None
    least: int = Field(default=2, ge=1, le=100)
    most: int | None = Field(default=None, ge=1, le=100_000)
    reason: str = Field(default=REASON, max_length=LONGEST_REASON)


def known_gold(
    tx: Tx, job: Job, sent: GoldWanted, *, rater: str | None = None, seed: int = 0, actor: str | None = None
) -> MadeGold:
    """Gold from existing data: known errors of essays (by one `rater`), else random items on which experts agree."""
    if job.task == "marking":
        return gold_from_edits(tx, job, rater=rater, reason=sent.reason, actor=actor)
    agreed = unanimous(tx, job, source=sent.source, least=sent.least)
    if not agreed:
        raise UsageError(f"{job.name}: no item has {sent.least} or more expert judgments that all agree")
    order = sorted(agreed)
    generator(seed, "gold", job.name).shuffle(order)
    known = [(item_id, agreed[item_id]) for item_id in order]
    return _make_all(tx, job, known, reason=sent.reason, most=sent.most, actor=actor)


def unanimous(tx: Tx, job: Job, *, source: str | None = None, least: int = 2) -> dict[str, tuple[str, ...]]:
    """Items on which all experts agree, with this job's labels for their answer."""
    of_jobs = [jobs.named(tx, source)] if source else jobs.all(tx)
    tallies = meanings(of_jobs, label_counts(tx, ("work", "gold", "practice"), by_experts=True))
    agreed = {item: min(each) for item, each in tallies.items() if each.total() >= least and len(each) == 1}
    accepted = {item: labels_meaning(job, meaning) for item, meaning in agreed.items()}
    return {item: labels for item, labels in accepted.items() if labels}


def gold_from_edits(tx: Tx, job: Job, *, rater: str | None = None, reason: str, actor: str | None = None) -> MadeGold:
    """Turn essays of a marking job whose errors are known, planted or marked earlier, into gold."""
    known, tags = [], _tags(tx, job)
    for essay in content.all_essays(tx):
        edits = [edit for edit in essay.edits if rater is None or edit.rater == rater]
        item = Item(essay.essay_id, Span(0, len(essay.text)), TASKS["marking"].kind)
        if not edits or "work" not in _units_with(tx, job.job_id, item.item_id):
            continue
        _require_tags(tags, essay.essay_id, edits)
        known.append((item.item_id, sorted({f"{edit.span.start}-{edit.span.end}:{edit.tag}" for edit in edits})))
    return _make_all(tx, job, known, reason=reason, actor=actor)


def gold_from_planted(
    tx: Tx, job: Job, corpus: Iterable[Essay], *, reason: str = PLANTED, actor: str | None = None
) -> MadeGold:
    """Turn correct essays whose edits say which errors to plant into gold; each is imported once."""
    if job.task != "marking":
        raise UsageError(f"{job.name}: errors are planted for the task marking, and this job has the task {job.task}")
    _require_no_suggestions(job)
    known, tags = [], _tags(tx, job)
    for good in corpus:
        if not good.edits:
            raise UsageError(f"{good.essay_id}: expected edits to plant, found none")
        _require_tags(tags, good.essay_id, good.edits)
        essay, places = plant(good, good.edits)
        item = Item(essay.essay_id, Span(0, len(essay.text)), TASKS["marking"].kind)
        content.add_essays(tx, [essay])
        content.add_items(tx, [content.study_item(item)])
        known.append((item.item_id, places))
    return _make_all(tx, job, known, reason=reason, actor=actor)


def _tags(tx: Tx, job: Job) -> TagSet:
    return TAGSETS[str(looks_of(tx, job.job_id).get("tagset") or DEFAULT_TAGSET)]


def _require_tags(tags: TagSet, essay_id: str, edits: Iterable[Edit]) -> None:
    """Refuse errors whose tag raters cannot use: nobody would find them, and every rater would fail."""
    strange = next((edit.tag for edit in edits if edit.tag and edit.tag not in tags), None)
    if strange is not None:
        raise UsageError(f"{essay_id}: expected errors with a tag of {tags.name} or none, found {strange!r}")


def meanings(of_jobs: Iterable[Job], counts: Iterable[tuple[str, str, str, int]]) -> dict[str, Counter[str]]:
    """How often each meaning was given to each item in these jobs, from counts by job, item and label."""
    by_id = {job.job_id: job for job in of_jobs}
    meaning = cache(lambda job_id, label: meaning_of(by_id[job_id], label))
    tallies: dict[str, Counter[str]] = defaultdict(Counter)
    for job_id, item_id, label, n in counts:
        if job_id in by_id:
            tallies[item_id][meaning(job_id, label)] += n
    return tallies


def meaning_of(job: Job, label: str) -> str:
    """The meaning of a label: its verdict, or the label itself if the task has none."""
    verdict = TASKS[job.task].verdict
    return verdict.get(label, label) if verdict else label


def labels_meaning(job: Job, meaning: str) -> tuple[str, ...]:
    """The labels of a job's task with this meaning; empty if it is unknown."""
    verdict = TASKS[job.task].verdict
    if verdict is None:
        return (meaning,)
    return () if meaning == UNKNOWN else tuple(label for label, to in verdict.items() if to == meaning)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A work unit of one item, the answers to accept (empty if not known yet), and the reason."""

    unit_id: str
    item_id: str
    accepted: tuple[str, ...]
    reason: str
    source: str


def candidates(tx: Tx, job: Job) -> list[Candidate]:
    """Every possible gold of a job, each item once."""
    open_units = {row.item_id: row.unit_id for row in units.of_one_item(tx, job.job_id, are_unmet=True)}
    chosen: dict[str, Candidate] = {}
    for item_id, accepted, reason, source in _proposed(tx, job):
        if item_id in open_units and item_id not in chosen and accepted:
            chosen[item_id] = Candidate(open_units[item_id], item_id, accepted, reason=reason, source=source)
    # What the manager must answer, in an order that stays stable while gold is made from it.
    rest = sorted(open_units.keys() - chosen.keys(), key=lambda item: sha256(f"{job.name} {item}".encode()).digest())
    unanswered = [Candidate(open_units[item], item, (), reason="", source=OWN) for item in rest[:MOST_OWN]]
    return [*chosen.values(), *unanswered]


def _proposed(tx: Tx, job: Job) -> Iterator[tuple[str, tuple[str, ...], str, str]]:
    by_name = {each.name: each for each in jobs.all(tx)}
    for name, known in all(tx):
        if name != job.name and known.state == "active":
            meant = {meaning_of(by_name[name], label) for label in known.accepted}
            accepted = labels_meaning(job, meant.pop()) if len(meant) == 1 else ()
            yield known.item_id, accepted, known.reason, f"Gold of the job {name}"
    for item_id, accepted in sorted(unanimous(tx, job, least=LEAST_EXPERTS).items()):
        yield item_id, accepted, "", "All experts who judged it agree"
    tallies = meanings([other for other in jobs.all(tx) if other.job_id != job.job_id], label_counts(tx))
    for item_id, of_item in sorted(tallies.items(), key=lambda each: (-each[1].total(), each[0])):
        if of_item.total() >= LEAST_CROWD and len(of_item) == 1:
            source = f"{counted(of_item.total(), 'rater')} of other jobs agree"
            yield item_id, labels_meaning(job, min(of_item)), "", source


def earlier_reasons(tx: Tx) -> list[str]:
    """The reasons used most often."""
    written = Counter(known.reason for _, known in all(tx) if known.reason)
    return [reason for reason, _ in written.most_common(20)]
