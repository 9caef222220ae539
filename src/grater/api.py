"""grater from Python: one function for each thing that a command does, offered by `import grater` itself.

Tables go in as they are: a frame of pandas, polars or Arrow, a path, or a table that was read before; essays go in as
a path or as the list that `read_corpus` returns.  Options are keyword-only and have the defaults of the commands.
Results have `to_dict()`, `to_frame()` and `sheets()`, and show themselves as tables in a notebook.

Each function imports what it needs when it is called, so that scoring corrections does not wait for data frames, nor
reading a corpus for detectors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar, Unpack

from grater import options as opt
from grater.errors import GraterError, UsageError
from grater.files import URL
from grater.model import Edit, Essay, Interval, Span, document_of
from grater.options import EssaySource, Opt, OutPath, Reading, TableSource, basis_of, require_different
from grater.options import described as _checked
from grater.progress import NOTES
from grater.sheet import counted

if TYPE_CHECKING:
    import polars as pl

    from grater.corpora.check import CheckResult
    from grater.corpora.formats import Conversion
    from grater.corpora.statistics import CorpusStatistics
    from grater.detect.decisions import Filled
    from grater.detect.detector import Detector
    from grater.detect.feedback import Feedback
    from grater.detect.prepositions.selection import SelectionTests
    from grater.detect.systems import SystemCards
    from grater.measure.agreement.difficulty import Difficulty
    from grater.measure.agreement.edits import CorpusAgreement
    from grater.measure.agreement.raters_needed import RatersNeeded
    from grater.measure.agreement.summary import Agreement
    from grater.measure.corrections.ceiling import Ceiling
    from grater.measure.corrections.recall import Recall, Remaining
    from grater.measure.corrections.scores import MetricOptions, Scores
    from grater.measure.crowd.aggregate import Aggregation
    from grater.measure.crowd.raters import Raters
    from grater.measure.crowd.simulate import SimulatedCrowd
    from grater.measure.evaluation.comparison import Comparison
    from grater.measure.evaluation.evaluation import Evaluation
    from grater.measure.evaluation.selection import ChoiceStudy, ClozeStudy
    from grater.measure.preference import Preference
    from grater.measure.sampling.plan import Plan
    from grater.measure.units import Unknown
    from grater.reporting.document import Report
    from grater.tables import Judgments, Sample, Table

T = TypeVar("T")


def _judgments(source: TableSource, options: Mapping[str, Any], *, but: Collection[str] = ()) -> Judgments:
    """The judgments of one source, or of several combined, read as the options say; notes what was left out."""
    from grater.tables import as_judgments, read_judgments

    reading = {name: value for name, value in options.items() if name in Reading.__annotations__ and name not in but}
    if isinstance(source, list | tuple):
        judgments = _joined([_judgments(each, reading) for each in source], options.get("duplicates", "error"))
    elif type(source).__name__ in ("Judgments", "Table"):
        judgments = as_judgments(source)
        judgments = read_judgments(judgments.frame, name=judgments.name, **reading) if reading else judgments
    else:
        judgments = read_judgments(source, **reading)
    if not isinstance(source, list | tuple):
        for reason, n_rows in judgments.dropped.items():
            NOTES.info(f"{judgments.name}: left out {counted(n_rows, 'judgment')}: {reason}")
    return judgments


def _joined(tables: Sequence[Judgments], duplicates: str) -> Judgments:
    """One table of several; the same rater on the same item in two of them is a duplicate."""
    import polars as pl

    from grater.tables import read_judgments

    frame = pl.concat([table.frame for table in tables], how="diagonal_relaxed")
    name = ", ".join(table.name for table in tables)
    joined = read_judgments(frame, duplicates=duplicates, status=("all",), name=name)  # type: ignore[arg-type]
    dropped = {f"{reason} ({table.name})": n for table in tables for reason, n in table.dropped.items()}
    is_anonymous = any(table.anonymous_raters for table in tables)
    return replace(joined, dropped={**dropped, **joined.dropped}, anonymous_raters=is_anonymous)


OF_DECISIONS = ("system", "flagged", "score", "type", "suggestion")
"""Columns that are about decisions where a function reads both."""


def _decisions(source: TableSource, options: Mapping[str, Any]) -> Table:
    """The decisions of one source or of several; of the columns named, those of decisions count."""
    import polars as pl

    from grater.tables import Table, as_decisions, read_decisions

    columns = {ours: theirs for ours, theirs in (options.get("columns") or {}).items() if ours in OF_DECISIONS}
    reading: dict[str, Any] = {"columns": columns} if columns else {}
    reading |= {"duplicates": options["duplicates"]} if "duplicates" in options else {}
    if not isinstance(source, list | tuple):
        if isinstance(source, Table) or not reading:
            return as_decisions(source)
        return read_decisions(source, **reading)
    tables = [_decisions(each, options) for each in source]
    frame = pl.concat([table.frame for table in tables], how="diagonal_relaxed")
    return read_decisions(
        frame, duplicates=options.get("duplicates", "error"), name=", ".join(table.name for table in tables)
    )


def _judgments_of_decisions(source: TableSource, options: Mapping[str, Any]) -> Judgments:
    """The judgments; some of the named columns may be those of the decisions."""
    columns = {ours: theirs for ours, theirs in (options.get("columns") or {}).items() if ours not in OF_DECISIONS}
    return _judgments(source, {**options, "columns": columns})


def _gold(source: TableSource | None, columns: Mapping[str, str] | None, options: Mapping[str, Any]) -> Table | None:
    from grater.tables import as_gold, read_gold

    if source is None or not (columns or "duplicates" in options):
        return _given(as_gold, source)
    return read_gold(source, columns=columns, duplicates=options.get("duplicates", "error"))


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
    """An iterable that is not a frame, whose columns it would yield."""
    is_other = isinstance(source, Mapping | bytes) or hasattr(source, "columns")
    if is_other or not isinstance(source, Iterable):
        raise UsageError(f"expected {wanted}, found {type(source).__name__}")
    return source


def _corpora(sources: Sequence[EssaySource], format_name: str | None = None) -> dict[str, list[Essay]]:
    """Corpora by name: the path, or their number."""
    return {
        str(source) if isinstance(source, str | Path) else f"corpus {number}": list(_essays(source, format_name))
        for number, source in enumerate(sources, start=1)
    }


def _files(sources: Iterable[EssaySource]) -> list[Path]:
    """The paths, where all sources are paths."""
    paths = [Path(each) for each in sources if isinstance(each, str | Path)]
    return paths if len(paths) == len(list(sources)) else []


def _is_big(files: Sequence[Path], options: Mapping[str, Any]) -> bool:
    """Whether corpora are worked on shard by shard: an engine was asked for, or one is cut."""
    if not any(options.values()) and not any(file.is_dir() or URL.match(str(file)) for file in files):
        return False
    from grater.scale.corpus import is_cut_here

    return any(options.values()) or any(map(is_cut_here, files))


# Corpora

__all__ = ["read_corpus", "convert", "corpus_statistics", "check_corpus", "corpus_judgments"]


@_checked
def read_corpus(path: Path | str, *, format_name: str | None = None) -> list[Essay]:
    """The essays of a corpus, with their annotators and edits; the format is guessed from the name if not given."""
    from grater.corpora import read_corpus

    return list(read_corpus(path, format_name=format_name))


@_checked
def convert(
    *files: Annotated[
        EssaySource,
        Opt(
            "The corpus to read and the file or folder to write.  Of parallel text: SOURCE CORRECTED... OUT.",
            "IN OUT",
            repeats=True,
        ),
    ],
    from_format: Annotated[str | None, replace(opt.FORMAT, flag="--from")] = None,
    to_format: Annotated[str | None, replace(opt.FORMAT, flag="--to")] = None,
    edits: Annotated[
        Literal["keep", "extract"], Opt("Keep the edits, or extract new ones from the corrected text.")
    ] = "keep",
    types: Annotated[Literal["keep", "errant"], Opt("Keep the tags of edits, or give each an ERRANT type.")] = "keep",
    engine: opt.EngineName = "grater",
    documents: opt.Documents = None,
    losses: Annotated[OutPath, Opt("Write every loss to this file, as JSON lines.", "FILE", writes="file")] = None,
) -> Conversion:
    """Convert a corpus, and list everything the new format cannot hold."""
    from grater.corpora import write_corpus
    from grater.corpora.converting import opened, with_new_edits
    from grater.corpora.formats import Conversion
    from grater.corpora.source import replacing

    if len(files) < 2 or not isinstance(files[-1], str | Path):
        raise UsageError("expected IN OUT, a corpus and the file to write, or SOURCE CORRECTED... OUT; found no OUT")
    *sources, out = files
    target = Path(str(out))
    paths = [Path(each) for each in sources if isinstance(each, str | Path)]
    require_different([*dict.fromkeys(paths), target, *([Path(losses)] if losses else [])])
    with replacing(Path(losses)) if losses else nullcontext() as stream:
        conversion = Conversion(hear=(lambda loss: stream.writelines([loss.as_line()])) if stream else None)
        with opened(paths, from_format, documents, engine) if paths else nullcontext(_essays(files[0])) as essays:
            if len(sources) == 1:
                remembered = conversion.remembering(essays)
                essays = with_new_edits(remembered, conversion.report, edits=edits, types=types, engine=engine)
            write_corpus(conversion.counting(essays), target, conversion.report, format_name=to_format)
    return conversion


@_checked
def corpus_statistics(
    *corpora: Annotated[EssaySource, Opt("Corpora; several are shown side by side.", "FILE")],
    by: Annotated[str | None, Opt("Show one row per value of a metadata field, such as language.", "FIELD")] = None,
    merge_alternatives: Annotated[bool, Opt("Count several edits on one span once.")] = False,
    split_tags: Annotated[
        bool, Opt("Split Wcip into prepositions and others, Rloc into articles and others.")
    ] = False,
    format_name: opt.FormatName = None,
    **options: Unpack[opt.Working],
) -> CorpusStatistics:
    """Count documents, sentences, tokens, types and edits, by annotator, tag and metadata field."""
    from grater.corpora import note_left_out, open_corpora
    from grater.corpora.counts import Counting
    from grater.corpora.statistics import corpus_statistics, statistics_of

    files = _files(corpora)
    if _is_big(files, options):
        from grater.scale.passes import tallies_of

        counting = Counting(merge_alternatives, split_tags)
        return statistics_of(tallies_of(files, by, counting, format_name, **options), by, counting)
    with open_corpora(files, format_name) if files else nullcontext(_corpora(corpora)) as by_name:
        found = corpus_statistics(by_name, by=by, merge_alternatives=merge_alternatives, split_tags=split_tags)
    note_left_out(files, format_name)
    return found


@_checked
def check_corpus(
    *corpora: Annotated[EssaySource, Opt("Corpora; several are also compared with each other.", "FILE")],
    tagset: Annotated[
        str | None, Opt("Tag set; default: guessed.", "NAME", names="grater.corpora.tagsets:TAGSETS")
    ] = None,
    only: Annotated[Sequence[str], Opt("Report only this rule; repeatable.", "RULE")] = (),
    ignore: Annotated[Sequence[str], Opt("Ignore this rule; repeatable.", "RULE")] = (),
    known: Annotated[Path | str | None, Opt("Known defects: the --json of an earlier check.", "FILE")] = None,
    format_name: opt.FormatName = None,
) -> CheckResult:
    """Look for edits that change nothing, duplicates, unknown tags and more."""
    from grater.corpora import open_corpora
    from grater.corpora.check import check_corpora, read_known
    from grater.corpora.source import open_source
    from grater.corpora.tagsets import TAGSETS

    excused, files = read_known(open_source(Path(known))) if known else Counter(), _files(corpora)
    with open_corpora(files, format_name) if files else nullcontext(_corpora(corpora)) as by_name:
        result = check_corpora(by_name, tagset=TAGSETS[tagset] if tagset else None)
    return result.chosen(only=only, ignore=ignore).without_known(excused)


@_checked
def corpus_judgments(
    corpus: Annotated[EssaySource, Opt("Annotated corpora of the same essays.", "CORPUS", several=True)],
    decisions: opt.DecisionTables,
    *,
    tags: Annotated[Sequence[str], Opt("Tags that make an item an error.", "TAG,TAG", split=True)],
    match: Annotated[Literal["tag", "any"], Opt("Which edits make an item an error.")] = "tag",
    labels: Annotated[
        Literal["verdict", "usage"], Opt("Labels to write: error and ok, or those of usage.")
    ] = "verdict",
    items: opt.ItemTable = None,
    columns: opt.Columns = None,
    duplicates: opt.Duplicates = "error",
    format_name: opt.FormatName = None,
    out: Annotated[OutPath, Opt("The table of judgments to write.", "FILE", writes="table", needed=True)] = None,
) -> Judgments:
    """Turn annotations into judgments: for every item and annotator, error or ok."""
    from grater.corpora.judgments import documents_of_items, items_of, judgments_from_edits
    from grater.tables import as_items, write_table

    if not tags:
        raise UsageError("expected `tags` TAG or TAG,TAG, as in Wcip, found none")
    decided = _decisions(decisions, {"columns": columns, "duplicates": duplicates})
    tables = decided, _given(as_items, items)
    judged = judgments_from_edits(
        _merged(corpus, format_name),
        items_of(*tables),
        tags=tags,
        match=match,
        labels=labels,
        documents=documents_of_items(*tables),
    )
    if out is not None:
        write_table(judged, Path(out))
    return judged


# Judgments

__all__ += ["read_judgments", "agreement", "edit_agreement", "raters", "raters_needed", "difficulty"]
__all__ += ["aggregate", "simulate"]


@_checked
def read_judgments(source: TableSource, **options: Unpack[Reading]) -> Judgments:
    """Judgments of one source or several, with other names of columns, labels merged, or some of them left out.

    For a sheet with one row per item and a column of labels per rater, name these columns: `rater_columns=["Ada",
    "Bo"]`.
    """
    return _judgments(source, options)


@_checked
def agreement(
    judgments: opt.JudgmentTables,
    *,
    by: opt.ByColumns = (),
    items: opt.ItemTable = None,
    contexts: opt.Flags = (),
    compare: Annotated[Sequence[str], Opt("Compare the kappas of two pairs of raters.", "A,B:C,D")] = (),
    against: Annotated[TableSource | None, Opt("Compare with another table of judgments.", "FILE")] = None,
    weights: Annotated[
        Literal["identity", "linear", "quadratic"], Opt("Weights for partial agreement, for kappa and AC.")
    ] = "identity",
    scale: Annotated[
        Literal["nominal", "ordinal", "interval", "ratio"], Opt("Level of measurement, for alpha.")
    ] = "nominal",
    label_order: Annotated[Sequence[str], Opt("The order of labels, lowest first.", "LABEL,LABEL", split=True)] = (),
    ok: Annotated[str | None, Opt("The label that means no error.", "LABEL")] = None,
    all_pairs: Annotated[bool, Opt("Compare all pairs, even with more than 40 raters.")] = False,
    constructions: Annotated[bool, Opt("Agreement on the constructions of nouns (Lee et al. 2009).")] = False,
    **options: Unpack[opt.ReadingAndIntervals],
) -> Agreement:
    """Measure agreement among raters: alpha, kappa, observed agreement and AC1, in all and by pair.

    The units of intervals are essays (documents) if `items`, or a column of the judgments, names them, else items.
    """
    from functools import partial

    from grater.measure.agreement.constructions import construction_study
    from grater.measure.agreement.summary import MOST_RATERS, agreement, agreement_report
    from grater.measure.units import essays_of
    from grater.tables import as_items

    basis, table, placed = basis_of(options), _judgments(judgments, options), _given(as_items, items)
    if constructions:
        if placed is None:
            raise UsageError("expected `items` with `constructions`, the table from grater lab nouns")
        return construction_study(table, placed)  # type: ignore[return-value]
    essays = essays_of(table, placed, units=basis.units)
    measure = partial(
        agreement,
        essays=essays,
        weights=weights,
        scale=scale,
        order=label_order,
        ok=ok,
        most_raters=10**9 if all_pairs else MOST_RATERS,
        basis=basis,
    )
    return agreement_report(
        table,
        measure,
        by=by,
        contexts=contexts,
        compare=compare,
        against=_judgments(against, options) if against is not None else None,
        items=placed,
        essays=essays,
        basis=basis,
    )


@_checked
def edit_agreement(
    corpus: Annotated[EssaySource, Opt("Annotated corpora, merged by essay.", "FILE", several=True)],
    *,
    gaps: Annotated[bool, Opt("Insertions belong to gaps, not to the next token.")] = False,
    documents: opt.Documents = None,
    format_name: opt.FormatName = None,
    **options: Unpack[opt.Resampling],
) -> CorpusAgreement:
    """How far the annotators of a corpus agree: which tokens are wrong, which error it is, which correction."""
    from grater.corpora import read_corpus
    from grater.corpora.merge import attach_documents
    from grater.measure.agreement.edits import edit_agreement

    essays = _merged(corpus, format_name)
    if documents is not None:
        essays = attach_documents(essays, read_corpus(documents))
    return edit_agreement(essays, gaps=gaps, basis=basis_of(options))


@_checked
def raters(
    judgments: opt.JudgmentTables,
    *,
    gold: opt.GoldTable = None,
    gold_columns: opt.Renamed = None,
    **options: Unpack[Reading],
) -> Raters:
    """Profile each rater: accuracy on gold, agreement with others, skill, speed."""
    from grater.measure.crowd.raters import raters

    return raters(_judgments(judgments, options), gold=_gold(gold, gold_columns, options))


@_checked
def raters_needed(
    judgments: opt.JudgmentTables,
    experts: opt.ExpertTable = None,
    *,
    gold: opt.GoldTable = None,
    reach: Annotated[float | None, Opt("The agreement to reach; default with gold: .95.", "SHARE")] = None,
    expert_columns: opt.Renamed = None,
    items: opt.ItemTable = None,
    draws: Annotated[int, Opt("Draw N random subsets, as the paper does; 0: exact.", "N", min=0)] = 0,
    unknown: opt.UnknownLabels = "drop",
    **options: Unpack[opt.ReadingAndResampling],
) -> RatersNeeded:
    """Find the smallest number of raters that matches the experts.

    With `gold` in place of experts it is the smallest number whose majority is right on the share `reach` of items.
    """
    from grater.measure.agreement.raters_needed import as_expert, raters_needed
    from grater.measure.units import essays_of
    from grater.tables import as_items, with_labels

    if (experts is None) == (gold is None):
        raise UsageError("expected either `experts` or `gold`")
    crowd, merge = _judgments(judgments, options), options.get("merge")
    if gold is not None:
        answers = _gold(gold, expert_columns, options)
        others = as_expert(answers)  # type: ignore[arg-type]
        others = with_labels(others, merge) if merge else others
        reach = 0.95 if reach is None else reach
    else:
        others = _experts(experts, {**options, "columns": expert_columns})
    basis = basis_of(options)
    return raters_needed(
        _kept(crowd, unknown),
        _kept(others, unknown),
        essays=essays_of(crowd, _given(as_items, items), units=basis.units),
        n_draws=draws,
        reach=reach,
        basis=basis,
    )


def _experts(source: TableSource, options: Mapping[str, Any]) -> Judgments:
    """Columns and filters are about the crowd's table; labels must mean the same in the experts'."""
    return _judgments(source, options, but=("drop_flags", "min_confidence", "rater_columns"))


def _kept(judgments: Judgments, unknown: Unknown) -> Judgments:
    """The judgments that count; notes how many were left out."""
    from grater.measure.units import LEFT_OUT, with_unknown

    kept = with_unknown(judgments, unknown)
    if len(kept) == 0:
        raise UsageError(f"{judgments.name}: every judgment is unknown; count them with `unknown` apart")
    if n_dropped := kept.dropped.get(LEFT_OUT, 0):
        NOTES.info(f"{judgments.name}: left out {counted(n_dropped, 'judgment')}: {LEFT_OUT}")
    return kept


@_checked
def difficulty(
    judgments: opt.JudgmentTables,
    *,
    experts: opt.ExpertTable = None,
    items: opt.ItemTable = None,
    essays: opt.EssayFiles = (),
    by: opt.ByColumns = (),
    top: Annotated[int, Opt("Number of items to list.", min=1)] = 10,
    split: Annotated[float, Opt("A crowd is split below this share.", min=0, max=1)] = 0.75,
    quantiles: Annotated[int, Opt("Parts of a numeric column.", min=2)] = 4,
    **options: Unpack[opt.ReadingAndResampling],
) -> Difficulty:
    """List the easiest and hardest items, and what predicts disagreement.

    With the `essays` of the items, factors are computed from their text.
    """
    from grater.measure.agreement.difficulty import difficulty
    from grater.tables import as_items

    crowd, known = _judgments(judgments, options), None
    if experts is not None:
        known = _experts(experts, {**options, "columns": None})
    placed = _given(as_items, items)
    if essays:
        if placed is None:
            raise UsageError("expected `items` with `essays`, for the positions of the items")
        from grater.detect.factors import with_factors

        placed = with_factors(placed, _merged(essays))
    return difficulty(
        crowd, known, placed, by=by, top=top, split=split, n_quantiles=quantiles, basis=basis_of(options)
    )


def _merged(source: EssaySource, format_name: str | None = None) -> Iterable[Essay]:
    """The essays of a corpus, or of several paths, merged."""
    from grater.corpora import read_merged

    if isinstance(source, list | tuple) and source and all(isinstance(each, Path) for each in source):
        return read_merged(source, format_name=format_name)
    return _essays(source, format_name)


@_checked
def aggregate(
    judgments: opt.JudgmentTables,
    *,
    method: Annotated[
        str,
        Opt(
            "Method: dawid-skene, glad, mace, majority, one-coin or wawa.",
            "NAME",
            names="grater.measure.crowd.aggregate:METHODS",
        ),
    ] = "dawid-skene",
    gold: opt.GoldTable = None,
    true_labels: Annotated[
        TableSource | None, Opt("True labels; reports how often the answers are right.", "FILE")
    ] = None,
    iterations: Annotated[int, Opt("Maximum iterations.")] = 1000,
    tolerance: Annotated[float, Opt("Stop at this gain of log-likelihood per judgment.")] = 1e-6,
    restarts: Annotated[int, Opt("Random starts of MACE.")] = 10,
    gold_columns: opt.Renamed = None,
    seed: opt.Seed = 0,
    **options: Unpack[Reading],
) -> Aggregation:
    """Aggregate judgments: an answer with its posterior for each item, and the skill of each rater.

    `gold` holds items with known answers fixed; `true_labels` are only compared with the answers.
    """
    from grater.measure.crowd.aggregate import METHODS, Options, aggregate

    METHODS[method]  # an unknown name is answered before a long table is read
    known, right = (_gold(table, gold_columns, options) for table in (gold, true_labels))
    steps = Options(iterations=iterations, tolerance=tolerance, restarts=restarts, seed=seed)
    return aggregate(_judgments(judgments, options), method, gold=known, truth=right, options=steps)


@_checked
def simulate(
    *,
    judgments_per_item: Annotated[int, Opt("Judgments per item.", "N", min=1)] = 5,
    out: Annotated[OutPath, Opt("Write the judgments to this table.", "FILE", writes="table")] = None,
    true_labels_out: Annotated[OutPath, Opt("Write the true labels.", "FILE", writes="table")] = None,
    skills: Annotated[OutPath, Opt("Write the raters' kinds and skills.", "FILE", writes="table")] = None,
    seed: opt.Seed = 0,
    **crowd: Unpack[opt.Simulating],
) -> SimulatedCrowd:
    """Simulate judgments by raters of known skill, for planning and testing."""
    from grater.measure.crowd.simulate import Crowd, simulate
    from grater.sheet import Signature
    from grater.tables import write_table
    from grater.uncertainty import generator

    simulated = simulate(Crowd(n_each=judgments_per_item, **crowd), rng=generator(seed, "simulate"))
    simulated = replace(simulated, signature=Signature("simulate", {"seed": str(seed)}))
    tables = ((simulated.judgments, out), (simulated.truth, true_labels_out), (simulated.raters, skills))
    for table, path in tables:
        if path is not None:
            write_table(table, Path(path))
    return simulated


# Samples, systems against raters, and the report

__all__ += ["read_decisions", "plan", "sample", "evaluate", "compare", "report"]


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
    width: Annotated[float, opt.WIDTH] = 0.1,
    flag_rate: Annotated[float | None, Opt("Share of items the system flags; assumed: 0.1.", "SHARE")] = None,
    precision: Annotated[float | None, Opt("Expected precision; assumed: 0.8.", "SHARE")] = None,
    missed: Annotated[float | None, Opt("Expected error rate among unflagged items.", "RATE")] = None,
    recall: Annotated[float | None, Opt("Expected recall, instead of missed.", "SHARE")] = None,
    corpus_size: Annotated[int | None, Opt("Size of the corpus; default: unlimited.", "N", min=2)] = None,
    decisions: opt.DecisionTables | None = None,
    system: opt.SystemName = "",
    strata: opt.Strata = "score:10",
    rates: opt.Rates = None,
    errors: Annotated[int | None, Opt("Errors that exhaustive judging should find.", "N", min=1)] = None,
    raters_per_item: Annotated[int, Opt("Raters per item.", "N", min=1)] = 1,
    items_per_hour: Annotated[float, Opt("Items a rater judges per hour.", "N")] = 125.0,
    wage: Annotated[float, Opt("Cost of an hour.", "MONEY", min=0)] = 0.0,
    judge_skill: Annotated[Sequence[float], Opt("Sensitivity and specificity of a cheap judge.", "SE,SP")] = (),
    errors_per_sentence: Annotated[
        float | None, Opt("Errors per source sentence, for the recall of correctors.", "N")
    ] = None,
    sensitivity: Annotated[float, Opt("The share of errors that one rater marks.", "SHARE")] = 0.75,
    population: opt.PopulationName = "wider",
) -> Plan:
    """Compare the cost of exhaustive annotation, verification, and sampling (the paper's and ours).

    The result has items, raters, hours and money for an interval of recall of this `width`.  Pass either `missed`,
    the rate of errors among unflagged items, or `recall` of the system.  With the `decisions` of a system, strata of
    its scores have a separate row.
    """
    from grater.measure.sampling import plan as planning

    if items_per_hour <= 0:
        raise UsageError(f"expected `items_per_hour` above 0, found {items_per_hour:g}")
    if missed is None and recall is None and decisions is None:
        raise UsageError("expected `missed` or `recall`, or `decisions`")
    if judge_skill and (len(judge_skill) != 2 or not all(0 <= each <= 1 for each in judge_skill)):
        raise UsageError(f"expected `judge_skill` as in 0.8,0.95, found {', '.join(map(str, judge_skill))}")
    guesses = {"precision": precision, "missed": missed, "recall": recall}
    parts = None
    if decisions is None:
        size = inf if corpus_size is None else corpus_size
        expected = planning.expected_of(flag_rate=flag_rate, size=size, population=population, **guesses)
    elif corpus_size is not None:
        raise UsageError("expected `decisions` or `corpus_size`, found both")
    else:
        table = _decisions(decisions, {})
        name = system or planning.only_system(table)
        parts, expected = planning.expected_strata(
            table,
            name,
            strata=strata or "decision",
            rates=None if rates == "score" else rates,
            population=population,
            **guesses,
        )
    marking = None
    if errors_per_sentence is not None:
        if recall is None:
            raise UsageError("expected `recall` with `errors_per_sentence`")
        marking = planning.plan_marking(
            recall, width, errors_per_sentence=errors_per_sentence, sensitivity=sensitivity
        )
    return planning.plan(
        expected,
        width,
        work=planning.Work(raters=raters_per_item, items_per_hour=items_per_hour, wage=wage),
        errors=errors,
        strata=parts,
        assist=planning.Skill(*judge_skill) if judge_skill else None,
        marking=marking,
    )


@_checked
def sample(
    decisions: opt.DecisionTables,
    *,
    system: opt.SystemName,
    n: opt.NumberDrawn = None,
    flagged: opt.NumberFlagged = None,
    strata: opt.Strata = None,
    allocation: opt.Allocation = None,
    rates: opt.Rates = None,
    stratum_labels: opt.LabelTable = None,
    add_to: Annotated[TableSource | None, Opt("An earlier sample, to which the system is added.", "SAMPLE")] = None,
    width: opt.Width = None,
    judgments: opt.JudgmentTables | None = None,
    out: Annotated[
        OutPath,
        Opt("Write the sample to this file, with its design.", "SAMPLE", writes="table", needed=True),
    ] = None,
    to_judge: Annotated[OutPath, Opt("Write the items still to judge, in order.", "FILE", writes="table")] = None,
    worksheet: Annotated[OutPath, Opt("The worksheet to write, .csv or .xlsx.", "FILE", writes="folder")] = None,
    essays: opt.EssayFiles = (),
    items: opt.ItemTable = None,
    task: opt.WorksheetTask = "error",
    seed: opt.Seed = 0,
) -> Sample:
    """Items to judge, drawn from the strata of a system's decisions; or a system added to the sample `add_to`.

    A system is added with as few new items as keep the chances of the first draw or, with the `judgments` so far, as
    bring its recall to an interval of this `width`.
    """
    import polars as pl

    from grater.measure.evaluation.cases import error_shares
    from grater.measure.sampling.draw import add_system, draw_sample
    from grater.measure.sampling.draw import to_judge as left_to_judge
    from grater.measure.sampling.plan import score_rates
    from grater.tables import as_judgments, as_sample, write_table

    if worksheet is not None and not essays:
        raise UsageError("expected `essays` CORPUS with `worksheet`, for the sentences")
    table, labels = _decisions(decisions, {}), _given(as_judgments, stratum_labels)
    so_far = _judgments(judgments, {}) if judgments is not None else None
    before = _given(as_sample, add_to)
    if rates == "score":
        rates = score_rates(table, system, strata=strata or "decision", labels=labels)
    sizes: dict[str, Any] = {"n_flagged": flagged, "rates": rates, "labels": labels}
    if before is not None:
        errors = None
        if width is not None:
            if so_far is None:
                raise UsageError("expected `judgments` with `width`, for error rates")
            errors = error_shares(so_far)
        sizes |= {"n": n, "strata": strata, "method": allocation, "width": width, "errors": errors}
        drawn = add_system(before, table, system, **sizes)
    elif n is None:
        raise UsageError("expected `n`, the number of items to draw, or `add_to`, an earlier sample")
    else:
        sizes |= {"strata": strata or "decision", "method": allocation or "paper", "seed": seed}
        drawn = draw_sample(table, system, n, **sizes)
    known = so_far.frame if so_far else before.frame if before else None
    left = left_to_judge(drawn, known["item"].cast(str).to_list() if known is not None else [])
    if worksheet is not None:  # first: where it is refused, nothing is written
        from grater.annotate.tasks.worksheet import sample_worksheet
        from grater.corpora.judgments import items_of
        from grater.tables import as_items, write_worksheet

        places = items_of(table, _given(as_items, items))
        sheet = sample_worksheet(left, places, _merged(essays), task=task, decisions=table, system=system)
        write_worksheet(sheet, Path(worksheet))
        to_fill = counted(len(sheet), "item")
        NOTES.info(f"{worksheet}: {to_fill} to judge; agree and evaluate read it when it is filled in")
    if out is not None:
        write_table(drawn, Path(out))
    if to_judge is not None:
        write_table(pl.DataFrame({"item": left}, schema={"item": pl.String}), Path(to_judge))
    return drawn


@_checked
def evaluate(
    decisions: opt.DecisionTables,
    judgments: opt.JudgmentTables,
    *,
    bins: Annotated[
        Sequence[float], Opt("Show scores in bins of agreement, as in 0.5,0.75,0.9,1.", "EDGE,EDGE")
    ] = (),
    contexts: opt.Flags = (),
    suggestions: Annotated[bool, Opt("Also score suggestions against the raters' alternatives.")] = False,
    corrections: Annotated[
        TableSource | None, Opt("Score suggestions against adjudicated corrections, columns item and label.", "FILE")
    ] = None,
    constructions: Annotated[bool, Opt("Score articles and number against every accepted construction.")] = False,
    gold_answers: Annotated[
        TableSource | None, Opt("Judgments of gold that was hidden among the items.", "FILE")
    ] = None,
    curve: Annotated[
        OutPath, Opt("Write precision and recall at every threshold to this table.", "FILE", writes="table")
    ] = None,
    width: opt.Width = None,
    **options: Unpack[opt.Evaluating],
) -> Evaluation:
    """Score systems against raters: precision, recall and F by majority, by rater, weighted, by agreement bin.

    With the `sample` of the judged items, all numbers are estimates for the corpus.  Where only flags
    were judged, or the design is not known, recall is withheld.  `gold` is the truth where that is adjudicated,
    otherwise it corrects for raters' errors.
    """
    from grater.measure.evaluation.evaluation import EvaluationOptions, evaluate
    from grater.measure.evaluation.standard import EDGES
    from grater.tables import as_gold, as_items, write_table

    if options.get("gold") is None and gold_answers is not None:
        raise UsageError("expected `gold` with `gold_answers`")
    if width is not None and not 0 < width < 1:
        raise UsageError(f"expected `width` between 0 and 1, found {width:g}")
    if constructions:
        if options.get("items") is None:
            raise UsageError("expected `items` with `constructions`, for the construction that was written")
        from grater.measure.agreement.constructions import construction_scores

        tables = _decisions(decisions, options), _judgments(judgments, options), as_items(options["items"])
        return construction_scores(*tables, basis=basis_of(options))  # type: ignore[return-value]
    wanted = EvaluationOptions(**_rules(options), edges=bins or EDGES, contexts=tuple(contexts))
    evaluation = evaluate(
        **_tables(decisions, judgments, options),
        options=wanted,
        corrections=_given(as_gold, corrections),
        with_suggestions=suggestions,
        with_curves=curve is not None,
        on_gold=_judgments(gold_answers, options) if gold_answers is not None else None,
    )
    if evaluation.cases.n_stray and not evaluation.cases.is_judged.any():
        raise UsageError("no item is both decided on and judged; do `decisions` and `judgments` name the same items?")
    if curve is not None:
        write_table(evaluation.curve_frame(), Path(curve))
    for line in evaluation.progress(width) if width is not None else ():
        NOTES.info(line)
    return replace(evaluation, shows_weighted=options.get("weighted", False), shows_bins=bool(bins))


TABLES = (".csv", ".tsv", ".jsonl", ".parquet", ".gz", ".xlsx")
RULES = ("truth", "unknown", "missing", "kind", "by", "redundancy")


def _rules(options: Mapping[str, Any]) -> dict[str, Any]:
    """What counts, and what intervals rest on, as keywords of `EvaluationOptions`."""
    return {"basis": basis_of(options), **{name: options[name] for name in RULES if name in options}}


def _tables(decisions: TableSource, judgments: TableSource, options: Mapping[str, Any]) -> dict[str, Any]:
    """What `evaluate` and `compare` read, by the names of their parameters."""
    import polars as pl

    from grater.measure.evaluation.cases import judge_of_labels
    from grater.measure.evaluation.design import judge_of_column
    from grater.measure.units import with_documents
    from grater.tables import as_gold, as_items, as_judgments, as_sample
    from grater.tables.files import load

    documents, assist = options.get("documents"), options.get("assist")
    decided, known, judge = _decisions(decisions, options), _given(as_items, options.get("items")), None
    if documents is not None:
        named, name = pl.DataFrame(dict(load(documents, name="documents").columns)), "documents"
        name = str(documents) if isinstance(documents, str | Path) else name
        if known is None:
            decided = with_documents(decided, named, name)
        else:
            known = with_documents(known, named, name)
    if isinstance(assist, str) and not Path(assist).exists():
        if Path(assist).suffix in TABLES:
            raise UsageError(f"{assist}: no such file; expected a table of judgments or the name of a column")
        judge = judge_of_column(assist, known, decided)
    elif assist is not None:
        judge = judge_of_labels(_judgments(assist, {**options, "columns": None, "status": ("all",)}))
    return {
        "decisions": decided,
        "judgments": _judgments_of_decisions(judgments, options),
        "items": known,
        "sample": _given(as_sample, options.get("sample")),
        "labels": _given(as_judgments, options.get("stratum_labels")),
        "assist": judge,
        "gold": _given(as_gold, options.get("gold")),
        "merge": options.get("merge") or {},
    }


@_checked
def compare(
    decisions: opt.DecisionTables,
    judgments: opt.JudgmentTables,
    *,
    score: Annotated[Literal["precision", "recall", "f0.5", "f1", "kappa"], Opt("The score to compare.")] = "f0.5",
    test: Annotated[
        Literal["paired", "randomisation", "mcnemar"], Opt("The test behind the rank groups.")
    ] = "paired",
    **options: Unpack[opt.Evaluating],
) -> Comparison:
    """Compare systems on common items: differences with intervals and p, rank groups."""
    from grater.measure.evaluation.comparison import compare
    from grater.measure.evaluation.evaluation import EvaluationOptions

    tables, wanted = _tables(decisions, judgments, options), EvaluationOptions(**_rules(options))
    return compare(**tables, options=wanted, score=score, weighted=options.get("weighted", False), test=test)


@_checked
def report(
    *,
    out: Annotated[OutPath, Opt("The folder for the report.", "FOLDER", writes="folder")] = None,
    judgments: opt.JudgmentTables | None = None,
    decisions: opt.DecisionTables | None = None,
    experts: opt.ExpertTable = None,
    essays: opt.EssayFiles = (),
    items: opt.ItemTable = None,
    kind: opt.KindName = "",
    gold: opt.GoldTable = None,
    sample: opt.SampleTable = None,
    title: Annotated[str, Opt("The title.")] = "How good are these detectors?",
    author: Annotated[str, Opt("The author, shown under the title.", "NAME")] = "",
    earlier: opt.Earlier = None,
    headline: opt.Headline = None,
    figures: opt.FigureTypes = (),
    **options: Unpack[Reading],
) -> Report:
    """Report on judgments and decisions: an offline HTML page, Markdown, LaTeX, figures.

    `earlier` names the earlier version of a system: `{"new": "old"}`.
    """
    from datetime import UTC, datetime

    from grater.detect.factors import with_factors
    from grater.reporting.build import Inputs, of_kind
    from grater.reporting.document import Byline
    from grater.reporting.save import built
    from grater.tables import as_gold, as_items, as_sample

    if judgments is None and experts is None and decisions is None and not essays:
        raise UsageError("expected something to report on: `essays`, `judgments`, `experts` or `decisions`")
    inputs = Inputs(
        title=title,
        essays=tuple(_merged(essays)),
        judgments=_judgments_of_decisions(judgments, options) if judgments is not None else None,
        experts=_judgments_of_decisions(experts, options) if experts is not None else None,
        decisions=_decisions(decisions, options) if decisions is not None else None,
        items=_given(as_items, items),
        gold=_given(as_gold, gold),
        sample=_given(as_sample, sample),
        byline=Byline(author=author, date=datetime.now(UTC).date().isoformat()),
        earlier=dict(earlier or {}),
        factors=with_factors,
    )
    return built(of_kind(inputs, kind) if kind else inputs, out, headline, figures)


# Corrections

__all__ += ["score", "ceiling"]


Hypotheses: TypeAlias = Annotated[
    TableSource | None,
    Opt(
        "Systems, FILE or NAME=FILE: text, one sentence per line, or M2.",
        "HYP...",
        flag="--hyp",
        several=True,
        repeats=True,
    ),
]


@_checked
def score(
    references: Annotated[
        TableSource,
        Opt(
            "References, then hypotheses; or references alone, with --hyp.", "REF... HYP", several=True, repeats=True
        ),
    ],
    hypotheses: Hypotheses = None,
    *,
    by: Annotated[Literal["op", "main", "full"] | None, Opt("errant: show scores by error type.")] = None,
    test: Annotated[Literal["paired", "randomisation"], Opt("The test behind the rank groups.")] = "paired",
    baseline: Annotated[str, Opt("Compare every system with this one only.", "NAME")] = "",
    methods: Annotated[bool, Opt("Print the paragraph for a paper instead of tables.")] = False,
    per_sentence: Annotated[OutPath, Opt("Write the counts per sentence as a table.", "FILE", writes="table")] = None,
    save: Annotated[OutPath, Opt("Save the result as JSON, to compare it later.", "FILE", writes="file")] = None,
    html: Annotated[OutPath, Opt("Write a page with figures and tables.", "FILE", writes="file")] = None,
    **options: Unpack[opt.Scoring],
) -> Scores:
    """Score corrections by M2, ERRANT or GLEU, with intervals, paired tests between systems, and rank groups.

    References are annotated (M2, JSONL or essays), or plain sentences, which need their `source`; several are the
    annotators of one.  Without `hypotheses`, files are references first, then systems.  Two or more results that
    `save` wrote are compared as if scored in one run.
    """
    from grater.corpora.source import named_files, named_sentences, open_source, systems_behind
    from grater.measure.corrections.saved import compare_saved, read_saved, saved_json, sentence_frame
    from grater.measure.corrections.scores import (
        METRICS,
        WITHOUT_TYPES,
        fit_hypotheses,
        read_hypotheses,
        score_systems,
    )

    if hypotheses is None:
        files = _files(references if isinstance(references, list | tuple) else [references])
        if len(files) > 1 and all(file.suffix == ".json" for file in files):
            named = named_files(files)
            require_different([file for _, file in named])
            texts = {name: "".join(open_source(file).lines()) for name, file in named}
            saved = [read_saved(texts[name], name=str(file), label=name) for name, file in named]
            compared = compare_saved(saved, basis=basis_of(options), test=test, baseline=baseline)
            return replace(compared, shows_types=bool(by))
        references, hypotheses, notes = systems_behind(files)
        for note in notes:
            NOTES.info(note)
    metric, tokenise, quickly = options.get("metric", "m2"), options.get("tokenise", False), html is None
    chosen = METRICS[metric]
    if by and metric in WITHOUT_TYPES:
        raise UsageError(f"`by` is for `metric` errant, which knows types of errors; {metric} does not")
    read = _references(references, options, hypotheses, quickly=quickly)
    systems = read_hypotheses(named_sentences(hypotheses, "hypothesis"), metric=chosen, quickly=quickly)
    fitting, warnings = fit_hypotheses(read, systems, tokenise=tokenise)
    if html and not by and metric not in WITHOUT_TYPES and read.has_errant_types:
        by = "main"
    tier = None if metric in WITHOUT_TYPES else by or "full"
    how, basis = replace(_metric_options(options), tier=tier), basis_of(options)
    scores = score_systems(
        chosen,
        read,
        fitting,
        options=how,
        basis=basis,
        test=test,
        baseline=baseline,
        tokenised=tokenise,
        warnings=warnings,
    )
    if per_sentence is not None:
        from grater.tables import write_table  # polars costs as much time as scoring; only this option needs it

        write_table(sentence_frame(chosen, scores, how), Path(per_sentence))
    if save is not None:
        _write_text(save, saved_json(scores, how, read.documents))
    if html is not None:
        from grater.reporting.board import board  # draws, which other scoring need not wait for
        from grater.reporting.save import report_html

        _write_text(html, report_html(board(chosen, scores, read, fitting, options=how, basis=basis)))
    return replace(scores, shows_types=bool(by), shows_methods=methods)


def _write_text(path: Path | str, text: str) -> None:
    from grater.corpora.source import replacing

    with replacing(Path(path)) as stream:
        stream.write(text)


def _references(references: Any, options: Mapping[str, Any], hypotheses: Any, *, quickly: bool = False) -> Any:
    from grater.corpora.source import named_sentences, require_piped_once
    from grater.measure.corrections.scores import METRICS, read_references

    source, documents = options.get("source"), options.get("documents")
    require_piped_once(references, hypotheses, source, documents)
    return read_references(
        named_sentences(references, "references"),
        metric=METRICS[options.get("metric", "m2")],
        source=None if source is None else named_sentences({"source": source}, "source")[0],
        documents=str(documents) if isinstance(documents, Path) else documents,
        quickly=quickly,
        **{name: options[name] for name in {"engine", "tokenise"} & options.keys()},
    )


def _metric_options(options: Mapping[str, Any]) -> MetricOptions:
    from grater.measure.corrections.scores import MetricOptions

    names = {"beta", "mode", "max_unchanged", "engine"} & options.keys()
    return MetricOptions(**{name: options[name] for name in names})


@_checked
def ceiling(
    references: Annotated[
        TableSource, Opt("References: M2 files, or plain text files with --source.", "REF", several=True)
    ],
    hypotheses: Hypotheses = None,
    *,
    n_references: Annotated[
        Sequence[int], Opt("Numbers of references; default: 1 to all but one.", "N,N", flag="--references")
    ] = (),
    subsets: Annotated[int, Opt("Maximum number of sets of references of each size.", min=1)] = 300,
    **options: Unpack[opt.Scoring],
) -> Ceiling:
    """Score each annotator against the others, and systems against the same number of references."""
    from grater.corpora.source import named_sentences
    from grater.measure.corrections.ceiling import ceiling
    from grater.measure.corrections.scores import METRICS, fit_hypotheses, read_hypotheses
    from grater.progress import counting

    read, chosen = _references(references, options, hypotheses), METRICS[options.get("metric", "m2")]
    given = named_sentences([] if hypotheses is None else hypotheses, "hypothesis")
    systems = read_hypotheses(given, metric=chosen)
    fitting, warnings = fit_hypotheses(read, systems, tokenise=options.get("tokenise", False))
    with counting("scoring people") as advance:
        return ceiling(
            chosen,
            read,
            fitting,
            options=_metric_options(options),
            basis=basis_of(options),
            sizes=sorted(set(n_references)) or None,
            most_subsets=subsets,
            advance=advance,
            warnings=warnings,
        )


# Preference

__all__ += ["prefer"]


@_checked
def prefer(
    rankings: Annotated[TableSource, Opt("Rankings, pairs of systems, or Appraise XML.", "RANKINGS")],
    *,
    metrics: Annotated[
        TableSource | None, Opt("Scores (system, metric, score) to compare with people.", "SCORES")
    ] = None,
    score: Annotated[
        EssaySource | None, Opt("References, to score the ranked outputs by our metrics.", "REF")
    ] = None,
    documents: opt.Documents = None,
    html: Annotated[OutPath, Opt("Write a page with figures and tables.", "FILE", writes="file")] = None,
    units: opt.UnitsOfText = "auto",
    raters: opt.RatersMeant = "these",
    interval: Annotated[Literal["jackknife", "published-pairs"], Opt("How intervals are computed.")] = "jackknife",
    columns: opt.Columns = None,
    duplicates: opt.Duplicates = "error",
) -> Preference:
    """Rank systems by people's preference: expected wins with intervals, rank groups, judges.

    Systems that wrote the same have one row with `|` between their names, or the same `output`.
    """
    from grater.measure.metrics_and_people import read_metric_scores
    from grater.measure.preference import preference, with_metrics, with_our_metrics
    from grater.tables.rankings import Rankings, read_rankings, with_documents

    is_read = isinstance(rankings, Rankings)
    table = rankings if is_read else read_rankings(rankings, columns=columns, duplicates=duplicates)
    table = with_documents(table, documents) if documents is not None else table
    result = preference(table, units=units, raters=raters, how=interval)
    scores = read_metric_scores(metrics) if metrics is not None else {}
    if score is not None:
        result = with_our_metrics(result, table, list(_essays(score)), scores)
    elif scores:
        result = with_metrics(result, scores)
    if html is not None:
        from grater.reporting.preference import preference_report
        from grater.reporting.save import report_html

        _write_text(html, report_html(preference_report(result)))
    return result


# Correctors judged by people

__all__ += ["recall", "remaining"]


@_checked
def recall(
    marks: Annotated[TableSource, Opt("The marks of two raters: item, rater, label (the type).", "MARKS")],
    *,
    fates: Annotated[TableSource, Opt("What became of each mark: item, system, rater, label.", "FILE")],
    verified: Annotated[TableSource | None, Opt("Verifiers' answers on the marks.", "FILE")] = None,
    items: opt.ItemTable = None,
    **options: Unpack[opt.ReadingAndResampling],
) -> Recall:
    """Estimate the recall of correctors from source sentences that two raters marked.

    Every verified mark has one answer for each system.  Errors that neither rater saw are estimated (Chapman); the
    union, the share of the marks that are gone, is reported too.
    """
    from grater.measure.corrections.recall import estimate_recall
    from grater.tables import as_fates, as_items

    own = _judgments(marks, {name: each for name, each in options.items() if name != "merge"})
    return estimate_recall(
        own,
        as_fates(fates),
        verified=None if verified is None else _judgments(verified, options),
        items=_given(as_items, items),
        basis=basis_of(options),
    )


@_checked
def remaining(
    counts: Annotated[
        TableSource,
        Opt("Errors in corrected sentences: item, system, rater, missed, half_right, introduced, words.", "FILE"),
    ],
    **options: Unpack[opt.Resampling],
) -> Remaining:
    """Estimate the errors per 100 words that remain in corrected sentences."""
    from grater.measure.corrections.recall import estimate_remaining
    from grater.tables import as_remaining

    return estimate_remaining(as_remaining(counts), basis=basis_of(options))


# Detectors

__all__ += ["systems", "load_system", "check", "decide", "select"]


@_checked
def systems(
    *names: Annotated[
        str | Path,
        Opt("Systems or model files to show; default: all.", "[NAME]", names="grater.detect.systems:SYSTEMS"),
    ],
) -> SystemCards:
    """List the detectors: what they look for, and what they were trained on."""
    from grater.detect.systems import system_cards

    if not names:
        NOTES.info(f"external systems, wherever a NAME is expected: {', '.join(OUTSIDE)}")
    return system_cards([_named(name) for name in names])


OUTSIDE = ("harper", "languagetool:URL", "corrected:FILE", "edits:FILE", "command:LINE", "chat:URL#MODEL")
"""Systems that grater did not write (docs/howto/bring-your-own-detector.md)."""


@_checked
def load_system(name: str | Path) -> Detector:
    """A detector by its name, a model file, or an external system."""
    from grater.detect.systems import load_system

    return load_system(_named(name))


def _named(name: str | Path) -> str:
    if not isinstance(name, str | Path):
        raise UsageError(f"expected the name of a system or the path of its model, found {type(name).__name__}")
    return str(name)


@_checked
def check(
    text: str, *, systems: opt.SystemNames = (), precision: opt.Precision = None, language: opt.Language = None
) -> Feedback:
    """Feedback on an essay: what looks wrong, why, and what would be better; by the systems of `grater check`."""
    from grater.corpora.plain import read_text
    from grater.detect.feedback import feedback_on
    from grater.detect.systems import default_systems, load_systems

    if not isinstance(text, str):
        raise UsageError(f"expected the text of an essay, found {type(text).__name__}")
    [essay] = read_text([text], name="text")
    detectors = load_systems(systems or default_systems())
    return feedback_on(essay, detectors, name="text", language=language, precision=precision)


@_checked
def decide(
    corpus: EssaySource,
    *,
    systems: Sequence[str],
    places: TableSource | None = None,
    documents: Path | str | None = None,
    **chat: Unpack[opt.Correcting],
) -> Table:
    """A decision of every system on every place that it looks at, with where the place is.

    `places` are the items that external systems decide on, instead of prepositions; `"edits"` makes every edit of
    a system an item.  Edits on no item are counted by type in `dropped`.  `documents` is a file that names the
    documents of sentences, as for `score`.  `chat` says how systems behind a chat endpoint are asked.
    """
    from grater.corpora import with_documents
    from grater.detect.decisions import EDITS, DecisionRows, on_edits, read_item_places
    from grater.detect.systems import load_systems
    from grater.tables import read_decisions

    essays = list(_essays(corpus) if documents is None else with_documents(_essays(corpus), documents))
    on_every_edit = isinstance(places, str) and places == EDITS
    asked = None if places is None or on_every_edit else read_item_places(places)
    rows = DecisionRows(
        with_places=True,
        names=asked.names if asked else {},
        with_documents=any(document_of(essay) != essay.essay_id for essay in essays[:1]),
    )
    detectors = load_systems(systems, places=asked.by_essay if asked else None, chat=chat)
    for detector in on_edits(detectors, essays) if on_every_edit else detectors:
        rows.add(essays, detector)
    dropped = {
        f"{name}: {kind} on no item": n for name, account in rows.edits.items() for kind, n in account.others.items()
    }
    return replace(read_decisions(rows.decisions(), name="decisions"), dropped=dropped)


@_checked
def select(
    corpus: Annotated[EssaySource, Opt("Well-formed text, in any format of a corpus.", "CORPUS")],
    *,
    systems: opt.SystemNames,
    format_name: opt.FormatName = None,
) -> SelectionTests:
    """Measure how often systems predict the writer's preposition."""
    from grater.detect.prepositions.selection import SelectionTests, selection_test
    from grater.detect.systems import load_systems

    detectors = load_systems(systems)
    essays = list(_essays(corpus, format_name))
    return SelectionTests(tuple(selection_test(detector, essays) for detector in detectors))


# Fill-in tasks

__all__ += ["cloze", "choice"]

JUDGED = "expected judgments, or `system`, `essays` and `answers_out` to write a system's words"
OneSystem: TypeAlias = Annotated[
    str, Opt("Run this system on the essays.", "NAME", names="grater.detect.systems:SYSTEMS")
]
AnswersOut: TypeAlias = Annotated[OutPath, Opt("Write the words of the system.", "FILE", writes="table")]


@_checked
def cloze(
    judgments: Annotated[
        TableSource | None, Opt("Tables of the words that raters filled in.", "[JUDGMENTS]", several=True)
    ] = None,
    *,
    decisions: opt.DecisionTables | None = None,
    writer: Annotated[str, Opt("The rater whose words are the writer's own.", "NAME")] = "writer",
    system: OneSystem = "",
    essays: opt.EssayFiles = (),
    items: opt.ItemTable = None,
    answers_out: AnswersOut = None,
    **options: Unpack[Reading],
) -> ClozeStudy | None:
    """Score a cloze task: agreement of the writer with raters and systems, and among raters.

    With a `system` and `essays` the system fills the same blanks, and the essays give the writer's words.  Systems'
    words in `decisions` are in the column suggestion.
    """
    import polars as pl

    from grater.measure.evaluation.selection import cloze_study
    from grater.measure.units import NO_ESSAYS, known_essays
    from grater.tables import as_items, read_decisions, read_judgments

    people = _judgments_of_decisions(judgments, options) if judgments is not None else None
    decided = _decisions(decisions, options) if decisions is not None else None
    places = _given(as_items, items)
    essays_of_items = known_essays(people, places) if people else NO_ESSAYS
    if system:
        blanks = people.frame["item"].cast(str).unique().to_list() if people else []
        words = _filled(system, essays, items, blanks)
        _write_answers(words, words.decisions, answers_out)
        if people is not None:
            essays_of_items = known_essays(people, places or _places(words))
            given = people.frame.select(pl.col("item", "rater", "label").cast(pl.String))
            if writer not in given["rater"].unique().to_list():
                own = words.written.select("item", rater=pl.lit(writer), label="label")
                people = read_judgments(pl.concat([given, own]), name=people.name)
        filled = words.decisions.select("item", "system", "flagged", "suggestion")
        frames = [] if decided is None else [decided.frame.select(filled.columns).cast(filled.schema)]
        name = ", ".join([*([] if decided is None else [decided.name]), words.system])
        decided = read_decisions(pl.concat([*frames, filled]), name=name)
    if people is None:
        if answers_out is None or not system:
            raise UsageError(JUDGED)
        return None
    return cloze_study(people, decisions=decided, writer=writer, essays=essays_of_items)


def _filled(system: str, essays: EssaySource, items: TableSource | None, wanted: Collection[str]) -> Filled:
    """What a system would write in the blanks of a corpus."""
    from grater.detect.decisions import filled, read_item_places
    from grater.detect.systems import load_system

    if not essays:
        raise UsageError("expected `essays` with `system`, the corpus that the blanks are in")
    names = read_item_places(items).names if items is not None else {}
    return filled(load_system(system), _merged(essays), wanted=wanted or names.values(), names=names)


def _write_answers(words: Filled, frame: pl.DataFrame, out: Path | str | None) -> None:
    from grater.tables import write_table

    if out is not None:
        write_table(frame, Path(out))
        of = f"{counted(len(frame), 'word')} of {words.system}, of {counted(len(words.findings), 'place')}"
        NOTES.info(f"{out}: {of}")


def _places(words: Filled) -> Table:
    """The essays of the places that a system looked at."""
    from grater.tables import Table

    return Table("items", words.decisions.select("item", "essay"), words.system)


@_checked
def choice(
    judgments: Annotated[
        TableSource | None,
        Opt("Tables of judgments: writer, system, equally good or equally bad.", "[JUDGMENTS]", several=True),
    ] = None,
    *,
    accuracy: Annotated[float | None, Opt("The system's accuracy by exact match.", "SHARE", min=0, max=1)] = None,
    n_items: Annotated[int | None, Opt("Number of items.", "N", min=1)] = None,
    decisions: opt.DecisionTables | None = None,
    words: Annotated[
        TableSource | None, Opt("The writer's words, columns item and label; with decisions.", "FILE")
    ] = None,
    equally_bad: Annotated[
        Literal["drop", "worse"], Opt("Ignore 'equally bad', or count it for the writer.")
    ] = "drop",
    system: OneSystem = "",
    essays: opt.EssayFiles = (),
    items: opt.ItemTable = None,
    answers_out: AnswersOut = None,
    **options: Unpack[Reading],
) -> ChoiceStudy | None:
    """Score a choice task: how often the system's word is as good or better.

    `n_items` is the number of items behind `accuracy`, for its interval.  With a `system` and `essays` its accuracy
    is computed there; `answers_out` lists the places where it would write a different word, for raters to choose
    between.
    """
    from math import nan

    import numpy as np

    from grater.detect.decisions import is_mismatch
    from grater.measure.evaluation.selection import choice_study, exact_accuracy
    from grater.measure.units import known_essays
    from grater.tables import as_gold, as_items
    from grater.uncertainty import shares_by_unit, wilson

    if (decisions is None) != (words is None) or (decisions is not None and accuracy is not None):
        raise UsageError("expected `accuracy`, or `decisions` and `words` together, or neither")
    known: Interval | None = None
    if decisions is not None:
        by_system = exact_accuracy(_decisions(decisions, options), as_gold(words))
        if len(by_system) != 1:
            raise UsageError(f"expected the words of one system in `decisions`, found {len(by_system)}")
        [known] = by_system.values()
    elif accuracy is not None:
        missing = "expected `n_items` with `accuracy`, for its interval"
        known = Interval(accuracy, nan, nan, missing) if n_items is None else wilson(accuracy * n_items, n_items)
    places = _given(as_items, items)
    if system:
        own = _filled(system, essays, items, ())
        _write_answers(own, own.mismatches, answers_out)
        by_essay: dict[str, list[bool]] = {}
        for finding in own.findings:
            by_essay.setdefault(finding.item.essay_id, []).append(not is_mismatch(finding))
        hits, n = (np.array([count(each) for each in by_essay.values()], np.float64) for count in (sum, len))
        known, places = known or shares_by_unit(hits, n, "essay"), places or _places(own)
    if judgments is None:
        if answers_out is None or not system:
            raise UsageError(JUDGED)
        return None
    chosen = _judgments_of_decisions(judgments, options)
    return choice_study(chosen, accuracy=known, equally_bad=equally_bad, essays=known_essays(chosen, places))


__all__ += ["Edit", "Essay", "GraterError", "Interval", "Span"]
