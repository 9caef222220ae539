"""`grater nouns entropy`: the constructions of nouns in a corpus (Lee et al. 2009, Table 1)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from grater.cli.options import Format, Json
from grater.cli.output import number_table, print_json
from grater.cli.reading import reading_all
from grater.detect.articles.constructions import CONSTRUCTIONS, NONE_OF_THEM, Noun, nouns_of
from grater.detect.articles.phrases import noun_phrases
from grater.detect.detector import grouped
from grater.model import Essay, Interval
from grater.model import Json as JsonValue
from grater.signature import Signature, digest
from grater.statistics.proportions import wilson
from grater.text.analysis import analyse_all

app = typer.Typer()

MOST = 25


@app.command()
def entropy(
    corpora: Annotated[list[Path], typer.Argument(metavar="CORPUS", help="Text in any format of grater corpus.")],
    noun: Annotated[
        list[str], typer.Option(metavar="NOUN", help="Show this noun, in the singular; may be given several times.")
    ] = [],  # noqa: B006 (typer copies it)
    least: Annotated[int, typer.Option(min=1, metavar="N", help="Leave out nouns with fewer phrases.")] = 10,
    most: Annotated[int, typer.Option(min=1, metavar="N", help="Show at most so many nouns (JSON has all).")] = MOST,
    format_name: Format = None,
    as_json: Json = False,
) -> None:
    """Count the five article-number constructions, over all nouns and of each, with its entropy in bits."""
    with reading_all(corpora, format_name) as essays:
        found = nouns_of(pair for each in essays.values() for pair in _pairs(each))
    shown = [each for each in found if (each.noun in noun if noun else each.n >= least)]
    totals = [sum(each.counts[place] for each in found) for place in range(len(CONSTRUCTIONS))]
    data = digest(f"{each.noun} {each.counts}" for each in found)
    signature = str(Signature("nouns", {"data": data, "least": str(least)}))
    if as_json:
        print_json(
            {**_totals_json(totals, found), "nouns": [_noun_json(each) for each in shown], "signature": signature}
        )
        return
    console = Console(highlight=False)
    _render_totals(totals, console)
    _render_nouns(shown, most, console)
    console.print(signature, style="dim", markup=False, soft_wrap=True)


def _pairs(essays: Iterator[Essay]) -> Iterator[tuple[str, int]]:
    """The noun and the construction of every open phrase."""
    for group in grouped(essays):
        for sentences in analyse_all(group):
            for sentence in sentences:
                for phrase in noun_phrases(sentence):
                    if phrase.is_open and phrase.construction != NONE_OF_THEM:
                        yield phrase.noun, phrase.construction


def _totals_json(totals: list[int], found: list[Noun]) -> dict[str, JsonValue]:
    n = sum(totals)
    shares: list[JsonValue] = [
        {"construction": name, "n": count, "share": wilson(count, n).as_json()}
        for name, count in zip(CONSTRUCTIONS, totals, strict=True)
    ]
    return {"phrases": n, "different_nouns": len(found), "constructions": shares}


def _noun_json(noun: Noun) -> dict[str, JsonValue]:
    return {
        "noun": noun.noun,
        "n": noun.n,
        "dominant": CONSTRUCTIONS[noun.dominant],
        "entropy": noun.entropy,
        "is_count": noun.is_count,
        "counts": dict(zip(CONSTRUCTIONS, noun.counts, strict=True)),
    }


def _render_totals(totals: list[int], console: Console) -> None:
    table = number_table("Constructions of head nouns", ("construction", "n", "share"))
    for name, count in zip(CONSTRUCTIONS, totals, strict=True):
        table.add_row(name, f"{count:,}", _percent(wilson(count, sum(totals))))
    console.print(table)


def _render_nouns(nouns: list[Noun], most: int, console: Console) -> None:
    short = [name.replace("singular", "sg").replace("plural", "pl").replace("-", " ") for name in CONSTRUCTIONS]
    table = number_table("Nouns (sg singular, pl plural)", ("noun", "n", *short, "mostly", "entropy"))
    for noun in nouns[:most]:
        shares = [f"{100 * count / noun.n:.0f} %" for count in noun.counts]
        table.add_row(noun.noun, f"{noun.n:,}", *shares, short[noun.dominant], f"{noun.entropy:.2f}")
    if len(nouns) > most:
        table.caption = f"{most} of {len(nouns):,}; --most shows more, --json all"
        table.caption_justify = "left"
    console.print(table)


def _percent(value: Interval) -> str:
    if value.undefined_because:
        return value.undefined_because
    return f"{100 * value.value:.1f} % [{100 * value.low:.1f}, {100 * value.high:.1f}]"
