"""A corpus written in another format, and what was lost because that format could not hold it."""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from textwrap import shorten
from typing import TYPE_CHECKING

from grater.corpora.formats import Loss
from grater.model import Essay, Json
from grater.result import Result, encode
from grater.sheet import Sheet, count

if TYPE_CHECKING:
    import polars as pl

PLACE = re.compile(r"\b(\d+)-(\d+)\b")
MOST_REMEMBERED = 2_000
"""Essays; those that are typed anew go by several hundred at a time."""
MOST_SHOWN = 60
AROUND = 12


@dataclass(slots=True, repr=False)
class Conversion(Result):
    """What went over and what did not, counted as it goes; of each kind of loss it keeps `most`.

    `by_reason` counts all losses by what happened (changed, left out) and why; `hear` is called with each loss.
    """

    most: int | None = None
    hear: Callable[[Loss], None] | None = None
    n_essays: int = 0
    n_edits: int = 0
    by_reason: Counter[tuple[str, str]] = field(default_factory=Counter)
    of_edits: list[Loss] = field(default_factory=list)
    of_the_rest: list[Loss] = field(default_factory=list)
    texts: OrderedDict[str, str] = field(default_factory=OrderedDict)
    """Of the essays that went by last, to show the words that a loss is about."""

    def remembering(self, essays: Iterable[Essay]) -> Iterator[Essay]:
        for essay in essays:
            self.texts[essay.essay_id] = essay.text
            if len(self.texts) > MOST_REMEMBERED:
                self.texts.popitem(last=False)
            yield essay

    def counting(self, essays: Iterable[Essay]) -> Iterator[Essay]:
        for essay in self.remembering(essays):
            self.n_essays += 1
            self.n_edits += len(essay.edits)
            yield essay

    def report(self, loss: Loss) -> None:
        loss = replace(loss, words=self._words(loss))
        self.by_reason["changed" if loss.changed else "left out", loss.why] += 1
        kept = self.of_edits if loss.what.startswith("edit") else self.of_the_rest
        if self.most is None or len(kept) < self.most:
            kept.append(loss)
        if self.hear is not None:
            self.hear(loss)

    def _words(self, loss: Loss) -> str:
        """The essay's words where the loss names a place in it; of an insertion, those around it."""
        place, text = PLACE.search(loss.what), self.texts.get(loss.essay_id)
        if place is None or text is None:
            return ""
        start, end = int(place[1]), int(place[2])
        words = text[start:end] if start < end else text[max(0, start - AROUND) : end + AROUND]
        return shorten(words, MOST_SHOWN, placeholder=" …")

    @property
    def losses(self) -> list[Loss]:
        """Those that are kept: of edits first."""
        return self.of_edits + self.of_the_rest

    def to_dict(self) -> dict[str, Json]:
        return {"essays": self.n_essays, "edits": self.n_edits, "losses": encode(self.losses)}

    def to_frame(self) -> pl.DataFrame:
        """One loss per row."""
        import polars as pl  # writing a corpus need not wait for it

        names = {"essay_id": pl.String, "what": pl.String, "why": pl.String}
        types = {**names, "changed": pl.Boolean, "words": pl.String}
        rows = [(loss.essay_id, loss.what, loss.why, loss.changed, loss.words) for loss in self.losses]
        return pl.DataFrame(rows, schema=types, orient="row")

    def sheets(self) -> list[Sheet]:
        rows = [(why, verb, count(n)) for (verb, why), n in self.by_reason.most_common()]
        sizes = f"{count(self.n_essays)} essays with {count(self.n_edits)} edits."
        return [Sheet("Losses", ("reason", "", "losses"), tuple(rows), (sizes,), name="losses")]
