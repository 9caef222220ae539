"""The report of a study: its tables, its costs and its protocol in one page.

Raters appear by pseudonym, or by name for readers who may know them. The studies of words (cloze, choice,
constructions) use judgments in the labels of their tasks; in the cloze test the writer's own word comes from the
essay, and programs among the raters are systems.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields, replace
from pathlib import PurePath
from typing import Any

import polars as pl

from grater.annotate import jobs, people
from grater.annotate import tables as frames
from grater.annotate.corrected import corrector_results
from grater.annotate.evaluation import evaluable, whole_judges
from grater.annotate.jobs import Job
from grater.annotate.judgments import PEOPLE
from grater.annotate.marks import has_suggestions, marked_essays, marked_in, study_suggestions
from grater.annotate.money import Costs, job_costs
from grater.annotate.protocol import UNKNOWN, protocol_sheet
from grater.annotate.requests import require_length
from grater.annotate.status import study_name
from grater.annotate.store import Tx
from grater.annotate.store.transaction import as_iso
from grater.annotate.tasks import TASKS, verify
from grater.annotate.tasks.marking import MARKING
from grater.annotate.tasks.task import ERROR, OK
from grater.annotate.terms import IMPORTED, KEY, money, terms_of
from grater.corpora.text.prepositions import canonical
from grater.detect.factors import with_factors
from grater.errors import UsageError
from grater.measure.agreement.constructions import ARTICLE, NUMBER, has_constructions
from grater.measure.agreement.constructions import KIND as CONSTRUCTION
from grater.measure.evaluation.offered import SuggestionEffect
from grater.measure.evaluation.selection import WRITER
from grater.model import PROGRAM, Essay, Json
from grater.reporting.build import Inputs
from grater.reporting.document import Byline, sentences
from grater.reporting.raters import CrowdJob
from grater.tables import Judgments, Table, read_decisions, read_items, read_judgments
from grater.tables.read import with_labels


def _words(tx: Tx, job_names: Collection[str]) -> dict[str, Any]:
    """The three studies of words for the report, by name."""

    def labels(task: str, groups: Collection[str] = PEOPLE) -> Judgments | None:
        return frames.labels_of(tx, task, groups=groups, job_names=job_names)

    found: dict[str, Any] = {"choice": labels(frames.CHOICE, (frames.EXPERT,)) or labels(frames.CHOICE)}
    constructions, blanks = labels("construction"), labels("cloze")
    if constructions is not None:
        kinds = frames.kinds_of(tx, constructions.frame["item"].cast(pl.String).unique().to_list())
        items = read_items(frames.place_columns(tx, {kind for kind in kinds if kind.startswith(CONSTRUCTION)}))
        found |= {"constructions": constructions, "construction_items": items}
        found["construction_decisions"] = _on_nouns(tx, items)
    if blanks is not None:
        found["cloze"] = _with_writer(tx, blanks)
        filled = labels("cloze", (PROGRAM,))
        if filled is not None:
            frame = filled.frame.select("item", system="rater", flagged=pl.lit(value=False), suggestion="label")
            found["cloze_words"] = read_decisions(frame, name="cloze")
    return found


def _on_nouns(tx: Tx, items: Table) -> Table | None:
    """Systems' decisions on the articles and number of these nouns; None if there are none, or not on both."""
    decided = frames.decision_columns(tx, (ARTICLE, NUMBER))
    if not len(decided) or "original" not in items.frame.columns:
        return None
    places = frames.place_columns(tx, (ARTICLE, NUMBER)).select("item", "essay", "start", "end", "kind")
    table = read_decisions(decided.join(places, on="item", how="inner"), name="decisions")
    return table if has_constructions(table, items) else None


def _with_writer(tx: Tx, blanks: Judgments) -> Judgments:
    """The filled blanks, including the writer's own words."""
    given = blanks.frame.select(pl.col("item", "rater", "label").cast(pl.String))
    places = frames.place_columns(tx, frames.kinds_of(tx, given["item"].unique().to_list()))
    own = places.join(given, on="item", how="semi").select(
        "item",
        rater=pl.lit(WRITER),
        label=pl.col("target").map_elements(lambda word: canonical(word) or word, return_dtype=pl.String),
    )
    return read_judgments(pl.concat([given, own]), name=blanks.name)


def _worse(tx: Tx, job_names: Collection[str]) -> Judgments | None:
    """For every verified suggestion, whether people prefer the writer's words."""
    given = frames.labels_of(tx, verify.TASK.name, job_names=job_names)
    verdicts = {label: ERROR if label == verify.WRITER else OK for label in verify.TASK.labels}
    return with_labels(given, verdicts) if given else None


def names_of(tx: Tx) -> dict[str, str]:
    """Names by pseudonym, which is unique in a study."""
    return {person.pseudonym: person.name for person in people.all(tx)}


def with_names(inputs: Inputs, names: Mapping[str, str]) -> Inputs:
    """The same inputs with raters' names."""
    named: dict[str, Any] = {}
    for each in fields(inputs):
        table = getattr(inputs, each.name)
        if isinstance(table, Judgments):
            named[each.name] = with_raters(table, names)
    return replace(inputs, **named)


def with_raters(judgments: Judgments, names: Mapping[str, str]) -> Judgments:
    """The same judgments with raters' names."""
    rater = pl.col("rater").cast(pl.String).replace(dict(names)).cast(judgments.frame.schema["rater"])
    return replace(judgments, frame=judgments.frame.with_columns(rater))


TASK, PER_UNIT = "Task", "Judgments per unit"
"""Lines of a protocol sheet: the report has the first already, and nobody asked for the second in an imported job."""

LONGEST = 200
HIDDEN_OPTIONS = ("seed", "order", IMPORTED, KEY)
"""Options of a job that mean nothing to a reader: how its units were drawn."""


def study_inputs(
    tx: Tx,
    *,
    title: str = "",
    author: str = "",
    job_names: Collection[str] = (),
    kind: str = "",
    counting: frames.Counting = frames.ALL_COUNT,
    earlier: Mapping[str, str] | None = None,
    names: bool = False,
) -> Inputs:
    """Everything in the study, or the named jobs, for `report.build`; raters by pseudonym, or by `names`.

    The sample shown is the latest that fits the judgments.
    """
    require_length("title", title, LONGEST)
    require_length("author", author, LONGEST)
    name = study_name(tx) or "study"
    judging = [each for each in job_names if TASKS[jobs.named(tx, each).task].verdict]
    if job_names and not judging:  # no answer of these jobs says whether something is an error
        tables = frames.StudyTables(name=name, judgments=None, experts=None, decisions=None, items=None, gold=None)
    else:
        tables = frames.study_tables(tx, name, job_names=judging, kind=kind, counting=counting)
    read = evaluable(tx, tables)
    chosen = [job for job in jobs.all(tx) if not job_names or job.name in job_names]
    costs = {job.job_id: job_costs(tx, job) for job in chosen if job.options.get(KEY)}
    is_sample = read is not None and read.sample is not None
    inputs = Inputs(
        title or name,
        _essays(tx, job_names),
        _by_item(tables.judgments),
        _by_item(tables.experts),
        decisions=tables.decisions,
        items=tables.items,
        places=frames.essay_columns(tx),
        factors=with_factors,
        gold=tables.gold,
        on_gold=tables.on_gold,
        sample=read.sample if read else None,
        sample_judgments=read.judgments if read and is_sample else None,
        judges=whole_judges(tx, tables) if is_sample else (),
        **_words(tx, job_names),
        usage=counting.of(frames.labels_of(tx, frames.USAGE, job_names=job_names)),
        programs=tables.programs,
        crowds=tuple(_crowds(tx, chosen, costs)),
        hours=tables.hours,
        redundancy=tables.redundancy,
        cost=_cost(costs.values()),
        protocol=protocol(tx, chosen, costs),
        notes=(*_left_out(tables), *sentences(tables.own_work), *(sentences(read.lines) if read else ())),
        suggestions=_suggestions(tx, chosen),
        correctors=corrector_results(tx),
        worse=_worse(tx, job_names),
        earlier=earlier or {},
        byline=Byline(author=author, date=as_iso(tx.now)[:10], study=name),
    )
    return with_names(inputs, names_of(tx)) if names else inputs


def _by_item(judgments: Judgments | None) -> Judgments | None:
    """In the order of pages and exports."""
    if judgments is None:
        return None
    return replace(judgments, frame=judgments.frame.sort(pl.col("item").cast(pl.String), maintain_order=True))


def _suggestions(tx: Tx, chosen: Collection[Job]) -> SuggestionEffect | None:
    """The effect of suggestions; None if no job offers any, or nobody has marked with them yet."""
    marking = [job.name for job in chosen if job.task == MARKING]
    if not marking or not has_suggestions(tx):
        return None
    try:
        return study_suggestions(tx, job_names=marking)
    except UsageError:
        return None


def _essays(tx: Tx, job_names: Collection[str]) -> list[Essay]:
    """The corpus with its own marks and those of the jobs; if all jobs mark essays, only their essays and marks."""
    chosen = [jobs.named(tx, name) for name in job_names]
    if chosen and all(job.task == MARKING for job in chosen):
        return [essay for job in chosen for essay in marked_in(tx, job.job_id)]
    return list(marked_essays(tx, job_names=job_names))


def _crowds(tx: Tx, chosen: Collection[Job], costs_of: Mapping[str, Costs]) -> Iterator[CrowdJob]:
    """Every crowd job, with experts' judgments of its items from any job."""
    asked = [job for job in chosen if job.task != frames.CHOICE]
    everything = frames.verdicts_of(tx, asked, (frames.EXPERT, frames.CROWD))
    experts = everything.filter(group=frames.EXPERT)
    crowds = everything.filter(group=frames.CROWD).partition_by("job", as_dict=True) if len(everything) else {}
    for job in asked:
        given = crowds.get((job.name,), everything.clear())
        judgments = frames.latest_judgments(given, job.name)
        if judgments is None:
            continue
        known = frames.latest_judgments(experts.join(given, on="item", how="semi"), f"experts of {job.name}")
        costs = costs_of[job.job_id] if terms_of(job.options).pay else None
        paid = costs.cents + costs.bonuses if costs else 0
        hours = frames.hours_of(given)
        yield CrowdJob(
            name=job.name,
            judgments=judgments,
            experts=known,
            hours=max(hours) if hours else None,
            cost=costs.money(paid) if costs else "",
            per_judgment=costs.money(costs.per_valid) if costs and costs.valid else "",
        )


def _left_out(tables: frames.StudyTables) -> tuple[str, ...]:
    """Data excluded from all numbers on request."""
    by_reason: Counter[str] = Counter()
    for judgments in (tables.judgments, tables.experts):
        by_reason.update(judgments.dropped if judgments else {})
    return tuple(f"Left out of all numbers: {n:,} judgments, {reason}." for reason, n in by_reason.items())


def protocol(tx: Tx, chosen: Collection[Job], costs_of: Mapping[str, Costs]) -> tuple[tuple[str, str, str], ...]:
    """For every job, the facts that T,C&M 2013, 7.1 recommend reporting; the job's name is in its first row."""
    rows: list[tuple[str, str, str]] = []
    for job in chosen:
        version = jobs.current_guidelines(tx, job.job_id)
        rules = "; ".join(
            f"{key} {_readable(value)}" for key, value in sorted(job.options.items()) if key not in HIDDEN_OPTIONS
        )
        summary = f"{job.task}, {_asked(job)}"
        words = f"guidelines version {version.version}" if version else ""
        rows.append((job.name, "task", "; ".join(part for part in (summary, words, rules) if part)))
        if job.options.get(KEY):
            sheet = protocol_sheet(tx, job, costs_of[job.job_id])
            known = {TASK, *([PER_UNIT] if IMPORTED in job.options else [])}
            lines = sheet.items()
            rows += [("", name.lower(), words) for name, words in lines if name not in known and words != UNKNOWN]
    return tuple(rows)


def _asked(job: Job) -> str:
    """Whether judgments were collected by this server or imported from a file."""
    day = as_iso(job.added_at)[:10]
    if IMPORTED in job.options:
        file = PurePath(_readable(job.options[IMPORTED]))
        return f"judged elsewhere, imported on {day}" + (f" from {file}" if file.stem != job.name else "")
    return f"{job.judgments} judgments per unit, {job.access}, since {day}"


def _readable(value: Json) -> str:
    """An option for readers; of a path, only the file's name."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_readable(each)}" for name, each in sorted(value.items()))
    return PurePath(value).name if isinstance(value, str) and "/" in value else str(value)


def _cost(costs: Collection[Costs]) -> str:
    """The cost of the jobs, paid or owed, by currency."""
    total: Counter[str] = Counter()
    for each in costs:
        if each.pay is not None:
            total[each.pay.currency] += each.cents + each.bonuses
    return " and ".join(money(cents, currency) for currency, cents in sorted(total.items()) if cents)
