"""Whether types of edits agree with annotators' tags: ours and ERRANT's on the official edits of CoNLL-2014.

The annotators' edits stay as they are; each gets a type by our rules, and by ERRANT where $ERRANT_TYPED names an M2
file that it typed.  A type agrees with a tag if the maps of the tag sets lead from one to the other, whatever the
operation (M, R, U). *Named by both* are tags that name what ERRANT names too; the others only fit a broader
heading.  Left out, the same for both: tags without a counterpart, edits without a correction and edits that overlap
an earlier one.  Intervals resample sentences.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import numpy as np
from benchmarks.harness import DATA, GRATER, WORK, Size, Table, cost

import grater
from grater.corpora.tagsets import MAPS, TAGSETS
from grater.model import Essay

OFFICIAL = DATA / "conll14" / "official" / "official-2014.combined.m2"
NAMED = frozenset(
    (
        "ArtOrDet",
        "Mec",
        "Nn",
        "Npos",
        "Pform",
        "Pref",
        "Prep",
        "SVA",
        "V0",
        "Vform",
        "Vm",
        "Vt",
        "WOadv",
        "WOinc",
        "Wform",
    )
)
"""Tags that name a category of ERRANT's; `Mec` is three of them."""
N_RESAMPLES = 2_000


def measure(size: Size) -> Iterator[Table]:
    WORK.mkdir(exist_ok=True)
    cost([*GRATER, "corpus", "convert", OFFICIAL, WORK / "typed.m2", "--types", "errant"])
    files = {"grater": WORK / "typed.m2"} | (
        {"ERRANT": os.environ["ERRANT_TYPED"]} if "ERRANT_TYPED" in os.environ else {}
    )
    tagged = grater.read_corpus(OFFICIAL)
    rows = []
    for name, file in files.items():
        typed = list(typed_edits(tagged, grater.read_corpus(file)))
        for group, is_named in (("named by both", True), ("broader only", False)):
            own = [(sentence, agrees) for sentence, tag, agrees in typed if (tag in NAMED) == is_named]
            rows.append(
                [f"{name}, {group}", len(own), *share(own, len(tagged), 20 if size == "short" else N_RESAMPLES)]
            )
    yield Table("Types that agree with the tags", ("types by", "edits", "agree", "low", "high"), rows)


def typed_edits(tagged: Sequence[Essay], typed: Sequence[Essay]) -> Iterator[tuple[int, str, bool]]:
    """The sentence, the tag, and whether the type agrees, of each edit whose tag became a type."""
    for number, (before, after) in enumerate(zip(tagged, typed, strict=True)):
        types = {(edit.rater, edit.span, edit.replacements[:1]): edit.tag for edit in after.edits}
        for edit in before.edits:
            kind = types.get((edit.rater, edit.span, edit.replacements[:1]), "")
            good = accepted(edit.tag)
            if kind in TAGSETS["errant"] and kind != "UNK" and good:
                yield number, edit.tag, main_type(kind) in good


def accepted(tag: str) -> set[str]:
    """The main types that agree with a tag, by the maps of both directions."""
    there = MAPS["conll14", "errant"][tag].codes
    back = [code for code, mapped in MAPS["errant", "conll14"].items() if tag in mapped.codes]
    return {main_type(code) for code in (*there, *back)} - {"UNK"}


def main_type(code: str) -> str:
    return code.partition(":")[2] or code


def share(edits: Sequence[tuple[int, bool]], n_sentences: int, n_resamples: int) -> list[float]:
    cells = np.zeros((n_sentences, 2))
    for sentence, agrees in edits:
        cells[sentence] += agrees, 1
    drawn = (
        np.random.default_rng(0).multinomial(n_sentences, np.full(n_sentences, 1 / n_sentences), n_resamples) @ cells
    )
    shares = drawn[:, 0] / drawn[:, 1]
    right, n = cells.sum(axis=0)
    return [round(float(value), 3) for value in (right / n, *np.quantile(shares, [0.025, 0.975]))]
