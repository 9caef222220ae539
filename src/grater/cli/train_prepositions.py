"""`grater train prepositions`: a preposition detector from well-formed text, a paragraph a line."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from grater.cli.options import Json, Seed
from grater.cli.output import print_json, require_different, say
from grater.cli.reading import reading
from grater.cli.train_card import CardDate, Data, ModelFile, card_of, require_model_name, sources
from grater.corpora.source import open_source
from grater.detect.learning.events import keep, kept, source_of
from grater.detect.learning.pruning import Size
from grater.detect.prepositions.features import TEMPLATES
from grater.detect.prepositions.linear import KIND, save
from grater.detect.prepositions.training import (
    GAP_RATE,
    SIZES,
    HeldOutLines,
    Method,
    PrepositionOptions,
    batches_of,
    gathered,
    train,
)
from grater.errors import UsageError
from grater.model import Json as JsonValue
from grater.sheet import counted

app = typer.Typer()

TEXTS = (".txt", ".gz", ".bz2", ".xz")


@app.command()
def prepositions(
    texts: Annotated[
        list[Path], typer.Argument(metavar="TEXT", help="Files or folders, a paragraph a line; may be packed.")
    ],
    out: ModelFile,
    method: Annotated[
        Method, typer.Option(metavar="maxent|perceptron", help="How the weights are found.")
    ] = "maxent",
    features: Annotated[int | None, typer.Option(min=1, metavar="N", help="Keep at most so many features.")] = None,
    weights: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Keep at most so many weights, the best of all features.")
    ] = None,
    min_count: Annotated[int, typer.Option(min=1, metavar="N", help="Leave out features seen less often.")] = 3,
    epochs: Annotated[int | None, typer.Option(min=1, metavar="N", help="Passes over the text.")] = None,
    gap_rate: Annotated[
        float,
        typer.Option(min=0, max=1, metavar="SHARE", help="Of all gaps, learn that they have none from so many."),
    ] = GAP_RATE,
    data: Data = [],  # noqa: B006 (typer copies it)
    kept_events: Annotated[
        Path | None,
        typer.Option(
            "--events",
            metavar="FILE",
            help="Keep the analysed text here; if the file is there, nothing is analysed again.",
        ),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, metavar="N", help="Processes that analyse the text.")] = 2,
    date: CardDate = "",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Train a detector and write it; memory grows with the number of prepositions, about 300 bytes each."""
    require_model_name(out)
    files = _files(texts)
    require_different([*files, out])
    size = _size(SIZES[method], features, weights)
    options = PrepositionOptions(method=method, size=size, min_count=min_count, epochs=epochs, seed=seed)
    held_out = HeldOutLines()
    with reading("analysing", *files) as advance:
        lines = held_out.keeping(_lines(files, advance))
        source = source_of(files, gap_rate=gap_rate, seed=seed)
        if kept_events and kept_events.exists():
            events = kept(kept_events, source)
            deque(lines, maxlen=0)  # those held out are remembered as they pass
        else:
            events = gathered(batches_of(lines, gap_rate=gap_rate, seed=seed, n_workers=workers))
    if kept_events and not kept_events.exists():
        keep(events, kept_events, source)
    card = _card(out, files, data, date, options)
    engine = train(events, held_out.shuffled(seed), options, card=card, tell=say)
    save(engine, out)
    if as_json:
        print_json({"model": str(out), "card": dict(engine.card)})
        return
    figures = engine.card["figures"]
    say(f"{out}: {counted(len(engine.keys), 'feature')}, {out.stat().st_size / 1e6:.1f} MB; {figures}")


def _size(usual: Size, features: int | None, weights: int | None) -> Size:
    """The usual size of a method, but for what was asked."""
    n_features = usual.n_features if features is None else features
    return replace(usual, n_features=n_features, n_weights=usual.n_weights if weights is None else weights)


def _files(paths: list[Path]) -> list[Path]:
    """The text files of folders, in the order of their names; other paths as they are."""
    files: list[Path] = []
    for path in paths:
        inside = sorted(each for each in path.rglob("*") if each.is_file() and each.suffix in TEXTS)
        if path.is_dir() and not inside:
            raise UsageError(f"{path}: expected text files ({', '.join(TEXTS)}) in the folder, found none")
        files += inside if path.is_dir() else [path]
    return files


def _lines(files: list[Path], advance: object) -> Iterator[str]:
    for file in files:
        yield from open_source(file, advance=advance).lines()  # type: ignore[arg-type]


def _card(
    out: Path, files: list[Path], data: list[str], date: str, options: PrepositionOptions
) -> dict[str, JsonValue]:
    chosen = ["--method", options.method, "--features", str(options.kept.n_features)]
    chosen += ["--weights", str(options.kept.n_weights)] if options.kept.n_weights else []
    chosen += ["--min-count", str(options.min_count), "--epochs", str(options.n_epochs)]
    known = sources(data) or [{"name": file.name} for file in files]
    command = ["prepositions", *(file.name for file in files), *chosen]
    return card_of(out, KIND, known, date, command, features=[template.name for template in TEMPLATES])
