"""Evaluation of a study's systems and agreement of its raters, for commands, pages and API alike.

If a sample of the study was judged, scores are estimates for the whole corpus; otherwise they describe the judged
items. Hidden gold covers other items than those judged, so it is the truth only if the truth is adjudicated. Live
agreement is that of `grater agree` on the valid judgments of a job, with the same options, so page and command print
the same number and signature. If the task has verdicts, these are compared too; labels that the task merges for
analysis are merged here (the grey answer of Lee 2009 with yes).

**Goals** say how many items bring a system's recall to a target width, and draw them as a sample. For a corrector,
only edits are items, so the width is that of its precision, and the sample is stratified by type of edit. Before any
judgments, the numbers are those of `measure.sampling.plan` for the corpus and the share that the system flags,
assuming `PRECISION` and `RECALL`; later they use the estimate so far, and count the items still to be judged. Every
sample of a system is drawn with the same rates and random numbers, so a larger sample contains the smaller ones and
no judgment is lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from math import inf, isnan
from typing import cast

import polars as pl

from grater.annotate import jobs, samples
from grater.annotate import tables as frames
from grater.annotate.jobs import Job
from grater.annotate.judgments import FOR_AGREEMENT, PEOPLE, table
from grater.annotate.plans import AN_HOUR, seconds_each
from grater.annotate.samples import kind_of
from grater.annotate.status import study_name
from grater.annotate.store import Store, Tx
from grater.annotate.tasks import TASKS
from grater.annotate.tasks.task import Task, merged_by
from grater.annotate.terms import Pay, money, terms_of
from grater.errors import GraterError, UsageError
from grater.measure.agreement.edits import CorpusAgreement, edit_agreement
from grater.measure.agreement.summary import MOST_RATERS, Agreement, agreement
from grater.measure.evaluation.cases import ADJUDICATED, EDITED, judge_of_labels
from grater.measure.evaluation.design import CheapJudge
from grater.measure.evaluation.evaluation import Estimated, Evaluation, EvaluationOptions, evaluate
from grater.measure.evaluation.gold import as_many_votes
from grater.measure.evaluation.standard import Scored
from grater.measure.sampling.plan import (
    FLAGGED,
    PRECISION,
    UNFLAGGED,
    Expected,
    decided,
    expected_of,
    more_needed,
    plan,
    precision_needed,
)
from grater.measure.units import known_essays
from grater.model import EDIT, PROGRAM, Essay, Interval, Json
from grater.sheet import counted
from grater.tables import Judgments, Sample, Table, equal_in_number, items_hash
from grater.tables.read import with_labels
from grater.uncertainty import Basis


@dataclass(frozen=True, slots=True, eq=False)
class Evaluable:
    """The tables of a study that `evaluate` reads, in the format of an export.

    `lines` lists the judgments of the sample that come from other jobs.
    """

    decisions: Table
    judgments: Judgments
    items: Table | None
    sample: Sample | None
    lines: tuple[str, ...] = ()


def evaluable(tx: Tx, tables: frames.StudyTables, drawn: Sample | None = None) -> Evaluable | None:
    """The data to evaluate, for the given sample or else the latest sample of these items with judgments.

    Drawn items that lack a judgment use those of other jobs and raters: a job for a sample does not repeat what was
    judged elsewhere, and a drawn item may have become hidden gold. Without those answers, the sample would no longer
    be a probability sample.
    """
    decisions, judgments, lines = tables.decisions, tables.judgments, []
    if judgments is None or decisions is None:
        return None
    if drawn is None:
        items, judged = items_hash(decisions.frame["item"].cast(str).unique()), set(judgments.frame["item"].cast(str))
        for sample in (samples.named(tx, name) for name in reversed(samples.names(tx))):
            fits = sample.meta is not None and sample.meta.items == items
            if fits and not judged.isdisjoint(sample.frame["item"]):
                drawn = sample
                break
    if drawn is None:
        return Evaluable(decisions, judgments, tables.items, None)
    on_gold = as_many_votes(tables.on_gold, judgments, truth="share") if tables.on_gold is not None else None
    sources = [
        (frames.all_verdicts(tx, judgments.name), "were judged elsewhere in the study; those judgments are used"),
        (on_gold, "are hidden gold; their judgments count"),
    ]
    for source, words in sources:
        missing = drawn.frame.select("item").unique().join(judgments.frame.select("item"), on="item", how="anti")
        rows = source.frame.join(missing, on="item", how="semi") if source is not None else missing.head(0)
        if len(rows):
            lines.append(f"{rows['item'].n_unique():,} of the drawn items {words}")
            judgments = replace(judgments, frame=pl.concat([judgments.frame, rows], how="diagonal_relaxed"))
    return Evaluable(decisions, judgments, tables.items, drawn, tuple(lines))


@dataclass(frozen=True, slots=True)
class Scheme:
    """The parts of the rating scheme of T&C 2008, 5.1 that an evaluation uses besides verdicts.

    `counting` leaves judgments out; items with a flag of `contexts` are shown separately.
    """

    counting: frames.Counting = frames.ALL_COUNT
    contexts: tuple[str, ...] = ()


PLAIN = Scheme()


@dataclass(frozen=True, slots=True, eq=False)
class SystemLine:
    """The results so far of one system, on `n` judged items; `estimated` has the estimates from a sample."""

    system: str
    n: int
    precision: Interval
    recall: Interval
    estimated: Estimated | None = None

    @property
    def is_of_edits(self) -> bool:
        """Whether its edits were judged, which cannot measure recall."""
        return EDITED in self.recall.undefined_because


def evaluate_study(
    tx: Tx,
    name: str,
    *,
    job_names: Sequence[str] = (),
    kind: str = "",
    sample: str = "",
    truth: str = "majority",
    redundancy: int | None = None,
    with_programs: bool = False,
    scheme: Scheme = PLAIN,
    assist: str = "",
    corrected: bool = False,
    basis: Basis | None = None,
) -> Evaluation:
    """Evaluate every system of a study on its judged items or, if these are a sample, for the whole corpus.

    The sample is the named one, or the latest that fits the judgments. `corrected` also corrects for raters' errors
    on hidden gold.
    """
    drawn = samples.named(tx, sample) if sample else None
    tables = frames.study_tables(
        tx,
        name,
        job_names=job_names,
        kind=kind_of(drawn) if drawn else kind,
        with_programs=with_programs,
        counting=scheme.counting,
    )
    read = evaluable(tx, tables, drawn)
    if read is None:
        missing = "decisions; run a system first" if tables.decisions is None else "judgments with verdicts"
        raise UsageError(f"{name}: the study has no {missing}")
    options = EvaluationOptions(
        truth=truth,
        basis=basis or Basis(),
        contexts=scheme.contexts,
        redundancy=tables.redundancy if redundancy is None else redundancy,
    )
    if corrected and (tables.gold is None or tables.on_gold is None):
        raise UsageError(
            f"{name}: nobody has answered hidden gold yet, so the error rates of raters are unknown; gold is given "
            "out in jobs whose terms have a rule for it"
        )
    result = evaluate(
        read.decisions,
        read.judgments,
        items=read.items,
        sample=read.sample,
        assist=_whole_judge(tx, assist, read.decisions) if assist else None,
        gold=tables.gold if corrected or truth == ADJUDICATED else None,
        on_gold=tables.on_gold if corrected else None,
        options=options,
    )
    left_out = [f"left out {counted(n, 'judgment')}: {why}" for why, n in read.judgments.dropped.items()]
    return replace(result, warnings=(*result.warnings, *read.lines, *left_out, *tables.own_work))


def _whole_judge(tx: Tx, name: str, decided: Table) -> CheapJudge:
    """A program as a cheap judge, by its verdicts; one that judged only part of the corpus is refused."""
    by_programs = frames.verdicts_of(tx, jobs.all(tx), (PROGRAM,))
    given = frames.latest_judgments(by_programs.filter(rater=name), name) if len(by_programs) else None
    if given is None:
        known = ", ".join(frames.judged_by_programs(tx)) or "none; grater judge asks one"
        raise UsageError(f"expected a program that has judged items of the study, found {name!r}. Known: {known}")
    judge, wanted = judge_of_labels(given), decided.frame.select(pl.col("item").cast(pl.String)).unique()
    n_missing = len(wanted.join(judge.frame, on="item", how="anti"))
    if n_missing:
        raise UsageError(
            f"{name} has judged {len(wanted) - n_missing:,} of the {len(wanted):,} items that systems decided on; "
            "a cheap judge needs all: let it judge a job over every item of this kind"
        )
    return judge


def whole_judges(tx: Tx, tables: frames.StudyTables) -> list[CheapJudge]:
    """The programs with a verdict on every item that systems decided on."""
    judges = []
    for name in frames.judged_by_programs(tx) if tables.decisions is not None else ():
        with suppress(UsageError):
            judges.append(_whole_judge(tx, name, cast(Table, tables.decisions)))
    return judges


def _merit(scored: Scored) -> float:
    return 1.0 if isnan(scored["f0.5"].value) else -scored["f0.5"].value


@dataclass(frozen=True, slots=True)
class ScoresSoFar:
    """Systems against the majority of a job, best F0.5 first.

    `sample` is the judged sample; `words` state what the intervals generalise to.
    """

    sample: str = ""
    systems: tuple[SystemLine, ...] = ()
    words: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def intervals(self) -> list[Interval]:
        return [each for line in self.systems for each in (line.precision, line.recall)]


@dataclass(frozen=True, slots=True, eq=False)
class JobScores:
    """The inputs for scoring a job's systems, now or at an earlier time, with one estimator for all times."""

    read: Evaluable
    redundancy: int

    @classmethod
    def of(cls, tx: Tx, job: Job | None) -> JobScores | None:
        """None if neither the job nor the study has data about systems."""
        tables = None
        if job is None:
            tables = frames.study_tables(tx, study_name(tx))
        elif TASKS[job.task].verdict:
            tables = frames.study_tables(tx, job.name, job_names=[job.name])
        read = evaluable(tx, tables) if tables else None
        return cls(read, tables.redundancy) if tables and read else None

    def until(self, moment: str = "") -> ScoresSoFar:
        """The scores from judgments up to a time (ISO), or from all; the report prints the same."""
        read, judged = self.read, self.read.judgments
        if moment:
            judged = replace(judged, frame=judged.frame.filter((pl.col("at") <= moment).fill_null(value=False)))
        options = EvaluationOptions(redundancy=self.redundancy, is_brief=True)
        try:
            result = evaluate(read.decisions, judged, items=read.items, sample=read.sample, options=options)
        except GraterError:  # no judged item has a decision yet
            return ScoresSoFar()
        sample = result.sample
        known = {each.system: each for each in sample.systems} if sample else {}
        lines = [
            SystemLine(scored.system, scored.n, scored["precision"], scored["recall"], known.get(scored.system))
            for scored in sorted(result.systems, key=_merit)
        ]
        warnings = (*result.warnings, *read.lines)
        return ScoresSoFar(sample.name if sample else "", tuple(lines), result.scope.sentence, warnings)


def scores_so_far(tx: Tx, job: Job | None = None) -> ScoresSoFar:
    """The results of `evaluate_study` and the report for a job or the whole study, without additional tables."""
    scores = JobScores.of(tx, job)
    return scores.until() if scores else ScoresSoFar()


@dataclass(frozen=True, slots=True, eq=False)
class AgreementSoFar:
    """The agreement so far on labels and on verdicts, or why there is none yet."""

    labels: Agreement | None
    verdicts: Agreement | None
    reason: str


def agreement_of(tx: Tx, job: Job, *, names: bool = False) -> AgreementSoFar:
    """The agreement in a job, by pseudonyms unless `names` is set."""
    rows = table(tx, job.job_id, names=names, only=FOR_AGREEMENT)
    first, places = frames.redundancy_of([job]), frames.essay_columns(tx)
    return live_agreement(rows, TASKS[job.task], name=job.name, first=first, places=places)


def live_agreement(
    rows: Sequence[Mapping[str, Json]],
    task: Task,
    *,
    name: str,
    first: int = 0,
    places: Table | None = None,
    is_brief: bool = False,
) -> AgreementSoFar:
    """The agreement of people, never programs, on the items of a job, by label and by verdict.

    `places` has the essay of each item; if it knows any of the job's items, units are essays. A brief one has neither
    pairs of raters nor verdicts.
    """
    judgments, verdict = by_people(rows, name=name, first=first), None if is_brief else task.verdict
    if merged := merged_by(task):
        judgments = with_labels(judgments, merged)
    if judgments.frame["item"].n_unique() == len(judgments):
        return AgreementSoFar(None, None, "No item has two judgments yet.")
    essays = known_essays(judgments, places)
    try:
        whole = agreement(judgments, essays=essays, most_raters=0 if is_brief else MOST_RATERS)
        of_verdicts = agreement(with_labels(judgments, verdict), essays=essays) if verdict else None
        return AgreementSoFar(whole, of_verdicts, "")
    except GraterError as error:
        return AgreementSoFar(None, None, str(error))


def by_people(rows: Sequence[Mapping[str, Json]], *, name: str, first: int = 0) -> Judgments:
    """The raters' judgments; with `first`, only that many of each item."""
    schema = {"item": pl.String, "rater": pl.String, "label": pl.String, "at": pl.String}
    given = [[row.get(column) for column in schema] for row in rows if row["group"] in PEOPLE]
    return equal_in_number(Judgments(pl.DataFrame(given, schema, orient="row"), name), first)


def live_marks(essays: Sequence[Essay]) -> tuple[CorpusAgreement | None, str]:
    """The agreement of annotators on the positions, types and corrections of errors; or why there is none yet."""
    if not any(len(essay.annotators) > 1 for essay in essays):
        return None, "No essay has been marked by two annotators yet."
    try:
        return edit_agreement(essays), ""
    except GraterError as error:
        return None, str(error)


# How many items would make it precise enough

RECALL = 1 / 3
"""Assumed before anybody has judged: a detector that is right four times of five finds about one error in three."""

MOST_MISSED = 0.5
"""The largest share of the places without a flag that is assumed to be errors."""

WIDTHS = (0.2, 0.1, 0.05)
USUAL = 0.1


@dataclass(frozen=True, slots=True)
class Goal:
    """Recall, or precision of edits, within plus or minus half of `width`.

    `items` must be judged in total, and `more` of them still have to be. `reached` is the width that they should
    give; it is larger if the corpus has no more items.
    """

    width: float
    items: int
    more: int
    reached: float
    hours: float
    cost: str

    @property
    def is_reached(self) -> bool:
        return self.reached <= self.width + 1e-9


@dataclass(frozen=True, slots=True)
class Goals:
    """The goals for a system on `n_items` places, `n_flagged` of them flagged; `kind` is that of the places."""

    system: str
    kind: str
    n_items: int
    n_flagged: int
    rows: tuple[Goal, ...]

    @property
    def is_of_edits(self) -> bool:
        return self.kind == EDIT

    @property
    def usual(self) -> Goal:
        """The default goal: plus or minus .05, or the nearest available."""
        return next((row for row in self.rows if row.width <= USUAL), self.rows[-1])


def goals(tx: Tx, system: str, scores: ScoresSoFar, *, judgments: int = 2, cents: int = 0) -> Goals:
    """The cost of each of the `WIDTHS`, at this number of judgments per item and pay per judgment.

    The currency is that of the study's latest job with pay; otherwise that of new terms.
    """
    paid = [pay.currency for job in jobs.all(tx) if (pay := terms_of(job.options).pay)]
    currency = paid[-1] if paid else Pay(cents).currency
    kind = samples.decided_kind(tx, system)
    rows = decided(samples.decisions_on(tx, kind), system)
    n_items, n_flagged = len(rows), int(rows["flagged"].sum())
    if not n_flagged or (n_flagged == n_items and kind != EDIT):
        return Goals(system, kind, n_items, n_flagged, ())
    seconds, _ = seconds_each(tx, task_of(kind))
    known = set(rows["item"].cast(str)) & frames.judged_items(tx)
    so_far = next((each for each in scores.systems if each.system == system and each.estimated), None)
    estimated = so_far.estimated if so_far and kind != EDIT else None
    share = so_far.precision.value if so_far and 0 < so_far.precision.value < 1 else PRECISION
    found: dict[int, Goal] = {}
    for width in WIDTHS:
        if kind == EDIT:
            items, reached = precision_needed(share, width, size=n_items)
        else:
            expected = _expected(n_flagged / n_items, size=n_items)
            ours = plan(expected, width).row("ours")
            items, reached = ours.items, ours.width
        if estimated:
            more = more_needed(estimated.strata, estimated.flagged, width)
            items, reached = (n_items, inf) if more is None else (min(n_items, len(known) + more), width)
        left = max(0, items - len(known))
        n_judgments = left * judgments
        cost = money(n_judgments * cents, currency) if cents else ""
        goal = Goal(width, items, left, reached, n_judgments * seconds / AN_HOUR, cost)
        found.setdefault(items, goal)  # a corpus that is too small for two widths is judged once
    return Goals(system, kind, n_items, n_flagged, tuple(found.values()))


def _expected(flag_rate: float, *, size: float = inf) -> Expected:
    """The assumptions about a system; one that flags a lot is not assumed to miss twice what it finds."""
    n_right = flag_rate * PRECISION
    recall = max(RECALL, n_right / (n_right + MOST_MISSED * (1 - flag_rate)))
    return expected_of(flag_rate=flag_rate, precision=PRECISION, recall=recall, size=size)


def task_of(kind: str) -> str:
    """The question to raters about items of a kind."""
    return "verify" if kind == EDIT else "error"


def draw_for(store: Store, system: str, n: int, *, actor: str | None = None) -> str:
    """Draw `n` items for a system, including those drawn before; return the name of the sample."""
    with store.read() as tx:
        taken, kind = samples.names(tx), samples.decided_kind(tx, system)
        rows = decided(samples.decisions_on(tx, kind), system)
    share = float(rows["flagged"].mean() or 0)  # type: ignore[arg-type]
    if not 0 < share < 1 and not (share and kind == EDIT):
        raise UsageError(f"{system} flags {'every' if share else 'no'} item of the study: there is nothing to draw")
    rates, how = {}, {"strata": "type", "allocation": "proportional"}
    if kind != EDIT:
        expected = _expected(share)
        rates, how = {FLAGGED: expected.precision, UNFLAGGED: expected.missed}, {"allocation": "neyman"}
    numbered = (f"sample of {system}"[:70] + (f" {number}" if number > 1 else "") for number in count(1))
    name = next(each for each in numbered if each not in taken)
    sent = samples.NewSample.checked(name=name, system=system, n=min(n, len(rows)), kind=kind, **how)
    samples.draw(store, sent, rates=rates, actor=actor)
    return name
