"""`grater agree` on annotated corpora: identification, classification and exact agreement of annotators.

`grater agree`: how far raters agree, on a table of judgments or on an annotated corpus.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from grater.agreement.coded import coded
from grater.agreement.cohen import Method
from grater.agreement.compare import Comparison, compare_pairs, compare_tables, comparison_json
from grater.agreement.edit_marks import SeveralMarks
from grater.agreement.edits import EditOptions, corpus_json, edit_agreement
from grater.agreement.groups import Groups, agreement_by_group, by_batch, by_column, groups_json, without_flagged
from grater.agreement.summary import Agreement, Options, agreement, agreement_json
from grater.agreement.weights import WEIGHTS, Scale
from grater.cli.agree_corpus_table import corpus_frame, render_corpus
from grater.cli.agree_table import flat, render
from grater.cli.judgment_options import (
    Columns,
    DropFlags,
    DuplicateRows,
    Merge,
    MinConfidence,
    Reading,
    Status,
    entries,
)
from grater.cli.options import Format, Json, Seed
from grater.cli.output import print_json, require_different, require_outputs, say
from grater.cli.weight_file import read_weights
from grater.corpora import read_corpus, read_merged
from grater.corpora.documents import attach_documents
from grater.corpora.jsonl import HEADER
from grater.errors import UsageError
from grater.model import Json as JsonValue
from grater.rng import generator
from grater.statistics.intervals import RESAMPLES
from grater.tables import Judgments, read_items, require_raters, write_table
from grater.tables.files import SPREADSHEETS


def agree_corpora(
    files: Sequence[Path],
    *,
    options: EditOptions | None = None,
    format_name: str | None = None,
    documents: Path | None = None,
    out: Path | None = None,
    as_json: bool = False,
) -> None:
    """Print how far the annotators of some files agree; several files are merged by essay.

    `documents` holds the texts that M2 sentences were cut from, so that whole documents are resampled.
    """
    essays = read_merged(files, format_name=format_name)
    if documents:
        essays = attach_documents(essays, read_corpus(documents))
    found = edit_agreement(essays, options)
    for warning in found.warnings:
        say(f"warning: {warning}")
    if out:
        write_table(corpus_frame(found), out)
    if as_json:
        print_json(corpus_json(found))
    else:
        render_corpus(found, Console(highlight=False))


app = typer.Typer()

ALL_RATERS = 10**9
TABLE_SUFFIXES = {".csv", ".tsv", ".parquet", ".ndjson", *SPREADSHEETS}
TABLE_OPTIONS = (
    *("by", "items", "contexts", "compare", "against", "weights", "scale", "order", "ok", "all_pairs"),
    *("columns", "merge", "drop_flags", "min_confidence", "status", "duplicates"),
)
CORPUS_OPTIONS = ("gaps", "several", "documents")
CORPUS_HEADER = str(HEADER["format"])


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """What one call of the command found."""

    whole: Agreement
    groups: tuple[Groups, ...] = ()
    comparisons: Mapping[str, Comparison] | None = None

    def as_json(self) -> dict[str, JsonValue]:
        parts: dict[str, JsonValue] = {}
        if self.groups:
            parts["by"] = [groups_json(each) for each in self.groups]
        if self.comparisons:
            parts["comparisons"] = {name: comparison_json(each) for name, each in self.comparisons.items()}
        return {**agreement_json(self.whole), **parts}


@app.command()
def agree(
    context: typer.Context,
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Tables of judgments, read as one; or annotated corpora.")
    ],
    by: Annotated[
        list[str], typer.Option(metavar="COLUMN", help="Agreement in each part; 'batch' is put in order of time.")
    ] = [],  # noqa: B006
    items: Annotated[Path | None, typer.Option(metavar="FILE", help="A table of items, for its columns.")] = None,
    contexts: Annotated[
        str, typer.Option(metavar="FLAG,FLAG", help="Agreement with and without items that bear these flags.")
    ] = "",
    compare: Annotated[
        str, typer.Option(metavar="A,B:C,D", help="Test the kappa of two pairs of raters on their common items.")
    ] = "",
    against: Annotated[Path | None, typer.Option(metavar="FILE", help="Test against another table.")] = None,
    weights: Annotated[
        str, typer.Option(metavar="|".join(WEIGHTS) + "|FILE", help="How near labels are, for kappa and AC.")
    ] = "identity",
    scale: Annotated[Scale, typer.Option(help="How far labels are apart, for alpha.")] = "nominal",
    order: Annotated[str, typer.Option(metavar="LABEL,LABEL", help="The order of labels, lowest first.")] = "",
    interval: Annotated[
        Method | None,
        typer.Option(help="Limits of Cohen's kappa; fce for tables, bootstrap for corpora."),
    ] = None,
    gaps: Annotated[
        bool,
        typer.Option("--gaps", help="Corpora: insertions count between tokens, not on the next one."),
    ] = False,
    several: Annotated[
        SeveralMarks,
        typer.Option(help="Corpora: several marks of one annotator on a token, or the first."),
    ] = "joined",
    documents: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Corpora: the documents of M2 sentences, to resample."),
    ] = None,
    format_name: Format = None,
    ok: Annotated[str | None, typer.Option(metavar="LABEL", help="The label that means: no error.")] = None,
    all_pairs: Annotated[bool, typer.Option("--all-pairs", help="Compare all raters, also more than 40.")] = False,
    resamples: Annotated[int, typer.Option(min=0, help="Resamples of the bootstrap.")] = RESAMPLES,
    columns: Columns = [],  # noqa: B006
    merge: Merge = [],  # noqa: B006
    drop_flags: DropFlags = [],  # noqa: B006
    min_confidence: MinConfidence = None,
    status: Status = [],  # noqa: B006
    duplicates: DuplicateRows = "error",
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the numbers as a table too.")] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """How far raters agree: observed agreement, kappa, alpha and AC1 with intervals, for all and for every pair."""
    require_different(files)
    require_outputs([out], [*files, against, items])
    if format_name or any(is_corpus(file) for file in files):
        _refuse(context, TABLE_OPTIONS, "tables of judgments")
        if interval == "simple":
            raise UsageError("--interval simple is for tables of judgments; corpora have bootstrap and fce")
        corpus_options = EditOptions(gaps, several, "fce" if interval == "fce" else "essays", resamples, seed=seed)
        return agree_corpora(
            files, options=corpus_options, format_name=format_name, documents=documents, out=out, as_json=as_json
        )
    _refuse(context, CORPUS_OPTIONS, "annotated corpora")
    reading = Reading(columns, merge, drop_flags, min_confidence, status, duplicates)
    judgments = reading.read(*files)
    options = Options(
        weights=weights if weights in WEIGHTS else read_weights(weights, _labels(judgments, order)),
        scale=scale,
        order=entries([order]),
        interval=interval or "fce",
        ok=ok,
        n_resamples=resamples,
        seed=seed,
        most_raters=ALL_RATERS if all_pairs else Options().most_raters,
    )
    report = Report(
        agreement(judgments, options),
        tuple(_groups(judgments, options, by, items, entries([contexts]))),
        _comparisons(judgments, options, compare, reading.read(against) if against else None),
    )
    for warning in report.whole.warnings:
        say(f"warning: {warning}")
    if out:
        write_table(flat(report.whole, report.groups), out)
    if as_json:
        print_json(report.as_json())
    else:
        render(report.whole, report.groups, report.comparisons or {}, Console(highlight=False))
    return None


def _refuse(context: typer.Context, options: Collection[str], kind: str) -> None:
    """Options that would do nothing here are a misunderstanding, and said to be one."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name in options and source is not None and source.name == "COMMANDLINE":
            raise UsageError(f"{parameter.opts[0]} is for {kind}")


def _labels(judgments: Judgments, order: str) -> tuple[str, ...]:
    """The labels in the order in which weights must be given."""
    return tuple(entries([order])) or coded(judgments).labels


def is_corpus(path: Path) -> bool:
    """Whether a path is an annotated corpus, not a table; a .jsonl file is one if it begins with our header."""
    suffixes = [suffix for suffix in path.suffixes if suffix != ".gz"]
    if suffixes and suffixes[-1] in TABLE_SUFFIXES:
        return False
    if suffixes and suffixes[-1] == ".jsonl" and path.suffix == ".jsonl" and path.is_file():
        with path.open(encoding="utf-8", errors="replace") as lines:
            return CORPUS_HEADER in lines.readline()
    return True


def _groups(
    judgments: Judgments, options: Options, by: list[str], items: Path | None, flags: list[str]
) -> list[Groups]:
    table = read_items(items) if items else None
    parts = {
        column: by_batch(judgments) if column == "batch" else by_column(judgments, column, items=table)
        for column in entries(by)
    }
    found = [
        agreement_by_group(tables, options, by=column, with_tests=column != "batch")
        for column, tables in parts.items()
    ]
    return [*found, *([_contexts(judgments, options, flags)] if flags else [])]


def _contexts(judgments: Judgments, options: Options, flags: list[str]) -> Groups:
    """T&C 2008, 5.2 and note 7: with flagged contexts and without, by both readings of "flagged"."""
    tables = {
        "all items": judgments,
        "without items flagged by any rater": without_flagged(judgments, flags, by="any"),
        "without items flagged by all raters": without_flagged(judgments, flags, by="all"),
    }
    kept = {name: table for name, table in tables.items() if len(table)}
    return agreement_by_group(kept, options, by=f"flags {', '.join(flags)}", with_tests=False)


def _comparisons(
    judgments: Judgments, options: Options, pairs: str, other: Judgments | None
) -> dict[str, Comparison]:
    found = {}
    if pairs:
        require_raters(judgments, "comparisons of raters")
        first, second = _two_pairs(pairs)
        rng = generator(options.seed, "agreement", "pairs")
        name = f"{' and '.join(first)} against {' and '.join(second)}"
        found[name] = compare_pairs(coded(judgments), first, second, rng=rng)
    if other is not None:
        rng = generator(options.seed, "agreement", "against")
        found[f"{judgments.name} against {other.name}"] = compare_tables(judgments, other, rng=rng)
    return found


def _two_pairs(text: str) -> tuple[tuple[str, str], tuple[str, str]]:
    pairs = [[rater.strip() for rater in pair.split(",")] for pair in text.split(":")]
    if [len(pair) for pair in pairs] != [2, 2]:
        raise UsageError(f"expected --compare A,B:C,D with four raters, found {text!r}")
    (first, second), (third, fourth) = pairs
    return (first, second), (third, fourth)
