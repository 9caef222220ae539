"""The cloze study on a terminal, in eighty columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.text import Text

from grater.agreement.coefficients import band
from grater.cli.evaluate_table import print_table, stacked
from grater.cli.output import number_table, print_notes
from grater.evaluate.selection import ClozePair
from grater.signature import Signature


def render_cloze(
    pairs: Sequence[ClozePair], means: Mapping[str, float], signature: Signature, console: Console
) -> None:
    """Table 2 of the paper, with limits."""
    table = number_table("Who filled the blank alike", ["", "items", "agreement", "kappa", "band"])
    for pair in pairs:
        name = Text(f"{pair.first} – {pair.second}")
        table.add_row(name, f"{pair.n:,}", stacked(pair.agreement), stacked(pair.kappa), band(pair.kappa.value))
    print_table(console, table)
    print_notes(console, [*(f"mean kappa {kind}: {mean:.3f}" for kind, mean in means.items()), str(signature)])
