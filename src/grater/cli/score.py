"""The commands for corrections: `grater score` by M2, ERRANT or GLEU, `score compare` for saved scores side by side,
`ceiling` for what annotators reach by the same measures, `combine` for one correction of several systems, by votes.

First comes what they share: references, hypotheses (`FILE` or `NAME=FILE`), and options.  A file is called by its
stem, or by the NAME before its equals sign.  `-` is standard input, whose first lines tell whether it is M2, our
JSONL or plain text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import typer
from typer import Argument, Option
from typer.core import TyperCommand

from grater.cli.command import (
    EngineName,
    Json,
    Seed,
    Table,
    counting,
    require_different,
    require_outputs,
    say_done,
    show,
    split_name,
    takes_options,
    warn,
)
from grater.corpora import read_corpus, with_documents, write_corpus
from grater.corpora.formats import ignore_loss
from grater.corpora.merge import Reread, merge_annotators
from grater.corpora.normalise import corrected_text
from grater.corpora.source import OPENERS, open_source, replacing, sentences_alone
from grater.errors import UsageError
from grater.files import require_place
from grater.measure.corrections.ceiling import MOST_SUBSETS, ceiling
from grater.measure.corrections.edit_table import Mode, Tier
from grater.measure.corrections.saved import compare_saved, read_saved, saved_json
from grater.measure.corrections.scores import (
    METRICS,
    Hypothesis,
    Metric,
    MetricOptions,
    References,
    Sentences,
    Test,
    rewritten,
    score_systems,
    sentence_frame,
)
from grater.model import Essay
from grater.sheet import counted
from grater.uncertainty import Basis

HYP = "--hyp"
Kind: TypeAlias = Literal["m2", "jsonl", "text"]
KINDS: dict[str, Kind] = {".m2": "m2", ".jsonl": "jsonl"}
"""Suffixes of tokenised sentences with edits; JSONL knows their documents too."""


class ManyHypotheses(TyperCommand):
    """A command whose `--hyp` takes all the files that follow it, up to the next option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, repeated(args))


def repeated(args: Sequence[str]) -> list[str]:
    """`--hyp a b c` as `--hyp a --hyp b --hyp c`."""
    arguments: list[str] = []
    is_hypothesis = is_first = False
    for arg in args:
        if arg.startswith("-") and arg != "-":
            is_hypothesis = is_first = arg == HYP
        elif is_hypothesis and not is_first:
            arguments.append(HYP)
        else:
            is_first = False
        arguments.append(arg)
    return arguments


def require_piped_once(files: Iterable[Path | None]) -> None:
    """Refuse standard input in two places: a system would be scored against itself."""
    if sum(str(file) == "-" for file in files) > 1:
        raise UsageError("expected standard input in one place, found '-' in several; name files for the others")


def read_references(
    metric: Metric, files: Sequence[Path], source: Path | None, *, engine: str, quickly: bool
) -> References:
    """References of one or several files; `quickly` in the metric's own shape where that is possible.

    Plain text becomes edits by the engine, for metrics that compare edits.
    """
    named = named_files(files)
    name = ", ".join(str(file) for _, file in named)
    if all(is_annotated(file) for _, file in named):
        if source is not None:
            raise UsageError("annotated references contain their source sentences; leave out --source")
        if len(named) == 1:
            return References(name, _read(metric, named[0][1], quickly=quickly))
        _require_apart([annotator for annotator, _ in named])
        corpora = {annotator: Reread(partial(_essays, file)) for annotator, file in named}
        return References(name, list(merge_annotators(corpora)))
    if any(is_annotated(file) for _, file in named):
        raise UsageError("expected references all with edits (.m2, .jsonl) or all in plain text, found both")
    _require_apart([annotator for annotator, _ in named])
    lines = {annotator: sentences_of(file) for annotator, file in named}
    if source is None:
        raise UsageError("references in plain text need the sentences before correction: --source FILE")
    if metric.references_are_texts:
        return References(name, rewritten(sentences_of(source), lines, source_name=str(source)))
    from grater.corpora.edits.engine import load_engine
    from grater.corpora.parallel import parallel_essays  # edits in M2 need no tagger

    chosen = load_engine(engine)
    sentences = parallel_essays(sentences_of(source), lines, chosen, source_name=str(source))
    return References(name, list(sentences), chosen.name)


def named_files(files: Sequence[Path]) -> list[tuple[str, Path]]:
    """Each file with its NAME in NAME=FILE, else with as much of its own name as tells it from the others."""
    named = [split_name(file) for file in files]
    short = short_names([file for _, file in named])
    return [(name or short[str(file)], file) for name, file in named]


def short_names(files: Sequence[Path]) -> dict[str, str]:
    """By path: the file's stem, its whole name where stems are the same, the path where names are too."""
    names = {str(file): [_plain_name(file).stem, file.name, str(file)] for file in files}
    for level in range(2):
        times = Counter(choices[level] for choices in names.values())
        if all(times[choices[level]] == 1 for choices in names.values()):
            return {file: choices[level] for file, choices in names.items()}
    return {file: choices[2] for file, choices in names.items()}


def is_annotated(path: Path) -> bool:
    """Whether a file has sentences with edits, rather than one sentence per line."""
    return kind_of(path) != "text"


def kind_of(path: Path) -> Kind:
    """What a file holds by its name, or standard input by its first lines."""
    if str(path) != "-":
        return KINDS.get(_plain_name(path).suffix.lower(), "text")
    first, second = [*islice(open_source(path).lines(), 2), "", ""][:2]
    if "grater-corpus" in first:
        return "jsonl"
    is_block = first.startswith("S ") and (not second.strip() or second.startswith("A "))
    return "m2" if is_block else "text"


def _hypothesis(metric: Metric, file: Path, system: str, *, quickly: bool) -> Hypothesis:
    kind = kind_of(file)
    is_foreign = kind == "jsonl" and "grater-corpus" not in next(iter(open_source(file).lines()), "")
    if kind == "text" or is_foreign:  # JSON lines of another program are most likely sentences with corrections
        return Hypothesis(system, str(file), texts=sentences_of(file))
    return Hypothesis(system, str(file), sentences=_read(metric, file, quickly=quickly))


def sentences_of(file: Path) -> list[str]:
    """Plain text, one sentence per line."""
    return sentences_alone(open_source(file))


def _require_apart(names: Sequence[str]) -> None:
    doubled = next((name for name, n in Counter(names).items() if n > 1), None)
    if doubled is not None:
        raise UsageError(f"expected annotators of different names, found {doubled!r} twice")


def _read(metric: Metric, file: Path, *, quickly: bool) -> Sentences:
    return metric.read(open_source(file)) if quickly and kind_of(file) == "m2" else list(_essays(file))


def _essays(file: Path) -> Iterator[Essay]:
    return read_corpus(file, format_name=kind_of(file) if str(file) == "-" else None)


def _plain_name(path: Path) -> Path:
    """The name without the suffix of its packing: `A.m2` of `A.m2.gz`."""
    return path.with_suffix("") if path.suffix in OPENERS else path


MetricName: TypeAlias = Annotated[
    str, Option(metavar="m2|errant|cleme|gleu|accuracy", help="How corrections are scored.")
]
SourceFile: TypeAlias = Annotated[
    Path | None, Option(metavar="FILE", help="The sentences before correction, for references in plain text.")
]
MatchMode: TypeAlias = Annotated[Mode, Option(help="errant: what must match for two edits to count as the same.")]
Beta: TypeAlias = Annotated[float, Option(help="Weight of recall relative to precision.")]
MaxUnchanged: TypeAlias = Annotated[int, Option(min=0, help="m2: unchanged words allowed in an edit.")]
SpacyModel: TypeAlias = Annotated[
    str | None, Option(metavar="NAME", hidden=True, help="The same as --engine errant:NAME.")
]
DocumentsFile: TypeAlias = Annotated[
    Path | None,
    Option(metavar="FILE", help="Their documents: SGML, a table with a column document, or an id per line."),
]
SentenceUnits: TypeAlias = Annotated[
    Literal["auto", "sentence", "document"], Option(help="Units of intervals and tests; auto: documents if known.")
]


@dataclass(frozen=True, slots=True)
class Measure:
    """How corrections are scored: options of every command that scores them."""

    metric: MetricName = "m2"
    source: SourceFile = None
    mode: MatchMode = "cs"
    beta: Beta = 0.5
    max_unchanged: MaxUnchanged = 2
    engine: EngineName = "grater"
    spacy_model: SpacyModel = None
    documents: DocumentsFile = None

    @property
    def chosen(self) -> Metric:
        return METRICS[self.metric]

    def options(self, tier: Tier | None = None) -> MetricOptions:
        return MetricOptions(self.beta, self.mode, tier, self.max_unchanged, self._engine)

    def references(self, files: Sequence[Path], *, quickly: bool = False) -> References:
        quickly = quickly and self.documents is None
        read = read_references(self.chosen, files, self.source, engine=self._engine, quickly=quickly)
        return replace(read, sentences=with_documents(read.essays, self.documents)) if self.documents else read

    def hypotheses(self, files: Sequence[Path], *, quickly: bool = False) -> list[Hypothesis]:
        """The systems, each called by its file's stem, or by its NAME in NAME=FILE."""
        return [_hypothesis(self.chosen, file, name, quickly=quickly) for name, file in named_files(files)]

    @property
    def _engine(self) -> str:
        return f"errant:{self.spacy_model}" if self.spacy_model else self.engine


PairedTest: TypeAlias = Annotated[
    Test, Option(help="The test behind the rank groups: paired t, or approximate randomisation.")
]
BaselineName: TypeAlias = Annotated[str, Option(metavar="NAME", help="Compare every system with this one only.")]


@dataclass(frozen=True, slots=True)
class Intervals:
    """What intervals and tests rest on."""

    units: SentenceUnits = "auto"
    interval: Annotated[
        Literal["jackknife", "bootstrap"], Option(help="Leave out one unit at a time, or resample units.")
    ] = "jackknife"
    resamples: Annotated[int, Option(min=1, help="Resamples of the bootstrap, swaps of a randomisation test.")] = 1000
    seed: Seed = 0

    @property
    def basis(self) -> Basis:
        return Basis(units=self.units, interval=self.interval, n_resamples=self.resamples, seed=self.seed)


app = typer.Typer(add_completion=False)
ceiling_app = typer.Typer(add_completion=False)
WITHOUT_TYPES = ("accuracy", "cleme", "gleu", "m2")


@app.command(cls=ManyHypotheses)
@takes_options
def score(
    files: Annotated[
        list[Path], Argument(metavar="REF [HYP]", help="A reference and hypotheses, or references with --hyp.")
    ],
    hyp: Annotated[
        list[Path], Option(metavar="HYP...", help="FILE or NAME=FILE: text, one sentence per line, or M2.")
    ] = [],
    *,
    measure: Measure,
    by: Annotated[Tier | None, Option(help="errant: show scores by error type.")] = None,
    intervals: Intervals,
    test: PairedTest = "paired",
    baseline: BaselineName = "",
    per_sentence: Annotated[
        Path | None, Option(metavar="FILE", help="Write the counts per sentence as a table.")
    ] = None,
    save: Annotated[
        Path | None, Option(metavar="FILE", help="Save the result as JSON, for 'grater score compare'.")
    ] = None,
    html: Annotated[
        Path | None, Option(metavar="FILE", help="Write a leaderboard page with the sentences behind it.")
    ] = None,
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """Score corrections, with intervals, paired tests between systems, and rank groups."""
    references_files, hypothesis_files = (files, hyp) if hyp else (files[:1], files[1:])
    if not hypothesis_files:
        raise UsageError("expected a reference and at least one hypothesis: REF HYP..., or REF... --hyp HYP...")
    inputs = [file for _, file in named_files([*references_files, *hypothesis_files])]
    require_piped_once([*inputs, measure.source, measure.documents])
    _require_places(per_sentence, [save, html], [*inputs, *([measure.source] if measure.source else [])])
    if by and measure.metric in WITHOUT_TYPES:
        raise UsageError(f"--by is for --metric errant, which knows types of errors; {measure.metric} does not")
    references = measure.references(references_files, quickly=html is None)
    hypotheses = measure.hypotheses(hypothesis_files, quickly=html is None)
    tier: Tier | None = by or ("full" if as_json else None)
    if html and tier is None and measure.metric not in WITHOUT_TYPES and _has_errant_types(references):
        tier = "main"
    options, basis = measure.options(tier), intervals.basis
    scores = score_systems(
        measure.chosen, references, hypotheses, options=options, basis=basis, test=test, baseline=baseline
    )
    if per_sentence:
        from grater.tables import write_table  # polars costs as much time as scoring; only this option needs it

        write_table(sentence_frame(measure.chosen, scores, options), per_sentence)
    if save:
        with replacing(save) as stream:
            stream.write(saved_json(scores, options, references.documents))
    if html:
        from grater.reporting.board import board  # draws, which other scoring need not wait for
        from grater.reporting.save import report_html

        page = report_html(board(measure.chosen, scores, references, hypotheses, options=options, basis=basis))
        with replacing(html) as stream:
            stream.write(page)
    warn(scores.warnings)
    show(scores, table=table, as_json=as_json)


def _has_errant_types(references: References) -> bool:
    """Whether a page of scores by type makes sense: a system's edits have ERRANT's types."""
    from grater.corpora.tagsets import TAGSETS

    return all(edit.tag in TAGSETS["errant"] for essay in references.essays for edit in essay.edits)


def _require_places(per_sentence: Path | None, outputs: Sequence[Path | None], inputs: Sequence[Path]) -> None:
    """Before a long job: every file can be written, and none is read or written twice."""
    wanted = [path for path in outputs if path]
    require_different([*wanted, *([per_sentence] if per_sentence else [])])
    for path in wanted:
        for source in inputs:
            require_different([source, path])
        require_place(path)
    if per_sentence:
        require_outputs([per_sentence], inputs)


@takes_options
def compare(
    files: Annotated[list[Path], Argument(metavar="SCORES", help="Results of 'grater score --save', two or more.")],
    *,
    intervals: Intervals,
    test: PairedTest = "paired",
    baseline: BaselineName = "",
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """Compare saved scores: one table of all systems, paired by sentence, with tests and rank groups."""
    if len(files) < 2:
        raise UsageError("expected two saved results or more: grater score compare A.json B.json")
    named = named_files(files)
    require_different([file for _, file in named])
    saved = [read_saved("".join(open_source(file).lines()), name=str(file), label=name) for name, file in named]
    scores = compare_saved(saved, basis=intervals.basis, test=test, baseline=baseline)
    warn(scores.warnings)
    show(scores, table=table, as_json=as_json)


@ceiling_app.command(cls=ManyHypotheses)
@takes_options
def score_people(
    files: Annotated[
        list[Path], Argument(metavar="REF", help="References: M2 files, or plain text files with --source.")
    ],
    hyp: Annotated[
        list[Path], Option(metavar="HYP...", help="Systems to compare, FILE or NAME=FILE: text or M2.")
    ] = [],
    *,
    measure: Measure,
    intervals: Intervals,
    references: Annotated[str, Option(metavar="N,N", help="Numbers of references; default: 1 to all but one.")] = "",
    subsets: Annotated[int, Option(min=1, help="Maximum number of sets of references of each size.")] = MOST_SUBSETS,
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """Score each annotator against the others, and systems against the same number of references."""
    require_piped_once([*(file for _, file in named_files([*files, *hyp])), measure.source])
    people_and_systems = measure.references(files), measure.hypotheses(hyp)
    sizes = [part.strip() for part in references.split(",") if part.strip()]
    if not all(size.isdecimal() for size in sizes):
        raise UsageError(f"expected numbers for --references, as in 1,2,9, found {references!r}")
    with counting("scoring people") as advance:
        people = ceiling(
            measure.chosen,
            *people_and_systems,
            options=measure.options(),
            basis=intervals.basis,
            sizes=sorted({int(size) for size in sizes}) or None,
            most_subsets=subsets,
            advance=advance,
        )
    warn(people.warnings)
    show(people, table=table, as_json=as_json)


def combine(
    files: Annotated[
        list[Path], Argument(metavar="TEXT", help="Corrections by each system, as sentences: FILE or NAME=FILE.")
    ],
    source: Annotated[Path, Option(metavar="FILE", help="The sentences before correction.")],
    out: Annotated[Path, Option(metavar="FILE", help="Write the combined correction: text, or .m2 with its edits.")],
    at_least: Annotated[int, Option(min=1, help="Number of systems that must propose an edit.")] = 2,
    engine: EngineName = "grater",
    as_json: Json = False,
) -> None:
    """Combine corrections by vote: keep the edits that enough systems propose."""
    from grater.corpora.edits.engine import load_engine
    from grater.corpora.parallel import combine as combined

    paths = [file for _, file in named_files(files)]
    require_different([*paths, source, out])
    texts = {str(file): sentences_of(file) for file in paths}
    essays = list(
        combined(sentences_of(source), texts, at_least=at_least, engine=load_engine(engine), source_name=str(source))
    )
    if str(out) != "-" and is_annotated(out):
        write_corpus(essays, out, ignore_loss)
    else:
        with replacing(out) as stream:
            stream.writelines(f"{corrected_text(essay.text, essay.edits)}\n" for essay in essays)
    n_edits = sum(len(essay.edits) for essay in essays)
    say_done(
        f"{out}: {counted(len(essays), 'sentence')}, {counted(n_edits, 'edit')} of at least {at_least} systems",
        {"sentences": len(essays), "systems": len(files), "at_least": at_least, "edits": n_edits},
        as_json=as_json,
    )
