"""The balanced corpus of a mined list as a job: accepted errors, as many correct uses, some of both as gold.

Madnani et al. 2011, section 2.1 (`grater.detect.mining.balanced`).  Items are of the kind `prep`, as detectors decide
on them.  Raters are not told which are which: units are shuffled, and what was mined stays with the list.
"""

from __future__ import annotations

from grater.detect.mining.balanced import N_EACH, N_GOLD, Balanced
from grater.detect.mining.mined import Counter, balanced_from, mine
from grater.model import Item, Span
from grater.rng import generator
from grater.store import Store, items
from grater.store.jobs import Job
from grater.study.crowd_gold import make_gold
from grater.study.mining import TASK, all_of, the_list, uses_in
from grater.study.name_rules import require_name
from grater.study.planning import JobPlan, plan_job
from grater.tasks.task import ERROR

JUDGMENTS = 3
"""Raters asked about each item."""


def balanced_job(
    store: Store,
    job_id: str,
    name: str,
    count: Counter,
    *,
    judgments: int = JUDGMENTS,
    n_each: int = N_EACH,
    n_gold: int = N_GOLD,
    seed: int = 0,
    actor: str | None = None,
) -> tuple[Job, Balanced]:
    """The accepted trigrams of a list and as many correct uses as a job of its own, some of them gold; not open yet.

    Correct uses are attested by `count`, and neither suspicious by it nor on the list.
    """
    require_name(name)
    with store.read() as tx:
        the_list(tx, job_id)
        verdicts = {each.trigram: each.verdict for each in all_of(tx, job_id)}
    rng = generator(seed, "mine", "balanced")
    made = balanced_from(mine(uses_in(store), count), verdicts, rng=rng, n_each=n_each, n_gold=n_gold)
    rows = made.items.select("essay", "start", "end", "kind", "label", "trigram", "gold").rows()
    placed = [
        (Item(essay, Span(start, end), kind), label, trigram, gold)
        for essay, start, end, kind, label, trigram, gold in rows
    ]
    with store.write() as tx:
        items.add_all(tx, (items.of(item) for item, *_ in placed))
        ids = [item.item_id for item, *_ in placed]
        job = plan_job(tx, JobPlan(name, TASK, judgments, item_ids=ids, seed=seed, is_open=False), actor=actor)
        for item, label, trigram, gold in placed:
            if gold:
                make_gold(tx, job, item.item_id, [label], reason=_reason(trigram, label), actor=actor)
    return job, made


def _reason(trigram: str, label: str) -> str:
    first, middle, last = trigram.split(" ")
    if label == ERROR:
        return f"People say “{first} {last}”: “{middle}” is one too many."
    return f"“{trigram}” is how people say it."
