"""ERRANT types of the official CoNLL-2014 edits beside the annotators' own tags: `python benchmarks/nucle_types.py`.

The annotators' edits stay as they are; each gets a type by our rules, and by ERRANT where a file that it typed is
named: `python benchmarks/nucle_types.py ERRANT.m2`. A type agrees with a tag if their maps (`corpora.tagsets.maps`,
either direction) lead from one to the other, whatever the operation (M, R, U). Two groups of tags: those that name
what ERRANT names too, and those that it can only put under a broader heading (wrong words, links, redundancies,
others). Tags with no counterpart, edits without a correction and edits that overlap an earlier one are left out,
the same for both.

Bryant, Felice & Briscoe 2017 have no such figure: judges rated the types of sampled edits (good, acceptable, bad),
with no gold tags. What can be compared is ERRANT itself on the same edits.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from grater.corpora import read_corpus
from grater.corpora.formats import ignore_loss
from grater.corpora.parallel import assign_types
from grater.corpora.tagsets import TAGSETS
from grater.corpora.tagsets.maps import CONLL14_FROM_ERRANT, ERRANT_FROM_CONLL14
from grater.model import Essay, Interval
from grater.rng import generator
from grater.sheet import Sheet, as_markdown, count, interval
from grater.statistics.bootstrap import by_sentence, resampled_sums
from grater.statistics.intervals import percentile_interval
from grater.text.edits.engine import GraterEngine

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("GRATER_DATA") or ROOT / ".." / "shared" / "data")
OFFICIAL = DATA / "conll14" / "official" / "official-2014.combined.m2"
NAMED = (
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
"""Tags that name a category of ERRANT's; `Mec` is three of them."""
N_RESAMPLES = 2_000
MOST_CONFUSIONS = 12


class Typed(NamedTuple):
    """One edit: its sentence, the annotator's tag and the main type that a classifier gave it."""

    sentence: int
    tag: str
    main: str


def main() -> int:
    if not OFFICIAL.exists():
        print(f"{OFFICIAL}: expected the official annotations of CoNLL-2014, found no such file", file=sys.stderr)
        return 2
    tagged = list(read_corpus(OFFICIAL))
    by_engine = {"grater": list(assign_types(tagged, GraterEngine(), ignore_loss))}
    if len(sys.argv) > 1:
        by_engine["ERRANT"] = list(read_corpus(Path(sys.argv[1])))
    typed = {name: list(typed_edits(tagged, essays)) for name, essays in by_engine.items()}
    print(as_markdown(scores(typed, len(tagged))))
    for name, edits in typed.items():
        print(as_markdown(confusions(name, edits)))
    return 0


def typed_edits(tagged: Sequence[Essay], typed: Sequence[Essay]) -> Iterator[Typed]:
    """Edits whose tag became a type, sentence by sentence."""
    for number, (before, after) in enumerate(zip(tagged, typed, strict=True)):
        types = {(edit.rater, edit.span, edit.replacements[:1]): edit.tag for edit in after.edits}
        for edit in before.edits:
            kind = types.get((edit.rater, edit.span, edit.replacements[:1]), "")
            if kind in TAGSETS["errant"] and kind != "UNK" and accepted(edit.tag):
                yield Typed(number, edit.tag, main_type(kind))


def accepted(tag: str) -> set[str]:
    """The main types that agree with a tag, by the maps of both directions."""
    there = ERRANT_FROM_CONLL14[tag].codes
    back = [code for code, mapped in CONLL14_FROM_ERRANT.items() if tag in mapped.codes]
    return {main_type(code) for code in (*there, *back)} - {"UNK"}


def main_type(code: str) -> str:
    return code.partition(":")[2] or code


def scores(typed: dict[str, list[Typed]], n_sentences: int) -> Sheet:
    tags = sorted({edit.tag for edits in typed.values() for edit in edits})
    broad = [tag for tag in tags if tag not in NAMED]
    groups = {"named by both": [*NAMED], "broader only": broad, **{tag: [tag] for tag in (*NAMED, *broad)}}
    held_out = {name: [edit for edit in edits if edit.sentence >= n_sentences // 2] for name, edits in typed.items()}
    rows = [_row("named by both, second half", NAMED, held_out, n_sentences)]
    rows += [_row(name, members, typed, n_sentences) for name, members in groups.items()]
    return Sheet("Types that agree with the tags", ("tag", "edits", *typed), tuple(rows))


def _row(name: str, tags: Sequence[str], typed: dict[str, list[Typed]], n_sentences: int) -> tuple[str, ...]:
    own = [[edit for edit in edits if edit.tag in tags] for edits in typed.values()]
    return (name, count(max(map(len, own))), *(interval(agreement(edits, n_sentences)) for edits in own))


def agreement(edits: Sequence[Typed], n_sentences: int) -> Interval:
    cells = np.zeros((n_sentences, 1, 2))
    for edit in edits:
        cells[edit.sentence, 0] += (edit.main in accepted(edit.tag), 1)
    rng = generator(0, "nucle-types")
    sums = resampled_sums(cells, by_sentence(n_sentences), n_resamples=N_RESAMPLES, rng=rng)
    right, n = cells.sum(axis=(0, 1))
    drawn = sums[sums[:, 1] > 0]
    return percentile_interval(right / n, drawn[:, 0] / drawn[:, 1], n_units=n_sentences)


def confusions(name: str, edits: Sequence[Typed]) -> Sheet:
    wrong = Counter(
        (edit.tag, edit.main) for edit in edits if edit.tag in NAMED and edit.main not in accepted(edit.tag)
    )
    rows = tuple((tag, main, count(n)) for (tag, main), n in wrong.most_common(MOST_CONFUSIONS))
    return Sheet(f"The commonest confusions, {name}", ("tag", "type", "edits"), rows)


if __name__ == "__main__":
    sys.exit(main())
