"""What a system from outside has to give: the edits it would make to each essay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from grater.model import Edit, Essay


class Corrector(Protocol):
    """A system that corrects texts; `about` says in a line what it is and where it came from."""

    @property
    def name(self) -> str: ...

    @property
    def about(self) -> str: ...

    def correct(self, essays: Iterable[Essay]) -> Iterator[tuple[Essay, tuple[Edit, ...]]]:
        """Every essay with the system's edits of it, in the order of the essays."""
        ...
