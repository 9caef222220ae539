"""`grater demo`: the corpus study of the NUCLE paper on the bundled sample essays, from end to end.

Writes the essays in three formats, the results, and tables of items, decisions and judgments, so that every command
of the README has something to work on.  The two systems are baselines (one flags every preposition, one none):
detectors come with part 5.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import polars as pl
import typer
from rich.console import Console

from grater.agreement.bands import band
from grater.agreement.edits import edit_agreement
from grater.cli.output import say
from grater.cli.stats_table import render
from grater.corpora import read_corpus, write_corpus
from grater.corpora.check import check_essays
from grater.corpora.judgments import items_of, judgments_from_edits
from grater.corpora.source import replacing
from grater.corpora.statistics import corpus_statistics
from grater.files import complaining
from grater.model import Essay, Item
from grater.sample import sample_path
from grater.tables import read_decisions, write_table
from grater.text.prepositions import canonical
from grater.text.tokens import tokens_of

app = typer.Typer()

BASELINES = {"always": True, "never": False}


@app.command()
def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder for the results; made if missing.")] = Path(
        "demo"
    ),
) -> None:
    """Run the corpus study on the bundled sample essays and leave everything in a folder."""
    with complaining(out):
        out.mkdir(parents=True, exist_ok=True)
    essays = list(read_corpus(sample_path()))
    losses: list[str] = []
    for name in ("essays.jsonl", "essays.sgml", "essays.m2"):
        write_corpus(essays, out / name, lambda loss: losses.append(str(loss)))
    statistics = corpus_statistics({"sample": essays}, by="language")
    with replacing(out / "stats.json") as stream:
        json.dump(statistics.as_json(), stream, ensure_ascii=False, indent=2)
    render(statistics, Console())
    findings = list(check_essays(essays))
    for finding in findings:
        say(str(finding))
    n_judgments = _write_tables(essays, out)
    say(f"checked: {len(findings) or 'no'} defects in {len(essays)} essays")
    say(f"converted: {out}/essays.jsonl, .sgml and .m2; {len(losses)} things that SGML and M2 cannot hold were named")
    say(f"judged: {n_judgments} judgments of prepositions by two annotators in {out}/judgments.csv")
    say(f"agreed: {_agreement(essays)}")
    say(f"the numbers are in {out}/stats.json; go on with 'grater corpus stats {out}/essays.jsonl --by level'")


def _agreement(essays: Iterable[Essay]) -> str:
    [pair] = edit_agreement(essays).criteria["identification"].pairs
    kappa = pair.kappa
    limits = f"{kappa.low:.2f} to {kappa.high:.2f}"
    return f"kappa {kappa.value:.2f} ({limits}, {band(kappa.value)}) on which of {pair.n:,} tokens are wrong"


def _write_tables(essays: Iterable[Essay], out: Path) -> int:
    """Items, decisions and judgments of every preposition in the essays."""
    essays = list(essays)
    write_table(pl.DataFrame(list(_items(essays))), out / "items.csv")
    decisions = [
        {**row, "system": system, "flagged": flagged}
        for row in _items(essays)
        for system, flagged in BASELINES.items()
    ]
    write_table(pl.DataFrame(decisions), out / "decisions.csv")
    places = items_of(read_decisions(out / "decisions.csv"))
    judgments = judgments_from_edits(essays, places, tags=["Wcip"])
    write_table(judgments, out / "judgments.csv")
    return len(judgments)


def _items(essays: Iterable[Essay]) -> Iterator[dict[str, str | int]]:
    for essay in essays:
        for span in tokens_of(essay):
            preposition = canonical(span.of(essay.text))
            if preposition:
                item = Item(essay.essay_id, span, "prep")
                yield {
                    "item": item.item_id,
                    "essay": essay.essay_id,
                    "start": span.start,
                    "end": span.end,
                    "kind": item.kind,
                    "target": preposition,
                }
