"""ERRANT's comparison, ours beside `errant_compare`: `python benchmarks/errant_compare.py`.

CoNLL-2014 where the data is there (one of the ten annotators against the official two), else sentences made here.  As
commands, each a fresh process from start to printed numbers, ours being the library called by `python -c`; and in
process, reading and comparing.  Best of several runs, in CPU seconds of the process and on the wall.  The counts must
be equal, or the benchmark fails.  Wanted: four times as fast as a command (issue "Part 4", Must hold).
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from grater.rng import generator
from race import ABSENT, record

ROOT = Path(__file__).resolve().parents[1]
PEER = ROOT / ".peers" / "errant"
WORK = Path(__file__).parent / "work"
DATA = Path(os.environ.get("GRATER_DATA") or ROOT / ".." / "shared" / "data") / "conll14"
N_RUNS = 7
JOB = "ERRANT compare, a process"

OURS = """
import sys
from pathlib import Path
from grater.corpora.source import open_source
from grater.evaluate.edits.errant import score_errant
from grater.evaluate.edits.metrics import precision_recall_f
from grater.evaluate.edits.edit_table import read_table
score = score_errant(*(read_table(open_source(Path(path))) for path in sys.argv[1:]))
counts = score.counts.sum(axis=0)
print(*counts.tolist(), *precision_recall_f(counts, beta=0.5).round(4).tolist())
"""

OURS_IN_PROCESS = """
import sys, time
from pathlib import Path
from grater.corpora import read_corpus
from grater.corpora.source import open_source
from grater.evaluate.edits.errant import score_errant
from grater.evaluate.edits.edit_table import read_table
def best(run):
    times = []
    for _ in range(7):
        started = time.process_time()
        run()
        times.append(time.process_time() - started)
    return min(times)
paths = [Path(path) for path in sys.argv[1:]]
essays = [list(read_corpus(path)) for path in paths]
print(
    best(lambda: score_errant(*(read_table(open_source(path)) for path in paths))),
    best(lambda: score_errant(*(list(read_corpus(path)) for path in paths))),
    best(lambda: score_errant(*essays)),
)
"""

THEIRS_IN_PROCESS = """
import contextlib, io, sys, time
from errant.commands import compare_m2
ref, hyp = sys.argv[1:]
sys.argv = ["errant_compare", "-hyp", hyp, "-ref", ref]
times = []
for _ in range(7):
    started = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        compare_m2.main()
    times.append(time.process_time() - started)
print(min(times))
"""


@dataclass(frozen=True, slots=True)
class Run:
    cpu_seconds: float
    wall_seconds: float
    output: str


def run(command: list[str]) -> Run:
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    finished = subprocess.run(command, check=True, capture_output=True, text=True)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(cpu, wall, finished.stdout)


def best_by_turns(first: list[str], second: list[str]) -> tuple[Run, Run]:
    """The best of several runs of each, by turns, so that a busy machine is busy for both."""
    runs = [(run(first), run(second)) for _ in range(N_RUNS)]
    return best([one for one, _ in runs]), best([other for _, other in runs])


def best(runs: list[Run]) -> Run:
    return Run(min(one.cpu_seconds for one in runs), min(one.wall_seconds for one in runs), runs[0].output)


def files() -> tuple[Path, Path]:
    """Reference and hypothesis."""
    reference, hypothesis = DATA / "official" / "official-2014.combined.m2", DATA / "ten-annotators" / "A1.m2"
    if reference.exists() and hypothesis.exists():
        return reference, hypothesis
    print("CoNLL-2014 is missing (set GRATER_DATA): sentences of our own making take its place", file=sys.stderr)
    return made(n_annotators=2), made(n_annotators=1)


def made(*, n_annotators: int, n_sentences: int = 1312, n_words: int = 23) -> Path:
    """Sentences of numbers with some two edits by each annotator; the same sentences every time."""
    WORK.mkdir(exist_ok=True)
    path = WORK / f"errant-{n_annotators}.m2"
    rng = generator(2014, "errant", str(n_annotators))
    blocks = []
    for number in range(n_sentences):
        words = " ".join(f"w{(number * 31 + place * 17) % 997}" for place in range(n_words))
        starts = [np.flatnonzero(rng.random(n_words) < 0.1).tolist() for _ in range(n_annotators)]
        edits = [
            f"A {start} {start + 1}|||R:{'ABC'[start % 3]}|||c{rng.integers(2)}|||REQUIRED|||-NONE-|||{annotator}\n"
            for annotator, of_annotator in enumerate(starts)
            for start in of_annotator
        ]
        blocks.append(f"S {words}\n{''.join(edits)}\n")
    path.write_text("".join(blocks), encoding="utf-8")
    return path


def main() -> int:
    reference, hypothesis = (str(path) for path in files())
    if not (PEER / "bin" / "errant_compare").exists():
        print("THE PEER IS MISSING: make peers installs errant into .peers/errant", file=sys.stderr)
        alone = best([run([sys.executable, "-c", OURS, reference, hypothesis]) for _ in range(N_RUNS)]).cpu_seconds
        record(job=JOB, peer="errant_compare", ours=alone, theirs=None, wanted=4.0, note=ABSENT)
        return 1
    peer = [str(PEER / "bin" / "errant_compare"), "-hyp", hypothesis, "-ref", reference]
    ours, theirs = best_by_turns([sys.executable, "-c", OURS, reference, hypothesis], peer)
    found, expected = ours.output.split(), re.findall(r"[\d.]+", theirs.output.splitlines()[-3])
    if [float(number) for number in found] != [float(number) for number in expected]:
        raise SystemExit(f"expected {expected}, found {found}")
    print(f"{'as a command':<34} {'CPU s':>8} {'wall s':>8}")
    for name, one in (("errant_compare", theirs), ("grater, the library as a process", ours)):
        print(f"{name:<34} {one.cpu_seconds:8.3f} {one.wall_seconds:8.3f}")
    cpu_ratio, wall_ratio = theirs.cpu_seconds / ours.cpu_seconds, theirs.wall_seconds / ours.wall_seconds
    record(
        job=JOB,
        peer="errant_compare",
        ours=ours.cpu_seconds,
        theirs=theirs.cpu_seconds,
        wanted=4.0,
        agrees=True,
    )
    print(f"{'times as fast':<34} {cpu_ratio:8.1f} {wall_ratio:8.1f}")
    in_process = float(run([str(PEER / "bin" / "python"), "-c", THEIRS_IN_PROCESS, reference, hypothesis]).output)
    times = run([sys.executable, "-c", OURS_IN_PROCESS, reference, hypothesis]).output.split()
    print(f"\n{'in process, CPU ms':<34} {'errant':>8} {'grater':>8} {'ratio':>8}")
    for name, seconds in zip(("files, read straight", "files, by essays", "essays in memory"), times, strict=True):
        print(f"{name:<34} {in_process * 1e3:8.1f} {float(seconds) * 1e3:8.1f} {in_process / float(seconds):8.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
