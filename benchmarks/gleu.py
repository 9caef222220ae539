"""GLEU, ours beside a plain implementation of the published script: `python benchmarks/gleu.py`.

JFLEG dev (four references, the source as hypothesis, and one reference against the others) where the data is there,
else sentences made here; 500 draws of references.  The plain one is tests/evaluate/edits/slow_gleu.py, which counts
n-grams in dictionaries and keeps each sentence's counts, as the published script does.  Both in this process, by
turns, best of several runs in CPU seconds; values must be equal, or the benchmark fails.  Wanted: twenty times as
fast (issue "Part 4", Must hold).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from grater.evaluate.edits.gleu import corpus_gleu, gleu_statistics
from grater.rng import generator
from race import record

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("GRATER_DATA") or ROOT / ".." / "shared" / "data") / "jfleg" / "dev"
N_RUNS = 5
ENOUGH = 20

Case = tuple[str, Sequence[str], Sequence[str], Sequence[Sequence[str]]]


def cases() -> Iterator[Case]:
    """A name, sources, hypotheses, and the references of each sentence."""
    if not (DATA / "dev.src").exists():
        print("JFLEG is missing (set GRATER_DATA): sentences of our own making take its place", file=sys.stderr)
        yield made()
        return
    sources = (DATA / "dev.src").read_text(encoding="utf-8").splitlines()
    files = [(DATA / f"dev.ref{k}").read_text(encoding="utf-8").splitlines() for k in range(4)]
    yield "JFLEG dev, source, 4 references", sources, sources, list(zip(*files, strict=True))
    yield "JFLEG dev, ref3, 3 references", sources, files[3], list(zip(*files[:3], strict=True))


def made(n_sentences: int = 754, n_words: int = 19) -> Case:
    rng = generator(2015, "gleu")
    words = np.array([f"w{number}" for number in range(3000)])

    def changed(text: Sequence[str]) -> str:
        return " ".join(word if rng.random() > 0.15 else str(rng.choice(words)) for word in text)

    texts = [rng.choice(words, n_words).tolist() for _ in range(n_sentences)]
    references = [[changed(text) for _ in range(4)] for text in texts]
    return (
        "made here, 4 references",
        [" ".join(text) for text in texts],
        [changed(text) for text in texts],
        references,
    )


def seconds(action: Callable[[], object]) -> float:
    started = time.process_time()
    action()
    return time.process_time() - started


def measured(case: Case) -> float:
    """Print what one case takes, and give the ratio."""
    from tests.evaluate.edits import slow_gleu

    name, sources, hypotheses, references = case
    value, _ = slow_gleu.corpus_gleu(sources, hypotheses, references)
    statistics = gleu_statistics(sources, hypotheses, references)
    if abs(corpus_gleu(statistics).value - value) > 1e-12:
        raise SystemExit(f"{name}: expected {value}, found {corpus_gleu(statistics).value}")
    times = [
        (
            seconds(lambda: slow_gleu.corpus_gleu(sources, hypotheses, references)),
            seconds(lambda: corpus_gleu(gleu_statistics(sources, hypotheses, references))),
        )
        for _ in range(N_RUNS)
    ]
    plain, ours = (min(column) for column in zip(*times, strict=True))
    record(job=f"GLEU, {name}", peer="plain implementation", ours=ours, theirs=plain, wanted=ENOUGH, agrees=True)
    print(f"{name:<34} {value:8.4f} {plain:8.3f} {ours:8.3f} {plain / ours:8.1f}", flush=True)
    return plain / ours


def main() -> int:
    sys.path.insert(0, str(ROOT))  # for the plain implementation, which the tests have
    print(f"{'':<34} {'GLEU':>8} {'plain s':>8} {'ours s':>8} {'ratio':>8}")
    return 0 if min([measured(case) for case in cases()]) >= ENOUGH else 1


if __name__ == "__main__":
    sys.exit(main())
