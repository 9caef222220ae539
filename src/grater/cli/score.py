"""`grater score`: corrections scored by M2, ERRANT or GLEU; `grater score compare`: saved scores side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from grater.cli.command import Json, Seed, Table, require_different, require_outputs, show, takes_options, warn
from grater.cli.corrections import ManyHypotheses, Measure, named_files, require_piped_once, split_files
from grater.corpora.source import open_source, replacing
from grater.errors import UsageError
from grater.evaluate.edits.edit_table import Tier
from grater.evaluate.edits.saved import compare_saved, read_saved, saved_json, version_notes
from grater.evaluate.edits.scores import RESAMPLES, Resampling, documents_of, score_systems, sentence_frame
from grater.evaluate.edits.systems import References
from grater.files import require_place
from grater.statistics.paired import Test

PairedTest: TypeAlias = Annotated[Test, typer.Option(help="The paired test behind the rank groups.")]
BaselineName: TypeAlias = Annotated[
    str, typer.Option(metavar="NAME", help="Compare every system with this one only.")
]
Resamples: TypeAlias = Annotated[int, typer.Option(min=0, help="Resamples for intervals and tests.")]

app = typer.Typer()
compare_app = typer.Typer()

WITHOUT_TYPES = ("accuracy", "cleme", "gleu", "m2")


@app.command(cls=ManyHypotheses)
@takes_options
def score(
    files: Annotated[
        list[Path], typer.Argument(metavar="REF [HYP]", help="A reference and hypotheses, or references with --hyp.")
    ],
    hyp: Annotated[
        list[Path],
        typer.Option(metavar="HYP...", help="FILE or NAME=FILE: text, one sentence per line, or M2."),
    ] = [],  # noqa: B006
    *,
    measure: Measure,
    by: Annotated[Tier | None, typer.Option(help="errant: scores by error type.")] = None,
    test: PairedTest = "bootstrap",
    baseline: BaselineName = "",
    resamples: Resamples = RESAMPLES,
    per_sentence: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the counts per sentence as a table.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Save the result as JSON, for 'grater score compare'.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a leaderboard page with the sentences behind it.")
    ] = None,
    table: Table = "text",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Score corrections, with intervals, paired tests between systems, and rank groups."""
    references_files, hypothesis_files = split_files(files, hyp)
    inputs = [file for _, file in named_files([*references_files, *hypothesis_files])]
    require_piped_once([*inputs, measure.source])
    _require_places(per_sentence, [save, html], [*inputs, *([measure.source] if measure.source else [])])
    if by and measure.metric in WITHOUT_TYPES:
        raise UsageError(f"--by is for --metric errant, which knows types of errors; {measure.metric} does not")
    quickly = measure.cluster == "sentence" and html is None  # the fast reader keeps neither documents nor essays
    references = measure.references(references_files, quickly=quickly)
    hypotheses = measure.hypotheses(hypothesis_files, quickly=quickly)
    tier: Tier | None = by or ("full" if as_json else None)
    if html and tier is None and measure.metric not in WITHOUT_TYPES and _has_errant_types(references):
        tier = "main"
    options = measure.options(tier)
    chance = Resampling(resamples, seed, measure.cluster, test, baseline)
    scores = score_systems(measure.chosen, references, hypotheses, options=options, chance=chance)
    if per_sentence:
        from grater.tables import write_table  # polars costs as much time as scoring; only this option needs it

        write_table(sentence_frame(measure.chosen, scores, options), per_sentence)
    if save:
        documents = documents_of(references) if measure.cluster == "document" else None
        with replacing(save) as stream:
            stream.write(saved_json(scores, options, documents))
    if html:
        from grater.report.board import board  # draws, which other scoring need not wait for
        from grater.report.save import report_html

        page = report_html(board(measure.chosen, scores, references, hypotheses, options=options, chance=chance))
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


@compare_app.command()
def compare(
    files: Annotated[
        list[Path], typer.Argument(metavar="SCORES", help="Results of 'grater score --save', two or more.")
    ],
    test: PairedTest = "bootstrap",
    baseline: BaselineName = "",
    resamples: Resamples = RESAMPLES,
    table: Table = "text",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Compare saved scores: one table of all systems, paired by sentence, with tests and rank groups."""
    if len(files) < 2:
        raise UsageError("expected two saved results or more: grater score compare A.json B.json")
    named = named_files(files)
    require_different([file for _, file in named])
    saved = [read_saved("".join(open_source(file).lines()), name=str(file), label=name) for name, file in named]
    scores = compare_saved(saved, Resampling(n_resamples=resamples, seed=seed, test=test, baseline=baseline))
    warn([*version_notes(saved), *scores.warnings])
    show(scores, table=table, as_json=as_json)
