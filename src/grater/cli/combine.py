"""`grater combine`: one correction of several systems, by votes on edits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from grater.cli.command import EngineName, Json, print_json, require_different, say
from grater.cli.corrections import is_annotated, named_files, sentences_of
from grater.corpora import write_corpus
from grater.corpora.formats import ignore_loss
from grater.corpora.normalise import corrected_text
from grater.corpora.source import replacing
from grater.model import Essay
from grater.sheet import counted

app = typer.Typer()


@app.command()
def combine(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="TEXT", help="Corrections by each system, as sentences: FILE or NAME=FILE."),
    ],
    source: Annotated[Path, typer.Option(metavar="FILE", help="The sentences before correction.")],
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="Write the combined correction: text, or .m2 with its edits.")
    ],
    at_least: Annotated[int, typer.Option(min=1, help="Systems that must propose an edit.")] = 2,
    engine: EngineName = "grater",
    as_json: Json = False,
) -> None:
    """Combine corrections by vote: keep the edits that enough systems propose."""
    from grater.evaluate.edits.combination import combine as combined
    from grater.text.edits.engine import load_engine

    paths = [file for _, file in named_files(files)]
    require_different([*paths, source, out])
    texts = {str(file): sentences_of(file) for file in paths}
    essays = list(
        combined(sentences_of(source), texts, at_least=at_least, engine=load_engine(engine), source_name=str(source))
    )
    _write_combined(essays, out)
    n_edits = sum(len(essay.edits) for essay in essays)
    if as_json:
        print_json({"sentences": len(essays), "systems": len(files), "at_least": at_least, "edits": n_edits})
    else:
        say(f"{out}: {counted(len(essays), 'sentence')}, {counted(n_edits, 'edit')} of at least {at_least} systems")


def _write_combined(essays: Sequence[Essay], out: Path) -> None:
    if str(out) != "-" and is_annotated(out):
        write_corpus(essays, out, ignore_loss)
        return
    with replacing(out) as stream:
        stream.writelines(f"{corrected_text(essay.text, essay.edits)}\n" for essay in essays)
