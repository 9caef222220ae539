"""A class report: marks by kind, by learner and over time.

Essays are grouped by the learner and date in their metadata, or by file if no learner is named. Marks are counted by
the rules that explain them (`rules.toml`), so that a class can be taught the most frequent ones. Rates are per 100
words, since essays differ in length; a learner's change is the rate in the later half of their essays minus that in
the earlier half, undefined with only one date. A mark is not necessarily an error, as the note below the tables
explains.

Unlike the terminal, the printable page has an example and a frequency bar for each rule, and a small curve for each
learner.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from typing import TYPE_CHECKING

from grater.detect.detector import Detector
from grater.detect.explanations import BY_KIND, example_sides
from grater.detect.feedback import BADGES, STYLE, feedback_on, whole_page
from grater.model import Essay, Json
from grater.result import Data, Result, in_json, key
from grater.sheet import Sheet, counted, natural, number

if TYPE_CHECKING:
    import polars as pl

LEARNER, DATE = "learner", "date"
PER = 100
TABLES = """
body { max-width: 60rem; font-family: Inter, "Helvetica Neue", Arial, sans-serif; line-height: 1.5 }
.lead { font-size: 1.15rem; margin: .5rem 0 } h2 { break-after: avoid }
table { border-collapse: collapse; width: 100%; font-size: .9rem; line-height: 1.4 }
th, td { text-align: left; padding: .4rem .6rem .4rem 0; border-bottom: 1px solid var(--line); vertical-align: top }
th { color: var(--soft); font-weight: 500; vertical-align: bottom } td:first-child { font-weight: 600 }
.number { text-align: right; font-variant-numeric: tabular-nums } td.number { white-space: nowrap }
.example { display: block; font-weight: 400; margin: .1rem 0 0 }
.bar { display: inline-block; height: .6rem; margin-right: .5rem; border-radius: .3rem; background: var(--soft) }
.times { width: 30% } .spark { width: 6rem; height: 1.5rem; display: block }
.spark polyline { fill: none; stroke: var(--soft); stroke-width: 1.5 } .spark circle { fill: var(--pen) }
@media (max-width: 40rem) {
  .spare, .bar { display: none } .times { width: auto; text-align: right }
  body { padding: 0 1rem; margin: 1.5rem auto } td, th { padding-right: .5rem; overflow-wrap: break-word }
}
@media print { html { font-size: 12px } tr, svg { break-inside: avoid } thead { display: table-header-group } }
"""
"""`spare` columns are left out on a phone."""


@dataclass(frozen=True, slots=True)
class CheckedEssay(Data):
    """The marks of one essay."""

    essay: str
    learner: str
    date: str
    n_words: int = field(metadata=key("words"))
    rules: tuple[str, ...] = field(metadata=key("marks", write=Counter))

    @property
    def n_marks(self) -> int:
        return len(self.rules)


@dataclass(frozen=True, slots=True, repr=False)
class ClassReport(Result):
    """The marks of a class."""

    essays: tuple[CheckedEssay, ...]
    note: str = ""

    @property
    @in_json()
    def learners(self) -> list[dict[str, Json]]:
        return [_learner_row(learner, essays) for learner, essays in self._by_learner()]

    @property
    @in_json()
    def marks(self) -> list[dict[str, Json]]:
        keys = ("mark", "n", "learners", "per_100_words")
        return [dict(zip(keys, row, strict=True)) for row in self._by_rule()]

    def to_frame(self) -> pl.DataFrame:
        """One row per essay and rule."""
        import polars as pl  # which a command that prints tables need not wait for

        schema = {"essay": pl.String, "learner": pl.String, "date": pl.String, "words": pl.Int64}
        schema |= {"mark": pl.String, "n": pl.Int64}
        rows = [
            (essay.essay, essay.learner, essay.date, essay.n_words, rule, n)
            for essay in self.essays
            for rule, n in Counter(essay.rules).items()
        ]
        return pl.DataFrame(rows, schema=schema, orient="row")

    def sheets(self) -> tuple[Sheet, ...]:
        """The marks of the class, the learners, and their essays in the order of time."""
        n_words, n_marks = sum(essay.n_words for essay in self.essays), sum(essay.n_marks for essay in self.essays)
        title = f"{counted(n_marks, 'mark')} in {counted(len(self.essays), 'essay')}, {n_words:,} words"
        rules = [
            (rule, f"{n:,}", f"{learners:,}", number(rate, digits=2)) for rule, n, learners, rate in self._by_rule()
        ]
        learners = [_cells(_learner_row(learner, essays)) for learner, essays in self._by_learner()]
        notes = (self.note,) if self.note else ()
        return (
            Sheet(title, ("mark", "times", "learners", "per 100 words"), tuple(rules)),
            Sheet("By learner", tuple(name for name, _ in LEARNERS if name != "over time"), tuple(learners)),
            Sheet("Over time", tuple(name for name, _ in ESSAYS), self._in_time(), notes),
        )

    def to_html(self) -> str:
        """A page to print."""
        dates = sorted({essay.date for essay in self.essays if essay.date})
        when = f"Essays from {dates[0]} to {dates[-1]}." if len(dates) > 1 else ""
        learners = counted(len({essay.learner for essay in self.essays}), "learner")
        n_words = sum(essay.n_words for essay in self.essays)
        marks = counted(sum(essay.n_marks for essay in self.essays), "mark")
        rate = f", {number(_rate(self.essays), digits=1)} per {PER} words" if n_words else ""
        lead = f"{counted(len(self.essays), 'essay')} by {learners}, {n_words:,} words: {marks}{rate}."
        parts = (
            f'<p class="lead">{escape(lead)}</p>',
            f'<p class="note">{escape(f"{when} {self.note}".strip())}</p>',
            f"<h2>What comes up</h2>\n{_table(MARKS, self._mark_rows())}",
            f"<h2>By learner</h2>\n{_table(LEARNERS, self._learner_rows())}",
            f"<h2>Every essay</h2>\n{_table(ESSAYS, ([escape(cell) for cell in row] for row in self._in_time()))}",
        )
        return whole_page("Class report", "\n".join(parts), style=STYLE + TABLES)

    def _mark_rows(self) -> Iterator[list[str]]:
        counts = self._by_rule()
        most = max((n for _, n, _, _ in counts), default=1)
        for rule, n, n_learners, rate in counts:
            bar = f'<span class="bar" style="width: {75 * n / most:.0f}%"></span>{n:,}'
            yield [f"{escape(rule)}{_example(rule)}", bar, f"{n_learners:,}", number(rate, digits=2)]

    def _learner_rows(self) -> Iterator[list[str]]:
        highest = max((_rate([essay]) for essay in self.essays if essay.n_words), default=0.0)
        for learner, essays in self._by_learner():
            name, *cells, often = map(escape, _cells(_learner_row(learner, essays)))
            yield [name, *cells, _curve([_rate([essay]) for essay in essays if essay.n_words], highest), often]

    def _by_learner(self) -> list[tuple[str, list[CheckedEssay]]]:
        essays: dict[str, list[CheckedEssay]] = defaultdict(list)
        for checked in sorted(self.essays, key=lambda checked: (checked.date, checked.essay)):
            essays[checked.learner].append(checked)
        return sorted(essays.items(), key=lambda pair: natural(pair[0]))

    def _by_rule(self) -> list[tuple[str, int, int, float]]:
        """Each rule, its number of marks and of learners, and its rate, most frequent first."""
        n_words = sum(essay.n_words for essay in self.essays)
        counts = Counter(rule for essay in self.essays for rule in essay.rules)
        learners = {rule: len({essay.learner for essay in self.essays if rule in essay.rules}) for rule in counts}
        ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        return [(rule, n, learners[rule], PER * n / n_words) for rule, n in ordered]

    def _in_time(self) -> tuple[tuple[str, ...], ...]:
        return tuple(
            (learner, essay.date, essay.essay, f"{essay.n_words:,}", f"{essay.n_marks:,}", rate)
            for learner, essays in self._by_learner()
            for essay in essays
            for rate in [number(_rate([essay]), digits=1)]
        )


def class_report(
    essays: Iterable[tuple[str, Essay]],
    systems: Sequence[Detector],
    *,
    learner_field: str = LEARNER,
    date_field: str = DATE,
) -> ClassReport:
    """The marks that systems make in essays, each given with its file name."""
    checked, note = [], ""
    for name, essay in essays:
        feedback = feedback_on(essay, systems, name=name)
        learner, date = essay.metadata.get(learner_field), essay.metadata.get(date_field)
        note = feedback.note
        checked.append(
            CheckedEssay(
                essay=name,
                learner=name if learner is None else str(learner),
                date="" if date is None else str(date),
                n_words=len(essay.text.split()),
                # A mark that no rule explains is counted by its kind.
                rules=tuple(
                    mark.explanation.title if mark.explanation else f"Other: {mark.findings[0].item.kind}"
                    for mark in feedback.marks
                ),
            )
        )
    return ClassReport(essays=tuple(checked), note=note)


def _rate(essays: Sequence[CheckedEssay]) -> float:
    """Marks per 100 words; nan without words."""
    n_words = sum(essay.n_words for essay in essays)
    return PER * sum(essay.n_marks for essay in essays) / n_words if n_words else float("nan")


def _learner_row(learner: str, essays: Sequence[CheckedEssay]) -> dict[str, Json]:
    rules = Counter(rule for essay in essays for rule in essay.rules)
    return {
        "learner": learner,
        "essays": len(essays),
        "words": sum(essay.n_words for essay in essays),
        "marks": sum(essay.n_marks for essay in essays),
        "per_100_words": _rate(essays) if any(essay.n_words for essay in essays) else None,
        "change": _change(essays),
        "most_often": [rule for rule, _ in rules.most_common(3)],
    }


def _change(essays: Sequence[CheckedEssay]) -> float | None:
    """The rate of the later essays minus that of the earlier ones, without a middle one."""
    half = len(essays) // 2
    early, late = essays[:half], essays[len(essays) - half :]
    if not half or early[0].date == late[-1].date or not all(any(e.n_words for e in part) for part in (early, late)):
        return None
    return _rate(late) - _rate(early)


def _cells(row: dict[str, Json]) -> tuple[str, ...]:
    rate, change, often = row["per_100_words"], row["change"], row["most_often"]
    return (
        str(row["learner"]),
        f"{row['essays']:,}",
        f"{row['words']:,}",
        f"{row['marks']:,}",
        number(rate, digits=1) if isinstance(rate, float) else "",
        f"{change:+.1f}".replace("-", "−") if isinstance(change, float) else "",
        "; ".join(map(str, often)) if isinstance(often, list) else "",
    )


MARKS = (("mark", ""), ("times", "times"), ("learners", "number"), (f"per {PER} words", "number spare"))
LEARNERS = (
    *(("learner", ""), ("essays", "number spare"), ("words", "number spare"), ("marks", "number spare")),
    *((f"per {PER} words", "number"), ("change", "number"), ("over time", "spare"), ("most often", "")),
)
ESSAYS = (
    *(("learner", ""), ("date", ""), ("essay", "spare")),
    *(("words", "number spare"), ("marks", "number"), (f"per {PER} words", "number")),
)
"""The columns of the page, and how each looks."""


def _table(columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col" class="{look}">{escape(name)}</th>' for name, look in columns)
    cells = (
        "".join(f'<td class="{look}">{cell}</td>' for cell, (_, look) in zip(row, columns, strict=True))
        for row in rows
    )
    body = "\n".join(f"<tr>{row}</tr>" for row in cells)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


@cache
def _examples() -> dict[str, str]:
    """The example of every rule, wrong and right, by title."""
    return {
        rule.title: BADGES.format(wrong=escape(wrong), right=escape(right))
        for rules in reversed([*BY_KIND.values()])
        for rule in reversed(rules)
        for wrong, right in [example_sides(rule)]
    }


def _example(title: str) -> str:
    example = _examples().get(title)
    return f'<span class="example">{example}</span>' if example else ""


def _curve(rates: Sequence[float], highest: float) -> str:
    """A learner's rates from essay to essay, on the scale of the class."""
    if len(rates) < 2 or not highest:
        return ""
    points = [(2 + 92 * place / (len(rates) - 1), 22 - 20 * rate / highest) for place, rate in enumerate(rates)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    x, y = points[-1]
    words = f"marks per {PER} words: {', '.join(number(rate, digits=1) for rate in rates)}"
    return (
        f'<svg class="spark" viewBox="0 0 96 24" role="img" aria-label="{words}"><polyline points="{line}"/>'
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5"/></svg>'
    )
