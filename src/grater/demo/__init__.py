"""The bundled sample corpus: 76 short learner essays of our own writing, each marked by two annotators.

See docs/sample.md.  `essays.txt` is the master, which people edit; `python -m grater.demo` makes `essays.jsonl` of
it (a test holds the two together), and any other format is one `grater corpus convert` away.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from grater.errors import UnknownName, unknown


def sample_names() -> list[str]:
    """The data files of the sample, sorted."""
    return sorted(file.name for file in files(__name__).iterdir() if file.name.endswith(".jsonl"))


def sample_path(name: str = "essays.jsonl") -> Path:
    """Where a data file of the sample lies."""
    if name not in sample_names():
        raise UnknownName(unknown("sample file", name, sample_names()))
    return Path(str(files(__name__) / name))
