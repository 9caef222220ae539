"""constraints-hashes.txt: every pinned dependency with the SHA-256 of the files that pip would install.

    python release/hashes.py        or: make hashes

pip itself resolves `constraints.txt` without installing anything and reports which files it would take and their
hashes, for Linux on x86-64 and on ARM; only those are written, no address.  Who installs by it gets those very files,
or an error:

    pip install --no-deps --require-hashes -r constraints-hashes.txt
    pip install --no-deps grater-*.whl grater_models-*.whl
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent
PINS, HASHES = FOLDER / "constraints.txt", FOLDER / "constraints-hashes.txt"
OPTIONS = ("--dry-run", "--ignore-installed", "--no-deps", "-qq", "--disable-pip-version-check")
MACHINES = ("x86_64", "aarch64")
LINUX = ("manylinux_2_28", "manylinux_2_27", "manylinux_2_24", "manylinux_2_17", "manylinux2014", "linux")


def report(pins: Sequence[str], machine: str | None) -> list[dict[str, Any]]:
    """What pip would install of wheels for a machine, else of anything here."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", *OPTIONS, "--report", str(path), "-r", "/dev/stdin"]
        if machine:
            platforms = [f"--platform={linux}_{machine}" for linux in LINUX]
            command += ["--only-binary=:all:", "--target", folder, *platforms]
        subprocess.run(command, check=True, input="\n".join(pins), text=True)
        installed: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["install"]
        return installed


def pin(each: dict[str, Any]) -> str:
    return f"{each['metadata']['name'].lower()}=={each['metadata']['version']}"


def hashes() -> dict[str, set[str]]:
    """By pin: the hash of its one file, or of a file for each machine; a source is built anywhere."""
    found: dict[str, set[str]] = {}
    for each in report(PINS.read_text(encoding="utf-8").splitlines(), None):
        found[pin(each)] = {_hash(each)} if each["download_info"]["url"].endswith(".tar.gz") else set()
    wheels = [name for name, known in found.items() if not known]
    for machine in MACHINES:
        for each in report(wheels, machine):
            found[pin(each)].add(_hash(each))
    return found


def _hash(each: dict[str, Any]) -> str:
    return str(each["download_info"]["archive_info"]["hashes"]["sha256"])


def main() -> None:
    where = f"Python {platform.python_version()} on Linux, {' and '.join(MACHINES)}"
    lines = [
        " ".join([name, *(f"--hash=sha256:{each}" for each in sorted(known))])
        for name, known in sorted(hashes().items())
    ]
    words = [f"# Made by release/hashes.py from constraints.txt, for {where}.", *lines]
    HASHES.write_text("\n".join(words) + "\n", encoding="utf-8")
    print(f"{HASHES.name}: {len(lines)} packages")


if __name__ == "__main__":
    main()
