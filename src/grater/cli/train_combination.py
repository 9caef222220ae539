"""`grater train combination`: several preposition detectors as one, tuned on text that none of them learnt from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from grater.cli.options import Json, Seed
from grater.cli.output import print_json, require_different, say
from grater.cli.reading import reading
from grater.cli.train_card import CardDate, Data, ModelFile, card_of, require_model_name, sources
from grater.detect.learning.events import HELD_OUT, fold_of
from grater.detect.ngrams.training import text_lines
from grater.detect.prepositions.combined import KIND, CombinedEngine, parts_of, save
from grater.detect.prepositions.training import tuned
from grater.errors import UsageError
from grater.model import Json as JsonValue
from grater.sheet import counted

app = typer.Typer()

PARTS = ["prep-maxent", "prep-lm"]


@app.command()
def combination(
    texts: Annotated[
        list[Path],
        typer.Argument(
            metavar="TEXT",
            help="The text that the parts learnt from, of which what they left out is used; or other text: --unseen.",
        ),
    ],
    out: ModelFile,
    system: Annotated[
        list[str], typer.Option(metavar="NAME", help="A part, by name or model file; may be given several times.")
    ] = PARTS,
    unseen: Annotated[bool, typer.Option("--unseen", help="No part learnt from this text: use all of it.")] = False,
    data: Data = [],  # noqa: B006 (typer copies it)
    date: CardDate = "",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Choose costs and thresholds for several detectors whose scores are added up, and write them."""
    require_model_name(out)
    if len(set(system)) < 2:
        raise UsageError(f"expected two systems or more to combine, found {', '.join(system)}")
    require_different([*texts, out, *(Path(name) for name in system if Path(name).exists())])
    parts = parts_of(system)
    with reading("reading", *texts) as advance:
        lines = [line for line in text_lines(texts, advance=advance) if unseen or fold_of(line) < HELD_OUT]
    say("choosing thresholds")
    engine, thresholds = tuned(CombinedEngine(tuple(part.engine for part in parts)), lines, seed=seed)
    card: dict[str, JsonValue] = {
        **_card(out, texts, system, ["--unseen"] if unseen else [], data, date),
        "seed": seed,
        "thresholds": thresholds.as_json(),
        "figures": {"lines": len(lines)},
    }
    save(engine, system, out, card)
    if as_json:
        print_json({"model": str(out), "card": card})
    else:
        say(f"{out}: {' and '.join(system)}, tuned on {counted(len(lines), 'line')} that they did not learn from")


def _card(
    out: Path, texts: Sequence[Path], systems: Sequence[str], options: list[str], data: list[str], date: str
) -> dict[str, JsonValue]:
    known: list[JsonValue] = [*({"name": name} for name in systems), *sources(data)]
    parts = [word for name in systems for word in ("--system", name)]
    return card_of(out, KIND, known, date, ["combination", *(text.name for text in texts), *parts, *options])
