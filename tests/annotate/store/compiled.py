"""One cache of compiled SQL for all studies that a process of tests opens.

SQLAlchemy keeps what it has compiled per engine and dialect. Every test has a study, and so an engine, of its own:
without this, half of the time of the tests that use a store goes into compiling the same statements again.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import URL, Dialect, Engine, create_engine
from sqlalchemy.util import LRUCache

DIALECTS: dict[tuple[str, object], Dialect] = {}
COMPILED: LRUCache[Any, Any] = LRUCache(4000)


def create_sharing_engine(url: str | URL, **options: Any) -> Engine:
    """An engine with its own connections, which speaks the dialect that the first of its kind has learnt."""
    engine = create_engine(url, **options)
    kind = engine.dialect.name, options.get("isolation_level")
    if getattr(DIALECTS.get(kind), "server_version_info", None) is None:  # it knows nothing before it has connected
        DIALECTS[kind] = engine.dialect
    engine.dialect = engine.pool._dialect = DIALECTS[kind]
    engine._compiled_cache = COMPILED
    return engine
