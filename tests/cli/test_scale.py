from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from grater.scale.jobs import read_parts
from grater.tables import read_decisions
from tests.cli.running import Capture, grater
from tests.detect.prepositions.native_text import native_lines
from tests.scale.corpora import write_essays


@pytest.fixture(scope="module")
def folder(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scale")
    shutil.copy(tiny_model, folder)
    write_essays(folder / "essays.jsonl")
    (folder / "lines.txt").write_text("\n".join(native_lines()) + "\n", encoding="utf-8")
    return folder


def shard(capsys: Capture, folder: Path, out: Path, size: int) -> Path:
    ran = grater(capsys, "lab", "shard", folder / "essays.jsonl", "--out", out, "--shard-size", size)
    assert ran.status == 0
    return out


def test_decisions_go_into_a_folder_a_part_for_each_shard(folder: Path, tmp_path: Path, capsys: Capture) -> None:
    cut = shard(capsys, folder, tmp_path / "cut", 2000)
    options = ("--system", folder / "tiny.model")
    ran = grater(capsys, "decide", cut, *options, "--out", tmp_path / "d", "--items-out", tmp_path / "i", "--json")
    assert ran.status == 0
    (summary,) = json.loads(ran.out)["systems"]
    whole = tmp_path / "whole.parquet"
    grater(capsys, "decide", folder / "essays.jsonl", *options, "--out", whole, "--items-out", tmp_path / "i.csv")
    assert read_decisions(tmp_path / "d").frame.equals(read_decisions(whole).frame)
    assert summary["items"] == len(pl.read_csv(tmp_path / "i.csv")) == read_parts(tmp_path / "i", job="decide").n_rows
    assert len(read_parts(tmp_path / "d", job="decide").parts) == len(list(cut.glob("shard-*")))


KILLED = """
import os, signal, sys
from grater.scale import jobs
written = []
def write_part(frame, path, totals, write=jobs.write_part):
    part = write(frame, path, totals)
    written.append(part)
    if len(written) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return part
jobs.write_part = write_part
from grater.cli import main
main(sys.argv[1:])
"""
"""A driver that is killed when it has written two parts."""


def test_a_second_run_completes_what_a_killed_one_left_unread(folder: Path, tmp_path: Path, capsys: Capture) -> None:
    cut = shard(capsys, folder, tmp_path / "cut", 2000)
    command = ("decide", cut, "--system", folder / "tiny.model", "--out")
    ran = subprocess.run([sys.executable, "-c", KILLED, *map(str, command), tmp_path / "d"], check=False)
    assert ran.returncode == -signal.SIGKILL
    evaluated = grater(capsys, "sample", tmp_path / "d", "--system", "tiny", "--n", 2, "--out", tmp_path / "s.csv")
    assert evaluated.status == 2
    assert "has not finished; run it again" in evaluated.err
    done = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "d").glob("part-*")}
    assert len(done) == 2
    assert grater(capsys, *command, tmp_path / "d").status == 0
    assert {name: (tmp_path / "d" / name).stat().st_mtime_ns for name in done} == done
    assert grater(capsys, *command, tmp_path / "other").status == 0
    names = sorted(path.name for path in (tmp_path / "other").iterdir())
    assert sorted(path.name for path in (tmp_path / "d").iterdir()) == names
    for name in names:
        assert (tmp_path / "d" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


def test_results_of_another_job_are_not_mistaken_for_these(folder: Path, tmp_path: Path, capsys: Capture) -> None:
    lines, out = folder / "lines.txt", tmp_path / "out"
    assert grater(capsys, "lab", "count", lines, "--order", 1, "--out", out).status == 0
    assert grater(capsys, "lab", "count", lines, "--order", 2, "--out", out).status == 0
    orders = {order for frame in read_parts(out, job="count").frames() for order in frame["order"]}
    assert orders == {1, 2}
    assert not (out / "partial").exists()


def test_suspects_are_mined_by_a_folder_of_counts(folder: Path, tmp_path: Path, capsys: Capture) -> None:
    grater(capsys, "lab", "count", folder / "lines.txt", "--order", 3, "--out", tmp_path / "counts")
    for name, source in (("a", ("--text", folder / "lines.txt")), ("b", ("--counts", tmp_path / "counts"))):
        ran = grater(capsys, "lab", "mine", folder / "essays.jsonl", *source, "--out", tmp_path / f"{name}.csv")
        assert ran.status == 0, ran.err
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()


def test_statistics_of_shards_add_up(folder: Path, tmp_path: Path, capsys: Capture) -> None:
    cut = shard(capsys, folder, tmp_path / "cut", 2000)
    options = ("--by", "language", "--json")
    plain = json.loads(grater(capsys, "corpus", "stats", folder / "essays.jsonl", *options).out)
    by_shards = json.loads(grater(capsys, "corpus", "stats", cut, "--jobs", 2, *options).out)
    for result in (plain, by_shards):
        del result["files"]
    assert by_shards == plain
