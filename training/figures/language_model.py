"""The figures of `prep-lm` in README.md: `python -m figures language_model`.

1. The shipped model: bytes, seconds to load, perplexity on Brown and on lines of `native` held out, candidates
   scored in a second.
2. With KenLM (`make peers` puts its Python module into .peers/kenlm): a model of ours, trained on part of `native`
   without any quantisation, goes to KenLM as an ARPA file, and both score sentences of Brown.  Where lmplz is on the
   path (or in $LMPLZ), it trains on the same text, so that smoothing is compared as well.  Perplexities must be
   equal to 1e-4.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from math import exp, log
from pathlib import Path

from figures.data import lines_of, native_lines, table
from grater.corpora.text.analysis import analyse
from grater.detect.ngrams.counts import distinct_lines, normal, sentences_of_lines
from grater.detect.ngrams.language_model import LanguageModel, load
from grater.detect.prepositions.candidates import candidates_of
from grater.detect.prepositions.engines import engine_of
from grater.models import shipped
from grater_train.arpa import write_arpa
from grater_train.kneser_ney import perplexity
from grater_train.ngrams import HoldOutSplit, ModelSize, train

ROOT = Path(__file__).resolve().parents[2]
PEER = ROOT / ".peers" / "kenlm" / "bin" / "python"
N_LINES = 20_000
N_SENTENCES = 5_000
CLOSE = 1e-4
ASK_KENLM = """
import json, sys, kenlm
model = kenlm.Model(sys.argv[1])
print(json.dumps([model.score(line.rstrip(chr(10))) for line in sys.stdin]))
"""


def brown(n: int | None = None) -> list[list[str]]:
    return [[normal(word) for word in line.split()] for line in islice(lines_of("native-test/brown.txt.xz"), n)]


def timed(action: Callable[[], object]) -> float:
    """CPU seconds: other work on the machine does not count."""
    started = time.process_time()
    action()
    return time.process_time() - started


def of_shipped() -> dict[str, object]:
    path = shipped("prep-lm")
    seconds = timed(lambda: load(path))
    model = load(path)
    everything, first = perplexity(model, brown()), brown(N_SENTENCES)
    n_words = sum(len(words) + 1 for words in first)
    seconds_asked = timed(lambda: perplexity(model, first))
    held_out = HoldOutSplit()
    for _ in held_out.left(distinct_lines(native_lines())):
        pass
    kept = perplexity(model, sentences_of_lines(held_out.lines))
    candidates = [
        each for line in held_out.lines[:1000] for sentence in analyse(line) for each in candidates_of(sentence)
    ]
    engine = engine_of(model)
    return {
        "bytes": path.stat().st_size,
        "ngrams": [len(table) for table in model.tables],
        "load, CPU seconds": round(seconds, 2),
        "Brown": round(everything.value, 1),
        "Brown, known words": round(everything.known, 1),
        "Brown, unknown": round(everything.n_unknown / everything.n_words, 4),
        "held out": round(kept.value, 1),
        "words a second": round(n_words / seconds_asked),
        "candidates a second": round(len(candidates) / timed(lambda: engine.scores(candidates))),
    }


def beside_kenlm() -> dict[str, object]:
    if not PEER.exists():
        print("KenLM is missing (make peers): not compared", file=sys.stderr)
        return {}
    sentences = list(sentences_of_lines(islice(lines_of("native/gutenberg.txt.xz"), N_LINES)))
    questions = brown(N_SENTENCES)
    found: dict[str, object] = {}
    for prune in ((0, 0, 0, 0), (0, 0, 1, 1)):
        trained = train(sentences, ModelSize(prune=prune))
        model = LanguageModel.of(trained.smoothed, trained.vocabulary, is_exact=True)
        ours = perplexity(model, questions).value
        found[f"{prune}, ours"] = ours
        found[f"{prune}, ours in 8 bits"] = perplexity(
            LanguageModel.of(trained.smoothed, trained.vocabulary), questions
        ).value
        with tempfile.TemporaryDirectory() as folder:
            arpa = Path(folder) / "ours.arpa"
            with arpa.open("w", encoding="utf-8") as stream:
                stream.writelines(write_arpa(model))
            found[f"{prune}, ours read by KenLM"] = asked(arpa, questions)
            lmplz = os.environ.get("LMPLZ") or shutil.which("lmplz")
            if lmplz and len(trained.vocabulary) == trained.n_types + 3:  # lmplz has another notion of unknown words
                found[f"{prune}, lmplz"] = asked(smoothed_by(lmplz, sentences, prune, Path(folder)), questions)
        for name, value in found.items():
            if name.startswith(str(prune)) and "8 bits" not in name and abs(log(float(str(value)) / ours)) > CLOSE:
                sys.exit(f"{name}: expected a perplexity of {ours}, found {value}")
    return found


def smoothed_by(lmplz: str, sentences: Iterable[Sequence[str]], prune: tuple[int, ...], folder: Path) -> Path:
    text, arpa = folder / "text", folder / "theirs.arpa"
    text.write_text("".join(" ".join(words) + "\n" for words in sentences), encoding="utf-8")
    command = [lmplz, "-o", "4", "-S", "1G", "-T", str(folder), "--skip_symbols", "--prune", *map(str, prune)]
    with text.open() as stream, arpa.open("w") as out:
        subprocess.run(command, stdin=stream, stdout=out, stderr=subprocess.DEVNULL, check=True)
    return arpa


def asked(arpa: Path, sentences: Sequence[Sequence[str]]) -> float:
    """KenLM's perplexity, sentence ends and unknown words included."""
    lines = "".join(" ".join(words) + "\n" for words in sentences)
    ran = subprocess.run([PEER, "-c", ASK_KENLM, str(arpa)], input=lines, capture_output=True, text=True, check=True)
    n_words = sum(len(words) + 1 for words in sentences)
    return exp(-sum(json.loads(ran.stdout)) * log(10) / n_words)


def main(_: Sequence[str]) -> None:
    for part, figures in {"shipped": of_shipped(), "KenLM": beside_kenlm()}.items():
        table([part, ""], [[name, str(value)] for name, value in figures.items()])
