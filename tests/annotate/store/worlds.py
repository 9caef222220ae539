"""Small studies to test on, and a clock that does as it is told.  The sentences are our own."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from grater.annotate import content
from grater.annotate.store import Store, Tx
from grater.annotate.units import NewUnit
from grater.model import Essay, Item, Span

T = TypeVar("T")

TEXT = "We waited on the bus stop for our friend and talked of the weather. "


@dataclass(slots=True)
class FakeClock:
    """Stands still until somebody moves it; milliseconds."""

    now: int = 1_800_000_000_000

    def __call__(self) -> int:
        return self.now

    def advance(self, ms: int) -> None:
        self.now += ms


class SeededSecrets:
    """Stands for the module `secrets` in `grater.annotate.store.transaction`: the same ids and keys in every run."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def token_urlsafe(self, n: int) -> str:
        return "".join(self.rng.choices("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789-_", k=n * 4 // 3))

    def token_hex(self, n: int) -> str:
        return f"{self.rng.getrandbits(8 * n):0{2 * n}x}"

    def randbelow(self, n: int) -> int:
        return self.rng.randrange(n)


def new_items(tx: Tx, n: int, *, name: str = "essay") -> list[tuple[str, str]]:
    """`n` items, each in an essay of its own: (essay id, item id)."""
    made = [Essay(f"{name}-{number}", f"{number}. {TEXT}") for number in range(n)]
    content.add_essays(tx, made)
    starts = [essay.text.index("on") for essay in made]
    places = [Item(essay.essay_id, Span(a, a + 2), "prep") for essay, a in zip(made, starts, strict=True)]
    content.add_items(tx, [content.study_item(item) for item in places])
    return [(item.essay_id, item.item_id) for item in places]


def new_units(tx: Tx, n: int) -> list[NewUnit]:
    return [NewUnit(((item_id, {}),), essay_id) for essay_id, item_id in new_items(tx, n)]


def read(store: Store, find: Callable[..., T], *given: Any, **more: Any) -> T:
    """What one function finds in the study, whole where it comes bit by bit."""
    with store.read() as tx:
        found = find(tx, *given, **more)
        return list(found) if isinstance(found, Iterator) else found  # type: ignore[return-value]


def write(store: Store, change: Callable[..., T], *given: Any, **more: Any) -> T:
    """What comes of one change of the study."""
    with store.write() as tx:
        return change(tx, *given, **more)
