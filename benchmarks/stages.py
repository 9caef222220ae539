"""Where the time of tokenising, analysis and `decide` goes, and what is their limit: `python benchmarks/stages.py`.

One shard of native text (see `tokenising.py`), a line an essay, CPU seconds of each stage, best of several runs in
turn.  *Cold* is the first analysis of a process, which has seen no word yet.  The floor of anything that gives words
with their places is a loop of Python that splits at white space, finds each piece again and looks it up, and does
nothing else.  The sums are the only part of a detector that works on all weights.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from grater.text.analysis import Sentence, analyse_all, chunks
from grater.text.sentences import sentence_tokens
from grater.text.tags import load_tagger

from grater.detect.decisions import DecisionRows
from grater.detect.prepositions.candidates import Candidate, candidates_of
from grater.detect.prepositions.features import HASHING, contexts, stemmed
from grater.detect.prepositions.linear import LinearEngine, prep_maxent
from grater.model import Essay
from grater.scale.jobs import without_collector, write_part
from tokenising import lines

N_CHARACTERS = 1_000_000
N_RUNS = 3


def shard() -> list[Essay]:
    """Lines of about a million characters, from the two halves of the native text."""
    texts, n_characters, essays = lines(), 0, []
    for number, text in enumerate(texts[::2]):
        if text.strip() and n_characters < N_CHARACTERS:
            essays.append(Essay(f"e{number}", text))
            n_characters += len(text)
    return essays


def floor(texts: Sequence[str]) -> int:
    known: dict[str, int] = {}
    n_words = 0
    for text in texts:
        places, start = [], 0
        for word in text.split():
            start = text.find(word, start)
            places.append((start, known.get(word)))
            start += len(word)
        n_words += len(places)
    return n_words


def stages(essays: Sequence[Essay], folder: Path) -> dict[str, Callable[[], object]]:
    texts = [essay.text for essay in essays]
    tagger, detector = load_tagger(), prep_maxent()
    engine = detector.engine
    assert isinstance(engine, LinearEngine)
    words = [words for text in texts for _, words in sentence_tokens(text)]
    tags = tagger.tag_all(words)
    sentences: list[Sentence] = [sentence for analysis in analyse_all(essays) for sentence in analysis]
    candidates: list[Candidate] = [each for sentence in sentences for each in candidates_of(sentence)]
    keys = HASHING.keys(stemmed(contexts(candidates, engine.vocabulary), engine.stems))
    rows = DecisionRows(with_places=True)
    rows.add_together(essays, [detector])
    frame = rows.decisions()
    print(f"{sum(map(len, words)):,} tokens, {len(candidates):,} places, {keys.shape[1]} features each")
    return {
        "floor: split, find, look up": lambda: floor(texts),
        "tokens and sentences": lambda: [list(sentence_tokens(text)) for text in texts],
        "tags": lambda: tagger.tag_all(words),
        "chunks": lambda: list(map(chunks, words, tags)),
        "analysis, all of it": lambda: analyse_all(essays),
        "places": lambda: [each for sentence in sentences for each in candidates_of(sentence)],
        "features": lambda: HASHING.keys(stemmed(contexts(candidates, engine.vocabulary), engine.stems)),
        "sums of weights": lambda: engine.sums(keys),
        "findings, all of it": lambda: list(detector.find(essays)),
        "the table": rows.decisions,
        "writing it": lambda: write_part(frame, folder / "part.parquet", {}),
    }


def seconds_of(job: Callable[[], object]) -> float:
    with without_collector():
        started = time.process_time()
        job()
        return time.process_time() - started


def main() -> int:
    essays = shard()
    load_tagger()
    cold = seconds_of(lambda: analyse_all(essays))
    with TemporaryDirectory() as name:
        jobs = stages(essays, Path(name))
        runs = [{job: seconds_of(work) for job, work in jobs.items()} for _ in range(N_RUNS)]
    n_tokens = sum(len(words) for essay in essays for _, words in sentence_tokens(essay.text))
    best = {"analysis, cold": cold, **{job: min(run[job] for run in runs) for job in jobs}}
    for job, seconds in best.items():
        print(f"{job:<30} {seconds:7.3f} s {n_tokens / seconds:>12,.0f} tokens a CPU second")
    return 0


if __name__ == "__main__":
    sys.exit(main())
