"""The results file, benchmarks/results.json, and the page that is written from it, docs/benchmarks.md.

The file has for each question the day, the commit (`+` where programs had changed since) and the load of the
machine in the minute before, the rows of the race and other tables.  The words of the page are in
benchmarks/page.md; a line `<!-- race: QUESTION -->` or `<!-- tables: QUESTION -->` there stands for what was found.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.harness import ROOT, Row, Table

RESULTS = ROOT / "benchmarks" / "results.json"
TEMPLATE = ROOT / "benchmarks" / "page.md"
PAGE = ROOT / "docs" / "benchmarks.md"
PINS = ROOT / "benchmarks" / "peers"
INNERMOST = re.compile(r"[\[{][^\[\]{}]*[\]}]")
PLACE = re.compile(r"^<!-- (race|tables): (\w+) -->$", re.M)


def keep(question: str, found: Iterable[Row | Table]) -> None:
    """Put what a question found in the place of what was known of it."""
    found = list(found)
    known = json.loads(RESULTS.read_text("utf-8"))
    known["machine"], known["versions"] = machine(), versions()
    known["questions"][question] = {
        "date": datetime.now(UTC).date().isoformat(),
        "code": commit(),
        "load": round(os.getloadavg()[0]),
        "rows": [asdict(each) for each in found if isinstance(each, Row)],
        "tables": [asdict(each) for each in found if isinstance(each, Table)],
    }
    write(known)


def write(known: Mapping[str, Any]) -> None:
    """As JSON with one row, or one row of a table, a line."""
    text = json.dumps(known, indent=1, ensure_ascii=False)
    RESULTS.write_text(INNERMOST.sub(lambda part: " ".join(part[0].split()), text) + "\n", "utf-8")


def write_page() -> None:
    PAGE.write_text(page(json.loads(RESULTS.read_text("utf-8"))), "utf-8")
    print(f"{PAGE.relative_to(ROOT)} is written")


def commit() -> str:
    """The short hash of the code, with a `+` where a program was changed since; empty outside of git."""
    short = _git("rev-parse", "--short", "HEAD")
    return f"{short}+" if _git("diff", "--name-only", "HEAD", "--", "*.py") else short


def _git(*asked: str) -> str:
    return subprocess.run(["git", *asked], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


def machine() -> str:
    info = Path("/proc/cpuinfo")
    names = re.findall(r"^model name\s*:\s*(.+)$", info.read_text("utf-8") if info.exists() else "", re.M)
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores"


def versions() -> dict[str, str]:
    """Ours, and the first pin of each peer."""
    from grater import __version__

    pinned = [re.search(r"^([\w.-]+)==(\S+)", pins.read_text("utf-8"), re.M) for pins in sorted(PINS.glob("*.txt"))]
    return {
        "Python": platform.python_version(),
        "grater": __version__,
        **{pin[1]: pin[2] for pin in pinned if pin is not None},
    }


def page(known: Mapping[str, Any]) -> str:
    """The page as Markdown."""

    def found(place: re.Match[str]) -> str:
        question = known["questions"].get(place[2])
        if question is None:
            return "*Not measured yet.*"
        return race(question) if place[1] == "race" else tables(question)

    peers = ", ".join(f"{name} {number}" for name, number in known["versions"].items())
    head = f"{known['machine']}; {peers}"
    return PLACE.sub(found, TEMPLATE.read_text("utf-8")).replace("<!-- machine -->", head)


def race(question: Mapping[str, Any]) -> str:
    """A row for each job and peer, at the largest size that was measured."""
    rows = list(
        {
            (row["job"], row["peer"]): row for row in sorted(question["rows"], key=lambda row: row["size"] or 0)
        }.values()
    )
    rows.sort(key=question["rows"].index)
    head = [line(("job", "size", "peer", "ours", "ratio")), "|---|---:|---|---:|---:|"]
    notes = dict.fromkeys(f"{row['job']}: {row['note']}." for row in rows if row["note"])
    differ = [f"{row['job']}: the answers differ." for row in rows if row["agrees"] is False]
    return "\n".join([*head, *map(_line, rows), "", " ".join([measured(question), *notes, *differ])])


def _line(row: Mapping[str, Any]) -> str:
    size = f"{row['size']:,}" if row["size"] else ""
    cost = f"{short(row['ours'])} {row['unit'].replace('CPU s', '')}".strip()
    could_not = "could not run" if row["peer"] else ""
    ratio = could_not if row["theirs"] is None else f"**{short(row['theirs'] / row['ours'])}**"
    return line((row["job"], size, row["peer"], cost, ratio))


def tables(question: Mapping[str, Any]) -> str:
    blocks = []
    summed = [table for table in question["tables"] if table["summary"]]
    if summed:
        rows = [
            [
                *((f"{table['title']} ({table['note']})", len(table["rows"])) if not n else ("", "")),
                name,
                *_range(table, columns),
            ]
            for table in summed
            for n, (name, columns) in enumerate(table["summary"].items())
        ]
        blocks.append(_table(["what", "designs", "intervals", "lowest", "highest"], rows))
    for table in question["tables"]:
        if not table["summary"]:
            note = f" ({table['note']})" if table["note"] else ""
            blocks.append(f"**{table['title']}**{note}\n\n{_table(table['columns'], table['rows'])}")
    return "\n\n".join(blocks if question["rows"] else [*blocks, measured(question)])


def _range(table: Mapping[str, Any], columns: Sequence[str]) -> tuple[str, str]:
    places = [table["columns"].index(name) for name in columns]
    values = [row[place] for row in table["rows"] for place in places if isinstance(row[place], float | int)]
    return share(min(values)), share(max(values))


def _table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    return "\n".join([line(columns), "|" + "---|" * len(columns), *map(line, rows)])


def line(cells: Iterable[Any]) -> str:
    return f"| {' | '.join(short(cell) if isinstance(cell, float) else _whole(cell) for cell in cells)} |"


def _whole(cell: object) -> str:
    return f"{cell:,}" if isinstance(cell, int) else "" if cell is None else str(cell)


def measured(question: Mapping[str, Any]) -> str:
    code = f" at {question['code']}" if question["code"] else ""
    load = "" if question["load"] is None else f", load {question['load']}"
    return f"Measured {question['date']}{code}{load}."


def short(number: float) -> str:
    """Three digits, without an exponent."""
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}".removeprefix("0") if number else "0"


def share(number: float) -> str:
    return f"{number:.3f}".removeprefix("0")


def shown(each: Row | Table) -> str:
    """One result for the terminal."""
    if isinstance(each, Row):
        return _line(asdict(each))
    return f"\n{each.title} ({each.note})\n{_table(each.columns, each.rows)}"
