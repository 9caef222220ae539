"""`grater evaluate`, `compare` and `verify`: detectors against raters.

`evaluate` scores them standard, by rater, weighted, in bins of agreement and by part; `compare` has paired tests
between systems and rank groups; `verify` is precision from judged flags.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from typer import Option

from grater.cli.command import (
    ByColumn,
    ClusterName,
    ConfidenceApart,
    ContextFlags,
    DecisionFiles,
    ErrorsByFlag,
    GoldFile,
    ItemsFile,
    Json,
    JudgmentFiles,
    Population,
    Reading,
    Redundancy,
    Resamples,
    Seed,
    Table,
    TruthName,
    UnknownWay,
    entries,
    require_gold,
    require_outputs,
    show,
    takes_options,
    warn,
)
from grater.errors import UsageError
from grater.measure.evaluation.cases import ADJUDICATED
from grater.measure.evaluation.comparison import compare
from grater.measure.evaluation.evaluation import EvaluationOptions, evaluate, verify
from grater.measure.evaluation.selection import construction_scores
from grater.measure.evaluation.standard import EDGES
from grater.measure.evaluation.thresholds import Higher
from grater.tables import Table as DecisionTable
from grater.tables import parse_merge, read_gold, read_items, write_table
from grater.uncertainty.bootstrap import Chance, Test
from grater.uncertainty.intervals import RESAMPLES

CurveFile: TypeAlias = Annotated[
    Path | None,
    Option("--curve", metavar="FILE", help="Write precision and recall at every threshold on the scores."),
]
HigherScore: TypeAlias = Annotated[
    Higher, Option("--higher", help="What a high score means; default: inferred from the system's flags.")
]


@dataclass(frozen=True, slots=True)
class Scoring:
    """What counts as true and what intervals speak of: options of every command that scores detectors."""

    truth: TruthName = "majority"
    items: ItemsFile = None
    gold: GoldFile = None
    cluster: ClusterName = "auto"
    population: Population = "wider"
    by: ByColumn = ""
    unknown: UnknownWay = "drop"
    resamples: Resamples = RESAMPLES
    seed: Seed = 0

    @property
    def chance(self) -> Chance:
        return Chance(self.cluster, self.resamples, self.seed, population=self.population)

    @property
    def options(self) -> EvaluationOptions:
        return EvaluationOptions(truth=self.truth, chance=self.chance, unknown=self.unknown, by=self.by)

    @property
    def item_table(self) -> DecisionTable | None:
        return read_items(self.items) if self.items else None

    @property
    def gold_table(self) -> DecisionTable | None:
        return read_gold(self.gold) if self.gold else None


@takes_options
def evaluate_detectors(
    decisions: DecisionFiles,
    judgments: JudgmentFiles,
    *,
    weighted: Annotated[bool, Option("--weighted", help="Show scores weighted by the share of raters.")] = False,
    bins: Annotated[
        str, Option(metavar="EDGE,EDGE", help="Show scores in bins of agreement, as in 0.5,0.75,0.9,1.")
    ] = "",
    scoring: Scoring,
    contexts: ContextFlags = "",
    confidence_apart: ConfidenceApart = None,
    with_suggestions: Annotated[
        bool, Option("--suggestions", help="Also score suggestions against the raters' alternatives.")
    ] = False,
    corrections: Annotated[
        Path | None,
        Option(metavar="FILE", help="Score suggestions against adjudicated corrections, columns item and label."),
    ] = None,
    constructions: Annotated[
        bool, Option("--constructions", help="Score articles and number against every accepted construction.")
    ] = False,
    redundancy: Redundancy = None,
    errors_by_flag: ErrorsByFlag = False,
    curve: CurveFile = None,
    higher: HigherScore = "auto",
    reading: Reading,
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """Score systems against raters: precision, recall and F by majority, by rater, weighted, by agreement bin."""
    require_outputs([curve], [*decisions, *judgments, scoring.items, scoring.gold, corrections])
    require_gold(scoring.gold, errors_by_flag=errors_by_flag)
    if constructions:
        tables, places = (reading.read_decisions(*decisions), reading.read(*judgments)), scoring.item_table
        if places is None:
            raise UsageError("expected --items FILE with --constructions, for the construction that was written")
        chance = Chance(scoring.cluster, scoring.resamples, scoring.seed)
        scores = construction_scores(*tables, places, chance=chance)
        warn(scores.warnings)
        show(scores, table=table, as_json=as_json)
        return
    try:
        edges = [float(edge) for edge in bins.split(",")] if bins else EDGES
    except ValueError as error:
        raise UsageError(f"expected --bins EDGE,EDGE, as in 0.5,0.75,0.9,1, found {bins!r}") from error
    options = replace(
        scoring.options,
        edges=edges,
        contexts=tuple(entries([contexts])),
        least_confidence=confidence_apart,
        redundancy=redundancy or 0,
        errors_by_flag=errors_by_flag,
    )
    judged = reading.read_beside_decisions(*judgments)
    evaluation = evaluate(
        reading.read_decisions(*decisions),
        judged,
        items=scoring.item_table,
        gold=scoring.gold_table,
        merge=parse_merge(reading.merge),
        options=options,
        corrections=read_gold(corrections) if corrections else None,
        with_suggestions=with_suggestions,
        with_curves=curve is not None,
        higher=higher,
    )
    if evaluation.cases.n_stray and not evaluation.cases.is_judged.any():
        raise UsageError("no item is both decided on and judged; do --decisions and --judgments name the same items?")
    if curve:
        write_table(evaluation.curve_frame(), curve)
    warn(evaluation.warnings)
    shown = replace(evaluation, shows_weighted=weighted, shows_bins=bool(bins))
    show(shown, table=table, as_json=as_json)


@takes_options
def compare_detectors(
    decisions: DecisionFiles,
    judgments: JudgmentFiles,
    *,
    score: Annotated[
        Literal["precision", "recall", "f0.5", "f1", "kappa"], Option(help="The score to compare.")
    ] = "f0.5",
    weighted: Annotated[bool, Option("--weighted", help="Weight scores by the share of raters.")] = False,
    scoring: Scoring,
    redundancy: Redundancy = None,
    test: Annotated[Test, Option(help="The paired test behind the rank groups.")] = "bootstrap",
    reading: Reading,
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """Compare systems on common items: McNemar, paired bootstrap, randomisation, and rank groups."""
    judged = reading.read_beside_decisions(*judgments)
    comparison = compare(
        reading.read_decisions(*decisions),
        judged,
        items=scoring.item_table,
        gold=scoring.gold_table,
        merge=parse_merge(reading.merge),
        options=replace(scoring.options, redundancy=redundancy or 0),
        score=score,
        weighted=weighted,
        test=test,
    )
    warn(comparison.warnings)
    show(comparison, table=table, as_json=as_json)


@takes_options
def verify_flags(
    decisions: DecisionFiles,
    judgments: JudgmentFiles,
    *,
    scoring: Scoring,
    reading: Reading,
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """Score systems on judged flags: precision only, because unflagged items were not judged."""
    if scoring.gold and scoring.truth != ADJUDICATED:
        raise UsageError("expected --truth adjudicated with --gold; to correct for rater error use grater evaluate")
    verification = verify(
        reading.read_decisions(*decisions),
        reading.read_beside_decisions(*judgments),
        items=scoring.item_table,
        gold=scoring.gold_table,
        options=scoring.options,
    )
    warn(verification.warnings)
    show(verification, table=table, as_json=as_json)
