"""Memory, speed and CPU seconds of big jobs: `python benchmarks/scale.py [--sizes 100,1000] [--spark]`.

The text is made: sentences of the bundled sample essays with their words drawn anew, so that every line differs.  For
each size (in megabytes) and number of processes a job runs as a command of its own; every fifth of a second the
memory of its whole tree of processes is added up (PSS: shared pages are divided among those who share them).  Wanted:
the peak at 1 GB within 10 % of that at 100 MB, `--jobs 2` at least 1.7 times as fast as one process on two idle
cores.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from grater.corpora import read_corpus
from grater.sample import sample_path
from grater.text.sentences import sentence_tokens

WORK = Path(__file__).parent / "work" / "scale"
JOBS = {
    "count": ("count", "{text}", "--out", "{out}"),
    "events": ("events", "{text}", "--out", "{out}"),
    "decide": ("decide", "{text}", "--system", "prep-maxent", "--out", "{out}"),
    "stats": ("corpus", "stats", "{text}", "--resamples", "100"),
    "check": ("corpus", "check", "{text}"),
}
PROBLEMS_FOUND = 1
"""The exit status of a check that found something."""


@dataclass(frozen=True, slots=True)
class Measured:
    job: str
    megabytes: int
    workers: str
    seconds: float
    cpu_seconds: float
    peak: float

    def __str__(self) -> str:
        return (
            f"| {self.job} | {self.megabytes} | {self.workers} | {self.seconds:.0f} | {self.cpu_seconds:.0f} | "
            f"{self.peak:.0f} |"
        )


def made_text(megabytes: int) -> Path:
    """Lines of three sentences whose words are replaced, one in four, by words of the same essays."""
    path = WORK / f"text-{megabytes}.txt"
    if path.exists():
        return path
    WORK.mkdir(parents=True, exist_ok=True)
    rng = random.Random(1)
    sentences = [list(words) for essay in read_corpus(sample_path()) for _, words in sentence_tokens(essay.text)]
    words = sorted({word for sentence in sentences for word in sentence if word.isalpha()})
    n_bytes = 0
    with path.open("w", encoding="utf-8") as stream:
        while n_bytes < megabytes * 1_000_000:
            line = " ".join(_varied(rng.choice(sentences), words, rng) for _ in range(3)) + "\n"
            n_bytes += stream.write(line)
    return path


def _varied(sentence: list[str], words: list[str], rng: random.Random) -> str:
    return " ".join(rng.choice(words) if word.isalpha() and rng.random() < 0.25 else word for word in sentence)


def cut(text: Path) -> Path:
    """The text in shards, a line an essay; made before the clock runs."""
    folder = text.with_suffix(".cut")
    if not folder.exists():
        command = [sys.executable, "-m", "grater", "scale", "shard", str(text), "--lines", "--out", str(folder)]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    return folder


def tree_of(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(each for child in children for each in tree_of(int(child)))]


def memory_of(pid: int) -> float:
    """Megabytes of a process and all that it started."""
    kilobytes = 0
    for each in tree_of(pid):
        try:
            lines = Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        kilobytes += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return kilobytes / 1024


def measure(job: str, text: Path, megabytes: int, workers: str, options: list[str]) -> Measured:
    out = WORK / "out"
    shutil.rmtree(out, ignore_errors=True)
    words = (word.format(text=text, out=out) for word in JOBS[job])
    command = [sys.executable, "-m", "grater", *words, *options]
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, memory_of(process.pid))
        time.sleep(0.2)
    if process.returncode not in (0, PROBLEMS_FOUND if job == "check" else 0):
        raise SystemExit(f"{' '.join(command)}: exit status {process.returncode}")
    after, seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - started
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Measured(job, megabytes, workers, seconds, cpu, peak)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--sizes", default="100,1000", help="megabytes of text")
    parser.add_argument("--jobs", default=",".join(JOBS))
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--spark", action="store_true", help="also local[2] of Apache Spark")
    asked = parser.parse_args()
    print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print("| job | MB | workers | seconds | CPU seconds | peak MB |\n|---|---|---|---|---|---|")
    for size in map(int, asked.sizes.split(",")):
        text = cut(made_text(size))
        for job in asked.jobs.split(","):
            ways = {n: ["--jobs", n] for n in asked.workers.split(",")}
            if asked.spark:
                ways["spark"] = ["--engine", "spark", "--master", "local[2]"]
            for workers, options in ways.items():
                print(measure(job, text, size, workers, options), flush=True)


if __name__ == "__main__":
    main()
