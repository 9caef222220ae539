"""Names for things that can be chosen: formats, systems, tasks, methods, scores.

A registry maps a published name to a place in the code (`"grater.corpora.m2:FORMAT"`) and loads it on first use, so
that listing names costs no import.  Third parties join by entry points of the registry's group; a name of ours cannot
be taken over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cached_property
from importlib import import_module
from typing import Generic, TypeVar, cast

from grater.errors import UnknownName

T = TypeVar("T")


class Registry(Generic[T]):
    """Published names of one kind of thing, `noun`; `group` is the entry-point group that others may add to."""

    def __init__(self, noun: str, group: str, places: Mapping[str, str]) -> None:
        self.noun = noun
        self.group = group
        self._places = dict(places)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def names(self) -> list[str]:
        return sorted(self._places_of_others.keys() | self._places.keys())

    def listed(self) -> str:
        """Our own names for a line of help: `m2, nucle or text`."""
        *names, last = sorted(self._places)
        return f"{', '.join(names)} or {last}" if names else last

    def __contains__(self, name: object) -> bool:
        return name in self._places or name in self._places_of_others

    def __getitem__(self, name: str) -> T:
        place = self._places.get(name) or self._places_of_others.get(name)
        if place is None:
            raise UnknownName(unknown(self.noun, name, self.names()))
        module, _, attribute = place.partition(":")
        return cast(T, getattr(import_module(module), attribute))

    @cached_property
    def _places_of_others(self) -> dict[str, str]:
        """Entry points do not change while we run; looking them up takes milliseconds."""
        from importlib.metadata import entry_points  # 35 ms, which a name of ours need not pay

        return {point.name: point.value for point in entry_points(group=self.group)}


MOST_NAMES = 30
"""Known names that a message lists."""


def unknown(noun: str, name: str, known: list[str]) -> str:
    """The one-line answer to a name that does not exist, with the nearest that does."""
    if not known:
        return f"unknown {noun} {name!r}; there is none yet"
    near = get_close_matches(name, known, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    more = f" and {len(known) - MOST_NAMES} more" if len(known) > MOST_NAMES else ""
    has_commas = any("," in other for other in known)
    listed = "; ".join(map(repr, known[:MOST_NAMES])) if has_commas else ", ".join(known[:MOST_NAMES])
    return f"unknown {noun} {name!r}.{hint} Known: {listed}{more}"
