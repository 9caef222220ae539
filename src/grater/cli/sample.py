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
    entries,
    print_json,
    reading_all,
    require_different,
    require_outputs,
    say,
    warn,
)
from grater.corpora.judgments import items_of
from grater.errors import UsageError
from grater.measure.crowd.simulate import Crowd
from grater.measure.sampling.draw import draws_of, few_flags, to_judge
from grater.measure.sampling.plan import Allocation
from grater.options import parse_rates
from grater.sheet import counted
from grater.signature import Signature
from grater.tables import (
    read_decisions,
    read_items,
    read_judgments,
    read_sample,
    write_table,
    write_worksheet,
)

DEFAULT = Crowd()


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


def _share(text: str) -> object:
    return Option(metavar="SHARE", help=text)


def simulate(
    out: Annotated[Path, Option(metavar="FILE", help="Write the judgments to this file.")],
    items: Annotated[int, Option("--n-items", help="Number of items.")] = DEFAULT.n_items,
    raters: Annotated[int, Option("--n-raters", help="Number of raters.")] = DEFAULT.n_raters,
    judgments: Annotated[int, Option("--judgments-per-item", help="Judgments per item.")] = DEFAULT.n_each,
    labels: Annotated[str, Option(metavar="LABEL,LABEL", help="The labels to choose from.")] = ",".join(
        DEFAULT.labels
    ),
    prevalence: Annotated[str, Option(metavar="N,N", help="Frequency of each label; default: equal.")] = "",
    skill: Annotated[float, Option(help="A skilled rater's mean chance of being right.")] = DEFAULT.skill,
    spread: Annotated[float, Option(help="Standard deviation of --skill.")] = DEFAULT.spread,
    spammers: Annotated[float, _share("Share of raters who answer at random.")] = DEFAULT.spammers,
    biased: Annotated[float, _share("Share of raters who prefer one label.")] = DEFAULT.biased,
    lazy: Annotated[float, _share("Share of raters who nearly always give the same answer.")] = DEFAULT.lazy,
    turning: Annotated[float, _share("Share of raters who become spammers halfway through.")] = DEFAULT.turning,
    difficulty: Annotated[float, Option(help="Mean share of guesses per item.")] = DEFAULT.difficulty,
    truth: Annotated[
        Path | None, Option("--true-labels-out", metavar="FILE", help="Also write the true labels.")
    ] = None,
    skills: Annotated[Path | None, Option(metavar="FILE", help="Also write the raters' kinds and skills.")] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Simulate judgments by raters of known skill, for planning and testing."""
    require_outputs([out, truth, skills], [])
    try:
        shares = tuple(float(entry) for entry in entries([prevalence]))
    except ValueError:
        raise UsageError(f"expected numbers for --prevalence, found {prevalence!r}; as in 0.2,0.8") from None
    simulated = api.simulate(
        n_items=items,
        n_raters=raters,
        judgments_per_item=judgments,
        labels=tuple(entries([labels])),
        prevalence=shares,
        skill=skill,
        spread=spread,
        spammers=spammers,
        biased=biased,
        lazy=lazy,
        turning=turning,
        difficulty=difficulty,
        seed=seed,
    )
    write_table(simulated.judgments, out)
    if truth:
        write_table(simulated.truth, truth)
    if skills:
        write_table(simulated.raters, skills)
    if as_json:
        print_json({**simulated.to_dict(), "signature": str(Signature("simulate", {"seed": str(seed)}))})
    else:
        kinds = ", ".join(f"{n} {kind}" for kind, n in simulated.n_by_kind.items())
        n_judgments, n_items = counted(len(simulated.judgments), "judgment"), counted(len(simulated.truth), "item")
        say(f"{out}: {n_judgments} of {n_items} by {kinds}")
