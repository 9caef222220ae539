"""A new study, and what it is called."""

from __future__ import annotations

from pathlib import Path

from grater.store import Store, dump, events, open_store, utc_now
from grater.store.clock import Clock


def new(location: Path | str, *, name: str = "", clock: Clock = utc_now) -> Store:
    """Make an empty study in a file that is not there yet, or in an empty PostgreSQL database."""
    store = open_store(location, create=True, clock=clock)
    with store.write() as tx:
        dump.set_meta(tx, "name", name or Path(store.name).stem)
        events.write(tx, None, "study.made", "", {})
    return store
