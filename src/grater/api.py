"""grater from Python: one function for each thing that a command does, offered by `import grater` itself.

Tables go in as they are: a frame of pandas, polars or Arrow, a path, or a table that was read before; essays go in as
a path or as the list that `read_corpus` returns.  Options are keyword-only and have the defaults of the commands.
Results have `to_dict()`, `to_frame()` and `sheets()`, and show themselves as tables in a notebook.

Each function imports what it needs when it is called, so that scoring corrections does not wait for data frames, nor
reading a corpus for detectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from math import inf
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeAlias, TypeVar

from grater.errors import GraterError, UsageError
from grater.model import Edit, Essay, Interval, Span

if TYPE_CHECKING:
    from grater.corpora.check import CheckResult
    from grater.corpora.formats import Conversion
    from grater.corpora.statistics import CorpusStatistics
    from grater.detect.detector import Detector
    from grater.detect.feedback import Feedback
    from grater.detect.prepositions.selection import SelectionTest
    from grater.detect.systems import SystemCards
    from grater.measure.agreement.coefficients import Scale, WeightName
    from grater.measure.agreement.difficulty import Difficulty
    from grater.measure.agreement.edits import CorpusAgreement
    from grater.measure.agreement.raters_needed import RatersNeeded
    from grater.measure.agreement.summary import Agreement
    from grater.measure.corrections.ceiling import Ceiling
    from grater.measure.corrections.edit_table import Mode, Tier
    from grater.measure.corrections.scores import Scores
    from grater.measure.corrections.scores import Test as TextTest
    from grater.measure.crowd.aggregate import Aggregation
    from grater.measure.crowd.raters import Raters
    from grater.measure.crowd.simulate import SimulatedCrowd
    from grater.measure.evaluation.cases import Missing
    from grater.measure.evaluation.comparison import Comparison, Test
    from grater.measure.evaluation.evaluation import Evaluation
    from grater.measure.sampling.plan import Allocation, Plan
    from grater.measure.units import Unknown
    from grater.reporting.document import Report
    from grater.tables import Judgments, Sample, Table
    from grater.uncertainty import Population

T = TypeVar("T")
P = ParamSpec("P")

TableSource: TypeAlias = Any
"""A path, a frame of pandas, polars or Arrow, or a table that was read before."""

EssaySource: TypeAlias = Path | str | Iterable[Essay]
"""A path of a corpus in any format, or essays."""

SentenceSource: TypeAlias = Any
"""A path, sentences, or essays with edits; several of them in a list, or by name."""

DEFAULT_RESAMPLES = 1000


def _is_truth(value: object) -> bool:
    return type(value).__name__ in ("bool", "bool_")  # numpy's too, without numpy


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not _is_truth(value)


def _are(value: object, kind: Callable[[object], bool]) -> bool:
    """Whether a value can be iterated over, a single text excepted; only the members of lists are checked."""
    is_one = isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable)
    return not is_one and (not isinstance(value, list | tuple) or all(map(kind, value)))


EXPECTED: Mapping[str, tuple[str, Callable[[object], bool]]] = {
    "bool": ("True or False", _is_truth),
    "int": ("a whole number", lambda value: isinstance(value, Integral) and not _is_truth(value)),
    "float": ("a number", _is_number),
    "str": ("text", lambda value: isinstance(value, str)),
    "Sequence[str]": ("a list of texts", lambda value: _are(value, lambda each: isinstance(each, str))),
    "Sequence[float]": ("a list of numbers", lambda value: _are(value, _is_number)),
    "Mapping[str, str]": ("a dictionary", lambda value: isinstance(value, Mapping)),
    "Mapping[str, float]": ("a dictionary", lambda value: isinstance(value, Mapping)),
}
"""What to expect of an option by its annotation, and whether a value will do."""


def _checked(function: Callable[P, T]) -> Callable[P, T]:
    """The function; an option that is not of its annotated type is refused before it fails somewhere inside."""
    kinds = {name: str(kind).removesuffix(" | None") for name, kind in function.__annotations__.items()}
    optional = {name for name, kind in function.__annotations__.items() if kind != kinds[name]}
    expected = {name: EXPECTED[kind] for name, kind in kinds.items() if kind in EXPECTED}

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> T:
        for name, value in ((name, value) for name, value in options.items() if name in expected):
            words, will_do = expected[name]
            if not will_do(value) and not (value is None and name in optional):
                raise UsageError(f"{name}: expected {words}, found {value!r}")
        return function(*args, **options)

    return call


def _given(read: Callable[[Any], T], source: TableSource | None) -> T | None:
    """The table that `read` makes of an optional source."""
    return None if source is None else read(source)


def _essays(source: EssaySource, format_name: str | None = None) -> Iterable[Essay]:
    from grater.corpora import read_corpus

    if isinstance(source, str | Path):
        return read_corpus(source, format_name=format_name)
    essays = _all_essays(_several(source, "a path of a corpus or essays (grater.Essay)"))
    return list(essays) if isinstance(source, list | tuple) else essays


def _all_essays(essays: Iterable[object]) -> Iterator[Essay]:
    for essay in essays:
        if not isinstance(essay, Essay):
            raise UsageError(f"expected essays (grater.Essay), found {type(essay).__name__}")
        yield essay


def _several(source: Iterable[T], wanted: str) -> Iterable[T]:
    """Something to iterate over that is no frame, whose columns would be taken for what is wanted."""
    is_other = isinstance(source, Mapping | bytes) or hasattr(source, "columns")
    if is_other or not isinstance(source, Iterable):
        raise UsageError(f"expected {wanted}, found {type(source).__name__}")
    return source


def _corpora(sources: Sequence[EssaySource]) -> dict[str, list[Essay]]:
    """Corpora by name: the path, or their number."""
    return {
        str(source) if isinstance(source, str | Path) else f"corpus {number}": list(_essays(source))
        for number, source in enumerate(sources, start=1)
    }


# Corpora

__all__ = ["read_corpus", "convert", "corpus_statistics", "check_corpus", "corpus_judgments"]


@_checked
def read_corpus(path: Path | str, *, format_name: str | None = None) -> list[Essay]:
    """The essays of a corpus, with their annotators and edits; the format is guessed from the name if not given."""
    from grater.corpora import read_corpus

    return list(read_corpus(path, format_name=format_name))


@_checked
def convert(
    source: EssaySource, target: Path | str, *, from_format: str | None = None, to_format: str | None = None
) -> Conversion:
    """Write a corpus in another format; the result names everything that the new format cannot hold."""
    from grater.corpora import write_corpus
    from grater.corpora.formats import Conversion

    conversion = Conversion()
    essays = conversion.counting(_essays(source, from_format))
    write_corpus(essays, target, conversion.report, format_name=to_format)
    return conversion


@_checked
def corpus_statistics(
    *corpora: EssaySource,
    by: str | None = None,
    merge_alternatives: bool = False,
    split_tags: bool = False,
) -> CorpusStatistics:
    """Documents, sentences, tokens, types and edits of one or several corpora, by annotator, tag and `by`."""
    from grater.corpora.statistics import corpus_statistics

    return corpus_statistics(
        _corpora(corpora),
        by=by,
        merge_alternatives=merge_alternatives,
        split_tags=split_tags,
    )


@_checked
def check_corpus(*corpora: EssaySource, tagset: str | None = None) -> CheckResult:
    """Every defect of one or several corpora; the tag set is guessed if not given."""
    from grater.corpora.check import check_corpora
    from grater.corpora.tagsets import TAGSETS

    return check_corpora(_corpora(corpora), tagset=TAGSETS[tagset] if tagset else None)


@_checked
def corpus_judgments(
    corpus: EssaySource,
    decisions: TableSource,
    *,
    tags: Sequence[str],
    match: Literal["tag", "any"] = "tag",
    items: TableSource | None = None,
) -> Judgments:
    """The annotators' edits as judgments of the items that systems decided on."""
    from grater.corpora.judgments import documents_of_items, items_of, judgments_from_edits
    from grater.tables import as_decisions, as_items

    tables = as_decisions(decisions), _given(as_items, items)
    documents = documents_of_items(*tables)
    return judgments_from_edits(_essays(corpus), items_of(*tables), tags=tags, match=match, documents=documents)


# Judgments

__all__ += ["read_judgments", "agreement", "edit_agreement", "raters", "raters_needed", "difficulty"]
__all__ += ["aggregate", "simulate"]


@_checked
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


@_checked
def agreement(
    judgments: TableSource,
    *,
    weights: WeightName = "identity",
    scale: Scale = "nominal",
    label_order: Sequence[str] = (),
    items: TableSource | None = None,
    units: str = "auto",
    raters: Literal["these", "random"] = "these",
    interval: Literal["jackknife", "bootstrap"] = "jackknife",
    ok: str | None = None,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> Agreement:
    """Alpha, kappa and the other coefficients of all raters and of every two, with confidence intervals.

    `units` are essays (documents) where `items`, or a column of the judgments, names them, else items; `raters`
    `random` makes intervals generalise to other raters too.  Resamples and seed matter for the bootstrap only.
    """
    from grater.measure.agreement.summary import agreement
    from grater.measure.units import essays_of
    from grater.tables import as_items, as_judgments
    from grater.uncertainty import Basis

    basis = Basis(units=units, raters=raters, interval=interval, n_resamples=resamples, seed=seed)
    table = as_judgments(judgments)
    essays = essays_of(table, _given(as_items, items), units=units)
    return agreement(table, essays=essays, weights=weights, scale=scale, order=label_order, ok=ok, basis=basis)


@_checked
def edit_agreement(
    corpus: EssaySource,
    *,
    gaps: bool = False,
    several: Literal["joined", "first"] = "joined",
    units: str = "auto",
    interval: Literal["jackknife", "bootstrap"] = "jackknife",
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> CorpusAgreement:
    """How far the annotators of a corpus agree: which tokens are wrong, which error it is, which correction."""
    from grater.measure.agreement.edits import edit_agreement
    from grater.uncertainty import Basis

    basis = Basis(units=units, interval=interval, n_resamples=resamples, seed=seed)
    return edit_agreement(_essays(corpus), gaps=gaps, several=several, basis=basis)


@_checked
def raters(judgments: TableSource, *, gold: TableSource | None = None) -> Raters:
    """One row per rater: how many items, accuracy on gold, agreement with the others, skill, speed."""
    from grater.measure.crowd.raters import raters
    from grater.tables import as_gold, as_judgments

    return raters(as_judgments(judgments), gold=_given(as_gold, gold))


@_checked
def raters_needed(
    judgments: TableSource,
    experts: TableSource | None = None,
    *,
    gold: TableSource | None = None,
    reach: float | None = None,
    items: TableSource | None = None,
    units: str = "auto",
    draws: int = 0,
    unknown: Unknown = "drop",
    interval: Literal["jackknife", "bootstrap"] = "jackknife",
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> RatersNeeded:
    """Reliability against the number of raters, and the smallest number that matches the experts.

    With `gold` in place of experts it is the smallest number whose majority is right on the share `reach` of items.
    """
    from grater.measure.agreement.raters_needed import as_expert, raters_needed
    from grater.measure.units import essays_of, with_unknown
    from grater.tables import as_gold, as_items, as_judgments
    from grater.uncertainty import Basis

    answers = _given(as_gold, gold)
    if (experts is None) == (answers is None):
        raise UsageError("expected either experts or gold")
    others = as_expert(answers) if answers is not None else as_judgments(experts)
    crowd, known = (with_unknown(table, unknown) for table in (as_judgments(judgments), others))
    share = 0.95 if answers is not None and reach is None else reach
    basis = Basis(units=units, interval=interval, n_resamples=resamples, seed=seed)
    essays = essays_of(crowd, _given(as_items, items), units=units)
    return raters_needed(crowd, known, essays=essays, n_draws=draws, reach=share, basis=basis)


@_checked
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
    units: str = "auto",
) -> Difficulty:
    """The easiest and hardest items for the crowd and for experts, and what goes with disagreement.

    With the `essays` of the items, factors are worked out from their text: frequency, surprise, length, alternatives,
    errors beside the target, uses of time and place.
    """
    from grater.measure.agreement.difficulty import difficulty
    from grater.tables import as_items, as_judgments
    from grater.uncertainty import Basis

    known = _given(as_judgments, experts)
    placed = _given(as_items, items)
    if placed is not None and essays:
        from grater.detect.factors import with_factors

        placed = with_factors(placed, _essays(essays))
    return difficulty(
        as_judgments(judgments),
        known,
        placed,
        by=by,
        top=top,
        split=split,
        n_quantiles=quantiles,
        basis=Basis(units=units),
    )


@_checked
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
    from grater.tables import as_gold, as_judgments

    given = {"iterations": iterations, "tolerance": tolerance, "restarts": restarts}
    options = Options(seed=seed, **{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]
    return aggregate(
        as_judgments(judgments),
        method,
        gold=_given(as_gold, gold),
        truth=_given(as_gold, true_labels),
        options=options,
    )


@_checked
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
    from grater.uncertainty import generator

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


# Samples, systems against raters, and the report

__all__ += ["read_decisions", "plan", "sample", "worksheet", "evaluate", "compare", "report"]


@_checked
def read_decisions(
    source: TableSource,
    *,
    columns: Mapping[str, str] | None = None,
    duplicates: Literal["error", "first", "last"] = "error",
) -> Table:
    """Decisions of systems, with other names of columns."""
    from grater.tables import read_decisions

    return read_decisions(source, columns=columns, duplicates=duplicates)


@_checked
def plan(
    *,
    width: float = 0.1,
    flag_rate: float | None = None,
    precision: float | None = None,
    missed: float | None = None,
    recall: float | None = None,
    corpus_size: float = inf,
    decisions: TableSource | None = None,
    system: str = "",
    strata: str = "score:10",
    rates: Mapping[str, float] | None = None,
    errors: int | None = None,
    raters_per_item: int | None = None,
    right: float = 0.95,
    rater_accuracy: float | None = None,
    kappa: float | None = None,
    judgments: TableSource | None = None,
    gold: TableSource | None = None,
    items_per_hour: float = 125.0,
    wage: float = 0.0,
    assist: tuple[float, float] | None = None,
    population: Population = "wider",
) -> Plan:
    """Items, raters, hours and money for an interval of recall of this `width`, by several ways to evaluate.

    Either `missed`, the rate of errors among items that are not flagged, or `recall` is expected of the system.  A
    flag rate of .1 and a precision of .8 are assumed where none is given, with a warning.  With the `decisions` of a
    system on the corpus, strata of its scores have a row of their own; their error rates are `rates`, those of
    precision and recall, or the scores.  How many raters an item needs follows from `rater_accuracy`, the `kappa` of
    two raters, or the `judgments` of a pilot with its `gold`.  `assist` are the sensitivity and specificity of a
    cheap judge of every item.
    """
    from grater.measure.evaluation.cases import frame_of_truth, truth_of, votes_of
    from grater.measure.evaluation.gold import rater_error
    from grater.measure.sampling import plan as planning
    from grater.tables import as_decisions, as_gold, as_judgments

    if items_per_hour <= 0:
        raise UsageError(f"expected items_per_hour above 0, found {items_per_hour:g}")
    guesses = {"precision": precision, "missed": missed, "recall": recall}
    parts = None
    if decisions is None:
        expected = planning.expected_of(flag_rate=flag_rate, size=corpus_size, population=population, **guesses)
    else:
        if corpus_size < inf:
            raise UsageError("expected decisions or corpus_size, found both")
        table = as_decisions(decisions)
        name = system or planning.only_system(table)
        parts, expected = planning.expected_strata(
            table, name, strata=strata, rates=rates, population=population, **guesses
        )
    if sum(each is not None for each in (rater_accuracy, kappa, judgments)) > 1:
        raise UsageError("expected one of rater_accuracy, kappa, and judgments with gold")
    if (judgments is None) != (gold is None):
        raise UsageError("expected judgments and gold together")
    skill = planning.Skill(rater_accuracy, rater_accuracy) if rater_accuracy is not None else None
    if kappa is not None:
        skill = planning.skill_of_kappa(kappa, expected.error_rate)
    if judgments is not None and gold is not None:
        votes, known = votes_of(as_judgments(judgments)), as_gold(gold)
        raters = rater_error(frame_of_truth(votes, truth_of(votes, "share")), known)
        if raters.undefined_because:
            raise UsageError(f"{known.name}: {raters.undefined_because}")
        skill = planning.Skill(raters.sensitivity.value, raters.specificity.value)
    panel, n = None, raters_per_item
    if skill is not None:
        panel = (
            planning.panel(skill, right) if n is None else planning.Panel(n, skill, planning.majority_of(n, skill))
        )
    return planning.plan(
        expected,
        width,
        work=planning.Work(raters=n or (panel.n if panel else 1), items_per_hour=items_per_hour, wage=wage),
        errors=errors,
        strata=parts,
        panel=panel,
        right=right,
        assist=planning.Skill(*assist) if assist is not None else None,
    )


@_checked
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
    from grater.measure.evaluation.cases import error_shares
    from grater.measure.sampling.draw import add_system, draw_sample
    from grater.tables import as_decisions, as_judgments, as_sample

    table = as_decisions(decisions)
    labels = _given(as_judgments, stratum_labels)
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


@_checked
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
    from grater.tables import as_decisions, as_items, as_judgments, as_sample, write_worksheet

    table, drawn = as_decisions(decisions), as_sample(sample)
    judged = as_judgments(judgments).frame["item"].cast(str).to_list() if judgments is not None else []
    places = places_of(table, _given(as_items, items))
    left = to_judge(drawn, judged)
    sheet = sample_worksheet(left, places, _essays(essays), task=task, decisions=table, system=system, rater=rater)
    write_worksheet(sheet, Path(out))
    return len(sheet)


@_checked
def evaluate(
    decisions: TableSource,
    judgments: TableSource,
    *,
    sample: TableSource | None = None,
    weighted: bool = False,
    bins: Sequence[float] = (),
    truth: str = "majority",
    items: TableSource | None = None,
    gold: TableSource | None = None,
    documents: TableSource | None = None,
    kind: str = "",
    missing: Missing = "absent",
    by: str = "",
    unknown: Unknown = "drop",
    assist: TableSource | str | None = None,
    stratum_labels: TableSource | None = None,
    redundancy: int = 0,
    suggestions: bool = False,
    gold_answers: TableSource | None = None,
    errors_by_flag: bool = False,
    units: str = "auto",
    raters: Literal["these", "random"] = "these",
    population: Population = "wider",
    interval: Literal["jackknife", "bootstrap"] = "jackknife",
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> Evaluation:
    """Precision, recall and F of systems against raters: the majority, each rater in turn, weighted, in bins.

    With the `sample` that the judged items were drawn as, all numbers are estimates for the corpus; `assist` is a
    cheap judge of every item then, a table of its judgments or the name of a column with its numbers.  Where only
    flags were judged, or the design is not known, recall is withheld.  `gold_answers` are judgments of gold that was
    hidden among the items.  `weighted` and `bins` say which tables are
    shown; the result has the numbers of all of them.  Intervals take `units` as independent: essays where a table has
    them, else items.
    """
    from grater.measure.evaluation.evaluation import EvaluationOptions, evaluate
    from grater.measure.evaluation.standard import EDGES
    from grater.tables import as_judgments
    from grater.uncertainty import Basis

    options = EvaluationOptions(
        truth=truth,
        edges=bins or EDGES,
        basis=Basis(units, raters, population, interval=interval, n_resamples=resamples, seed=seed),
        unknown=unknown,
        missing=missing,
        kind=kind,
        by=by,
        redundancy=redundancy,
        errors_by_flag=errors_by_flag,
    )
    tables = _tables(decisions, judgments, items, sample, stratum_labels, assist, gold, documents)
    on_gold = _given(as_judgments, gold_answers)
    evaluation = evaluate(**tables, options=options, with_suggestions=suggestions, on_gold=on_gold)
    return replace(evaluation, shows_weighted=weighted, shows_bins=bool(bins))


def _tables(
    decisions: TableSource,
    judgments: TableSource,
    items: TableSource | None,
    sample: TableSource | None,
    labels: TableSource | None,
    assist: TableSource | str | None,
    gold: TableSource | None,
    documents: TableSource | None,
) -> dict[str, Any]:
    """What `evaluate` and `compare` read, by the names of their parameters."""
    import polars as pl

    from grater.measure.evaluation.cases import judge_of_labels
    from grater.measure.evaluation.design import judge_of_column
    from grater.measure.units import with_documents
    from grater.tables import as_decisions, as_gold, as_items, as_judgments, as_sample
    from grater.tables.files import load

    decided, known, judge = as_decisions(decisions), _given(as_items, items), None
    if documents is not None:
        named = pl.DataFrame(dict(load(documents, name="documents").columns))
        if known is None:
            decided = with_documents(decided, named, "documents")
        else:
            known = with_documents(known, named, "documents")
    if assist is not None:
        is_column = isinstance(assist, str) and not Path(assist).exists()
        judge = judge_of_column(str(assist), known, decided) if is_column else judge_of_labels(as_judgments(assist))
    return {
        "decisions": decided,
        "judgments": as_judgments(judgments),
        "items": known,
        "sample": _given(as_sample, sample),
        "labels": _given(as_judgments, labels),
        "assist": judge,
        "gold": _given(as_gold, gold),
    }


@_checked
def compare(
    decisions: TableSource,
    judgments: TableSource,
    *,
    sample: TableSource | None = None,
    score: Literal["precision", "recall", "f0.5", "f1", "kappa"] = "f0.5",
    weighted: bool = False,
    truth: str = "majority",
    items: TableSource | None = None,
    gold: TableSource | None = None,
    documents: TableSource | None = None,
    kind: str = "",
    missing: Missing = "absent",
    by: str = "",
    unknown: Unknown = "drop",
    assist: TableSource | str | None = None,
    stratum_labels: TableSource | None = None,
    redundancy: int = 0,
    test: Test = "paired",
    units: str = "auto",
    raters: Literal["these", "random"] = "these",
    population: Population = "wider",
    interval: Literal["jackknife", "bootstrap"] = "jackknife",
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> Comparison:
    """Which system is better: paired differences on common items, and rank groups; the rest as in `evaluate`."""
    from grater.measure.evaluation.comparison import compare
    from grater.measure.evaluation.evaluation import EvaluationOptions
    from grater.uncertainty import Basis

    options = EvaluationOptions(
        truth=truth,
        basis=Basis(units, raters, population, interval=interval, n_resamples=resamples, seed=seed),
        unknown=unknown,
        missing=missing,
        kind=kind,
        by=by,
        redundancy=redundancy,
    )
    tables = _tables(decisions, judgments, items, sample, stratum_labels, assist, gold, documents)
    return compare(**tables, options=options, score=score, weighted=weighted, test=test)


@_checked
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
    kind: str = "",
    gold: TableSource | None = None,
    sample: TableSource | None = None,
    out: Path | str | None = None,
) -> Report:
    """Words, figures and tables from the tables of a study; `out` is a folder to write the page and its parts to.

    With `kind`, only items of that kind count (`prep`), by the column `kind` of `items` or `decisions`.
    `earlier` names the earlier version of a system: `{"new": "old"}`; names like mine-2 and mine say so themselves.
    """
    from datetime import UTC, datetime

    from grater.detect.factors import with_factors
    from grater.reporting.build import Inputs, build, of_kind
    from grater.reporting.document import Byline
    from grater.reporting.save import save_report
    from grater.tables import as_decisions, as_gold, as_items, as_judgments, as_sample

    inputs = Inputs(
        title=title,
        essays=tuple(_essays(essays)),
        judgments=_given(as_judgments, judgments),
        experts=_given(as_judgments, experts),
        decisions=_given(as_decisions, decisions),
        items=_given(as_items, items),
        gold=_given(as_gold, gold),
        sample=_given(as_sample, sample),
        byline=Byline(author=author, date=datetime.now(UTC).date().isoformat()),
        earlier=dict(earlier or {}),
        factors=with_factors,
    )
    result = build(of_kind(inputs, kind) if kind else inputs)
    if out is not None:
        save_report(result, Path(out))
    return result


# Corrections

__all__ += ["score", "ceiling"]


@_checked
def score(
    references: SentenceSource,
    hypotheses: SentenceSource,
    *,
    metric: str = "m2",
    source: SentenceSource | None = None,
    tokenise: bool = False,
    mode: Mode = "cs",
    by: Tier | None = None,
    beta: float = 0.5,
    max_unchanged: int = 2,
    engine: str = "grater",
    documents: Path | str | Sequence[str] | None = None,
    units: Literal["auto", "sentence", "document"] = "auto",
    interval: Literal["jackknife", "bootstrap"] = "jackknife",
    test: TextTest = "paired",
    baseline: str = "",
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
    per_sentence: Path | str | None = None,
    save: Path | str | None = None,
    html: Path | str | None = None,
) -> Scores:
    """Score corrections by M2, ERRANT or GLEU, with paired tests between systems and rank groups.

    References are annotated (M2, JSONL or essays), or plain sentences, which need their `source`; several, in a list
    or by name, are the annotators of one.  M2 and ERRANT score edits: of plain text they are made by the `engine`,
    `grater` or `errant:MODEL` with a spaCy model.  `tokenise` cuts plain text into words as the references are.
    `documents` names the document of each sentence: a list, or a file as for `grater score --documents`.
    `per_sentence`, `save` and `html` are files to write: counts, the result for `score compare`, a leaderboard.
    """
    from grater.measure.corrections.read import read_hypotheses, read_references
    from grater.measure.corrections.scores import (
        METRICS,
        WITHOUT_TYPES,
        MetricOptions,
        fit_hypotheses,
        score_systems,
        sentence_frame,
    )
    from grater.uncertainty import Basis

    chosen, quickly = METRICS[metric], html is None
    if by and metric in WITHOUT_TYPES:
        raise UsageError(f"--by is for --metric errant, which knows types of errors; {metric} does not")
    read = read_references(
        references,
        metric=chosen,
        source=source,
        documents=documents,
        engine=engine,
        quickly=quickly,
        tokenise=tokenise,
    )
    systems = read_hypotheses(hypotheses, metric=chosen, quickly=quickly)
    fitting, warnings = fit_hypotheses(read, systems, tokenise=tokenise)
    if html and not by and metric not in WITHOUT_TYPES and read.has_errant_types:
        by = "main"
    options = MetricOptions(beta=beta, mode=mode, tier=by, max_unchanged=max_unchanged, engine=engine)
    basis = Basis(units=units, interval=interval, n_resamples=resamples, seed=seed)
    scores = score_systems(
        chosen,
        read,
        fitting,
        options=options,
        basis=basis,
        test=test,
        baseline=baseline,
        tokenised=tokenise,
        warnings=warnings,
    )
    if per_sentence is not None:
        from grater.tables import write_table  # polars costs as much time as scoring; only this option needs it

        write_table(sentence_frame(chosen, scores, options), Path(per_sentence))
    if save is not None:
        from grater.corpora.source import replacing
        from grater.measure.corrections.saved import saved_json

        with replacing(Path(save)) as stream:
            stream.write(saved_json(scores, options, read.documents))
    if html is not None:
        from grater.corpora.source import replacing
        from grater.reporting.board import board  # draws, which other scoring need not wait for
        from grater.reporting.save import report_html

        page = report_html(board(chosen, scores, read, fitting, options=options, basis=basis))
        with replacing(Path(html)) as stream:
            stream.write(page)
    return scores


@_checked
def ceiling(
    references: SentenceSource,
    hypotheses: SentenceSource | None = None,
    *,
    metric: str = "m2",
    source: SentenceSource | None = None,
    tokenise: bool = False,
    n_references: Sequence[int] | None = None,
    subsets: int = 300,
    mode: Mode = "cs",
    beta: float = 0.5,
    max_unchanged: int = 2,
    engine: str = "grater",
    documents: Path | str | Sequence[str] | None = None,
    units: Literal["auto", "sentence", "document"] = "auto",
    interval: Literal["jackknife", "bootstrap"] = "jackknife",
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
    advance: Callable[[int, int], None] | None = None,
) -> Ceiling:
    """What people reach: each annotator against the others, and systems against the same numbers of references.

    `subsets` is the most sets of references of a size; `advance` hears how many of all people and systems are done.
    """
    from grater.measure.corrections.ceiling import ceiling
    from grater.measure.corrections.read import read_hypotheses, read_references
    from grater.measure.corrections.scores import METRICS, MetricOptions, fit_hypotheses
    from grater.uncertainty import Basis

    chosen = METRICS[metric]
    read = read_references(
        references, metric=chosen, source=source, documents=documents, engine=engine, tokenise=tokenise
    )
    systems = read_hypotheses([] if hypotheses is None else hypotheses, metric=chosen)
    fitting, warnings = fit_hypotheses(read, systems, tokenise=tokenise)
    return ceiling(
        chosen,
        read,
        fitting,
        options=MetricOptions(beta=beta, mode=mode, max_unchanged=max_unchanged, engine=engine),
        basis=Basis(units=units, interval=interval, n_resamples=resamples, seed=seed),
        sizes=n_references,
        most_subsets=subsets,
        advance=advance,
        warnings=warnings,
    )


# Detectors

__all__ += ["systems", "load_system", "check", "decide", "select"]


@_checked
def systems(*names: str | Path) -> SystemCards:
    """The detectors that are installed, or those named: what they look for and what they were made of."""
    from grater.detect.systems import system_cards

    return system_cards([_named(name) for name in names])


@_checked
def load_system(name: str | Path) -> Detector:
    """A detector by its name, a model file, or a system from outside."""
    from grater.detect.systems import load_system

    return load_system(_named(name))


def _named(name: str | Path) -> str:
    if not isinstance(name, str | Path):
        raise UsageError(f"expected the name of a system or the path of its model, found {type(name).__name__}")
    return str(name)


@_checked
def check(text: str, *, systems: Sequence[str] = ()) -> Feedback:
    """Feedback on an essay: what looks wrong, why, and what would be better; by the systems of `grater check`."""
    from grater.detect.feedback import check

    if not isinstance(text, str):
        raise UsageError(f"expected the text of an essay, found {type(text).__name__}")
    return check(text, systems)


@_checked
def decide(
    corpus: EssaySource,
    *,
    systems: Sequence[str],
    places: TableSource | None = None,
    documents: Path | str | None = None,
) -> Table:
    """A decision of every system on every place that it looks at, with where the place is.

    `places` are the items that systems from outside decide on, instead of prepositions; `"edits"` makes every edit of
    a system an item.  Edits on no item are counted by type in `dropped`.  `documents` is a file that names the
    documents of sentences, as for `score`.
    """
    from grater.corpora import with_documents
    from grater.detect.decisions import EDITS, DecisionRows, on_edits, read_item_places
    from grater.detect.systems import load_systems
    from grater.tables import read_decisions

    essays = with_documents(_essays(corpus), documents) if documents is not None else list(_essays(corpus))
    on_every_edit = isinstance(places, str) and places == EDITS
    asked = None if places is None or on_every_edit else read_item_places(places)
    rows = DecisionRows(
        with_places=True,
        names=asked.names if asked else {},
        with_documents=any("document" in essay.metadata for essay in essays[:1]),
    )
    detectors = load_systems(systems, places=asked.by_essay if asked else None)
    for detector in on_edits(detectors, essays) if on_every_edit else detectors:
        rows.add(essays, detector)
    dropped = {
        f"{name}: {kind} on no item": n for name, account in rows.edits.items() for kind, n in account.others.items()
    }
    return replace(read_decisions(rows.decisions(), name="decisions"), dropped=dropped)


@_checked
def select(corpus: EssaySource, *, system: str) -> SelectionTest:
    """How often a system finds the preposition that stood in well-formed text."""
    from grater.detect.prepositions.selection import selection_test
    from grater.detect.systems import load_system

    return selection_test(load_system(system), _essays(corpus))


__all__ += ["Edit", "Essay", "GraterError", "Interval", "Span"]
