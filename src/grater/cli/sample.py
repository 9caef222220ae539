"""`grater sample` and `lab simulate`: which items to judge, and raters of known skill."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import polars as pl
from typer import Argument, Option

from grater import api
from grater.annotate.tasks.worksheet import sample_worksheet
from grater.cli.command import (
    ItemsFile,
    Json,
    Seed,
    print_json,
    reading_all,
    require_different,
    require_outputs,
    say,
    warn,
)
from grater.corpora.judgments import items_of
from grater.errors import UsageError
from grater.measure.sampling.draw import draws_of, few_flags, to_judge
from grater.measure.sampling.plan import Allocation
from grater.options import parse_rates
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
        str | None, Option("--add-system", metavar="NAME", help="Add a system to a sample.")
    ] = None,
    old: Annotated[
        Path | None, Option("--sample", metavar="OLD", help="The sample to add to; default: SAMPLE itself.")
    ] = None,
    n: Annotated[int | None, Option("--n", min=1, metavar="N", help="Number of items or units to draw.")] = None,
    flagged: Annotated[int | None, Option(min=0, metavar="N", help="Number of flagged items in the sample.")] = None,
    strata: Annotated[
        str | None, Option(help="How to stratify: decision, type, score:N or, of tables, label.")
    ] = None,
    allocation: Annotated[Allocation | None, Option(help="How to allocate N to the strata; default: paper.")] = None,
    rate: Annotated[
        list[str], Option(metavar="STRATUM=RATE", help="Expected error rate of a stratum; 'score' uses the scores.")
    ] = [],
    labels: Annotated[
        Path | None, Option("--stratum-labels", metavar="FILE", help="One cheap label per item, for --strata label.")
    ] = None,
    judged: Annotated[
        Path | None,
        Option("--judgments", metavar="FILE", help="Judgments of raters."),
    ] = None,
    list_out: Annotated[
        Path | None, Option("--to-judge", metavar="FILE", help="Write the items still to judge, in order.")
    ] = None,
    essays: Annotated[
        list[Path], Option("--essays", metavar="CORPUS", help="The corpus that the items are in.")
    ] = [],
    items: ItemsFile = None,
    sheet: Annotated[
        Path | None,
        Option("--worksheet", metavar="FILE", help="The worksheet to write, .csv or .xlsx."),
    ] = None,
    task: Annotated[str, Option(help="The task of the worksheet: error, usage or verify.")] = "error",
    width: Annotated[
        float | None,
        Option(
            metavar="WIDTH",
            help="Target width of the 95 % interval for recall.",
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
    so_far = read_judgments(judged) if judged else None
    drawn = api.sample(
        table,
        system=name,
        n=n,
        flagged=flagged,
        strata=strata,
        allocation=allocation,
        rates=parse_rates(rate),  # type: ignore[arg-type]
        stratum_labels=cheap,
        add_to=before,
        width=width,
        judgments=so_far,
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
