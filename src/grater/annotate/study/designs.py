"""The studies of the papers as templates: each names its jobs, their tasks and their sizes.

`sampling` (T&C 2008, 6): a sample of what a system flags and lets pass, judged blind.  `exhaustive`: every item.
`verification` (6.4): only what the system flags, shown with its suggestion; precision and no recall.  `crowd-error`
(Madnani et al. 2011): error, ok or unknown by many raters.  `cloze` (4.1): one blank per sentence.
`choice` (4.2): writer against system where the system would write another word, flagged or not.  `constructions` (Lee
et al. 2009): five constructions of a noun in two stages.  `marking` (NUCLE 2013): whole essays.

Sizes are the papers' where they name one: 750 items, twice as many unflagged as flagged (T&C 2008, 6.2), 200 blanks
and 200 choices (4.1, 4.2), 1,000 sentences by 20 raters (Madnani 2.1), three nouns a set (Lee, 3.3).  Where the
essays have fewer, all are taken and the job says what is missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from grater.annotate.store import Store, Tx, decisions, items, jobs, units
from grater.annotate.store.columns import decided_kinds, decision_columns
from grater.annotate.store.jobs import Job
from grater.annotate.study.job_units import PREPOSITION, construction_items, own_essays, preposition_items
from grater.annotate.study.jobs import JobPlan, plan_job
from grater.annotate.study.samples import Wish, draw, require_left
from grater.annotate.tasks import TASKS
from grater.annotate.tasks.task import subject_of
from grater.corpora.text.sentences import sentences_of
from grater.errors import Conflict, UnknownName, UsageError
from grater.model import Json
from grater.registry import unknown
from grater.uncertainty.rng import generator

MISSING = "not_filled"
"""The option of a job that says what of its design the essays could not fill."""


@dataclass(frozen=True, slots=True)
class Design:
    """One kind of study: its task, the judgments of a unit and the units (None: all that fit), and its source."""

    name: str
    task: str
    judgments: int
    source: str
    n: int | None = None
    needs_system: bool = False


DESIGNS: Mapping[str, Design] = {
    design.name: design
    for design in (
        Design("sampling", "usage", 2, "T&C 2008, section 6", 750, needs_system=True),
        Design("exhaustive", "usage", 2, "T&C 2008, section 5"),
        Design("verification", "verify", 1, "T&C 2008, section 6.4", needs_system=True),
        Design("crowd-error", "error", 20, "Madnani et al. 2011", 1000),
        Design("cloze", "cloze", 2, "T&C 2008, section 4.1", 200),
        Design("choice", "choice", 2, "T&C 2008, section 4.2", 200, needs_system=True),
        Design("constructions", "construction", 2, "Lee et al. 2009"),
        Design("marking", "marking", 2, "NUCLE 2013"),
    )
}


@dataclass(frozen=True, slots=True)
class Order:
    """What a person asks of a design; what is left out is the paper's."""

    design: str
    name: str = ""
    system: str | None = None
    n: int | None = None
    n_flagged: int | None = None
    judgments: int | None = None
    annotators: Sequence[str] = ()
    seed: int = 0


def start(store: Store, order: Order, *, actor: str | None = None) -> Job:
    """Plan the job of a design and open it; the same order again gives the job that is there."""
    design = _design(order.design)
    if design.needs_system and order.system is None:
        order = replace(order, system=_only_system(store, design))
    order = replace(order, name=order.name or design.name)
    earlier = _earlier(store, order)
    if earlier is not None:
        return earlier
    sized = replace(order, n=order.n or _size(store, design, order))
    item_ids, missing = _items(store, design, sized)
    plan = JobPlan(
        order.name,
        design.task,
        order.judgments or design.judgments,
        system=order.system if subject_of(TASKS[design.task]) == "suggestion" else None,
        item_ids=item_ids,
        most=sized.n if design.name not in ("sampling", "cloze") else None,
        annotators=order.annotators,
        options={"design": design.name, "order": _asked(order)},
        seed=order.seed,
    )
    with store.write() as tx:
        job = plan_job(tx, plan, actor=actor)
        return _with_shortfall(tx, job, order.n or design.n, missing)


def _size(store: Store, design: Design, order: Order) -> int | None:
    """The paper's number of units; a sample has no more than the items that its system decided on."""
    if design.name != "sampling" or design.n is None:
        return design.n
    with store.read() as tx:
        kinds = decided_kinds(tx, order.system or "")
        decided = decision_columns(tx, {PREPOSITION} & kinds or kinds)
    return min(design.n, len(decided.filter(system=order.system)) or design.n)


def _with_shortfall(tx: Tx, job: Job, wanted: int | None, missing: Sequence[str]) -> Job:
    """The job, with what of its design the essays could not fill among its options."""
    n_units = len(units.ids_of_job(tx, job.job_id, role="work"))
    short = [f"units: wanted {wanted:,}, found {n_units:,}"] if wanted and n_units < wanted else []
    lines: list[Json] = [*missing, *short]
    return jobs.set_options(tx, job.job_id, {**job.options, MISSING: lines}) if lines else job


def _earlier(store: Store, order: Order) -> Job | None:
    """The job of this very order, if it was given before."""
    with store.read() as tx:
        earlier = next((job for job in jobs.all(tx) if job.name == order.name), None)
    if earlier is not None and earlier.options.get("order") != _asked(order):
        raise Conflict(f"there is already a job called {order.name!r}; choose another name")
    return earlier


def _asked(order: Order) -> dict[str, Json]:
    numbers: dict[str, Json] = {"n": order.n, "flagged": order.n_flagged, "judgments": order.judgments}
    names: dict[str, Json] = {"design": order.design, "system": order.system, "annotators": list(order.annotators)}
    return {**names, **numbers, "seed": order.seed}


def _design(name: str) -> Design:
    if name not in DESIGNS:
        raise UnknownName(unknown("design", name, sorted(DESIGNS)))
    return DESIGNS[name]


def _only_system(store: Store, design: Design) -> str:
    with store.read() as tx:
        names = decisions.system_names(tx)
    if len(names) != 1:
        known = ", ".join(names) or "none; run a system first"
        raise UsageError(f"the design {design.name} is for one system: expected its name, found {known}")
    return names[0]


def _items(store: Store, design: Design, order: Order) -> tuple[Sequence[str], list[str]]:
    """The items to ask about, none for all that fit, and what of the design could not be filled."""
    if design.name == "sampling":
        wish = Wish(order.system or "", order.n or 0, order.n_flagged, seed=order.seed)
        return require_left(draw(store, order.name, wish).left, order.name), []
    if design.name == "verification":
        with store.read() as tx:
            flagged = [each.item_id for each in decisions.all(tx, system=order.system) if each.flagged]
        if not flagged:
            raise UsageError(f"nothing to verify: {order.system} flags no item of the study")
        return flagged, []
    if design.name == "choice":
        with store.read() as tx:
            known = decisions.best_words(tx, order.system or "")
        words = f"{order.system}'s suggestions are stored only where it flags; run it again to store them all"
        return (), [] if known else [words]
    if design.name == "cloze":
        with store.write() as tx:
            return _one_a_sentence(tx, order), []
    if design.name == "constructions":
        with store.write() as tx:
            return construction_items(tx, seed=order.seed)
    return (), []


def _one_a_sentence(tx: Tx, order: Order) -> list[str]:
    """One preposition at random from each sentence that has any, then the sentences at random."""
    rng = generator(order.seed, "cloze")
    chosen = []
    for essay in own_essays(tx):
        places = list(preposition_items(essay))
        for sentence in sentences_of(essay):
            inside = [item for item in places if sentence.covers(item.span)]
            if inside:
                chosen.append(inside[int(rng.integers(len(inside)))])
    if not chosen:
        raise UsageError("no units: no essay in the study has a preposition")
    n = min(order.n or len(chosen), len(chosen))
    picked = sorted(rng.choice(len(chosen), size=n, replace=False).tolist())
    items.add_all(tx, (items.of(chosen[place]) for place in picked))
    return [chosen[place].item_id for place in picked]
