"""Whose edits are whose, when several files are put together.

M2 calls its annotators 0, 1, ... in every file.  Where two files hold the same essays and use the same id, it cannot
be one reading: there the file's stem is the annotator (docs/corpora.md), or `STEM.ID` where several
ids of a file collide, as in `grater.corpora.merge`.  In files of different essays the same id is the same annotator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from grater.corpora.merge import stems


def names_apart(
    annotators: Mapping[str, Sequence[str]], same_text: Iterable[Sequence[str]]
) -> dict[tuple[str, str], str]:
    """What (file, annotator) is called among all files, where that is not the annotator's id."""
    short, apart = stems(annotators), {}
    for files in same_text:
        times = Counter(annotator for file in files for annotator in annotators[file])
        for file in files:
            colliding = [annotator for annotator in annotators[file] if times[annotator] > 1]
            for annotator in colliding:
                apart[file, annotator] = short[file] if len(colliding) == 1 else f"{short[file]}.{annotator}"
    return apart
