"""constraints-hashes.txt: every pinned dependency with the SHA-256 of the file that pip would install here.

    python release/hashes.py        or: make hashes

pip itself resolves `constraints.txt` without installing anything and reports which files it would take and their
hashes; only those are written, no address.  The file is for the platform and the Python that it was made with.
Whoever installs by it gets the very files that were tested, or an error:

    pip install --no-deps --require-hashes -r constraints-hashes.txt
    pip install --no-deps grater-*.whl grater_models-*.whl
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent
PINS, HASHES = FOLDER / "constraints.txt", FOLDER / "constraints-hashes.txt"
OPTIONS = ("--dry-run", "--ignore-installed", "--no-deps", "-qq", "--disable-pip-version-check")


def report(pins: Path) -> dict[str, Any]:
    """What pip would install."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", *OPTIONS, "--report", str(path), "-r", str(pins)]
        subprocess.run(command, check=True)
        answer: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return answer


def lines(installed: list[dict[str, Any]]) -> list[str]:
    """A pin with its hash for each file, in the order of names."""
    pairs = sorted((each["metadata"]["name"].lower(), each) for each in installed)
    return [f"{name}=={each['metadata']['version']} --hash=sha256:{_hash(each)}" for name, each in pairs]


def _hash(each: dict[str, Any]) -> str:
    return str(each["download_info"]["archive_info"]["hashes"]["sha256"])


def main() -> None:
    where = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    words = [f"# Made by release/hashes.py from constraints.txt, for {where}.", *lines(report(PINS)["install"])]
    HASHES.write_text("\n".join(words) + "\n", encoding="utf-8")
    print(f"{HASHES.name}: {len(words) - 1} files")


if __name__ == "__main__":
    main()
