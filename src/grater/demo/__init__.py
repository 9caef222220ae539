"""The bundled sample corpus: 76 short learner essays of our own writing, each marked by two annotators.

See docs/sample.md. Any other format is one `grater corpus convert` away.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def sample_path() -> Path:
    """Where the corpus is."""
    return Path(str(files(__name__) / "essays.jsonl"))
