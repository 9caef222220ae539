"""How fast M2 is parsed: grater beside ERRANT and m2scorer, on the same file in the same run.

    python benchmarks/m2_parse.py [FILE.m2 ...]

Without a file: the ten annotators' files of CoNLL-2014 joined into one ($GRATER_DATA, or ../shared/data beside the
checkout), and a corpus of the size of NUCLE that this program makes.

- ERRANT: `simplify_edits` and `process_edits` of `errant/commands/compare_m2.py`, its plain parser, in this process.
  The file is loaded by itself, since the package imports spaCy:  python -m venv .peers/errant &&
  .peers/errant/bin/pip install --no-deps errant
- m2scorer: `load_annotation` of `scripts/m2scorer.py`, under Python 2:  M2SCORER=/path/to/m2scorer
  PYTHON2=/path/to/python2 (default: python2).  https://github.com/nusnlp/m2scorer

Every job starts from the file's path.  "Kept" is the whole file parsed and in memory; the others drop what they have
parsed as they go, as `errant_compare` does and m2scorer cannot.  `columns` does what ERRANT's parser does: it finds
spans, tags, corrections and annotators.  `checked` also counts the tokens of all sentences and checks every span
against them.  `essays` checks everything and gives an essay for each sentence, whose edits, tokens and id are made
when they are asked for; the two jobs after it ask for them.  Times are processor seconds, the best of some runs;
ratios are what matters.  The exit status is 1 unless `columns, kept` has the wanted ratio to both peers.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

from grater.corpora.formats import BytesSource
from grater.corpora.m2 import FORMAT
from grater.corpora.m2.columns import Columns, scan, scan_source, stretches
from grater.corpora.source import open_source
from grater.errors import Problems
from race import ABSENT, SHORT, record

ROOT = Path(__file__).parents[1]
WANTED = 10.0

IN_PYTHON_2 = """
import json, sys, time, types
sys.modules["levenshtein"] = types.ModuleType("levenshtein")  # only scoring needs it
sys.path.insert(0, sys.argv[1] + "/scripts")
exec(open(sys.argv[1] + "/scripts/m2scorer.py").read().split("def print_usage")[0])
best = None
for _ in range(int(sys.argv[3])):
    start = time.clock()
    sentences, edits = load_annotation(sys.argv[2])
    seconds = time.clock() - start
    best = seconds if best is None else min(best, seconds)
print(json.dumps({"seconds": best, "sentences": len(sentences)}))
"""


def best_of(job: Callable[[], object], n_runs: int) -> float:
    """The least processor seconds that the job took."""
    times = []
    for _ in range(n_runs):
        start = time.process_time()
        job()
        times.append(time.process_time() - start)
    return min(times)


def columns_of(path: Path) -> Iterator[Columns]:
    """The columns as reading finds them, before spans are checked against their sentences."""
    source = open_source(path)
    assert isinstance(source, BytesSource)
    for first_line, stretch in stretches(source.raw_lines(), problems=Problems(path.name)):
        yield scan(stretch, first_line=first_line)


def grater_jobs(path: Path) -> dict[str, Callable[[], object]]:
    def columns() -> None:
        for _ in columns_of(path):
            pass

    def checked() -> None:
        for _ in scan_source(open_source(path), problems=Problems(path.name)):
            pass

    def essays() -> None:
        for _ in FORMAT.read(open_source(path)):
            pass

    def with_edits() -> None:
        for essay in FORMAT.read(open_source(path)):
            _ = essay.edits

    def in_full() -> None:
        for essay in FORMAT.read(open_source(path)):
            _ = essay.edits, essay.essay_id, essay.tokens, essay.metadata

    def kept() -> object:
        return list(columns_of(path))

    return {
        "columns": columns,
        "columns, kept": kept,
        "columns, checked": checked,
        "essays": essays,
        "essays, their edits made": with_edits,
        "essays, everything made": in_full,
    }


def errant_module() -> ModuleType | None:
    found = sorted(ROOT.glob(".peers/errant/lib/python*/site-packages/errant/commands/compare_m2.py"))
    if not found:
        return None
    spec = importlib.util.spec_from_file_location("compare_m2", found[0])
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def errant_jobs(path: Path) -> dict[str, Callable[[], object]]:
    errant = errant_module()
    if errant is None:
        print("!! ERRANT IS MISSING: see the head of this file for how to install it; no ratio to it is given")
        return {}
    args = argparse.Namespace(dt=False, ds=False, cs=True, cse=False, single=False, multi=False, filt=[])

    def parsed() -> Iterator[object]:
        for block in path.read_text(encoding="utf-8").strip().split("\n\n"):
            yield errant.process_edits(errant.simplify_edits(block), args)

    def dropped() -> None:
        for _ in parsed():
            pass

    return {"ERRANT": dropped, "ERRANT, kept": lambda: list(parsed())}


def m2scorer_seconds(path: Path, n_runs: int) -> float | None:
    home = os.environ.get("M2SCORER")
    if not home:
        print("!! M2SCORER IS MISSING: set M2SCORER to a checkout of it (and PYTHON2); no ratio to it is given")
        return None
    command = [os.environ.get("PYTHON2", "python2"), "-c", IN_PYTHON_2, home, str(path), str(n_runs)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"!! M2SCORER DID NOT RUN: {getattr(error, 'stderr', '') or error}; no ratio to it is given")
        return None
    return float(json.loads(done.stdout)["seconds"])


def measure(path: Path, n_runs: int) -> bool:
    """Print the table of one file; whether the wanted ratios hold."""
    size = path.stat().st_size
    n_edits = sum(len(stretch.start) for stretch in columns_of(path))
    print(f"\n{path.name}: {size / 1e6:.1f} MB, {n_edits:,} A lines")
    peers = {name: best_of(job, n_runs) for name, job in errant_jobs(path).items()}
    m2scorer = m2scorer_seconds(path, n_runs)
    if m2scorer is not None:
        peers["m2scorer"] = m2scorer
    for name, seconds in peers.items():
        print(f"  {name:32}{seconds * 1e3:10.1f} ms")
    holds = True
    for name, job in grater_jobs(path).items():
        seconds = best_of(job, n_runs if name.startswith("essays") else 5 * n_runs)
        rivals = [peer for peer in peers if peer == "m2scorer" or ("kept" in peer) == ("kept" in name)]
        ratios = {peer: peers[peer] / seconds for peer in rivals}
        for peer in rivals:
            record(job=f"parse M2, {name}, {path.stem}", peer=peer, size=n_edits, ours=seconds, theirs=peers[peer])
        if not rivals:
            record(
                job=f"parse M2, {name}, {path.stem}",
                peer="ERRANT",
                size=n_edits,
                ours=seconds,
                theirs=None,
                note=ABSENT,
            )
        said = "".join(f"   {ratio:5.1f} x {peer}" for peer, ratio in ratios.items())
        print(f"  grater {name:25}{seconds * 1e3:10.1f} ms{said}")
        if "kept" in name:
            holds = holds and all(ratio >= WANTED for ratio in ratios.values())
    return holds


def ten_annotators(folder: Path) -> Path | None:
    root = Path(os.environ.get("GRATER_DATA") or ROOT / ".." / "shared" / "data")
    paths = sorted((root / "conll14" / "ten-annotators").glob("A*.m2"))
    if not paths:
        print("!! THE TEN ANNOTATORS' FILES ARE MISSING: set GRATER_DATA; only a made-up corpus is measured")
        return None
    joined = folder / "ten-annotators.m2"
    joined.write_bytes(b"".join(path.read_bytes() for path in paths))
    return joined


def made_up(folder: Path, *, n_sentences: int = 57_151, n_edits: int = 46_597) -> Path:
    """A corpus with the counts of NUCLE (Dahlmeier, Ng and Wu 2013, Table 5): 1.2 M tokens in 57,151 sentences."""
    rng = random.Random(2013)
    words = [
        "the",
        "a",
        "students",
        "environment",
        "of",
        "in",
        "is",
        "government",
        "should",
        ",",
        "people",
        "technology",
    ]
    tags = ["ArtOrDet", "Wci", "Nn", "Prep", "Rloc-", "Vt", "Mec", "SVA", "Trans", "Wform"]
    n_left = n_edits
    path = folder / "made-up.m2"
    with path.open("w", encoding="utf-8") as file:
        for n_after in range(n_sentences - 1, -1, -1):
            n_tokens = rng.randint(8, 33)
            file.write("S " + " ".join(rng.choices(words, k=n_tokens)) + " .\n")
            n_here = min(n_left, rng.choice([0, 0, 0, 1, 1, 2])) if n_after else n_left
            for _ in range(n_here):
                start = rng.randrange(n_tokens)
                correction = rng.choice(["", *words])
                tag = rng.choice(tags)
                file.write(f"A {start} {start + 1}|||{tag}|||{correction}|||REQUIRED|||-NONE-|||0\n")
            n_left -= n_here
            file.write("\n")
    return path


def main() -> int:
    parser = argparse.ArgumentParser(description="M2 parsing beside ERRANT and m2scorer")
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument(SHORT, action="store_true", help="one run, and only one file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = options.files or [path for path in (ten_annotators(folder), made_up(folder)) if path is not None]
        held = [measure(path, 1 if options.short else options.runs) for path in paths[: 1 if options.short else None]]
    print(f"\n{'all' if all(held) else 'NOT ALL'} ratios of `columns, kept` are at least {WANTED:.0f}")
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
