"""What it took: judgments over time, what they cost, and the protocol of the job (T,C&M 2013, Table 5 and 7.1)."""

from __future__ import annotations

from collections.abc import Sequence

from grater.report.charts.turnaround import turnaround
from grater.report.figure import Section, Sheet
from grater.report.words import many


def effort_section(hours: Sequence[float], *, cost: str = "", protocol: tuple[tuple[str, str], ...] = ()) -> Section:
    """Turn-around as a picture, the protocol as a table."""
    figure = turnaround(sorted(hours))
    sheets = (Sheet("protocol", "Protocol of the job", ("what", "how"), protocol),) if protocol else ()
    return Section("effort", "What it took", (_words(hours, cost),), (figure,) if hours else (), sheets)


def _words(hours: Sequence[float], cost: str) -> str:
    if not hours:
        return f"No judgment has a time; they cost {cost}." if cost else "No judgment has a time."
    last = max(hours)
    pace = f", {len(hours) / last:,.0f} an hour" if last >= 1 else ""
    paid = f"; they cost {cost}" if cost else ""
    return f"{many(len(hours), 'judgment')} came in within {last:,.1f} hours{pace}{paid}."
