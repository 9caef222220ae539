"""Tag sets: the names that annotators give to errors, in the order and the groups of their paper.

They are registered by name; others join by the entry-point group `grater.tagsets`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

from grater.errors import UnknownName
from grater.registry import Registry, unknown


@dataclass(frozen=True, slots=True)
class Tag:
    """One kind of error.

    `example` is a sentence of our own with the error and its correction, `She [go → goes] home.`; ∅ stands for no
    word. `owes_correction` is false where the kind is about text that cannot be, or need not be, corrected.
    """

    code: str
    name: str
    group: str
    description: str
    example: str
    owes_correction: bool = True


@dataclass(frozen=True)
class TagSet:
    """Tags by code, in the order of their source; `title` names that source."""

    name: str
    title: str
    tags: tuple[Tag, ...]

    @cached_property
    def by_code(self) -> dict[str, Tag]:
        return {tag.code: tag for tag in self.tags}

    def __contains__(self, code: object) -> bool:
        return code in self.by_code

    def __iter__(self) -> Iterator[Tag]:
        return iter(self.tags)

    def __len__(self) -> int:
        return len(self.tags)

    def __getitem__(self, code: str) -> Tag:
        if code not in self.by_code:
            raise UnknownName(unknown(f"{self.name} tag", code, list(self.by_code)))
        return self.by_code[code]

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups, in the order in which the tags name them."""
        return tuple(dict.fromkeys(tag.group for tag in self.tags))

    def of_group(self, group: str) -> tuple[Tag, ...]:
        if group not in self.groups:
            raise UnknownName(unknown(f"group of {self.name} tags", group, list(self.groups)))
        return tuple(tag for tag in self.tags if tag.group == group)


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
