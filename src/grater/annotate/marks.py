"""Marked essays: drafts, review findings, revisions, and a study's essays as an annotated corpus.

A draft is unfinished work, saved under a revision number, so that no tab silently overwrites another.

Suspicious marks go back to their annotator (NUCLE 2013, section 4): every valid marking of a job is checked by the
rules of `corpus lint`, and each finding enters that annotator's queue. Annotators can also revise an essay on their
own initiative until its adjudication begins (`why_kept`). They get a special lease without a slot, and a draft with
their submitted or last saved marks. The old answer stays valid until the new one is submitted; then it is withdrawn
and the new one takes its slot, in one transaction, so an unfinished revision loses nothing. A revision submitted
after adjudication has begun is kept as surplus.

In the corpus, the study's annotators appear by pseudonym (or name), and adjudicated work as `gold`. A rater who found
no errors is still one of the essay's annotators; an essay that was set aside does not count as read.

A marking in a job without suggestions is compared with the suggestions that another job offers for the same essay, so
that two jobs on the same essays, one with and one without suggestions, can be compared. Only people count, since
programs see no suggestions.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

from sqlalchemy import Select, bindparam, exists, func, select
from sqlalchemy import text as sql

from grater.annotate import adjudication, content, jobs, judgments, leases, panels, people, progress, standing, units
from grater.annotate.adjudication import sent_edit
from grater.annotate.jobs import Job
from grater.annotate.judgments import PEOPLE
from grater.annotate.leases import REVISION, Lease, UnitSlot
from grater.annotate.store import Store, Tx, events, schema
from grater.annotate.store.schema import to_text
from grater.annotate.store.transaction import Columns, Record, new_id
from grater.annotate.tasks.marking import (
    MARKING,
    REJECTED,
    SET_ASIDE,
    SUGGESTIONS,
    edits_of,
    suggestions_of,
    tagset_of,
)
from grater.annotate.tasks.task import Answer
from grater.annotate.units import StudyUnit
from grater.corpora.check import check_essays
from grater.errors import Conflict, NotFound, Stale, UsageError
from grater.measure.evaluation.offered import MarkedOnce, SuggestionEffect, suggestion_effect
from grater.model import ADJUDICATED, GOLD, PROGRAM, ROLES, Edit, Essay, Json, Suggestion

SENT, LEASE, FINDING = schema.submissions.c, schema.leases.c, schema.findings.c

NOT_THE_ANNOTATORS = ("coverage", "empty", "same-id")
"""Rules about a corpus as a whole, which no single annotator can fix."""


@dataclass(frozen=True, slots=True)
class Draft:
    revision: int
    body: Mapping[str, Json] = field(default_factory=dict, hash=False)
    at: int = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """`person_id` is the annotator; the span is in code points of the essay."""

    finding_id: str
    unit_id: str
    person_id: str | None
    rule: str
    message: str
    start: int | None = None
    end: int | None = None
    state: str = "open"


FINDING_COLUMNS = Columns(Finding, schema.findings)
DRAFT_COLUMNS = Columns(Draft, schema.drafts)
DRAFT = select(*DRAFT_COLUMNS).where(
    schema.drafts.c.unit_id == bindparam("unit"), schema.drafts.c.person_id == bindparam("person")
)
PUT_DRAFT = sql(
    "INSERT INTO drafts (unit_id, person_id, revision, body, at) VALUES (:unit, :person, 1, :body, :at) "
    "ON CONFLICT (unit_id, person_id) DO UPDATE "
    "SET revision = drafts.revision + 1, body = excluded.body, at = excluded.at RETURNING revision"
)
"""In the words that both engines know."""
WITH_DRAFT = (
    select(
        *leases.COLUMNS,
        schema.drafts.c.revision,
        schema.drafts.c.body,
        exists().where(SENT.unit_id == bindparam("unit"), SENT.person_id == bindparam("person")).label("is_sent"),
    )
    .outerjoin(
        schema.drafts, (schema.drafts.c.unit_id == LEASE.unit_id) & (schema.drafts.c.person_id == LEASE.person_id)
    )
    .where(LEASE.unit_id == bindparam("unit"), LEASE.person_id == bindparam("person"))
)
"""The leases by which a rater has or had a unit, each with their draft, and whether they have submitted it."""


def save_draft(tx: Tx, *, unit_id: str, person_id: str, revision: int, body: Mapping[str, Json]) -> int:
    """Save a draft based on `revision` (0: the first) and return its new number; this also keeps the lease alive.

    Sending the same body twice for one revision is a replay. A draft based on any other revision is stale.
    """
    people.lock(tx, person_id)
    rows = tx.all(WITH_DRAFT, unit=unit_id, person=person_id)
    if not rows:
        raise NotFound("there is no such piece of work, or it is not yours")
    held = [lease for lease in map(leases.COLUMNS.read, rows) if lease.state == "held"]
    if rows[0].is_sent and all(lease.place != REVISION for lease in held):
        raise Conflict("this work has been handed in already; a draft of it can no longer be saved")
    newest = rows[0].revision or 0
    is_replay = newest > 0 and revision == newest - 1 and rows[0].body == body
    if revision != newest and not is_replay:
        raise Stale(f"a newer draft (revision {newest}) was saved, perhaps in another tab; yours is {revision}")
    for lease in held:  # its time starts again
        leases.renew(tx, lease)
    return newest if is_replay else put_draft(tx, unit_id=unit_id, person_id=person_id, body=body)


def put_draft(tx: Tx, *, unit_id: str, person_id: str, body: Mapping[str, Json]) -> int:
    """Overwrite the latest draft, whatever it is; return the revision."""
    return int(tx.value(PUT_DRAFT, unit=unit_id, person=person_id, body=to_text(body), at=tx.now))


def find_draft(tx: Tx, *, unit_id: str, person_id: str) -> Draft | None:
    return DRAFT_COLUMNS.find(tx, DRAFT, unit=unit_id, person=person_id)


def review(store: Store, job: str, *, actor: str | None = None) -> int:
    """Check the marks of a job; return the number of new findings for its annotators."""
    with store.write() as tx:
        checked = jobs.named(tx, job)
        if checked.task != MARKING:
            raise UsageError(f"job {job!r}: only marked essays can be reviewed, and this is {checked.task}")
        findings = []
        for row, answers in judgments.by_submission(tx, checked.job_id):
            unit = units.get(tx, row.unit_id).unit
            edits = tuple(edit for answer in answers for edit in edits_of(answer, rater=row.person_id))
            essay = replace(unit.essay, edits=edits, annotators=(row.person_id,))
            findings += [
                Finding("", row.unit_id, row.person_id, each.rule, each.message)
                for each in check_essays([essay], tagset=tagset_of(unit))
                if each.rule not in NOT_THE_ANNOTATORS
            ]
        return add_findings(tx, findings, actor=actor)


def add_findings(tx: Tx, findings: Iterable[Finding], *, actor: str | None = None) -> int:
    """Add new findings (by rule, span and work); return their number."""
    findings, columns, n_added = list(findings), schema.findings.c, 0
    for unit_id in sorted({finding.unit_id for finding in findings}):  # anyone who adds the same at once waits here
        units.lock(tx, unit_id)
    for finding in findings:
        same = [columns[name] == getattr(finding, name) for name in ("unit_id", "person_id", "rule", "message")]
        span = [columns[name].is_not_distinct_from(getattr(finding, name)) for name in ("start", "end")]
        if tx.first(select(columns.finding_id).where(*same, *span)) is None:
            row = FINDING_COLUMNS.row(finding)
            tx.insert(schema.findings, row | {"finding_id": finding.finding_id or new_id(), "at": tx.now})
            n_added += 1
    events.write(tx, actor, "findings.added", "", {"n": n_added})
    return n_added


def open_findings(tx: Tx, person_id: str) -> list[Finding]:
    """The marks that a person should review."""
    query = select(*FINDING_COLUMNS).where(FINDING.person_id == person_id, FINDING.state == "open")
    query = query.order_by(FINDING.at, FINDING.unit_id, FINDING.start)
    return FINDING_COLUMNS.all(tx, query)


def n_open_findings(tx: Tx, job_id: str) -> int:
    """The number of a job's findings that their annotators have not reviewed."""
    in_job = select(schema.units.c.unit_id).where(schema.units.c.job_id == job_id)
    query = select(func.count()).where(FINDING.state == "open", FINDING.unit_id.in_(in_job))
    return int(tx.value(query) or 0)


def settle_finding(tx: Tx, finding_id: str, state: Literal["mended", "kept"], *, person_id: str) -> None:
    """Record that the annotator has reviewed a finding: corrected the mark, or kept it on purpose."""
    mine = (FINDING.finding_id == finding_id) & (FINDING.person_id == person_id)
    if tx.value(select(FINDING.finding_id).where(mine)) is None:
        raise NotFound("there is no such finding, or it is not yours")
    change = schema.findings.update().where(mine, FINDING.state == "open").values(state=state)
    if tx.execute(change).rowcount:
        events.write(tx, person_id, f"finding.{state}", finding_id)


def begin_revision(tx: Tx, *, unit_id: str, person_id: str) -> Lease:
    """A lease for revising the person's own work; the present one if they already hold it."""
    people.lock(tx, person_id)
    old = tx.first(judgments.COUNTING, unit=unit_id, person=person_id)
    if old is None or old.status != "valid":
        raise NotFound("there is no work of yours to mend here")
    unit = units.get(tx, unit_id)
    if not _has_findings(tx, unit_id, person_id) and (why := why_kept(tx, unit, person_id)):
        raise Conflict(f"this essay stays as you handed it in: {why}")
    mine = leases.held(tx, job_id=unit.job.job_id, person_id=person_id, place=REVISION)
    if mine is not None and mine.unit_id == unit_id:
        mine = leases.renew(tx, mine)
        if mine is not None:
            return mine
    elif mine is not None:
        leases.close(tx, mine, "returned", actor=person_id)
    left = find_draft(tx, unit_id=unit_id, person_id=person_id)
    if left is None or left.at <= old.at:  # else they have begun a revision before, and go on with it
        put_draft(tx, unit_id=unit_id, person_id=person_id, body=_body(tx, unit.unit.essay.text, old))
    return leases.issue(tx, unit.job, UnitSlot(unit_id=unit_id, n=None), person_id=person_id, place=REVISION)


def why_kept(tx: Tx, unit: StudyUnit, person_id: str) -> str:
    """Why an annotator can no longer change an essay that they handed in; empty if they can.

    If annotators are tested nothing can be changed: the difference would reveal gold (P5).
    """
    if unit.job.task != MARKING or unit.role == "practice" or standing.has_gold(unit.job):
        return "this job takes no changes"
    if panels.has_ended(tx, unit.job, person_id):
        return "the job is closed, or your part in it has ended"
    return _why_final(tx, unit.unit_id, person_id)


def _why_final(tx: Tx, unit_id: str, person_id: str) -> str:
    """Why a revision would no longer count: anyone who may adjudicate could have seen others' finished work (P9)."""
    if adjudication.find(tx, unit_id) is not None:
        return "its adjudication has begun"
    far = progress.of_unit(tx, unit_id)
    is_shown = far is not None and far.is_done and far.wanted > 1
    if is_shown and people.get(tx, person_id).role in adjudication.DECIDERS:
        return "all its annotators are done, and you can see what they marked"
    return ""


def _has_findings(tx: Tx, unit_id: str, person_id: str) -> bool:
    return any(finding.unit_id == unit_id for finding in open_findings(tx, person_id))


def make_room(tx: Tx, *, lease_id: str, person_id: str) -> None:
    """Before storing a revision, withdraw the old answer, free its slot and settle the findings."""
    lease = leases.find(tx, lease_id, person_id=person_id)
    if lease is None or lease.place != REVISION:
        return
    units.lock(tx, lease.unit_id)  # no adjudication begins meanwhile
    if not _has_findings(tx, lease.unit_id, person_id) and _why_final(tx, lease.unit_id, person_id):
        return
    # Withdraw the old answer and give its slot to the lease; with none to withdraw, any free slot must do.
    old = tx.first(judgments.COUNTING, unit=lease.unit_id, person=person_id)
    old = old if old is not None and old.status == "valid" else None
    is_held = lease.state == "held"
    if old is not None:
        judgments.set_status(tx, old.submission_id, "withdrawn", actor=lease.person_id, why="mended")
    elif is_held:
        leases.close(tx, lease, "returned", actor=lease.person_id)
    n = 1 if old is None else old.n
    tx.execute(schema.leases.update().where(LEASE.lease_id == lease.lease_id).values(n=n))
    if old is not None and is_held:
        units.set_slot(tx, lease.unit_id, n, "leased")
    for finding in open_findings(tx, person_id):
        if finding.unit_id == lease.unit_id:
            settle_finding(tx, finding.finding_id, "mended", person_id=person_id)


def _body(tx: Tx, text: str, old: Record) -> dict[str, Json]:
    """The marks of an answer as a draft: as they were sent, or (imported ones) each with its quote."""
    (answer,) = judgments.answers_of(tx, old.submission_id)
    is_aside = answer.label == SET_ASIDE
    if sent := old.body.get("edits"):
        rejected = json.loads((old.body.get(REJECTED) or ["[]"])[0])
        return {"edits": json.loads(sent[0]), "set_aside": is_aside, **({REJECTED: rejected} if rejected else {})}
    return {"edits": [sent_edit(text, edit) for edit in edits_of(answer, rater="")], "set_aside": is_aside}


# The essays that an annotator has handed in


@dataclass(frozen=True, slots=True)
class OwnEssay:
    """An essay that its annotator handed in, and what was stored of it."""

    unit: StudyUnit
    answer: Answer
    status: str
    at: int

    @property
    def unit_id(self) -> str:
        return self.unit.unit_id

    @property
    def title(self) -> str:
        text = " ".join(self.unit.unit.essay.text.split())
        cut = text[:LONGEST_TITLE]  # whole words where there are any
        return text if text == cut else f"{cut.rpartition(' ')[0] or cut} …"

    @property
    def edits(self) -> tuple[Edit, ...]:
        return tuple(sorted(edits_of(self.answer, rater=""), key=lambda edit: edit.span))

    @property
    def by_tag(self) -> list[tuple[str, int]]:
        """Kinds of error by frequency, most frequent first."""
        return Counter(self.name_of(edit) for edit in self.edits).most_common()

    @property
    def is_aside(self) -> bool:
        return self.answer.label == SET_ASIDE

    def name_of(self, edit: Edit) -> str:
        tags = tagset_of(self.unit.unit)
        return tags[edit.tag].name if edit.tag in tags else edit.tag


LONGEST_TITLE = 40
OWN = judgments.OF_UNIT.join(schema.jobs, schema.jobs.c.job_id == SENT.job_id).join(
    schema.essays, schema.essays.c.essay_id == schema.units.c.essay_id
)


def own_essays(tx: Tx, person_id: str, *, start: int, most: int, words: str = "") -> list[OwnEssay]:
    """The essays that a person handed in, newest first, at most `most` from number `start` on."""
    order = (SENT.at.desc(), tx.binary(SENT.submission_id))
    query = _own(schema.submissions, words=words).order_by(*order).offset(start).limit(most)
    return [own_essay(tx, row) for row in tx.all(query, person=person_id)]


def n_own_essays(tx: Tx, person_id: str, *, words: str = "") -> int:
    return int(tx.value(_own(func.count(), words=words), person=person_id))


def _own(*columns: Any, words: str) -> Select[Any]:
    """Searches the text only: other data about an essay could reveal gold (P5)."""
    query = select(*columns).select_from(OWN).where(judgments.IS_COUNTING, schema.jobs.c.task == MARKING)
    return query.where(schema.essays.c.text.icontains(words, autoescape=True)) if words else query


def own_essay(tx: Tx, row: Record) -> OwnEssay:
    """The essay of a submission."""
    (answer,) = judgments.answers_of(tx, row.submission_id)
    return OwnEssay(units.get(tx, row.unit_id), answer, row.status, row.at)


def find_own_essay(tx: Tx, unit_id: str, *, person_id: str) -> OwnEssay:
    row = tx.first(judgments.COUNTING, unit=unit_id, person=person_id)
    unit = units.get(tx, unit_id) if row else None
    if row is None or unit is None or unit.job.task != MARKING:
        raise NotFound("there is no such essay, or you have not handed it in")
    return own_essay(tx, row)


def n_versions(tx: Tx, unit_id: str, person_id: str) -> int:
    mine = (SENT.unit_id == unit_id) & (SENT.person_id == person_id)
    return int(tx.value(select(func.count()).where(mine, SENT.status != "surplus")))


def remarks_for(tx: Tx, essay: OwnEssay) -> list[tuple[Edit, list[str]]]:
    """Each mark of a decided essay with the adjudicator's comments on its place."""
    decided = adjudication.find(tx, essay.unit_id)
    remarks = adjudication.remarks_of(decided.answers[0]) if decided else []
    return [(edit, [comment for span, comment in remarks if span.touches(edit.span)]) for edit in essay.edits]


# The corpus that the marks make


def marked_essays(tx: Tx, *, job_names: Collection[str] = (), names: bool = False) -> Iterator[Essay]:
    """Every essay with the marks of its file and those of all jobs, or of the named ones.

    A person in two jobs keeps two names. The metadata gives the role of programs and adjudicated decisions
    (`grater.model.as_annotated` leaves them out).
    """
    persons = {person.person_id: person for person in people.all(tx)}
    chosen = {job.job_id: job for job in _marking_jobs(tx) if not job_names or job.name in job_names}
    marks: dict[str, dict[str, tuple[Edit, ...]]] = defaultdict(dict)
    roles: dict[str, dict[str, Json]] = defaultdict(dict)
    for job in chosen.values():
        for row, answers in judgments.by_submission(tx, job.job_id):
            essay_id, person = _essay_id(tx, row.unit_id), persons[row.person_id]
            name = _note(marks, essay_id, person.name if names else person.pseudonym, job.name, answers)
            if person.kind == PROGRAM:
                roles[essay_id][name] = PROGRAM
    for each in adjudication.all(tx):
        if (job_id := units.get(tx, each.unit_id).job.job_id) in chosen:
            essay_id = _essay_id(tx, each.unit_id)
            name = _note(marks, essay_id, GOLD, chosen[job_id].name, each.answers)
            if name != GOLD:
                roles[essay_id][name] = ADJUDICATED
    for essay in content.all_essays(tx):
        here, named = marks.get(essay.essay_id, {}), roles.get(essay.essay_id)
        edits = tuple(edit for marks_of_one in here.values() for edit in marks_of_one)
        metadata = {**essay.metadata, ROLES: named} if named else essay.metadata
        yield replace(essay, edits=essay.edits + edits, annotators=essay.annotators + tuple(here), metadata=metadata)


def marked_in(tx: Tx, job_id: str, *, names: bool = False) -> list[Essay]:
    """The essays of one job with only what people marked in it."""
    given = [row for row in judgments.table(tx, job_id, names=names) if row["group"] in PEOPLE]
    places = content.items_of(tx, [str(row["item"]) for row in given])
    by_essay: dict[str, dict[str, tuple[Edit, ...]]] = defaultdict(dict)
    for row in given:
        place = places[str(row["item"])].item
        answer = Answer(str(row["item"]), str(row["label"]), payload=cast("Mapping[str, Json]", row["payload"]))
        if place is not None:
            _note(by_essay, place.essay_id, str(row["rater"]), str(row["job"]), (answer,))
    return [
        replace(essay, edits=tuple(edit for edits in by_rater.values() for edit in edits), annotators=tuple(by_rater))
        for essay in content.essays_of(tx, list(by_essay))
        for by_rater in [by_essay[essay.essay_id]]
    ]


def _note(
    by_essay: dict[str, dict[str, tuple[Edit, ...]]], essay_id: str, rater: str, job: str, answers: tuple[Answer, ...]
) -> str:
    """Add a person's marks; return the name under which they are stored."""
    name = rater if rater not in by_essay[essay_id] else f"{rater} ({job})"
    for answer in answers:
        if answer.label != SET_ASIDE and "edits" in answer.payload:  # judgments from elsewhere may be labels alone
            by_essay[essay_id][name] = edits_of(answer, rater=name)
    return name


def _essay_id(tx: Tx, unit_id: str) -> str:
    return units.get(tx, unit_id).unit.essay.essay_id


def study_suggestions(tx: Tx, *, job_names: Collection[str] = ()) -> SuggestionEffect:
    """The effect of suggestions over the study's marking jobs, or over the named ones."""
    chosen = [job for job in _marking_jobs(tx) if not job_names or job.name in job_names]
    missing = sorted(set(job_names) - {job.name for job in chosen})
    if missing:
        raise UsageError(f"expected marking jobs of this study, found {', '.join(missing)}")
    # What is suggested for each essay, by whichever job offers it first.
    offered: dict[str, tuple[Suggestion, ...]] = {}
    for job in _marking_jobs(tx):
        if SUGGESTIONS in job.options:
            for unit_id in units.ids_of_job(tx, job.job_id):
                unit = units.get(tx, unit_id).unit
                offered.setdefault(unit.essay.essay_id, suggestions_of(unit))
    markings = [marking for job in chosen for marking in _markings(tx, job, offered)]
    return suggestion_effect(markings)


def has_suggestions(tx: Tx) -> bool:
    return any(SUGGESTIONS in job.options for job in _marking_jobs(tx))


def _markings(tx: Tx, job: Job, offered: Mapping[str, tuple[Suggestion, ...]]) -> Iterator[MarkedOnce]:
    persons = {person.person_id: person for person in people.all(tx)}
    for row, (answer,) in judgments.by_submission(tx, job.job_id):
        unit, condition = units.get(tx, row.unit_id).unit, _condition(answer)
        person = persons[row.person_id]
        if answer.label == SET_ASIDE or unit.essay.essay_id not in offered or person.kind == PROGRAM:
            continue
        if "edits" not in answer.payload:
            continue  # a judgment from elsewhere may be a label alone
        yield MarkedOnce(
            essay=unit.essay,
            rater=person.pseudonym,
            edits=edits_of(answer, rater=person.pseudonym),
            suggestions=suggestions_of(unit) or offered[unit.essay.essay_id],
            is_shown=bool(condition.get("shown")),
            fates=tuple(cast("list[str]", condition.get("fates") or [])),
            seconds=row.seconds,
        )


def _condition(answer: Answer) -> Mapping[str, Json]:
    condition = answer.payload.get(SUGGESTIONS)
    return condition if isinstance(condition, Mapping) else {}


def _marking_jobs(tx: Tx) -> list[Job]:
    return [job for job in jobs.all(tx) if job.task == MARKING]
