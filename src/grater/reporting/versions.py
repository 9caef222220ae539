"""A system compared with an earlier version of itself: what the new one changes, and on which items.

A version is a system with a separate name (`grater.annotate.systems`).  The user states which one is earlier, or
the names do: `mine-2`, `mine-v2` and `mine@2` are later than `mine`, which is later than `mine-v1`.  Two names with
bare numbers and no system of the plain name (`system-1`, `system-2`) are two systems, not two versions.

Differences are paired, on the items that both decided on, with the resamples of the evaluation; nothing is corrected
for the number of pairs, since each answers a different question.  Items on which raters are split evenly are left out
of the lists of gains and losses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from grater.errors import UnknownName, UsageError, unknown
from grater.measure.evaluation.cases import Truths
from grater.measure.evaluation.comparison import compare_systems, is_comparable
from grater.measure.evaluation.evaluation import Evaluation
from grater.model import Interval
from grater.reporting.document import ItemList, Section, interval, section_of
from grater.reporting.items import TIE, ItemViews, Texts, item_list, safe_name
from grater.sheet import Sheet, natural, number, p_value

VERSION = re.compile(r"(?P<name>.+?)(?P<sign>@|[-_ ]v?)(?P<number>\d[\w.]*)")
FIRST = "1"
SCORES = {"precision": "precision", "recall": "recall", "f0.5": "F0.5"}
CHANGES = {
    "hits-gained": ("hits gained", "Errors that {new} flags and {old} missed"),
    "hits-lost": ("hits lost", "Errors that {old} flagged and {new} misses"),
    "alarms-gone": ("false alarms gone", "False alarms of {old} that {new} no longer raises"),
    "alarms-new": ("new false alarms", "False alarms of {new} that {old} did not raise"),
}
LEVEL = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Version:
    """A new version less the earlier one: `differences` by score, the p of F0.5, and the items behind them."""

    new: str
    old: str
    n_items: int
    differences: dict[str, Interval]
    p: float
    changes: dict[str, Truths]

    @property
    def words(self) -> str:
        f, p = self.differences["f0.5"], p_value(self.p)
        if self.p > LEVEL or not f.value:
            verdict = "not significant"
        else:
            verdict = f"significantly {'better' if f.value > 0 else 'worse'}"
        others = " and ".join(f"{score} by {_signed(self.differences[score])}" for score in ("precision", "recall"))
        return (
            f"Compared with {self.old} on the same {self.n_items:,} items, {self.new} changes F0.5 by "
            f"{_signed(f)} (p {p if p.startswith('<') else f'= {p}'}, {verdict}), {others}."
        )


def parse_versions(settings: Sequence[str]) -> dict[str, str]:
    """The earlier version of each system, from `NEW=OLD`."""
    pairs = [setting.partition("=") for setting in settings]
    for setting, (new, _, old) in zip(settings, pairs, strict=True):
        if not new or not old:
            raise UsageError(f"earlier version: expected NEW=OLD, found {setting[:60]!r}")
    return {new: old for new, _, old in pairs}


def earlier_versions(systems: Sequence[str], stated: Mapping[str, str] | None = None) -> dict[str, str]:
    """The earlier version of each system that has one: as stated, else by the names."""
    for name in (name for pair in (stated or {}).items() for name in pair):
        if name not in systems:
            raise UnknownName(unknown("system", name, list(systems)))
    by_name: dict[str, list[tuple[str, str, str]]] = {}
    for system in systems:
        match = VERSION.fullmatch(system)
        name, sign, version = (match["name"], match["sign"], match["number"]) if match else (system, "", FIRST)
        by_name.setdefault(name, []).append((version, sign, system))
    seen: dict[str, str] = {}
    for name, versions in by_name.items():
        kept = [each for each in versions if name in systems or each[1].endswith(("@", "v"))]
        # By its number; a plain name comes after version 1 and before version 2.
        kept.sort(key=lambda version: (natural(version[0])[0], not version[1]))
        ordered = [system for _, _, system in kept]
        seen.update(zip(ordered[1:], ordered[:-1], strict=True))
    return {**seen, **(stated or {})}


def versions_of(evaluation: Evaluation, earlier: Mapping[str, str]) -> list[Version]:
    """Every new version compared with its earlier one, where both decided on common items."""
    return [version for new, old in earlier.items() if (version := _version(evaluation, new, old)) is not None]


def _version(evaluation: Evaluation, new: str, old: str) -> Version | None:
    systems = evaluation.cases.systems
    if new not in systems or old not in systems:
        return None
    cases = evaluation.cases.of_systems([systems.index(new), systems.index(old)])
    flags = cases.flagged
    if not is_comparable(cases, evaluation.truth):
        return None
    differences, p, n_items = {}, 1.0, 0
    for score in SCORES:
        compared = compare_systems(cases, evaluation.truth, basis=evaluation.basis, score=score)
        if not compared.pairs:  # withheld by the design
            return None
        [pair] = compared.pairs
        difference = pair.test.difference
        turned = replace(difference, value=-difference.value, low=-difference.high, high=-difference.low)
        differences[score] = difference if pair.test.first == new else turned
        p, n_items = pair.test.p, compared.n_items
    is_error, is_ok = evaluation.truth.values > TIE, evaluation.truth.values < TIE
    gained, lost = (flags[:, 0] == 1) & (flags[:, 1] == 0), (flags[:, 0] == 0) & (flags[:, 1] == 1)
    places = (gained & is_error, lost & is_error, lost & is_ok, gained & is_ok)
    changes = dict(zip(CHANGES, places, strict=True))
    return Version(new=new, old=old, n_items=n_items, differences=differences, p=p, changes=changes)


def versions_section(evaluation: Evaluation, versions: Sequence[Version]) -> Section:
    """The changes by each new version, in scores and in items."""
    rows = tuple(
        (version.new, version.old, *(_signed(version.differences[score]) for score in SCORES), p_value(version.p))
        for version in versions
    )
    columns = ("new version", "earlier", *(f"Δ {title}" for title in SCORES.values()), "p (F0.5)")
    differences = Sheet("Change from the earlier version, on the same items", columns, rows, name="versions")
    counts = tuple(
        (version.new, version.old, *(f"{int(version.changes[change].sum()):,}" for change in CHANGES))
        for version in versions
    )
    links = {
        (row, 2 + place): list_name(version, change)
        for row, version in enumerate(versions)
        for place, change in enumerate(CHANGES)
    }
    columns = ("new version", "earlier", *(title for title, _ in CHANGES.values()))
    title = "Items that the new version decides differently"
    changes = Sheet(title, columns, counts, name="version-items", links=links)
    words = [version.words for version in versions]
    return section_of(evaluation, "versions", "New versions", words, sheets=[differences, changes], warnings=())


def _signed(difference: Interval) -> str:
    text = interval(difference)
    return f"+{text}" if difference.value > 0 and number(difference.value).strip(".0") else text


def list_name(version: Version, change: str) -> str:
    """The anchor of a list in the page."""
    return f"items-{safe_name(version.new)}-after-{safe_name(version.old)}-{change}"


def version_lists(
    evaluation: Evaluation, versions: Sequence[Version], texts: Texts, *, most: int
) -> Iterator[ItemList]:
    """The items behind every count of the table."""
    views = ItemViews(evaluation.cases, texts)
    for version in versions:
        for change, (_, title) in CHANGES.items():
            rows = np.flatnonzero(version.changes[change])
            words = title.format(new=version.new, old=version.old)
            yield item_list(views, list_name(version, change), words, rows, most)
