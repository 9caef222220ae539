"""`grater score`: corrections scored by M2, ERRANT or GLEU; `grater ceiling`: what annotators reach by the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer
from typer.core import TyperCommand

from grater.cli.command import (
    EngineName,
    Json,
    Seed,
    Table,
    print_json,
    require_different,
    require_outputs,
    say,
    show,
    split_name,
    warn,
)
from grater.corpora import read_corpus, write_corpus
from grater.corpora.formats import ignore_loss
from grater.corpora.merge import Reread, merge_annotators
from grater.corpora.normalise import corrected_text
from grater.corpora.plain import read_sentences
from grater.corpora.source import OPENERS, open_source, replacing
from grater.errors import UsageError
from grater.evaluate.edits.ceiling import MOST_SUBSETS, ceiling
from grater.evaluate.edits.ceiling import RESAMPLES as CEILING_RESAMPLES
from grater.evaluate.edits.edit_table import Mode, Tier
from grater.evaluate.edits.metrics import METRICS, Metric, MetricOptions
from grater.evaluate.edits.scores import RESAMPLES, Cluster, Resampling, score_systems, sentence_frame
from grater.evaluate.edits.systems import Hypothesis, References, Sentences, rewritten
from grater.model import Essay
from grater.sheet import counted
from grater.statistics.paired import Test

HYP = "--hyp"
M2 = ".m2"
ANNOTATED = {M2, ".jsonl"}
"""Formats of tokenised sentences with edits; JSONL knows their documents too."""


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


def split_files(files: Sequence[Path], hypotheses: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """`REF HYP...`, or `REF... --hyp HYP...`."""
    if hypotheses:
        return list(files), list(hypotheses)
    if len(files) < 2:
        raise UsageError("expected a reference and at least one hypothesis: REF HYP..., or REF... --hyp HYP...")
    return [files[0]], list(files[1:])


def read_references(
    metric: Metric, files: Sequence[Path], source: Path | None, *, engine: str = "grater", quickly: bool = False
) -> References:
    """References of one or several files; `quickly` in the metric's own shape where that is possible.

    Plain text becomes edits by the engine, for metrics that compare edits.
    """
    name = ", ".join(str(file) for file in files)
    if all(is_annotated(file) for file in files):
        if source is not None:
            raise UsageError("annotated references have their source sentences in them; leave --source out")
        return References(name, _annotated(metric, files, quickly=quickly))
    if any(is_annotated(file) for file in files):
        raise UsageError("expected references all with edits (.m2, .jsonl) or all in plain text, found both")
    if source is None:
        raise UsageError("plain text references need the sentences as they were before: --source FILE")
    short = short_names(files)
    lines = {short[str(file)]: _sentences(file) for file in files}
    if metric.references_are_texts:
        return References(name, rewritten(_sentences(source), lines, source_name=str(source)))
    return _extracted(name, _sentences(source), lines, engine, source_name=str(source))


def _extracted(
    name: str, sources: list[str], lines: Mapping[str, list[str]], engine: str, *, source_name: str
) -> References:
    from grater.corpora.parallel import parallel_essays  # edits in M2 need no tagger
    from grater.text.edits.engine import load_engine

    chosen = load_engine(engine)
    return References(name, list(parallel_essays(sources, lines, chosen, source_name=source_name)), chosen.name)


def read_hypotheses(metric: Metric, files: Sequence[Path], *, quickly: bool = False) -> list[Hypothesis]:
    """The systems, each called by its file's stem, or by its NAME in NAME=FILE."""
    named = [split_name(file) for file in files]
    short = short_names([file for _, file in named])
    return [_hypothesis(metric, file, name or short[str(file)], quickly=quickly) for name, file in named]


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
    return _plain_name(path).suffix.lower() in ANNOTATED


def _hypothesis(metric: Metric, file: Path, system: str, *, quickly: bool) -> Hypothesis:
    if not is_annotated(file) or _is_foreign(file):
        return Hypothesis(system, str(file), texts=_sentences(file))
    return Hypothesis(system, str(file), sentences=_read(metric, file, quickly=quickly))


def _is_foreign(file: Path) -> bool:
    """Whether JSON lines are not ours: most likely sentences with their corrections, of some other program."""
    is_jsonl = _plain_name(file).suffix.lower() == ".jsonl"
    return is_jsonl and "grater-corpus" not in next(iter(open_source(file).lines()), "")


def _sentences(file: Path) -> list[str]:
    """Plain text, one sentence per line; columns or JSON would be scored as if they were words, and are refused."""
    sentences = read_sentences(open_source(file))
    filled = [sentence for sentence in sentences if sentence.strip()]
    if filled and all("\t" in sentence for sentence in filled):
        raise UsageError(
            f"{file}: expected one sentence per line, found a tab in each; take one column: cut -f2 {file}"
        )
    if filled and all(sentence.startswith("{") and sentence.endswith("}") for sentence in filled):
        raise UsageError(
            f"{file}: expected one sentence per line, found JSON; take the corrected sentences out first"
        )
    return sentences


def _annotated(metric: Metric, files: Sequence[Path], *, quickly: bool) -> Sentences:
    if len(files) == 1:
        return _read(metric, files[0], quickly=quickly)
    short = short_names(files)
    return list(merge_annotators({short[str(file)]: Reread(partial(read_corpus, file)) for file in files}))


def _read(metric: Metric, file: Path, *, quickly: bool) -> Sentences:
    if quickly and _plain_name(file).suffix.lower() == M2:
        return metric.read(open_source(file))
    return list(read_corpus(file))


def _plain_name(path: Path) -> Path:
    """The name without the suffix of its packing: `A.m2` of `A.m2.gz`."""
    return path.with_suffix("") if path.suffix in OPENERS else path


MetricName: TypeAlias = Annotated[
    str, typer.Option(metavar="m2|errant|cleme|gleu|accuracy", help="How corrections are scored.")
]
SourceFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="The sentences before correction, for references in plain text."),
]
MatchMode: TypeAlias = Annotated[Mode, typer.Option(help="errant: what must be the same for two edits to match.")]
Beta: TypeAlias = Annotated[float, typer.Option(help="Recall counts this many times as much as precision.")]
MaxUnchanged: TypeAlias = Annotated[int, typer.Option(min=0, help="m2: words that an edit may leave unchanged.")]
SpacyModel: TypeAlias = Annotated[
    str | None, typer.Option(metavar="NAME", hidden=True, help="errant:NAME as engine.")
]
DrawnCluster: TypeAlias = Annotated[Cluster, typer.Option(help="What is drawn in a resample.")]


app = typer.Typer()
ceiling_app = typer.Typer()

WITHOUT_TYPES = ("accuracy", "cleme", "gleu", "m2")


@app.command(cls=ManyHypotheses)
def score(
    files: Annotated[
        list[Path], typer.Argument(metavar="REF [HYP]", help="A reference and hypotheses, or references with --hyp.")
    ],
    hyp: Annotated[
        list[Path],
        typer.Option(metavar="HYP...", help="FILE or NAME=FILE: text, one sentence per line, or M2."),
    ] = [],  # noqa: B006
    metric: MetricName = "m2",
    source: SourceFile = None,
    mode: MatchMode = "cs",
    by: Annotated[Tier | None, typer.Option(help="errant: scores by type of error.")] = None,
    beta: Beta = 0.5,
    max_unchanged: MaxUnchanged = 2,
    engine: EngineName = "grater",
    spacy_model: SpacyModel = None,
    cluster: DrawnCluster = "sentence",
    test: Annotated[Test, typer.Option(help="The paired test that makes the rank groups.")] = "bootstrap",
    baseline: Annotated[
        str, typer.Option(metavar="NAME", help="Compare every system with this one alone; its name in the table.")
    ] = "",
    resamples: Annotated[int, typer.Option(min=0, help="Resamples for intervals and tests.")] = RESAMPLES,
    per_sentence: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the counts of every sentence as a table.")
    ] = None,
    table: Table = "text",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Score corrections, with an interval for every number, paired tests between systems and rank groups."""
    chosen = METRICS[metric]
    references_files, hypothesis_files = split_files(files, hyp)
    if per_sentence:
        require_outputs([per_sentence], [*references_files, *hypothesis_files, source])
    if by and metric in WITHOUT_TYPES:
        raise UsageError(f"--by is for --metric errant, which knows types of errors; {metric} does not")
    quickly = cluster == "sentence"  # the fast reader does not keep documents
    engine = f"errant:{spacy_model}" if spacy_model else engine
    references = read_references(chosen, references_files, source, engine=engine, quickly=quickly)
    hypotheses = read_hypotheses(chosen, hypothesis_files, quickly=quickly)
    tier: Tier | None = by or ("full" if as_json else None)
    options = MetricOptions(beta, mode, tier, max_unchanged, engine)
    chance = Resampling(resamples, seed, cluster, test, baseline)
    scores = score_systems(chosen, references, hypotheses, options=options, chance=chance)
    if per_sentence:
        from grater.tables import write_table  # polars costs as much time as scoring; only this option needs it

        write_table(sentence_frame(chosen, scores, options), per_sentence)
    warn(scores.warnings)
    show(scores, table=table, as_json=as_json)


@ceiling_app.command(cls=ManyHypotheses)
def score_people(
    files: Annotated[
        list[Path], typer.Argument(metavar="REF", help="References: M2 files, or plain text files with --source.")
    ],
    hyp: Annotated[
        list[Path],
        typer.Option(metavar="HYP...", help="Systems beside the people, FILE or NAME=FILE: text or M2."),
    ] = [],  # noqa: B006
    metric: MetricName = "m2",
    source: SourceFile = None,
    references: Annotated[
        str, typer.Option(metavar="N,N", help="Numbers of references; from 1 to all but one if not given.")
    ] = "",
    mode: MatchMode = "cs",
    beta: Beta = 0.5,
    max_unchanged: MaxUnchanged = 2,
    engine: EngineName = "grater",
    spacy_model: SpacyModel = None,
    subsets: Annotated[
        int, typer.Option(min=1, help="Sets of references of one size; more are sampled.")
    ] = MOST_SUBSETS,
    cluster: DrawnCluster = "sentence",
    resamples: Annotated[int, typer.Option(min=0, help="Resamples for intervals.")] = CEILING_RESAMPLES,
    table: Table = "text",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Score each annotator against the others, and systems against the same numbers of references."""
    chosen = METRICS[metric]
    engine = f"errant:{spacy_model}" if spacy_model else engine
    people = ceiling(
        chosen,
        read_references(chosen, files, source, engine=engine),
        read_hypotheses(chosen, hyp),
        options=MetricOptions(beta, mode, None, max_unchanged, engine),
        chance=Resampling(resamples, seed, cluster),
        sizes=_numbers(references),
        most_subsets=subsets,
    )
    show(people, table=table, as_json=as_json)


combine_app = typer.Typer()


@combine_app.command()
def combine(
    files: Annotated[list[Path], typer.Argument(metavar="TEXT", help="Corrections by each system, as sentences.")],
    source: Annotated[Path, typer.Option(metavar="FILE", help="The sentences before correction.")],
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="Where the joint correction goes: text, or .m2 with its edits.")
    ],
    at_least: Annotated[int, typer.Option(min=1, help="Systems that must propose an edit.")] = 2,
    engine: EngineName = "grater",
    as_json: Json = False,
) -> None:
    """Combine corrections: keep the edits that enough systems propose."""
    from grater.evaluate.edits.combination import combine as combined
    from grater.text.edits.engine import load_engine

    require_different([*files, source, out])
    texts = {str(file): _sentences(file) for file in files}
    essays = list(
        combined(_sentences(source), texts, at_least=at_least, engine=load_engine(engine), source_name=str(source))
    )
    _write_combined(essays, out)
    n_edits = sum(len(essay.edits) for essay in essays)
    if as_json:
        print_json({"sentences": len(essays), "systems": len(files), "at_least": at_least, "edits": n_edits})
    else:
        say(f"{out}: {counted(len(essays), 'sentence')}, {counted(n_edits, 'edit')} of at least {at_least} systems")


def _write_combined(essays: Sequence[Essay], out: Path) -> None:
    if is_annotated(out):
        write_corpus(essays, out, ignore_loss)
        return
    with replacing(out) as stream:
        stream.writelines(f"{corrected_text(essay.text, essay.edits)}\n" for essay in essays)


def _numbers(text: str) -> list[int] | None:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(part.isdecimal() for part in parts):
        raise UsageError(f"expected numbers for --references, as in 1,2,9, found {text!r}")
    return sorted({int(part) for part in parts}) or None
