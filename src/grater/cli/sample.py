"""`grater plan` and `sample`: what an interval costs, and which items to judge."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan
from pathlib import Path
from typing import Annotated

import polars as pl
from typer import Argument, Option

from grater import api
from grater.annotate.tasks.worksheet import sample_worksheet
from grater.cli.command import (
    ItemsFile,
    Json,
    Merge,
    Population,
    Reading,
    Seed,
    Table,
    print_json,
    reading_all,
    require_different,
    require_outputs,
    say,
    show,
    warn,
)
from grater.corpora.judgments import items_of
from grater.errors import UsageError
from grater.measure.sampling.draw import draws_of, few_flags, to_judge
from grater.measure.sampling.plan import Allocation, score_rates
from grater.sheet import counted
from grater.tables import (
    read_decisions,
    read_items,
    read_judgments,
    read_sample,
    write_table,
    write_worksheet,
)


def sample(
    decisions: Annotated[Path, Argument(metavar="DECISIONS", help="The systems' decisions on every item.")],
    out: Annotated[Path, Option(metavar="SAMPLE", help="Write the sample to this file, with its design.")],
    system: Annotated[str | None, Option(metavar="NAME", help="The system to draw a first sample for.")] = None,
    new_system: Annotated[
        str | None, Option("--add-system", metavar="NAME", help="Add a system or version to --sample.")
    ] = None,
    old: Annotated[
        Path | None, Option("--sample", metavar="OLD", help="The sample to add to; default: SAMPLE itself.")
    ] = None,
    n: Annotated[int | None, Option("--n", min=1, metavar="N", help="Total number of items.")] = None,
    flagged: Annotated[int | None, Option(min=0, metavar="N", help="Number of flagged items in the sample.")] = None,
    strata: Annotated[str | None, Option(help="How to stratify: decision, score:N or label.")] = None,
    allocation: Annotated[Allocation | None, Option(help="How to allocate N to the strata; default: paper.")] = None,
    rate: Annotated[
        list[str], Option(metavar="STRATUM=RATE", help="Expected error rate, for neyman; 'score' to use scores.")
    ] = [],
    labels: Annotated[
        Path | None, Option("--stratum-labels", metavar="FILE", help="One cheap label per item, for --strata label.")
    ] = None,
    judged: Annotated[
        Path | None,
        Option("--judgments", metavar="FILE", help="Judgments so far; judged items are left out of --to-judge."),
    ] = None,
    list_out: Annotated[
        Path | None, Option("--to-judge", metavar="FILE", help="Write the items still to judge, in order.")
    ] = None,
    essays: Annotated[
        list[Path], Option("--essays", metavar="CORPUS", help="The essays of the items, for --worksheet.")
    ] = [],
    items: ItemsFile = None,
    sheet: Annotated[
        Path | None,
        Option("--worksheet", metavar="FILE", help="Write the items still to judge as a worksheet, .csv or .xlsx."),
    ] = None,
    task: Annotated[str, Option(help="The task of the worksheet: error, usage or verify.")] = "error",
    width: Annotated[
        float | None,
        Option(
            metavar="WIDTH",
            help="With --add-system and --judgments: the fewest items that narrow recall to this width.",
        ),
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Draw a stratified sample of items to judge, or add a system to a sample."""
    require_outputs([out, list_out], [decisions, labels, judged])
    if sheet:
        require_different([sheet, *(path for path in (out, list_out, decisions, labels, judged, items) if path)])
    if sheet and not essays:
        raise UsageError("expected --essays CORPUS with --worksheet, for the sentences")
    table, cheap = read_decisions(decisions), read_judgments(labels) if labels else None
    name = system or new_system
    if name is None or (system and (new_system or not n)):
        raise UsageError("expected --system NAME --n N for a first sample, or --add-system NAME for another system")
    before = read_sample(old or out) if new_system else None
    if rate == ["score"]:
        rates = score_rates(table, name, strata=strata or "decision", labels=cheap)
    else:
        rates = parse_rates(rate)
    so_far = read_judgments(judged) if judged else None
    if before and width is not None and so_far is None:
        raise UsageError("expected --judgments FILE with --width, for error rates")
    drawn = api.sample(
        table,
        system=name,
        n=n,
        flagged=flagged,
        strata=strata,
        allocation=allocation,
        rates=rates,
        stratum_labels=cheap,
        add_to=before,
        width=width,
        judgments=so_far if width is not None else None,
        seed=seed,
    )
    known = so_far.frame if so_far else before.frame if before else None
    left = to_judge(drawn, known["item"].to_list() if known is not None else [])
    if sheet:  # first: where it is refused, nothing is written
        with reading_all(essays, None) as corpora:
            corpus = [essay for part in corpora.values() for essay in part]
        places = items_of(table, read_items(items) if items else None)
        made = sample_worksheet(left, places, corpus, task=task, decisions=table, system=name)
        write_worksheet(made, sheet)
    write_table(drawn, out)
    if list_out:
        write_table(pl.DataFrame({"item": left}, schema={"item": pl.String}), list_out)
    if sheet:
        n_rows = counted(len(made), "item")
        say(f"{sheet}: {n_rows} to judge; agree and evaluate read it when it is filled in")
    warn(few_flags(drawn).values())
    n_items, draws = drawn.frame["item"].n_unique(), draws_of(drawn)
    if as_json:
        seed_drawn = drawn.meta.seed if drawn.meta else None
        drawn_json = [draw.to_dict() for draw in draws]
        print_json({"items": n_items, "to_judge": list(left), "seed": seed_drawn, "draws": drawn_json})
        return
    say(f"{out}: {counted(n_items, 'item')}, {len(left):,} still to judge")
    for stratum, part in draws[-1].by_stratum.items():
        say(f"  {draws[-1].system}, {stratum}: {part.n:,} of {part.size:,}")


def parse_rates(settings: Sequence[str]) -> dict[str, float]:
    """`["flagged=.8", "unflagged=.02"]` as numbers."""
    rates = {}
    for setting in settings:
        name, equals, number = setting.rpartition("=")
        try:
            rates[name.strip()] = float(number)
        except ValueError:
            equals = ""
        if not equals or not name.strip():
            raise UsageError(f"expected --rate STRATUM=RATE, found {setting!r}; as in flagged=0.8")
    return rates


def plan(
    width: Annotated[float, Option(metavar="WIDTH", help="Target width of the 95 % interval for recall.")] = 0.1,
    flagged: Annotated[
        float | None, Option("--flag-rate", metavar="SHARE", help="Share of items the system flags; assumed: 0.1.")
    ] = None,
    precision: Annotated[float | None, Option(metavar="SHARE", help="Expected precision; assumed: 0.8.")] = None,
    missed: Annotated[float | None, Option(metavar="RATE", help="Expected error rate among unflagged items.")] = None,
    recall: Annotated[float | None, Option(metavar="SHARE", help="Expected recall, instead of --missed.")] = None,
    items: Annotated[
        int | None, Option("--corpus-size", min=2, metavar="N", help="Size of the corpus; default: unlimited.")
    ] = None,
    decisions: Annotated[
        Path | None, Option(metavar="FILE", help="The system's decisions on the corpus, with scores.")
    ] = None,
    system: Annotated[str | None, Option(metavar="NAME", help="The system of --decisions to plan for.")] = None,
    strata: Annotated[str, Option(metavar="score:N", help="The strata of --decisions.")] = "score:10",
    rate: Annotated[
        list[str],
        Option(metavar="STRATUM=RATE", help="Expected error rate of a stratum; 'score' (default) uses the scores."),
    ] = [],
    errors: Annotated[
        int | None, Option(min=1, metavar="N", help="Errors that an exhaustively judged corpus should contain.")
    ] = None,
    raters: Annotated[
        int | None,
        Option(
            "--raters-per-item",
            min=1,
            metavar="N",
            help="Raters per item; default: computed from their accuracy, or 1.",
        ),
    ] = None,
    right: Annotated[
        float, Option(metavar="SHARE", help="How often the majority of an item's raters should be right.")
    ] = 0.95,
    rater_accuracy: Annotated[
        float | None, Option(min=0, max=1, metavar="SHARE", help="How often one rater is right.")
    ] = None,
    kappa: Annotated[
        float | None, Option(metavar="KAPPA", help="Expected kappa of two raters, instead of their accuracy.")
    ] = None,
    judgments: Annotated[
        Path | None, Option(metavar="FILE", help="Judgments from a pilot, with --gold, instead of --rater-accuracy.")
    ] = None,
    gold: Annotated[Path | None, Option(metavar="FILE", help="Known answers for items of the pilot.")] = None,
    merge: Merge = [],
    assist: Annotated[
        str, Option(metavar="SE,SP", help="A cheap judge of every item: its sensitivity and specificity.")
    ] = "",
    items_per_hour: Annotated[float, Option(metavar="N", help="Items a rater judges per hour.")] = 125.0,
    wage: Annotated[float, Option(min=0, metavar="MONEY", help="Cost of an hour.")] = 0.0,
    population: Population = "wider",
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """Compare the cost of exhaustive annotation, verification, and sampling (the paper's and ours)."""
    if missed is None and recall is None and not decisions:
        raise UsageError("expected --missed RATE or --recall R, or --decisions FILE")
    result = api.plan(
        width=width,
        flag_rate=flagged,
        precision=precision,
        missed=missed,
        recall=recall,
        corpus_size=items or inf,
        decisions=decisions,
        system=system or "",
        strata=strata,
        rates=None if rate in ([], ["score"]) else parse_rates(rate),
        errors=errors,
        raters_per_item=raters,
        right=right,
        rater_accuracy=rater_accuracy,
        kappa=kappa,
        judgments=Reading(merge=merge).read(judgments) if judgments else None,
        gold=gold,
        items_per_hour=items_per_hour,
        wage=wage,
        assist=_skill_of_judge(assist) if assist else None,
        population=population,
    )
    warn(result.warnings)
    show(result, table=table, as_json=as_json)


def _skill_of_judge(text: str) -> tuple[float, float]:
    """`0.8,0.95` as the sensitivity and specificity of a cheap judge."""
    try:
        sensitivity, specificity = (float(part) for part in text.split(","))
    except ValueError:
        sensitivity = specificity = nan
    if not (0 <= sensitivity <= 1 and 0 <= specificity <= 1):
        raise UsageError(f"expected --assist SE,SP as in 0.8,0.95, found {text!r}")
    return sensitivity, specificity
