"""What a judged sample says of the whole corpus (T&C 2008, section 6)."""

from __future__ import annotations

from grater.evaluate.sampled import Sampled, SystemEstimate, sampled
from grater.report.charts.sampling_tree import Branch, sampling_tree
from grater.report.figure import Section, Sheet
from grater.report.words import interval, many, sentence
from grater.sampling.scores import Stratum
from grater.tables import Judgments, Sample, Table

SCORES = ("precision", "recall", "f0.5")


def sampling_section(decisions: Table, sample: Sample, judgments: Judgments) -> Section:
    """The tree with the study's counts, and estimates with limits."""
    found = sampled(decisions, sample, judgments)
    first = found.systems[0]
    words = (
        f"{found.n_judged:,} of {many(round(found.n_items), 'item')} were judged. Estimated for the whole corpus, "
        f"{first.system} has precision {interval(first.scores.precision)} and recall {interval(first.scores.recall)}."
    )
    exact = _exact(first)
    tree = sampling_tree([_branch(stratum) for stratum in first.strata if stratum.size])
    return Section(
        "sampling",
        "What the sample says of the whole corpus",
        (words, *exact, *map(sentence, found.warnings)),
        (tree,),
        (_sheet(found),),
        str(found.signature),
    )


def _exact(system: SystemEstimate) -> tuple[str, ...]:
    """Why an interval has no width, for a reader who takes it for a mistake."""
    if all(stratum.n_judged >= stratum.size for stratum in system.strata if stratum.is_flagged):
        return ("Every flag was judged, so precision on this corpus is known and its interval has no width.",)
    return ()


def _branch(stratum: Stratum) -> Branch:
    name = "flagged" if stratum.is_flagged else "not flagged"
    return Branch(stratum.name or name, round(stratum.size), round(stratum.n_judged), float(stratum.errors))


def _sheet(found: Sampled) -> Sheet:
    rows = tuple((each.system, *_numbers(each)) for each in found.systems)
    note = "Limits by MOVER on the strata; in the last columns by the paper's normal approximation."
    return Sheet(
        "estimates",
        "Estimated for the whole corpus",
        ("system", "precision", "recall", "F0.5", "precision, paper", "recall, paper"),
        rows,
        note,
    )


def _numbers(each: SystemEstimate) -> tuple[str, ...]:
    ours, paper = each.scores, each.paper
    return (
        interval(ours.precision),
        interval(ours.recall),
        interval(ours.f[0.5]),
        interval(paper.precision),
        interval(paper.recall),
    )
