"""Detects raters who may copy from each other or be one person, from shared answers, addresses and joining times.

**Shared wrong answers.** An answer is wrong if it misses gold, or if it differs from a clear majority of the valid
answers to an item (`CLEAR` of them, at least `LEAST` votes). Honest raters also share wrong answers if they err often
or an item is hard. For two raters a and b, let n be the number of a's wrong answers on items that b answered too, and
k the number of these answers that b shares. If b errs independently of a, k is binomial with probability

    q = e_b mean(r_i)        over those n items

e_b is b's error rate on all other items, (wrong + 1) / (sum of r_i + 2). r_i is the relative difficulty of an item:
the error rate of the half of the raters with the fewest errors on this item, divided by their mean error rate; the
mean of r_i is set to at least 1. Only this half is used, since copied errors would make an item look hard and the
copying innocent. Two wrong answers to an item are assumed to be the same, which errs in favour of the raters.

The p-value of a pair is the larger of the two tails, a given b and b given a, adjusted by Holm for all pairs of
raters with at least `LEAST` wrong answers each. Groups are pairs below `LEVEL`, merged if they share members. Raters
may also share a misunderstanding, so a group is a reason to investigate, not a verdict.

**One address** used by several raters of a job is reported as well; it may be a household or a class. **Joining
times** are shown only for groups found otherwise, since honest raters also join together when a panel opens.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from sqlalchemy import select

from grater.annotate import jobs, people, progress
from grater.annotate.store import Store, Tx, events, schema
from grater.annotate.store.database import meta_value, set_meta
from grater.annotate.store.transaction import MINUTE
from grater.model import Json
from grater.result import Data
from grater.sheet import counted

CLEAR = 0.6
LEAST = 3
MOST = 1000
"""Raters who are compared, those with the most wrong answers; each has at least `LEAST`."""
LEVEL = 0.05
SOON = 2 * MINUTE
"""Raters of a group joined soon after each other if they are no further apart than this on average."""
Matrix = npt.NDArray[np.float64]
K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Mistake:
    """A rater's answer to an item; `wrong` is the label if it is wrong, else empty."""

    rater: str
    item: str
    wrong: str


@dataclass(frozen=True, slots=True)
class Copying:
    """Raters who share wrong answers: the least that a pair shares, what chance would give, and Holm's p."""

    raters: tuple[str, ...]
    shared: int
    expected: float
    p: float


@dataclass(frozen=True, slots=True)
class Group(Data):
    """Raters to investigate, by pseudonym, and the reason in `words`; `p` if their answers are the reason."""

    raters: tuple[str, ...]
    words: str
    p: float | None = None
    person_ids: tuple[str, ...] = ()


def copying(answers: Iterable[Mistake]) -> list[Copying]:
    """Groups of raters who share more wrong answers than expected by chance, most suspicious first."""
    from scipy.sparse import csr_matrix  # most commands need not wait for these
    from scipy.special import bdtrc

    given = list(answers)
    mistaken = [each for each in given if each.wrong]
    raters, items = _numbers(each.rater for each in given), _numbers(each.item for each in given)
    labels = _numbers((each.item, each.wrong) for each in mistaken)

    def matrix(rows: list[Mistake], columns: list[int], width: int) -> Any:
        where = ([raters[each.rater] for each in rows], columns)
        return csr_matrix((np.ones(len(rows)), where), shape=(len(raters), width))

    answered = matrix(given, [items[each.item] for each in given], len(items))
    wrong = matrix(mistaken, [items[each.item] for each in mistaken], len(items))
    same = matrix(mistaken, [labels[each.item, each.wrong] for each in mistaken], len(labels))
    n_answered, n_wrong = (np.asarray(each.sum(axis=1)).ravel() for each in (answered, wrong))
    better = np.argsort(n_wrong / n_answered, kind="stable")[: max(LEAST, len(raters) // 2)]
    seen, missed = (np.asarray(each[better].sum(axis=0)).ravel() for each in (answered, wrong))
    difficulty = missed / np.maximum(1, seen) / max(missed.sum() / max(1, seen.sum()), 1e-9)
    chosen = [row for row in np.argsort(-n_wrong, kind="stable")[:MOST] if n_wrong[row] >= LEAST]
    if len(chosen) < 2:
        return []
    answered, wrong, same = answered[chosen], wrong[chosen], same[chosen]
    shared, n = (same @ same.T).toarray(), (wrong @ answered.T).toarray()
    hard = np.maximum(n, (wrong.multiply(difficulty) @ answered.T).toarray())
    elsewhere = np.minimum(answered @ difficulty - hard, n_answered[chosen] - n).clip(min=0)
    rates = (n_wrong[chosen] - (wrong @ wrong.T).toarray() + 1) / (elsewhere + 2)
    q = np.clip(rates * hard / np.maximum(1, n), 0.0, 0.99)
    tail = np.where(shared > 0, bdtrc(shared - 1, n.astype(int), q), 1.0)
    names = np.array(list(raters))[chosen]
    found = _groups(names, _holm(np.maximum(tail, tail.T)), shared, n * q)
    return sorted(found, key=lambda group: (group.p, group.raters))


def _numbers(names: Iterable[K]) -> dict[K, int]:
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def _holm(p: Matrix) -> Matrix:
    """Adjusted p-values of the pairs above the diagonal (Holm 1979); 1 elsewhere."""
    adjusted, (rows, columns) = np.ones_like(p), np.triu_indices(len(p), k=1)
    order = np.argsort(p[rows, columns], kind="stable")
    steps = p[rows, columns][order] * np.arange(len(order), 0, -1)
    adjusted[rows[order], columns[order]] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted


def _groups(raters: npt.NDArray[np.str_], p: Matrix, shared: Matrix, expected: Matrix) -> Iterator[Copying]:
    group_of = {n: {n} for n in range(len(raters))}
    for a, b in np.argwhere(p < LEVEL):
        joined = group_of[int(a)] | group_of[int(b)]
        group_of |= dict.fromkeys(joined, joined)
    for members in {tuple(sorted(group)) for group in group_of.values() if len(group) > 1}:
        a, b = min(((a, b) for a in members for b in members if a < b), key=lambda pair: p[pair])
        yield Copying(
            tuple(sorted(str(raters[n]) for n in members)), int(shared[a, b]), float(expected[a, b]), float(p[a, b])
        )


def mistakes(tx: Tx, job_id: str) -> Iterator[Mistake]:
    """The answers of a job that can be right or wrong: to gold, and to work items with a clear majority."""
    sent, judged, unit = schema.submissions, schema.judgments, schema.units
    query = (
        select(
            sent.c.person_id,
            sent.c.status,
            sent.c.is_right,
            unit.c.unit_id,
            unit.c.role,
            judged.c.item_id,
            judged.c.label,
        )
        .join(sent, sent.c.submission_id == judged.c.submission_id)
        .join(unit, unit.c.unit_id == sent.c.unit_id)
        .where(sent.c.job_id == job_id, sent.c.status.in_(("valid", "untrusted")), unit.c.role != "practice")
    )
    by_item = defaultdict(list)
    for row in tx.all(query):
        by_item[f"{row.unit_id} {row.item_id}"].append(row)
    for item, rows in by_item.items():
        votes = Counter(row.label for row in rows if row.status == "valid").most_common(1)
        n_valid = sum(row.status == "valid" for row in rows)
        top, n_top = votes[0] if votes else ("", 0)
        is_clear = n_top >= LEAST and n_top >= CLEAR * n_valid
        for row in rows:
            is_gold = row.role == "gold" and row.is_right is not None
            if is_gold or (row.role == "work" and is_clear):
                is_right = row.is_right if is_gold else row.label == top
                yield Mistake(row.person_id, item, "" if is_right else row.label or "-")


def groups_of(tx: Tx, job_id: str) -> list[Group]:
    """Raters of a job to investigate: by shared wrong answers, most suspicious first, then by address."""
    sent, places, panels = schema.submissions, schema.panel_places, schema.panels
    names = {person.person_id: person.pseudonym for person in people.all(tx)}
    here = {row.person_id for row in tx.all(select(sent.c.person_id).where(sent.c.job_id == job_id).distinct())}
    came = select(places.c.person_id, places.c.joined_at).join(panels, panels.c.panel_id == places.c.panel_id)
    joined = {row.person_id: row.joined_at for row in tx.all(came.where(panels.c.job_id == job_id))}
    by_address: dict[str, set[str]] = defaultdict(set)
    for row in tx.all(select(schema.sessions.c.person_id, schema.sessions.c.address).distinct()):
        if row.address and row.person_id in here | joined.keys():
            by_address[row.address].add(row.person_id)
    sharing = sorted(map(sorted, by_address.values()), key=lambda raters: (-len(raters), raters))
    copied = {each.raters: each for each in copying(mistakes(tx, job_id))}
    found = []
    for raters in dict.fromkeys([*copied, *(tuple(raters) for raters in sharing if len(raters) > 1)]):
        words, each = counted(len(raters), "rater"), copied.get(raters)
        if each is not None:
            words += f" gave the same wrong answers: two of them {each.shared} times, where chance explains about "
            words += f"{each.expected:.1f} (p = {each.p:.2g}, adjusted for all pairs)"
        if any(set(raters) <= theirs for theirs in by_address.values()):
            words += " and came from one address" if each else " came from one address"
        times = [joined[rater] for rater in raters if rater in joined]
        passed = max(times) - min(times) if len(times) == len(raters) else None
        if passed is not None and passed <= len(raters) * SOON:
            words += f", and joined within {counted(passed // MINUTE + 1, 'minute')}"
        found.append(Group(tuple(names[each] for each in raters), f"{words}.", each.p if each else None, raters))
    return found


def alerts_of(tx: Tx, job_id: str) -> list[list[str]]:
    """The groups already announced, as lists of rater ids."""
    noted: list[list[str]] = json.loads(meta_value(tx, f"collusion {job_id}") or "[]")
    return noted


def announce(store: Store, job_id: str) -> list[Group]:
    """Write an event for each new group that shares wrong answers; return these groups."""
    with store.read() as tx:
        groups = [group for group in groups_of(tx, job_id) if group.p is not None]
        if all(_is_noted(group, alerts_of(tx, job_id)) for group in groups):
            return []
    with store.write() as tx:
        jobs.lock(tx, job_id)
        noted = alerts_of(tx, job_id)
        new = [group for group in groups if not _is_noted(group, noted)]
        for group in new:
            payload: dict[str, Json] = {"people": list(group.person_ids), "why": group.words}
            events.write(tx, None, "collusion.found", job_id, payload)
        set_meta(tx, f"collusion {job_id}", json.dumps([*noted, *(list(group.person_ids) for group in new)]))
    return new


def _is_noted(group: Group, noted: Iterable[Sequence[str]]) -> bool:
    return any(set(group.person_ids) <= set(each) for each in noted)


def watch(store: Store, counted_before: dict[str, int]) -> None:
    """Look for groups in open jobs that have new answers since the last check."""
    with store.read() as tx:
        counts = {job.job_id: progress.n_submitted(tx, job.job_id) for job in jobs.all(tx) if job.state == "open"}
    for job_id, n in counts.items():
        if counted_before.get(job_id) != n:
            announce(store, job_id)
            counted_before[job_id] = n
