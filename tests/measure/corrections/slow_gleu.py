"""GLEU the slow and obvious way, one n-gram at a time, from the papers and the published script's description.

Nothing of grater is used.  Reference draws are those of Python 2's `random.seed(101 * j)` and `randint(0, n - 1)`,
which was `int(random() * n)`.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence

Stats = list[int]


def ngrams(words: list[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[i : i + n]) for i in range(len(words) + 1 - n))


def stats(source: str, hypothesis: str, reference: str) -> Stats:
    """Hypothesis length, reference length, then matches and total for n = 1..4."""
    s, h, r = source.split(), hypothesis.split(), reference.split()
    found = [len(h), len(r)]
    for n in range(1, 5):
        of_source, of_hypothesis, of_reference = ngrams(s, n), ngrams(h, n), ngrams(r, n)
        only_source = Counter({gram: k for gram, k in of_source.items() if gram not in of_reference})
        reward = sum((of_hypothesis & of_reference).values())
        penalty = sum((of_hypothesis & only_source).values())
        found += [max(reward - penalty, 0), max(len(h) + 1 - n, 0)]
    return found


def gleu(found: Stats, *, smooth: bool = False) -> float:
    if smooth:
        found = [count or 1 for count in found]
    if 0 in found:
        return 0.0
    c, r = found[:2]
    logs = [math.log(matches / total) for matches, total in zip(found[2::2], found[3::2], strict=True)]
    return math.exp(min(0, 1 - r / c) + sum(logs) / 4)


def corpus_gleu(
    sources: Sequence[str], hypotheses: Sequence[str], references: Sequence[Sequence[str]], *, iterations: int = 500
) -> tuple[float, float]:
    """Mean and standard deviation over the draws of references."""
    choices = []
    for j in range(iterations):
        rng = random.Random(101 * j)
        choices.append([int(rng.random() * len(texts)) for texts in references])
    sums = [[0] * 10 for _ in range(iterations)]
    for i, (source, hypothesis, texts) in enumerate(zip(sources, hypotheses, references, strict=True)):
        by_reference: dict[int, Stats] = {}
        for j in range(iterations):
            k = choices[j][i]
            if k not in by_reference:
                by_reference[k] = stats(source, hypothesis, texts[k])
            sums[j] = [a + b for a, b in zip(sums[j], by_reference[k], strict=True)]
    scores = [gleu(found) for found in sums]
    mean = sum(scores) / iterations
    return mean, math.sqrt(sum((score - mean) ** 2 for score in scores) / iterations)


def sentence_gleu(source: str, hypothesis: str, references: Sequence[str]) -> float:
    scores = [gleu(stats(source, hypothesis, reference), smooth=True) for reference in references]
    return sum(scores) / len(scores)
