"""Compare a recording of the present tree with that of version 0.2 (`v02.json.xz`).

Scaffolding: this folder goes when part 19 is done; what must last becomes a golden test.

`python -m tests.net.compare [NEW.json.xz | SCENE...]` records the present tree where no recording is given.  Numbers
are equal within 1e-12 of their size, objects whatever the order of their keys, texts to the letter.  Exit status 1 if
anything differs that `IGNORED` does not name.
"""

from __future__ import annotations

import difflib
import json
import lzma
import math
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.net.record import record

OLD = Path(__file__).parent / "v02.json.xz"
TOLERANCE = 1e-12
MOST = 12
"""Lines shown of each difference."""

IGNORED: dict[str, str] = {
    r"(training|usage): (train|events)\b": "moved to the separate distribution grater-train",
    r"commands$": "lists train and events, which moved to grater-train",
    r"usage: (count )?--help$": "names train and events, which moved to grater-train",
    r"(study|more): study export": "random ids, shifted where SQLAlchemy draws bytes while a module is imported",
}
"""Patterns of results that may differ, and why."""


def load(path: Path) -> Any:
    return json.loads(lzma.decompress(path.read_bytes()))


def differences(old: Any, new: Any, path: str = "") -> Iterator[str]:
    """What differs between two results, a few lines for each place."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            if key not in new or key not in old:
                yield f"{path}/{key}: {'gone' if key in old else 'new'}: {short(old.get(key, new.get(key)))}"
            else:
                yield from differences(old[key], new[key], f"{path}/{key}")
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield f"{path}: {len(old)} values before, {len(new)} now"
        for n, (before, now) in enumerate(zip(old, new, strict=False)):
            yield from differences(before, now, f"{path}[{n}]")
    elif isinstance(old, str) and isinstance(new, str):
        if old != new:
            yield from (f"{path}: {line}" for line in changed_lines(old, new))
    elif not is_same(old, new):
        yield f"{path}: {short(old)} before, {short(new)} now"


def is_same(old: Any, new: Any) -> bool:
    numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for each in (old, new))
    if not numbers or (isinstance(old, int) and isinstance(new, int)):
        return type(old) is type(new) and bool(old == new)
    return math.isclose(old, new, rel_tol=TOLERANCE, abs_tol=0.0) or (math.isnan(old) and math.isnan(new))


def changed_lines(old: str, new: str) -> list[str]:
    lines = difflib.unified_diff(old.split("\n"), new.split("\n"), lineterm="", n=0)
    return [line[:200] for line in lines if not line.startswith(("---", "+++", "@@"))]


def short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 100 else text[:97] + "..."


def say(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def main() -> int:
    words = sys.argv[1:]
    now = load(Path(words[0])) if words and words[0].endswith(".xz") else record(words)
    before, played = load(OLD), {name.partition(":")[0] for name in now}
    n_different = n_ignored = 0
    for name in sorted({*before, *now}):
        found = list(differences(before.get(name), now.get(name)))
        if not found or name.partition(":")[0] not in played:
            continue
        if any(re.match(pattern, name) for pattern in IGNORED):
            n_ignored += 1
            continue
        n_different += 1
        more = [f"... {len(found) - MOST} more lines"] if len(found) > MOST else []
        say(name, *(f"    {line}" for line in (*found[:MOST], *more)), "")
    say(*(f"ignored: {pattern}: {reason}" for pattern, reason in IGNORED.items()))
    say(f"{len(now)} results: {n_different} differ, {n_ignored} differ and are ignored")
    return int(n_different > 0)


if __name__ == "__main__":
    sys.exit(main())
