"""Detectors on learner text against one judge, another, and ten: `python -m benchmarks.detect learners`.

CoNLL-2014 with the ten annotators of Bryant & Ng 2015.  Thresholds come from corrupted native text; nothing was tuned
here.  An item is an error for an annotator by a `Prep` edit on it (docs/corpora.md): of *choice* unless the edit
deletes, *extraneous* if it does.  `clean` leaves out, as T&C 2008 does, judgments of places where the annotator has
another edit within two words.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
import polars as pl
from benchmarks.detect.data import cell, conll14, keep, table

from grater.corpora.judgments import items_of, judgments_from_edits, overlaps, reach
from grater.corpora.normalise import TokenEdit, normalised_edits
from grater.detect.decisions import DecisionRows
from grater.detect.detector import Detector
from grater.detect.systems import load_system
from grater.evaluate.cases import Cases, cases_of
from grater.evaluate.standard import Scored, against, each_rater, weighted
from grater.evaluate.truth import Truth
from grater.model import DELETE, Essay
from grater.statistics.bootstrap import Chance
from grater.tables import Judgments, Table
from grater.text.tokens import tokens_of

NEAR = 2
OFFICIAL = {"A7": "annotator 0 (A7)", "A3": "annotator 1 (A3)"}
AT_LEAST = (1, 2, 3, 5)
TYPES = ("choice", "extraneous", "missing")
CHANCE = Chance()


def main(names: list[str]) -> dict[str, object]:
    essays = conll14()
    detectors = [load_system(name) for name in names]
    decisions = decided(essays, detectors)
    judgments = judgments_from_edits(essays, items_of(decisions), tags={"Prep"}, name="CoNLL-2014")
    noisy = noisy_judgments(essays, decisions)
    result: dict[str, object] = {}
    for context, judged in (("all", judgments), ("clean", without(judgments, noisy))):
        for type_name in TYPES:
            scores = scored(of_type(decisions, type_name), judgments_of_type(judged, type_name))
            result[f"{type_name}, {context}"] = shown(f"{type_name}, {context} contexts", scores)
    keep("learners", result)
    return result


def decided(essays: list[Essay], detectors: list[Detector]) -> Table:
    rows = DecisionRows(with_places=True)
    for detector in detectors:
        rows.add(essays, detector)
    return Table("decisions", rows.decisions(), "CoNLL-2014")


def of_type(decisions: Table, type_name: str) -> Table:
    """Flags of one type only, on the items that can have it."""
    kind = "prep-missing" if type_name == "missing" else "prep"
    flagged = pl.col("flagged") & (pl.col("type") == type_name).fill_null(value=False)
    return replace(decisions, frame=decisions.frame.filter(pl.col("kind") == kind).with_columns(flagged=flagged))


def judgments_of_type(judged: Judgments, type_name: str) -> Judgments:
    """An error is one only if its correction is of the type: a deletion for extraneous, another word for choice."""
    if type_name == "missing":
        return judged
    deletes = pl.col("alternatives").fill_null("").str.split("|").list.contains(DELETE)
    is_error = (pl.col("label") == "error") & (deletes if type_name == "extraneous" else ~deletes)
    label = pl.when(is_error).then(pl.lit("error")).otherwise(pl.lit("ok"))
    return replace(judged, frame=judged.frame.with_columns(label=label))


def noisy_judgments(essays: list[Essay], decisions: Table) -> set[tuple[str, str]]:
    """(item, rater) where the rater has another edit within two words, or one of another tag on the item."""
    by_essay = defaultdict(list)
    for item_id, item in items_of(decisions).items():
        by_essay[item.essay_id].append((item_id, item))
    found = set()
    for essay in essays:
        tokens = tokens_of(essay)
        edits = [edit for edit in normalised_edits(essay) if not edit.is_empty]
        for item_id, item in by_essay[essay.essay_id]:
            place = reach(item.span, tokens)
            if place:
                found |= {(item_id, edit.rater) for edit in edits if is_noise(edit, *place)}
    return found


def is_noise(edit: TokenEdit, start: int, end: int) -> bool:
    if overlaps(edit, start, end):
        return edit.tag != "Prep"
    return edit.start <= end + NEAR and edit.end >= start - NEAR


def without(judged: Judgments, noisy: set[tuple[str, str]]) -> Judgments:
    pairs = pl.DataFrame(sorted(noisy), schema=["item", "rater"], orient="row")
    return replace(judged, frame=judged.frame.join(pairs, on=["item", "rater"], how="anti", maintain_order="left"))


def scored(decisions: Table, judged: Judgments) -> dict[str, list[Scored]]:
    """Every system against each rater, at least so many of the raters, and weighted by their share."""
    cases = cases_of(decisions, judged)
    by_rater = each_rater(cases, chance=CHANCE)
    found = {OFFICIAL.get(rater, rater): by_rater[rater] for rater in sorted(by_rater, key=_order)}
    for least in AT_LEAST:
        found[f"at least {least} of ten"] = against(cases, at_least(cases, least), chance=CHANCE)
    share = Truth("share", cases.share, is_graded=True, is_of_votes=True)
    found["weighted by share"] = weighted(cases, share, chance=CHANCE)
    return found


def _order(rater: str) -> tuple[bool, int]:
    return rater not in OFFICIAL, -int(rater[1:]) if rater in OFFICIAL else int(rater[1:])


def at_least(cases: Cases, least: int) -> Truth:
    values = np.where(cases.n_votes > 0, (cases.n_error >= least).astype(float), np.nan)
    return Truth(f"at least {least}", values, is_graded=False)


def shown(title: str, scores: dict[str, list[Scored]]) -> dict[str, object]:
    systems = [each.system for each in next(iter(scores.values()))]
    print(f"\n### {title}\n")
    headers = ["judge", "errors", *(f"{system} {score}" for system in systems for score in ("P", "R"))]
    rows = []
    for judge, found in scores.items():
        counts = found[0].counts
        cells = [cell(each[score]) for each in found for score in ("precision", "recall")]
        rows.append([judge, f"{counts.hit + counts.miss:.0f}", *cells])
    table(headers, rows)
    return {
        judge: [
            {
                "system": each.system,
                "flags": each.counts.hit + each.counts.false_alarm,
                "errors": each.counts.hit + each.counts.miss,
                "precision": each["precision"].as_json(),
                "recall": each["recall"].as_json(),
            }
            for each in found
        ]
        for judge, found in scores.items()
    }
