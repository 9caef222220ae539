"""Which files of grater's source a command enters: what a newcomer reads who wants to follow it.

The command runs twice in one process; the first run imports and fills caches, and the second is watched.  Without
words of a command: `score` and `evaluate --weighted` on the bundled study, as in the README.  `cli/__init__.py` only
finds the command's function.

    python -m benchmarks.entered [WORDS OF A COMMAND ...]
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from types import FrameType
from typing import Any

import grater
from grater.cli import run

SOURCE = Path(grater.__file__).parent
COMMANDS = (
    "score demo/essays.m2 demo/article.txt demo/prep-maxent.txt",
    "evaluate --decisions demo/decisions.csv --judgments demo/crowd.csv --weighted",
)


def quietly(words: Sequence[str]) -> None:
    with redirect_stdout(TextIOWrapper(BytesIO())), redirect_stderr(TextIOWrapper(BytesIO())):
        status = run(list(words))
    if status:
        raise RuntimeError(f"grater {' '.join(words)}: exit status {status}")


def entered(words: Sequence[str]) -> list[str]:
    files: set[str] = set()

    def watch(frame: FrameType, _event: str, _argument: Any) -> None:
        files.add(frame.f_code.co_filename)

    quietly(words)
    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        quietly(words)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return sorted(str(Path(file).relative_to(SOURCE)) for file in files if Path(file).is_relative_to(SOURCE))


def shown(words: Sequence[str]) -> None:
    files = entered(words)
    print(f"grater {' '.join(words)}: {len(files)} files")
    print("".join(f"  {file}\n" for file in files))


if __name__ == "__main__":
    if sys.argv[1:]:
        shown(sys.argv[1:])
    else:
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            quietly(["demo", "--out", "demo"])
            for command in COMMANDS:
                shown(command.split())
