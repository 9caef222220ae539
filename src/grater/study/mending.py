"""Mistakes mended by managers: jobs renamed, archived, deleted; practice made work again; essays deleted.

Whatever a person did stays, so a job or an essay is deleted only while nobody has judged it, and only by whoever
types `WORD`.  An archived job is out of sight; its judgments are in reports and exports as before.
"""

from __future__ import annotations

from dataclasses import replace

from grater.crowd.terms import KEY, terms_json, terms_of
from grater.errors import Conflict, UsageError
from grater.store import Tx, jobs, mending, units
from grater.store.jobs import Job
from grater.study.limits import require_name, require_text

WORD = "delete"
"""What is typed before anything is deleted."""


def rename_job(tx: Tx, job_id: str, *, name: str = "", title: str = "", actor: str | None = None) -> Job:
    """Another name or title; what is left empty stays.  Jobs that ask for this one first go by its new name."""
    job = jobs.get(tx, job_id)
    wanted, shown = require_name(name or job.name), require_text("job.title", title or job.title)
    if (wanted, shown) == (job.name, job.title):
        return job
    renamed = jobs.rename(tx, job_id, name=wanted, title=shown, actor=actor)
    for other in jobs.all(tx):
        terms = terms_of(other.options)
        if any(asked.job == job.name for asked in terms.qualifications):
            asked = tuple(
                replace(each, job=wanted) if each.job == job.name else each for each in terms.qualifications
            )
            changed = terms_json(replace(terms, qualifications=asked))
            jobs.set_options(tx, other.job_id, {KEY: changed}, actor=actor)
    return renamed


def archive_job(tx: Tx, job_id: str, is_archived: bool, *, actor: str | None = None) -> Job:
    """Take a job out of sight, or bring it back; nobody may be at work in it."""
    job = jobs.get(tx, job_id)
    if is_archived and job.state not in ("draft", "closed"):
        raise Conflict(f"{job.name}: is {job.state}; close it first")
    return jobs.set_archived(tx, job_id, is_archived, actor=actor)


def delete_job(tx: Tx, job_id: str, *, word: str, actor: str | None = None) -> Job:
    """Delete a job that has no judgments; returns what it was."""
    require_word(word)
    job = jobs.get(tx, job_id)
    mending.delete_job(tx, job_id, actor=actor)
    return job


def delete_essay(tx: Tx, essay_id: str, *, word: str, actor: str | None = None) -> None:
    """Delete an essay that nobody is asked about."""
    require_word(word)
    mending.delete_essay(tx, essay_id, actor=actor)


def back_to_work(tx: Tx, unit_id: str, *, actor: str | None = None) -> Job:
    """Make a gold or practice unit that nobody has met part of the work again; returns its job."""
    mending.back_to_work(tx, unit_id, actor=actor)
    return units.get(tx, unit_id).job


def require_word(word: str) -> None:
    """Refuse whoever did not type the word."""
    if word.strip().lower() != WORD:
        raise UsageError(f"type the word {WORD!r} to delete it permanently; found {word[:20]!r}")
