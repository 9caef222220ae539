"""Every benchmark, one after the other, and the table of all ratios.

    python -m benchmarks [--large|--short] [NAME ...]

`--large` adds ten million judgments; `--short` runs only the programs that have peers, at small sizes.  Names choose
programs.  The rows that
they record (`race.record`) become `benchmarks/race.json`, and `docs/race.md` with its picture is written from it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import race  # noqa: E402  (found beside this file, as the programs find it)

NOT_BENCHMARKS = {
    "__main__.py",
    "__init__.py",
    "peers.py",
    "race.py",
    "make_nucle_sized.py",
    "crowd_simulation.py",
}
"""The simulation of a crowd takes twenty minutes and is run by itself."""

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


def chosen(names: list[str], options: list[str]) -> list[Path]:
    programs = [program for program in sorted(HERE.glob("*.py")) if program.name not in NOT_BENCHMARKS]
    if not names and race.SHORT in options:
        names = sorted(HAVE_PEERS)
    return [program for program in programs if not names or program.stem in names]


def main() -> int:
    options = [arg for arg in sys.argv[1:] if arg.startswith("--")]
    names = [arg for arg in sys.argv[1:] if not arg.startswith("--")]
    short = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "race.jsonl"
        programs = chosen(names, options)
        for program in programs:
            print(f"\n== {program.stem}", flush=True)
            own = [option for option in options if program.stem in TAKES.get(option, ())]
            environment = {**os.environ, race.FILE: str(file)}
            if subprocess.run([sys.executable, program, *own], env=environment, check=False).returncode:
                short.append(program.stem)
        race.RESULTS.write_text(
            json.dumps(race.gathered(file, ran=[program.stem for program in programs], failed=short), indent=1)
            + "\n",
            "utf-8",
        )
    race.render()
    print(f"\nfell short or could not run: {', '.join(short)}" if short else "\nall reached what was wanted")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
