"""Long lists, a page at a time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pager:
    """Page `page` of `n_pages`, both from 1 on: rows number `start` and after, `size` at the most."""

    page: int
    n_pages: int
    size: int

    @property
    def start(self) -> int:
        return (self.page - 1) * self.size


def pager(n_rows: int, page: int, *, size: int) -> Pager:
    """The page that was asked for, or the nearest there is."""
    n_pages = max(1, -(-n_rows // size))
    return Pager(max(1, min(page, n_pages)), n_pages, size)
