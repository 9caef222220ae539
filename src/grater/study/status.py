"""Where a study stands, in numbers that cost little to count."""

from __future__ import annotations

from dataclasses import dataclass

from grater.model import Json
from grater.store import Tx, decisions, dump, essays, invitations, items, jobs, people, progress
from grater.store.clock import HOUR
from grater.store.jobs import Job
from grater.store.progress import Progress


@dataclass(frozen=True, slots=True)
class JobStatus:
    """`slots` by state say how far the work is; `submissions` by status what came of it."""

    job: Job
    units: dict[str, int]
    slots: dict[str, int]
    submissions: dict[str, int]

    @property
    def wanted(self) -> int:
        return sum(self.slots.values())

    @property
    def valid(self) -> int:
        return self.slots.get("filled", 0)

    def as_json(self) -> dict[str, Json]:
        shown = {"name": self.job.name, "task": self.job.task, "state": self.job.state, "access": self.job.access}
        counts = {"units": self.units, "slots": self.slots, "submissions": self.submissions}
        return {**shown, "judgments": self.job.judgments, "wanted": self.wanted, "valid": self.valid, **counts}


@dataclass(frozen=True, slots=True)
class Status:
    name: str
    essays: int
    items: int
    decisions: int
    systems: tuple[str, ...]
    people: int
    jobs: tuple[JobStatus, ...]
    n_invited: int = 0

    def as_json(self) -> dict[str, Json]:
        counts = {"essays": self.essays, "items": self.items, "decisions": self.decisions, "people": self.people}
        counts["invited"] = self.n_invited
        return {
            "study": self.name,
            **counts,
            "systems": list(self.systems),
            "jobs": [job.as_json() for job in self.jobs],
        }

    @property
    def next_step(self) -> str:
        """What a person would do now."""
        if not self.essays and not self.items:
            return "import essays: grater study import STUDY FILE..."
        if not self.jobs and not self.systems:
            return (
                "add a job: grater study job STUDY --task TASK; or run systems: grater study decide STUDY --system S"
            )
        if not self.jobs:
            return "have the systems judged: grater study design STUDY sampling --system NAME --n N"
        if not self.people and self.n_invited:
            return "send the link of the invitation, and open the pages: grater serve STUDY"
        if not self.people:
            return "invite raters: grater study invite STUDY --role annotator; then grater serve STUDY"
        if any(job.job.state == "open" and job.valid < job.wanted for job in self.jobs):
            return "wait for raters, with grater serve STUDY running"
        return "see the results: grater study report STUDY; take them out: grater study export STUDY FOLDER"


def status(tx: Tx) -> Status:
    by_slot, by_status = progress.slots_by_job(tx), progress.submissions_by_job(tx)
    by_role = progress.units_by_job(tx)
    found = tuple(
        JobStatus(job, by_role.get(job.job_id, {}), by_slot.get(job.job_id, {}), by_status.get(job.job_id, {}))
        for job in jobs.all(tx)
    )
    name = dump.meta_values(tx).get("name", "")
    counts = (essays.count(tx), items.count(tx), decisions.count(tx))
    waiting = [each for each in invitations.all(tx) if each.used_at is None and each.ended_at is None]
    n_invited = sum(each.expires_at > tx.now for each in waiting)
    return Status(name, *counts, tuple(decisions.system_names(tx)), people.count(tx), found, n_invited)


LATELY = 20
"""Judgments from which the pace is told."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Judgments an hour of late, and the hours that are left at that pace; None before there is a pace."""

    an_hour: float
    hours_left: float


def pace_of(far: Progress, times: list[int]) -> Pace | None:
    late = sorted(times)[-LATELY:]
    if len(late) < LATELY or late[-1] <= late[0]:
        return None
    an_hour = (len(late) - 1) * HOUR / (late[-1] - late[0])
    return Pace(an_hour, (far.wanted - far.valid) / an_hour)
