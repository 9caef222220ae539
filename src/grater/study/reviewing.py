"""Marks that look wrong go back to the annotator who made them (NUCLE 2013, section 4).

Every valid marking of a job passes the rules of `grater corpus check` as an essay of one annotator; what they find is
put into that annotator's queue.  Nothing is changed: the annotator decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from grater.corpora.check import check_essays
from grater.corpora.tagsets import TAGSETS
from grater.errors import UsageError
from grater.store import Store, Tx, findings, jobs, judgments, units
from grater.store.findings import Finding
from grater.tasks.marking import DEFAULT_TAGSET, edits_of

NOT_THE_ANNOTATORS = ("coverage", "empty", "same-id")
"""Rules about a corpus as a whole, which no single annotator can mend."""


def review(store: Store, job: str, *, actor: str | None = None) -> int:
    """Look over the marks of a job; give how many new findings wait for their annotators."""
    with store.write() as tx:
        found = jobs.named(tx, job)
        if found.task != "marking":
            raise UsageError(f"job {job!r}: only marked essays can be reviewed, and this is {found.task}")
        return findings.add_all(tx, _findings(tx, found.job_id), actor=actor)


def _findings(tx: Tx, job_id: str) -> Iterator[Finding]:
    for row, answers in judgments.by_submission(tx, job_id):
        unit = units.the(tx, row.unit_id).unit
        edits = tuple(edit for answer in answers for edit in edits_of(answer, rater=row.person_id))
        essay = replace(unit.essay, edits=edits, annotators=(row.person_id,))
        tagset = TAGSETS[str(unit.payload.get("tagset") or DEFAULT_TAGSET)]
        for each in check_essays([essay], tagset=tagset):
            if each.rule not in NOT_THE_ANNOTATORS:
                yield Finding("", row.unit_id, row.person_id, each.rule, each.message)
