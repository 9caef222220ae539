"""grater from Python: one function for each thing that a command does, offered by `import grater` itself.

Tables go in as they are: a frame of pandas, polars or Arrow, a path, or a table that was read before; essays go in as
a path or as the list that `read_corpus` returns.  Options are keyword-only and have the defaults of the commands.
Results have `to_dict()`, `to_frame()` and `sheets()`, and show themselves as tables in a notebook.

Each function imports what it needs when it is called, so that scoring corrections does not wait for data frames, nor
reading a corpus for detectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from grater.model import Essay

if TYPE_CHECKING:
    from grater.agreement.coded import Unknown
    from grater.agreement.cohen import Method
    from grater.agreement.difficulty import Difficulty
    from grater.agreement.edits import CorpusAgreement
    from grater.agreement.raters_needed import RatersNeeded
    from grater.agreement.summary import Agreement
    from grater.agreement.weights import Scale, WeightName
    from grater.corpora.check import CheckResult
    from grater.corpora.conversion import Conversion
    from grater.corpora.statistics import CorpusStatistics
    from grater.crowd.aggregate import Aggregation
    from grater.crowd.raters import Raters
    from grater.crowd.simulate import SimulatedCrowd
    from grater.detect.detector import Detector
    from grater.detect.feedback import Feedback
    from grater.detect.prepositions.selection import SelectionTest
    from grater.detect.systems import SystemCards
    from grater.evaluate.comparison import Comparison
    from grater.evaluate.edits.ceiling import Ceiling
    from grater.evaluate.edits.edit_table import Mode, Tier
    from grater.evaluate.edits.scores import Cluster as TextCluster
    from grater.evaluate.edits.scores import Scores
    from grater.evaluate.edits.systems import Hypothesis, References
    from grater.evaluate.evaluation import Evaluation
    from grater.evaluate.sampled import Sampled
    from grater.evaluate.verified import Verification
    from grater.report.document import Report
    from grater.sampling.plan import Plan
    from grater.sampling.strata import Allocation
    from grater.statistics.bootstrap import Cluster
    from grater.statistics.paired import Test
    from grater.tables import Judgments, Sample, Table

TableSource: TypeAlias = Any
"""A path, a frame of pandas, polars or Arrow, or a table that was read before."""

EssaySource: TypeAlias = Path | str | Iterable[Essay]
"""A path of a corpus in any format, or essays."""

TextSource: TypeAlias = Path | str | Sequence[str] | Sequence[Essay]
"""A path, sentences, or essays with edits."""

DEFAULT_RESAMPLES = 1000

# Corpora


def read_corpus(path: Path | str, *, format_name: str | None = None) -> list[Essay]:
    """The essays of a corpus, with their annotators and edits; the format is guessed from the name if not given."""
    from grater.corpora import read_corpus

    return list(read_corpus(path, format_name=format_name))


def convert(
    source: EssaySource, target: Path | str, *, from_format: str | None = None, to_format: str | None = None
) -> Conversion:
    """Write a corpus in another format; the result names everything that the new format cannot hold."""
    from grater.corpora import write_corpus
    from grater.corpora.conversion import Conversion

    conversion = Conversion()
    essays = conversion.counting(_essays(source, from_format))
    write_corpus(essays, target, conversion.report, format_name=to_format)
    return conversion


def corpus_statistics(
    *corpora: EssaySource,
    by: str | None = None,
    merge_alternatives: bool = False,
    split_tags: bool = False,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> CorpusStatistics:
    """Documents, sentences, tokens, types and edits of one or several corpora, by annotator, tag and `by`."""
    from grater.corpora.statistics import corpus_statistics

    return corpus_statistics(
        _corpora(corpora),
        by=by,
        merge_alternatives=merge_alternatives,
        split_tags=split_tags,
        resamples=resamples,
        seed=seed,
    )


def check_corpus(*corpora: EssaySource, tagset: str | None = None) -> CheckResult:
    """Every defect of one or several corpora; the tag set is guessed if not given."""
    from grater.corpora.check import check_corpora
    from grater.corpora.tagsets import TAGSETS

    return check_corpora(_corpora(corpora), tagset=TAGSETS[tagset] if tagset else None)


def corpus_judgments(
    corpus: EssaySource,
    decisions: TableSource,
    *,
    tags: Sequence[str],
    match: Literal["tag", "any"] = "tag",
    items: TableSource | None = None,
) -> Judgments:
    """The annotators' edits as judgments of the items that systems decided on."""
    from grater.corpora.judgments import items_of, judgments_from_edits
    from grater.tables import as_decisions, as_items

    judged = items_of(as_decisions(decisions), as_items(items) if items is not None else None)
    return judgments_from_edits(_essays(corpus), judged, tags=tags, match=match)


# Raters


def read_judgments(
    source: TableSource,
    *,
    columns: Mapping[str, str] | None = None,
    merge: Mapping[str, str] | None = None,
    drop_flags: Sequence[str] = (),
    min_confidence: float | None = None,
    status: Sequence[str] = ("valid",),
    duplicates: Literal["error", "first", "last"] = "error",
) -> Judgments:
    """Judgments with other names of columns, labels merged, or some of them left out."""
    from grater.tables import read_judgments

    return read_judgments(
        source,
        columns=columns,
        merge=merge,
        drop_flags=drop_flags,
        min_confidence=min_confidence,
        status=status,
        duplicates=duplicates,
    )


def agreement(
    judgments: TableSource,
    *,
    weights: WeightName = "identity",
    scale: Scale = "nominal",
    label_order: Sequence[str] = (),
    interval: Method = "fce",
    ok: str | None = None,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> Agreement:
    """Kappa, alpha and the other coefficients of all raters and of every two, with confidence intervals."""
    from grater.agreement.summary import Options, agreement
    from grater.tables import as_judgments

    options = Options(
        weights=weights,
        scale=scale,
        order=label_order,
        interval=interval,
        ok=ok,
        n_resamples=resamples,
        seed=seed,
    )
    return agreement(as_judgments(judgments), options)


def edit_agreement(
    corpus: EssaySource,
    *,
    gaps: bool = False,
    several: Literal["joined", "first"] = "joined",
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> CorpusAgreement:
    """How far the annotators of a corpus agree: which tokens are wrong, which error it is, which correction."""
    from grater.agreement.edits import EditOptions, edit_agreement

    options = EditOptions(gaps=gaps, several=several, n_resamples=resamples, seed=seed)
    return edit_agreement(_essays(corpus), options)


def raters(judgments: TableSource, *, gold: TableSource | None = None) -> Raters:
    """One row per rater: how many items, accuracy on gold, agreement with the others, skill, speed."""
    from grater.crowd.raters import raters
    from grater.tables import as_judgments

    return raters(as_judgments(judgments), gold=_gold(gold))


def raters_needed(
    judgments: TableSource,
    experts: TableSource,
    *,
    draws: int = 0,
    unknown: Unknown = "drop",
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> RatersNeeded:
    """Reliability against the number of raters, and the smallest number that matches the experts."""
    from grater.agreement.coded import with_unknown
    from grater.agreement.raters_needed import NeedOptions, raters_needed
    from grater.tables import as_judgments

    crowd, known = (with_unknown(as_judgments(source), unknown) for source in (judgments, experts))
    return raters_needed(crowd, known, NeedOptions(n_draws=draws, n_resamples=resamples, seed=seed))


def difficulty(
    judgments: TableSource,
    *,
    experts: TableSource | None = None,
    items: TableSource | None = None,
    by: Sequence[str] = (),
    top: int = 10,
    split: float = 0.75,
    quantiles: int = 4,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> Difficulty:
    """The easiest and hardest items for the crowd and for experts, and what goes with disagreement."""
    from grater.agreement.difficulty import DifficultyOptions, difficulty
    from grater.tables import as_judgments

    known = as_judgments(experts) if experts is not None else None
    options = DifficultyOptions(top=top, split=split, by=by, n_quantiles=quantiles, n_resamples=resamples, seed=seed)
    return difficulty(as_judgments(judgments), known, _items(items), options)


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
    from grater.crowd.aggregate import Options, aggregate
    from grater.tables import as_judgments

    given = {"iterations": iterations, "tolerance": tolerance, "restarts": restarts}
    options = Options(seed=seed, **{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]
    return aggregate(as_judgments(judgments), method, gold=_gold(gold), truth=_gold(true_labels), options=options)


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
    from grater.crowd.simulate import Crowd, simulate
    from grater.rng import generator

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


# Systems against raters


def read_decisions(
    source: TableSource,
    *,
    columns: Mapping[str, str] | None = None,
    duplicates: Literal["error", "first", "last"] = "error",
) -> Table:
    """Decisions of systems, with other names of columns."""
    from grater.tables import read_decisions

    return read_decisions(source, columns=columns, duplicates=duplicates)


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
) -> Plan:
    """Items, raters, hours and money for an interval of recall of this `width`, by several ways to evaluate.

    Either `missed`, the rate of errors among items that are not flagged, or `recall` is expected of the system.
    """
    from grater.errors import UsageError
    from grater.sampling.plan import Expected, Panel, Skill, Work, majority_of, missed_of, panel, plan, skill_of_kappa

    if (missed is None) == (recall is None):
        raise UsageError("expected one of missed and recall")
    rate = missed if recall is None else missed_of(flagged=flag_rate, precision=precision, recall=recall)
    expected = Expected(flagged=flag_rate, precision=precision, missed=rate or 0.0, size=corpus_size)
    skill = Skill(rater_accuracy, rater_accuracy) if rater_accuracy is not None else None
    if kappa is not None:
        skill = skill_of_kappa(kappa, expected.error_rate)
    team = None
    if skill is not None:
        n = raters_per_item
        team = panel(skill, right) if n is None else Panel(n, skill, majority_of(n, skill))
    n_raters = raters_per_item or (team.n if team else 1)
    work = Work(raters=n_raters, items_per_hour=items_per_hour, wage=wage)
    return plan(expected, width, work=work, errors=errors, panel=team, right=right)


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
    seed: int = 0,
) -> Sample:
    """Items to judge, drawn from the strata of a system's decisions; or a system added to the sample `add_to`."""
    from grater.errors import UsageError
    from grater.sampling.draw import add_system, draw_sample
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


def estimate(
    decisions: TableSource,
    sample: TableSource,
    judgments: TableSource,
    *,
    systems: Sequence[str] = (),
    truth: str = "majority",
    items: TableSource | None = None,
    by: str = "",
    cluster: Cluster = "item",
    unknown: Unknown = "drop",
    stratum_labels: TableSource | None = None,
    gold: TableSource | None = None,
    population: Literal["these", "wider"] = "these",
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> Sampled:
    """Precision, recall and F of systems on the whole corpus, from a judged sample of it."""
    from grater.evaluate.sampled import estimate
    from grater.statistics.bootstrap import Chance
    from grater.tables import as_decisions, as_judgments, as_sample

    return estimate(
        as_decisions(decisions),
        as_sample(sample),
        as_judgments(judgments),
        systems=systems,
        truth=truth,
        labels=as_judgments(stratum_labels) if stratum_labels is not None else None,
        items=_items(items),
        by=by,
        unknown=unknown,
        gold=_gold(gold),
        fpc=population == "these",
        chance=Chance(cluster, resamples, seed),
    )


def evaluate(
    decisions: TableSource,
    judgments: TableSource,
    *,
    weighted: bool = False,
    bins: Sequence[float] = (),
    truth: str = "majority",
    items: TableSource | None = None,
    gold: TableSource | None = None,
    cluster: Cluster = "item",
    by: str = "",
    unknown: Unknown = "drop",
    redundancy: int = 0,
    suggestions: bool = False,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> Evaluation:
    """Precision, recall and F of systems against raters: the majority, each rater in turn, weighted, in bins.

    `weighted` and `bins` say which tables are shown; the result has the numbers of all of them.
    """
    from grater.evaluate.evaluation import EvaluationOptions, evaluate
    from grater.evaluate.standard import EDGES
    from grater.statistics.bootstrap import Chance
    from grater.tables import as_decisions, as_judgments

    options = EvaluationOptions(
        truth=truth,
        edges=bins or EDGES,
        chance=Chance(cluster, resamples, seed),
        unknown=unknown,
        by=by,
        redundancy=redundancy,
    )
    evaluation = evaluate(
        as_decisions(decisions),
        as_judgments(judgments),
        items=_items(items),
        gold=_gold(gold),
        options=options,
        with_suggestions=suggestions,
    )
    return replace(evaluation, shows_weighted=weighted, shows_bins=bool(bins))


def verify(
    decisions: TableSource,
    judgments: TableSource,
    *,
    truth: str = "majority",
    items: TableSource | None = None,
    gold: TableSource | None = None,
    cluster: Cluster = "item",
    by: str = "",
    unknown: Unknown = "drop",
    population: Literal["these", "wider"] = "wider",
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> Verification:
    """Precision of systems from judged flags; recall is undefined."""
    from grater.errors import UsageError
    from grater.evaluate.evaluation import EvaluationOptions
    from grater.evaluate.truth import ADJUDICATED
    from grater.evaluate.verified import verify
    from grater.statistics.bootstrap import Chance
    from grater.tables import as_decisions, as_judgments

    if gold is not None and truth != ADJUDICATED:
        raise UsageError(f"expected truth {ADJUDICATED!r} with gold; evaluate corrects for what raters get wrong")
    options = EvaluationOptions(truth=truth, chance=Chance(cluster, resamples, seed), unknown=unknown, by=by)
    return verify(
        as_decisions(decisions),
        as_judgments(judgments),
        items=_items(items),
        gold=_gold(gold),
        options=options,
        fpc=population == "these",
    )


def compare(
    decisions: TableSource,
    judgments: TableSource,
    *,
    score: Literal["precision", "recall", "f0.5", "f1", "kappa"] = "f0.5",
    weighted: bool = False,
    truth: str = "majority",
    items: TableSource | None = None,
    gold: TableSource | None = None,
    cluster: Cluster = "item",
    by: str = "",
    unknown: Unknown = "drop",
    redundancy: int = 0,
    test: Test = "bootstrap",
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> Comparison:
    """Which system is better: paired tests on common items, and rank groups."""
    from grater.evaluate.comparison import compare
    from grater.evaluate.evaluation import EvaluationOptions
    from grater.statistics.bootstrap import Chance
    from grater.tables import as_decisions, as_judgments

    options = EvaluationOptions(
        truth=truth, chance=Chance(cluster, resamples, seed), unknown=unknown, by=by, redundancy=redundancy
    )
    return compare(
        as_decisions(decisions),
        as_judgments(judgments),
        items=_items(items),
        gold=_gold(gold),
        options=options,
        score=score,
        weighted=weighted,
        test=test,
    )


# Corrections


def score(
    references: TextSource,
    hypotheses: Mapping[str, TextSource],
    *,
    metric: str = "m2",
    source: TextSource | None = None,
    mode: Mode = "cs",
    by: Tier | None = None,
    beta: float = 0.5,
    max_unchanged: int = 2,
    spacy_model: str | None = None,
    cluster: TextCluster = "sentence",
    test: Test = "bootstrap",
    resamples: int = 5_000,
    seed: int = 0,
) -> Scores:
    """Score corrections by M2, ERRANT or GLEU, with paired tests between systems and rank groups.

    References are annotated (M2, JSONL or essays); for GLEU they may be plain sentences, which need their `source`.
    """
    from grater.evaluate.edits.metrics import METRICS, MetricOptions
    from grater.evaluate.edits.scores import Resampling, score_systems

    return score_systems(
        METRICS[metric],
        _references(references, source),
        [_hypothesis(name, texts) for name, texts in hypotheses.items()],
        options=MetricOptions(beta=beta, mode=mode, tier=by, max_unchanged=max_unchanged, spacy_model=spacy_model),
        chance=Resampling(n_resamples=resamples, seed=seed, cluster=cluster, test=test),
    )


def ceiling(
    references: TextSource,
    hypotheses: Mapping[str, TextSource] | None = None,
    *,
    metric: str = "m2",
    source: TextSource | None = None,
    n_references: Sequence[int] | None = None,
    mode: Mode = "cs",
    beta: float = 0.5,
    max_unchanged: int = 2,
    cluster: TextCluster = "sentence",
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> Ceiling:
    """What people reach: each annotator against the others, and systems against the same numbers of references."""
    from grater.evaluate.edits.ceiling import ceiling
    from grater.evaluate.edits.metrics import METRICS, MetricOptions
    from grater.evaluate.edits.scores import Resampling

    return ceiling(
        METRICS[metric],
        _references(references, source),
        [_hypothesis(name, texts) for name, texts in (hypotheses or {}).items()],
        options=MetricOptions(beta=beta, mode=mode, max_unchanged=max_unchanged),
        chance=Resampling(n_resamples=resamples, seed=seed, cluster=cluster),
        sizes=n_references,
    )


# Detectors


def systems(*names: str) -> SystemCards:
    """The detectors that are installed, or those named: what they look for and what they were made of."""
    from grater.detect.systems import system_cards

    return system_cards(names)


def load_system(name: str) -> Detector:
    """A detector by its name, a model file, or a system from outside."""
    from grater.detect.systems import load_system

    return load_system(name)


def check(text: str, *, systems: Sequence[str] = ("prep-maxent", "article")) -> Feedback:
    """Feedback on an essay: what looks wrong, and what would be better."""
    from grater.detect.feedback import check

    return check(text, systems)


def decide(corpus: EssaySource, *, systems: Sequence[str]) -> Table:
    """A decision of every system on every place that it looks at, with where the place is."""
    from grater.detect.decisions import DecisionRows
    from grater.detect.systems import load_systems
    from grater.tables import as_decisions

    essays = list(_essays(corpus))
    rows = DecisionRows(with_places=True)
    for detector in load_systems(systems):
        rows.add(essays, detector)
    return as_decisions(rows.decisions(), name="decisions")


def select(corpus: EssaySource, *, system: str, seed: int = 0) -> SelectionTest:
    """How often a system finds the preposition that stood in well-formed text."""
    from grater.detect.prepositions.selection import selection_test
    from grater.detect.systems import load_system

    return selection_test(load_system(system), _essays(corpus), seed=seed)


# The report


def report(
    *,
    title: str = "Report",
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
    """Words, figures and tables from the tables of a study; `out` is a folder to write the page and its parts to."""
    from grater.report.build import Inputs, build
    from grater.report.save import save_report
    from grater.statistics.bootstrap import Chance
    from grater.tables import as_decisions, as_judgments, as_sample

    inputs = Inputs(
        title=title,
        essays=tuple(_essays(essays)),
        judgments=as_judgments(judgments) if judgments is not None else None,
        experts=as_judgments(experts) if experts is not None else None,
        decisions=as_decisions(decisions) if decisions is not None else None,
        items=_items(items),
        gold=_gold(gold),
        sample=as_sample(sample) if sample is not None else None,
        chance=Chance(n_resamples=resamples, seed=seed),
    )
    result = build(inputs)
    if out is not None:
        save_report(result, Path(out))
    return result


# What callers have, as the packages want it


def _essays(source: EssaySource, format_name: str | None = None) -> Iterable[Essay]:
    return read_corpus(source, format_name=format_name) if isinstance(source, str | Path) else source


def _corpora(sources: Sequence[EssaySource]) -> dict[str, list[Essay]]:
    """Corpora by name: the path, or their number."""
    names = [
        str(source) if isinstance(source, str | Path) else f"corpus {number}"
        for number, source in enumerate(sources, start=1)
    ]
    return {name: list(_essays(source)) for name, source in zip(names, sources, strict=True)}


def _items(source: TableSource | None) -> Table | None:
    from grater.tables import as_items

    return None if source is None else as_items(source)


def _gold(source: TableSource | None) -> Table | None:
    from grater.tables import as_gold

    return None if source is None else as_gold(source)


def _references(references: TextSource, source: TextSource | None) -> References:
    from grater.evaluate.edits.systems import References, rewritten

    name = str(references) if isinstance(references, str | Path) else "references"
    texts = _texts(references)
    if texts is None:
        return References(name=name, sentences=_annotated(references))
    originals = _texts(source) if source is not None else None
    if originals is None:
        from grater.errors import UsageError

        raise UsageError(f"{name}: plain text references need the sentences before correction: give source")
    return References(name=name, sentences=rewritten(originals, {name: texts}, source_name="source"))


def _hypothesis(system: str, hypothesis: TextSource) -> Hypothesis:
    from grater.evaluate.edits.systems import Hypothesis

    name = str(hypothesis) if isinstance(hypothesis, str | Path) else system
    texts = _texts(hypothesis)
    if texts is not None:
        return Hypothesis(system=system, name=name, texts=texts)
    return Hypothesis(system=system, name=name, sentences=_annotated(hypothesis))


def _texts(source: TextSource) -> list[str] | None:
    """The sentences of plain text; none where the source has edits."""
    if not isinstance(source, str | Path):
        return [text for text in source if isinstance(text, str)] or None
    from grater.corpora.source import open_source
    from grater.evaluate.edits.systems import read_sentences

    is_annotated = {".m2", ".jsonl"} & set(Path(source).suffixes)
    return None if is_annotated else read_sentences(open_source(Path(source)))


def _annotated(source: TextSource) -> list[Essay]:
    return [essay for essay in _essays(source) if isinstance(essay, Essay)]  # type: ignore[arg-type]
