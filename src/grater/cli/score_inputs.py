"""The files and options of the commands that score corrections: of systems (`score`) and of people (`ceiling`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer
from typer.core import TyperCommand

from grater.cli.output import split_name
from grater.corpora import read_corpus
from grater.corpora.merge import Reread, merge_annotators
from grater.corpora.source import OPENERS, open_source
from grater.errors import UsageError
from grater.evaluate.edits.edit_table import Mode
from grater.evaluate.edits.metrics import Metric
from grater.evaluate.edits.scores import Cluster
from grater.evaluate.edits.systems import Hypothesis, References, Sentences, read_sentences, rewritten

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
    metric: Metric, files: Sequence[Path], source: Path | None, *, quickly: bool = False
) -> References:
    """References of one or several files; `quickly` in the metric's own shape where that is possible."""
    name = ", ".join(str(file) for file in files)
    if all(is_annotated(file) for file in files):
        if source is not None:
            raise UsageError("annotated references have their source sentences in them; leave --source out")
        return References(name, _annotated(metric, files, quickly=quickly))
    if any(is_annotated(file) for file in files):
        raise UsageError("expected references all with edits (.m2, .jsonl) or all in plain text, found both")
    if not metric.references_are_texts:
        texts = next(file for file in files if not is_annotated(file))
        raise UsageError(
            f"{texts}: expected references with edits (.m2, .jsonl) for the metric {metric.name}; "
            "for plain text there is --metric gleu --source FILE"
        )
    if source is None:
        raise UsageError("plain text references need the sentences as they were before: --source FILE")
    short = short_names(files)
    lines = {short[str(file)]: _sentences(file) for file in files}
    return References(name, rewritten(_sentences(source), lines, source_name=str(source)))


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


MetricName: TypeAlias = Annotated[str, typer.Option(metavar="m2|errant|gleu", help="How corrections are scored.")]
SourceFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="The sentences before correction, for references in plain text."),
]
MatchMode: TypeAlias = Annotated[Mode, typer.Option(help="errant: what must be the same for two edits to match.")]
Beta: TypeAlias = Annotated[float, typer.Option(help="Recall counts this many times as much as precision.")]
MaxUnchanged: TypeAlias = Annotated[int, typer.Option(min=0, help="m2: words that an edit may leave unchanged.")]
SpacyModel: TypeAlias = Annotated[
    str | None, typer.Option(metavar="NAME", help="errant: extract edits from plain text with this spaCy model.")
]
DrawnCluster: TypeAlias = Annotated[Cluster, typer.Option(help="What is drawn in a resample.")]
