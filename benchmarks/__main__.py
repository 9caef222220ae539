"""The race: every program that has a peer, one after the other, and the table of all ratios.

    python -m benchmarks [--large|--short] [NAME ...]

`--large` adds ten million judgments; `--short` takes smaller texts and fewer runs, and ends within ten minutes on two
idle cores.  Names choose programs, those without a peer too.  The rows that they record (`race.record`) become
`benchmarks/race.json` after each program, and `docs/race.md` with its picture is written from it at the end: what a
program that breaks off had recorded is kept, and the page names it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import race  # noqa: E402  (found beside this file, as the programs find it)

NOT_BENCHMARKS = {"__main__.py", "__init__.py", "peers.py", "race.py", "make_nucle_sized.py"}

TAKES = {
    race.SHORT: {"aggregation", "agreement", "extraction", "importing", "m2_parse", "maxmatch", "tokenising"},
    "--large": {"aggregation", "agreement"},
}
"""Programs that know these options."""

HAVE_PEERS = {
    "aggregation",
    "agreement",
    "errant_compare",
    "extraction",
    "gleu",
    "importing",
    "m2_parse",
    "maxmatch",
    "startup",
    "tokenising",
}
"""Programs that record something in the race."""


MOST_SECONDS = 3600
"""How long one program may take."""


def chosen(names: list[str]) -> list[Path]:
    programs = {program.stem: program for program in HERE.glob("*.py") if program.name not in NOT_BENCHMARKS}
    unknown = sorted(set(names) - set(programs))
    if unknown:
        raise SystemExit(f"no such benchmark: {', '.join(unknown)}; there are {', '.join(sorted(programs))}")
    return [programs[name] for name in sorted(names or HAVE_PEERS)]


def run(program: Path, options: list[str], file: Path) -> bool:
    """Run one program, whose rows go to the file; whether it ran to its end and reached what was wanted."""
    own = [option for option in options if program.stem in TAKES.get(option, ())]
    environment = {**os.environ, race.FILE: str(file)}
    try:
        done = subprocess.run([sys.executable, program, *own], env=environment, check=False, timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def cpu_seconds() -> float:
    """Those of all programs that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def main() -> int:
    options = [arg for arg in sys.argv[1:] if arg.startswith("--")]
    programs = chosen([arg for arg in sys.argv[1:] if not arg.startswith("--")])
    short = []
    with tempfile.TemporaryDirectory() as folder:
        for program in programs:
            started, used = time.perf_counter(), cpu_seconds()
            print(f"\n== {program.stem}", flush=True)
            file = Path(folder) / f"{program.stem}.jsonl"
            failed = [] if run(program, options, file) else [program.stem]
            print(f"   {time.perf_counter() - started:.0f} seconds, {cpu_seconds() - used:.0f} of CPU", flush=True)
            short += failed
            race.keep(race.gathered(file, ran=[program.stem], failed=failed))
    race.render()
    print(f"\nfell short or could not run: {', '.join(short)}" if short else "\nall reached what was wanted")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
