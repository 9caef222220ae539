"""A detector: *alot* is always two words."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from grater.extend import Decision, Essay, Finding, Item, Json, Span


@dataclass(frozen=True, slots=True)
class AlotDetector:
    """Flags *alot*, which is always two words."""

    name: str = "alot"
    kinds: tuple[str, ...] = ("spelling",)
    card: Mapping[str, Json] = field(default_factory=dict)

    def find(self, essays: Iterable[Essay]) -> Iterator[Finding]:
        for essay in essays:
            for match in re.finditer(r"\b(alot|a lot)\b", essay.text):
                item = Item(essay.essay_id, Span(*match.span()), "spelling")
                is_wrong = match[0] == "alot"
                decision = Decision(
                    item_id=item.item_id,
                    system=self.name,
                    flagged=is_wrong,
                    type="choice" if is_wrong else "",
                    suggestion="a lot" if is_wrong else None,
                )
                yield Finding(item=item, decision=decision, target=match[0], probabilities=())
