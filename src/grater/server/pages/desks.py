"""Tasks whose work page is more than a form; tasks of third parties may bring theirs (entry point `grater.desks`)."""

from __future__ import annotations

from typing import Protocol

from starlette.responses import Response

from grater.registry import Registry
from grater.server.visit import Visit
from grater.store.leases import Lease
from grater.store.units import StudyUnit


class WorkPage(Protocol):
    """The page for a unit that the person holds; it sends its answer to the lease like a form."""

    def __call__(self, visit: Visit, lease: Lease, study_unit: StudyUnit, *, guidelines: str) -> Response: ...


DESKS: Registry[WorkPage] = Registry("desk", "grater.desks", {"marking": "grater.server.pages.marking:marking_page"})
