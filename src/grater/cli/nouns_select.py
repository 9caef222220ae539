"""`grater nouns select`: the items of the paper's study of constructions (Lee et al. 2009, section 3.3)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from grater.cli.options import Format, Json, Seed
from grater.cli.output import print_json, require_outputs, say
from grater.cli.reading import reading
from grater.corpora import format_for, read_corpus
from grater.detect.articles.constructions import CONSTRUCTIONS
from grater.detect.articles.design import CELLS, Design, NounPlace, item_rows, places_of, select
from grater.detect.articles.features import N_CONTEXT
from grater.detect.detector import grouped
from grater.errors import UsageError
from grater.model import Json as JsonValue
from grater.sheet import counted
from grater.tables import write_table
from grater.text.analysis import analyse_all

app = typer.Typer()

MOST_SHOWN = 10


@app.command("select")
def select_nouns(
    corpus: Annotated[
        Path, typer.Argument(metavar="CORPUS", help="Well-formed text in any format of grater corpus.")
    ],
    out: Annotated[Path, typer.Option(metavar="ITEMS", help="The table of items to write.")],
    nouns: Annotated[
        int, typer.Option(min=1, metavar="N", help="Nouns of high, and of low entropy for each construction.")
    ] = 3,
    sentences: Annotated[int, typer.Option(min=1, metavar="N", help="Sentences in each cell of Table 3.")] = 2,
    least: Annotated[int, typer.Option(min=1, metavar="N", help="Leave out nouns with fewer phrases.")] = 30,
    context: Annotated[
        int, typer.Option(min=0, metavar="N", help="Sentences before, in which a noun counts as mentioned.")
    ] = N_CONTEXT,
    format_name: Format = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Choose nouns of high and low entropy and sentences for each of their constructions; say what is missing."""
    require_outputs([out], [corpus])
    places: list[NounPlace] = []
    with reading(f"reading {corpus}", corpus, n_passes=format_for(corpus, format_name).n_passes) as advance:
        for group in grouped(read_corpus(corpus, format_name=format_name, advance=advance)):
            for essay, found in zip(group, analyse_all(group), strict=True):
                places += places_of(essay.essay_id, found, n_context=context)
    design = select(places, nouns=nouns, sentences=sentences, least=least, seed=seed)
    if not design.places:
        raise UsageError(
            f"{corpus}: expected nouns with {least} phrases or more, found none; give more text, or --least"
        )
    rows = list(item_rows(design))
    write_table(pl.DataFrame(rows), out)
    if as_json:
        print_json({"items": str(out), **_as_json(design, len(rows))})
        return
    _tell(design, out, len(rows))


def _as_json(design: Design, n_items: int) -> dict[str, JsonValue]:
    return {
        "n_items": n_items,
        "places": len(design.places),
        "wanted": design.n_wanted,
        "nouns": [
            {
                "noun": each.noun.noun,
                "entropy": each.noun.entropy,
                "side": each.side,
                "dominant": CONSTRUCTIONS[each.noun.dominant],
                "n": each.noun.n,
            }
            for each in design.nouns
        ],
        "shortfalls": [
            {"where": each.where, "wanted": each.wanted, "found": each.found} for each in design.shortfalls
        ],
    }


def _tell(design: Design, out: Path, n_items: int) -> None:
    for side in ("high", "low"):
        named = [f"{each.noun.noun} ({each.noun.entropy:.2f})" for each in design.nouns if each.side == side]
        say(f"{side} entropy: {', '.join(named)}")
    for each in design.shortfalls[:MOST_SHOWN]:
        say(f"not filled: {each.where}: wanted {each.wanted}, found {each.found}")
    if len(design.shortfalls) > MOST_SHOWN:
        say(f"not filled: {len(design.shortfalls) - MOST_SHOWN} more; --json names them all")
    share = f"{len(design.places)} of {design.n_wanted} places ({len(CELLS)} cells a noun)"
    say(f"{out}: {counted(n_items, 'item')}, {share}")
