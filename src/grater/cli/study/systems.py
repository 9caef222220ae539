"""Commands on systems and what they flag: decide, sample, design and mine."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

from rich.console import Console
from rich.progress import Progress
from typer import Argument, Option

from grater.annotate import content, jobs, progress, samples
from grater.annotate.adjudication import decider_of
from grater.annotate.jobs import Job
from grater.annotate.mining import (
    JUDGMENTS,
    NewBalanced,
    NewList,
    add_list,
    balanced_job,
    far,
    lists,
    mine_study,
    the_list,
    verdict_table,
)
from grater.annotate.samples import DESIGNS, MISSING, Drawn, NewSample, Order, draw, extend, notes_on, start
from grater.annotate.store import Store, open_store
from grater.annotate.systems import decide, places_of
from grater.cli.command import Json, Seed, print_json, say
from grater.cli.mine import Each, Gold, LeastBigram, Model, Most, Ratio, Text, Web1T, counter_of, source_of
from grater.cli.sample import parse_rates
from grater.cli.study import StudyName, pasted
from grater.detect.mining.ranking import MOST, RATIO
from grater.detect.mining.review import N_EACH, N_GOLD, Balanced
from grater.detect.systems import load_systems
from grater.errors import UsageError
from grater.measure.sampling.plan import Allocation
from grater.model import Json as JsonValue
from grater.sheet import counted
from grater.tables import read_items, write_table


def run_systems(
    study: StudyName,
    system: Annotated[
        list[str],
        Option(metavar="NAME", help="A detector, a model file, or an external system; NEW=NAME renames it."),
    ],
    kind: Annotated[
        str, Option(metavar="KIND", help="The kind of items an external system decides on, instead of prepositions.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Run systems on the essays and store their decisions; a second run changes nothing.

    If its decisions differ from those stored under the same name, the run is refused.
    """
    console = Console(stderr=True)
    with (
        open_store(study) as store,
        Progress(console=console, transient=True, disable=not console.is_terminal) as bar,
    ):
        with store.read() as tx:
            n_essays = content.n_essays(tx)
            places = places_of(tx, kind) if kind else None
        detectors = load_systems(system, places=places)
        task = bar.add_task("deciding", total=n_essays * len(detectors))
        done = decide(store, detectors, advance=lambda n: bar.advance(task, n))
    if as_json:
        print_json([each.to_dict() for each in done])
        return
    for each in done:
        say(f"{each.system}: {counted(each.n_items, 'item')}, {each.n_flagged:,} flagged, {each.n_new:,} new")
    say(f"next: grater study design {pasted(study)} sampling --system {shlex.quote(done[0].system)} --n 500")


def draw_sample(
    study: StudyName,
    system: Annotated[str | None, Option(metavar="NAME", help="The system to draw a first sample for.")] = None,
    new_system: Annotated[
        str | None, Option("--add-system", metavar="NAME", help="Add a system to --sample.")
    ] = None,
    old: Annotated[str, Option("--sample", metavar="NAME", help="The sample to add to.")] = "sample",
    n: Annotated[int | None, Option("--n", min=1, help="Total number of items.")] = None,
    flagged: Annotated[int | None, Option(min=0, help="Number of flagged items in the sample.")] = None,
    strata: Annotated[str, Option(help="How to stratify: decision or score:N.")] = "decision",
    allocation: Annotated[Allocation, Option(help="How to allocate N to the strata.")] = "paper",
    rate: Annotated[list[str], Option(metavar="STRATUM=RATE", help="Expected error rate, for neyman.")] = [],
    kind: Annotated[str, Option(help="The kind of items, where the system looks at several.")] = "",
    name: Annotated[str, Option(help="The sample's name.")] = "sample",
    width: Annotated[
        float | None,
        Option(
            metavar="WIDTH",
            help="With --add-system: add the fewest items that narrow the interval of its recall to this width.",
        ),
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Draw a sample, or add a system to one; earlier judgments are reused."""
    if (system is None) == (new_system is None) or (system and n is None):
        raise UsageError("expected --system NAME --n N for a first sample, or --add-system NAME for another system")
    if width is not None and not new_system:
        raise UsageError("expected --add-system NAME with --width: a first sample has no judgments yet")
    with open_store(study) as store:
        if system and n:
            sent = NewSample.checked(
                name=name,
                system=system,
                n=n,
                flagged=flagged,
                strata=strata,
                allocation=allocation,
                seed=seed,
                kind=kind,
            )
            drawn = draw(store, sent, rates=parse_rates(rate))
        else:
            name = name if name != old else f"{old}+{new_system}"
            drawn = extend(store, old, name, new_system or "", n=n, width=width)
    if as_json:
        notes: list[JsonValue] = list(drawn.notes)
        print_json({"sample": name, "items": len(drawn.sample), "to_judge": list(drawn.left), "notes": notes})
        return
    _print_sample(study, name, drawn)


def _print_sample(study: str, name: str, drawn: Drawn) -> None:
    n_items = drawn.sample.frame["item"].n_unique()
    say(f"{name}: {counted(n_items, 'item')}, {len(drawn.left):,} of them not judged yet")
    for note in drawn.notes:
        say(f"note: {note}")
    if drawn.left:
        again = f"grater study job {pasted(study)} --task usage --sample {name}"
        say(f"next: {again}; or judge elsewhere and import judgments")
    else:
        say(f"next: grater study evaluate {pasted(study)} --sample {name}")


def start_design(
    study: StudyName,
    design: Annotated[str, Argument(help=f"The design: one of {', '.join(DESIGNS)}.")],
    system: Annotated[str | None, Option(metavar="NAME", help="The system to evaluate.")] = None,
    n: Annotated[int | None, Option("--n", min=1, help="Number of units; default: all that fit.")] = None,
    flagged: Annotated[int | None, Option(min=0, help="Sampling: number of flagged units in the sample.")] = None,
    judgments: Annotated[
        int | None, Option("--judgments-per-item", min=1, help="Judgments per unit; default: as in the paper.")
    ] = None,
    annotators: Annotated[
        list[str], Option("--annotator", metavar="NAME", help="Give the units to this person, by name; repeatable.")
    ] = [],
    name: Annotated[str, Option(help="The job's name; default: the design's.")] = "",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Create and open the job of a design, by default with the sizes of its paper."""
    order = Order(
        design=design,
        name=name,
        system=system,
        n=n,
        n_flagged=flagged,
        judgments=judgments,
        annotators=annotators,
        seed=seed,
    )
    with open_store(study) as store:
        job = start(store, order)
        with store.read() as tx:
            n_units = progress.units_by_job(tx)[job.job_id]["work"]
            notes = notes_on(tx, samples.named(tx, job.name)) if design == "sampling" else ()
    not_filled = job.options.get(MISSING, [])
    if as_json:
        sizes: dict[str, JsonValue] = {"units": n_units, "judgments": job.judgments, MISSING: not_filled}
        sizes["notes"] = list(notes)
        print_json({"job": job.name, "design": design, "task": job.task, **sizes})
        return
    for line in not_filled if isinstance(not_filled, list) else ():
        say(f"not filled: {line}")
    for note in notes:
        say(f"note: {note}")
    size = f"{counted(n_units, 'unit')} of the task {job.task}, {counted(job.judgments, 'judgment')} each"
    say(f"{job.name}: {size} ({DESIGNS[design].source}); next: grater study invite {pasted(study)} --role annotator")


def mine(
    study: StudyName,
    name: Annotated[str, Option(help="The list's name.")] = "mined",
    given: Annotated[
        Path | None, Option("--list", metavar="FILE", help="A list from grater mine extraneous, instead of mining.")
    ] = None,
    verdicts: Annotated[
        Path | None,
        Option("--verdicts-out", metavar="FILE", help="Write the list with its verdicts; nothing is mined."),
    ] = None,
    balanced: Annotated[
        str,
        Option(
            "--balanced-job", metavar="JOB", help="Build the balanced corpus as a job of this name; nothing is mined."
        ),
    ] = "",
    judgments: Annotated[
        int, Option("--judgments-per-item", min=1, metavar="N", help="For --balanced-job: judgments per item.")
    ] = JUDGMENTS,
    n_each: Each = N_EACH,
    n_gold: Gold = N_GOLD,
    web1t: Web1T = None,
    text: Text = [],
    model: Model = None,
    least_bigram: LeastBigram = 1,
    ratio: Ratio = RATIO,
    most: Most = MOST,
    decider: Annotated[
        str | None,
        Option("--as", metavar="NAME", help="The person who gave the verdicts of --list; default: the owner."),
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Mine the essays of a study for extraneous prepositions; people accept or reject each on the page /mining."""
    if sum(map(bool, (given, verdicts, balanced))) > 1:
        raise UsageError("expected one of --list, --verdicts-out and --balanced-job")
    count = counter_of(web1t, text, model)
    with open_store(study) as store:
        if balanced:
            sent = NewBalanced.checked(name=balanced, judgments=judgments, n_each=n_each, n_gold=n_gold, seed=seed)
            job, made = balanced_job(store, _named(store, name).job_id, sent, count)
            _tell_built(study, job, made, as_json=as_json)
            return
        if given:
            add_list(store, name, read_items(given), lambda tx: decider_of(tx, decider))
        elif not verdicts and not _is_there(store, name):
            source = source_of(web1t, text, model)
            new = NewList.checked(name=name, most=most)
            mine_study(store, new, count, source=source, least_bigram=least_bigram, ratio=ratio)
        job = _named(store, name)
        if verdicts:
            with store.read() as tx:
                write_table(verdict_table(tx, job.job_id), verdicts)
        _tell(store, study, job, as_json=as_json)


def _is_there(store: Store, name: str) -> bool:
    """Whether there is such a list already: the same step again changes nothing."""
    with store.read() as tx:
        return any(job.name == name for job in lists(tx))


def _named(store: Store, name: str) -> Job:
    with store.read() as tx:
        return the_list(tx, jobs.named(tx, name).job_id)


def _tell(store: Store, study: str, job: Job, *, as_json: bool) -> None:
    with store.read() as tx:
        counts = far(tx, job.job_id)
    if as_json:
        print_json({"list": job.name, "job_id": job.job_id, **counts.to_dict()})
        return
    say(f"{job.name}: {counted(counts.all, 'trigram')}: {counts.words}")
    if counts.open:
        say(f"  go through them with grater serve {pasted(study)}, on the page /mining/{job.job_id}")


def _tell_built(study: str, job: Job, made: Balanced, *, as_json: bool) -> None:
    if as_json:
        print_json({"job": job.name, **made.to_dict()})
        return
    say("\n  ".join(made.lines(job.name)))
    say(f"  open it: grater study change {pasted(study)} --job {shlex.quote(job.name)} --state open")
