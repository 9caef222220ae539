"""What a job, a list or a sample may be called: one line that can be shown, typed and quoted."""

from __future__ import annotations

from grater.errors import UsageError

LONGEST_NAME = 80


def require_name(name: str) -> str:
    """The name; one that is empty, too long, or has signs that cannot be seen is refused."""
    if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        shown = f"{name[:40]!r}" if len(name) <= LONGEST_NAME else f"{len(name):,}"
        raise UsageError(f"name: expected 1 to {LONGEST_NAME} letters that can be seen, found {shown}")
    return name
