from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from grater.scale.jobs import read_parts
from grater.tables import read_decisions
from tests.cli.running import as_json, invoked, refused
from tests.detect.prepositions.native_text import native_lines
from tests.scale.corpora import write_essays


@pytest.fixture(scope="module")
def folder(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scale")
    shutil.copy(tiny_model, folder)
    write_essays(folder / "essays.jsonl")
    (folder / "lines.txt").write_text("\n".join(native_lines()) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def in_folder(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside links to the model, the essays and the lines."""
    monkeypatch.chdir(tmp_path)
    for path in folder.iterdir():
        Path(path.name).symlink_to(path)


@pytest.fixture
def cut() -> Path:
    invoked("lab shard essays.jsonl --out cut --shard-size 2000")
    return Path("cut")


def test_decisions_go_into_a_folder_a_part_for_each_shard(cut: Path) -> None:
    (summary,) = as_json("decide cut --system tiny.model --out d --items-out i")["systems"]
    invoked("decide essays.jsonl --system tiny.model --out whole.parquet --items-out i.csv")
    assert read_decisions("d").frame.equals(read_decisions("whole.parquet").frame)
    assert summary["items"] == len(pl.read_csv("i.csv")) == read_parts(Path("i"), job="decide").n_rows
    assert len(read_parts(Path("d"), job="decide").parts) == len(list(cut.glob("shard-*")))


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


@pytest.mark.usefixtures("cut")
def test_a_second_run_completes_what_a_killed_one_left_unread() -> None:
    command = "decide cut --system tiny.model --out"
    ran = subprocess.run([sys.executable, "-c", KILLED, *command.split(), "d"], check=False)
    assert ran.returncode == -signal.SIGKILL
    assert "has not finished; run it again" in refused("sample d --system tiny --n 2 --out s.csv")
    done = {path.name: path.stat().st_mtime_ns for path in Path("d").glob("part-*")}
    assert len(done) == 2
    invoked(command, "d")
    assert {name: Path("d", name).stat().st_mtime_ns for name in done} == done
    invoked(command, "other")
    ours, theirs = ({path.name: path.read_bytes() for path in Path(out).iterdir()} for out in ("d", "other"))
    assert ours == theirs


def test_results_of_another_job_are_not_mistaken_for_these() -> None:
    for order in (1, 2):
        invoked("lab count lines.txt --out out --order", order)
    orders = {order for frame in read_parts(Path("out"), job="count").frames() for order in frame["order"]}
    assert orders == {1, 2}
    assert not Path("out/partial").exists()


def test_suspects_are_mined_by_a_folder_of_counts() -> None:
    invoked("lab count lines.txt --order 3 --out counts")
    invoked("lab mine essays.jsonl --text lines.txt --out a.csv")
    invoked("lab mine essays.jsonl --counts counts --out b.csv")
    assert Path("a.csv").read_text() == Path("b.csv").read_text()


@pytest.mark.usefixtures("cut")
def test_statistics_of_shards_add_up() -> None:
    plain = as_json("corpus stats essays.jsonl --by language")
    by_shards = as_json("corpus stats cut --jobs 2 --by language")
    for result in (plain, by_shards):
        del result["files"]
    assert by_shards == plain
