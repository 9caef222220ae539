"""The last page of a rater who was put out: why, what would have been right, and the panel's code.

Their sessions have ended with the answer that put them out, so the way to this page is signed with the study's key:
it opens without a session, in a form and after the script of the marking page alike, and for nobody who guesses.
"""

from __future__ import annotations

import hashlib
import hmac

from fastapi import APIRouter
from starlette.responses import Response

from grater.errors import NotFound
from grater.server.crowd_view import crowd_view
from grater.server.visit import Visit, Visiting
from grater.server.work import Desk, desk_of
from grater.store import Tx, gold, panels, people, trust

router = APIRouter()


def is_out(visit: Visit, job_id: str) -> bool:
    with visit.server.store.read() as tx:
        return trust.find(tx, job_id, visit.person.person_id).state == "ejected"


def put_out(visit: Visit, desk: Desk) -> Response:
    """After the answer that put the rater out: a panel's place ends with it, and the last page tells the rest."""
    lease = desk.lease
    with visit.server.store.write() as tx:
        panels.conclude(tx, lease.job_id, lease.person_id)
        return visit.go(last_page(tx, lease.person_id, lease.lease_id))


def last_page(tx: Tx, person_id: str, lease_id: str) -> str:
    """Where a rater reads why they were put out; it needs no session, for theirs has ended."""
    return f"/out/{person_id}/{lease_id}/{_signature(tx, person_id, lease_id)}"


@router.get("/out/{person_id}/{lease_id}/{signature}")
def out_page(visit: Visiting, person_id: str, lease_id: str, signature: str) -> Response:
    with visit.server.store.read() as tx:
        if not hmac.compare_digest(_signature(tx, person_id, lease_id).encode(), signature.encode()):
            raise NotFound("there is no such page")
        desk, person = desk_of(tx, lease_id, person_id=person_id), people.the(tx, person_id)
        crowd = crowd_view(tx, desk.unit.job, person)
        known = gold.of_unit(tx, desk.unit.unit_id)
    shown = {
        "job": desk.unit.job,
        "unit": desk.unit,
        "shown": desk.shown,
        "crowd": crowd,
        "known": known,
        "has_login": bool(person.password_hash),
    }
    return visit.page("crowd_out.html", shown)


def _signature(tx: Tx, person_id: str, lease_id: str) -> str:
    return hmac.new(tx.key.encode(), f"out|{person_id}|{lease_id}".encode(), hashlib.sha256).hexdigest()
