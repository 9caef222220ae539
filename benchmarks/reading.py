"""How much reading costs: M2 beside ERRANT's parser, tokens beside NLTK, and a corpus of NUCLE's size counted.

M2: the ten annotators of CoNLL-2014 in one file; ours are essays with their ids, tokens and edits at code points,
ERRANT's plain parser keeps lists of strings.  Tokens: native text (eLife, Gutenberg) by lines; ours also finds
sentences, and the schemes differ a little.  `grater corpus stats` runs on a generated corpus with NUCLE's counts
(Dahlmeier, Ng & Wu 2013, Table 5).
"""

from __future__ import annotations

import json
import lzma
import random
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from benchmarks.harness import ABSENT, DATA, GRATER, PEERS, WORK, Row, Size, cost, peer, timed_in

N_CHARACTERS = 2_000_000
N_SENTENCES, N_EDITS = 57_151, 46_597
MOST_MEGABYTES = 500

ESSAYS = """
import grater
tell("M2", lambda: sum(len(essay.edits) for essay in grater.read_corpus(sys.argv[1])), 3)
"""
ERRANT = """
import argparse, importlib.util
spec = importlib.util.spec_from_file_location("compare_m2", sys.argv[2])  # the package itself imports spaCy
errant = importlib.util.module_from_spec(spec)
spec.loader.exec_module(errant)
args = argparse.Namespace(dt=False, ds=False, cs=True, cse=False, single=False, multi=False, filt=[])
def work():
    with open(sys.argv[1], encoding="utf-8") as file:
        blocks = file.read().strip().split("\\n\\n")
    return len([errant.process_edits(errant.simplify_edits(block), args) for block in blocks])
tell("M2", work, 5)
"""
TOKENS = """
from grater.corpora.text.sentences import sentence_tokens
lines = json.load(sys.stdin)
tell("tokens", lambda: sum(len(spans) for line in lines for spans, _ in sentence_tokens(line)), 3)
"""
NLTK = """
from nltk.tokenize import NLTKWordTokenizer
lines, spans = json.load(sys.stdin), NLTKWordTokenizer().span_tokenize
tell("tokens", lambda: sum(1 for line in lines for _ in spans(line)), 3)
"""


def measure(size: Size) -> Iterator[Row]:
    WORK.mkdir(exist_ok=True)
    yield m2(1 if size == "short" else 10)
    yield tokens(N_CHARACTERS // (10 if size == "short" else 1))
    n_sentences = N_SENTENCES // (50 if size == "short" else 1)
    own = cost([*GRATER, "corpus", "stats", made(n_sentences), "--json"])
    counted = json.loads(own.output)
    if counted["sentences"] != n_sentences:
        raise RuntimeError(f"expected {n_sentences} sentences, found {counted['sentences']}")
    yield Row("`corpus stats` on M2 of NUCLE's size", own.cpu, counted["tokens"])
    yield Row("its peak memory", own.megabytes, counted["tokens"], goal=MOST_MEGABYTES, unit="MB")


def m2(n_files: int) -> Row:
    joined = WORK / "ten-annotators.m2"
    files = [DATA / "conll14" / "ten-annotators" / f"A{number}.m2" for number in range(1, n_files + 1)]
    joined.write_bytes(b"".join(file.read_bytes() for file in files))
    ours = timed_in(sys.executable, ESSAYS, joined)["M2"]
    parser = next(PEERS.glob("errant/lib/python*/site-packages/errant/commands/compare_m2.py"), None)
    if parser is None:
        return Row("M2 to essays with edits", ours["cpu"], ours["value"], "ERRANT's parser", None, note=ABSENT)
    theirs = timed_in(sys.executable, ERRANT, joined, parser)["M2"]["cpu"]
    return Row("M2 to essays with edits", ours["cpu"], ours["value"], "ERRANT's parser", theirs)


def tokens(n_characters: int) -> Row:
    lines = []
    for name in ("gutenberg", "elife"):
        with lzma.open(DATA / "native" / f"{name}.txt.xz", "rt", encoding="utf-8") as stream:
            lines += stream.read(n_characters // 2).splitlines()
    ours = timed_in(sys.executable, TOKENS, given=json.dumps(lines))["tokens"]
    found = timed_in(peer("nltk"), NLTK, given=json.dumps(lines)).get("tokens")
    if found is None:
        return Row("tokens with places", ours["cpu"], ours["value"], "NLTK", None, note=ABSENT)
    agrees = abs(ours["value"] - found["value"]) <= 0.05 * found["value"]
    note = "the same answer is a number of tokens within 5 %"
    return Row("tokens with places", ours["cpu"], ours["value"], "NLTK", found["cpu"], None, agrees, note=note)


def made(n_sentences: int) -> Path:
    """An M2 file of made-up words with an edit in most sentences."""
    path = WORK / f"made-{n_sentences}.m2"
    rng = random.Random(2013)
    words = ["".join(rng.choices("bdfgklmnprst", k=2) + rng.choices("aeiou", k=2)) for _ in range(30_000)]
    tags = ("ArtOrDet", "Wci", "Nn", "Prep", "Rloc-", "Vt", "Mec", "SVA", "Trans", "Wform")
    with path.open("w", encoding="utf-8") as file:
        left = N_EDITS * n_sentences // N_SENTENCES
        for _ in range(n_sentences):
            text = rng.choices(words, k=rng.randint(8, 33))
            file.write(f"S {' '.join(text)} .\n")
            for start in islice(sorted(rng.sample(range(len(text)), 2)), min(left, rng.choice((0, 0, 1, 1, 2)))):
                file.write(
                    f"A {start} {start + 1}|||{rng.choice(tags)}|||{rng.choice(words)}|||REQUIRED|||-NONE-|||0\n"
                )
                left -= 1
            file.write("\n")
    return path
