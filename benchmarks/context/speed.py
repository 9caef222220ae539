"""Sentences per CPU second, the first answer of `grater check`, memory: `python -m benchmarks.context speed`.

On sentences of learners (GUG, Heilman et al. 2014) as long as those of the FCE, by one thread.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from time import perf_counter, process_time

import numpy as np
from benchmarks.context.options import Options
from benchmarks.detect.data import lines_of

from grater.detect.context.pieces import PieceVocabulary
from grater.model import Essay
from grater.text.analysis import analyse_all

GUG = "gug/gug_annotations.tsv"
LIKE_FCE = (12, 24)
"""Pieces of the sentences whose speed is measured: 18 on average, as in the FCE."""

PROGRAM = """
import resource, sys
from grater.cli import main
try:
    main()
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, file=sys.stderr)
"""


def speed(options: Options) -> None:
    """Sentences per CPU second from text to decisions, the first answer of `grater check`, and memory."""
    kept, lengths = _like_fce(options.detector.vocabulary)
    list(options.detector.find(kept[:50]))
    started, at = process_time(), perf_counter()
    list(options.detector.find(kept))
    seconds, wall = process_time() - started, perf_counter() - at
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{len(kept):,} sentences of GUG, {np.mean(lengths):.1f} pieces each: {len(kept) / seconds:.0f} sentences, "
        f"{sum(lengths) / seconds:,.0f} pieces per CPU second ({len(kept) / wall:.0f} sentences per second); "
        f"peak {peak:.0f} MB"
    )
    _first_answer(options)


def _like_fce(vocabulary: PieceVocabulary) -> tuple[list[Essay], list[int]]:
    """Sentences of learners (GUG, Heilman et al. 2014) of the FCE's length, and their pieces."""
    essays = [Essay(str(number), line.split("\t")[1]) for number, line in enumerate(lines_of(GUG)) if number]
    kept, lengths = [], []
    for essay, sentences in zip(essays, analyse_all(essays), strict=True):
        n = sum(len(vocabulary.encode(word)) for sentence in sentences for word in sentence.words)
        if len(sentences) == 1 and LIKE_FCE[0] <= n <= LIKE_FCE[1]:
            kept.append(essay)
            lengths.append(n)
    return kept, lengths


def _first_answer(options: Options) -> None:
    times = []
    for _ in range(3):
        command = [sys.executable, "-c", PROGRAM, "check", "-", "--system", options.system]
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
        answer = subprocess.run(command, input="He arrived to the station in Monday.", text=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        times.append((perf_counter() - started, cpu))
        memory = answer.stderr.strip().splitlines()[-1]
    wall, cpu = map(min, zip(*times, strict=True))
    print(f"first answer of grater check: {wall:.2f} s, {cpu:.2f} CPU s; its peak memory {memory} MB")
