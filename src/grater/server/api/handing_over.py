"""Somebody leaves a job, by the API: what they have not done becomes another's."""

from __future__ import annotations

from grater.server.api.calls import Body, Name, calls_about, example
from grater.server.api.shapes import Shape
from grater.server.visit import Visiting
from grater.store import jobs, people
from grater.study.handing_over import hand_over

router = calls_about("jobs")


class HandOver(Body):
    """`giver` and `taker` are names."""

    model_config = example(giver="Annotator", taker="Worker")
    giver: Name
    taker: Name


class HandedOver(Shape):
    units: int


@router.post("/jobs/{job_id}/hand-over")
def hand_over_units(visit: Visiting, job_id: str, sent: HandOver) -> HandedOver:
    """What a named annotator has not done becomes another's; give how many units went over."""
    with visit.server.store.write() as tx:
        giver, taker = people.named(tx, sent.giver), people.named(tx, sent.taker)
        return HandedOver(units=hand_over(tx, jobs.the(tx, job_id), giver, taker, actor=visit.person.person_id))
