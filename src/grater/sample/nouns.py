"""The nouns of the sample's study of constructions: the paper's design on a corpus a thousand times smaller.

So few essays have few nouns that come often: three phrases are enough here to say how a noun is mostly used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grater.detect.articles.design import item_rows, places_of, select
from grater.model import Essay
from grater.text.analysis import analyse_all

LEAST = 3


def sample_noun_items(essays: Sequence[Essay], *, seed: int = 0) -> list[dict[str, Any]]:
    """The rows of the table of items, ten for each noun phrase."""
    found = zip(essays, analyse_all(essays), strict=True)
    places = [place for essay, sentences in found for place in places_of(essay.essay_id, sentences)]
    return [dict(row) for row in item_rows(select(places, least=LEAST, seed=seed))]
