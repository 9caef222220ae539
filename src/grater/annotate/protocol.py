"""The terms of a job for a crowd, and its protocol sheet.

New terms are checked and stored, and set the number of judgments of units. The protocol sheet has what T,C&M 2013,
7.1, recommend that crowdsourced studies report: instructions, gold, the ejection rule, pay, restrictions, redundancy,
dates, and the outcome.

The recommended rule is derived in docs/crowd.md ("Which rule"): a quiz of 12 questions, then ejection of anyone who
is below 80 % on gold with 90 % certainty, from 12 questions on.
"""

from __future__ import annotations

from collections.abc import Mapping

from grater.annotate import jobs, standing, units
from grater.annotate import money as study_money
from grater.annotate.gold import fill_quiz
from grater.annotate.jobs import Job
from grater.annotate.judgments import submitted
from grater.annotate.money import Costs, job_costs
from grater.annotate.store import Tx
from grater.annotate.store.transaction import as_iso
from grater.annotate.terms import IMPORTED, KEY, POLICY_WORDS, Terms, gold_on_page, money, terms_json, terms_of
from grater.errors import UsageError
from grater.model import Json
from grater.sheet import counted, duration


def set_terms(tx: Tx, job_id: str, changes: Mapping[str, Json], *, actor: str | None = None) -> Job:
    """Change some terms of a job and keep the others; a part set to null is removed."""
    job = jobs.lock(tx, job_id)
    before = terms_of(job.options)
    terms = Terms.checked(**{**terms_json(before), **changes})
    for wanted in terms.qualifications:
        jobs.named(tx, wanted.job)
    if terms.pay is not None:
        study_money.require_currency(tx, job_id, terms.pay.currency)
    # Without gold units a gold rule would give nobody any work; assigned jobs have their judgments planned.
    if terms.gold is not None and not units.ids_of_job(tx, job.job_id, role="gold"):
        raise UsageError(f"{job.name}: has no gold yet; make some first")
    if terms.redundancy != before.redundancy and job.access == "assigned":
        raise UsageError(f"{job.name}: its annotators are named, so the number of judgments is fixed")
    job = jobs.set_options(tx, job_id, {KEY: terms_json(terms)}, actor=actor)
    fill_quiz(tx, job)
    if terms.redundancy != before.redundancy:
        units.log_finished(tx, units.settle_slots(tx, job, units.ids_of_job(tx, job_id, role="work")))
    return job


UNKNOWN = "unknown: judged elsewhere"
"""The entry of a protocol for the gold, pay and restrictions of an imported job where nobody entered them."""


def restrictions(terms: Terms) -> str:
    """The requirements of a job, in words; empty if it has none."""
    parts = [str(qualification) for qualification in terms.qualifications]
    parts += [f"from {' or '.join(terms.countries)}"] if terms.countries else []
    parts += [f"speaks {' or '.join(terms.languages)}"] if terms.languages else []
    return "; ".join(parts)


def protocol_sheet(tx: Tx, job: Job, known: Costs | None = None) -> dict[str, str]:
    """Labels and words in a fixed order, without parts that do not apply; `known` are costs already computed."""
    terms, costs = terms_of(job.options), known or job_costs(tx, job)
    version = jobs.current_guidelines(tx, job.job_id)
    nothing = UNKNOWN if IMPORTED in job.options else "none"
    rows = {
        "Task": f"{job.task}, {job.title}",
        "Judgments per unit": str(terms.redundancy or job.judgments),
        "Instructions": f"version {version.version}, {len(version.markdown.split())} words" if version else "",
        "Gold": _gold(tx, job, terms) or nothing,
        "Removal rule": _rule(terms, sum(each.state == "ejected" for each in standing.of_job(tx, job.job_id))),
        "Pay": _pay(terms, costs) or nothing,
        "Restrictions": restrictions(terms) or nothing,
        "Limit per rater": f"{terms.limit} units" if terms.limit else "",
        "Dates": _dates(tx, job),
        "Raters": f"{costs.raters}" + (f" of a pool of {terms.pool}" if terms.pool else ""),
        "Judgments": f"{costs.judgments:,}, {costs.valid:,} valid",
        "Turnaround": "unknown: no judgment has a time" if costs.hours is None else duration(costs.hours),
        "Cost": _cost(costs),
    }
    return {key: words for key, words in rows.items() if words}


def whole_protocol(tx: Tx, job: Job) -> dict[str, str]:
    """The sheet with the instructions verbatim, for an export."""
    version = jobs.current_guidelines(tx, job.job_id)
    return {**protocol_sheet(tx, job), **({"Instructions in full": version.markdown} if version else {})}


def _gold(tx: Tx, job: Job, terms: Terms) -> str:
    n_gold = len(units.ids_of_job(tx, job.job_id, role="gold"))
    if not n_gold or terms.gold is None:
        return ""
    return f"{n_gold} units, on average {gold_on_page(terms.page)} hidden in every {terms.page}"


def _rule(terms: Terms, n_out: int) -> str:
    rule = terms.gold
    if rule is None:
        return ""
    attempts = counted(rule.attempts, "attempt")
    quiz = f"entry quiz of {rule.quiz} questions ({attempts}); " if rule.quiz else ""
    sure = f", once that is {100 * rule.sure:g} % certain" if rule.sure else ""
    below = f"removed below {100 * rule.minimum:g} % on gold after at least {counted(rule.least_seen, 'gold unit')}"
    shown = "; good raters see what they missed" if rule.shows_misses else ""
    return f"{quiz}{below}{sure}{shown}; {counted(n_out, 'rater')} removed"


def _pay(terms: Terms, costs: Costs) -> str:
    if terms.pay is None:
        return ""
    rates = costs.hourly
    hour = f"; median {costs.money(rates.median)} per hour" if rates and rates.n_raters else ""
    return f"{money(terms.pay.cents, terms.pay.currency)} per unit, {POLICY_WORDS[terms.pay.policy]} paid{hour}"


def _dates(tx: Tx, job: Job) -> str:
    times = [row.at for row in submitted(tx, job.job_id)]
    if not times:
        return "no answers yet"
    first, last = as_iso(min(times))[:10], as_iso(max(times))[:10]
    return first if first == last else f"{first} to {last}"


def _cost(costs: Costs) -> str:
    if costs.pay is None:
        return ""
    each = f", {costs.money(costs.per_valid)} per valid judgment" if costs.valid else ""
    whole, lost = costs.money(costs.cents + costs.bonuses), costs.money(costs.wasted)
    return f"{whole}{each}; {lost} wasted"


QUIZ = 12


def use_recommended_rule(tx: Tx, job_id: str, *, actor: str | None = None) -> Job:
    """Apply the recommended rule; the quiz gets at most half of the gold, so that the rest is left for the work."""
    quiz = min(QUIZ, len(units.ids_of_job(tx, job_id, role="gold")) // 2)
    return set_terms(tx, job_id, {"gold": {"minimum": 0.8, "sure": 0.9, "least_seen": 12, "quiz": quiz}}, actor=actor)
