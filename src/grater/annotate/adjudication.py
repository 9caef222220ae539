"""Final decisions on units that several raters judged, stored as annotator `gold`; the raters' answers are kept.

Decisions come from a form, from a table with the columns of gold (`item`, `label`), or from the raters themselves if
all of them, or more than half, agree on every item of a unit. Changing a decision adds a version; earlier versions
are kept.

A marked essay is decided place by place, with annotators shown as letters so that identities do not influence the
decision. A place is a stretch of tokens where the annotators' normalised edits touch (NUCLE, section 3: expanded and
trimmed, so that *conduct* to *conduct a* and *survey* to *a survey* are the same edit). Annotators can differ in the
paper's three senses, in this order: whether there is an error (`identification`), its `type`, and its `correction`;
otherwise they are the `same`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from sqlalchemy import select

from grater.annotate import content, jobs, judgments, people, progress, units
from grater.annotate.jobs import Job
from grater.annotate.people import Person
from grater.annotate.progress import FinishedUnit
from grater.annotate.requests import require_length
from grater.annotate.store import Store, Tx, events, schema
from grater.annotate.store.transaction import Columns, Record, body_hash
from grater.annotate.tasks import TASKS
from grater.annotate.tasks.marking import MARKING, SET_ASIDE, edits_of
from grater.annotate.tasks.task import Answer
from grater.annotate.units import StudyUnit
from grater.corpora.normalise import TokenEdit, normalise
from grater.corpora.text.tokens import tokens_of
from grater.errors import Forbidden, NotFound, Problems, Stale, UsageError
from grater.model import Edit, Essay, Json, Span
from grater.result import Data, key
from grater.tables import Table, read_gold

DECIDERS = ("owner", "manager", "adjudicator")
NO_OWNER = (
    "decisions carry a person's name: grater serve STUDY gives an owner's link to a study that has none; "
    "open it, then run this again"
)


@dataclass(frozen=True, slots=True)
class Adjudication:
    unit_id: str
    version: int
    person_id: str
    answers: tuple[Answer, ...]
    comment: str
    at: int


LONGEST_COMMENT = 2000
REMARKS = "remarks"
"""What the adjudicator says of places of an essay, in the payload of the decision: `{start, end, comment}` each."""
COLUMNS = Columns(Adjudication, schema.adjudications, without=["answers"])


def save(
    tx: Tx,
    *,
    unit_id: str,
    person_id: str,
    answers: Sequence[Answer],
    version: int | None = None,
    comment: str = "",
    made_from: str | None = None,
) -> Adjudication:
    """Store a decision; `version` is the one that it was based on (0: none), and is stale if there is a newer one.

    `made_from` identifies the answers that the adjudicator read (`answers_mark`): if a rater has revised one since,
    the decision is stale as well.
    """
    require_length("comment", comment, LONGEST_COMMENT)
    people.lock(tx, person_id)
    units.lock(tx, unit_id)
    newest = find(tx, unit_id)
    known = newest.version if newest else 0
    if version is not None and version != known:
        raise Stale(
            f"somebody adjudicated this unit in the meantime (version {known}); yours was made from {version}"
        )
    if made_from is not None and made_from != answers_mark(judgments.of_unit(tx, unit_id)):
        raise Stale("an annotator revised their work in the meantime; read the answers again, then decide")
    saved = Adjudication(unit_id, known + 1, person_id, tuple(answers), comment, tx.now)
    tx.insert(schema.adjudications, COLUMNS.row(saved) | {"answers": [asdict(answer) for answer in answers]})
    events.write(tx, person_id, "adjudication.saved", unit_id, {"version": saved.version})
    return saved


def answers_mark(rows: Sequence[Record]) -> str:
    """A hash that changes whenever different submissions of the unit become valid."""
    return body_hash([row.submission_id for row in rows if row.status == "valid"])


def find(tx: Tx, unit_id: str) -> Adjudication | None:
    query = select(schema.adjudications).where(schema.adjudications.c.unit_id == unit_id)
    row = tx.first(query.order_by(schema.adjudications.c.version.desc()).limit(1))
    return None if row is None else _read(row)


def all(tx: Tx) -> list[Adjudication]:  # noqa: A001  (read as adjudication.all)
    """The latest decision about every decided unit."""
    order = (tx.binary(schema.adjudications.c.unit_id), schema.adjudications.c.version)
    newest = {row.unit_id: row for row in tx.all(select(schema.adjudications).order_by(*order))}
    return [_read(row) for row in newest.values()]


def _read(row: Record) -> Adjudication:
    lists = ("flags", "alternatives")
    answers = (Answer(**stored | {name: tuple(stored.get(name) or ()) for name in lists}) for stored in row.answers)
    return COLUMNS.read(row, answers=tuple(answers))


# Items: what waits, what raters are clear about, what a table decides

Rule: TypeAlias = Literal["unanimous", "majority"]


def _labels_json(answers: Mapping[str, tuple[Answer, ...]]) -> dict[str, Json]:
    """How often each label was given to each item."""
    return {item: dict(sorted(Counter(one.label for one in given).items())) for item, given in answers.items()}


@dataclass(frozen=True, slots=True)
class Waiting(Data):
    """A finished unit without a decision: its valid answers by item, each list in the order of the raters."""

    unit_id: str = field(metadata=key("unit"))
    differs: bool
    answers: Mapping[str, tuple[Answer, ...]] = field(metadata=key("labels", write=_labels_json))


def waiting(tx: Tx, job: Job) -> list[Waiting]:
    """The units of a job to decide, those with differences first."""
    _require_items(job)
    given: dict[str, dict[str, list[Answer]]] = defaultdict(lambda: defaultdict(list))
    for row, answers in judgments.by_submission(tx, job.job_id):
        for answer in answers:
            given[row.unit_id][answer.item_id].append(answer)
    return [
        Waiting(each.unit_id, each.differs, {item: tuple(some) for item, some in given[each.unit_id].items()})
        for each in finished(tx, job)
        if not each.is_decided
    ]


def accept(store: Store, job: str, rule: Rule, *, decider: str | None = None) -> int:
    """Decide the units on which the raters agree; return the count."""
    with store.write() as tx:
        person_id = decider_of(tx, decider).person_id
        by_unit = {each.unit_id: _clear(each, rule) for each in waiting(tx, jobs.named(tx, job))}
        clear = {unit_id: answers for unit_id, answers in by_unit.items() if answers}
        for unit_id, answers in clear.items():
            save(tx, unit_id=unit_id, person_id=person_id, answers=answers, comment=rule)
        return len(clear)


def _clear(unit: Waiting, rule: Rule) -> list[Answer]:
    """One answer for each item if all (or most) raters gave it; empty if any item is unclear."""
    agreed = []
    for item_id, given in unit.answers.items():
        label, n = Counter(answer.label for answer in given).most_common(1)[0]
        if n < len(given) if rule == "unanimous" else 2 * n <= len(given):
            return []
        # The label, with every alternative of those who gave it and the flags that more than half of all raised.
        words = [word for answer in given if answer.label == label for word in answer.alternatives]
        flags = Counter(flag for answer in given for flag in set(answer.flags))
        most = sorted(flag for flag, n in flags.items() if 2 * n > len(given))
        agreed.append(Answer(item_id, label, flags=tuple(most), alternatives=tuple(dict.fromkeys(words))))
    return agreed


def decide(store: Store, job: str, path: Path, *, decider: str | None = None) -> int:
    """Decide units from a table of `item, label`, all or nothing; return the count."""
    table = read_gold(path)
    with store.write() as tx:
        person_id = decider_of(tx, decider).person_id
        by_unit = _from_table(tx, jobs.named(tx, job), table)
        for unit_id, answers in by_unit.items():
            save(tx, unit_id=unit_id, person_id=person_id, answers=answers, comment=table.name)
        return len(by_unit)


def _from_table(tx: Tx, job: Job, table: Table) -> dict[str, list[Answer]]:
    _require_items(job)
    ids = content.items_by_name(tx, [str(value) for value in table.frame["item"].to_list()])
    done = [each.unit_id for each in finished(tx, job)]
    n_items: Counter[str] = Counter()
    unit_of = {}
    for unit_id in done:
        for each in units.get(tx, unit_id).unit.items:
            unit_of[each.item.item_id] = unit_id
            n_items[unit_id] += 1
    problems, labels = Problems(table.name), TASKS[job.task].labels
    by_unit: dict[str, list[Answer]] = defaultdict(list)
    for number, row in enumerate(table.frame.iter_rows(named=True), 2):
        item_id, label = ids.get(str(row["item"]), ""), str(row["label"]).strip()
        if item_id not in unit_of:
            problems.add(f"expected an item whose judgments are complete, found {row['item']!r}", line=number)
        elif labels and label not in labels:
            problems.add(f"expected one of {', '.join(labels)}, found {label!r}", line=number)
        else:
            by_unit[unit_of[item_id]].append(Answer(item_id, label))
    for unit_id, answers in by_unit.items():
        if len(answers) != (n := n_items[unit_id]):
            problems.add(f"unit {unit_id}: expected labels for all of its {n} items, found {len(answers)}")
    problems.done()
    return by_unit


def _require_items(job: Job) -> None:
    if job.task == MARKING:
        raise UsageError(f"job {job.name!r}: marked essays are decided place by place, on the page /adjudicate")


def decider_of(tx: Tx, name: str | None) -> Person:
    """The adjudicator: the named person, or the study's only owner."""
    if name is None:
        owners = [each for each in people.all(tx) if each.role == "owner" and each.state == "active"]
        if not owners:
            raise UsageError(f"expected one owner who decides, found 0; {NO_OWNER}")
        if len(owners) > 1:
            names = ", ".join(owner.name for owner in owners)
            raise UsageError(f"expected one owner who decides, found {len(owners)}; name one of them: {names}")
        return owners[0]
    if not people.count(tx):
        raise NotFound(f"nobody called {name} has joined this study; {NO_OWNER}")
    person = people.named(tx, name)
    if person.role not in DECIDERS:
        raise Forbidden(f"{name} is {person.role}; those who decide are {', '.join(DECIDERS)}")
    return person


def finished(tx: Tx, job: Job) -> list[FinishedUnit]:
    """The finished units of a job, those on which raters differ first."""
    # Of an essay all say that it is marked, and what they marked is in the payload; else they differ in labels.
    return progress.finished_units(tx, job.job_id, by="payload" if job.task == MARKING else "label")


def shown_by(done: list[FinishedUnit]) -> dict[str, list[FinishedUnit]]:
    """The units for each of the page's filter buttons; the empty name is all of them."""
    return {
        "": done,
        "undecided": [unit for unit in done if not unit.is_decided],
        "differ": [unit for unit in done if unit.differs],
        "decided": [unit for unit in done if unit.is_decided],
    }


@dataclass(frozen=True, slots=True)
class AdjudicationProgress:
    """The progress of a job's adjudication, and the next undecided unit."""

    n_done: int
    n_decided: int
    following: str | None


def progress_of(done: list[FinishedUnit], unit_id: str = "") -> AdjudicationProgress:
    """The progress; next is the first undecided unit after `unit_id`, or else the first one."""
    places = {each.unit_id: place for place, each in enumerate(done)}
    here = places.get(unit_id, -1)
    left = [each.unit_id for each in done if not each.is_decided]
    others = [each for each in left if each != unit_id]
    following = min(others, key=lambda other: (places[other] < here, places[other]), default=None)
    return AdjudicationProgress(len(done), len(done) - len(left), following)


# Essays: the places where annotators differ

Kind: TypeAlias = Literal["identification", "type", "correction", "same"]
KINDS: tuple[Kind, ...] = ("identification", "type", "correction", "same")


@dataclass(frozen=True, slots=True)
class Opinion:
    """One annotator's edits at a place; an empty list means that nothing is wrong there."""

    rater: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """`span` covers all edits of the place in the raw text; no other place shares the `tokens` that they change."""

    span: Span
    tokens: Span
    kind: Kind
    opinions: tuple[Opinion, ...]

    @property
    def name(self) -> str:
        """A stable name that depends only on the edits, so that a form can refer to it."""
        return f"{self.tokens.start}-{self.tokens.end}"

    @property
    def edits(self) -> tuple[Edit, ...]:
        return tuple(edit for opinion in self.opinions for edit in opinion.edits)


def places_of(essay: Essay, by_rater: Mapping[str, Sequence[Edit]]) -> tuple[Place, ...]:
    """All places of an essay: differences in identification first, then type, then correction, then agreement."""
    clusters: list[list[TokenEdit]] = []
    reach = Span(-2, -2)
    edits = _normalised(essay, [edit for edits in by_rater.values() for edit in edits])
    for each in sorted(edits, key=lambda token_edit: (token_edit.start, token_edit.end)):
        span = Span(each.start, each.end)
        if clusters and reach.touches(span):
            clusters[-1].append(each)
            reach = Span(reach.start, max(reach.end, span.end))
        else:
            clusters.append([each])
            reach = span
    places = [_place(cluster, tuple(by_rater)) for cluster in clusters]
    return tuple(sorted(places, key=lambda place: (KINDS.index(place.kind), place.span)))


def changed_tokens(essay: Essay, edits: Sequence[Edit]) -> list[Span]:
    """The tokens that each edit changes, or the gap between two tokens for an insertion."""
    return [Span(each.start, each.end) for each in _normalised(essay, edits)]


def _normalised(essay: Essay, edits: Sequence[Edit]) -> list[TokenEdit]:
    """Each edit is represented by its first alternative that changes something, as in `agreement.edits`."""
    tokens, is_tokenised = tokens_of(essay), essay.tokens is not None
    alternatives = [normalise(edit, essay.text, tokens, is_tokenised=is_tokenised) for edit in edits]
    return [next((each for each in some if not each.is_empty), some[0]) for some in alternatives]


def _place(cluster: Sequence[TokenEdit], raters: Sequence[str]) -> Place:
    by_rater = {rater: [each for each in cluster if each.rater == rater] for rater in raters}
    edits = [each.edit for each in cluster]
    span = Span(min(edit.span.start for edit in edits), max(edit.span.end for edit in edits))
    tokens = Span(cluster[0].start, max(each.end for each in cluster))
    opinions = tuple(Opinion(rater, tuple(each.edit for each in mine)) for rater, mine in by_rater.items())
    return Place(span, tokens, _kind(list(by_rater.values())), opinions)


def _kind(answered: Sequence[Sequence[TokenEdit]]) -> Kind:
    if any(not mine for mine in answered):
        return "identification"
    if len({frozenset(each.tag for each in mine) for mine in answered}) > 1:
        return "type"
    if len({frozenset((each.start, each.end, each.replacement) for each in mine) for mine in answered}) > 1:
        return "correction"
    return "same"


@dataclass(frozen=True, slots=True)
class EssayTable:
    """What the adjudicator sees: every annotator's edits and the earlier decision, if any."""

    unit: StudyUnit
    by_rater: Mapping[str, tuple[Edit, ...]]
    aside: tuple[str, ...]
    earlier: Adjudication | None

    @property
    def text(self) -> str:
        return self.unit.unit.essay.text

    @property
    def version(self) -> int:
        return self.earlier.version if self.earlier else 0

    @property
    def places(self) -> tuple[Place, ...]:
        return places_of(self.unit.unit.essay, self.by_rater)


def table_of(tx: Tx, unit: StudyUnit) -> EssayTable:
    """Every valid marking of the essay, lettered in the order in which its annotators first answered."""
    by_rater: dict[str, tuple[Edit, ...]] = {}
    aside = []
    rows = [row for row in judgments.of_unit(tx, unit.unit_id) if row.status == "valid"]
    for number, row in enumerate(rows):
        letter = letter_of(number)
        (answer,) = judgments.answers_of(tx, row.submission_id)
        by_rater[letter] = edits_of(answer, rater=letter)
        if answer.label == SET_ASIDE:
            aside.append(letter)
    return EssayTable(unit, by_rater, tuple(aside), find(tx, unit.unit_id))


def remarks_of(answer: Answer) -> list[tuple[Span, str]]:
    """The adjudicator's comments on places of the essay, from a decision about it."""
    stored = cast("Sequence[Mapping[str, Any]]", answer.payload.get(REMARKS) or ())
    return [(Span(each["start"], each["end"]), each["comment"]) for each in stored]


def letter_of(number: int) -> str:
    return chr(ord("A") + number) if number < 26 else f"A{number}"


def sent_edit(text: str, edit: Edit) -> dict[str, Json]:
    return {
        "start": edit.span.start,
        "end": edit.span.end,
        "quote": edit.span.of(text),
        "tag": edit.tag,
        "replacements": list(edit.replacements),
        "comment": edit.comment,
    }
