"""The terms of a job set or changed: checked, stored, and the units asked for as many judgments as they now say."""

from __future__ import annotations

from collections.abc import Mapping

from grater.crowd.terms import KEY, Terms, read_terms, terms_json, terms_of
from grater.errors import UsageError
from grater.model import Json
from grater.store import Tx, asking, finishing, jobs, payments, units
from grater.store.jobs import Job


def set_terms(tx: Tx, job_id: str, found: Mapping[str, Json], *, actor: str | None = None) -> Job:
    """Change some terms of a job and keep the others; a part set to null is taken away."""
    job = jobs.lock(tx, job_id)
    before = terms_of(job.options)
    merged = {**terms_json(before), **found}
    terms = read_terms({name: value for name, value in merged.items() if value is not None})
    for wanted in terms.qualifications:
        jobs.named(tx, wanted.job)
    if terms.pay is not None:
        payments.require_currency(tx, job_id, terms.pay.currency)
    _require_units(tx, job, before, terms)
    job = jobs.set_options(tx, job_id, {KEY: terms_json(terms)}, actor=actor)
    if terms.redundancy != before.redundancy:
        finishing.tell(tx, asking.settle(tx, job, units.ids_of_job(tx, job_id, role="work")))
    return job


def _require_units(tx: Tx, job: Job, before: Terms, terms: Terms) -> None:
    """Without gold units a gold rule would give nobody any work; assigned jobs have their judgments planned."""
    if terms.gold is not None and not units.ids_of_job(tx, job.job_id, role="gold"):
        raise UsageError(f"{job.name}: has no gold yet; make some first (grater study gold)")
    if terms.redundancy != before.redundancy and job.access == "assigned":
        raise UsageError(f"{job.name}: its annotators are named, so the number of judgments is fixed")
