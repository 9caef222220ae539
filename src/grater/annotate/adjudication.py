"""What counts where several raters judged a unit (annotator `gold`); and marks that annotators look at again.

Decisions come from a form, from a table with the columns of gold (`item`, `label`), or from the raters themselves
where all of them, or more than half, say the same of every item of a unit.  The originals stay.  Marked essays are
decided place by place.

Marks that look wrong go back to the annotator who made them (NUCLE 2013, section 4): every valid marking of a job
passes the rules of `corpus check` as an essay of one annotator, and the findings go into that annotator's queue.
Nothing is changed: the annotator decides.

A marked essay before its adjudicator: every annotator's edits, and where they differ, place by place.

Annotators are letters: whose edit it is should not matter.  A place is a stretch of tokens on which the normalised
edits of the annotators touch (NUCLE, section 3: grown and trimmed, so that *conduct* to *conduct a* and *survey* to
*a survey* are the same edit).  At a place annotators may differ, in the paper's three senses and this order, in
whether there is an error (`identification`), of what `type` it is, and in its `correction`; where they do not, they
say the `same`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeAlias

from grater.annotate import content, jobs, units
from grater.annotate.jobs import Job
from grater.annotate.store import Store, Tx, adjudications, judgments, people, progress, revisions, submissions
from grater.annotate.store.adjudications import Adjudication
from grater.annotate.store.people import Person
from grater.annotate.store.progress import FinishedUnit
from grater.annotate.store.revisions import Finding
from grater.annotate.study.limits import require_text
from grater.annotate.study.work import Sent, is_finished, sent_for, shown_to_staff
from grater.annotate.tasks import TASKS, Shown
from grater.annotate.tasks.marking import DEFAULT_TAGSET, SET_ASIDE, TASK, edits_of
from grater.annotate.tasks.task import TARGET, Answer, Piece
from grater.annotate.units import StudyUnit
from grater.corpora.check import check_essays
from grater.corpora.normalise import TokenEdit, normalise
from grater.corpora.tagsets import TAGSETS
from grater.corpora.text.tokens import tokens_of
from grater.errors import Forbidden, NotFound, Problems, UsageError
from grater.model import Edit, Essay, Json, Span
from grater.result import Data, key
from grater.tables import Table, read_gold

Rule: TypeAlias = Literal["unanimous", "majority"]
DECIDERS = ("owner", "manager", "adjudicator")
_MARKING = "marking"


def _labels_json(answers: Mapping[str, tuple[Answer, ...]]) -> dict[str, Json]:
    """How often each label was given to each item."""
    return {item: dict(sorted(Counter(one.label for one in given).items())) for item, given in answers.items()}


@dataclass(frozen=True, slots=True)
class Waiting(Data):
    """A finished unit that nobody has decided: its valid answers by item, each list in the order of the raters."""

    unit_id: str = field(metadata=key("unit"))
    differs: bool
    answers: Mapping[str, tuple[Answer, ...]] = field(metadata=key("labels", write=_labels_json))


def waiting(tx: Tx, job: Job) -> list[Waiting]:
    """What is to be decided in a job, differences first."""
    _require_items(job)
    said: dict[str, dict[str, list[Answer]]] = defaultdict(lambda: defaultdict(list))
    for row, answers in judgments.by_submission(tx, job.job_id):
        for answer in answers:
            said[row.unit_id][answer.item_id].append(answer)
    return [
        Waiting(each.unit_id, each.differs, {item: tuple(given) for item, given in said[each.unit_id].items()})
        for each in progress.finished_units(tx, job.job_id)
        if not each.is_decided
    ]


def accept(store: Store, job: str, rule: Rule, *, decider: str | None = None) -> int:
    """Decide the units on which the raters themselves are clear; return the count."""
    with store.write() as tx:
        person, asked = decider_of(tx, decider), jobs.named(tx, job)
        by_unit = {each.unit_id: _clear(each, rule) for each in waiting(tx, asked)}
        clear = {unit_id: answers for unit_id, answers in by_unit.items() if answers}
        for unit_id, answers in clear.items():
            save(tx, unit_id, person, answers, comment=rule)
        return len(clear)


def decide(store: Store, job: str, path: Path, *, decider: str | None = None) -> int:
    """Decide units by a table of `item, label`, all of them or none; return the count."""
    table = read_gold(path)
    with store.write() as tx:
        person, asked = decider_of(tx, decider), jobs.named(tx, job)
        _require_items(asked)
        by_unit = _from_table(tx, asked, table)
        for unit_id, answers in by_unit.items():
            save(tx, unit_id, person, answers, comment=table.name)
        return len(by_unit)


def save(
    tx: Tx, unit_id: str, person: Person, answers: Sequence[Answer], *, version: int | None = None, comment: str = ""
) -> Adjudication:
    """Store a decision; one made from an older `version` is stale."""
    return adjudications.save(
        tx,
        unit_id=unit_id,
        person_id=person.person_id,
        answers=answers,
        version=version,
        comment=require_text("adjudication.comment", comment),
    )


def finished_unit(tx: Tx, unit_id: str) -> tuple[StudyUnit, Shown, list[Sent], Adjudication | None]:
    """A finished unit with its valid answers, and the decision, if there is one; P9 hides any other unit."""
    unit = units.get(tx, unit_id)
    if unit.role != "work" or not is_finished(tx, unit_id):
        raise NotFound("no such unit to adjudicate, or its judgments are not complete yet")
    valid = [each for each in sent_for(tx, unit_id) if each.submission.status == "valid"]
    return unit, shown_to_staff(tx, unit_id), valid, adjudications.find(tx, unit_id)


def _clear(unit: Waiting, rule: Rule) -> list[Answer]:
    """One answer for each item if all (or most) raters gave it; none if a single item is open."""
    agreed = []
    for item_id, said in unit.answers.items():
        label, n = Counter(answer.label for answer in said).most_common(1)[0]
        if n < len(said) if rule == "unanimous" else 2 * n <= len(said):
            return []
        # The label, with every alternative of those who gave it and the flags that more than half of all raised.
        words = [word for answer in said if answer.label == label for word in answer.alternatives]
        flags = Counter(flag for answer in said for flag in set(answer.flags))
        most = sorted(flag for flag, n in flags.items() if 2 * n > len(said))
        together = Answer(item_id, label, flags=tuple(most), alternatives=tuple(dict.fromkeys(words)))
        agreed.append(together)
    return agreed


def _from_table(tx: Tx, job: Job, table: Table) -> dict[str, list[Answer]]:
    names = [str(value) for value in table.frame["item"].to_list()]
    ids = content.items_by_name(tx, names)
    done = {each.unit_id for each in progress.finished_units(tx, job.job_id)}
    of_item = {item_id: unit_id for unit_id in done for item_id in _items(tx, unit_id)}
    problems, labels = Problems(table.name), TASKS[job.task].labels
    by_unit: dict[str, list[Answer]] = defaultdict(list)
    for number, row in enumerate(table.frame.iter_rows(named=True), 2):
        item_id, label = ids.get(str(row["item"]), ""), str(row["label"]).strip()
        if item_id not in of_item:
            problems.add(f"expected an item whose judgments are complete, found {row['item']!r}", line=number)
        elif labels and label not in labels:
            problems.add(f"expected one of {', '.join(labels)}, found {label!r}", line=number)
        else:
            by_unit[of_item[item_id]].append(Answer(item_id, label))
    for unit_id, answers in by_unit.items():
        if len(answers) != len(of_unit := list(_items(tx, unit_id))):
            problems.add(f"unit {unit_id}: expected labels for all of its {len(of_unit)} items, found {len(answers)}")
    problems.done()
    return by_unit


def _items(tx: Tx, unit_id: str) -> Iterator[str]:
    return (each.item.item_id for each in units.get(tx, unit_id).unit.items)


NO_OWNER = (
    "decisions carry a person's name: grater serve STUDY gives an owner's link to a study that has none; "
    "open it, then run this again"
)


def decider_of(tx: Tx, name: str | None) -> Person:
    """Who decides: the person named, or the study's only owner."""
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


def _require_items(job: Job) -> None:
    if job.task == _MARKING:
        raise UsageError(f"job {job.name!r}: marked essays are decided place by place, on the page /adjudicate")


NOT_THE_ANNOTATORS = ("coverage", "empty", "same-id")
"""Rules about a corpus as a whole, which no single annotator can mend."""


def review(store: Store, job: str, *, actor: str | None = None) -> int:
    """Check the marks of a job; return the number of new findings for its annotators."""
    with store.write() as tx:
        marked_job = jobs.named(tx, job)
        if marked_job.task != "marking":
            raise UsageError(f"job {job!r}: only marked essays can be reviewed, and this is {marked_job.task}")
        return revisions.add_findings(tx, _findings(tx, marked_job.job_id), actor=actor)


def _findings(tx: Tx, job_id: str) -> Iterator[Finding]:
    for row, answers in judgments.by_submission(tx, job_id):
        unit = units.get(tx, row.unit_id).unit
        edits = tuple(edit for answer in answers for edit in edits_of(answer, rater=row.person_id))
        essay = replace(unit.essay, edits=edits, annotators=(row.person_id,))
        tagset = TAGSETS[str(unit.payload.get("tagset") or DEFAULT_TAGSET)]
        for each in check_essays([essay], tagset=tagset):
            if each.rule not in NOT_THE_ANNOTATORS:
                yield Finding("", row.unit_id, row.person_id, each.rule, each.message)


MARKING = TASK.name


@dataclass(frozen=True, slots=True)
class AdjudicationProgress:
    """How far the adjudication of a job is, and the undecided unit that comes next."""

    n_done: int
    n_decided: int
    following: str | None


def shown_by(done: list[FinishedUnit]) -> dict[str, list[FinishedUnit]]:
    """The units under each of the page's buttons; the empty name is all of them."""
    return {
        "": done,
        "undecided": [unit for unit in done if not unit.is_decided],
        "differ": [unit for unit in done if unit.differs],
        "decided": [unit for unit in done if unit.is_decided],
    }


def next_of(done: list[FinishedUnit], *, after: str = "") -> str | None:
    """The next undecided unit behind this one, else the first of all others."""
    places = {each.unit_id: place for place, each in enumerate(done)}
    here = places.get(after, -1)
    waiting = [each.unit_id for each in done if not each.is_decided and each.unit_id != after]
    return min(waiting, key=lambda unit_id: (places[unit_id] < here, places[unit_id]), default=None)


def progress_of(tx: Tx, job: Job, unit_id: str = "") -> AdjudicationProgress:
    """How far it is; the next unit is the one behind `unit_id`."""
    done = done_of(tx, job)
    return AdjudicationProgress(
        n_done=len(done), n_decided=sum(unit.is_decided for unit in done), following=next_of(done, after=unit_id)
    )


def done_of(tx: Tx, job: Job) -> list[FinishedUnit]:
    """The finished units of a job, those on which raters differ first."""
    # Of an essay all say that it is marked, and what they marked is in the payload; else they differ in labels.
    return progress.finished_units(tx, job.job_id, by="payload" if job.task == MARKING else "label")


Kind: TypeAlias = Literal["identification", "type", "correction", "same"]
KINDS: tuple[Kind, ...] = ("identification", "type", "correction", "same")


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one annotator says at a place; no edits: nothing is wrong there."""

    rater: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """`span` covers every edit there in the raw text; `tokens` is what they change: no two places share it."""

    span: Span
    tokens: Span
    kind: Kind
    opinions: tuple[Opinion, ...]

    @property
    def name(self) -> str:
        """The same for the same edits, so that a form can come back to it."""
        return f"{self.tokens.start}-{self.tokens.end}"

    @property
    def edits(self) -> tuple[Edit, ...]:
        return tuple(edit for opinion in self.opinions for edit in opinion.edits)


def places_of(essay: Essay, by_rater: Mapping[str, Sequence[Edit]]) -> tuple[Place, ...]:
    """All places of an essay, identification first, then type, then correction, then what is the same."""
    token_edits = _normalised(essay, [edit for edits in by_rater.values() for edit in edits])
    places = [_place(cluster, tuple(by_rater)) for cluster in _clusters(token_edits)]
    return tuple(sorted(places, key=lambda place: (KINDS.index(place.kind), place.span)))


def changed_tokens(essay: Essay, edits: Sequence[Edit]) -> list[Span]:
    """The tokens that each edit changes; a gap between two where it inserts."""
    return [Span(each.start, each.end) for each in _normalised(essay, edits)]


def _normalised(essay: Essay, edits: Sequence[Edit]) -> list[TokenEdit]:
    tokens, is_tokenised = tokens_of(essay), essay.tokens is not None
    return [_first(normalise(edit, essay.text, tokens, is_tokenised=is_tokenised)) for edit in edits]


def _first(alternatives: Sequence[TokenEdit]) -> TokenEdit:
    """The first alternative that changes something speaks for the edit, as in `agreement.edits`."""
    return next((each for each in alternatives if not each.is_empty), alternatives[0])


def _clusters(token_edits: Sequence[TokenEdit]) -> list[list[TokenEdit]]:
    clusters: list[list[TokenEdit]] = []
    reach = Span(-2, -2)
    for each in sorted(token_edits, key=lambda token_edit: (token_edit.start, token_edit.end)):
        span = Span(each.start, each.end)
        if clusters and reach.touches(span):
            clusters[-1].append(each)
            reach = Span(reach.start, max(reach.end, span.end))
        else:
            clusters.append([each])
            reach = span
    return clusters


def _place(cluster: Sequence[TokenEdit], raters: Sequence[str]) -> Place:
    by_rater = {rater: [each for each in cluster if each.rater == rater] for rater in raters}
    edits = [each.edit for each in cluster]
    span = Span(min(edit.span.start for edit in edits), max(edit.span.end for edit in edits))
    tokens = Span(cluster[0].start, max(each.end for each in cluster))
    opinions = tuple(Opinion(rater, tuple(each.edit for each in mine)) for rater, mine in by_rater.items())
    return Place(span, tokens, _kind(list(by_rater.values())), opinions)


def _kind(said: Sequence[Sequence[TokenEdit]]) -> Kind:
    if not all(said):
        return "identification"
    if len({frozenset(each.tag for each in mine) for mine in said}) > 1:
        return "type"
    if len({frozenset((each.start, each.end, each.replacement) for each in mine) for mine in said}) > 1:
        return "correction"
    return "same"


AROUND = 90
"""Characters shown before and after a place."""


@dataclass(frozen=True, slots=True)
class EssayTable:
    """What lies before the adjudicator: every annotator's edits and the earlier decision, if there is one."""

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

    def corrected(self, place: Place, opinion: Opinion) -> tuple[Piece, ...]:
        """The same passage as it reads when one annotator is followed: the first correction of each edit put in.

        Edits without a correction leave the words; of two that overlap the first one counts.
        """
        before, _, after = self.around(place.span)
        pieces, at = [Piece(before)], place.span.start
        for edit in sorted(opinion.edits, key=lambda edit: edit.span):
            if edit.span.start < at or not edit.replacements:
                continue
            pieces += [Piece(self.text[at : edit.span.start]), Piece(edit.replacements[0], TARGET)]
            at = edit.span.end
        return (*pieces, Piece(self.text[at : place.span.end] + after))

    def around(self, span: Span) -> tuple[str, str, str]:
        """The words before a place, its own, and those behind it."""
        before, after = self.text[: span.start], self.text[span.end :]
        start = _cut(before[-AROUND:], is_front=True) if len(before) > AROUND else before
        end = _cut(after[:AROUND], is_front=False) if len(after) > AROUND else after
        return start, span.of(self.text), end


def table_of(tx: Tx, unit: StudyUnit) -> EssayTable:
    """Every valid marking of the essay, under letters in the order in which they came."""
    by_rater: dict[str, tuple[Edit, ...]] = {}
    aside = []
    valid = [row for row in submissions.of_unit(tx, unit.unit_id) if row.status == "valid"]
    for number, row in enumerate(valid):
        letter = letter_of(number)
        (answer,) = judgments.answers_of(tx, row.submission_id)
        by_rater[letter] = edits_of(answer, rater=letter)
        if answer.label == SET_ASIDE:
            aside.append(letter)
    return EssayTable(unit, by_rater, tuple(aside), adjudications.find(tx, unit.unit_id))


def letter_of(number: int) -> str:
    """What an annotator is called here: whose work it is should not matter."""
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


def _cut(words: str, *, is_front: bool) -> str:
    """Cut at a blank, so that no word is shown in half."""
    if is_front:
        return "… " + words.partition(" ")[2] if " " in words else "…" + words
    return words.rpartition(" ")[0] + " …" if " " in words else words + "…"
