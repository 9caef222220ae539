"""Raters from Python: agreement, how many are needed, what they say together, and simulated ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    from grater.measure.agreement.cohen import Method
    from grater.measure.agreement.difficulty import Difficulty
    from grater.measure.agreement.edits import CorpusAgreement
    from grater.measure.agreement.labels import Scale, WeightName
    from grater.measure.agreement.raters_needed import RatersNeeded
    from grater.measure.agreement.summary import Agreement
    from grater.measure.crowd.aggregate import Aggregation
    from grater.measure.crowd.raters import Raters
    from grater.measure.crowd.simulate import SimulatedCrowd
    from grater.tables import Judgments


@checked
def read_judgments(
    source: TableSource,
    *,
    columns: Mapping[str, str] | None = None,
    merge: Mapping[str, str] | None = None,
    drop_flags: Sequence[str] = (),
    min_confidence: float | None = None,
    status: Sequence[str] = ("valid",),
    duplicates: Literal["error", "first", "last"] = "error",
    rater_columns: Sequence[str] = (),
) -> Judgments:
    """Judgments with other names of columns, labels merged, or some of them left out.

    Of a sheet with one row per item and a column of labels per rater, name these: `rater_columns=["Ada", "Bo"]`.
    """
    from grater.tables import read_judgments

    return read_judgments(
        source,
        columns=columns,
        merge=merge,
        drop_flags=drop_flags,
        min_confidence=min_confidence,
        status=status,
        duplicates=duplicates,
        rater_columns=rater_columns,
    )


@checked
def agreement(
    judgments: TableSource,
    *,
    weights: WeightName = "identity",
    scale: Scale = "nominal",
    label_order: Sequence[str] = (),
    interval: Method = "bootstrap",
    items: TableSource | None = None,
    cluster: str | None = None,
    raters: Literal["these", "random"] = "these",
    ok: str | None = None,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> Agreement:
    """Kappa, alpha and the other coefficients of all raters and of every two, with confidence intervals.

    Essays are drawn where `items`, or a column of the judgments, names them; `cluster` names another column.
    """
    from grater.measure.agreement.essays import essays_of
    from grater.measure.agreement.summary import Options, agreement
    from grater.tables import as_judgments

    options = Options(
        weights=weights,
        scale=scale,
        order=label_order,
        interval=interval,
        raters=raters,
        ok=ok,
        n_resamples=resamples,
        seed=seed,
    )
    table = as_judgments(judgments)
    return agreement(table, options, essays=essays_of(table, items_of(items), cluster=cluster))


@checked
def edit_agreement(
    corpus: EssaySource,
    *,
    gaps: bool = False,
    several: Literal["joined", "first"] = "joined",
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> CorpusAgreement:
    """How far the annotators of a corpus agree: which tokens are wrong, which error it is, which correction."""
    from grater.measure.agreement.edits import EditOptions, edit_agreement

    options = EditOptions(gaps=gaps, several=several, n_resamples=resamples, seed=seed)
    return edit_agreement(essays_of(corpus), options)


@checked
def raters(judgments: TableSource, *, gold: TableSource | None = None) -> Raters:
    """One row per rater: how many items, accuracy on gold, agreement with the others, skill, speed."""
    from grater.measure.crowd.raters import raters
    from grater.tables import as_judgments

    return raters(as_judgments(judgments), gold=gold_of(gold))


@checked
def raters_needed(
    judgments: TableSource,
    experts: TableSource | None = None,
    *,
    gold: TableSource | None = None,
    reach: float | None = None,
    items: TableSource | None = None,
    cluster: str | None = None,
    draws: int = 0,
    unknown: Unknown = "drop",
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> RatersNeeded:
    """Reliability against the number of raters, and the smallest number that matches the experts.

    With `gold` in place of experts it is the smallest number whose majority is right on the share `reach` of items.
    """
    from grater.errors import UsageError
    from grater.measure.agreement.coded import with_unknown
    from grater.measure.agreement.essays import essays_of
    from grater.measure.agreement.raters_needed import NeedOptions, as_expert, raters_needed
    from grater.tables import as_judgments

    answers = gold_of(gold)
    if (experts is None) == (answers is None):
        raise UsageError("expected either experts or gold")
    others = as_expert(answers) if answers is not None else as_judgments(experts)
    crowd, known = (with_unknown(table, unknown) for table in (as_judgments(judgments), others))
    share = 0.95 if answers is not None and reach is None else reach
    options = NeedOptions(n_draws=draws, reach=share, n_resamples=resamples, seed=seed)
    return raters_needed(crowd, known, options, essays=essays_of(crowd, items_of(items), cluster=cluster))


@checked
def difficulty(
    judgments: TableSource,
    *,
    experts: TableSource | None = None,
    items: TableSource | None = None,
    essays: EssaySource = (),
    by: Sequence[str] = (),
    top: int = 10,
    split: float = 0.75,
    quantiles: int = 4,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> Difficulty:
    """The easiest and hardest items for the crowd and for experts, and what goes with disagreement.

    With the `essays` of the items, factors are worked out from their text: frequency, surprise, length, alternatives.
    """
    from grater.measure.agreement.difficulty import DifficultyOptions, difficulty
    from grater.tables import as_judgments

    known = as_judgments(experts) if experts is not None else None
    options = DifficultyOptions(top=top, split=split, by=by, n_quantiles=quantiles, n_resamples=resamples, seed=seed)
    placed = items_of(items)
    if placed is not None and essays:
        from grater.detect.factors import with_factors

        placed = with_factors(placed, essays_of(essays))
    return difficulty(as_judgments(judgments), known, placed, options)


@checked
def aggregate(
    judgments: TableSource,
    *,
    method: str = "dawid-skene",
    gold: TableSource | None = None,
    true_labels: TableSource | None = None,
    iterations: int | None = None,
    tolerance: float | None = None,
    restarts: int | None = None,
    seed: int = 0,
) -> Aggregation:
    """The joint answer for each item with its posterior, and how skilled each rater is.

    `gold` holds items with known answers fixed; `true_labels` are only compared with the answers.
    """
    from grater.measure.crowd.aggregate import Options, aggregate
    from grater.tables import as_judgments

    given = {"iterations": iterations, "tolerance": tolerance, "restarts": restarts}
    options = Options(seed=seed, **{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]
    return aggregate(as_judgments(judgments), method, gold=gold_of(gold), truth=gold_of(true_labels), options=options)


@checked
def simulate(
    *,
    n_items: int = 100,
    n_raters: int = 10,
    judgments_per_item: int = 5,
    labels: Sequence[str] = ("error", "ok"),
    prevalence: Sequence[float] = (),
    skill: float = 0.8,
    spread: float = 0.1,
    spammers: float = 0.0,
    biased: float = 0.0,
    lazy: float = 0.0,
    turning: float = 0.0,
    difficulty: float = 0.0,
    seed: int = 0,
) -> SimulatedCrowd:
    """Judgments of raters of known skill, with the true labels."""
    from grater.measure.crowd.simulate import Crowd, simulate
    from grater.uncertainty.rng import generator

    crowd = Crowd(
        n_items=n_items,
        n_raters=n_raters,
        n_each=judgments_per_item,
        labels=labels,
        prevalence=prevalence,
        skill=skill,
        spread=spread,
        spammers=spammers,
        biased=biased,
        lazy=lazy,
        turning=turning,
        difficulty=difficulty,
    )
    return simulate(crowd, rng=generator(seed, "simulate"))
