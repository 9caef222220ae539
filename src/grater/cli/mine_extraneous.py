"""`grater mine extraneous`: trigrams whose preposition looks like one too many; and the balanced corpus from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from grater.cli.mine_review import review
from grater.cli.options import Format, Json, Seed
from grater.cli.output import counted, print_json, reading, reading_all, require_different, say
from grater.detect.mining.balanced import N_EACH, N_GOLD, Balanced, balance, beyond_suspicion
from grater.detect.mining.ranking import RATIO, Suspect, rank, wanted_ngrams
from grater.detect.mining.sources import Counts, counts_in_model, counts_in_text, counts_in_web1t
from grater.detect.mining.uses import Use, uses_of
from grater.detect.mining.verdicts import NO, OPEN, YES, suspects_table, verdicts_of
from grater.detect.ngrams.stored import load
from grater.errors import UsageError
from grater.model import Json as JsonValue
from grater.models import shipped
from grater.rng import generator
from grater.signature import Signature
from grater.tables import read_items, write_table

app = typer.Typer()

MOST = 2000


@dataclass(frozen=True, slots=True)
class Mined:
    """The uses of prepositions in the essays, their counts, and the suspects among them."""

    uses: list[Use]
    counts: Counts
    suspects: list[Suspect]


@app.command()
def extraneous(
    corpus: Annotated[list[Path], typer.Argument(metavar="CORPUS", help="Learners' essays, in any format.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The list of suspects; with --balanced, the items.")],
    web1t: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Counts in the format of Web1T.")] = None,
    text: Annotated[
        list[Path], typer.Option(metavar="TEXT", help="Well-formed text to count in; may be given several times.")
    ] = [],  # noqa: B006
    model: Annotated[
        Path | None,
        typer.Option(metavar="MODEL", help="A language model instead; the one of prep-lm if none is given."),
    ] = None,
    least_bigram: Annotated[
        float, typer.Option(min=0, metavar="N", help="How often the two words without the preposition must be seen.")
    ] = 1,
    ratio: Annotated[
        float, typer.Option(min=0, metavar="SHARE", help="Rare is at most this share of what the two words predict.")
    ] = RATIO,
    most: Annotated[int, typer.Option(min=1, metavar="N", help="Keep the worst N.")] = MOST,
    ask: Annotated[
        bool, typer.Option("--ask", help="Go through the list here, y or n; answers are kept in FILE.")
    ] = False,
    balanced: Annotated[
        bool, typer.Option("--balanced", help="Build the balanced corpus: accepted errors, as many correct uses.")
    ] = False,
    verdicts: Annotated[
        Path | None, typer.Option(metavar="LIST", help="For --balanced: the list with its verdicts.")
    ] = None,
    n_each: Annotated[
        int, typer.Option("--n", min=1, metavar="N", help="Errors, and as many correct uses.")
    ] = N_EACH,
    n_gold: Annotated[int, typer.Option(min=0, metavar="N", help="Items to set aside as gold.")] = N_GOLD,
    gold: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the gold items here too.")] = None,
    format_name: Format = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """List trigrams that are unattested or rarer than they should be; a person says which are errors."""
    require_different([path for path in (*corpus, *text, web1t, model, verdicts, out, gold) if path])
    if balanced != bool(verdicts) or (gold and not balanced):
        raise UsageError("expected --balanced together with --verdicts LIST (and --gold only with them)")
    with reading_all(corpus, format_name) as by_name:
        uses = [use for essays in by_name.values() for use in uses_of(essays)]
    counts = _counts(uses, web1t, text, model)
    mined = Mined(uses, counts, rank(uses, counts, least_bigram=least_bigram, ratio=ratio))
    if balanced and verdicts:
        made = _balanced(mined, verdicts_of(read_items(verdicts)), n_each, n_gold, seed)
        _write_balanced(made, out, gold, seed, as_json=as_json)
    else:
        _list(mined, out, most, ask=ask, as_json=as_json)


def _counts(uses: list[Use], web1t: Path | None, text: list[Path], model: Path | None) -> Counts:
    if sum(map(bool, (web1t, text, model))) > 1:
        raise UsageError("expected one source of counts: --web1t, --text or --model")
    wanted = wanted_ngrams(uses)
    if web1t:
        with reading("counting", web1t) as advance:
            return counts_in_web1t(web1t, wanted, advance=advance)
    if text:
        with reading("counting", *text) as advance:
            return counts_in_text(text, wanted, advance=advance)
    return _counts_in_model(model or shipped("prep-lm"), wanted)


def _counts_in_model(path: Path, wanted: set[tuple[str, ...]]) -> Counts:
    found = load(path)
    figures = found.card.get("figures")
    n_tokens = figures.get("tokens") if isinstance(figures, Mapping) else None
    return counts_in_model(found, n_tokens if isinstance(n_tokens, int) else 10**6, wanted)


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
    said = [verdicts.get(" ".join(suspect.trigram), OPEN) for suspect in suspects]
    unattested = sum(not suspect.n_trigram for suspect in suspects)
    if as_json:
        numbers: dict[str, JsonValue] = {
            "uses": len(mined.uses),
            "suspects": len(mined.suspects),
            "listed": len(suspects),
            "unattested": unattested,
            "accepted": said.count(YES),
            "rejected": said.count(NO),
            "open": said.count(OPEN),
            "signature": str(Signature("mine-extraneous")),
        }
        print_json(numbers)
        return
    say(f"{out}: {counted(len(suspects), 'trigram')} of {counted(len(mined.uses), 'use')}, {unattested:,} unattested")
    say(
        f"  {said.count(YES):,} accepted, {said.count(NO):,} rejected, {said.count(OPEN):,} to look at: put y or n in"
    )
    say("  the column verdict, or go through them with --ask")


def _balanced(mined: Mined, verdicts: Mapping[str, str], n_each: int, n_gold: int, seed: int) -> Balanced:
    accepted = {trigram for trigram, verdict in verdicts.items() if verdict == YES}
    by_trigram = {" ".join(suspect.trigram): suspect.uses for suspect in mined.suspects}
    missing = sorted(accepted - by_trigram.keys())
    if missing:
        raise UsageError(f"{missing[0]!r} is accepted but no suspect of these essays and counts; name the same ones")
    suspicious = {suspect.trigram for suspect in mined.suspects}
    attested = {use.trigram for use in mined.uses if mined.counts.get(use.trigram, 0) > 0}
    correct = beyond_suspicion(mined.uses, attested, suspicious)
    errors = [uses for trigram, uses in by_trigram.items() if trigram in accepted]
    return balance(errors, correct, rng=generator(seed, "mine", "balanced"), n_each=n_each, n_gold=n_gold)


def _write_balanced(made: Balanced, out: Path, gold: Path | None, seed: int, *, as_json: bool) -> None:
    write_table(made.items, out)
    if gold:
        write_table(made.gold(), gold)
    n_gold = len(made.gold())
    if as_json:
        signature = str(Signature("mine-balanced", {"seed": str(seed)}))
        numbers = {
            "errors": made.n_errors,
            "correct": made.n_correct,
            "gold": n_gold,
            "duplicates": made.n_duplicates,
        }
        print_json({**numbers, "signature": signature})
        return
    said = f"{counted(made.n_errors, 'error')}, {counted(made.n_correct, 'correct use')}, {n_gold:,} of them gold"
    say(f"{out}: {said}")
    say(f"  {counted(made.n_duplicates, 'duplicate')} left out")
