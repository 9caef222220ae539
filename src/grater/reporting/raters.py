"""The raters, their quality and speed, and the cost; crowd jobs compared with experts.

Raters and their effort: T,C&M 2013, section 7.1 and Table 5.

Crowd jobs: T,C&M 2013, Tables 4 and 5.  One row per job: how many of its raters match an expert, with the kappa that
they reach (Table 4), and the judgments, raters, hours and money that it took (Table 5).  A task that was judged with
hidden gold and without is two jobs, so two rows: control questions make fewer raters enough.  Experts are those of
the same items.  For an imported job without times the hours are unknown, for one without pay the cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor, isfinite, isnan
from statistics import median

from grater import sheet
from grater.errors import GraterError
from grater.measure.agreement.raters_needed import RatersNeeded, raters_needed, whole_words
from grater.measure.crowd.raters import SPOKEN_OF, Rater, Raters, raters, signature_of
from grater.measure.units import known_essays
from grater.reporting.document import Figure, Row, Section, sentences
from grater.reporting.drawing import (
    HEIGHT,
    SERIES,
    WIDTH,
    data,
    fixed_axis,
    interval_columns,
    number_axis,
    point_names,
)
from grater.sheet import UNDEFINED, Sheet, count, counted, duration, listed, natural, number
from grater.tables import Judgments, Table

MOST_ROWS = 10
MOST_NAMED = 12
SHORT = 2.0
"""Hours, below which times are shown in minutes."""


def raters_section(judgments: Judgments, *, gold: Table | None = None, on_gold: Judgments | None = None) -> Section:
    """A point and a row for each rater; answers to hidden gold count for accuracy and for nothing else."""
    result = raters(judgments, gold=gold_met(gold, judgments))
    rows = list(result)
    if on_gold is not None and gold_met(gold, on_gold):
        right = {rater.rater: rater for rater in raters(on_gold, gold=gold)}
        rows = [
            replace(rater, n_gold=graded.n_gold, on_gold=graded.on_gold)
            if (graded := right.get(rater.rater))
            else rater
            for rater in rows
        ]
    ranked = sorted(rows, key=lambda rater: (-rater.n, natural(rater.rater)))[:MOST_ROWS]
    [sheet] = Raters(tuple(ranked), result.signature).sheets()
    most = [f"The {MOST_ROWS} raters with the most judgments, of {len(rows)}."] if len(rows) > MOST_ROWS else []
    notes = (*most, *(note for note in sheet.notes if note != SPOKEN_OF))
    return Section(
        name="raters",
        title="Raters",
        words=(_rater_words(rows),),
        figures=(rater_scatter(rows),),
        sheets=(replace(sheet, name="raters", notes=notes, signature=""),),
        signature=str(signature_of(judgments, gold)),
        scope=SPOKEN_OF,
        warnings=sentences(result.warnings),
    )


def gold_met(gold: Table | None, judgments: Judgments) -> Table | None:
    """The gold, if anybody met any of it."""
    if gold is None or set(gold.frame["item"]).isdisjoint(judgments.frame["item"].cast(str).unique()):
        return None
    return gold


def _rater_words(rows: list[Rater]) -> str:
    amounts = sorted(rater.n for rater in rows)
    seconds = sorted(rater.seconds for rater in rows if rater.seconds is not None)
    fewest, most = amounts[0], counted(amounts[-1], "item")
    spread = f"between {fewest:,} and {most} each" if fewest < amounts[-1] else f"{most} each"
    words = f"{counted(len(rows), 'rater')} judged {most if len(rows) == 1 else spread}"
    if not seconds:
        return f"{words}."
    return f"{words}, typically in {duration(seconds[len(seconds) // 2] / 3600)} per item."


def rater_scatter(raters: Sequence[Rater]) -> Figure:
    """Accuracy on gold where there is any, else agreement with the other raters."""
    has_gold = any(rater.n_gold for rater in raters)
    rows: list[Row] = [
        {"rater": rater.rater, "n": rater.n, **interval_columns(rater.on_gold if has_gold else rater.with_others)}
        for rater in raters
    ]
    title = "correct on gold" if has_gold else "agrees with the majority of the others"
    # Both axes leave room for names; amounts begin at nought only where the raters fill the field.
    amounts = [row["n"] for row in rows]
    fewest, most = min(amounts, default=0), max(amounts, default=1)
    fewest = 0 if 2 * fewest < most else fewest
    margin = max(1.0, 0.1 * (most - fewest))
    shares = [row[end] for row in rows for end in ("low", "value", "high") if not isnan(row[end])]
    low, high = floor(10 * min(shares, default=0.0)) / 10, ceil(10 * max(shares, default=1.0)) / 10
    across, up = (max(0.0, fewest - margin), most + margin), (low, max(high, low + 0.1))
    encoding = {"x": fixed_axis("n", "items judged", across), "y": fixed_axis("value", title, up)}
    ends = {**encoding, "y": {**encoding["y"], "field": "low"}, "y2": {"field": "high"}}
    whiskers = {"mark": {"type": "rule", "color": SERIES[0], "opacity": 0.3}, "encoding": ends}
    look = {"type": "point", "filled": True, "color": SERIES[0], "size": 90, "opacity": 0.9}
    dots = {"mark": look, "encoding": encoding}
    places = {row["rater"]: (row["n"], row["value"]) for row in _oddest_first(rows)}
    layer = [whiskers, dots, *point_names(encoding, places, across=across, up=up, most=MOST_NAMED)]
    spec = {**data(rows), "width": WIDTH, "height": HEIGHT, "layer": layer}
    words = _scatter_words(raters, has_gold=has_gold)
    return Figure(name="raters", title="Raters by amount and quality of work", words=words, spec=spec)


def _oddest_first(rows: Sequence[Row]) -> list[Row]:
    """Raters with a score, those farthest from the middle first: they are the ones to be named."""
    scored = [row for row in rows if not isnan(row["value"])]
    if not scored:
        return []
    middle, amount = (median(row[name] for row in scored) for name in ("value", "n"))
    return sorted(scored, key=lambda of: (-abs(of["value"] - middle), -abs(of["n"] - amount), natural(of["rater"])))


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
    sheet = Sheet("Protocol of every job", ("job", "setting", "value"), protocol, name="protocol")
    return Section(
        name="effort",
        title="Time and cost" if has_effort else "Protocol",
        words=(_effort_words(hours, cost),) if has_effort else (),
        figures=(turnaround_curve(sorted(hours)),) if hours else (),
        sheets=(sheet,) if protocol else (),
    )


def _effort_words(hours: Sequence[float], cost: str) -> str:
    if not hours:
        unknown = "The judgments have no times, so the turnaround is unknown"
        return f"{unknown}; they cost {cost}." if cost else f"{unknown}."
    last = max(hours)
    pace = f", {len(hours) / last:,.0f} per hour" if len(hours) >= last >= 1 else ""
    paid = f"; they cost {cost}" if cost else ""
    return f"{counted(len(hours), 'judgment')} arrived within {duration(last)}{pace}{paid}."


def turnaround_curve(hours: Sequence[float]) -> Figure:
    """`hours` since the first judgment, one entry a judgment, in order."""
    in_minutes = hours[-1] < SHORT
    rows = [{"hours": 60 * hour if in_minutes else hour, "n": n} for n, hour in enumerate(hours, start=1)]
    encoding = {
        "x": number_axis("hours", f"{'minutes' if in_minutes else 'hours'} since the first judgment"),
        "y": {**number_axis("n", "judgments"), "stack": None},
    }
    look = {"color": SERIES[0], "opacity": 0.25, "line": {"color": SERIES[0]}}
    mark = {"type": "area", "interpolate": "step-after", **look}
    step = max(1, len(rows) // 300)
    thinned = rows[::step] + (rows[-1:] if step > 1 else [])
    spec = {**data(thinned), "width": WIDTH, "height": HEIGHT - 60, "mark": mark, "encoding": encoding}
    half, most = (duration(hours[int(share * (len(hours) - 1))]) for share in (0.5, 0.9))
    words = f"Half of the judgments were in after {half}, nine in ten after {most}."
    title = "How quickly judgments arrived"
    return Figure(name="turnaround", title=title, words=words, spec=spec, source="T,C&M 2013, Table 5")


# Crowd jobs compared with experts

MATCHED = ("job", "items", "judgments per item", "experts' kappa", "raters needed", "kappa of these", "kappa of all")
TOOK = ("job", "items", "judgments", "raters", "hours", "cost", "per judgment")


@dataclass(frozen=True, slots=True, eq=False)
class CrowdJob:
    """One job of a crowd; `hours` is None and `cost` empty where nobody knows them."""

    name: str
    judgments: Judgments
    experts: Judgments | None = None
    hours: float | None = None
    cost: str = ""
    per_judgment: str = ""

    @property
    def n_items(self) -> int:
        return self.judgments.frame["item"].n_unique()


def crowds_section(crowds: Sequence[CrowdJob], *, places: Table | None = None) -> Section | None:
    """The two tables; None where no job has both a crowd and experts."""
    known = [(job, result) for job in crowds if (result := _needed(job, places)) is not None]
    if not known:
        return None
    matched = tuple(_matched(job, result) for job, result in known)
    sheets = (
        Sheet("How many raters match an expert", MATCHED, matched, name="crowd-experts"),
        Sheet("Time and cost of each job", TOOK, tuple(map(_took, crowds)), name="crowd-costs"),
    )
    return Section(
        name="crowds",
        title="Crowds compared with experts",
        words=tuple(_words(known)),
        sheets=sheets,
        scope=_scope([result for _, result in known]),
        warnings=sentences(f"{job.name}: {line}" for job, result in known for line in result.warnings),
    )


def _needed(job: CrowdJob, places: Table | None) -> RatersNeeded | None:
    if job.experts is None or job.experts.frame["rater"].n_unique() < 2:
        return None
    try:
        return raters_needed(job.judgments, job.experts, essays=known_essays(job.judgments, places))
    except GraterError:  # no item that both judged, or experts without a common one
        return None


def _matched(job: CrowdJob, needed: RatersNeeded) -> tuple[str, ...]:
    points = [point for point in needed.headline.points if isfinite(point.kappa.value)]
    enough = next((point for point in points if point.n_raters == needed.smallest.value), None)
    each = len(job.judgments) / max(job.n_items, 1)
    too_few = f"more than {points[-1].n_raters}" if points else UNDEFINED
    return (
        job.name,
        count(needed.n_items),
        number(each, digits=1),
        sheet.interval(needed.target.kappa),
        f"{enough.n_raters} ({whole_words(needed.smallest)})" if enough else too_few,
        sheet.interval(enough.kappa) if enough else UNDEFINED,
        sheet.interval(points[-1].kappa) if points else UNDEFINED,
    )


def _took(job: CrowdJob) -> tuple[str, ...]:
    n_raters = job.judgments.frame["rater"].n_unique()
    hours = "unknown" if job.hours is None else number(job.hours, digits=1)
    numbers = (count(job.n_items), count(len(job.judgments)), count(n_raters), hours)
    return (job.name, *numbers, job.cost or "unknown", job.per_judgment or "unknown")


def _words(needed: Sequence[tuple[CrowdJob, RatersNeeded]]) -> Iterator[str]:
    """How many jobs match their experts, in how many the data show it, and what is in doubt in the others."""
    reached = [(job, result) for job, result in needed if isfinite(result.smallest.value)]
    open_ended = [job.name for job, result in reached if not isfinite(result.smallest.high)]
    doubtful = [job.name for job, result in reached if result.is_target_in_doubt]
    n_shown = len(reached) - len({*open_ended, *doubtful})
    of_all = f"{len(reached)} of {counted(len(needed), 'crowd job')}"
    shown = "" if n_shown == len(reached) else f", but only in {n_shown} do the intervals bear it out"
    yield f"The majority of enough raters reaches the experts' kappa in {of_all}{shown}."
    if open_ended:
        yield f"More raters may be needed than were asked: {'; '.join(open_ended)}."
    if doubtful:
        yield f"The experts' own kappa may be 0, so matching it shows nothing: {'; '.join(doubtful)}."


def _scope(results: Sequence[RatersNeeded]) -> str:
    """What the intervals of all jobs generalise to: one sentence if they are of the same items."""
    sentences = sorted({result.scope.sentence for result in results})
    if len(sentences) == 1:
        return sentences[0]
    units = sorted({result.scope.unit for result in results})
    drawn = [f"{unit}s like those of its job" for unit in units]
    return f"95 % intervals in each row generalise to other {' or '.join(drawn)}, where these are known."
