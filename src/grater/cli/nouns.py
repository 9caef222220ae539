"""`grater nouns`: the article-number constructions of nouns, and the study of them (Lee et al. 2009)."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from grater.cli import LazyGroup
from grater.cli.command import Format, Json, Seed, Table, print_json, reading, reading_all, require_outputs, say, show
from grater.corpora import format_for, read_corpus
from grater.detect.articles.design import CELLS, LEAST, MOST, Design, noun_constructions, places_in, select
from grater.detect.articles.features import N_CONTEXT
from grater.errors import UsageError
from grater.sheet import counted
from grater.tables import write_table

AGREE = {"agree": ("grater.cli.agree:nouns_agree_app", "Measure agreement of raters on constructions.")}

app = typer.Typer(
    cls=LazyGroup.of(AGREE),
    no_args_is_help=True,
    help="Study the article and number of nouns: entropy, items, agreement.",
)

MOST_SHOWN = 10


@app.command()
def entropy(
    corpora: Annotated[list[Path], typer.Argument(metavar="CORPUS", help="Text in any format of grater corpus.")],
    noun: Annotated[
        list[str], typer.Option(metavar="NOUN", help="Show this noun, in the singular; repeatable.")
    ] = [],  # noqa: B006 (typer copies it)
    least: Annotated[
        int, typer.Option("--min-phrases", min=1, metavar="N", help="Leave out nouns with fewer phrases.")
    ] = LEAST,
    most: Annotated[
        int, typer.Option("--top", min=1, metavar="N", help="Show at most N nouns (JSON has all).")
    ] = MOST,
    format_name: Format = None,
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """Show the article and number of nouns in a corpus and how predictable they are: counts, shares, entropy."""
    with reading_all(corpora, format_name) as essays:
        result = noun_constructions(chain.from_iterable(essays.values()), least=least, only=noun, most=most)
    show(result, table=table, as_json=as_json)


@app.command("select")
def select_nouns(
    corpus: Annotated[
        Path, typer.Argument(metavar="CORPUS", help="Well-formed text in any format of grater corpus.")
    ],
    out: Annotated[Path, typer.Option(metavar="ITEMS", help="The table of items to write.")],
    nouns: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="Number of nouns of high and of low entropy for each construction."),
    ] = 3,
    sentences: Annotated[
        int, typer.Option(min=1, metavar="N", help="Number of sentences in each cell (Lee et al. 2009, Table 3).")
    ] = 2,
    least: Annotated[
        int, typer.Option("--min-phrases", min=1, metavar="N", help="Leave out nouns with fewer phrases.")
    ] = 30,
    context: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="Number of preceding sentences in which a noun counts as mentioned."),
    ] = N_CONTEXT,
    format_name: Format = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Choose nouns of high and low entropy, and sentences for each construction."""
    require_outputs([out], [corpus])
    with reading(f"reading {corpus}", corpus, n_passes=format_for(corpus, format_name).n_passes) as advance:
        essays = read_corpus(corpus, format_name=format_name, advance=advance)
        places = places_in(essays, n_context=context)
    design = select(places, nouns=nouns, sentences=sentences, least=least, seed=seed)
    if not design.places:
        raise UsageError(
            f"{corpus}: expected nouns with {least} phrases or more, found none; add text or lower --min-phrases"
        )
    write_table(design.to_frame(), out)
    if as_json:
        print_json({"items": str(out), **design.to_dict()})
    else:
        _say(design, out)


def _say(design: Design, out: Path) -> None:
    for side in ("high", "low"):
        nouns = [f"{chosen.noun.noun} ({chosen.noun.entropy:.2f})" for chosen in design.nouns if chosen.side == side]
        say(f"{side} entropy: {', '.join(nouns)}")
    for shortfall in design.shortfalls[:MOST_SHOWN]:
        say(f"not filled: {shortfall.where}: wanted {shortfall.wanted}, found {shortfall.found}")
    if len(design.shortfalls) > MOST_SHOWN:
        say(f"not filled: {len(design.shortfalls) - MOST_SHOWN} more; --json names them all")
    share = f"{len(design.places)} of {design.n_wanted} places ({len(CELLS)} cells per noun)"
    say(f"{out}: {counted(design.n_items, 'item')}, {share}")
