"""Where the real corpora lie, what is read of them, and where results go."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from grater.corpora import read_merged
from grater.corpora.source import open_source
from grater.model import Essay, Interval

ROOT = Path(os.environ.get("GRATER_DATA") or Path(__file__).parents[2] / ".." / "shared" / "data")
WORK = Path(__file__).parents[1] / "work" / "detect"
NATIVE = ("amalgum", "elife", "gutenberg", "openstax", "scotus")
"""What the shipped models learn from; onestop (CC BY-SA) is left out and serves to choose settings on."""


def need(relative: str) -> Path:
    path = ROOT / relative
    if not path.exists():
        sys.exit(f"real data missing: {relative} (set GRATER_DATA to the folder that holds it)")
    return path


def lines_of(relative: str) -> Iterator[str]:
    yield from open_source(need(relative)).lines()


def native_lines() -> Iterator[str]:
    for name in NATIVE:
        yield from lines_of(f"native/{name}.txt.xz")


def brown_essays() -> Iterator[Essay]:
    """Brown, a sentence an essay, tokens as they stand there."""
    for number, line in enumerate(lines_of("native-test/brown.txt.xz")):
        yield Essay(str(number), line.strip())


def conll14() -> list[Essay]:
    """The test set with its ten annotators, A1 to A10; A7 is official annotator 0, A3 annotator 1."""
    folder = need("conll14/ten-annotators")
    return list(read_merged([folder / f"A{number}.m2" for number in range(1, 11)]))


def keep(name: str, result: object) -> None:
    """Write a result beside the others, for the page of figures."""
    WORK.mkdir(parents=True, exist_ok=True)
    (WORK / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def cell(value: Interval) -> str:
    """As tables of the docs have it: `.312 [.251, .380]`."""
    if value.undefined_because:
        return "–"
    return " ".join([_plain(value.value), f"[{_plain(value.low)}, {_plain(value.high)}]"])


def _plain(number: float) -> str:
    return f"{number:.3f}".removeprefix("0")


def table(headers: list[str], rows: list[list[str]]) -> None:
    """A table in Markdown."""
    print("| " + " | ".join(headers) + " |")
    print("|" + "---|" * len(headers))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(flush=True)
