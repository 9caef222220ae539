"""How well and how fast grater tags: EWT and GUM test parts, and tokens a second of one core.

    python benchmarks/tagging.py [--runs N]

The data is $GRATER_DATA or ../shared/data beside the checkout: `ud/*-test.conllu.gz` for accuracy (limits by
resampling sentences), `native/*.txt.xz` for speed.  Times are processor seconds, the best of some runs; `cold` is the
first run of a tagger that has seen no word yet.  The tagger uses numpy only; numba is for training, so there is no
second path to time.

spaCy, where it is installed beside us (python -m venv .peers/spacy && .peers/spacy/bin/pip install spacy) and
has an English model, runs over the same words in its own process; its models are on no package index, so mostly it is
missing, and this program says so.  The exit status is 1 if something wanted is not reached.
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from grater.rng import generator
from grater.text.analysis import analyse
from grater.text.tagging.perceptron import PerceptronTagger
from grater.text.tagging.training import Tagged, accuracy, read_conllu
from grater.text.tags import load_tagger

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("GRATER_DATA") or ROOT / ".." / "shared" / "data")
WANTED_ACCURACY = {"ewt": 0.94, "gum": 0.955}
WANTED_SPEED = 100_000
N_CHARACTERS = 2_000_000

IN_SPACY = """
import json, sys, time, spacy
from spacy.tokens import Doc
names = [name for name in spacy.util.get_installed_models() if name.startswith("en")]
if not names:
    sys.exit("no English model is installed")
nlp = spacy.load(names[0], exclude=["parser", "ner", "lemmatizer"])
sentences = json.load(sys.stdin)
start = time.process_time()
for doc in nlp.pipe(Doc(nlp.vocab, words=words) for words in sentences):
    pass
print(json.dumps({"name": names[0], "seconds": time.process_time() - start}))
"""


def seconds_of(job: Callable[[], object]) -> float:
    start = time.process_time()
    job()
    return time.process_time() - start


def treebank(name: str) -> list[Tagged] | None:
    path = DATA / "ud" / f"{name}-test.conllu.gz"
    if not path.exists():
        print(f"!! {path.name} IS MISSING: set GRATER_DATA; no accuracy on it is given")
        return None
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return list(read_conllu(lines, name=path.name))


def accuracies() -> bool:
    tagger = load_tagger()
    holds = True
    for name, wanted in WANTED_ACCURACY.items():
        if sentences := treebank(name):
            found = accuracy(tagger, sentences, generator(0, "accuracy", name))
            print(f"  {name} test: {found.value:.4f} [{found.low:.4f}, {found.high:.4f}]   wanted {wanted}")
            holds = holds and found.value >= wanted
    return holds


def plain_text() -> str | None:
    parts = []
    for name in ("gutenberg", "elife"):
        path = DATA / "native" / f"{name}.txt.xz"
        if not path.exists():
            print(f"!! {path.name} IS MISSING: set GRATER_DATA; no speed is given")
            return None
        with lzma.open(path, "rt", encoding="utf-8") as stream:
            parts.append(stream.read(N_CHARACTERS // 2))
    return "\n".join(parts)


def speeds(text: str, n_runs: int) -> bool:
    shipped = load_tagger()
    if not isinstance(shipped, PerceptronTagger):
        return False
    sentences = [sentence.words for sentence in analyse(text)]
    n_tokens = sum(map(len, sentences))
    fresh = PerceptronTagger(shipped.weights)
    found = {"tagger, cold": seconds_of(lambda: fresh.tag_all(sentences))}
    found["tagger"] = min(seconds_of(lambda: fresh.tag_all(sentences)) for _ in range(n_runs))
    found["analyse, cold"] = seconds_of(lambda: analyse(text, tagger=PerceptronTagger(shipped.weights)))
    found["analyse"] = min(seconds_of(lambda: analyse(text, tagger=fresh)) for _ in range(n_runs))
    peer = spacy_seconds(sentences)
    for name, seconds in found.items():
        ratio = f"   {peer / seconds:.1f} x spaCy" if peer and name.startswith("tagger") else ""
        print(f"  {name:15}{n_tokens / seconds:12,.0f} tokens/s{ratio}")
    return all(n_tokens / found[name] >= WANTED_SPEED for name in ("tagger", "analyse"))


def spacy_seconds(sentences: Sequence[Sequence[str]]) -> float | None:
    python = ROOT / ".peers" / "spacy" / "bin" / "python"
    if not python.exists():
        print("!! SPACY IS MISSING: see the head of this file; no ratio to it is given")
        return None
    words = json.dumps([list(each) for each in sentences])
    done = subprocess.run([python, "-c", IN_SPACY], input=words, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"!! SPACY DID NOT RUN: {done.stderr.strip().splitlines()[-1:]}; no ratio to it is given")
        return None
    answer = json.loads(done.stdout)
    print(f"  {answer['name']}: {sum(map(len, sentences)) / answer['seconds']:,.0f} tokens/s")
    return float(answer["seconds"])


def main() -> int:
    parser = argparse.ArgumentParser(description="accuracy and speed of the tagger")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    holds = accuracies()
    text = plain_text()
    holds = (speeds(text, options.runs) if text else False) and holds
    print(f"\n{'all' if holds else 'NOT ALL'} that was wanted is reached")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
