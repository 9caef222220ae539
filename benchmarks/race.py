"""The race: every job beside its peer, gathered into one table and one picture.

Each benchmark that has a peer calls `record` with the cost of both.  `python -m benchmarks` runs them all with a file
to write to ($GRATER_RACE); from what they recorded, `benchmarks/race.json`, `python benchmarks/race.py` writes
`docs/race.md` and its picture.  Costs are CPU seconds unless the row says otherwise.  Losses stay in the table, and
the page names peers that were not installed.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from grater import __version__

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "race.json"
PAGE = ROOT / "docs" / "race.md"
PICTURE = ROOT / "docs" / "images" / "race.svg"
FILE = "GRATER_RACE"
SHORT = "--short"
"""The option of a quick race: small sizes, one run where there are several."""
SCALING = 2
"""Sizes of one job and peer from which there is a curve."""

ABSENT = "not installed here: `make peers`"
"""The note on a peer that was not there."""

Row: TypeAlias = Mapping[str, Any]


def record(
    *,
    job: str,
    peer: str,
    ours: float,
    theirs: float | None,
    size: int = 0,
    wanted: float | None = None,
    agrees: bool | None = None,
    unit: str = "CPU s",
    note: str = "",
) -> None:
    """Note one comparison, where the driver asks for it; `theirs` is None where the peer could not run.

    `agrees`: whether both gave the same answer; None where there is none to compare.
    """
    file = os.environ.get(FILE)
    if not file:
        return
    row = {
        "job": job,
        "peer": peer,
        "size": size,
        "ours": ours,
        "theirs": theirs,
        "unit": unit,
        "wanted": wanted,
        "agrees": agrees,
        "note": note,
        "program": Path(sys.argv[0]).stem,
        "date": datetime.now(UTC).date().isoformat(),
        "code": commit(),
        "load": round(os.getloadavg()[0]),
    }
    with Path(file).open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(row) + "\n")


def commit() -> str:
    """The code that is measured: its short hash, with a `+` where it was changed since; empty outside of git.

    The results of a race change while it runs; only programs count.
    """
    short = _git("rev-parse", "--short", "HEAD")
    return f"{short}+" if _git("diff", "--name-only", "HEAD", "--", "*.py") else short


def _git(*asked: str) -> str:
    done = subprocess.run(["git", *asked], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def gathered(file: Path, *, ran: Collection[str], failed: Iterable[str]) -> dict[str, Any]:
    """What a run found, with where and when it was; rows of programs that did not run now stay as they were."""
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.exists() else []
    before = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {"rows": [], "fell_short": []}
    return {
        "machine": machine(),
        "versions": versions(),
        "missing": [name for name in peer_names() if not (ROOT / ".peers" / name / "bin" / "python").exists()],
        "fell_short": sorted({*(name for name in before["fell_short"] if name not in ran), *failed}),
        "rows": [*(row for row in before["rows"] if row.get("program", "") not in ran), *rows],
    }


def keep(results: Mapping[str, Any]) -> None:
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", "utf-8")


def machine() -> str:
    """The processor and its cores."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor() or platform.machine()}, {os.cpu_count()} cores"


def peer_names() -> list[str]:
    return sorted(pins.stem for pins in (ROOT / "benchmarks" / "peers").glob("*.txt"))


def versions() -> dict[str, str]:
    """Ours, and the pins of the peers."""
    pinned = {}
    for pins in sorted((ROOT / "benchmarks" / "peers").glob("*.txt")):
        for line in pins.read_text("utf-8").splitlines():
            name, equals, number = line.partition("==")
            if equals:
                pinned[name] = number
                break
    return {"Python": platform.python_version(), "grater": __version__, **pinned}


HEAD = """# The race

`make bench` installs the peers into environments of their own, runs every job side by side at the peers' best
settings, checks that the answers agree, and writes this page. `LARGE=1` adds ten million judgments; `SHORT=1` takes
smaller texts and fewer runs, and ends within ten minutes on two idle cores; `BENCH="agreement gleu"` chooses
programs. *Ratio*: the peer's cost over ours; below 1 we lose. A peer that cannot be installed is a row without a
ratio. *Measured*: the day, the commit of grater that ran (`+`: with changes), and the load of the machine in the
minute before. How each job is set up stands at the top of its program in `benchmarks/`; what the figures mean, and
older ones, on [Benchmarks](benchmarks.md).
"""


def page(results: Mapping[str, Any]) -> str:
    """The table as Markdown."""
    numbers = ", ".join(f"{name} {number}" for name, number in results["versions"].items())
    about = f"{results['machine']}; {numbers}.\n"
    titles = ("job", "size", "peer", "theirs", "ours", "ratio", "wanted", "answers agree", "measured")
    heading = f"| {' | '.join(titles)} |\n|---|---:|---|---:|---:|---:|---:|---|---|"
    rows = [_line(row) for row in sorted(results["rows"], key=lambda row: (row["job"], row["size"], row["peer"]))]
    notes = [f"- {row['job']}, {row['peer']}: {row['note']}" for row in results["rows"] if row["note"]]
    short = results["fell_short"]
    ends = [f"Programs that fell short of what was wanted, or could not run: {', '.join(short)}."] if short else []
    if results["missing"]:
        ends.append(f"Peers that were not installed in this run: {', '.join(results['missing'])}.")
    curves = ["![Cost by size, both axes logarithmic](images/race.svg)"] if scaling(results["rows"]) else []
    notes_of = ["\n".join(dict.fromkeys(notes))] if notes else []
    return "\n".join([HEAD, about, "\n".join([heading, *rows]), *_spaced([*notes_of, *ends, *curves])]) + "\n"


def _spaced(blocks: Iterable[str]) -> list[str]:
    return [f"\n{block}" for block in blocks]


def _line(row: Row) -> str:
    ratio = "–" if row["theirs"] is None else _short(row["theirs"] / row["ours"])
    theirs = "could not run" if row["theirs"] is None else f"{_short(row['theirs'])} {row['unit']}"
    wanted = "–" if row["wanted"] is None else f"{row['wanted']:g}"
    agrees = {True: "yes", False: "**no**", None: "–"}[row["agrees"]]
    size = f"{row['size']:,}" if row["size"] else ""
    ours = f"{_short(row['ours'])} {row['unit']}"
    cells = (row["job"], size, row["peer"], theirs, ours, ratio, wanted, agrees, _measured(row))
    return f"| {' | '.join(cells)} |"


def _measured(row: Row) -> str:
    """When, with which code, and how busy the machine was; older rows know the day alone."""
    return f"{row['date']}, {row['code']}, load {row['load']}" if "code" in row else str(row["date"])


def _short(number: float) -> str:
    """Three digits, without an exponent."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def scaling(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Points of curves: cost by size of jobs that were run at several sizes."""
    rows = list(rows)
    sizes: dict[tuple[str, str], set[int]] = {}
    for row in rows:
        sizes.setdefault((row["job"], row["peer"]), set()).add(row["size"])
    several = [row for row in rows if len(sizes[row["job"], row["peer"]] - {0}) >= SCALING]
    points = [
        {"job": row["job"], "size": row["size"], "cost": cost, "tool": tool}
        for row in several
        for tool, cost in (("grater", row["ours"]), (row["peer"], row["theirs"]))
        if cost
    ]
    return [dict(point) for point in {tuple(sorted(point.items())) for point in points}]


def draw(points: list[dict[str, Any]], path: Path) -> None:
    """One panel for each job, both axes logarithmic."""
    import vl_convert

    def axis(field: str, title: str) -> dict[str, Any]:
        return {"field": field, "type": "quantitative", "scale": {"type": "log"}, "axis": {"title": title}}

    tool = {"field": "tool", "type": "nominal", "title": None}
    values = sorted(points, key=lambda point: (point["job"], point["tool"], point["size"]))
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "background": "white",
        "data": {"values": values},
        "facet": {"field": "job", "type": "nominal", "title": None},
        "columns": 3,
        "spec": {
            "width": 220,
            "height": 180,
            "mark": {"type": "line", "point": True},
            "encoding": {
                "x": axis("size", "judgments"),
                "y": axis("cost", "seconds"),
                "color": tool,
                "strokeDash": tool,
            },
        },
    }
    path.write_text(vl_convert.vegalite_to_svg(json.dumps(spec)), "utf-8")


def render() -> int:
    """Write the page and its picture from the last results."""
    results = json.loads(RESULTS.read_text("utf-8"))
    PAGE.write_text(page(results), "utf-8")
    points = scaling(results["rows"])
    if points:
        draw(points, PICTURE)
    print(f"{PAGE.relative_to(ROOT)}: {len(results['rows'])} rows")
    return 0


if __name__ == "__main__":
    sys.exit(render())
