"""The options that `grater mine` and `grater study mine` share, and the source of counts that they name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from grater.cli.reading import reading
from grater.detect.mining.review import TrigramCounter
from grater.detect.mining.sources import (
    SHIPPED,
    Counts,
    counts_in_model_file,
    counts_in_shipped_model,
    counts_in_text,
    counts_in_web1t,
)
from grater.errors import UsageError

Web1T: TypeAlias = Annotated[
    Path | None, typer.Option("--web1t", metavar="FOLDER", help="Counts in the format of Web1T.")
]
Text: TypeAlias = Annotated[
    list[Path],
    typer.Option("--text", metavar="TEXT", help="Well-formed text to count in; may be given several times."),
]
Model: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--model", metavar="MODEL", help=f"A language model instead; the one of {SHIPPED} if none is given."
    ),
]
LeastBigram: TypeAlias = Annotated[
    float,
    typer.Option(
        "--least-bigram", min=0, metavar="N", help="How often the two words without the preposition must be seen."
    ),
]
Ratio: TypeAlias = Annotated[
    float,
    typer.Option("--ratio", min=0, metavar="SHARE", help="Rare is at most this share of what the two words predict."),
]
Most: TypeAlias = Annotated[int, typer.Option("--most", min=1, metavar="N", help="Keep the worst N.")]
Each: TypeAlias = Annotated[
    int, typer.Option("--n", min=1, metavar="N", help="For --balanced: errors, and as many correct uses.")
]
Gold: TypeAlias = Annotated[
    int, typer.Option("--n-gold", min=0, metavar="N", help="For --balanced: items set aside as gold.")
]


def counter_of(web1t: Path | None, text: list[Path], model: Path | None) -> TrigramCounter:
    """The one source of counts that was asked for, or the model that comes along."""
    if sum(map(bool, (web1t, text, model))) > 1:
        raise UsageError("expected one source of counts: --web1t, --text or --model")

    def count(wanted: set[tuple[str, ...]]) -> Counts:
        if web1t:
            with reading("counting", web1t) as advance:
                return counts_in_web1t(web1t, wanted, advance=advance)
        if text:
            with reading("counting", *text) as advance:
                return counts_in_text(text, wanted, advance=advance)
        return counts_in_model_file(model, wanted) if model else counts_in_shipped_model(wanted)

    return count


def source_of(web1t: Path | None, text: list[Path], model: Path | None) -> str:
    """What was counted in, in a word or two: for people, so files go by their names alone."""
    names = [path.name for path in (web1t, *text, model) if path]
    return ", ".join(names) or SHIPPED
