"""`grater agree`, `raters-needed`, `difficulty`, `aggregate`, `raters` and `simulate`: raters and their judgments."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isnan
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer
from typer import Argument, Option

from grater.api import simulate as simulate_crowd
from grater.cli.command import (
    Format,
    Json,
    Reading,
    Seed,
    Table,
    entries,
    print_json,
    require_different,
    require_outputs,
    say,
    show,
    takes_options,
    warn,
)
from grater.corpora import read_corpus, read_merged
from grater.corpora.jsonl import FORMAT_NAME
from grater.corpora.merge import attach_documents
from grater.errors import BadInput, Problem, UsageError
from grater.measure.agreement.coefficients import WEIGHT_COLUMNS, WEIGHTS, Matrix, Scale, matrix_of_rows
from grater.measure.agreement.constructions import construction_study
from grater.measure.agreement.difficulty import SPLIT, difficulty
from grater.measure.agreement.edits import CorpusAgreement, SeveralMarks, edit_agreement
from grater.measure.agreement.groups import (
    AgreementReport,
    Comparison,
    agreement_by_context,
    agreement_by_group,
    by_batch,
    by_column,
    compare_pairs,
    compare_tables,
)
from grater.measure.agreement.raters_needed import RatersNeeded, as_expert, raters_needed, shown
from grater.measure.agreement.summary import MOST_RATERS, agreement
from grater.measure.crowd.aggregate import METHODS
from grater.measure.crowd.aggregate import Options as AggregateOptions
from grater.measure.crowd.aggregate import aggregate as aggregate_judgments
from grater.measure.crowd.raters import raters as rate_raters
from grater.measure.crowd.simulate import Crowd
from grater.measure.units import (
    LEFT_OUT,
    Essays,
    Unknown,
    coded,
    essays_of,
    one_spelling,
    with_essays,
    with_unknown,
)
from grater.result import Result
from grater.sheet import TableFormat, counted, number
from grater.signature import Signature
from grater.tables import (
    Judgments,
    parse_columns,
    parse_merge,
    read_gold,
    read_items,
    require_raters,
    with_labels,
    write_table,
)
from grater.tables.files import SPREADSHEETS, load
from grater.uncertainty import Basis

ALL_RATERS = 10**9
GOLD_REACH = 0.95
MOST_PLOTTED = 20
HEIGHT = 10
TABLE_SUFFIXES = {".csv", ".tsv", ".parquet", ".ndjson", *SPREADSHEETS}
TABLE_OPTIONS = (
    *("by", "items", "raters", "contexts", "compare", "against"),
    *("weights", "scale", "order", "ok", "all_pairs", "constructions"),
    *("columns", "merge", "drop_flags", "min_confidence", "status", "duplicates"),
)
UnitName: TypeAlias = Annotated[
    str,
    Option(
        "--units",
        metavar="auto|item|essay|document|COLUMN",
        help="Units of intervals; auto: documents or essays where they are known, else items.",
    ),
]
IntervalName: TypeAlias = Literal["jackknife", "bootstrap"]
CORPUS_OPTIONS = ("gaps", "several", "documents")


@dataclass(frozen=True, slots=True)
class Intervals:
    """What intervals rest on: the options that `takes_options` gives to a command."""

    units: UnitName = "auto"
    interval: Annotated[IntervalName, Option(help="How intervals are made.")] = "jackknife"
    resamples: Annotated[int, Option(min=1, help="Bootstrap resamples.")] = Basis().n_resamples
    seed: Annotated[int, Option(min=0, help="Random seed, for the bootstrap and for draws.")] = 0

    @property
    def basis(self) -> Basis:
        return Basis(units=self.units, interval=self.interval, n_resamples=self.resamples, seed=self.seed)


def deliver(result: Result, *, out: Path | None, table: TableFormat, as_json: bool) -> None:
    """Say the warnings, write the numbers where asked, and show the result."""
    warn(result.warnings)
    if out:
        write_table(result.to_frame(), out)
    show(result, table=table, as_json=as_json)


@takes_options
def agree(
    context: typer.Context,
    files: Annotated[
        list[Path], Argument(metavar="FILE...", help="Tables of judgments, combined; or annotated corpora.")
    ],
    by: Annotated[
        list[str],
        Option(metavar="COLUMN", help="Show agreement for each value of a column; 'batch' is sorted by time."),
    ] = [],
    items: Annotated[
        Path | None, Option(metavar="FILE", help="A table of items, for their essays and other columns.")
    ] = None,
    raters: Annotated[
        Literal["these", "random"], Option(help="Intervals for these raters, or also for others like them (random).")
    ] = "these",
    contexts: Annotated[
        str, Option(metavar="FLAG,FLAG", help="Show agreement with and without items that have these flags.")
    ] = "",
    compare: Annotated[
        str, Option(metavar="A,B:C,D", help="Compare the kappas of two pairs of raters on their common items.")
    ] = "",
    against: Annotated[Path | None, Option(metavar="FILE", help="Compare with another table.")] = None,
    weights: Annotated[
        str, Option(metavar="|".join(WEIGHTS) + "|FILE", help="Weights for partial agreement, for kappa and AC.")
    ] = "identity",
    scale: Annotated[Scale, Option(help="Level of measurement, for alpha.")] = "nominal",
    order: Annotated[
        str, Option("--label-order", metavar="LABEL,LABEL", help="The order of labels, lowest first.")
    ] = "",
    gaps: Annotated[
        bool, Option("--gaps", help="Corpora: insertions belong to gaps between tokens, not to the next token.")
    ] = False,
    several: Annotated[
        SeveralMarks, Option(help="Corpora: join several marks of one annotator on a token, or take the first.")
    ] = "joined",
    documents: Annotated[
        Path | None, Option(metavar="FILE", help="Corpora: the documents of M2 sentences, for intervals.")
    ] = None,
    format_name: Format = None,
    ok: Annotated[str | None, Option(metavar="LABEL", help="The label that means no error.")] = None,
    all_pairs: Annotated[
        bool, Option("--all-pairs", help="Compare all pairs, even with more than 40 raters.")
    ] = False,
    constructions: Annotated[
        bool,
        Option("--constructions", help="Agreement on the constructions of nouns, with the --items of lab nouns."),
    ] = False,
    *,
    intervals: Intervals,
    reading: Reading,
    out: Annotated[Path | None, Option(metavar="FILE", help="Also write the numbers as a table.")] = None,
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """Measure agreement among raters: alpha, kappa, observed agreement and AC1 with intervals, in all and by pair."""
    require_different(files)
    require_outputs([out], [*files, against, items])
    basis = replace(intervals.basis, raters=raters)
    if format_name or any(is_corpus(file) for file in files):
        _refuse(context, TABLE_OPTIONS, "tables of judgments")
        corpus = agree_corpora(
            files, format_name=format_name, documents=documents, gaps=gaps, several=several, basis=basis
        )
        deliver(corpus, out=out, table=table, as_json=as_json)
        return
    _refuse(context, CORPUS_OPTIONS, "annotated corpora")
    judgments = reading.read(*files)
    placed = read_items(items) if items else None
    if constructions:
        if placed is None:
            raise UsageError("expected --items FILE with --constructions, the table from grater lab nouns")
        deliver(construction_study(judgments, placed), out=out, table=table, as_json=as_json)
        return
    essays = essays_of(judgments, placed, units=basis.units)
    labels = entries([order])
    measure = partial(
        agreement,
        essays=essays,
        weights=weights if weights in WEIGHTS else _read_weights(weights, tuple(labels) or coded(judgments).labels),
        scale=scale,
        order=labels,
        ok=ok,
        most_raters=ALL_RATERS if all_pairs else MOST_RATERS,
        basis=basis,
    )
    groups = []
    for column in entries(by):
        parts = by_batch(judgments) if column == "batch" else by_column(judgments, column, items=placed)
        with_tests = column != "batch"
        groups.append(
            agreement_by_group(parts, measure, by=column, with_tests=with_tests, essays=essays, basis=basis)
        )
    if flags := entries([contexts]):
        groups.append(agreement_by_context(judgments, measure, flags))
    other = reading.read(against) if against else None
    report = AgreementReport(
        whole=measure(judgments),
        groups=tuple(groups),
        comparisons=_comparisons(judgments, compare, other, essays, basis),
    )
    deliver(report, out=out, table=table, as_json=as_json)


def agree_corpora(
    files: Sequence[Path],
    *,
    format_name: str | None = None,
    documents: Path | None = None,
    gaps: bool = False,
    several: SeveralMarks = "joined",
    basis: Basis | None = None,
) -> CorpusAgreement:
    """The agreement of the annotators of some files; several files are merged by essay.

    `documents` holds the texts that M2 sentences were cut from: these are then the units of intervals.
    """
    essays = read_merged(files, format_name=format_name)
    if documents:
        essays = attach_documents(essays, read_corpus(documents))
    return edit_agreement(essays, gaps=gaps, several=several, basis=basis)


def _refuse(context: typer.Context, options: Collection[str], kind: str) -> None:
    """Refuse options that would do nothing here: they are a misunderstanding."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name in options and source is not None and source.name == "COMMANDLINE":
            raise UsageError(f"{parameter.opts[0]} is for {kind}")


def is_corpus(path: Path) -> bool:
    """Whether a path is an annotated corpus, not a table; a .jsonl file is one if it begins with our header.

    Standard input is a table, unless a format of corpora was named.
    """
    if str(path) == "-":
        return False
    suffixes = [suffix for suffix in path.suffixes if suffix != ".gz"]
    if suffixes and suffixes[-1] in TABLE_SUFFIXES:
        return False
    if suffixes and suffixes[-1] == ".jsonl" and path.suffix == ".jsonl" and path.is_file():
        with path.open(encoding="utf-8", errors="replace") as lines:
            return FORMAT_NAME in lines.readline()
    return True


def _read_weights(setting: str, labels: tuple[str, ...]) -> Matrix:
    """The matrix in a file that `--weights` names: columns label, other, weight."""
    if not Path(setting).exists():
        raise UsageError(f"expected --weights {', '.join(WEIGHTS)} or a file, found {setting!r}")
    raw = load(Path(setting), name=setting)
    if missing := [name for name in WEIGHT_COLUMNS if name not in raw.columns]:
        columns = f"expected columns {', '.join(WEIGHT_COLUMNS)}, found {', '.join(raw.columns)}"
        raise BadInput(Problem(setting, f"{columns}; add {missing[0]!r}"))
    rows = list(zip(*(raw.columns[name].to_list() for name in WEIGHT_COLUMNS), strict=True))
    return matrix_of_rows(rows, labels, name=setting)


def _comparisons(
    judgments: Judgments, pairs: str, other: Judgments | None, essays: Essays, basis: Basis
) -> dict[str, Comparison]:
    comparisons = {}
    if pairs:
        require_raters(judgments, "comparisons of raters")
        split = [[rater.strip() for rater in pair.split(",")] for pair in pairs.split(":")]
        if [len(pair) for pair in split] != [2, 2]:
            raise UsageError(f"expected --compare A,B:C,D with four raters, found {pairs!r}")
        (a, b), (c, d) = split
        codes = with_essays(coded(one_spelling(judgments)), essays)
        comparisons[f"{a} and {b} against {c} and {d}"] = compare_pairs(codes, (a, b), (c, d), basis=basis)
    if other is not None:
        # Where essays come from the judgments' own column, each table names its own.
        known = essays if essays.covers(other) else None
        name = f"{judgments.name} against {other.name}"
        comparisons[name] = compare_tables(judgments, other, essays=known, basis=basis)
    return comparisons


@takes_options
def needed(
    file: Annotated[Path, Argument(metavar="FILE", help="The crowd's judgments.")],
    experts: Annotated[
        Path | None, Option(metavar="FILE", help="Expert judgments; a rater called 'writer' is the writer.")
    ] = None,
    gold: Annotated[Path | None, Option(metavar="FILE", help="Items with known answers, instead of experts.")] = None,
    reach: Annotated[
        float | None, Option(metavar="SHARE", help="The agreement to reach; default with --gold: .95.")
    ] = None,
    expert_columns: Annotated[
        list[str],
        Option(
            "--expert-columns",
            metavar="OURS=THEIRS",
            help="Rename a column of the experts' or the gold table; repeatable.",
        ),
    ] = [],
    items: Annotated[Path | None, Option(metavar="FILE", help="A table of items, for their essays.")] = None,
    draws: Annotated[int, Option(min=0, metavar="N", help="Draw N random subsets, as the paper does; 0: exact.")] = 0,
    unknown: Annotated[Unknown, Option(help="What to do with judgments 'unknown'.")] = "drop",
    *,
    intervals: Intervals,
    reading: Reading,
    out: Annotated[Path | None, Option(metavar="FILE", help="Also write the curves as a table.")] = None,
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """Find the smallest number of raters that matches the experts, from agreement by number of raters."""
    require_different([file, *(path for path in (experts, gold, items) if path)])
    require_outputs([out], [file, experts, gold, items])
    crowd = reading.read(file)
    known = _known(reading, experts, gold, expert_columns)
    basis = intervals.basis
    result = raters_needed(
        _kept(crowd, unknown),
        _kept(known, unknown),
        essays=essays_of(crowd, read_items(items) if items else None, units=basis.units),
        n_draws=draws,
        reach=GOLD_REACH if gold and reach is None else reach,
        basis=basis,
    )
    deliver(result, out=out, table=table, as_json=as_json)
    if table == "text" and not as_json:
        typer.echo("\n" + "\n".join(plot(result)))


def _known(reading: Reading, experts: Path | None, gold: Path | None, columns: list[str]) -> Judgments:
    """What the crowd is compared with: experts' judgments, or known answers."""
    if experts and not gold:
        return replace(reading.for_experts, columns=columns).read(experts)
    if gold and not experts:
        table = read_gold(gold, columns=parse_columns(columns), duplicates=reading.duplicates)
        known = as_expert(table)
        merge = parse_merge(reading.merge)
        return with_labels(known, merge) if merge else known
    raise UsageError("expected either --experts FILE or --gold FILE")


def _kept(judgments: Judgments, unknown: Unknown) -> Judgments:
    """The judgments that count; says how many were left out."""
    kept = with_unknown(judgments, unknown)
    if len(kept) == 0:
        raise UsageError(f"{judgments.name}: every judgment is unknown; count them with --unknown apart")
    n_dropped = kept.dropped.get(LEFT_OUT, 0)
    if n_dropped:
        say(f"{judgments.name}: left out {counted(n_dropped, 'judgment')}: {LEFT_OUT}")
    return kept


@takes_options
def hard(
    file: Annotated[Path, Argument(metavar="FILE", help="The crowd's judgments.")],
    experts: Annotated[Path | None, Option(metavar="FILE", help="Judgments of experts.")] = None,
    items: Annotated[Path | None, Option(metavar="FILE", help="A table of items, for its columns.")] = None,
    essays: Annotated[
        list[Path],
        Option(metavar="FILE", help="The corpus: the sentence of each item, and what may make it hard."),
    ] = [],
    by: Annotated[list[str], Option(metavar="COLUMN", help="Columns of the items; default: all that vary.")] = [],
    top: Annotated[int, Option(min=1, help="Number of easiest and of hardest items to list.")] = 10,
    split: Annotated[
        float, Option(min=0, max=1, help="A crowd is split if its majority is below this share.")
    ] = SPLIT,
    quantiles: Annotated[int, Option(min=2, help="Number of parts that a numeric column is divided into.")] = 4,
    units: UnitName = "auto",
    *,
    reading: Reading,
    out: Annotated[Path | None, Option(metavar="FILE", help="Also write every item as a table.")] = None,
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """List the easiest and hardest items for the crowd and for experts, and what predicts disagreement."""
    require_outputs([out], [file, experts, items, *essays])
    if essays and not items:
        raise UsageError("expected --items FILE with --essays, for the positions of the items")
    crowd = reading.read(file)
    known = reading.for_experts.read(experts) if experts else None
    placed = read_items(items) if items else None
    if placed is not None and essays:
        from grater.detect.factors import with_factors  # models, which other commands need not wait for

        placed = with_factors(placed, read_merged(essays))
    result = difficulty(
        crowd, known, placed, by=entries(by), top=top, split=split, n_quantiles=quantiles, basis=Basis(units=units)
    )
    deliver(result, out=out, table=table, as_json=as_json)


def plot(result: RatersNeeded) -> Iterator[str]:
    """Kappa against N in characters: a dot for each N, a line of dashes for the experts' kappa.

    Where a share is to be reached: agreement, and a line for that share.
    """
    main, is_kappa = result.headline, result.reach is None
    points = [main.points[index] for index in shown(len(main.points), MOST_PLOTTED)]
    scores = {point.n_raters: (point.kappa if is_kappa else point.agreement).value for point in points}
    target, name = (result.target.kappa.value, "experts") if result.reach is None else (result.reach, "to reach")
    values = [value for value in (*scores.values(), target) if not isnan(value)]
    if not values:
        return
    low, high = min(values), max(values)
    heights = {n: _height(value, low, high) for n, value in scores.items()}
    line = _height(target, low, high)
    for height in range(HEIGHT, -1, -1):
        value = low + (high - low) * height / HEIGHT
        blank = "---" if line == height else "   "
        cells = "".join("  o" if heights[point.n_raters] == height else blank for point in points)
        yield f"{number(value):>8} |{cells}" + (f"  {name}" if line == height else "")
    yield " " * 9 + "+" + "-" * 3 * len(points)
    yield " " * 10 + "".join(f"{point.n_raters:>3}" for point in points) + "  raters"


def _height(value: float, low: float, high: float) -> int | None:
    if isnan(value):
        return None
    return round((value - low) / (high - low) * HEIGHT) if high > low else 0


GoldColumns = Annotated[
    list[str],
    Option(
        "--gold-columns", metavar="OURS=THEIRS", help="Rename a column of the table of known answers; repeatable."
    ),
]

DEFAULT = Crowd()


@takes_options
def aggregate(
    file: Annotated[Path, Argument(metavar="FILE", help="A table of judgments.")],
    method: Annotated[str, Option(metavar="NAME", help=f"Method: {METHODS.listed()}.")] = "dawid-skene",
    gold: Annotated[Path | None, Option(metavar="FILE", help="Items with known answers, held fixed.")] = None,
    truth: Annotated[
        Path | None,
        Option("--true-labels", metavar="FILE", help="True labels; reports how often the answers are right."),
    ] = None,
    iterations: Annotated[int, Option(help="Maximum iterations.")] = AggregateOptions().iterations,
    tolerance: Annotated[
        float, Option(help="Stop when the log-likelihood gains less than this per judgment.")
    ] = AggregateOptions().tolerance,
    restarts: Annotated[int, Option(help="Random starts of MACE.")] = AggregateOptions().restarts,
    gold_columns: GoldColumns = [],
    *,
    reading: Reading,
    out: Annotated[Path | None, Option(metavar="FILE", help="Write the answers: item, label and posteriors.")] = None,
    seed: Seed = 0,
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """Aggregate judgments: an answer with its posterior for each item, and the skill of each rater."""
    require_outputs([out], [file, gold, truth])
    METHODS[method]  # an unknown name is answered before a long table is read
    options = AggregateOptions(iterations=iterations, tolerance=tolerance, restarts=restarts, seed=seed)
    names = parse_columns(gold_columns)
    known = read_gold(gold, columns=names, duplicates=reading.duplicates) if gold else None
    right = read_gold(truth, columns=names, duplicates=reading.duplicates) if truth else None
    result = aggregate_judgments(reading.read(file), method, gold=known, truth=right, options=options)
    if not result.fit.has_converged:
        say(f"warning: {method} did not converge in {iterations} iterations; allow more with --iterations")
    deliver(result, out=out, table=table, as_json=as_json)


@takes_options
def raters(
    file: Annotated[Path, Argument(metavar="FILE", help="A table of judgments.")],
    gold: Annotated[Path | None, Option(metavar="FILE", help="Items with known answers.")] = None,
    gold_columns: GoldColumns = [],
    *,
    reading: Reading,
    out: Annotated[Path | None, Option(metavar="FILE", help="Also write the rows as a table.")] = None,
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """Profile each rater: judgments, accuracy on gold, agreement with others, skill, speed, most frequent label."""
    require_outputs([out], [file, gold])
    known = read_gold(gold, columns=parse_columns(gold_columns), duplicates=reading.duplicates) if gold else None
    result = rate_raters(reading.read(file), gold=known)
    if out:
        write_table(result.to_frame(), out)
    show(result, table=table, as_json=as_json)


def _share(text: str) -> object:
    return Option(metavar="SHARE", help=text)


def simulate(
    out: Annotated[Path, Option(metavar="FILE", help="Write the judgments to this file.")],
    items: Annotated[int, Option("--n-items", help="Number of items.")] = DEFAULT.n_items,
    raters: Annotated[int, Option("--n-raters", help="Number of raters.")] = DEFAULT.n_raters,
    judgments: Annotated[int, Option("--judgments-per-item", help="Judgments per item.")] = DEFAULT.n_each,
    labels: Annotated[str, Option(metavar="LABEL,LABEL", help="The labels to choose from.")] = ",".join(
        DEFAULT.labels
    ),
    prevalence: Annotated[str, Option(metavar="N,N", help="Frequency of each label; default: equal.")] = "",
    skill: Annotated[float, Option(help="A skilled rater's mean chance of being right.")] = DEFAULT.skill,
    spread: Annotated[float, Option(help="Standard deviation of --skill.")] = DEFAULT.spread,
    spammers: Annotated[float, _share("Share of raters who answer at random.")] = DEFAULT.spammers,
    biased: Annotated[float, _share("Share of raters who prefer one label.")] = DEFAULT.biased,
    lazy: Annotated[float, _share("Share of raters who nearly always give the same answer.")] = DEFAULT.lazy,
    turning: Annotated[float, _share("Share of raters who become spammers halfway through.")] = DEFAULT.turning,
    difficulty: Annotated[float, Option(help="Mean share of guesses per item.")] = DEFAULT.difficulty,
    truth: Annotated[
        Path | None, Option("--true-labels-out", metavar="FILE", help="Also write the true labels.")
    ] = None,
    skills: Annotated[Path | None, Option(metavar="FILE", help="Also write the raters' kinds and skills.")] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Simulate judgments by raters of known skill, for planning and testing."""
    require_outputs([out, truth, skills], [])
    try:
        shares = tuple(float(entry) for entry in entries([prevalence]))
    except ValueError:
        raise UsageError(f"expected numbers for --prevalence, found {prevalence!r}; as in 0.2,0.8") from None
    simulated = simulate_crowd(
        n_items=items,
        n_raters=raters,
        judgments_per_item=judgments,
        labels=tuple(entries([labels])),
        prevalence=shares,
        skill=skill,
        spread=spread,
        spammers=spammers,
        biased=biased,
        lazy=lazy,
        turning=turning,
        difficulty=difficulty,
        seed=seed,
    )
    write_table(simulated.judgments, out)
    if truth:
        write_table(simulated.truth, truth)
    if skills:
        write_table(simulated.raters, skills)
    if as_json:
        print_json({**simulated.to_dict(), "signature": str(Signature("simulate", {"seed": str(seed)}))})
    else:
        kinds = ", ".join(f"{n} {kind}" for kind, n in simulated.n_by_kind.items())
        n_judgments, n_items = counted(len(simulated.judgments), "judgment"), counted(len(simulated.truth), "item")
        say(f"{out}: {n_judgments} of {n_items} by {kinds}")
