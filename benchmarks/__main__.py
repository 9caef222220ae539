"""Every benchmark, one after the other: `python -m benchmarks`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
NOT_BENCHMARKS = {"__main__.py", "__init__.py", "peers.py", "make_nucle_sized.py", "crowd_simulation.py"}
"""The simulation of a crowd takes twenty minutes and is run by itself."""


def main() -> int:
    short = []
    for program in sorted(HERE.glob("*.py")):
        if program.name not in NOT_BENCHMARKS:
            print(f"\n== {program.stem}", flush=True)
            if subprocess.run([sys.executable, program], check=False).returncode:
                short.append(program.stem)
    print(f"\nfell short or could not run: {', '.join(short)}" if short else "\nall reached what was wanted")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
