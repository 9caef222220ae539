"""Creating and naming a study, and its status in numbers that are cheap to count."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from grater.annotate import content, invitations, jobs, panels, people, progress, trust
from grater.annotate.collusion import alerts_of
from grater.annotate.jobs import Job
from grater.annotate.requests import require_name
from grater.annotate.store import Store, Tx, events, open_store, utc_now
from grater.annotate.store.database import meta_value, set_meta
from grater.annotate.store.transaction import Clock
from grater.result import OPTIONAL, Data, in_json, key
from grater.sheet import Sheet, count, counted


def new_study(location: Path | str, *, name: str = "", clock: Clock = utc_now) -> Store:
    """Create an empty study in a new file or in an empty PostgreSQL database."""
    store = open_store(location, create=True, clock=clock)
    with store.write() as tx:
        set_meta(tx, "name", name or Path(store.name).stem)
        events.write(tx, None, "study.made", "", {})
    return store


def study_name(tx: Tx) -> str:
    return meta_value(tx, "name")


def rename_study(tx: Tx, name: str, *, actor: str | None = None) -> str:
    """Rename a study, which is the title of its pages; the same name again changes nothing."""
    name, before = require_name(name.strip()), study_name(tx)
    if name != before:
        set_meta(tx, "name", name)
        events.write(tx, actor, "study.renamed", "", {"name": name, "before": before})
    return name


Step: TypeAlias = Literal["import", "plan", "sample", "invite", "serve", "wait", "report"]
"""The next step in a study: its essays, a job, a sample to judge, people, the pages, waiting, the results."""


SHOWN = ("name", "task", "state", "access", "judgments")


@dataclass(frozen=True, slots=True)
class JobStatus(Data):
    """`slots` counts slots by state, and `submissions` counts submissions by status."""

    job: Job = field(metadata=key(flat=True, write=lambda job: {name: getattr(job, name) for name in SHOWN}))
    units: dict[str, int]
    slots: dict[str, int]
    submissions: dict[str, int]
    warnings: list[str] = field(metadata=OPTIONAL)

    @property
    @in_json()
    def wanted(self) -> int:
        """Judgments that work units have or still need; units that became gold, or were decided early, need none."""
        return sum(n for state, n in self.slots.items() if state != "closed")

    @property
    @in_json()
    def valid(self) -> int:
        return self.slots.get("filled", 0)

    @property
    def numbers(self) -> tuple[int, int, int, int]:
        """Units, valid judgments, judgments wanted, and units held by raters."""
        return sum(self.units.values()), self.valid, self.wanted, self.slots.get("leased", 0)


@dataclass(frozen=True, slots=True)
class Status(Data):
    name: str = field(metadata=key("study"))
    essays: int
    items: int
    decisions: int
    systems: tuple[str, ...]
    people: int
    jobs: tuple[JobStatus, ...]
    n_invited: int = 0

    @property
    def next_step(self) -> Step:
        if not self.essays and not self.items:
            return "import"
        if not self.jobs:
            return "sample" if self.systems else "plan"
        if not self.people:
            return "serve" if self.n_invited else "invite"
        is_waiting = any(job.job.state == "open" and job.valid < job.wanted for job in self.jobs)
        return "wait" if is_waiting else "report"

    def sheet(self) -> Sheet:
        rows = tuple((job.job.name, job.job.task, job.job.state, *map(count, job.numbers)) for job in self.jobs)
        return Sheet("", ("job", "task", "state", "units", "valid", "wanted", "in progress"), rows)


def status(tx: Tx) -> Status:
    numbers = (progress.units_by_job(tx), progress.slots_by_job(tx), progress.submissions_by_job(tx))

    def of_job(job: Job) -> JobStatus:
        units, slots, sent = (by_job.get(job.job_id, {}) for by_job in numbers)
        return JobStatus(job, units, slots, sent, [*trust.gold_warnings(tx, job), *_warnings(tx, job)])

    waiting = [each for each in invitations.all(tx) if each.is_open and each.name != invitations.SET_UP]
    return Status(
        name=study_name(tx),
        essays=content.n_essays(tx),
        items=content.n_items(tx),
        decisions=content.n_decisions(tx),
        systems=tuple(content.system_names(tx)),
        people=people.count(tx),
        jobs=tuple(map(of_job, jobs.all(tx))),
        n_invited=sum(each.expires_at > tx.now for each in waiting),
    )


def _warnings(tx: Tx, job: Job) -> Iterator[str]:
    """Warnings about an open job: raters who share wrong answers, unsigned links."""
    if job.state != "open":
        return
    if groups := len(alerts_of(tx, job.job_id)):
        yield f"{counted(groups, 'group')} of raters gave the same wrong answers; look at the dashboard of the job"
    yield from dict.fromkeys(panel.warning for panel in panels.of_job(tx, job.job_id) if panel.warning)
