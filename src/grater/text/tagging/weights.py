"""The weights of a trained tagger, as small integers, and their form as a model file.

Integers add up exactly and in any order, so every machine, batch size and way of computing gives the same tags.

Four tables of rows, one column a tag: one row a feature of words (`features`); one a pair of neighbouring words that
are both common; one a pair of previous tags; one a common word with the tag before it (the word itself in one half,
the word after it in the other).  The tag before the first word is `len(tags)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from grater.model import Json
from grater.models import Model
from grater.text.tagging.clusters import Clusters

KIND = "tagger"

Rows: TypeAlias = NDArray[np.int8]
Ids: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Weights:
    """`pair_keys` are sorted; a key is `pair_key` of a kind and the numbers of two words in `paired`, from 1 on."""

    tags: tuple[str, ...]
    features: tuple[str, ...]
    rows: Rows
    paired: tuple[str, ...]
    pair_keys: Ids
    pair_rows: Rows
    history: NDArray[np.int16]
    common: tuple[str, ...]
    common_rows: Rows
    clusters: Clusters
    card: Mapping[str, Json]

    @staticmethod
    def of(model: Model) -> Weights:
        strings, arrays = model.strings, model.arrays
        return Weights(
            tags=strings["tags"],
            features=strings["features"],
            rows=arrays["rows"],
            paired=strings["paired"],
            pair_keys=arrays["pair_keys"],
            pair_rows=arrays["pair_rows"],
            history=arrays["history"],
            common=strings["common"],
            common_rows=arrays["common_rows"],
            clusters=Clusters.of(strings["clustered"], arrays["clusters"]),
            card=model.card,
        )

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        return {
            "rows": self.rows,
            "pair_keys": self.pair_keys,
            "pair_rows": self.pair_rows,
            "history": self.history,
            "common_rows": self.common_rows,
            "clusters": self.clusters.numbers,
        }

    @property
    def strings(self) -> dict[str, tuple[str, ...]]:
        return {
            "tags": self.tags,
            "features": self.features,
            "paired": self.paired,
            "common": self.common,
            "clustered": tuple(self.clusters.rows),
        }

    def with_card(self, card: Mapping[str, Json]) -> Weights:
        return replace(self, card=card)


def pair_keys(kind: int, left: Ids, right: Ids, n_paired: int) -> Ids:
    """One number for each pair of words; 0 where one of them is not among the paired (number 0)."""
    keys = (kind * (n_paired + 1) + left) * (n_paired + 1) + right
    return np.where((left > 0) & (right > 0), keys, 0)
