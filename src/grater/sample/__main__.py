"""`python -m grater.sample`: writes `essays.jsonl` from its master `essays.txt`, for whoever changes the sample."""

from __future__ import annotations

import sys
from importlib.resources import files
from pathlib import Path

from grater.corpora import Loss, write_corpus
from grater.errors import GraterError
from grater.sample.marked import read_marked


def main() -> int:
    """The exit status: 0, or 2 where the master cannot be read."""
    folder = Path(str(files("grater.sample")))
    try:
        essays = read_marked((folder / "essays.txt").read_text("utf-8"), name="essays.txt")
        write_corpus(essays, folder / "essays.jsonl", _say)
    except GraterError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def _say(loss: Loss) -> None:
    sys.stderr.write(f"{loss}\n")


if __name__ == "__main__":
    sys.exit(main())
