"""The report of a study: its tables, its costs and its protocol in one page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import PurePath

from grater.crowd.pay import money
from grater.crowd.terms import KEY
from grater.evaluate.draws import Chance
from grater.model import Json
from grater.report.build import build
from grater.report.figure import Report
from grater.report.inputs import Inputs
from grater.store import Tx, dump, guidelines, jobs, samples
from grater.store.clock import as_iso
from grater.store.jobs import Job
from grater.study.corpus import marked_essays
from grater.study.crowd_protocol import protocol_sheet
from grater.study.naming import names_of, with_names
from grater.study.tables import StudyTables, study_tables
from grater.study.words import words_of
from grater.tables import Sample, items_hash

IMPORTED = "imported"
UNTOLD = ("seed", "order", IMPORTED, KEY)
"""Options of a job that say nothing to a reader: how its units were drawn and asked for."""


def study_report(
    tx: Tx,
    *,
    title: str = "",
    job_names: Collection[str] = (),
    kind: str = "",
    chance: Chance | None = None,
    names: bool = False,
) -> Report:
    """Everything that the study can say; raters by their pseudonyms, or by `names`."""
    inputs = study_inputs(tx, title=title, job_names=job_names, kind=kind, chance=chance)
    return build(with_names(inputs, names_of(tx)) if names else inputs)


def study_inputs(
    tx: Tx, *, title: str = "", job_names: Collection[str] = (), kind: str = "", chance: Chance | None = None
) -> Inputs:
    """The inputs of a report; the latest sample that fits the judgments is the one shown."""
    name = dump.meta_values(tx).get("name", "study")
    tables = study_tables(tx, name, job_names=job_names, kind=kind)
    found = words_of(tx)
    inputs = Inputs(
        title or name,
        list(marked_essays(tx)),
        tables.judgments,
        tables.experts,
        decisions=tables.decisions,
        items=tables.items,
        gold=tables.gold,
        on_gold=tables.on_gold,
        sample=sample_of(tx, tables),
        constructions=found.constructions,
        construction_items=found.construction_items,
        cloze=found.cloze,
        cloze_words=found.cloze_words,
        choice=found.choice,
        hours=tables.hours,
        redundancy=tables.redundancy,
        cost=_cost(tx),
        protocol=protocol(tx),
    )
    return replace(inputs, chance=chance) if chance else inputs


def protocol(tx: Tx) -> tuple[tuple[str, str], ...]:
    """What T,C&M 2013, 7.1 asks to be reported of every job: task, redundancy, instructions, rules, dates."""
    rows: list[tuple[str, str]] = []
    for job in jobs.all(tx):
        version = guidelines.current(tx, job.job_id)
        rules = "; ".join(f"{key} {_told(value)}" for key, value in sorted(job.options.items()) if key not in UNTOLD)
        told = f"{job.task}, {_asked(job)}"
        words = f"guidelines version {version.version}" if version else ""
        rows.append((job.name, "; ".join(part for part in (told, words, rules) if part)))
        if job.options.get(KEY):
            rows += [(f"{job.name}: {name.lower()}", words) for name, words in protocol_sheet(tx, job)]
    return tuple(rows)


def _asked(job: Job) -> str:
    """How a job was done; one that was done elsewhere has only its file to tell of."""
    day = as_iso(job.added_at)[:10]
    if IMPORTED in job.options:
        return f"judged elsewhere, imported on {day} from {_told(job.options[IMPORTED])}"
    return f"{job.judgments} judgments a unit, {job.access}, since {day}"


def _told(value: Json) -> str:
    """An option as a reader may see it: of a path only the file's name."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_told(each)}" for name, each in sorted(value.items()))
    return PurePath(value).name if isinstance(value, str) and "/" in value else str(value)


def sample_of(tx: Tx, tables: StudyTables) -> Sample | None:
    """The latest sample of these items that somebody has begun to judge."""
    if tables.judgments is None or tables.decisions is None:
        return None
    items = items_hash(tables.decisions.frame["item"].cast(str).unique())
    judged = set(tables.judgments.frame["item"].cast(str).unique())
    for name in reversed(samples.names(tx)):
        sample = samples.named(tx, name)
        fits = sample.meta is not None and sample.meta.items == items
        if fits and not judged.isdisjoint(sample.frame["item"]):
            return sample
    return None


def _cost(tx: Tx) -> str:
    total: Counter[str] = Counter()
    for payment in dump.rows(tx, "payments"):
        if payment["state"] != "refused":
            total[payment["currency"]] += payment["cents"]
    return " and ".join(money(cents, currency) for currency, cents in sorted(total.items()))
