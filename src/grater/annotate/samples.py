"""Samples drawn from systems' decisions, and study designs.

A sample is stored under its name, with its design, and never changes.

It is drawn from the study's items for one of its systems, or extends another for the next system (T&C 2008, section
6).

A system may look at places of several kinds (prepositions, gaps); a sample has one kind, since raters are asked one
question. The kind is stored with the sample, so that it is always compared with the decisions that it was drawn from.

**Designs** are the papers' studies as templates, with jobs, tasks and sizes.

`sampling` (T&C 2008, 6): a sample of what a system flags and does not flag, judged blind. `exhaustive`: every item.
`verification` (6.4): only what the system flags, shown with its suggestion; precision and no recall. `crowd-error`
(Madnani et al. 2011): error, ok or unknown by many raters. `cloze` (4.1): one blank per sentence. `choice` (4.2):
writer against system where the system would write another word, flagged or not. `constructions` (Lee et al. 2009):
five constructions of a noun in two stages. `marking` (NUCLE 2013): whole essays.

Sizes are the papers' if stated: 750 items, twice as many unflagged as flagged (T&C 2008, 6.2), 200 blanks and 200
choices (4.1, 4.2), 1,000 sentences by 20 raters (Madnani 2.1), three nouns a set (Lee, 3.3). If the essays have
fewer, all are taken and the job reports the shortfall.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import polars as pl
from pydantic import AfterValidator, Field
from sqlalchemy import select

from grater.annotate import content, jobs, units
from grater.annotate.content import own_essays
from grater.annotate.jobs import Job
from grater.annotate.plans import PREPOSITION, NewJob, construction_items, plan_job, preposition_items
from grater.annotate.requests import LARGEST, Body, example, require_name
from grater.annotate.store import Store, Tx, events, schema
from grater.annotate.store.schema import to_text
from grater.annotate.store.transaction import chunks, new_id
from grater.annotate.tables import all_verdicts, decided_kinds, decision_columns, judged_items
from grater.annotate.tasks import TASKS
from grater.annotate.tasks.task import subject_of
from grater.corpora.text.sentences import sentences_of
from grater.errors import Conflict, NotFound, UnknownName, UsageError, unknown
from grater.measure.evaluation.cases import error_shares
from grater.measure.sampling.draw import add_system, draw_sample, draws_of, few_flags, to_judge
from grater.measure.sampling.plan import Allocation
from grater.model import Json
from grater.sheet import counted
from grater.tables import Sample, Table, read_decisions, read_sample
from grater.tables.read import parsed_meta
from grater.uncertainty import generator

NUMBERS = ("probability", "stratum_size", "random")
TYPES = {"item": str, "stratum": str, **dict.fromkeys(NUMBERS, float), "system": str}
"""The columns of a sample, as `grater.tables` reads them."""


def add(tx: Tx, name: str, sample: Sample, *, actor: str | None = None) -> int:
    """Store a new sample and return its size; the same sample again changes nothing, another is refused."""
    earlier = tx.first(select(schema.samples).where(schema.samples.c.name == name))
    meta = sample.meta.as_json() if sample.meta else {}
    if earlier is not None:
        if earlier.meta != meta:
            raise Conflict(f"there is another sample called {name!r} already; choose another name")
        return 0
    sample_id = new_id()
    tx.insert(schema.samples, {"sample_id": sample_id, "name": name, "meta": meta, "at": tx.now})
    for portion in chunks(sample.frame.iter_rows(named=True)):
        rows = [
            {
                "sample_id": sample_id,
                "item_id": row["item"],
                "system": row.get("system") or "",
                "stratum": row["stratum"],
            }
            | {name: row.get(name) for name in NUMBERS}
            for row in portion
        ]
        tx.insert(schema.sample_items, rows)
    events.write(tx, actor, "sample.drawn", sample_id, {"name": name, "n": len(sample)})
    return len(sample)


def names(tx: Tx) -> list[str]:
    query = select(schema.samples.c.name).order_by(schema.samples.c.at, tx.binary(schema.samples.c.name))
    return [row.name for row in tx.all(query)]


def named(tx: Tx, name: str) -> Sample:
    """The sample with this name, by system, each in judging order (`measure.sampling.draw`)."""
    row = tx.first(select(schema.samples).where(schema.samples.c.name == name))
    if row is None:
        raise NotFound(unknown("sample", name, names(tx)))
    columns = [schema.sample_items.c["item_id" if name == "item" else name].label(name) for name in TYPES]
    rows = tx.all(select(*columns).where(schema.sample_items.c.sample_id == row.sample_id))
    frame = pl.DataFrame([dict(drawn._mapping) for drawn in rows], schema=TYPES)
    meta = parsed_meta(to_text(row.meta), name=name)
    turn = pl.col("system").replace_strict({name: n for n, name in enumerate(meta.systems)}, default=-1)
    in_order = read_sample(frame, name=name).frame.sort(turn, pl.col("random") / pl.col("probability"), "item")
    return Sample(in_order, name, meta)


OF_KIND = "kind"
N_SAMPLED = 300
"""Items of a sample that nobody gave a size."""


class NewSample(Body):
    """`n` items for a system, `flagged` of them from what it flagged (by default as in the papers)."""

    model_config = example(name="first", system="prep-perceptron", n=6, flagged=2)
    name: Annotated[str, AfterValidator(require_name)] = Field(default="sample", min_length=1, max_length=80)
    system: str
    n: int = Field(default=N_SAMPLED, ge=1, le=1_000_000)
    flagged: int | None = Field(default=None, ge=0, le=1_000_000)
    strata: str = Field(default="decision", description="decision, or score:10 for ten bands of scores, ...")
    allocation: Allocation = "paper"
    kind: str = Field(default="", description="Of the items, where a system looks at several kinds.")
    seed: int = Field(default=0, ge=0, le=LARGEST)


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """The sample, its unjudged items in order, and its coverage."""

    sample: Sample
    left: tuple[str, ...]
    notes: tuple[str, ...] = ()


def draw(
    store: Store, sent: NewSample, *, rates: Mapping[str, float] | None = None, actor: str | None = None
) -> Drawn:
    """Draw a sample and store it under its name; repeating the draw changes nothing.

    `rates` are the expected error rates by stratum, for Neyman's allocation.
    """
    with store.write() as tx:
        content.hold(tx)
        kind = sent.kind or decided_kind(tx, sent.system)
        sample = draw_sample(
            decisions_on(tx, kind),
            sent.system,
            sent.n,
            strata=sent.strata,
            method=sent.allocation,
            n_flagged=sent.flagged,
            rates=rates or {},
            seed=sent.seed,
        )
        if sample.meta is not None and kind:
            extra = {**sample.meta.extra, OF_KIND: kind}
            sample = replace(sample, meta=replace(sample.meta, extra=extra))
        return _keep(tx, sent.name, sample, actor)


def extend(
    store: Store,
    old: str,
    name: str,
    system: str,
    *,
    n: int | None = None,
    width: float | None = None,
    actor: str | None = None,
) -> Drawn:
    """Add a system to an old sample, under a new name; earlier judgments are reused.

    With a `width`, only as many new items are drawn as bring its recall to an interval of that width, if new items
    resemble the judged ones.
    """
    with store.write() as tx:
        content.hold(tx)
        earlier = named(tx, old)
        judged = all_verdicts(tx, "the study") if width is not None else None
        if width is not None and not 0 < width < 1:
            raise UsageError(f"expected a width between 0 and 1, found {width:g}")
        if width is not None and judged is None:
            raise UsageError("a target width needs judgments to estimate error rates; there are none yet")
        errors = error_shares(judged) if judged is not None else None
        table = decisions_on(tx, kind_of(earlier))
        return _keep(tx, name, add_system(earlier, table, system, n=n, width=width, errors=errors), actor)


def of_sample(store: Store, plan: NewJob) -> NewJob:
    """The plan of a job for the unjudged items of its sample; a plan without a sample is unchanged."""
    if not plan.sample:
        return plan
    with store.read() as tx:
        sample = named(tx, plan.sample)
        left = require_left(to_judge(sample, judged_items(tx)), plan.sample)
    return plan.model_copy(update={"item_ids": tuple(left), "kind": plan.kind or kind_of(sample) or None})


def require_left(left: Sequence[str], name: str) -> Sequence[str]:
    """The items to ask about; none would mean every item to a plan, and is refused."""
    if not left:
        raise UsageError(f"{name}: every item of the sample has already been judged")
    return left


def kind_of(sample: Sample) -> str:
    return str(sample.meta.extra.get(OF_KIND, "")) if sample.meta else ""


def _keep(tx: Tx, name: str, sample: Sample, actor: str | None) -> Drawn:
    add(tx, require_name(name), sample, actor=actor)
    return Drawn(sample, tuple(to_judge(sample, judged_items(tx))), notes_on(tx, sample))


def notes_on(tx: Tx, sample: Sample) -> tuple[str, ...]:
    """The kinds of items that a sample covers, those it leaves out, and systems with too few flags."""
    lines, kind, few = [], kind_of(sample), few_flags(sample)
    for draw in draws_of(sample):
        others = []
        for other in sorted(decided_kinds(tx, draw.system) - {kind}) if kind else ():
            flags = decision_columns(tx, [other]).filter(pl.col("flagged").cast(pl.Boolean), system=draw.system)
            others.append(f"{other} ({counted(flags.height, 'flag')})")
        if others:
            left = ", ".join(others)
            lines.append(f"the sample covers items of kind {kind}; {draw.system} also decides on {left}, left out")
        elif kind:
            lines.append(f"the sample covers items of kind {kind}, all that {draw.system} decides on")
        if draw.system in few:
            lines.append(few[draw.system])
    return tuple(lines)


def decided_kind(tx: Tx, system: str) -> str:
    """The only kind that a system looks at, or prepositions if these are among several."""
    kinds = decided_kinds(tx, system)
    if len(kinds) <= 1:
        return next(iter(kinds), "")
    if PREPOSITION in kinds:
        return PREPOSITION
    raise UsageError(f"{system} decides on items of several kinds: expected one of {', '.join(sorted(kinds))}")


def decisions_on(tx: Tx, kind: str) -> Table:
    frame = decision_columns(tx, [kind] if kind else ())
    if not len(frame):
        what = f"no decisions on items of kind {kind!r}" if kind else "no decisions yet"
        raise UsageError(f"the study has {what}; run a system first")
    return read_decisions(frame, name="decisions")


MISSING = "not_filled"
"""The option of a job for the parts of its design that the essays could not fill."""


@dataclass(frozen=True, slots=True)
class Design:
    """One kind of study: its task, judgments per unit, units (None: all that fit), and source."""

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


def start(
    store: Store,
    design_name: str,
    *,
    name: str = "",
    system: str | None = None,
    n: int | None = None,
    n_flagged: int | None = None,
    judgments: int | None = None,
    annotators: Sequence[str] = (),
    seed: int = 0,
    actor: str | None = None,
) -> Job:
    """Plan the job of a design, with the paper's settings by default, and open it.

    The same order again returns the existing job.
    """
    if design_name not in DESIGNS:
        raise UnknownName(unknown("design", design_name, sorted(DESIGNS)))
    design = DESIGNS[design_name]
    name, wanted = name or design.name, n or design.n
    with store.read() as tx:
        if design.needs_system and system is None:
            known = content.system_names(tx)
            if len(known) != 1:
                found = ", ".join(known) or "none; run a system first"
                raise UsageError(f"the design {design.name} is for one system: expected its name, found {found}")
            (system,) = known
        asked: dict[str, Json] = {"design": design.name, "system": system, "annotators": list(annotators)}
        asked |= {"n": n, "flagged": n_flagged, "judgments": judgments, "seed": seed}
        earlier = next((job for job in jobs.all(tx) if job.name == name), None)
        if earlier is not None:
            if earlier.options.get("order") != asked:
                raise Conflict(f"there is already a job called {name!r}; choose another name")
            return earlier
    item_ids: Sequence[str] = ()
    missing: list[str] = []
    match design.name:
        case "sampling":
            item_ids = _drawn(store, name, system or "", n, n_flagged=n_flagged, seed=seed)
        case "verification":
            with store.read() as tx:
                item_ids = [each.item_id for each in content.all_decisions(tx, system=system) if each.flagged]
            if not item_ids:
                raise UsageError(f"nothing to verify: {system} flags no item of the study")
        case "choice":
            with store.read() as tx:
                if not content.best_words(tx, system or ""):
                    words = "suggestions are stored only where it flags; run it again to store them all"
                    missing.append(f"{system}'s {words}")
        case "cloze":
            with store.write() as tx:
                item_ids = _one_a_sentence(tx, wanted, seed=seed)
        case "constructions":
            with store.write() as tx:
                item_ids, missing = construction_items(tx, seed=seed)
    plan = NewJob.checked(
        name=name,
        task=design.task,
        judgments=judgments or design.judgments,
        system=system if subject_of(TASKS[design.task]) == "suggestion" else None,
        item_ids=item_ids,
        most=wanted if design.name not in ("sampling", "cloze") else None,
        annotators=annotators,
        seed=seed,
    )
    with store.write() as tx:
        job = plan_job(tx, plan, options={"design": design.name, "order": asked}, actor=actor)
        # The job, with what of its design the essays could not fill among its options.
        n_units = len(units.ids_of_job(tx, job.job_id, role="work"))
        short = [f"units: {n_units:,} instead of {wanted:,}"] if wanted and n_units < wanted else []
        lines: list[Json] = [*missing, *short]
        return jobs.set_options(tx, job.job_id, {**job.options, MISSING: lines}) if lines else job


def _drawn(store: Store, name: str, system: str, n: int | None, *, n_flagged: int | None, seed: int) -> Sequence[str]:
    """The unjudged items of the paper's sample, of no more items than its system decided on."""
    if n is None:
        with store.read() as tx:
            kinds = decided_kinds(tx, system)
            decided = decision_columns(tx, {PREPOSITION} & kinds or kinds).filter(system=system)
        n = min(DESIGNS["sampling"].n or 0, len(decided)) or DESIGNS["sampling"].n
    sent = NewSample.checked(name=name, system=system, n=n, flagged=n_flagged, seed=seed)
    return require_left(draw(store, sent).left, name)


def _one_a_sentence(tx: Tx, n: int | None, *, seed: int) -> list[str]:
    """One random preposition from each sentence that has any, in a random order of sentences."""
    rng = generator(seed, "cloze")
    chosen = []
    for essay in own_essays(tx):
        places = list(preposition_items(essay))
        for sentence in sentences_of(essay):
            inside = [item for item in places if sentence.covers(item.span)]
            if inside:
                chosen.append(inside[int(rng.integers(len(inside)))])
    if not chosen:
        raise UsageError("no units: no essay in the study has a preposition")
    size = min(n or len(chosen), len(chosen))
    picked = sorted(rng.choice(len(chosen), size=size, replace=False).tolist())
    content.add_items(tx, (content.study_item(chosen[place]) for place in picked))
    return [chosen[place].item_id for place in picked]
