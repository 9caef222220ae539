"""Where the real corpora lie, for the tests marked `data`: $GRATER_DATA, or ../shared/data beside the checkout."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def data_path(relative: str) -> Path:
    """A file of the real data; the test is skipped, saying so, where it is missing."""
    root = Path(os.environ.get("GRATER_DATA") or Path(__file__).parents[1] / ".." / "shared" / "data")
    path = root / relative
    if not path.exists():
        pytest.skip(f"real data missing: {relative} (set GRATER_DATA to the folder that holds it)")
    return path
