"""The commands for corrections: `grater score` by M2, ERRANT or GLEU, or of saved scores,
`ceiling` for what annotators reach by the same measures, `combine` for one correction of several systems, by votes.

Files are `FILE` or `NAME=FILE`; `-` is standard input (`grater.measure.corrections.read`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import typer
from typer import Argument, Option
from typer.core import TyperCommand

from grater import api
from grater.cli.command import (
    EngineName,
    Json,
    Seed,
    Table,
    counting,
    require_different,
    require_outputs,
    say,
    say_done,
    show,
    takes_options,
    warn,
)
from grater.corpora import write_corpus
from grater.corpora.formats import ignore_loss
from grater.corpora.normalise import corrected_text
from grater.corpora.source import open_source, replacing, sentences_alone
from grater.errors import UsageError
from grater.files import require_place
from grater.measure.corrections.ceiling import MOST_SUBSETS
from grater.measure.corrections.edit_table import Mode, Tier
from grater.measure.corrections.read import kind_of, named_files, references_first
from grater.measure.corrections.saved import compare_saved, read_saved
from grater.measure.corrections.scores import WITHOUT_TYPES, Test
from grater.sheet import counted
from grater.uncertainty import Basis

HYP = "--hyp"


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


MetricName: TypeAlias = Annotated[
    str, Option(metavar="m2|errant|cleme|gleu|accuracy", help="How corrections are scored.")
]
SourceFile: TypeAlias = Annotated[Path | None, Option(metavar="FILE", help="The sentences before correction.")]
Tokenise: TypeAlias = Annotated[
    bool, Option("--tokenise", help="Cut plain text into words as the references are: don't as do n't.")
]
MatchMode: TypeAlias = Annotated[Mode, Option(help="errant: what must match for two edits to count as the same.")]
Beta: TypeAlias = Annotated[float, Option(help="Weight of recall relative to precision.")]
MaxUnchanged: TypeAlias = Annotated[int, Option(min=0, help="m2: unchanged words allowed in an edit.")]
SpacyModel: TypeAlias = Annotated[
    str | None, Option(metavar="NAME", hidden=True, help="The same as --engine errant:NAME.")
]
DocumentsFile: TypeAlias = Annotated[
    Path | None,
    Option(
        metavar="FILE", help="The documents of sentences: SGML, a table with a column document, or an id per line."
    ),
]
SentenceUnits: TypeAlias = Annotated[
    Literal["auto", "sentence", "document"],
    Option(help="What intervals take as independent; auto: documents or essays if known."),
]


@dataclass(frozen=True, slots=True)
class Measure:
    """How corrections are scored: options of every command that scores them."""

    metric: MetricName = "m2"
    source: SourceFile = None
    tokenise: Tokenise = False
    mode: MatchMode = "cs"
    beta: Beta = 0.5
    max_unchanged: MaxUnchanged = 2
    engine: EngineName = "grater"
    spacy_model: SpacyModel = None
    documents: DocumentsFile = None

    @property
    def options(self) -> dict[str, Any]:
        """As keyword arguments of `grater.score` and `grater.ceiling`."""
        engine = f"errant:{self.spacy_model}" if self.spacy_model else self.engine
        return {
            "metric": self.metric,
            "source": self.source,
            "tokenise": self.tokenise,
            "mode": self.mode,
            "beta": self.beta,
            "max_unchanged": self.max_unchanged,
            "engine": engine,
            "documents": self.documents,
        }


PairedTest: TypeAlias = Annotated[Test, Option(help="The test behind the rank groups.")]
BaselineName: TypeAlias = Annotated[str, Option(metavar="NAME", help="Compare every system with this one only.")]


@dataclass(frozen=True, slots=True)
class Intervals:
    """What intervals and tests rest on."""

    units: SentenceUnits = "auto"
    interval: Annotated[Literal["jackknife", "bootstrap"], Option(help="How intervals are computed.")] = "jackknife"
    resamples: Annotated[int, Option(min=1, help="Resamples of a bootstrap or randomisation.")] = 1000
    seed: Seed = 0

    @property
    def options(self) -> dict[str, Any]:
        """As keyword arguments of `grater.score` and `grater.ceiling`."""
        return asdict(self)

    @property
    def basis(self) -> Basis:
        return Basis(units=self.units, interval=self.interval, n_resamples=self.resamples, seed=self.seed)


app = typer.Typer(add_completion=False)
ceiling_app = typer.Typer(add_completion=False)


@app.command(cls=ManyHypotheses)
@takes_options
def score(
    files: Annotated[
        list[Path],
        Argument(metavar="REF... HYP...", help="References, then hypotheses; or references alone, with --hyp."),
    ],
    hyp: Annotated[
        list[Path], Option(metavar="HYP...", help="Systems, FILE or NAME=FILE: text, one sentence per line, or M2.")
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
    save: Annotated[Path | None, Option(metavar="FILE", help="Save the result as JSON, to compare it later.")] = None,
    html: Annotated[Path | None, Option(metavar="FILE", help="Write a page with figures and tables.")] = None,
    methods: Annotated[bool, Option("--methods", help="Print the paragraph for a paper instead of tables.")] = False,
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """Score corrections, with intervals, paired tests between systems, and rank groups.

    Results that --save wrote, two or more, are compared: paired by sentence, as if scored in one run.
    """
    if len(files) > 1 and not hyp and all(file.suffix == ".json" for file in files):
        named = named_files(files)
        require_different([file for _, file in named])
        saved = [read_saved("".join(open_source(file).lines()), name=str(file), label=name) for name, file in named]
        compared = compare_saved(saved, basis=intervals.basis, test=test, baseline=baseline)
        warn(compared.warnings)
        show(compared, table=table, as_json=as_json)
        return
    references, hypotheses, notes = (files, hyp, list[str]()) if hyp else references_first(files)
    if not hypotheses:
        raise UsageError("expected a reference and at least one hypothesis: REF HYP..., or REF... --hyp HYP...")
    inputs = [file for _, file in (*named_files(references), *named_files(hypotheses))]
    require_piped_once([*inputs, measure.source, measure.documents])
    _require_places(per_sentence, [save, html], [*inputs, *([measure.source] if measure.source else [])])
    scores = api.score(
        references,
        hypotheses,
        **measure.options,
        **intervals.options,
        by=by or ("full" if as_json and measure.metric not in WITHOUT_TYPES else None),
        test=test,
        baseline=baseline,
        per_sentence=per_sentence,
        save=save,
        html=html,
    )
    for note in notes:
        say(note)
    warn(scores.warnings)
    if methods and not as_json:
        typer.echo(scores.methods)
    else:
        show(scores, table=table, as_json=as_json)


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


@ceiling_app.command(cls=ManyHypotheses)
@takes_options
def score_people(
    files: Annotated[
        list[Path], Argument(metavar="REF", help="References: M2 files, or plain text files with --source.")
    ],
    hyp: Annotated[
        list[Path], Option(metavar="HYP...", help="Systems, FILE or NAME=FILE: text, one sentence per line, or M2.")
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
    require_piped_once([*(file for _, file in (*named_files(files), *named_files(hyp))), measure.source])
    sizes = [part.strip() for part in references.split(",") if part.strip()]
    if not all(size.isdecimal() for size in sizes):
        raise UsageError(f"expected numbers for --references, as in 1,2,9, found {references!r}")
    with counting("scoring people") as advance:
        people = api.ceiling(
            files,
            hyp,
            **measure.options,
            **intervals.options,
            n_references=sorted({int(size) for size in sizes}) or None,
            subsets=subsets,
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
    texts = {str(file): sentences_alone(open_source(file)) for file in paths}
    sources = sentences_alone(open_source(source))
    essays = list(combined(sources, texts, at_least=at_least, engine=load_engine(engine), source_name=str(source)))
    if str(out) != "-" and kind_of(out) != "text":
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
