"""A joint answer on a terminal and as JSON."""

from __future__ import annotations

import numpy as np
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from grater.cli.output import print_notes
from grater.crowd.aggregate import Aggregation
from grater.crowd.aggregate.accuracy import Accuracy
from grater.model import Json

WIDTH = 80
MOST_ROWS = 10


def render(found: Aggregation, checked: Accuracy | None, console: Console) -> None:
    """Answers by label, raters by skill, and how good it all is."""
    width = min(WIDTH, console.width)
    title = f"Answers of {len(found.ballots):,} judgments by {found.method}"
    console.print(Text(title, style="bold"), width=width)
    console.print(_answers(found), width=width)
    if not found.ballots.judgments.anonymous_raters:
        console.print(Text(f"Skill of {len(found.raters):,} raters", style="bold"), width=width)
        console.print(_skills(found), width=width)
    print_notes(console, _notes(found, checked))


def as_json_value(found: Aggregation, checked: Accuracy | None) -> dict[str, Json]:
    """Everything but the rows that `--out` writes, and those too: a label and its posterior for each item."""
    chances = found.posteriors.max(axis=1)
    answers: list[Json] = [
        {"item": item, "label": found.labels[code], "posterior": chance, "tied": tied}
        for item, code, chance, tied in zip(
            found.items.to_list(), found.answer.tolist(), chances.tolist(), found.is_tied.tolist(), strict=True
        )
    ]
    history: list[Json] = list(found.fit.history)
    value: dict[str, Json] = {
        "method": found.method,
        "items": len(found.items),
        "judgments": len(found.ballots),
        "labels": list(found.labels),
        "gold": len(found.ballots.gold) if found.ballots.gold is not None else 0,
        "tied": int(found.is_tied.sum()),
        "iterations": len(history),
        "converged": found.fit.has_converged,
        "log_likelihood": history,
        "answers": answers,
        "signature": str(found.signature),
    }
    if not found.ballots.judgments.anonymous_raters:
        value["raters"] = [{"rater": name, "skill": skill} for name, skill in found.rater_frame().iter_rows()]
    if checked is not None:
        value["accuracy"] = {**checked.share.as_json(), "n": checked.n_items}
    return value


def _answers(found: Aggregation) -> Table:
    table = _table("label", "items", "share", "sure")
    n_items = len(found.items)
    for code, label in enumerate(found.labels):
        has = found.answer == code
        n = int(has.sum())
        mean = f"{found.posteriors[has, code].mean():.4f}" if n else "–"
        table.add_row(Text(label), f"{n:,}", f"{n / n_items:.4f}", mean)
    return table


def _skills(found: Aggregation) -> Table:
    """The best and the worst where there are too many for a page."""
    frame = found.rater_frame()
    n_each = dict(zip(found.raters, np.bincount(found.ballots.rater).tolist(), strict=True))
    table = _table("rater", "judgments", "skill")
    half = MOST_ROWS // 2
    rows = frame.rows()
    shown = rows if len(rows) <= MOST_ROWS else [*rows[:half], None, *rows[-half:]]
    for row in shown:
        cells = ("…", "", "") if row is None else (row[0], f"{n_each[row[0]]:,}", f"{row[1]:.4f}")
        table.add_row(*map(Text, cells))
    return table


def _notes(found: Aggregation, checked: Accuracy | None) -> list[str]:
    notes = ["'sure' is the mean posterior of the answer."]
    if checked is not None and checked.n_items:
        share = checked.share
        right = f"{share.value:.4f} ({share.low:.4f} to {share.high:.4f})"
        notes.insert(0, f"Accuracy {right} on {checked.n_items:,} items with a known truth.")
    elif checked is not None:
        notes.insert(0, "Accuracy is undefined: every item with a known truth was given as gold.")
    if found.ballots.gold is not None:
        notes.append(f"{len(found.ballots.gold):,} items are gold and held fast.")
    if found.is_tied.any():
        notes.append(f"{int(found.is_tied.sum()):,} ties were broken at random.")
    if found.fit.history:
        last = found.fit.history[-1]
        notes.append(f"Log-likelihood {last:,.4f} after {len(found.fit.history)} iterations.")
    return [*notes, str(found.signature)]


def _table(*headers: str) -> Table:
    """A title of its own line stands above: one in the table would be folded to its width."""
    table = Table(box=SIMPLE, pad_edge=False, padding=(0, 1))
    first, *others = headers
    table.add_column(first, overflow="fold")
    for header in others:
        table.add_column(header, justify="right")
    return table
