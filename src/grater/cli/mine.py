"""`grater lab mine` and `lab nouns`: places that people should look at.

`grater lab mine` lists trigrams whose preposition looks extraneous by n-gram counts, takes the verdicts of a person,
one sentence at a time, and builds the balanced corpus from them.  `grater lab nouns` studies the article-number
constructions of nouns (Lee et al. 2009).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from grater.cli.command import Done, messages, say
from grater.corpora import open_corpora
from grater.detect.articles.design import (
    CELLS,
    LEAST,
    Design,
    NounConstructions,
    noun_constructions,
    places_in,
    select,
)
from grater.detect.articles.design import MOST as MOST_NOUNS
from grater.detect.articles.features import N_CONTEXT
from grater.detect.mining.ranking import (
    MOST,
    RATIO,
    SHIPPED,
    Counts,
    Suspect,
    counts_in_model_file,
    counts_in_shipped_model,
    counts_in_text,
    counts_in_web1t,
    uses_of,
)
from grater.detect.mining.review import (
    N_EACH,
    N_GOLD,
    NO,
    OPEN,
    YES,
    Balanced,
    Mined,
    TrigramCounter,
    balanced_from,
    mine,
    suspects_table,
    verdicts_of,
)
from grater.errors import UsageError
from grater.options import FormatName, Opt, Seed, described, require_different
from grater.progress import reading
from grater.scale.counting import counts_in_parts
from grater.scale.jobs import read_parts
from grater.sheet import Signature, counted
from grater.tables import read_items, write_table
from grater.uncertainty import generator

QUESTION = "extraneous? [y]es, [n]o, [s]kip, [b]ack, [q]uit"
BACK, QUIT, SKIP = "b", "q", "s"


@described
def mine_prepositions(
    *corpus: Annotated[Path, Opt("Learners' essays, in any format.", "CORPUS")],
    out: Annotated[Path, Opt("The list of suspects; with --balanced, the items.", "FILE")],
    web1t: Annotated[Path | None, Opt("Counts in Web 1T format.", "FOLDER")] = None,
    text: Annotated[Sequence[Path], Opt("Well-formed text to count in; repeatable.", "TEXT")] = (),
    model: Annotated[Path | None, Opt(f"Counts from a language model; default: that of {SHIPPED}.", "MODEL")] = None,
    counts: Annotated[Path | None, Opt("Counts from grater lab count.", "FOLDER")] = None,
    least_bigram: Annotated[float, Opt("Minimum count without the preposition.", "N", min=0)] = 1,
    ratio: Annotated[float, Opt("A trigram is rare at this share of its expected count.", "SHARE", min=0)] = RATIO,
    most: Annotated[int, Opt("Keep the N most suspicious.", "N", min=1)] = MOST,
    ask: Annotated[bool, Opt("Decide in the terminal, y or n.")] = False,
    balanced: Annotated[bool, Opt("Build a balanced corpus of errors and correct uses.")] = False,
    verdicts: Annotated[Path | None, Opt("The list with its verdicts.", "LIST")] = None,
    n: Annotated[int, Opt("For --balanced: number of errors, and of correct uses.", "N", min=1)] = N_EACH,
    n_gold: Annotated[int, Opt("For --balanced: items to use as gold.", "N", min=0)] = N_GOLD,
    gold_out: Annotated[Path | None, Opt("For --balanced: also write the gold items.", "FILE")] = None,
    format_name: FormatName = None,
    seed: Seed = 0,
) -> Done:
    """List trigrams whose preposition may be extraneous; people decide which are errors."""
    require_different([path for path in (*corpus, *text, web1t, model, counts, verdicts, out, gold_out) if path])
    count = counter_of(web1t, text, model, counts)
    if balanced != bool(verdicts) or (gold_out and not balanced):
        raise UsageError("expected `balanced` and `verdicts` LIST together, and `gold_out` only with them")
    with open_corpora(corpus, format_name) as by_name:
        uses = [use for essays in by_name.values() for use in uses_of(essays)]
    mined = mine(uses, count, least_bigram=least_bigram, ratio=ratio)
    if balanced and verdicts:
        made = _balanced(mined, verdicts_of(read_items(verdicts)), n, n_gold, seed)
        write_table(made.items, out)
        if gold_out:
            write_table(made.gold(), gold_out)
        signature = str(Signature("mine-balanced", {"seed": str(seed)}))
        return Done({**made.to_dict(), "signature": signature}, ["\n  ".join(made.lines(str(out)))])
    return _list(mined, out, most, ask=ask)


def _list(mined: Mined, out: Path, most: int, *, ask: bool) -> Done:
    verdicts = verdicts_of(read_items(out)) if out.exists() else {}
    suspects = mined.suspects[:most]

    def write(verdicts: Mapping[str, str]) -> None:
        write_table(suspects_table(suspects, verdicts), out)

    write(verdicts)
    if ask:
        verdicts = _review(suspects, verdicts, write)
    unattested = sum(not suspect.n_trigram for suspect in suspects)
    listed = f"{counted(len(suspects), 'trigram')} of {counted(len(mined.uses), 'use')}, {unattested:,} unattested"
    decided = Counter(verdicts.get(suspect.words, OPEN) for suspect in suspects)
    how = "put y or n in the column verdict, or go through them with --ask"
    return Done(
        {
            "uses": len(mined.uses),
            "suspects": len(mined.suspects),
            "listed": len(suspects),
            "unattested": unattested,
            "accepted": decided[YES],
            "rejected": decided[NO],
            "open": decided[OPEN],
            "signature": str(Signature("mine-extraneous")),
        },
        [
            f"{out}: {listed}",
            f"  {decided[YES]:,} accepted, {decided[NO]:,} rejected, {decided[OPEN]:,} to look at: {how}",
        ],
    )


def _balanced(mined: Mined, verdicts: Mapping[str, str], n_each: int, n_gold: int, seed: int) -> Balanced:
    known = {suspect.words for suspect in mined.suspects}
    missing = sorted(trigram for trigram, verdict in verdicts.items() if verdict == YES and trigram not in known)
    if missing:
        raise UsageError(
            f"{missing[0]!r} is accepted but is not a suspect here; give the essays and counts the list was made from"
        )
    return balanced_from(mined, verdicts, rng=generator(seed, "mine", "balanced"), n_each=n_each, n_gold=n_gold)


def counter_of(
    web1t: Path | None, text: Sequence[Path], model: Path | None, counted_text: Path | None = None
) -> TrigramCounter:
    """The one source of counts that was asked for, or the model that comes along."""
    if sum(map(bool, (web1t, text, model, counted_text))) > 1:
        raise UsageError("expected one source of counts: `web1t`, `text`, `model` or `counts`")

    def count(wanted: set[tuple[str, ...]]) -> Counts:
        if web1t:
            with reading("counting", web1t) as advance:
                return counts_in_web1t(web1t, wanted, advance=advance)
        if counted_text:
            return counts_in_parts(read_parts(counted_text, job="count"), wanted)
        if text:
            with reading("counting", *text) as advance:
                return counts_in_text(text, wanted, advance=advance)
        return counts_in_model_file(model, wanted) if model else counts_in_shipped_model(wanted)

    return count


def _review(
    suspects: Sequence[Suspect], verdicts: Mapping[str, str], keep: Callable[[Mapping[str, str]], None]
) -> dict[str, str]:
    """Ask about every suspect without a verdict; each answer is kept at once, so that nothing is lost on the way."""
    answers = dict(verdicts)
    waiting = [suspect for suspect in suspects if answers.get(suspect.words, OPEN) == OPEN]
    index = 0
    while index < len(waiting):
        answer = _answer(waiting[index], index, len(waiting))
        if answer == QUIT:
            break
        if answer in (YES, NO):
            answers[waiting[index].words] = answer
            keep(answers)
        index = max(0, index - 1) if answer == BACK else index + 1
    return answers


def _answer(suspect: Suspect, index: int, n: int) -> str:
    use = suspect.uses[0]
    end = use.offset + len(use.target)
    before, after = escape(use.context[: use.offset]), escape(use.context[end:])
    say(f"\n{index + 1} of {n}: {suspect.words} ({suspect.n_trigram:g}; without {suspect.n_bigram:g})")
    messages.print(f"  {before}[bold reverse]{escape(use.target)}[/]{after}")
    while True:
        answer = str(typer.prompt(QUESTION, err=True)).strip().lower()[:1]
        if answer in (YES, NO, SKIP, BACK, QUIT):
            return answer


MOST_SHOWN = 10
LEAST_CHOSEN = 30


@described
def nouns(
    *corpora: Annotated[Path, Opt("Text in any format of grater corpus.", "CORPUS")],
    noun: Annotated[Sequence[str], Opt("Show this noun, in the singular; repeatable.", "NOUN")] = (),
    min_phrases: Annotated[
        int | None,
        Opt(f"Leave out nouns with fewer phrases; default: {LEAST}, with --out {LEAST_CHOSEN}.", "N", min=1),
    ] = None,
    top: Annotated[int, Opt("Show at most N nouns (JSON has all).", "N", min=1)] = MOST_NOUNS,
    out: Annotated[Path | None, Opt("Write items of high and low entropy to judge.", "ITEMS", writes="table")] = None,
    nouns: Annotated[int, Opt("For --out: nouns of each entropy.", "N", min=1)] = 3,
    sentences: Annotated[int, Opt("For --out: sentences in each cell.", "N", min=1)] = 2,
    context: Annotated[int, Opt("For --out: preceding sentences for earlier mentions.", "N", min=0)] = N_CONTEXT,
    format_name: FormatName = None,
    seed: Seed = 0,
) -> NounConstructions | Done:
    """Show how predictable the article and number of nouns are.

    `grater agree --constructions` measures the agreement of raters on the items.
    """
    with open_corpora(corpora, format_name) as by_name:
        essays = chain.from_iterable(by_name.values())
        if out is None:
            return noun_constructions(essays, least=min_phrases or LEAST, only=noun, most=top)
        places = places_in(essays, n_context=context)
    least = min_phrases or LEAST_CHOSEN
    design = select(places, nouns=nouns, sentences=sentences, least=least, seed=seed)
    if not design.places:
        raise UsageError(
            f"{corpora[0]}: expected nouns with {least} phrases or more, found none; add text or lower `min_phrases`"
        )
    write_table(design.to_frame(), out)
    return Done({"items": str(out), **design.to_dict()}, _design_lines(design, out))


def _design_lines(design: Design, out: Path) -> list[str]:
    summary = []
    for side in ("high", "low"):
        nouns = [f"{chosen.noun.noun} ({chosen.noun.entropy:.2f})" for chosen in design.nouns if chosen.side == side]
        summary.append(f"{side} entropy: {', '.join(nouns)}")
    summary += [f"{each.where}: {each.found} instead of {each.wanted}" for each in design.shortfalls[:MOST_SHOWN]]
    if len(design.shortfalls) > MOST_SHOWN:
        summary.append(f"{len(design.shortfalls) - MOST_SHOWN} more with too few items; --json lists them all")
    share = f"{len(design.places)} of {design.n_wanted} places ({len(CELLS)} cells per noun)"
    return [*summary, f"{out}: {counted(design.n_items, 'item')}, {share}"]
