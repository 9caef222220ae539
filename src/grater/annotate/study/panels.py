"""Panels, through which raters come to a job: places, codes, and the way back.

What a panel is, and when a place ends, is in `grater.annotate.store.panels`.  Here its numbers and texts are held to
their limits, a second browser is asked for the return code that the first was given, and a manager ends places by
hand.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import cast

from grater.annotate.store import Tx, panels
from grater.annotate.store.panels import PanelPlace, StudyPanel
from grater.annotate.study.limits import require_number, require_text
from grater.errors import NotFound, UsageError
from grater.model import Json


def add_panel(
    tx: Tx, job_id: str, provider: str, *, options: Mapping[str, Json], actor: str | None = None
) -> StudyPanel:
    """A panel from which raters come to a job by a link, and to which they go back with a code."""
    for name in ("places", "minutes"):
        require_number(f"panel.{name}", cast(int, options.get(name, 0)))
    for name in ("codes", "addresses"):
        for text in cast("Mapping[str, str]", options.get(name) or {}).values():
            require_text("panel.text", text)
    require_text("panel.text", str(options.get("secret") or ""))
    return panels.add(tx, job_id, provider, options=options, actor=actor)


def enter(tx: Tx, panel_id: str, external_id: str, *, also: Mapping[str, str]) -> PanelPlace:
    """The place of a rater who comes from a panel, by the panel's own id for them."""
    return panels.enter(tx, panel_id, external_id, also=also)


def is_same_browser(tx: Tx, person_id: str, named: str) -> bool:
    """Whether somebody names the return code of a rater; letters alone count, large or small."""
    expected = panels.return_code(tx, person_id).replace("-", "")
    sent = "".join(letter for letter in named.upper() if letter.isalnum())
    return hmac.compare_digest(expected.encode(), sent.encode())


def conclude(tx: Tx, job_id: str, person_id: str) -> None:
    """End the place of a rater who is done."""
    panels.conclude(tx, job_id, person_id)


BY_HAND = (*panels.GIVEN_BACK, "completed")
"""How a manager may end a place: somebody else may have it, or its rater is done and gets the code."""


def end_place(tx: Tx, panel_id: str, external_id: str, state: str, *, actor: str) -> str:
    """End a place that was returned or timed out at the panel, or is done as it is; returns the id of its job."""
    if state not in BY_HAND:
        raise UsageError(f"state: expected {', '.join(BY_HAND)}, found {state[:20]!r}")
    panel, place = panels.get(tx, panel_id), panels.place_of(tx, panel_id, external_id)
    is_here = place is not None and place.state == "joined"
    if place is None or not is_here or not panels.set_state(tx, place, state, actor=actor):
        raise NotFound("nobody with this ID is working here")
    return panel.job_id


def door_path(panel: StudyPanel) -> str:
    """The path that is given to a panel, with the parameters in which the panel puts its id of a rater."""
    query = panel.panel.provider.query
    return f"/p/{panel.panel_id}?{query}" if query else f"/p/{panel.panel_id}"
