"""The tag sets by name; others join by the entry-point group `grater.tagsets`."""

from __future__ import annotations

from collections.abc import Collection

from grater.corpora.tagsets.tagset import TagSet
from grater.registry import Registry

OURS = {
    "nucle": "grater.corpora.tagsets.nucle:TAGSET",
    "conll14": "grater.corpora.tagsets.conll14:TAGSET",
    "errant": "grater.corpora.tagsets.errant:TAGSET",
    "clc": "grater.corpora.tagsets.clc:TAGSET",
}
TAGSETS: Registry[TagSet] = Registry("tag set", "grater.tagsets", OURS)


def all_tagsets() -> tuple[TagSet, ...]:
    """Ours in the order above, then those of others by name."""
    others = [name for name in TAGSETS if name not in OURS]
    return tuple(TAGSETS[name] for name in (*OURS, *others))


def guess_tagset(tags: Collection[str]) -> TagSet:
    """The set that knows most of the given tags; the earlier one where two know as many."""
    return max(all_tagsets(), key=lambda tagset: sum(tag in tagset for tag in tags))
