"""ERRANT's comparison the slow and obvious way, from the rules in `errant.py`'s docstring: one sentence at a time.

An annotator's edits are a list of (start, end, type, correction); a sentence is a dict of such lists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

Edit = tuple[int, int, str, str]
Sentence = Mapping[str, Sequence[Edit]]
Typed = dict[tuple[str, str], int]


def matching_parts(edit: Edit, mode: str) -> list[Hashable]:
    start, end, _, correction = edit
    if mode == "dt":
        return list(range(start, end)) or [start]
    return [{"cs": (start, end, correction), "cse": edit, "ds": (start, end)}[mode]]


def units(edits: Sequence[Edit], mode: str) -> list[tuple[Hashable, str]]:
    once = [edit for place, edit in enumerate(edits) if edit not in edits[:place]]
    counted = [edit for edit in once if mode in ("ds", "dt") or edit[2] != "UNK"]
    return [(part, edit[2]) for edit in counted for part in matching_parts(edit, mode)]


def compare(hypothesis: Sequence[Edit], reference: Sequence[Edit], mode: str) -> Typed:
    """How often each (tp, fp or fn; type) comes."""
    ours, theirs = units(hypothesis, mode), units(reference, mode)
    our_parts, their_parts = {part for part, _ in ours}, {part for part, _ in theirs}
    found = Counter(("tp" if part in our_parts else "fn", tag) for part, tag in theirs)
    found.update(("fp", tag) for part, tag in ours if part not in their_parts)
    return dict(found)


def totals(found: Typed) -> tuple[int, int, int]:
    tp, fp, fn = (sum(n for (kind, _), n in found.items() if kind == wanted) for wanted in ("tp", "fp", "fn"))
    return tp, fp, fn


def rounded_f(tp: int, fp: int, fn: int, beta: float) -> float:
    p = tp / (tp + fp) if fp else 1.0
    r = tp / (tp + fn) if fn else 1.0
    return round((1 + beta**2) * p * r / (beta**2 * p + r), 4) if p + r else 0.0


def score(
    references: Sequence[Sentence], hypotheses: Sequence[Sentence], mode: str, beta: float
) -> list[tuple[str, str, Typed]]:
    """For each sentence the annotators that were chosen and what they count."""
    sums, chosen = (0, 0, 0), []
    for reference, hypothesis in zip(references, hypotheses, strict=True):
        best = None
        for ours, our_edits in (hypothesis or {"0": []}).items():
            for theirs, their_edits in (reference or {"0": []}).items():
                found = compare(our_edits, their_edits, mode)
                tp, fp, fn = totals(found)
                goodness = (rounded_f(sums[0] + tp, sums[1] + fp, sums[2] + fn, beta), tp, -fp, -fn)
                if best is None or goodness > best[0]:
                    best = goodness, (ours, theirs, found)
        assert best is not None
        chosen.append(best[1])
        counts = totals(best[1][2])
        sums = (sums[0] + counts[0], sums[1] + counts[1], sums[2] + counts[2])
    return chosen
