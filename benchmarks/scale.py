"""Memory, speed and CPU seconds of big jobs: `python benchmarks/scale.py [--sizes 100,1000] [--spark]`.

The text is made: sentences of the bundled sample essays with their words drawn anew, so that every line differs.  For
each size (in megabytes) and number of processes a job runs as a command of its own; every fifth of a second of its
work the memory of its whole tree of processes is added up: what each has for itself, and once the files that they map
(libraries), whoever else on the machine maps them too.  Wanted: the peak at 1 GB within 10 % of that at 100 MB, or of
the peak in the first tenth of the run's CPU seconds, which is the same work; and `--jobs 2` at least 1.7 times as
fast as one process on two idle cores: the last column, beside the first number of processes that was asked for.

Every process has one core here: left alone, polars sorts with all of them in a run of one process, which workers
never do.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from grater.corpora import read_corpus
from grater.sample import sample_path
from grater.text.sentences import sentence_tokens

WORK = Path(__file__).parent / "work" / "scale"
JOBS = {
    "shard": ("scale", "shard", "{text}", "--lines", "--out", "{out}"),
    "count": ("count", "{text}", "--out", "{out}"),
    "events": ("events", "{text}", "--out", "{out}"),
    "decide": ("decide", "{text}", "--system", "prep-maxent", "--out", "{out}"),
    "context": ("decide", "{text}", "--system", "context", "--out", "{out}"),
    "stats": ("corpus", "stats", "{text}", "--resamples", "100"),
    "check": ("corpus", "check", "{text}"),
}
Numbers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
COLUMNS = ("job", "MB", "processes", "seconds", "CPU seconds", "peak MB of the first tenth", "peak MB", "speed")
ONE_CORE = {"POLARS_MAX_THREADS": "1"}
INTERVAL = 0.2
PROBLEMS_FOUND = 1
"""The exit status of a check that found something."""


@dataclass(frozen=True, slots=True)
class Measured:
    job: str
    megabytes: int
    workers: str
    seconds: float
    cpu_seconds: float
    early_peak: float
    peak: float

    def __str__(self) -> str:
        costs = (self.seconds, self.cpu_seconds, self.early_peak, self.peak)
        return f"| {self.job} | {self.megabytes} | {self.workers} | {' | '.join(f'{cost:.0f}' for cost in costs)} |"


def made_text(megabytes: int) -> Path:
    """Lines of three sentences whose words are replaced, one in four, by words of the same essays."""
    path = WORK / f"text-{megabytes}.txt"
    if path.exists():
        return path
    WORK.mkdir(parents=True, exist_ok=True)
    sentences = [list(words) for essay in read_corpus(sample_path()) for _, words in sentence_tokens(essay.text)]
    words = sorted({word for sentence in sentences for word in sentence}, key=lambda word: (not word.isalpha(), word))
    n_alpha, number_of = sum(map(str.isalpha, words)), {word: number for number, word in enumerate(words)}
    numbers = [np.array([number_of[word] for word in sentence]) for sentence in sentences]
    spelt = [*(f"{word} " for word in words), "\n"]
    rng, n_bytes, part = np.random.default_rng(1), 0, path.with_suffix(".part")
    with part.open("w", encoding="utf-8") as stream:
        while n_bytes < megabytes * 1_000_000:
            n_bytes += stream.write("".join(map(spelt.__getitem__, _lines(numbers, n_alpha, len(words), rng))))
    return part.rename(path)


def _lines(sentences: list[Numbers], n_alpha: int, newline: int, rng: np.random.Generator) -> list[int]:
    """Ten thousand lines as numbers of words; the first `n_alpha` words are those of letters."""
    end = np.array([newline])
    drawn = rng.integers(len(sentences), size=(10_000, 3)).tolist()
    words = np.concatenate([part for line in drawn for part in (*(sentences[number] for number in line), end)])
    is_new = (words < n_alpha) & (rng.random(len(words)) < 0.25)
    words[is_new] = rng.integers(n_alpha, size=int(is_new.sum()))
    return words.tolist()  # type: ignore[no-any-return]


def cut(megabytes: int) -> Path:
    """The text in shards, a line an essay."""
    text = made_text(megabytes)
    folder = text.with_suffix(".cut")
    if not (folder / "manifest.json").exists():
        measure("shard", text, folder, megabytes, "1", [])
    return folder


def tree_of(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(each for child in children for each in tree_of(int(child)))]


def memory_of(pid: int) -> float:
    """Megabytes of a process and all that it started."""
    own, files = 0, 0
    for each in tree_of(pid):
        try:
            lines = Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()[1:]
        except OSError:
            continue
        kilobytes = {name: int(value.split()[0]) for name, _, value in (line.partition(":") for line in lines)}
        own += kilobytes["Anonymous"]
        files = max(files, kilobytes["Rss"] - kilobytes["Anonymous"])
    return (own + files) / 1024


def cpu_of(pid: int) -> dict[int, float]:
    """CPU seconds so far of a process and all that it started; Spark's own processes are waited for by nobody."""
    seconds = {}
    for each in tree_of(pid):
        try:
            fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        seconds[each] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return seconds


def measure(job: str, text: Path, out: Path, megabytes: int, workers: str, options: list[str]) -> Measured:
    shutil.rmtree(out, ignore_errors=True)
    words = (word.format(text=text, out=out) for word in JOBS[job])
    command = [sys.executable, "-m", "grater", *words, *options]
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = {**os.environ, **ONE_CORE}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    memory, cpu_seen = list[tuple[float, float]](), dict[int, float]()
    while process.poll() is None:
        cpu_seen |= cpu_of(process.pid)
        so_far = sum(cpu_seen.values())
        if not memory or so_far >= memory[-1][0] + INTERVAL:  # to add up takes a while: not where nothing was done
            memory.append((so_far, memory_of(process.pid)))
        time.sleep(INTERVAL)
    if process.returncode not in (0, PROBLEMS_FOUND if job == "check" else 0):
        raise SystemExit(f"{' '.join(command)}: exit status {process.returncode}")
    after, seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - started
    cpu = max(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, sum(cpu_seen.values()))
    return Measured(
        job=job,
        megabytes=megabytes,
        workers=workers,
        seconds=seconds,
        cpu_seconds=cpu,
        early_peak=max(peak for so_far, peak in memory if so_far <= max(cpu / 10, memory[0][0])),
        peak=max(peak for _, peak in memory),
    )


def ways_of(workers: str, *, spark: bool) -> dict[str, list[str]]:
    """The options of each way to run a job."""
    ways = {n: ["--jobs", n] for n in workers.split(",")}
    return {**ways, "spark": ["--engine", "spark", "--master", "local[2]"]} if spark else ways


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--sizes", default="100,1000", help="megabytes of text")
    parser.add_argument("--jobs", default="count,events,decide,stats,check")
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--spark", action="store_true", help="also local[2] of Apache Spark")
    parser.add_argument("--out", type=Path, default=WORK / "out", help="where results go for a while")
    asked = parser.parse_args()
    print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    for size in map(int, asked.sizes.split(",")):
        for job in asked.jobs.split(","):
            first: Measured | None = None
            text = made_text(size) if job == "shard" else cut(size)
            ways = {"1": []} if job == "shard" else ways_of(asked.workers, spark=asked.spark)
            for workers, options in ways.items():
                measured = measure(job, text, asked.out, size, workers, options)
                first = first or measured
                print(f"{measured} {first.seconds / measured.seconds:.2f} |", flush=True)


if __name__ == "__main__":
    main()
