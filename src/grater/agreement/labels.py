"""Labels that may not mean what a reader thinks: spelled in two ways, or ordered by the alphabet.

`Error` and `error`, `ok ` and `ok`, `1` and `1.0` are two labels to a computer, and raters who say the same then
disagree.  The three words of a verdict (error, ok, unknown) are one label however they are spelled, in agreement as
in evaluation; of other labels a warning names those that differ only in case, blanks or number format.

An ordinal scale, and weights by distance, need an order.  Numbers have one; words do not: by the alphabet `bad`,
`excellent`, `good`, `poor` gave alpha .170 where the truth was .641.  So words without an order are refused.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

import polars as pl

from grater.agreement.coded import as_numbers
from grater.errors import UsageError
from grater.tables import Judgments

VERDICT_WORDS = ("error", "ok", "unknown")
MOST_NAMED = 6
FEWEST_ORDERED = 3
"""With two labels every order gives the same."""


def spelled_alike(labels: Sequence[str]) -> list[tuple[str, ...]]:
    """The labels that differ only in case, blanks or number format, those of one meaning together."""
    by_key: dict[str, list[str]] = defaultdict(list)
    for label in labels:
        by_key[_key(label)].append(label)
    return [tuple(sorted(names)) for _, names in sorted(by_key.items()) if len(names) > 1]


def _key(label: str) -> str:
    plain = " ".join(label.casefold().split())
    number = as_numbers([plain]) if plain else None
    return repr(number[0] + 0.0) if number else plain


def one_spelling(judgments: Judgments) -> Judgments:
    """The judgments with error, ok and unknown each spelled in one way: in small letters where there were several."""
    labels = label_names(judgments)
    several = {name: _key(name) for names in spelled_alike(labels) for name in names if _key(name) in VERDICT_WORDS}
    if not several:
        return judgments
    label = pl.col("label").cast(pl.String).replace(several)
    return replace(judgments, frame=judgments.frame.with_columns(label=label))


def label_names(judgments: Judgments) -> list[str]:
    """The labels that occur."""
    return sorted(judgments.frame["label"].drop_nulls().unique().cast(pl.String).to_list())


def spelling_warnings(judgments: Judgments) -> Iterator[str]:
    """Names labels that are probably one."""
    alike = spelled_alike(label_names(judgments))
    one = [names for names in alike if _key(names[0]) in VERDICT_WORDS]
    apart = [names for names in alike if _key(names[0]) not in VERDICT_WORDS]
    if one:
        yield f"labels that differ only in spelling were taken as one: {_named(one)}"
    if apart:
        yield (
            f"labels differ only in case, blanks or number format: {_named(apart)}; "
            "they count as different; merge them if they mean the same"
        )


def _named(alike: Sequence[tuple[str, ...]]) -> str:
    shown = [" / ".join(map(repr, names)) for names in alike[:MOST_NAMED]]
    return ", ".join([*shown, *([f"and {len(alike) - MOST_NAMED} more"] if len(alike) > MOST_NAMED else [])])


def require_order(labels: Sequence[str], *, scale: str, weights: object, order: Sequence[str]) -> None:
    """Refuse an order of words by the alphabet."""
    needed_for = "scale ordinal" if scale == "ordinal" else f"weights {weights}" if _is_distance(weights) else ""
    if not needed_for or order or len(labels) < FEWEST_ORDERED or as_numbers(labels) is not None:
        return
    names = ", ".join(map(str, labels[:MOST_NAMED])) + (", ..." if len(labels) > MOST_NAMED else "")
    raise UsageError(f"{needed_for} needs the order of labels that are not numbers ({names}); name it, lowest first")


def _is_distance(weights: object) -> bool:
    return isinstance(weights, str) and weights in ("linear", "quadratic")
