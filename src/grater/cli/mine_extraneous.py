"""`grater mine extraneous`: trigrams whose preposition looks like one too many; and the balanced corpus from them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from grater.cli.mine_options import Each, Gold, LeastBigram, Model, Most, Ratio, Text, Web1T, counter_of
from grater.cli.mine_review import review
from grater.cli.options import Format, Json, Seed
from grater.cli.output import print_json, require_different, say
from grater.cli.reading import reading_all
from grater.detect.mining.ranking import MOST, RATIO, Suspect, uses_of
from grater.detect.mining.review import (
    N_EACH,
    N_GOLD,
    OPEN,
    YES,
    Balanced,
    Mined,
    balanced_from,
    far_of,
    mine,
    suspects_table,
    verdicts_of,
)
from grater.errors import UsageError
from grater.rng import generator
from grater.sheet import counted
from grater.signature import Signature
from grater.tables import read_items, write_table

app = typer.Typer()


@app.command()
def extraneous(
    corpus: Annotated[list[Path], typer.Argument(metavar="CORPUS", help="Learners' essays, in any format.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The list of suspects; with --balanced, the items.")],
    web1t: Web1T = None,
    text: Text = [],  # noqa: B006
    model: Model = None,
    least_bigram: LeastBigram = 1,
    ratio: Ratio = RATIO,
    most: Most = MOST,
    ask: Annotated[
        bool, typer.Option("--ask", help="Go through the list here, y or n; answers are kept in FILE.")
    ] = False,
    balanced: Annotated[
        bool, typer.Option("--balanced", help="Build the balanced corpus: accepted errors, as many correct uses.")
    ] = False,
    verdicts: Annotated[
        Path | None, typer.Option(metavar="LIST", help="For --balanced: the list with its verdicts.")
    ] = None,
    n_each: Each = N_EACH,
    n_gold: Gold = N_GOLD,
    gold: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the gold items here too.")] = None,
    format_name: Format = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """List trigrams that are unattested or rarer than they should be; a person says which are errors."""
    require_different([path for path in (*corpus, *text, web1t, model, verdicts, out, gold) if path])
    if balanced != bool(verdicts) or (gold and not balanced):
        raise UsageError("expected --balanced together with --verdicts LIST (and --gold only with them)")
    count = counter_of(web1t, text, model)
    with reading_all(corpus, format_name) as by_name:
        uses = [use for essays in by_name.values() for use in uses_of(essays)]
    mined = mine(uses, count, least_bigram=least_bigram, ratio=ratio)
    if balanced and verdicts:
        made = _balanced(mined, verdicts_of(read_items(verdicts)), n_each, n_gold, seed)
        _write_balanced(made, out, gold, seed, as_json=as_json)
    else:
        _list(mined, out, most, ask=ask, as_json=as_json)


def _list(mined: Mined, out: Path, most: int, *, ask: bool, as_json: bool) -> None:
    verdicts = verdicts_of(read_items(out)) if out.exists() else {}
    suspects = mined.suspects[:most]

    def write(verdicts: Mapping[str, str]) -> None:
        write_table(suspects_table(suspects, verdicts), out)

    write(verdicts)
    if ask:
        verdicts = review(suspects, verdicts, write)
    _tell(mined, suspects, verdicts, out, as_json=as_json)


def _tell(mined: Mined, suspects: list[Suspect], verdicts: Mapping[str, str], out: Path, *, as_json: bool) -> None:
    far = far_of(verdicts.get(suspect.words, OPEN) for suspect in suspects)
    unattested = sum(not suspect.n_trigram for suspect in suspects)
    if as_json:
        found = {"uses": len(mined.uses), "suspects": len(mined.suspects), "listed": len(suspects)}
        signature = str(Signature("mine-extraneous"))
        print_json({**found, "unattested": unattested, **far.as_json(), "signature": signature})
        return
    say(f"{out}: {counted(len(suspects), 'trigram')} of {counted(len(mined.uses), 'use')}, {unattested:,} unattested")
    say(f"  {far.words}: put y or n in the column verdict, or go through them with --ask")


def _balanced(mined: Mined, verdicts: Mapping[str, str], n_each: int, n_gold: int, seed: int) -> Balanced:
    known = {suspect.words for suspect in mined.suspects}
    missing = sorted(trigram for trigram, verdict in verdicts.items() if verdict == YES and trigram not in known)
    if missing:
        raise UsageError(f"{missing[0]!r} is accepted but no suspect of these essays and counts; name the same ones")
    return balanced_from(mined, verdicts, rng=generator(seed, "mine", "balanced"), n_each=n_each, n_gold=n_gold)


def _write_balanced(made: Balanced, out: Path, gold: Path | None, seed: int, *, as_json: bool) -> None:
    write_table(made.items, out)
    if gold:
        write_table(made.gold(), gold)
    if as_json:
        print_json({**made.as_json(), "signature": str(Signature("mine-balanced", {"seed": str(seed)}))})
    else:
        say("\n  ".join(made.lines(str(out))))
