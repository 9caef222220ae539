"""TODO: what this chapter is."""

from __future__ import annotations

from grater.errors import BadInput, NotFound, Problem
from grater.store import Tx, panels


def give_back(tx: Tx, panel_id: str, external_id: str, state: str, *, actor: str) -> str:
    """Free a place that was returned or timed out at the panel; give the job."""
    if state not in panels.GIVEN_BACK:
        raise BadInput(Problem("form", f"state: expected {' or '.join(panels.GIVEN_BACK)}, found {state[:20]!r}"))
    panel, place = panels.get(tx, panel_id), panels.place_of(tx, panel_id, external_id)
    is_here = place is not None and place.state == "joined"
    if place is None or not is_here or not panels.set_state(tx, place, state, actor=actor):
        raise NotFound("nobody with this id is at work here")
    return panel.job_id
