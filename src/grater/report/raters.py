"""Who judged, how well and how quickly, and what it took (T,C&M 2013, section 7.1 and Table 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isnan

from grater.crowd.raters import SPOKEN_OF, Rater, raters, signature_of
from grater.report.document import Figure, Section, interval, listed
from grater.report.drawing import INK, SERIES
from grater.report.layers import HEIGHT, WIDTH, data, interval_columns, number_axis
from grater.sheet import Sheet, counted, natural, number, without_empty_columns
from grater.tables import Judgments, Table

MOST_ROWS = 20
MOST_NAMED = 12


def raters_section(judgments: Judgments, *, gold: Table | None = None, on_gold: Judgments | None = None) -> Section:
    """A point and a row for each rater; answers to hidden gold count for accuracy and for nothing else."""
    rows = list(raters(judgments, gold=gold_met(gold, judgments)))
    if on_gold is not None and gold_met(gold, on_gold):
        right = {rater.rater: rater for rater in raters(on_gold, gold=gold)}
        rows = [_graded(rater, right.get(rater.rater)) for rater in rows]
    figure = rater_scatter(rows)
    ranked = sorted(rows, key=lambda rater: (-rater.n, natural(rater.rater)))[:MOST_ROWS]
    columns = ("rater", "judged", "correct on gold", "agrees with others", "skill", "median seconds")
    notes = (f"The {MOST_ROWS} raters with the most judgments, of {len(rows)}.",) if len(rows) > MOST_ROWS else ()
    sheet = Sheet(name="raters", title="Every rater", columns=columns, rows=tuple(map(_row, ranked)), notes=notes)
    signature = str(signature_of(judgments, gold))
    return Section(
        name="raters",
        title="Raters",
        words=(_rater_words(rows), SPOKEN_OF),
        figures=(figure,),
        sheets=(without_empty_columns(sheet),),
        signature=signature,
    )


def gold_met(gold: Table | None, judgments: Judgments) -> Table | None:
    """The gold, if anybody met any of it."""
    if gold is None or set(gold.frame["item"]).isdisjoint(judgments.frame["item"].cast(str).unique()):
        return None
    return gold


def _graded(rater: Rater, on_gold: Rater | None) -> Rater:
    return rater if on_gold is None else replace(rater, n_gold=on_gold.n_gold, on_gold=on_gold.on_gold)


def _row(rater: Rater) -> tuple[str, ...]:
    seconds = "–" if rater.seconds is None else f"{rater.seconds:.0f}"
    on_gold = interval(rater.on_gold) if rater.n_gold else "–"
    return rater.rater, f"{rater.n:,}", on_gold, interval(rater.with_others), interval(rater.skill_interval), seconds


def _rater_words(rows: list[Rater]) -> str:
    amounts = sorted(rater.n for rater in rows)
    seconds = sorted(rater.seconds for rater in rows if rater.seconds is not None)
    fewest, most = amounts[0], counted(amounts[-1], "item")
    spread = f"between {fewest:,} and {most} each" if fewest < amounts[-1] else f"{most} each"
    words = f"{counted(len(rows), 'rater')} judged {most if len(rows) == 1 else spread}"
    if not seconds:
        return f"{words}."
    return f"{words}, typically in {counted(round(seconds[len(seconds) // 2]), 'second')} per item."


def rater_scatter(raters: Sequence[Rater]) -> Figure:
    """Accuracy on gold where there is any, else agreement with the other raters."""
    has_gold = any(rater.n_gold for rater in raters)
    rows = [
        {"rater": rater.rater, "n": rater.n, **interval_columns(rater.on_gold if has_gold else rater.with_others)}
        for rater in raters
    ]
    title = "correct on gold" if has_gold else "agrees with the majority of the others"
    amounts = [rater.n for rater in raters]
    is_wide = 2 * min(amounts, default=0) < max(amounts, default=0)  # from nought only where the field fills it
    encoding = {"x": number_axis("n", "items judged", zero=is_wide), "y": number_axis("value", title)}
    ends = {**encoding, "y": {**encoding["y"], "field": "low"}, "y2": {"field": "high"}}
    whiskers = {"mark": {"type": "rule", "color": SERIES[0], "opacity": 0.3}, "encoding": ends}
    dots = {
        "mark": {"type": "point", "filled": True, "color": SERIES[0], "size": 90, "opacity": 0.9},
        "encoding": encoding,
    }
    names = {
        "mark": {"type": "text", "dy": -11, "fontSize": 11, "color": INK},
        "encoding": {**encoding, "text": {"field": "rater"}},
    }
    layer = [whiskers, dots, *([names] if len(raters) <= MOST_NAMED else [])]
    spec = {**data(rows), "width": WIDTH, "height": HEIGHT, "layer": layer}
    return Figure(
        name="raters",
        title="Raters by amount and quality of work",
        words=_scatter_words(raters, has_gold=has_gold),
        spec=spec,
    )


def _scatter_words(raters: Sequence[Rater], *, has_gold: bool) -> str:
    scores = [(rater.on_gold if has_gold else rater.with_others).value for rater in raters]
    known = sorted((score, rater.rater) for score, rater in zip(scores, raters, strict=True) if not isnan(score))
    if not known:
        return f"{counted(len(raters), 'rater')}; no two of them judged the same item."
    how = "accuracy on gold" if has_gold else "agreement with the others"
    weak = [name for score, name in known if score < known[len(known) // 2][0] - 0.2][:5]
    middle = number(known[len(known) // 2][0])
    spread = f"ranges from {number(known[0][0])} to {number(known[-1][0])}, with a median of {middle}"
    words = f"{how[:1].upper()}{how[1:]} of {counted(len(raters), 'rater')} {spread}."
    return words + (f" Far below the rest: {listed(weak)}." if weak else "")


def effort_section(
    hours: Sequence[float],
    *,
    cost: str = "",
    protocol: tuple[tuple[str, str, str], ...] = (),
    has_judgments: bool = True,
) -> Section:
    """Turn-around as a picture, the protocol as a table; the protocol alone without judgments (marked essays)."""
    has_effort = bool(hours or cost or has_judgments)
    figure = turnaround_curve(sorted(hours))
    sheets = (
        (Sheet(name="protocol", title="Protocol of every job", columns=("job", "setting", "value"), rows=protocol),)
        if protocol
        else ()
    )
    return Section(
        name="effort",
        title="Time and cost" if has_effort else "Protocol",
        words=(_effort_words(hours, cost),) if has_effort else (),
        figures=(figure,) if hours else (),
        sheets=sheets,
    )


def _effort_words(hours: Sequence[float], cost: str) -> str:
    if not hours:
        unknown = "The judgments have no times, so the turnaround is unknown"
        return f"{unknown}; they cost {cost}." if cost else f"{unknown}."
    last = max(hours)
    pace = f", {len(hours) / last:,.0f} per hour" if last >= 1 else ""
    paid = f"; they cost {cost}" if cost else ""
    return f"{counted(len(hours), 'judgment')} came in within {last:,.1f} hours{pace}{paid}."


def turnaround_curve(hours: Sequence[float], *, wanted: int | None = None) -> Figure:
    """`hours` since the first judgment, one entry a judgment, in order."""
    rows = [{"hours": hour, "n": n} for n, hour in enumerate(hours, start=1)]
    encoding = {
        "x": number_axis("hours", "hours since the first judgment"),
        "y": {**number_axis("n", "judgments"), "stack": None},
    }
    mark = {
        "type": "area",
        "interpolate": "step-after",
        "color": SERIES[0],
        "opacity": 0.25,
        "line": {"color": SERIES[0]},
    }
    spec = {**data(_thinned(rows)), "width": WIDTH, "height": HEIGHT - 60, "mark": mark, "encoding": encoding}
    half, most = (hours[int(share * (len(hours) - 1))] if hours else 0.0 for share in (0.5, 0.9))
    done = f"Half of the judgments were in after {half:.1f} hours, nine in ten after {most:.1f}"
    left = f"; {wanted - len(hours):,} are still missing" if wanted and wanted > len(hours) else ""
    return Figure(
        name="turnaround",
        title="How quickly judgments came in",
        words=f"{done}{left}.",
        spec=spec,
        source="T,C&M 2013, Table 5",
    )


def _thinned(rows: list[dict[str, float]], most: int = 300) -> list[dict[str, float]]:
    step = max(1, len(rows) // most)
    return rows[::step] + (rows[-1:] if step > 1 else [])
