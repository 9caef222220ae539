"""The tools we measure ourselves against, each in an environment of its own: `make peers`.

Every file `benchmarks/peers/NAME.txt` pins one peer; it is installed into `.peers/NAME`.  Only the standard library
is used here, and nothing of grater.  A peer that cannot be installed is named, and the others still are; an
environment that somebody linked into `.peers` is used as it is.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

ALONE = "# no-deps"
"""The line of a file whose packages are installed without those that they ask for."""

ROOT = Path(__file__).resolve().parents[2]


def install(requirements: Path) -> None:
    """Make the peer's environment, unless it is there and newer than its pins."""
    home = ROOT / ".peers" / requirements.stem
    stamp = home / ".installed"
    if home.is_symlink():
        return
    if stamp.exists() and stamp.stat().st_mtime >= requirements.stat().st_mtime:
        return
    print(f"installing {requirements.stem} into .peers/{requirements.stem}", flush=True)
    venv.create(home, with_pip=True, clear=True)
    alone = ["--no-deps"] if ALONE in requirements.read_text("utf-8").splitlines() else []
    subprocess.run(
        [home / "bin" / "pip", "install", "--quiet", "--no-compile", *alone, "-r", requirements], check=True
    )
    stamp.touch()


def main() -> int:
    failed = []
    for requirements in sorted((ROOT / "benchmarks" / "peers").glob("*.txt")):
        try:
            install(requirements)
        except (subprocess.CalledProcessError, OSError) as error:
            failed.append(requirements.stem)
            print(f"{requirements.stem} could not be installed: {error}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
