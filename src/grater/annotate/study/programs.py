"""Programs as raters: the same questions as people get, in a job of their own, marked as a program's.

A command gets one JSON line per unit and answers with one, in any order, as it reads or at the end:

    {"unit": ID, "task": "error", "before": "", "pieces": [...], "after": "", "fields": [...]}
    {"unit": ID, "fields": {"label": ["ok"]}}

What `fields` must hold is the task's own form, as each question's `fields` says; `example_answer` is one that the
task accepts.  A refused answer is told with its unit and such an example.

The job `J by NAME` has the work of J with one judgment a unit, assigned to the program alone: a program never takes a
place that a person was to have and is never mixed with people unless asked.  Units answered before are not asked
again.  An answer is stored as it comes; a bad one ends the run and what came before stays.
"""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Thread
from typing import IO, Any

from grater.annotate.store import Store, Tx, assignments, intake, jobs, leases, people, slots, units
from grater.annotate.store.assignments import Assignment
from grater.annotate.store.ids import new_id
from grater.annotate.store.jobs import Job
from grater.annotate.store.people import Person
from grater.annotate.store.queue import UnitSlot
from grater.annotate.store.units import NewUnit, StudyUnit
from grater.annotate.tasks import TASKS, Answer, Field, Shown
from grater.annotate.tasks.form import LABEL
from grater.annotate.tasks.marking import TASK as MARKING
from grater.annotate.tasks.marking import tagset_of
from grater.errors import BadInput, GraterError, UsageError
from grater.model import Json
from grater.uncertainty.rng import generator


def through(command: str, lines: Iterable[str]) -> Iterator[str]:
    """Run a command without a shell; a failed one is refused after its last answer."""
    with _started(command) as process:
        feeder = Thread(target=_feed, args=(process.stdin, lines), daemon=True)
        feeder.start()
        try:
            yield from process.stdout or ()
            feeder.join()
            status = process.wait()
        finally:
            process.kill()
            feeder.join()
    if status:
        raise GraterError(f"{command}: failed with exit status {status}; its messages are above")


def _started(command: str) -> subprocess.Popen[str]:
    try:
        pipe = subprocess.PIPE
        return subprocess.Popen(shlex.split(command), stdin=pipe, stdout=pipe, text=True, encoding="utf-8")
    except (OSError, ValueError, IndexError) as error:
        raise GraterError(f"the command {command!r} cannot be started: {error}") from error


def _feed(stream: IO[str] | None, lines: Iterable[str]) -> None:
    """Write every line; that a command has gone away is noticed by whoever reads its answers."""
    if stream is None:
        return
    with suppress(BrokenPipeError):
        for line in lines:
            stream.write(line + "\n")
            stream.flush()
    with suppress(BrokenPipeError):
        stream.close()


PROGRAM = "program"


@dataclass(frozen=True, slots=True)
class Asked:
    """One unit as a program sees it, and what it must not see but its answer is read with."""

    unit: StudyUnit
    shown: Shown

    def to_dict(self) -> dict[str, Json]:
        unit, shown = self.unit.unit, self.shown
        head: dict[str, Json] = {"unit": unit.unit_id, "task": self.unit.job.task, "stage": unit.stage}
        if self.unit.job.task == MARKING.name:
            return {**head, "text": unit.essay.text, "tags": [tag.code for tag in tagset_of(unit)]}
        pieces: list[Json] = [{"text": piece.text, "mark": piece.mark} for piece in shown.pieces]
        fields: list[Json] = [_field(field) for field in shown.fields]
        return {**head, "before": shown.before, "pieces": pieces, "after": shown.after, "fields": fields}


def program_job(tx: Tx, job: Job, name: str, *, actor: str | None = None) -> tuple[Job, Person]:
    """The program and its own job beside the people's; made where they are not there yet."""
    person = people.by_name(tx, name) or people.add(tx, name=name, role="worker", kind=PROGRAM, actor=actor)
    if person.kind != PROGRAM:
        raise UsageError(f"{name}: a person in this study has this name; choose another for the program")
    own = f"{job.name} by {name}"
    known = next((each for each in jobs.all(tx) if each.name == own), None)
    return known or _copied(tx, job, own, person, actor), person


def to_ask(tx: Tx, job: Job) -> list[Asked]:
    """The units of a program's job that it has not answered yet."""
    free = slots.free_units(tx, job.job_id)
    return [asked_unit(tx, unit_id) for unit_id in units.ids_of_job(tx, job.job_id) if unit_id in free]


def judge(
    store: Store, job: Job, person: Person, run: Callable[[Iterable[str]], Iterable[str]], *, tick: Callable[[], None]
) -> int:
    """Ask a program about everything that is left; `run` turns lines of questions into lines of answers."""
    with store.read() as tx:
        asked = {each.unit.unit_id: each for each in to_ask(tx, job)}
    # All of them now: a thread writes the questions while answered ones are popped.
    questions = [json.dumps(each.to_dict()) for each in asked.values()]
    n_done = 0
    for number, line in enumerate(run(questions), 1):
        unit_id, fields = _answer(line, number)
        if unit_id not in asked:
            raise GraterError(f"answer {number}: expected a unit that was asked about, each once, found {unit_id!r}")
        unit = asked.pop(unit_id)
        try:
            store_answer(store, unit, person, fields)
        except BadInput as error:
            raise GraterError(f"answer {number}, unit {unit_id}: {refusal(error, unit)}") from error
        n_done += 1
        tick()
    if asked:
        raise GraterError(f"the program left {len(asked)} units unanswered; its answers to the others are stored")
    return n_done


def refusal(error: BadInput, asked: Asked) -> str:
    """What is wrong with an answer, and one that would be right."""
    wrong = "; ".join(problem.message for problem in error.problems)
    return f"{wrong}. An answer to it looks like {json.dumps({'fields': example_answer(asked)})}"


def example_answer(asked: Asked) -> dict[str, list[str]]:
    """An answer that the task of a unit accepts: the first choice of every question that then must be answered."""
    if asked.unit.job.task == MARKING.name:
        return {"edits": ["[]"]}
    label = next((_first(field) for field in asked.shown.fields if field.name == LABEL), "")
    due = [field for field in asked.shown.fields if not field.asked_for or label in field.asked_for]
    return {field.name: [_first(field)] for field in due if field.required}


def _first(field: Field) -> str:
    return field.choices[0].value if field.choices else "word"


def read_answer(asked: Asked, fields: Mapping[str, list[str]]) -> tuple[Answer, ...]:
    """The answers that filled fields come to; `BadInput` where the task refuses them."""
    unit = asked.unit
    return TASKS[unit.job.task].read(unit.unit, fields, kept=asked.shown.kept)


def store_answer(
    store: Store,
    asked: Asked,
    person: Person,
    fields: Mapping[str, list[str]],
    *,
    payloads: Mapping[str, Mapping[str, Json]] | None = None,
) -> None:
    """Hand one answer in, as a rater would; `payloads`, by item, go into its judgments."""
    unit, further = asked.unit, payloads or {}
    answers = tuple(
        replace(answer, payload={**answer.payload, **further.get(answer.item_id, {})})
        for answer in read_answer(asked, fields)
    )
    with store.write() as tx:
        lease = leases.issue(tx, unit.job, UnitSlot(unit.unit_id, 1), person_id=person.person_id)
        leases.keep(tx, lease.lease_id, asked.shown.kept)
        intake.receive(
            tx,
            submission_id=new_id(),
            lease_id=lease.lease_id,
            person_id=person.person_id,
            body=dict(fields),
            answers=answers,
        )


def _copied(tx: Tx, job: Job, name: str, person: Person, actor: str | None) -> Job:
    made = jobs.add(
        tx, name=name, task=job.task, title=name, access="assigned", options={"of": job.name}, actor=actor
    )
    current = jobs.current_guidelines(tx, job.job_id)
    jobs.add_guidelines(tx, made.job_id, current.markdown if current else TASKS[job.task].guidelines, actor=actor)
    originals = [units.get(tx, unit_id) for unit_id in units.ids_of_job(tx, job.job_id, role="work")]
    added = units.add_all(tx, made.job_id, [_new(each) for each in originals])
    assignments.add_all(tx, made.job_id, [Assignment(unit_id, person.person_id) for unit_id in added])
    return jobs.set_state(tx, made.job_id, "open", actor=actor)


def _new(unit: StudyUnit) -> NewUnit:
    asked = tuple((each.item.item_id, each.payload) for each in unit.unit.items)
    essay_id = unit.unit.essay.essay_id or None
    return NewUnit(asked, essay_id, stage=unit.unit.stage, payload=unit.unit.payload, wanted=1)


def asked_unit(tx: Tx, unit_id: str) -> Asked:
    unit = units.get(tx, unit_id)
    return Asked(unit, TASKS[unit.job.task].show(unit.unit, rng=generator(0, tx.key, PROGRAM, unit_id)))


def _answer(line: str, number: int) -> tuple[str, dict[str, list[str]]]:
    try:
        answer = json.loads(line)
        fields = {str(name): _values(value) for name, value in answer["fields"].items()}
        return str(answer["unit"]), fields
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        wanted = '{"unit": ID, "fields": {"label": ["ok"]}}'
        what = "with the fields of its task"
        message = f"expected a JSON line {wanted}, {what}, found {line.strip()[:80]!r}"
        raise GraterError(f"answer {number}: {message}") from error


def _values(value: Any) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else [str(value)]


def _field(field: Field) -> dict[str, Json]:
    choices: list[Json] = [{"value": choice.value, "text": choice.text} for choice in field.choices]
    asked_for: list[Json] = list(field.asked_for)
    return {
        "name": field.name,
        "kind": field.kind,
        "question": field.question,
        "choices": choices,
        "required": field.required,
        "asked_for": asked_for,
    }
