"""Systems against raters from Python: plan, sample, estimate, evaluate, compare, report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from grater.library.sources import (
    DEFAULT_RESAMPLES,
    EssaySource,
    TableSource,
    checked,
    essays_of,
    gold_of,
    items_of,
)

if TYPE_CHECKING:
    from grater.measure.agreement.coded import Unknown
    from grater.measure.evaluation.comparison import Comparison
    from grater.measure.evaluation.evaluation import Evaluation
    from grater.measure.evaluation.sampled import Sampled
    from grater.measure.evaluation.verified import Verification
    from grater.measure.sampling.plan import Plan
    from grater.measure.sampling.strata import Allocation
    from grater.reporting.document import Report
    from grater.tables import Sample, Table
    from grater.uncertainty.bootstrap import Cluster
    from grater.uncertainty.paired import Test
    from grater.uncertainty.population import Population


@checked
def read_decisions(
    source: TableSource,
    *,
    columns: Mapping[str, str] | None = None,
    duplicates: Literal["error", "first", "last"] = "error",
) -> Table:
    """Decisions of systems, with other names of columns."""
    from grater.tables import read_decisions

    return read_decisions(source, columns=columns, duplicates=duplicates)


@checked
def plan(
    *,
    width: float = 0.1,
    flag_rate: float = 0.1,
    precision: float = 0.8,
    missed: float | None = None,
    recall: float | None = None,
    corpus_size: float = inf,
    errors: int | None = None,
    raters_per_item: int | None = None,
    right: float = 0.95,
    rater_accuracy: float | None = None,
    kappa: float | None = None,
    items_per_hour: float = 125.0,
    wage: float = 0.0,
    assist: tuple[float, float] | None = None,
    population: Population = "wider",
) -> Plan:
    """Items, raters, hours and money for an interval of recall of this `width`, by several ways to evaluate.

    Either `missed`, the rate of errors among items that are not flagged, or `recall` is expected of the system.
    `assist` are the sensitivity and specificity of a cheap judge of every item.
    """
    from grater.errors import UsageError
    from grater.measure.sampling.plan import (
        Expected,
        Panel,
        Skill,
        Work,
        majority_of,
        missed_of,
        panel,
        plan,
        skill_of_kappa,
    )

    if (missed is None) == (recall is None):
        raise UsageError("expected one of missed and recall")
    rate = missed if recall is None else missed_of(flagged=flag_rate, precision=precision, recall=recall)
    expected = Expected(
        flagged=flag_rate, precision=precision, missed=rate or 0.0, size=corpus_size, population=population
    )
    skill = Skill(rater_accuracy, rater_accuracy) if rater_accuracy is not None else None
    if kappa is not None:
        skill = skill_of_kappa(kappa, expected.error_rate)
    team = None
    if skill is not None:
        n = raters_per_item
        team = panel(skill, right) if n is None else Panel(n, skill, majority_of(n, skill))
    n_raters = raters_per_item or (team.n if team else 1)
    work = Work(raters=n_raters, items_per_hour=items_per_hour, wage=wage)
    judge = Skill(*assist) if assist is not None else None
    return plan(expected, width, work=work, errors=errors, panel=team, right=right, assist=judge)


@checked
def sample(
    decisions: TableSource,
    *,
    system: str,
    n: int | None = None,
    flagged: int | None = None,
    strata: str | None = None,
    allocation: Allocation | None = None,
    rates: Mapping[str, float] | None = None,
    stratum_labels: TableSource | None = None,
    add_to: TableSource | None = None,
    width: float | None = None,
    judgments: TableSource | None = None,
    seed: int = 0,
) -> Sample:
    """Items to judge, drawn from the strata of a system's decisions; or a system added to the sample `add_to`.

    A system is added with as few new items as keep the chances of the first draw or, with the `judgments` so far, as
    bring its recall to an interval of this `width`.
    """
    from grater.errors import UsageError
    from grater.measure.evaluation.truth import error_shares
    from grater.measure.sampling.draw import add_system, draw_sample
    from grater.tables import as_decisions, as_judgments, as_sample

    table = as_decisions(decisions)
    labels = as_judgments(stratum_labels) if stratum_labels is not None else None
    if add_to is not None:
        return add_system(
            as_sample(add_to),
            table,
            system,
            n=n,
            strata=strata,
            method=allocation,
            n_flagged=flagged,
            rates=rates,
            labels=labels,
            width=width,
            errors=error_shares(as_judgments(judgments)) if judgments is not None else None,
        )
    if n is None:
        raise UsageError("expected n, the number of items to draw")
    return draw_sample(
        table,
        system,
        n,
        strata=strata or "decision",
        method=allocation or "paper",
        n_flagged=flagged,
        rates=rates,
        labels=labels,
        seed=seed,
    )


@checked
def worksheet(
    out: str | Path,
    sample: TableSource,
    essays: EssaySource,
    decisions: TableSource,
    *,
    items: TableSource | None = None,
    task: str = "error",
    system: str = "",
    judgments: TableSource | None = None,
    rater: str = "",
) -> int:
    """Write the items of a sample that are still to judge as a sheet, .csv or .xlsx, and return their number.

    Where items stand comes from `items`, or from the places of `decisions`; `judgments` are those made already.
    Filled sheets are judgments wherever these are read (`read_judgments`).  The task `verify` shows the suggestions
    of `system`.
    """
    from grater.annotate.tasks.worksheet import sample_worksheet
    from grater.corpora.judgments import items_of as places_of
    from grater.measure.sampling.draw import to_judge
    from grater.tables import as_decisions, as_judgments, as_sample
    from grater.tables.write import write_worksheet

    table, drawn = as_decisions(decisions), as_sample(sample)
    judged = as_judgments(judgments).frame["item"].cast(str).to_list() if judgments is not None else []
    places = places_of(table, items_of(items))
    left = to_judge(drawn, judged)
    sheet = sample_worksheet(left, places, essays_of(essays), task=task, decisions=table, system=system, rater=rater)
    write_worksheet(sheet, Path(out))
    return len(sheet)


@checked
def estimate(
    decisions: TableSource,
    sample: TableSource,
    judgments: TableSource,
    *,
    systems: Sequence[str] = (),
    truth: str = "majority",
    items: TableSource | None = None,
    by: str = "",
    cluster: Cluster | None = None,
    unknown: Unknown = "drop",
    stratum_labels: TableSource | None = None,
    gold: TableSource | None = None,
    population: Population = "wider",
    errors_by_flag: bool = False,
    assist: TableSource | str | None = None,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> Sampled:
    """Precision, recall and F of systems, from a judged sample of a corpus.

    Intervals are for other essays like these, and draw essays where a table has them; those of the population `these`
    are for exactly this corpus.  `assist` is a cheap judge of every item: a table of its judgments, or the name of a
    column of items or decisions with its numbers.
    """
    from grater.measure.evaluation.sampled import chance_of, sampled
    from grater.measure.evaluation.sampled.assist import judge_of_column, judge_of_labels
    from grater.tables import as_decisions, as_judgments, as_sample

    decided, drawn, known = as_decisions(decisions), as_sample(sample), items_of(items)
    chance = chance_of(
        decided, drawn, items=known, cluster=cluster, population=population, n_resamples=resamples, seed=seed
    )
    judge = None
    if assist is not None:
        is_column = isinstance(assist, str) and not Path(assist).exists()
        judge = judge_of_column(str(assist), known, decided) if is_column else judge_of_labels(as_judgments(assist))
    return sampled(
        decided,
        drawn,
        as_judgments(judgments),
        systems=systems,
        truth=truth,
        labels=as_judgments(stratum_labels) if stratum_labels is not None else None,
        items=known,
        by=by,
        unknown=unknown,
        gold=gold_of(gold),
        population=population,
        chance=chance,
        assist=judge,
        errors_by_flag=errors_by_flag,
    )


@checked
def evaluate(
    decisions: TableSource,
    judgments: TableSource,
    *,
    weighted: bool = False,
    bins: Sequence[float] = (),
    truth: str = "majority",
    items: TableSource | None = None,
    gold: TableSource | None = None,
    cluster: Cluster = "auto",
    population: Population = "wider",
    by: str = "",
    unknown: Unknown = "drop",
    redundancy: int = 0,
    suggestions: bool = False,
    errors_by_flag: bool = False,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> Evaluation:
    """Precision, recall and F of systems against raters: the majority, each rater in turn, weighted, in bins.

    `weighted` and `bins` say which tables are shown; the result has the numbers of all of them.
    """
    from grater.measure.evaluation.evaluation import EvaluationOptions, evaluate
    from grater.measure.evaluation.standard import EDGES
    from grater.tables import as_decisions, as_judgments
    from grater.uncertainty.bootstrap import Chance

    options = EvaluationOptions(
        truth=truth,
        edges=bins or EDGES,
        chance=Chance(cluster, resamples, seed, population=population),
        unknown=unknown,
        by=by,
        redundancy=redundancy,
        errors_by_flag=errors_by_flag,
    )
    judged = as_judgments(judgments)
    evaluation = evaluate(
        as_decisions(decisions, judgments=judged),
        judged,
        items=items_of(items),
        gold=gold_of(gold),
        options=options,
        with_suggestions=suggestions,
    )
    return replace(evaluation, shows_weighted=weighted, shows_bins=bool(bins))


@checked
def verify(
    decisions: TableSource,
    judgments: TableSource,
    *,
    truth: str = "majority",
    items: TableSource | None = None,
    gold: TableSource | None = None,
    cluster: Cluster = "auto",
    population: Population = "wider",
    by: str = "",
    unknown: Unknown = "drop",
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> Verification:
    """Precision of systems from judged flags; recall is undefined."""
    from grater.errors import UsageError
    from grater.measure.evaluation.evaluation import EvaluationOptions
    from grater.measure.evaluation.truth import ADJUDICATED
    from grater.measure.evaluation.verified import verify
    from grater.tables import as_decisions, as_judgments
    from grater.uncertainty.bootstrap import Chance

    if gold is not None and truth != ADJUDICATED:
        raise UsageError(f"expected truth {ADJUDICATED!r} with gold; evaluate corrects for what raters get wrong")
    options = EvaluationOptions(
        truth=truth, chance=Chance(cluster, resamples, seed, population=population), unknown=unknown, by=by
    )
    return verify(
        as_decisions(decisions),
        as_judgments(judgments),
        items=items_of(items),
        gold=gold_of(gold),
        options=options,
    )


@checked
def compare(
    decisions: TableSource,
    judgments: TableSource,
    *,
    score: Literal["precision", "recall", "f0.5", "f1", "kappa"] = "f0.5",
    weighted: bool = False,
    truth: str = "majority",
    items: TableSource | None = None,
    gold: TableSource | None = None,
    cluster: Cluster = "auto",
    population: Population = "wider",
    by: str = "",
    unknown: Unknown = "drop",
    redundancy: int = 0,
    test: Test = "bootstrap",
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> Comparison:
    """Which system is better: paired tests on common items, and rank groups."""
    from grater.measure.evaluation.comparison import compare
    from grater.measure.evaluation.evaluation import EvaluationOptions
    from grater.tables import as_decisions, as_judgments
    from grater.uncertainty.bootstrap import Chance

    options = EvaluationOptions(
        truth=truth,
        chance=Chance(cluster, resamples, seed, population=population),
        unknown=unknown,
        by=by,
        redundancy=redundancy,
    )
    return compare(
        as_decisions(decisions),
        as_judgments(judgments),
        items=items_of(items),
        gold=gold_of(gold),
        options=options,
        score=score,
        weighted=weighted,
        test=test,
    )


@checked
def report(
    *,
    title: str = "Report",
    author: str = "",
    earlier: Mapping[str, str] | None = None,
    judgments: TableSource | None = None,
    decisions: TableSource | None = None,
    experts: TableSource | None = None,
    essays: EssaySource = (),
    items: TableSource | None = None,
    gold: TableSource | None = None,
    sample: TableSource | None = None,
    out: Path | str | None = None,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> Report:
    """Words, figures and tables from the tables of a study; `out` is a folder to write the page and its parts to.

    `earlier` names the earlier version of a system: `{"new": "old"}`; names like mine-2 and mine say so themselves.
    """
    from datetime import UTC, datetime

    from grater.detect.factors import with_factors
    from grater.reporting.build import Inputs, build
    from grater.reporting.document import Byline
    from grater.reporting.save import save_report
    from grater.tables import as_decisions, as_judgments, as_sample
    from grater.uncertainty.bootstrap import Chance

    inputs = Inputs(
        title=title,
        essays=tuple(essays_of(essays)),
        judgments=as_judgments(judgments) if judgments is not None else None,
        experts=as_judgments(experts) if experts is not None else None,
        decisions=as_decisions(decisions) if decisions is not None else None,
        items=items_of(items),
        gold=gold_of(gold),
        sample=as_sample(sample) if sample is not None else None,
        byline=Byline(author=author, date=datetime.now(UTC).date().isoformat()),
        earlier=dict(earlier or {}),
        chance=Chance(n_resamples=resamples, seed=seed),
        factors=with_factors,
    )
    result = build(inputs)
    if out is not None:
        save_report(result, Path(out))
    return result
