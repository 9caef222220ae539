"""Whatever the bytes are, nothing but a GraterError comes out of a reader."""

from __future__ import annotations

import contextlib
import io
import json
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.errors import GraterError
from grater.tables import read_judgments, read_table
from grater.tables.schema import SCHEMAS, Kind
from tests.examples import examples

COLUMNS = [
    *("item", "rater", "label", "flagged", "score", "start", "end", "essay", "kind", "system", "stratum"),
    *("probability", "confidence", "flags", "payload", "seconds", "\x00place"),
    *("HITId", "WorkerId", "AssignmentId", "Answer.x"),
    *("_unit_id", "_worker_id", "_tainted", "_created_at", "_golden", "q", "q_gold"),
]
CELLS = ["", " ", "1", "0.5", "nan", "-1", "1e999", "true", "[1, 2]", "{}", "é", "\0", "=1", "'=1", "x|y", "low"]
SIGNS = [*",,,\n\n\r\t;", "\r\n", *"\"'|\ufeff\u2028[]{}:"]
PIECES = [*COLUMNS, *CELLS, *SIGNS]
TEXT = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=40).map("".join)
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
VALUES = PLAIN | st.lists(st.integers(), max_size=2)
NAMES = st.sampled_from(COLUMNS)


def attempt(source: object) -> None:
    for kind in SCHEMAS:
        with contextlib.suppress(GraterError):
            read_table(kind, source)
    with contextlib.suppress(GraterError):
        read_judgments(source, drop_flags=("f",), min_confidence=0.5, duplicates="last")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@examples(60)
@given(content=TEXT.map(lambda text: text.encode("utf-8", "surrogatepass")) | st.binary(max_size=60))
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".csv.gz"])
def test_no_text_file_breaks_a_reader(folder: Path, suffix: str, content: bytes) -> None:
    path = folder / f"t{suffix}"
    path.write_bytes(content)
    attempt(path)


@examples(60)
@given(
    st.lists(NAMES, min_size=2, max_size=8, unique=True),
    st.lists(st.lists(st.sampled_from(CELLS), min_size=8, max_size=8), max_size=3),
)
def test_no_cells_under_known_names_break_a_reader(folder: Path, header: list[str], rows: list[list[str]]) -> None:
    path = folder / "t.tsv"
    path.write_text("\n".join("\t".join(row[: len(header)]) for row in [header, *rows]))
    attempt(path)


@examples(60)
@given(st.lists(st.dictionaries(NAMES, VALUES, max_size=6), min_size=1, max_size=4))
def test_no_json_breaks_a_reader(folder: Path, rows: list[dict[str, object]]) -> None:
    path = folder / "t.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    attempt(path)


@examples(60)
@given(st.dictionaries(NAMES, st.lists(VALUES, min_size=2, max_size=2), max_size=6))
def test_no_frame_breaks_a_reader(columns: dict[str, list[object]]) -> None:
    attempt(pl.DataFrame({name: pl.Series(values, strict=False) for name, values in columns.items()}))
    attempt(pl.DataFrame({name: pl.Series(values, dtype=pl.Object) for name, values in columns.items()}))


@pytest.mark.parametrize("kind", list(SCHEMAS))
def test_no_damage_to_parquet_breaks_a_reader(folder: Path, kind: Kind) -> None:
    stream = io.BytesIO()
    pl.DataFrame({column.name: ["1", "0"] for column in SCHEMAS[kind].columns}).write_parquet(stream)
    whole = stream.getvalue()
    chance = random.Random(20)
    path = folder / "t.parquet"
    for _ in range(40):
        content = bytearray(whole)
        for _ in range(3):
            content[chance.randrange(len(content))] = chance.randrange(256)
        path.write_bytes(bytes(content[: chance.choice([len(content), len(content), len(content) // 2])]))
        with contextlib.suppress(GraterError):
            read_table(kind, path)
