"""The terms of a crowd job: gold, redundancy, pay, opening hours, a limit per rater, and who may take part.

They are stored in the job's options under `crowd` as plain JSON, are checked whenever they are read or set, and
belong to its protocol sheet (T,C&M 2013, 7.1 asks for such a protocol; 7.2 for participation contingent on other
tasks).  What is not named is not required: without `gold` nobody is tested, without `pay` nothing is owed.  Times are
UTC.

Redundancy may adapt to the raters: fewer judgments where they agree early, more where they do not.  A rule has a
`least` and a `most`, and the `lead` in votes of the first label over the second at which collection stops; with least
= most every item gets the same number.  Shares of votes depend on when collection stopped: an item that stopped
early has a share nearer to 0 or 1 than it would have had.  So shares and agreement use the first `least` judgments of
each item, which came before the rule could stop (`grater.tables.judgments`), unless the reader chooses otherwise;
majorities use all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

from grater.annotate.pay import Pay
from grater.annotate.trust import TrustRule, gold_on_page
from grater.errors import UsageError
from grater.model import Json
from grater.registry import unknown

KEY = "crowd"
PAGE = 10
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
LONGEST = 500

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Redundancy:
    """From `least` to `most` judgments per item; stop at a `lead` of this many votes."""

    least: int
    most: int
    lead: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.least <= self.most or self.lead < 1:
            raise UsageError(f"expected 1 <= least <= most and a lead of at least 1, found {self}")

    @property
    def is_fixed(self) -> bool:
        return self.least == self.most

    def __str__(self) -> str:
        return str(self.most) if self.is_fixed else f"{self.least}-{self.most}:lead={self.lead}"


def lead_of(labels: Iterable[str]) -> int:
    """The lead of the first label over the second, in votes."""
    counts = [n for _, n in Counter(labels).most_common(2)]
    return counts[0] - (counts[1] if len(counts) > 1 else 0) if counts else 0


def still_wanted(rule: Redundancy, labels: Iterable[str]) -> int:
    """The number of judgments to request next, given the valid ones so far; collection stops at 0."""
    given = list(labels)
    if len(given) < rule.least:
        return rule.least - len(given)
    if lead_of(given) >= rule.lead or len(given) >= rule.most:
        return 0
    return min(rule.lead - lead_of(given), rule.most - len(given))


@dataclass(frozen=True, slots=True)
class Opening:
    """Work is offered on these `days` (0 is Monday), from one hour to another, all UTC; over midnight too."""

    days: tuple[int, ...] = tuple(range(7))
    from_hour: int = 0
    to_hour: int = 24

    def __post_init__(self) -> None:
        if not self.days or not set(self.days) <= set(range(7)):
            raise UsageError(f"opening: expected days from 0 (Monday) to 6 (Sunday), found {list(self.days)}")
        if not (0 <= self.from_hour <= 23 and 1 <= self.to_hour <= 24) or self.from_hour == self.to_hour:
            raise UsageError(f"opening: expected hours from 0 to 24, found {self.from_hour} to {self.to_hour}")

    def __str__(self) -> str:
        days = ", ".join(DAYS[day] for day in sorted(self.days))
        return f"{days} {self.from_hour:02d}:00-{self.to_hour:02d}:00 UTC"


@dataclass(frozen=True, slots=True)
class Qualification:
    """A number of judgments in another job of the study, with at least this accuracy on its gold."""

    job: str
    judgments: int = 1
    accuracy: float = 0.0

    def __post_init__(self) -> None:
        if not self.job or self.judgments < 0 or not 0 <= self.accuracy <= 1:
            raise UsageError(f"qualification: expected a job, judgments and an accuracy from 0 to 1, found {self}")

    def __str__(self) -> str:
        right = f" at {self.accuracy:g} on its gold" if self.accuracy else ""
        return f"{self.judgments} judgments or more in {self.job}{right}"


@dataclass(frozen=True, slots=True)
class Terms:
    """`gold` says when raters are ejected; `page` how often gold comes; `limit` is units per rater, 0 for any number.

    A rater must come from one of `countries` and speak one of `languages`; `pilot` is a question on how clear the
    instructions are, asked with the review; `pool` is the number of raters expected.
    """

    page: int = PAGE
    gold: TrustRule | None = None
    redundancy: Redundancy | None = None
    pay: Pay | None = None
    opening: Opening | None = None
    limit: int = 0
    qualifications: tuple[Qualification, ...] = ()
    countries: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    pilot: str = ""
    pool: int = 0

    def __post_init__(self) -> None:
        gold_on_page(self.page)
        if self.limit < 0 or self.pool < 0 or len(self.pilot) > LONGEST:
            raise UsageError("expected a limit and a pool of 0 or more, and a pilot question of a few lines")


def terms_of(options: Mapping[str, Json]) -> Terms:
    """The terms in a job's options; a job without any asks for nothing."""
    return read_terms(options.get(KEY) or {})


def read_terms(value: Json) -> Terms:
    """Terms from JSON, each part checked; an unknown name is answered with the nearest."""
    return _made(Terms, value, "terms", PARTS)


def terms_json(terms: Terms) -> dict[str, Json]:
    """The terms as JSON, without defaults."""
    default = asdict(Terms())
    return {name: _plain(value) for name, value in asdict(terms).items() if value != default[name]}


def is_open(opening: Opening | None, now: int) -> bool:
    """Whether work is offered at this time, in milliseconds since 1970."""
    if opening is None:
        return True
    at = datetime.fromtimestamp(now / 1000, UTC)
    if opening.from_hour < opening.to_hour:
        return at.weekday() in opening.days and opening.from_hour <= at.hour < opening.to_hour
    is_late = at.hour >= opening.from_hour
    day = at.weekday() if is_late else (at.weekday() - 1) % 7  # the night belongs to the day on which it began
    return day in opening.days and (is_late or at.hour < opening.to_hour)


def _plain(value: Any) -> Json:
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else cast(Json, value)


def _made(kind: type[T], given: Json, where: str, parts: Mapping[str, Any] | None = None) -> T:
    if not isinstance(given, Mapping):
        raise UsageError(f"{where}: expected an object, found {str(given)[:60]!r}")
    known = {field.name: field for field in fields(cast(Any, kind))}
    for name in given:
        if name not in known:
            raise UsageError(f"{where}: {unknown('name', name, list(known))}")
    missing = [name for name, field in known.items() if field.default is MISSING and name not in given]
    if missing:
        raise UsageError(f"{where}: expected {', '.join(missing)}, found nothing")
    return kind(**{name: _value(known[name], value, where, parts or {}) for name, value in given.items()})


def _value(field: Any, value: Json, where: str, parts: Mapping[str, Any]) -> Any:
    if field.name in parts and value is not None:
        return parts[field.name](value)
    kind = str(field.type)
    if kind.startswith("tuple"):
        inner = int if "int" in kind else str
        if not isinstance(value, Sequence) or isinstance(value, str) or not all(type(one) is inner for one in value):
            raise UsageError(f"{where}: {field.name}: expected a list, found {str(value)[:60]!r}")
        return tuple(value)
    wanted: tuple[type, ...] = {"int": (int,), "float": (int, float)}.get(kind, (str,))
    if value is None and "None" in kind:
        return None
    if not isinstance(value, wanted) or isinstance(value, bool):
        raise UsageError(f"{where}: {field.name}: expected {kind}, found {str(value)[:60]!r}")
    return value


def _qualifications(given: Json) -> tuple[Qualification, ...]:
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise UsageError(f"qualifications: expected a list, found {str(given)[:60]!r}")
    return tuple(_made(Qualification, entry, "qualification") for entry in given)


PARTS: Mapping[str, Any] = {
    "gold": lambda given: _made(TrustRule, given, "gold"),
    "redundancy": lambda given: _made(Redundancy, given, "redundancy"),
    "pay": lambda given: _made(Pay, given, "pay"),
    "opening": lambda given: _made(Opening, given, "opening"),
    "qualifications": _qualifications,
}
