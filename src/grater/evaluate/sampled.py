"""Precision and recall of systems from a judged sample.

T&C 2008, section 6: draw from what the system flags and from what it does not, judge the draw, weigh what was found
by the sizes of the strata.  The paper's normal intervals stand beside ours (`sampling/scores.py`).  Departures:
populations are finite unless `fpc` is off; several systems and versions share one sample; a drawn item without a
usable judgment is left out of its cell, as if it had not been drawn, and is counted.

With fewer than three errors among the judged items that a system does not flag, no interval for recall is to be
trusted; a warning says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from grater.agreement.unknown import UNKNOWN
from grater.errors import BadInput, Problem
from grater.evaluate.sampled_cells import Cells, cells_of
from grater.evaluate.sampled_pairs import Difference, differences
from grater.evaluate.sampled_truth import truth_of
from grater.evaluate.sampled_weights import WeightedUp, weighted_up
from grater.sampling.reuse import draws_of
from grater.sampling.scores import Scores, Stratum, expected_misses, normal_scores, scores
from grater.sampling.strata import system_names
from grater.signature import Signature, digest
from grater.tables import Judgments, Sample, Table

FEW_MISSES = 3


@dataclass(frozen=True, slots=True)
class SystemEstimate:
    """One system: our scores, the paper's, those by inclusion probabilities alone, and the cells they come from."""

    system: str
    scores: Scores
    paper: Scores
    weighted: WeightedUp
    strata: tuple[Stratum, ...]


@dataclass(frozen=True, slots=True)
class Sampled:
    """Every system asked for, their differences, and what a reader must know of the sample."""

    systems: tuple[SystemEstimate, ...]
    differences: tuple[Difference, ...]
    n_items: float
    n_drawn: int
    n_judged: int
    warnings: tuple[str, ...]
    signature: Signature

    @property
    def n_unjudged(self) -> int:
        return self.n_drawn - self.n_judged


def sampled(
    decisions: Table,
    sample: Sample,
    judgments: Judgments,
    *,
    systems: Sequence[str] = (),
    truth: str = "majority",
    labels: Judgments | None = None,
    fpc: bool = True,
    level: float = 0.95,
) -> Sampled:
    """Estimates for the systems named, or for those the sample was drawn for."""
    names = tuple(systems) or _drawn_systems(decisions, sample)
    verdicts = truth_of(judgments, truth)
    found = cells_of(decisions, sample, verdicts, names, labels=labels)
    n_drawn = sum(cell.n_drawn for cell in found.cells)
    n_judged = round(sum(cell.n_judged for cell in found.cells))
    if not n_judged:
        raise BadInput(
            Problem(judgments.name, f"expected judgments of the {n_drawn} items of {sample.name}, found none")
        )
    estimates = tuple(
        _estimate(
            found, name, weighted_up(decisions, sample, verdicts, name, fpc=fpc, level=level), fpc=fpc, level=level
        )
        for name in names
    )
    pairs = tuple(differences(found, fpc=fpc, level=level))
    signature = _signature(found, sample, judgments, truth=truth, fpc=fpc, level=level)
    warnings = (*_left_out(sample, judgments, n_drawn - n_judged), *_warnings(estimates))
    return Sampled(estimates, pairs, found.n_items, n_drawn, n_judged, warnings, signature)


def _drawn_systems(decisions: Table, sample: Sample) -> tuple[str, ...]:
    draws = draws_of(sample)
    return tuple(draw.system for draw in draws) if draws else tuple(system_names(decisions))


def _estimate(cells: Cells, system: str, weighted: WeightedUp, *, fpc: bool, level: float) -> SystemEstimate:
    strata = cells.of(system)
    ours, paper = scores(strata, fpc=fpc, level=level), normal_scores(strata, level=level)
    return SystemEstimate(system, ours, paper, weighted, tuple(strata))


def _left_out(sample: Sample, judgments: Judgments, n_unjudged: int) -> Iterator[str]:
    """What has no part in the estimates, and how much of it there is."""
    if n_unjudged:
        yield f"{n_unjudged} drawn items have no usable judgment; they are taken to be like the rest of their stratum"
    n_unknown = int((judgments.frame["label"].cast(pl.String) == UNKNOWN).sum())
    if n_unknown:
        yield f"{n_unknown} judgments say unknown and are left out"
    strangers = judgments.frame.select("item").unique().join(sample.frame, on="item", how="anti")
    if len(strangers):
        yield f"{len(strangers)} judged items are not in the sample and are left out"


def _warnings(estimates: Sequence[SystemEstimate]) -> Iterator[str]:
    for estimate in estimates:
        n_misses = expected_misses(estimate.strata)
        if n_misses < FEW_MISSES:
            yield (
                f"{estimate.system}: {n_misses:g} missed errors among the judged items; below {FEW_MISSES} its "
                "limits for recall hold less often than they say: judge more items that are not flagged"
            )
        empty = sum(each.size for each in estimate.strata if not each.n_judged)
        if empty:
            yield f"{estimate.system}: nothing was judged in strata of {empty:g} items; taken to be like the rest"


def _signature(
    cells: Cells, sample: Sample, judgments: Judgments, *, truth: str, fpc: bool, level: float
) -> Signature:
    rows = judgments.frame.select("item", "rater", "label").sort("item", "rater").iter_rows()
    options = {
        "cells": str(len(cells.cells)),
        "fpc": "yes" if fpc else "no",
        "judgments": digest(f"{item}|{rater}|{label}" for item, rater, label in rows),
        "level": f"{level:g}",
        "sample": digest(sorted(sample.frame["item"].unique().to_list())),
        "truth": truth,
    }
    if sample.meta is not None and sample.meta.seed is not None:
        options["seed"] = str(sample.meta.seed)
    return Signature("sampled", options)
