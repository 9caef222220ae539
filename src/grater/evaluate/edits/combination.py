"""Several corrections of the same sentences made into one: the edits that enough systems propose.

The way of the best published ensembles (Tarnavskyi, Chernodub and Omelianchuk 2022, "Ensembling and knowledge
distilling of large sequence taggers for grammatical error correction", section 4: majority votes on span-level
edits): the edits of each system are extracted, and those with the same span and correction that at least `at_least`
systems have are applied.

Of edits that overlap, the one that more systems have is taken, then the one that stands first, then the shorter.
Insertions at one point count as overlapping: two words in place of one gap are rarely both meant.  Which system an
edit comes from does not matter, nor the order in which they are given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from grater.corpora.parallel import parallel_essays
from grater.errors import UsageError
from grater.model import Edit, Essay
from grater.text.edits.engine import Engine

COMBINED = "combined"


def combine(
    sources: Sequence[str],
    systems: Mapping[str, Sequence[str]],
    *,
    at_least: int,
    engine: Engine,
    source_name: str = "source",
) -> Iterator[Essay]:
    """Sentences with the edits that at least `at_least` systems propose."""
    if not 1 <= at_least <= len(systems):
        raise UsageError(f"expected a number of systems from 1 to {len(systems)}, found {at_least}")
    for essay in parallel_essays(sources, systems, engine, source_name=source_name):
        yield replace(essay, edits=tuple(_agreed(essay.edits, at_least)), annotators=(COMBINED,))


def _agreed(edits: Iterable[Edit], at_least: int) -> Iterator[Edit]:
    votes = Counter(replace(edit, rater=COMBINED) for edit in edits)
    wanted = [edit for edit, n in votes.items() if n >= at_least]
    wanted.sort(key=lambda edit: (-votes[edit], edit.span.start, len(edit.span), edit.replacements))
    taken: list[Edit] = []
    for edit in wanted:
        if not any(_overlap(edit, other) for other in taken):
            taken.append(edit)
    yield from sorted(taken, key=lambda edit: (edit.span.start, edit.span.end))


def _overlap(one: Edit, other: Edit) -> bool:
    """Whether both change the same text; insertions at one point do."""
    if one.span == other.span:
        return True
    return max(one.span.start, other.span.start) < min(one.span.end, other.span.end)
