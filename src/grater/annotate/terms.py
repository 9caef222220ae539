"""The terms of a crowd job: pay, gold, redundancy, a limit per rater, and who may take part.

They are stored as plain JSON in the job's options under `crowd`, checked whenever they are read or set, and shown on
its protocol sheet (T,C&M 2013, 7.1; 7.2 recommends making participation depend on other tasks). Missing terms impose
nothing: without `gold` nobody is tested, without `pay` nothing is owed. The opening hours of 0.2 are gone.

*Pay* is whole cents of one currency, never a float and never mixed (T,C&M 2013, Table 5). A rater is paid once per
unit, however often they answered it (a second tab, a revised essay): the answer that counts decides, else one that
came too late, else one that was withdrawn. An answer that its rater undid (`undone`) is not paid.

*Gold* decides when a rater is trusted (T,C&M 2013, 5.4; docs/crowd.md). Departures from CrowdFlower: each turn is
drawn independently (`gold_rate`), since with a fixed number per page a rater who has noticed the gold knows that the
rest of the page is untested. `sure` gives the benefit of the doubt: with .9 a rater is ejected only if somebody
exactly at the minimum would do as badly in less than a tenth of cases (the binomial tail at the minimum). `odds`
computes a rule's effect exactly: the distribution of the number of right answers is updated gold item by gold item,
and ejected counts are removed. A requester can thus see in advance how many good raters a rule loses and how long a
guesser stays.

*Redundancy* may adapt to the raters: collection stops between `least` and `most` judgments, at a `lead` in votes of
the first label over the second. Stopping early biases an item's share of votes towards 0 or 1, so by default shares
and agreement use the first `least` judgments of each item, which precede any stopping (`grater.tables.read`);
majorities use all.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from typing import Annotated, Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
from pydantic import ConfigDict, Field, StringConstraints, model_validator
from pydantic.dataclasses import dataclass as model

from grater.annotate.requests import Body, example
from grater.errors import UsageError
from grater.model import Json

EXACT = ConfigDict(extra="forbid", allow_inf_nan=False)

Policy: TypeAlias = Literal["all", "not-untrusted", "valid"]
POLICIES: tuple[Policy, ...] = get_args(Policy)
POLICY_WORDS: dict[str, str] = {
    "all": "every judgment",
    "not-untrusted": "every judgment except untrusted ones",
    "valid": "valid judgments only",
}
PAID: dict[Policy, frozenset[str]] = {
    "all": frozenset(("valid", "surplus", "untrusted", "withdrawn")),
    "not-untrusted": frozenset(("valid", "surplus", "withdrawn")),
    "valid": frozenset(("valid",)),
}
DECIDES = ("valid", "untrusted", "surplus", "withdrawn", "undone")
"""If a unit has several answers, the first of these statuses decides; at most one is valid or untrusted."""
HOUR = 3600.0


@model(frozen=True, slots=True, config=EXACT)
class Pay:
    """`cents` per unit, including gold and quiz units; `least_hourly` in cents triggers a warning below it."""

    cents: int = Field(ge=0, le=1_000_000)
    currency: str = "EUR"
    policy: Policy = "all"
    least_hourly: int = Field(default=0, ge=0, le=1_000_000)

    def __post_init__(self) -> None:
        if len(self.currency) != 3 or not self.currency.isupper() or not self.currency.isascii():
            raise UsageError(f"expected a currency in three letters, as in EUR, found {self.currency!r}")


@dataclass(frozen=True, slots=True)
class Work:
    """One submission, as pay sees it; `seconds` if measured."""

    rater: str
    status: str
    seconds: float | None
    unit: str


@dataclass(frozen=True, slots=True)
class UnitsAnswered:
    """One rater's answered units, and those whose answer is valid or untrusted."""

    n_units: int
    n_valid: int
    n_untrusted: int


@dataclass(frozen=True, slots=True)
class Bill:
    """The cost of a job in cents: by rater, in all, and wasted on judgments that do not count."""

    by_rater: Mapping[str, int]
    wasted: int

    @property
    def cents(self) -> int:
        return sum(self.by_rater.values())


@dataclass(frozen=True, slots=True)
class HourlyPay:
    """Cents per hour: the median of raters, and the first quartile."""

    median: float
    slow_quarter: float
    n_raters: int
    warning: str = ""


def paid_once(done: Iterable[Work]) -> list[Work]:
    """The paid work: one piece per rater and unit, with the total time of its answers."""
    by_unit: dict[tuple[str, str], list[Work]] = defaultdict(list)
    for work in done:
        by_unit[work.rater, work.unit].append(work)
    paid = []
    for answers in by_unit.values():
        known = [each.seconds for each in answers if each.seconds is not None]
        deciding = min(answers, key=lambda each: DECIDES.index(each.status))
        paid.append(replace(deciding, seconds=sum(known) if known else None))
    return paid


def owed(pay: Pay, work: Work) -> int:
    return pay.cents if work.status in PAID[pay.policy] else 0


def earned(pay: Pay, answered: UnitsAnswered) -> int:
    """Cents owed to one rater, from counts alone; equals `bill`.

    At most one answer to a unit is valid or untrusted, and that one decides.
    """
    n_paid = {
        "all": answered.n_units,
        "not-untrusted": answered.n_units - answered.n_untrusted,
        "valid": answered.n_valid,
    }
    return pay.cents * n_paid[pay.policy]


def bill(pay: Pay, done: Iterable[Work]) -> Bill:
    """The whole job; the amounts owed to raters sum to the total, to the cent."""
    by_rater, wasted = Counter[str](), 0
    for work in paid_once(done):
        cents = owed(pay, work)
        by_rater[work.rater] += cents
        wasted += 0 if work.status == "valid" else cents
    return Bill(by_rater, wasted)


def hourly(pay: Pay, done: Sequence[Work]) -> HourlyPay:
    """Hourly earnings of the median rater and of the lower quartile, with a warning if below the minimum."""
    cents: Counter[str] = Counter()
    seconds: defaultdict[str, float] = defaultdict(float)
    for work in paid_once(done):
        if work.seconds:
            cents[work.rater] += owed(pay, work)
            seconds[work.rater] += work.seconds
    if not seconds:
        return HourlyPay(float("nan"), float("nan"), 0)
    rates = [HOUR * cents[rater] / seconds[rater] for rater in seconds]
    middle, slow = (float(np.quantile(rates, share)) for share in (0.5, 0.25))
    warning = ""
    if slow < pay.least_hourly:
        who = "half" if middle < pay.least_hourly else "a quarter"
        warning = f"{who} of the raters make less than {money(pay.least_hourly, pay.currency)} an hour"
    return HourlyPay(median=middle, slow_quarter=slow, n_raters=len(rates), warning=warning)


def money(cents: float, currency: str) -> str:
    """`12.05 EUR`."""
    return f"{cents / 100:,.2f} {currency}"


Chances = npt.NDArray[np.float64]

SUSPECT_AFTER = 5
WIDE_PAGE = 20
FUZZ = 1e-9
"""In binary, 25 times .56 is a little over 14, but 14 of 25 must pass a minimum of .56."""


@model(frozen=True, slots=True, config=EXACT)
class TrustRule:
    """Raters below the `minimum` on gold are ejected, from `least_seen` on; first comes a `quiz`, with `attempts`.

    `sure`, from 0 to 1, is how certain it must be that a rater is below the minimum; at 0 the observed share decides.
    Hidden gold is rested after `exposure` viewings, or at 0 after as many as a work unit has raters. With
    `shows_misses`, raters who do well immediately see the expected answer to hidden gold that they missed, which is
    then retired.
    """

    minimum: float = Field(default=0.7, ge=0, le=1)
    least_seen: int = Field(default=4, ge=1, le=1000)
    quiz: int = Field(default=0, ge=0, le=1000)
    attempts: int = Field(default=1, ge=1, le=100)
    sure: float = Field(default=0.0, ge=0, le=0.999)
    exposure: int = Field(default=0, ge=0, le=1_000_000)
    shows_misses: bool = False


def is_below(rule: TrustRule, *, seen: int, right: int) -> bool:
    """Whether a rater with this record on gold is ejected."""
    return seen >= rule.least_seen and _falls_short(rule, seen, right)


def passes_quiz(rule: TrustRule, *, right: int) -> bool:
    return not _falls_short(rule, rule.quiz, right)


def quiz_needed(rule: TrustRule) -> int:
    return next(right for right in range(rule.quiz + 1) if passes_quiz(rule, right=right))


def _falls_short(rule: TrustRule, seen: int, right: int) -> bool:
    is_below_share = right < rule.minimum * seen - FUZZ
    if not is_below_share or not rule.sure:
        return is_below_share
    from scipy.special import bdtr  # which takes long to come, and most raters and commands need not wait for it

    return float(bdtr(right, seen, rule.minimum)) <= 1 - rule.sure


def quiz_pool(rule: TrustRule, n_gold: int) -> int:
    """The number of quiz units: new questions for each attempt, or for at least two, as long as half of the gold
    stays hidden; never less than one quiz.
    """
    return min(n_gold, max(rule.quiz, min(rule.quiz * max(2, rule.attempts), n_gold // 2)))


def is_reliable(rule: TrustRule, *, seen: int, right: int) -> bool:
    """Whether a rater with this record on other gold may cast doubt on gold."""
    return seen >= rule.least_seen and right >= rule.minimum * seen - FUZZ


def is_suspect(*, seen: int, missed: int) -> bool:
    """Whether enough reliable raters missed the gold to doubt it."""
    return seen >= SUSPECT_AFTER and 2 * missed > seen


def gold_on_page(page_size: int) -> int:
    """Hidden gold on an average page: 1 for up to 19 units, 2 from 20 to 29, one more for each further ten."""
    return max(1, page_size // (WIDE_PAGE // 2))


def gold_rate(page_size: int) -> float:
    """The probability that a turn is gold, independent of earlier turns: on average as many as a page holds."""
    return gold_on_page(page_size) / page_size


@dataclass(frozen=True, slots=True)
class GoldRuleOdds:
    """The probabilities that a rater fails all quiz attempts, and is ejected (`out`) by the end of all gold.

    `met` is the mean number of hidden gold items that a rater who passed the quiz sees.
    """

    fails_quiz: float
    out: float
    met: float


def odds(rule: TrustRule, chances: Sequence[float]) -> GoldRuleOdds:
    """The outcome for a rater with these probabilities of being right on each gold unit, quiz first."""
    by_right = _answered(np.ones(1), chances[: rule.quiz])
    is_in = np.array([passes_quiz(rule, right=right) for right in range(len(by_right))])
    passes = float(by_right[is_in].sum())
    fails = (1.0 - passes) ** rule.attempts
    if not passes:
        return GoldRuleOdds(fails_quiz=1.0, out=1.0, met=0.0)
    still, met = np.where(is_in, by_right, 0.0) / passes, 0.0
    for seen, chance in enumerate(chances[rule.quiz :], rule.quiz + 1):
        met += float(still.sum())
        still = _answered(still, [chance])
        still[[is_below(rule, seen=seen, right=right) for right in range(len(still))]] = 0.0
    return GoldRuleOdds(fails_quiz=fails, out=1.0 - (1.0 - fails) * float(still.sum()), met=met)


def _answered(by_right: Chances, chances: Sequence[float]) -> Chances:
    """The distribution of the number of right answers after more gold items."""
    for chance in chances:
        by_right = np.convolve(by_right, [1.0 - chance, chance])
    return by_right


KEY = "crowd"
GONE = "opening"
"""A term that jobs of 0.2 may have, and that nothing reads any more."""
IMPORTED = "imported"
"""The option of a job that was judged elsewhere: the name of its file."""
PAGE = 10
IN_QUIZ = ("new", "quiz")
"""States of trust before and during the entry quiz."""


@model(frozen=True, slots=True, config=EXACT)
class Redundancy:
    """From `least` to `most` judgments per item, until one answer leads by `lead`."""

    least: int = Field(ge=1, le=100)
    most: int = Field(ge=1, le=100)
    lead: int = Field(default=1, ge=1, le=100)

    def __post_init__(self) -> None:
        if self.least > self.most:
            raise UsageError(f"redundancy: expected least <= most, found {self.least} and {self.most}")

    @property
    def is_fixed(self) -> bool:
        return self.least == self.most

    def __str__(self) -> str:
        return str(self.most) if self.is_fixed else f"{self.least}-{self.most}:lead={self.lead}"


def lead_of(labels: Iterable[str]) -> int:
    """The first label's lead over the second, in votes."""
    counts = [n for _, n in Counter(labels).most_common(2)]
    return counts[0] - (counts[1] if len(counts) > 1 else 0) if counts else 0


def still_wanted(rule: Redundancy, labels: Iterable[str]) -> int:
    """The number of further judgments to request, given the valid ones so far; 0 ends the collection."""
    given = list(labels)
    if len(given) < rule.least:
        return rule.least - len(given)
    if lead_of(given) >= rule.lead or len(given) >= rule.most:
        return 0
    return min(rule.lead - lead_of(given), rule.most - len(given))


@model(frozen=True, slots=True, config=EXACT)
class Qualification:
    """A number of judgments in another job of the study, with at least this accuracy on its gold."""

    job: str = Field(min_length=1)
    judgments: int = Field(default=1, ge=0, le=1_000_000)
    accuracy: float = Field(default=0.0, ge=0, le=1)

    def __str__(self) -> str:
        right = f" at {self.accuracy:g} on its gold" if self.accuracy else ""
        return f"{self.judgments} judgments or more in {self.job}{right}"


Questions: TypeAlias = tuple[
    Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)], ...
]


class Terms(Body):
    """Changed terms; those not named stay, and null removes one.

    A rater must come from one of `countries`, speak one of `languages`, and agree to `information`.
    """

    model_config = ConfigDict(frozen=True) | example(
        pay={"cents": 7, "currency": "EUR"}, limit=200, languages=["English"]
    )
    page: int = Field(default=PAGE, ge=2, le=200, description="Units per page; gold is hidden among them.")
    gold: TrustRule | None = None
    redundancy: Redundancy | None = None
    pay: Pay | None = None
    limit: int = Field(default=0, ge=0, le=1_000_000, description="Units that a rater may do, 0 for any number.")
    qualifications: tuple[Qualification, ...] = ()
    countries: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    information: str = Field(
        default="",
        max_length=20_000,
        description="Markdown that raters agree to before their first question.",
    )
    questions_before: Questions = Field(
        default=(),
        max_length=20,
        description='To raters before their first unit; "Age? | under 18 | older" has choices.',
    )
    questions_after: Questions = Field(default=(), max_length=20, description="The same after their last unit.")
    pilot: str = Field(default="", max_length=500, description="A question on how clear the instructions are.")
    pool: int = Field(default=0, ge=0, le=1_000_000, description="How many raters are expected.")

    @property
    def consent(self) -> str:
        """The version of the information that a rater agrees to; empty if there is none."""
        return sha256(self.information.encode()).hexdigest()[:16] if self.information else ""

    def is_in_quiz(self, state: str) -> bool:
        """Whether a rater in this state of trust has yet to pass the entry quiz."""
        return self.gold is not None and self.gold.quiz > 0 and state in IN_QUIZ

    @model_validator(mode="before")
    @classmethod
    def _taken_away(cls, sent: Any) -> Any:
        """Null sets the default, and counts as sent."""
        if not isinstance(sent, Mapping):
            return sent
        defaults = {name: field.default for name, field in cls.model_fields.items()}
        return {name: defaults.get(name) if value is None else value for name, value in sent.items()}


def terms_of(options: Mapping[str, Json]) -> Terms:
    """The terms in a job's options; without any, nothing is required."""
    given = options.get(KEY)
    return _checked(json.dumps(given)) if given and isinstance(given, Mapping) else NO_TERMS


@lru_cache(maxsize=256)
def _checked(given: str) -> Terms:
    """Cached, since every step of an answer needs the terms of its job, and they rarely change."""
    return Terms.checked(**{name: value for name, value in json.loads(given).items() if name != GONE})


NO_TERMS = Terms()


def terms_json(terms: Terms) -> dict[str, Json]:
    """The terms as JSON, without defaults."""
    default = Terms().model_dump(mode="json")
    return {name: value for name, value in terms.model_dump(mode="json").items() if value != default[name]}


SKILLS = (0.5, 0.7, 0.8, 0.9, 0.95)
"""Raters for whom the page tells what the gold rule would do; the first guesses between two answers."""


MOST_GOLD = 100
"""Gold of one rater that is looked ahead to."""


def odds_for(terms: Terms, n_gold: int) -> list[tuple[float, GoldRuleOdds]]:
    """The effect of the rule on raters of several skills who see all the gold."""
    if terms.gold is None:
        return []
    n_met = max(terms.gold.quiz, min(n_gold, MOST_GOLD))
    return [(skill, odds(terms.gold, [skill] * n_met)) for skill in SKILLS]
