"""How well and how fast grater tags: `python -m figures tagger`.

Accuracy on the test parts of UD English EWT and GUM (intervals resample sentences), and tokens a second of one core
on native text, the best of three runs; `cold` is the first run of a tagger that has seen no word yet.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from itertools import islice
from time import process_time

from figures.data import cell, lines_of, need, table
from grater.corpora.text.analysis import analyse
from grater.corpora.text.tags import PerceptronTagger, load_tagger
from grater_train.tagging import accuracy, read_conllu

N_LINES = 2_000


def main(_: Sequence[str]) -> None:
    shipped = load_tagger()
    rows = []
    for name in ("ewt", "gum"):
        path = need(f"ud/{name}-test.conllu.gz")
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            sentences = list(read_conllu(lines, name=path.name))
        rows.append([name, cell(accuracy(shipped, sentences))])
    table(["test part", "right tags"], rows)
    text = "\n".join(
        line for name in ("gutenberg", "elife") for line in islice(lines_of(f"native/{name}.txt.xz"), N_LINES)
    )
    words = [sentence.words for sentence in analyse(text)]
    fresh = PerceptronTagger(shipped.weights)
    found = {
        "tagger, cold": seconds(lambda: fresh.tag_all(words)),
        "tagger": min(seconds(lambda: fresh.tag_all(words)) for _ in range(3)),
        "analyse, cold": seconds(lambda: analyse(text, tagger=PerceptronTagger(shipped.weights))),
        "analyse": min(seconds(lambda: analyse(text, tagger=fresh)) for _ in range(3)),
    }
    n_tokens = sum(map(len, words))
    table(["speed", "tokens a second"], [[name, f"{n_tokens / each:,.0f}"] for name, each in found.items()])


def seconds(job: Callable[[], object]) -> float:
    start = process_time()
    job()
    return process_time() - start
