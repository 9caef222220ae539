"""Results do not depend on how a corpus was cut, in which order its shards are done, or by how many processes."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from multiprocessing import active_children
from pathlib import Path

import pytest

from grater.corpora.counts import Counting
from grater.corpora.statistics import statistics_of
from grater.errors import GraterError
from grater.files import place
from grater.scale import counting
from grater.scale.counting import CountJob, held_out_lines, run_count
from grater.scale.engines import Engine, InProcess, Processes
from grater.scale.jobs import Parts, run_job
from grater.scale.passes import DECISIONS, ITEMS, DecideJob, tally_of
from grater.scale.shards import LazyCut, ShardSource
from grater_train.jobs import ArticleEventsJob, EventsJob, in_passages, run_events
from tests.scale.corpora import cut_into, hash_of_rows, write_essays, write_lines

CUTS = (1, 3, 17)


@pytest.fixture(scope="module")
def folder(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpora")
    write_essays(folder / "essays.jsonl")
    write_essays(folder / "few.jsonl", 6)
    write_lines(folder / "lines.txt")
    for name in ("one", "two"):
        shutil.copy(tiny_model, folder / f"{name}.model")
    return folder


def rows(parts: Parts) -> str:
    return hash_of_rows(list(parts.frames()))


def decided(
    systems: tuple[str, ...], folder: Path, shards: ShardSource, out: Path, engine: Engine
) -> tuple[str, ...]:
    named = tuple(str(folder / name) if name.endswith(".model") else name for name in systems)
    job = DecideJob(systems=named, items=True)
    results = run_job(job, shards, {table: out / table for table in (DECISIONS, ITEMS)}, engine)
    return rows(results[DECISIONS]), rows(results[ITEMS]), json.dumps(results[DECISIONS].totals)


def counted(folder: Path, shards: ShardSource, out: Path, engine: Engine) -> tuple[str, ...]:  # noqa: ARG001
    parts = run_count(CountJob(hold_out=True), shards, out, engine)
    return (*(part.sha256 for part in parts.parts), *held_out_lines(out))


def events(folder: Path, shards: ShardSource, out: Path, engine: Engine) -> tuple[str, ...]:  # noqa: ARG001
    return rows(run_events(EventsJob(seed=3), shards, out, engine)), *held_out_lines(out)


def article_events(folder: Path, shards: ShardSource, out: Path, engine: Engine) -> tuple[str, ...]:  # noqa: ARG001
    """Passages go over the ends of the shards of lines, so the lines are cut anew."""
    in_order = sorted(shards, key=lambda shard: shard.number)
    passages = in_passages(line for shard in in_order for line in shard.read())
    cut = LazyCut(passages, out / "cut", size=20_000)
    parts = run_events(ArticleEventsJob(), cut, out / "events", engine)
    assert len(parts.parts) > 1
    return (*(part.sha256 for part in parts.parts), *held_out_lines(out / "events"))


def studied(folder: Path, shards: ShardSource, out: Path, engine: Engine) -> tuple[str, ...]:  # noqa: ARG001
    tally = tally_of("essays", shards, "language", Counting(), engine)
    result = statistics_of([tally], "language", Counting())
    return (json.dumps(result.to_dict()),)


JOBS = {
    "decide": partial(decided, ("one.model", "two.model")),
    "decide by a network": partial(decided, ("context",)),  # in batches, with the answers that a sentence has alone
    "count": counted,
    "events": events,
    "article events": article_events,
    "statistics": studied,
}
TEXT_JOBS = ("count", "events", "article events")
CORPORA = {"decide by a network": "few.jsonl"} | dict.fromkeys(TEXT_JOBS, "lines.txt")
"""What a job is tried on; the others on `essays.jsonl`."""


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    """Two that all jobs share: each takes a second to import what they need."""
    with closing(Processes(2)) as engine:
        yield engine


@pytest.mark.parametrize("name", JOBS)
def test_neither_cut_nor_processes_change_a_thing(
    name: str, folder: Path, tmp_path: Path, processes: Processes
) -> None:
    path = folder / CORPORA.get(name, "essays.jsonl")
    shards = {n: cut_into(path, n, tmp_path / f"cut{n}", lines=name in TEXT_JOBS) for n in CUTS}
    assert len(shards[17].shards) > len(shards[3].shards) > len(shards[1].shards) == 1
    engines: dict[int, Engine] = {1: InProcess(), 3: processes, 17: InProcess()}
    first, *others = (JOBS[name](folder, shards[n], tmp_path / f"out{n}", engines[n]) for n in CUTS)
    assert first
    assert others == [first, first]


def test_a_corpus_and_its_counts_lie_at_urls(folder: Path, tmp_path: Path) -> None:
    """In memory, by the same package that reads s3:// and hdfs://; a second run finds all of it there."""
    here, shards = (
        cut_into(folder / "lines.txt", 7, out, lines=True) for out in (tmp_path / "cut", Path("memory://corpora/cut"))
    )
    expected = [part.sha256 for part in run_count(CountJob(hold_out=True), here, tmp_path / "out", InProcess()).parts]
    for _ in range(2):
        there = run_count(CountJob(hold_out=True), shards, Path("memory://corpora/counts"), InProcess())
        assert [part.sha256 for part in there.parts] == expected
    left = {path.name.split("-")[0] for path in place("memory://corpora/counts").iterdir()}
    assert left == {"part", "held", "manifest.json"}
    with pytest.raises(GraterError, match=r"nowhere:/x.*cannot be opened"):
        place(Path("nowhere://x"))


def test_a_counter_of_fifteen_lines_agrees(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "WORDS_AT_ONCE", 1000)
    from grater.corpora.text.sentences import sentence_tokens
    from grater.detect.ngrams.counts import normal

    text = (folder / "lines.txt").read_text(encoding="utf-8-sig")
    expected: Counter[str] = Counter()
    for line in dict.fromkeys(line.strip() for line in text.split("\n") if line.strip()):
        for _, words in sentence_tokens(line):
            padded = ["<s>", *map(normal, words), "</s>"]
            for order in range(1, 5):
                for start in range(len(padded) - order + 1):
                    expected[" ".join(padded[start : start + order])] += 1
    del expected["<s>"]
    shards = cut_into(folder / "lines.txt", 5, tmp_path / "cut", lines=True)
    parts = run_count(CountJob(), shards, tmp_path / "out", InProcess())
    counts = {ngram: n for frame in parts.frames() for ngram, n in zip(frame["ngram"], frame["n"], strict=True)}
    assert counts == expected
    assert len(parts.parts) > 4


def test_a_worker_killed_in_mid_job_costs_a_second_try_and_changes_nothing(folder: Path, tmp_path: Path) -> None:
    shards = cut_into(folder / "lines.txt", 17, tmp_path / "cut", lines=True)
    expected = run_count(CountJob(), shards, tmp_path / "here", InProcess())
    messages: list[str] = []
    killed: list[int] = []
    of_others = set(active_children())

    def kill_one(number: int) -> None:
        if not killed:
            worker = next(child.pid for child in active_children() if child not in of_others)
            assert worker
            os.kill(worker, signal.SIGKILL)
            killed.append(number)

    with closing(Processes(2, messages.append)) as engine:
        parts = run_count(CountJob(), shards, tmp_path / "there", engine, done=kill_one)
    assert [part.sha256 for part in parts.parts] == [part.sha256 for part in expected.parts]
    (message,) = messages
    assert message.startswith("a worker ended by itself at count of shard-")
    assert message.endswith("; trying again")
