"""Commands on systems and what they flag: decide and sample."""

from __future__ import annotations

import shlex
from typing import Annotated, Unpack

from rich.console import Console
from rich.progress import Progress

from grater import options as opt
from grater.cli.command import Done
from grater.cli.study import answers_of, opened, pasted
from grater.detect.decisions import on_edits
from grater.detect.systems import load_systems
from grater.errors import UsageError
from grater.model import EDIT
from grater.options import Opt, described
from grater.sheet import counted


@described
def run_systems(
    study: opt.StudyName,
    *,
    systems: opt.SystemNames,
    kind: Annotated[str, Opt("The kind of items an external system decides on.", "KIND")] = "",
    **correcting: Unpack[opt.Correcting],
) -> Done:
    """Run systems on the essays and store their decisions; a second run changes nothing.

    If its decisions differ from those stored under the same name, the run is refused.
    """
    from grater.annotate import content
    from grater.annotate.systems import decide, places_of

    console = Console(stderr=True)
    with (
        opened(study) as store,
        Progress(console=console, transient=True, disable=not console.is_terminal) as bar,
    ):
        with store.read() as tx:
            n_essays = content.n_essays(tx)
            places = places_of(tx, kind) if kind and kind != EDIT else None
            essays = list(content.own_essays(tx)) if kind == EDIT else []
        cache, settings = answers_of(study, correcting)
        detectors = load_systems(systems, places=places, chat={**settings, "cache": cache})
        detectors = on_edits(detectors, essays) if kind == EDIT else detectors
        task = bar.add_task("deciding", total=n_essays * len(detectors))
        done = decide(store, detectors, advance=lambda n: bar.advance(task, n))
    messages = [
        f"{each.system}: {counted(each.n_items, 'item')}, {each.n_flagged:,} flagged, "
        f"{counted(each.n_new, 'new decision')}"
        for each in done
    ]
    of = f"{pasted(study)} --system {shlex.quote(done[0].system)}"
    sampling = f"grater job new {pasted(study)} --design sampling --system {shlex.quote(done[0].system)} --n 500"
    messages.append(
        f"next: {f'grater study sample {of} --kind edit --strata type --n 120' if kind == EDIT else sampling}"
    )
    return Done([each.to_dict() for each in done], messages)


@described
def draw_sample(
    study: opt.StudyName,
    *,
    system: opt.SystemName,
    n: opt.NumberDrawn = None,
    flagged: opt.NumberFlagged = None,
    strata: Annotated[str, Opt(opt.STRATA)] = "decision",
    allocation: opt.Allocation = "paper",
    rates: opt.Rates = None,
    kind: opt.KindName = "",
    add_to: Annotated[str, Opt("An earlier sample, to which the system is added.", "SAMPLE")] = "",
    name: Annotated[str, Opt("The sample's name.")] = "sample",
    width: opt.Width = None,
    seed: opt.Seed = 0,
) -> Done:
    """Draw a sample, or add a system to one; earlier judgments are reused."""
    from grater.annotate.samples import NewSample, draw, extend, kind_of

    if n is None and not add_to:
        raise UsageError("expected `n`, the number of items to draw, or `add_to`, an earlier sample")
    if width is not None and not add_to:
        raise UsageError("expected `add_to` with `width`: a first sample has no judgments yet")
    with opened(study) as store:
        if add_to:
            name = name if name != add_to and name != "sample" else f"{add_to}+{system}"
            drawn = extend(store, add_to, name, system, n=n, width=width)
        else:
            sizes = {"n": n, "flagged": flagged, "strata": strata, "allocation": allocation, "seed": seed}
            sent = NewSample.checked(name=name, system=system, kind=kind, **sizes)
            drawn = draw(store, sent, rates=rates)  # type: ignore[arg-type]
    n_items = drawn.sample.frame["item"].n_unique()
    messages = [f"{name}: {counted(n_items, 'item')}, {len(drawn.left):,} of them not judged yet"]
    messages += [f"note: {note}" for note in drawn.notes]
    task = f"verify --system {shlex.quote(system)}" if kind_of(drawn.sample) == EDIT else "usage"
    again = f"grater job new {pasted(study)} --task {task} --sample {name}"
    if drawn.left:
        messages.append(f"next: {again}; or judge elsewhere and import judgments")
    else:
        messages.append(f"next: grater study evaluate {pasted(study)} --sample {name}")
    notes = list(drawn.notes)
    return Done({"sample": name, "items": len(drawn.sample), "to_judge": list(drawn.left), "notes": notes}, messages)
