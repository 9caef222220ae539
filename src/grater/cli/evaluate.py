"""`grater evaluate` and `compare`: detectors against raters, and against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import polars as pl
from typer import Option

from grater.cli.command import (
    ByColumn,
    ConfidenceApart,
    ContextFlags,
    DecisionFiles,
    ErrorsByFlag,
    GoldFile,
    IntervalOptions,
    ItemsFile,
    Json,
    JudgmentFiles,
    KindName,
    Reading,
    Redundancy,
    Table,
    TruthName,
    UnknownWay,
    entries,
    require_outputs,
    say,
    show,
    takes_options,
    warn,
)
from grater.errors import UsageError
from grater.measure.evaluation.cases import Missing, judge_of_labels
from grater.measure.evaluation.comparison import Test, compare
from grater.measure.evaluation.design import CheapJudge, judge_of_column
from grater.measure.evaluation.evaluation import EvaluationOptions, evaluate
from grater.measure.evaluation.selection import construction_scores
from grater.measure.evaluation.standard import EDGES
from grater.measure.evaluation.thresholds import Higher
from grater.measure.units import with_documents
from grater.tables import Table as DataTable
from grater.tables import parse_merge, read_gold, read_items, read_judgments, read_sample, write_table
from grater.tables.files import load

SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet", ".gz", ".xlsx")
CurveFile: TypeAlias = Annotated[
    Path | None,
    Option("--curve", metavar="FILE", help="Write precision and recall at every threshold on the scores."),
]
HigherScore: TypeAlias = Annotated[
    Higher, Option("--higher", help="What a high score means; default: inferred from the system's flags.")
]


@dataclass(frozen=True, slots=True)
class Scoring:
    """What was judged and what counts as true: options of every command that scores detectors."""

    sample: Annotated[Path | None, Option(metavar="FILE", help="The sample that the judged items were drawn as.")] = (
        None
    )
    truth: TruthName = "majority"
    items: ItemsFile = None
    gold: GoldFile = None
    kind: KindName = ""
    documents: Annotated[
        Path | None,
        Option(metavar="FILE", help="The document of each essay, where essays are sentences: essay, document."),
    ] = None
    missing: Annotated[Missing, Option("--missing", help="What it means that a system does not list an item.")] = (
        "absent"
    )
    by: ByColumn = ""
    unknown: UnknownWay = "drop"
    assist: Annotated[
        str, Option(metavar="FILE|COLUMN", help="A cheap judge of every item: its judgments, or a column of numbers.")
    ] = ""
    labels: Annotated[
        Path | None, Option("--stratum-labels", metavar="FILE", help="The cheap labels of --strata label.")
    ] = None

    def options(self, intervals: IntervalOptions) -> EvaluationOptions:
        return EvaluationOptions(
            truth=self.truth,
            basis=intervals.basis,
            unknown=self.unknown,
            missing=self.missing,
            kind=self.kind,
            by=self.by,
        )

    def tables(self, decisions: Sequence[Path], judgments: Sequence[Path], reading: Reading) -> dict[str, Any]:
        """What `evaluate` and `compare` read, by the names of their parameters."""
        decided, items = reading.read_decisions(*decisions), read_items(self.items) if self.items else None
        if self.documents:
            named = pl.DataFrame(dict(load(self.documents, name="documents").columns))
            if items is None:
                decided = with_documents(decided, named, str(self.documents))
            else:
                items = with_documents(items, named, str(self.documents))
        return {
            "decisions": decided,
            "judgments": reading.read_beside_decisions(*judgments),
            "items": items,
            "sample": read_sample(self.sample) if self.sample else None,
            "labels": read_judgments(self.labels) if self.labels else None,
            "assist": _cheap_judge(self.assist, items, decided, reading) if self.assist else None,
            "gold": read_gold(self.gold) if self.gold else None,
            "merge": parse_merge(reading.merge),
        }


def _cheap_judge(name: str, items: DataTable | None, decisions: DataTable, reading: Reading) -> CheapJudge:
    """A file of judgments, or a column of the items or decisions."""
    path = Path(name)
    if path.exists():
        return judge_of_labels(replace(reading, columns=[], status=["all"]).read(path))
    if path.suffix in SUFFIXES:
        raise UsageError(f"{path}: no such file; expected a table of judgments or the name of a column")
    return judge_of_column(name, items, decisions)


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
    intervals: IntervalOptions,
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
    gold_answers: Annotated[
        Path | None, Option(metavar="FILE", help="Judgments of gold that was hidden among the items.")
    ] = None,
    errors_by_flag: ErrorsByFlag = False,
    curve: CurveFile = None,
    higher: HigherScore = "auto",
    width: Annotated[
        float | None,
        Option(metavar="WIDTH", help="Say how many more judgments narrow the interval of recall to this width."),
    ] = None,
    reading: Reading,
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """Score systems against raters: precision, recall and F by majority, by rater, weighted, by agreement bin."""
    require_outputs([curve], [*decisions, *judgments, scoring.items, scoring.gold, corrections])
    if scoring.gold is None and (errors_by_flag or gold_answers):
        raise UsageError(f"expected --gold with {'--errors-by-flag' if errors_by_flag else '--gold-answers'}")
    if width is not None and not 0 < width < 1:
        raise UsageError(f"expected --width between 0 and 1, found {width:g}")
    if constructions:
        if scoring.items is None:
            raise UsageError("expected --items FILE with --constructions, for the construction that was written")
        tables = (reading.read_decisions(*decisions), reading.read(*judgments), read_items(scoring.items))
        scores = construction_scores(*tables, basis=intervals.basis)
        warn(scores.warnings)
        show(scores, table=table, as_json=as_json)
        return
    try:
        edges = [float(edge) for edge in bins.split(",")] if bins else EDGES
    except ValueError as error:
        raise UsageError(f"expected --bins EDGE,EDGE, as in 0.5,0.75,0.9,1, found {bins!r}") from error
    options = replace(
        scoring.options(intervals),
        edges=edges,
        contexts=tuple(entries([contexts])),
        least_confidence=confidence_apart,
        redundancy=redundancy or 0,
        errors_by_flag=errors_by_flag,
    )
    evaluation = evaluate(
        **scoring.tables(decisions, judgments, reading),
        options=options,
        corrections=read_gold(corrections) if corrections else None,
        with_suggestions=with_suggestions,
        with_curves=curve is not None,
        higher=higher,
        on_gold=reading.read(gold_answers) if gold_answers else None,
    )
    if evaluation.cases.n_stray and not evaluation.cases.is_judged.any():
        raise UsageError("no item is both decided on and judged; do --decisions and --judgments name the same items?")
    if curve:
        write_table(evaluation.curve_frame(), curve)
    warn(evaluation.warnings)
    shown = replace(evaluation, shows_weighted=weighted, shows_bins=bool(bins))
    show(shown, table=table, as_json=as_json)
    for line in evaluation.progress(width) if width is not None else ():
        say(line)


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
    intervals: IntervalOptions,
    redundancy: Redundancy = None,
    test: Annotated[Test, Option(help="The test behind the rank groups.")] = "paired",
    reading: Reading,
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """Compare systems on common items: differences with intervals and p, rank groups, McNemar, randomisation."""
    comparison = compare(
        **scoring.tables(decisions, judgments, reading),
        options=replace(scoring.options(intervals), redundancy=redundancy or 0),
        score=score,
        weighted=weighted,
        test=test,
    )
    warn(comparison.warnings)
    show(comparison, table=table, as_json=as_json)
