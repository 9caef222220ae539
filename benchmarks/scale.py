"""How jobs grow with the text and with processes, and what a million items to evaluate take.

The text is made: sentences of the bundled sample essays with a quarter of their words drawn anew, cut into shards.
Each job is a command of its own; five times a second the memory of its whole tree of processes is added up, mapped
files once.  Every process has one core: left alone, polars would use all of them in a run of one process.
`evaluate` has three systems and 20 judgments of each item by 200 raters, from Parquet.

    python -m benchmarks.scale [--sizes 100,1000] [--jobs count,decide] [--workers 1,2] [--spark]
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from benchmarks.harness import GRATER, WORK, Row, Size, Table, cost

import grater
from grater.corpora.text.sentences import sentence_tokens
from grater.demo import sample_path

HERE = WORK / "scale"
JOBS = {
    "shard": ("lab", "shard", "{text}", "--lines", "--out", "{out}"),
    "count": ("lab", "count", "{text}", "--out", "{out}"),
    "decide": ("decide", "{text}", "--system", "prep-maxent", "--out", "{out}"),
    "stats": ("corpus", "stats", "{text}"),
    "check": ("corpus", "lint", "{text}"),
}
INTERVAL = 0.2
N_RATERS, N_EACH, SYSTEMS = 200, 20, ("A", "B", "C")


def made_text(megabytes: int) -> Path:
    """Lines of three sentences."""
    path = HERE / f"text-{megabytes}.txt"
    if path.exists():
        return path
    HERE.mkdir(parents=True, exist_ok=True)
    sentences = [
        list(words) for essay in grater.read_corpus(sample_path()) for _, words in sentence_tokens(essay.text)
    ]
    words = np.array(sorted({word for sentence in sentences for word in sentence if word.isalpha()}))
    rng, n_bytes, part = np.random.default_rng(1), 0, path.with_suffix(".part")
    with part.open("w", encoding="utf-8") as stream:
        while n_bytes < megabytes * 1_000_000:
            line = [word for number in rng.integers(len(sentences), size=3) for word in sentences[number]]
            new, chance = rng.choice(words, len(line)), rng.random(len(line))
            kept = zip(line, new, chance, strict=True)
            drawn = " ".join(str(other) if word.isalpha() and p < 0.25 else word for word, other, p in kept)
            n_bytes += stream.write(drawn + "\n")
    return part.rename(path)


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


def run(job: str, text: Path, out: Path, options: Sequence[str]) -> tuple[float, float, float]:
    """Seconds, CPU seconds, peak megabytes."""
    shutil.rmtree(out, ignore_errors=True)
    command = [*GRATER, *(word.format(text=text, out=out) for word in JOBS[job]), *options]
    before, started, peak = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter(), 0.0
    environment = {**os.environ, "POLARS_MAX_THREADS": "1"}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        peak = max(peak, memory_of(process.pid))
        time.sleep(INTERVAL)
    if process.returncode not in (0, job == "check"):  # a check that found something ends with 1
        raise RuntimeError(f"{' '.join(map(str, command))}: exit status {process.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - started, cpu, peak


def jobs(asked: argparse.Namespace) -> Iterator[list[str | int | float]]:
    for size in map(int, asked.sizes.split(",")):
        text, shards = made_text(size), HERE / f"text-{size}.cut"
        if not (shards / "manifest.json").exists():
            run("shard", text, shards, ())
        for job in asked.jobs.split(","):
            ways = {n: ["--jobs", n] for n in asked.workers.split(",")}
            if asked.spark:
                ways["Spark, local[2]"] = ["--engine", "spark", "--master", "local[2]"]
            first = 0.0
            for workers, options in ways.items():
                seconds, cpu, peak = run(job, shards, HERE / "out", options)
                first = first or seconds
                yield [job, size, workers, round(seconds), round(cpu), round(peak), round(first / seconds, 2)]


def made_judgments(n_items: int) -> tuple[Path, Path]:
    """Decisions and judgments: errors are a tenth, raters right in nine cases of ten."""
    paths = HERE / f"decisions-{n_items}.parquet", HERE / f"judgments-{n_items}.parquet"
    if all(path.exists() for path in paths):
        return paths
    HERE.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    names = np.array([f"{place:016x}" for place in range(n_items)])
    is_error = rng.random(n_items) < 0.1
    flags = [is_error ^ (rng.random(n_items) < noise) for noise in (0.05, 0.06, 0.2)]
    decided = {
        "item": np.tile(names, len(SYSTEMS)),
        "system": np.repeat(SYSTEMS, n_items),
        "flagged": np.concatenate(flags),
    }
    pl.DataFrame(decided).write_parquet(paths[0])
    who = ((rng.integers(0, N_RATERS, (n_items, 1)) + np.arange(N_EACH)) % N_RATERS).ravel()
    says = np.repeat(is_error, N_EACH) ^ (rng.random(n_items * N_EACH) < 0.1)
    raters = np.array([f"r{place}" for place in range(N_RATERS)])
    judged = {"item": np.repeat(names, N_EACH), "rater": raters[who], "label": np.where(says, "error", "ok")}
    pl.DataFrame(judged).write_parquet(paths[1])
    return paths


def options(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="30", help="megabytes of text")
    parser.add_argument("--jobs", default="count,events,decide,stats")
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--spark", action="store_true")
    return parser.parse_args(words)


def measure(size: Size, words: Sequence[str] = ()) -> Iterator[Row | Table]:
    short = ["--sizes", "1", "--jobs", "decide", "--workers", "1,2"]
    large = ["--sizes", "100,1000", "--workers", "2"]
    asked = options(words or {"short": short, "usual": (), "large": large}[size])
    columns = ("job", "MB of text", "processes", "seconds", "CPU seconds", "peak MB", "times as fast")
    yield Table("Jobs on shards", columns, list(jobs(asked)))
    n_items = 10_000 if size == "short" else 1_000_000
    subprocess.run(
        [sys.executable, "-c", f"from benchmarks import scale; scale.made_judgments({n_items})"], check=True
    )
    decisions, judgments = made_judgments(n_items)
    own = cost([*GRATER, "evaluate", "--decisions", decisions, "--judgments", judgments, "--json"])
    yield Row("`evaluate`, three systems, 20 judgments an item", own.cpu, n_items, goal=60)
    yield Row("its peak memory", own.megabytes, n_items, goal=2048, unit="MB")


if __name__ == "__main__":
    for each in measure("usual", sys.argv[1:]):
        print(each)
