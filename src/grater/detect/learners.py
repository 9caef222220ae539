"""A class report: which marks, how many, for each learner and over time.

Essays are counted by what their metadata says of learner and date; an essay without a learner is counted for its
file.  Marks are told by the rules that explain them (`grater.detect.rules`), so that a class can be taught what comes
up most.  Rates are per 100 words, since essays differ in length; a learner's change is the rate of the later half of
their essays less that of the earlier half, and none where there is only one date.  A mark is not yet an error: the
note of the feedback stands under the tables.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grater.detect.detector import Detector
from grater.detect.feedback import STYLE, Feedback, feedback_on, whole_page
from grater.detect.marks import Mark
from grater.model import Essay, Json
from grater.result import Result
from grater.sheet import Sheet, as_html, counted, natural, number

if TYPE_CHECKING:
    import polars as pl

LEARNER, DATE = "learner", "date"
PER = 100
TABLES = """
main { max-width: 60rem } body { max-width: 60rem }
table { border-collapse: collapse; margin: 2rem 0; width: 100% }
table { font: .9rem/1.4 Inter, "Helvetica Neue", Arial, sans-serif }
caption { text-align: left; font-weight: 600; font-size: 1.05rem; padding-bottom: .5rem }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums }
@media print { table { break-inside: auto } tr { break-inside: avoid } thead { display: table-header-group } }
"""


@dataclass(frozen=True, slots=True)
class CheckedEssay:
    """What was marked in one essay."""

    essay: str
    learner: str
    date: str
    n_words: int
    rules: tuple[str, ...]

    @property
    def n_marks(self) -> int:
        return len(self.rules)


@dataclass(frozen=True, slots=True, repr=False)
class ClassReport(Result):
    """The marks of a class."""

    essays: tuple[CheckedEssay, ...]
    note: str = ""

    def to_dict(self) -> dict[str, Json]:
        return {
            "essays": [
                {
                    "essay": essay.essay,
                    "learner": essay.learner,
                    "date": essay.date,
                    "words": essay.n_words,
                    "marks": dict(Counter(essay.rules)),
                }
                for essay in self.essays
            ],
            "learners": [_learner_row(learner, essays) for learner, essays in self._by_learner()],
            "marks": [
                {"mark": rule, "n": n, "learners": n_learners, "per_100_words": rate}
                for rule, n, n_learners, rate in self._by_rule()
            ],
            "note": self.note,
        }

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
            (rule, f"{n:,}", f"{learners:,}", number(rate, digits=1)) for rule, n, learners, rate in self._by_rule()
        ]
        learners = [_told(_learner_row(learner, essays)) for learner, essays in self._by_learner()]
        notes = (self.note,) if self.note else ()
        return (
            Sheet(title, ("mark", "times", "learners", "per 100 words"), tuple(rules)),
            Sheet(
                "By learner",
                ("learner", "essays", "words", "marks", "per 100 words", "change", "most often"),
                tuple(learners),
            ),
            Sheet(
                "Over time",
                ("learner", "date", "essay", "words", "marks", "per 100 words"),
                self._in_time(),
                notes=notes,
            ),
        )

    def to_html(self) -> str:
        """A page to print."""
        tables = "\n".join(as_html(sheet) for sheet in self.sheets())
        return whole_page("Class report", tables, style=STYLE + TABLES)

    def _by_learner(self) -> list[tuple[str, list[CheckedEssay]]]:
        essays: dict[str, list[CheckedEssay]] = defaultdict(list)
        for checked in sorted(self.essays, key=lambda checked: (checked.date, checked.essay)):
            essays[checked.learner].append(checked)
        return sorted(essays.items(), key=lambda pair: natural(pair[0]))

    def _by_rule(self) -> list[tuple[str, int, int, float]]:
        """A rule, how often it came up, with how many learners, and its rate; the commonest first."""
        n_words = sum(essay.n_words for essay in self.essays)
        counts = Counter(rule for essay in self.essays for rule in essay.rules)
        learners = {rule: len({essay.learner for essay in self.essays if rule in essay.rules}) for rule in counts}
        ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        return [(rule, n, learners[rule], PER * n / n_words) for rule, n in ordered]

    def _in_time(self) -> tuple[tuple[str, ...], ...]:
        return tuple(
            (
                learner,
                essay.date,
                essay.essay,
                f"{essay.n_words:,}",
                f"{essay.n_marks:,}",
                number(_rate([essay]), digits=1),
            )
            for learner, essays in self._by_learner()
            for essay in essays
        )


def class_report(
    essays: Iterable[tuple[str, Essay]],
    systems: Sequence[Detector],
    *,
    learner_field: str = LEARNER,
    date_field: str = DATE,
) -> ClassReport:
    """The marks that systems make in essays, each given with the name of its file."""
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
                rules=_rules(feedback),
            )
        )
    return ClassReport(essays=tuple(checked), note=note)


def _rules(feedback: Feedback) -> tuple[str, ...]:
    return tuple(map(_rule, feedback.marks))


def _rule(mark: Mark) -> str:
    return mark.explanation.title if mark.explanation else mark.findings[0].item.kind


def _rate(essays: Sequence[CheckedEssay]) -> float:
    """Marks per 100 words; nan where there are no words."""
    n_words = sum(essay.n_words for essay in essays)
    return PER * sum(essay.n_marks for essay in essays) / n_words if n_words else float("nan")


def _learner_row(learner: str, essays: Sequence[CheckedEssay]) -> dict[str, Json]:
    rules = Counter(rule for essay in essays for rule in essay.rules)
    change = _change(essays)
    return {
        "learner": learner,
        "essays": len(essays),
        "words": sum(essay.n_words for essay in essays),
        "marks": sum(essay.n_marks for essay in essays),
        "per_100_words": _rate(essays) if any(essay.n_words for essay in essays) else None,
        "change": change,
        "most_often": [rule for rule, _ in rules.most_common(3)],
    }


def _change(essays: Sequence[CheckedEssay]) -> float | None:
    """By how much the rate of the later essays differs from that of the earlier ones, a middle one left out."""
    half = len(essays) // 2
    early, late = essays[:half], essays[len(essays) - half :]
    if not half or early[0].date == late[-1].date or not all(any(e.n_words for e in part) for part in (early, late)):
        return None
    return _rate(late) - _rate(early)


def _told(row: dict[str, Json]) -> tuple[str, ...]:
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
