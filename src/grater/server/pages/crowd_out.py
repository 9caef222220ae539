"""The last page of a rater who was put out: why, what would have been right, and the panel's code.

Their sessions have ended with the answer that put them out, so this page is the answer to that very request.
"""

from __future__ import annotations

from starlette.responses import Response

from grater.server.crowd_view import crowd_view
from grater.server.pages.desks import DESKS
from grater.server.visit import Visit
from grater.server.work import Desk
from grater.store import gold, jobs, panels, trust


def is_out(visit: Visit, job_id: str) -> bool:
    with visit.server.store.read() as tx:
        return trust.find(tx, job_id, visit.person.person_id).state == "ejected"


def out_page(visit: Visit, desk: Desk) -> Response:
    """After the answer that put the rater out; a panel's place ends with it."""
    job_id, person = desk.lease.job_id, visit.person
    with visit.server.store.write() as tx:
        panels.conclude(tx, job_id, person.person_id)
        crowd = crowd_view(tx, jobs.the(tx, job_id), person)
        known = gold.of_unit(tx, desk.unit.unit_id)
        door = panels.door(tx, crowd.place) if crowd.place else ""
    if door and desk.task.name in DESKS:  # such a page goes where the answer leads, and its session has ended
        return visit.go(door)
    shown = {"job": desk.unit.job, "crowd": crowd, "known": known, "has_login": bool(person.password_hash)}
    return visit.page("crowd_out.html", shown)
