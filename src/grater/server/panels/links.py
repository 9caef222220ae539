"""The address that is given to a panel, with the parameter in which the panel puts its id of a rater."""

from __future__ import annotations

from grater.server.settings import Settings
from grater.store.panels import StudyPanel


def panel_link(settings: Settings, panel: StudyPanel) -> str:
    path = f"/p/{panel.panel_id}"
    name = panel.panel.provider.id_parameter
    return settings.link(f"{path}?{name}=ID" if name else path)
