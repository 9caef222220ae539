"""Candidates for gold: units that nobody has met, those whose answer is known from elsewhere first.

Gold of earlier jobs comes first, then items on which all experts agree, then those on which every rater of another
job said the same (`LEAST_CROWD` or more).  Last come units of the job itself, drawn at random (`MOST_OWN` at most),
which the manager answers: a first study has no other gold.  A manager looks at each, changes the accepted answers or
the reason, and takes it or passes on (`grater.server.gold.pages`).  Reasons that were written before are offered
again.

The recommended rule is the one that docs/crowd-jobs.md works out ("Which rule"): a quiz of 12, then out with whoever
is below 80 % of the gold with 90 % certainty, from 12 questions on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256

from grater.model import Json
from grater.sheet import counted
from grater.store import Tx, gold, jobs, mending, units
from grater.store.columns import label_counts
from grater.store.jobs import Job
from grater.study.gold import labels_meaning, meaning_of, meanings, unanimous
from grater.study.terms import set_terms

LEAST_EXPERTS, LEAST_CROWD = 2, 3
MOST_OWN = 200
OWN = "Nobody has answered it yet: choose it only if the answer is beyond doubt"
MINIMUM, SURE, LEAST_SEEN, QUIZ = 0.8, 0.9, 12, 12


@dataclass(frozen=True, slots=True)
class Candidate:
    """A work unit of one item, the answers that would be accepted (none where nobody knows yet), and why."""

    unit_id: str
    item_id: str
    accepted: tuple[str, ...]
    reason: str
    source: str


def candidates(tx: Tx, job: Job) -> list[Candidate]:
    """Everything that could be made gold of a job now; each item once."""
    open_units = dict(mending.unmet_items(tx, job.job_id))
    chosen: dict[str, Candidate] = {}
    for item_id, accepted, reason, source in _proposed(tx, job):
        if item_id in open_units and item_id not in chosen and accepted:
            chosen[item_id] = Candidate(
                unit_id=open_units[item_id], item_id=item_id, accepted=accepted, reason=reason, source=source
            )
    return [
        *chosen.values(),
        *_unanswered(job, {item: unit for item, unit in open_units.items() if item not in chosen}),
    ]


def _unanswered(job: Job, unit_by_item: Mapping[str, str]) -> Iterator[Candidate]:
    """Units whose answer the manager is to give, in an order that stays the same while gold is made of them."""
    order = sorted(unit_by_item, key=lambda item_id: sha256(f"{job.name} {item_id}".encode()).digest())
    for item_id in order[:MOST_OWN]:
        yield Candidate(unit_id=unit_by_item[item_id], item_id=item_id, accepted=(), reason="", source=OWN)


def _proposed(tx: Tx, job: Job) -> Iterator[tuple[str, tuple[str, ...], str, str]]:
    by_name = {each.name: each for each in jobs.all(tx)}
    for name, known in gold.all(tx):
        if name != job.name and known.state == "active":
            meant = {meaning_of(by_name[name], label) for label in known.accepted}
            accepted = labels_meaning(job, meant.pop()) if len(meant) == 1 else ()
            yield known.item_id, accepted, known.reason, f"Gold of the job {name}"
    for item_id, accepted in sorted(unanimous(tx, job, least=LEAST_EXPERTS).items()):
        yield item_id, accepted, "", "All experts who judged it agree"
    yield from _by_crowds(tx, job)


def _by_crowds(tx: Tx, job: Job) -> Iterator[tuple[str, tuple[str, ...], str, str]]:
    said = meanings([other for other in jobs.all(tx) if other.job_id != job.job_id], label_counts(tx))
    for item_id, of_item in sorted(said.items(), key=lambda each: (-each[1].total(), each[0])):
        if of_item.total() >= LEAST_CROWD and len(of_item) == 1:
            source = f"{counted(of_item.total(), 'rater')} of other jobs agree"
            yield item_id, labels_meaning(job, min(of_item)), "", source


def earlier_reasons(tx: Tx, *, most: int = 20) -> list[str]:
    """The reasons that were written most often."""
    written = Counter(known.reason for _, known in gold.all(tx) if known.reason)
    return [reason for reason, _ in written.most_common(most)]


def use_recommended_rule(tx: Tx, job_id: str, *, actor: str | None = None) -> Job:
    """The rule, with a quiz of half the gold where that is less than 12: the rest is for the work."""
    n_gold = len(units.ids_of_job(tx, job_id, role="gold"))
    rule: dict[str, Json] = {
        "minimum": MINIMUM,
        "least_seen": LEAST_SEEN,
        "quiz": min(QUIZ, n_gold // 2),
        "attempts": 1,
        "sure": SURE,
    }
    return set_terms(tx, job_id, {"gold": rule}, actor=actor)
