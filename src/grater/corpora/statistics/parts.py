"""A corpus divided into portions: the whole, each annotator's part, each group's part.

`CorpusTally` makes them in one pass over the essays; `together` adds up those of several files.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from grater.corpora.statistics.annotators import names_apart
from grater.corpora.statistics.estimates import Resampling
from grater.corpora.statistics.fingerprint import Fingerprint, fingerprint
from grater.corpora.statistics.groups import in_order, value_of
from grater.corpora.statistics.portion import Portion, Tally, all_of
from grater.corpora.statistics.reading import Counting, EssayCounts, count_essay
from grater.corpora.statistics.study import Study
from grater.corpora.statistics.summary import Summary, summarise
from grater.model import Essay


@dataclass(frozen=True, slots=True)
class Parts:
    """A corpus divided into portions, ready to be summarised."""

    name: str
    whole: Portion
    by_annotator: Mapping[str, Portion]
    field: str | None
    by_value: Mapping[str | None, Portion]

    def study(self, resampling: Resampling) -> Study:
        whole = summarise(self.whole, resampling)

        def summary(portion: Portion) -> Summary:
            # The only annotator's part, the only group, is the whole again: nothing to resample anew.
            return whole if portion == self.whole else summarise(portion, resampling)

        return Study(
            self.name,
            whole,
            {name: summary(self.by_annotator[name]) for name in in_order(self.by_annotator)},
            self.field,
            {value: summary(self.by_value[value]) for value in in_order(self.by_value)},
        )


def together(parts: Sequence[Parts], field: str | None, same_text: Iterable[Sequence[str]]) -> Parts:
    """Several corpora as one: counts added up, annotators told apart where two files have the same essays."""
    apart = names_apart({part.name: list(part.by_annotator) for part in parts}, same_text)
    by_annotator: dict[str, list[Portion]] = defaultdict(list)
    by_value: dict[str | None, list[Portion]] = defaultdict(list)
    for part in parts:
        for annotator, portion in part.by_annotator.items():
            by_annotator[apart.get((part.name, annotator), annotator)].append(portion)
        for value, portion in part.by_value.items():
            by_value[value].append(portion)
    return Parts(
        "all",
        all_of(part.whole for part in parts),
        {name: all_of(portions) for name, portions in by_annotator.items()},
        field,
        {value: all_of(portions) for value, portions in by_value.items()},
    )


class CorpusTally:
    """The counts of one corpus in the making: the whole, each annotator's part, each group's part."""

    def __init__(self, name: str, field: str | None) -> None:
        self.name = name
        self.field = field
        self.fields: set[str] = set()
        self.fingerprint = Fingerprint()
        self._whole = Tally()
        self._by_annotator: dict[str, Tally] = defaultdict(Tally)
        self._by_value: dict[str | None, Tally] = defaultdict(Tally)

    @classmethod
    def of(cls, name: str, essays: Iterable[Essay], field: str | None, counting: Counting) -> CorpusTally:
        tally = cls(name, field)
        for essay in essays:
            tally.add(essay, count_essay(essay, counting))
        return tally

    def add(self, essay: Essay, counted: EssayCounts) -> None:
        self.fields.update(essay.metadata)
        self.fingerprint += fingerprint(essay)
        self._whole.add(essay, counted.text, counted.by_annotator, counted.words)
        for annotator, reading in counted.by_annotator.items():
            self._by_annotator[annotator].add(essay, counted.text, {annotator: reading}, counted.words)
        if self.field is not None:
            group = self._by_value[value_of(essay, self.field)]
            group.add(essay, counted.text, counted.by_annotator, counted.words)

    def parts(self) -> Parts:
        return Parts(
            self.name,
            self._whole.portion(),
            {annotator: tally.portion() for annotator, tally in self._by_annotator.items()},
            self.field,
            {value: tally.portion() for value, tally in self._by_value.items()},
        )
