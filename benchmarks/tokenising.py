"""Sentences and tokens with their places beside NLTK: `python benchmarks/tokenising.py`.

Both read the same lines of native text (eLife and Gutenberg where the data is there, else lines made here) and return
the start and end of every token.  NLTK's `NLTKWordTokenizer.span_tokenize` is its tokeniser that keeps places and
needs no data of its own; it is given whole lines, and does not look for sentences, which we do.  The schemes differ
(we keep `e.g.` and addresses whole), so only the numbers of tokens are compared.  CPU seconds, best of several runs.
"""

from __future__ import annotations

import json
import lzma
import os
import subprocess
import sys
from pathlib import Path

from race import ABSENT, SHORT, record

ROOT = Path(__file__).resolve().parents[1]
PEER = ROOT / ".peers" / "nltk" / "bin" / "python"
DATA = Path(os.environ.get("GRATER_DATA") or ROOT / ".." / "shared" / "data") / "native"
N_CHARACTERS = 2_000_000
N_RUNS = 3
CLOSE = 0.05
"""The numbers of tokens may differ by this share."""

TIMER = """
import json, sys, time
lines = json.load(sys.stdin)
def best(job, n):
    seconds = []
    for _ in range(n):
        started = time.process_time(); n_tokens = job(); seconds.append(time.process_time() - started)
    print(json.dumps({"seconds": min(seconds), "tokens": n_tokens}))
"""
OURS = """
from grater.text.sentences import sentence_tokens
best(lambda: sum(len(spans) for line in lines for spans, _ in sentence_tokens(line)), int(sys.argv[1]))
"""
THEIRS = """
from nltk.tokenize import NLTKWordTokenizer
spans = NLTKWordTokenizer().span_tokenize
best(lambda: sum(1 for line in lines for _ in spans(line)), int(sys.argv[1]))
"""


def lines() -> list[str]:
    """Lines of running text."""
    wanted = N_CHARACTERS // (10 if SHORT in sys.argv else 1)
    paths = [DATA / f"{name}.txt.xz" for name in ("gutenberg", "elife")]
    if not all(path.exists() for path in paths):
        print("native text is missing (set GRATER_DATA): one sentence over and over takes its place", file=sys.stderr)
        return [
            'She doesn\'t live in the U.S. (any more), e.g. because 3.5 % of it "moved" to www.example.org.'
        ] * 5000
    texts = []
    for path in paths:
        with lzma.open(path, "rt", encoding="utf-8") as stream:
            texts += stream.read(wanted // len(paths)).splitlines()
    return texts


def run(python: Path | str, code: str, texts: list[str], environment: dict[str, str]) -> tuple[float, int]:
    command = [python, "-c", TIMER + code, str(N_RUNS)]
    done = subprocess.run(
        command, input=json.dumps(texts), env=environment, capture_output=True, text=True, check=True
    )
    result = json.loads(done.stdout)
    return float(result["seconds"]), int(result["tokens"])


def main() -> int:
    texts = lines()
    ours, n_tokens = run(sys.executable, OURS, texts, dict(os.environ))
    print(f"grater {n_tokens / ours:,.0f} tokens a CPU second ({n_tokens:,} tokens)")
    if not PEER.exists():
        print("nltk: MISSING, run `make peers`; no comparison made", file=sys.stderr)
        record(job="tokens with places", peer="NLTK", size=n_tokens, ours=ours, theirs=None, note=ABSENT)
        return 1
    theirs, n_theirs = run(PEER, THEIRS, texts, {**os.environ, "PYTHONPATH": ""})
    print(f"NLTK   {n_theirs / theirs:,.0f} tokens a CPU second ({n_theirs:,} tokens); ratio {theirs / ours:.1f}")
    is_close = abs(n_tokens - n_theirs) <= CLOSE * n_theirs
    note = "schemes differ; answers agree where the numbers of tokens do within 5 %; only ours finds sentences"
    record(job="tokens with places", peer="NLTK", size=n_tokens, ours=ours, theirs=theirs, agrees=is_close, note=note)
    return 0


if __name__ == "__main__":
    sys.exit(main())
