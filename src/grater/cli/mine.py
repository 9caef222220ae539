"""`grater lab mine` and `lab nouns`: places that people should look at.

`grater lab mine` lists trigrams whose preposition looks extraneous by n-gram counts, takes the verdicts of a person,
one sentence at a time, and builds the balanced corpus from them.  `grater lab nouns` studies the article-number
constructions of nouns (Lee et al. 2009).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from typer import Argument, Option

from grater.cli.command import (
    Format,
    Json,
    Seed,
    Table,
    messages,
    print_json,
    reading,
    reading_all,
    require_different,
    require_outputs,
    say,
    say_done,
    show,
)
from grater.detect.articles.design import CELLS, LEAST, Design, noun_constructions, places_in, select
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
    progress_of,
    suspects_table,
    verdicts_of,
)
from grater.errors import UsageError
from grater.scale.counting import counts_in_parts
from grater.scale.jobs import read_parts
from grater.sheet import counted
from grater.signature import Signature
from grater.tables import read_items, write_table
from grater.uncertainty import generator

QUESTION = "extraneous? [y]es, [n]o, [s]kip, [b]ack, [q]uit"
BACK, QUIT, SKIP = "b", "q", "s"


def mine_prepositions(
    corpus: Annotated[
        list[Path] | None, Argument(metavar="[CORPUS]...", help="Learners' essays, in any format.")
    ] = None,
    study: Annotated[
        str, Option(metavar="STUDY", help="Mine the essays of a study instead; people decide on the page /mining.")
    ] = "",
    out: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="The list of suspects, of a study with its verdicts; with --balanced, the items of the corpus.",
        ),
    ] = None,
    web1t: Annotated[Path | None, Option(metavar="FOLDER", help="Counts in Web 1T format.")] = None,
    text: Annotated[list[Path], Option(metavar="TEXT", help="Well-formed text to count in; repeatable.")] = [],
    model: Annotated[
        Path | None, Option(metavar="MODEL", help=f"Counts from a language model; default: that of {SHIPPED}.")
    ] = None,
    counts: Annotated[Path | None, Option(metavar="FOLDER", help="Counts from grater lab count.")] = None,
    least_bigram: Annotated[
        float, Option(min=0, metavar="N", help="Minimum count of the two words without the preposition.")
    ] = 1,
    ratio: Annotated[
        float, Option(min=0, metavar="SHARE", help="A trigram is rare at this share of its expected count or less.")
    ] = RATIO,
    most: Annotated[int, Option(min=1, metavar="N", help="Keep the N most suspicious.")] = MOST,
    ask: Annotated[bool, Option("--ask", help="Decide in the terminal, y or n; answers are saved in FILE.")] = False,
    balanced: Annotated[
        bool,
        Option("--balanced", help="Build the balanced corpus: accepted errors and an equal number of correct uses."),
    ] = False,
    verdicts: Annotated[
        Path | None,
        Option(metavar="LIST", help="The list with its verdicts: for --balanced, or for --study instead of mining."),
    ] = None,
    n_each: Annotated[
        int, Option("--n", min=1, metavar="N", help="For --balanced: number of errors, and of correct uses.")
    ] = N_EACH,
    n_gold: Annotated[int, Option(min=0, metavar="N", help="For --balanced: items to use as gold.")] = N_GOLD,
    gold: Annotated[
        Path | None, Option("--gold-out", metavar="FILE", help="For --balanced: also write the gold items.")
    ] = None,
    name: Annotated[str, Option(help="For --study: the name of the list.")] = "mined",
    job: Annotated[str, Option(help="For --study and --balanced: the name of the job to create.")] = "balanced",
    judgments: Annotated[
        int,
        Option("--judgments-per-item", min=1, metavar="N", help="Judgments per item."),
    ] = 1,
    decider: Annotated[
        str | None,
        Option("--as", metavar="NAME", help="For --study: who gave the verdicts of the list; default: the owner."),
    ] = None,
    format_name: Format = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """List trigrams whose preposition may be extraneous; people decide which are errors."""
    paths = corpus or []
    require_different([path for path in (*paths, *text, web1t, model, counts, verdicts, out, gold) if path])
    if bool(study) == bool(paths):
        raise UsageError("expected a corpus, or --study STUDY")
    count = counter_of(web1t, text, model, counts)
    if study:
        if gold or ask or (balanced and (verdicts or out)):
            raise UsageError("--gold-out and --ask are for a corpus; with --balanced, so are --verdicts and --out")
        from grater.cli.study.mining import balanced_job_of, mine_study_of  # SQLAlchemy, which a corpus need not have

        if balanced:
            wanted = {"name": job, "judgments": judgments, "n_each": n_each, "n_gold": n_gold, "seed": seed}
            balanced_job_of(study, name, count, wanted, as_json=as_json)
            return
        names = [path.name for path in (web1t, *text, model, counts) if path]
        counting = {"source": ", ".join(names) or SHIPPED, "least_bigram": least_bigram, "ratio": ratio}
        mine_study_of(
            study, name, count, counting, most=most, given=verdicts, decider=decider, out=out, as_json=as_json
        )
        return
    if out is None:
        raise UsageError("expected --out FILE for the list")
    if balanced != bool(verdicts) or (gold and not balanced):
        raise UsageError("expected --balanced and --verdicts LIST together, and --gold-out only with them")
    with reading_all(paths, format_name) as by_name:
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
        verdicts = _review(suspects, verdicts, write)
    _say(mined, suspects, verdicts, out, as_json=as_json)


def _say(mined: Mined, suspects: list[Suspect], verdicts: Mapping[str, str], out: Path, *, as_json: bool) -> None:
    progress = progress_of(verdicts.get(suspect.words, OPEN) for suspect in suspects)
    unattested = sum(not suspect.n_trigram for suspect in suspects)
    if as_json:
        counts = {"uses": len(mined.uses), "suspects": len(mined.suspects), "listed": len(suspects)}
        signature = str(Signature("mine-extraneous"))
        print_json({**counts, "unattested": unattested, **progress.to_dict(), "signature": signature})
        return
    say(f"{out}: {counted(len(suspects), 'trigram')} of {counted(len(mined.uses), 'use')}, {unattested:,} unattested")
    say(f"  {progress.words}: put y or n in the column verdict, or go through them with --ask")


def _balanced(mined: Mined, verdicts: Mapping[str, str], n_each: int, n_gold: int, seed: int) -> Balanced:
    known = {suspect.words for suspect in mined.suspects}
    missing = sorted(trigram for trigram, verdict in verdicts.items() if verdict == YES and trigram not in known)
    if missing:
        raise UsageError(
            f"{missing[0]!r} is accepted but is not a suspect here; give the essays and counts the list was made from"
        )
    return balanced_from(mined, verdicts, rng=generator(seed, "mine", "balanced"), n_each=n_each, n_gold=n_gold)


def _write_balanced(made: Balanced, out: Path, gold: Path | None, seed: int, *, as_json: bool) -> None:
    write_table(made.items, out)
    if gold:
        write_table(made.gold(), gold)
    say_done(
        "\n  ".join(made.lines(str(out))),
        {**made.to_dict(), "signature": str(Signature("mine-balanced", {"seed": str(seed)}))},
        as_json=as_json,
    )


def counter_of(
    web1t: Path | None, text: list[Path], model: Path | None, counted_text: Path | None = None
) -> TrigramCounter:
    """The one source of counts that was asked for, or the model that comes along."""
    if sum(map(bool, (web1t, text, model, counted_text))) > 1:
        raise UsageError("expected one source of counts: --web1t, --text, --model or --counts")

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


def nouns(
    corpora: Annotated[list[Path], Argument(metavar="CORPUS", help="Text in any format of grater corpus.")],
    noun: Annotated[list[str], Option(metavar="NOUN", help="Show this noun, in the singular; repeatable.")] = [],
    least: Annotated[
        int | None,
        Option(
            "--min-phrases",
            min=1,
            metavar="N",
            help=f"Leave out nouns with fewer phrases; default: {LEAST}, with --out {LEAST_CHOSEN}.",
        ),
    ] = None,
    most: Annotated[
        int, Option("--top", min=1, metavar="N", help="Show at most N nouns (JSON has all).")
    ] = MOST_NOUNS,
    out: Annotated[
        Path | None,
        Option(metavar="ITEMS", help="Choose nouns of high and low entropy, and write items to judge to this table."),
    ] = None,
    n_nouns: Annotated[
        int, Option("--nouns", min=1, metavar="N", help="For --out: nouns of each entropy for each construction.")
    ] = 3,
    sentences: Annotated[
        int, Option(min=1, metavar="N", help="For --out: sentences in each cell (Lee et al. 2009, Table 3).")
    ] = 2,
    context: Annotated[
        int, Option(min=0, metavar="N", help="For --out: preceding sentences in which a noun counts as mentioned.")
    ] = N_CONTEXT,
    format_name: Format = None,
    seed: Seed = 0,
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """Show the article and number of nouns and how predictable they are; with --out, choose places to judge.

    `grater agree --constructions` measures the agreement of raters on the items.
    """
    require_outputs([out], corpora)
    with reading_all(corpora, format_name) as by_name:
        essays = chain.from_iterable(by_name.values())
        if out is None:
            result = noun_constructions(essays, least=least or LEAST, only=noun, most=most)
            show(result, table=table, as_json=as_json)
            return
        places = places_in(essays, n_context=context)
    least = least or LEAST_CHOSEN
    design = select(places, nouns=n_nouns, sentences=sentences, least=least, seed=seed)
    if not design.places:
        raise UsageError(
            f"{corpora[0]}: expected nouns with {least} phrases or more, found none; add text or lower --min-phrases"
        )
    write_table(design.to_frame(), out)
    if as_json:
        print_json({"items": str(out), **design.to_dict()})
    else:
        _say_design(design, out)


def _say_design(design: Design, out: Path) -> None:
    for side in ("high", "low"):
        nouns = [f"{chosen.noun.noun} ({chosen.noun.entropy:.2f})" for chosen in design.nouns if chosen.side == side]
        say(f"{side} entropy: {', '.join(nouns)}")
    for shortfall in design.shortfalls[:MOST_SHOWN]:
        say(f"not filled: {shortfall.where}: wanted {shortfall.wanted}, found {shortfall.found}")
    if len(design.shortfalls) > MOST_SHOWN:
        say(f"not filled: {len(design.shortfalls) - MOST_SHOWN} more; --json names them all")
    share = f"{len(design.places)} of {design.n_wanted} places ({len(CELLS)} cells per noun)"
    say(f"{out}: {counted(design.n_items, 'item')}, {share}")
