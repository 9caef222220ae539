"""How many judgments an item needs: fewer where raters agree early, more where they do not.

A rule says `least` and `most`, and the `lead` at which to stop: once the first label is so many votes ahead of the
second.  With least = most every item gets the same number.  The rule is stored with the job and stands in its
protocol sheet, since shares of votes depend on when asking stopped: an item that was stopped early has a share
nearer to 0 or 1 than it would have had.  So shares and agreement are of the first `least` judgments of each item,
which came before anybody could stop (`grater.tables.judgments`), unless the reader says otherwise; majorities are of
all.

The terms of a job for a crowd: gold, redundancy, pay, opening hours, limits, who may take part.

They stand in the job's options under `crowd` as plain JSON, are checked whenever they are read or set, and belong to
its protocol sheet (T,C&M 2013, 7.1 asks for such a protocol; 7.2 for participation contingent on other tasks).  What
is not named is not asked for: without `gold` nobody is tested, without `pay` nothing is owed.  Times are UTC.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

from grater.crowd.pay import Pay
from grater.crowd.trust import TrustRule, gold_on_page
from grater.errors import UsageError
from grater.model import Json
from grater.registry import unknown


@dataclass(frozen=True, slots=True)
class Redundancy:
    """From `least` to `most` judgments; stop at a `lead` of so many votes."""

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
    """How far the first label is ahead of the second."""
    counts = [n for _, n in Counter(labels).most_common(2)]
    return counts[0] - (counts[1] if len(counts) > 1 else 0) if counts else 0


def still_wanted(rule: Redundancy, labels: Iterable[str]) -> int:
    """How many more judgments to ask for at once, given the valid ones so far; asking stops at 0."""
    said = list(labels)
    if len(said) < rule.least:
        return rule.least - len(said)
    if lead_of(said) >= rule.lead or len(said) >= rule.most:
        return 0
    return min(rule.lead - lead_of(said), rule.most - len(said))


KEY = "crowd"
PAGE = 10
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
LONGEST = 500

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Opening:
    """Work is given out on these `days` (0 is Monday), from one hour to another, all UTC; over midnight too."""

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
    """So many judgments in another job of the study, at least so right on its gold."""

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
    """`gold` says when raters are put out; `page` how often gold comes; `limit` is units per rater, 0 for any number.

    `countries` and `languages` are what a rater must be from, and speak one of; `pilot` is a question on how clear
    the instructions are, asked with the review; `pool` is how many raters are expected.
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


def read_terms(found: Json) -> Terms:
    """Terms from JSON, each part checked; an unknown name is answered with the nearest."""
    return _made(Terms, found, "terms", PARTS)


def terms_json(terms: Terms) -> dict[str, Json]:
    """The terms as JSON, without what is as it would be anyway."""
    default = asdict(Terms())
    return {name: _plain(value) for name, value in asdict(terms).items() if value != default[name]}


def is_open(opening: Opening | None, now: int) -> bool:
    """Whether work is given out at this time, in milliseconds since 1970."""
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
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else cast(Json, value)


def _made(kind: type[T], found: Json, where: str, parts: Mapping[str, Any] | None = None) -> T:
    if not isinstance(found, Mapping):
        raise UsageError(f"{where}: expected an object, found {str(found)[:60]!r}")
    known = {each.name: each for each in fields(cast(Any, kind))}
    for name in found:
        if name not in known:
            raise UsageError(f"{where}: {unknown('name', name, list(known))}")
    missing = [name for name, each in known.items() if each.default is MISSING and name not in found]
    if missing:
        raise UsageError(f"{where}: expected {', '.join(missing)}, found nothing")
    return kind(**{name: _value(known[name], value, where, parts or {}) for name, value in found.items()})


def _value(each: Any, value: Json, where: str, parts: Mapping[str, Any]) -> Any:
    if each.name in parts and value is not None:
        return parts[each.name](value)
    kind = str(each.type)
    if kind.startswith("tuple"):
        inner = int if "int" in kind else str
        if not isinstance(value, Sequence) or isinstance(value, str) or not all(type(one) is inner for one in value):
            raise UsageError(f"{where}: {each.name}: expected a list, found {str(value)[:60]!r}")
        return tuple(value)
    wanted: tuple[type, ...] = {"int": (int,), "float": (int, float)}.get(kind, (str,))
    if value is None and "None" in kind:
        return None
    if not isinstance(value, wanted) or isinstance(value, bool):
        raise UsageError(f"{where}: {each.name}: expected {kind}, found {str(value)[:60]!r}")
    return value


def _qualifications(found: Json) -> tuple[Qualification, ...]:
    if not isinstance(found, Sequence) or isinstance(found, str):
        raise UsageError(f"qualifications: expected a list, found {str(found)[:60]!r}")
    return tuple(_made(Qualification, each, "qualification") for each in found)


PARTS: Mapping[str, Any] = {
    "gold": lambda found: _made(TrustRule, found, "gold"),
    "redundancy": lambda found: _made(Redundancy, found, "redundancy"),
    "pay": lambda found: _made(Pay, found, "pay"),
    "opening": lambda found: _made(Opening, found, "opening"),
    "qualifications": _qualifications,
}
