"""What it took: judgments over time, what they cost, and the protocol of the job (T,C&M 2013, Table 5 and 7.1)."""

from __future__ import annotations

from collections.abc import Sequence

from grater.report.charts.turnaround import turnaround
from grater.report.figure import Section, Sheet


def effort_section(hours: Sequence[float], *, cost: str = "", protocol: tuple[tuple[str, str], ...] = ()) -> Section:
    """Turn-around as a picture, the protocol as a table."""
    figure = turnaround(sorted(hours), cost=cost)
    sheets = (Sheet("protocol", "Protocol of the job", ("what", "how"), protocol),) if protocol else ()
    return Section("effort", "What it took", (figure.words,), (figure,) if hours else (), sheets)
