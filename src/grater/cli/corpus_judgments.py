"""`grater corpus judgments`: annotators' edits as judgments of items, by the rule of docs/corpora.md."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from grater.cli.judgment_options import Columns
from grater.cli.options import Format, Json
from grater.cli.output import print_json, require_different, require_outputs, say
from grater.corpora import read_merged
from grater.corpora.judgments import items_of, judgments_from_edits
from grater.errors import UsageError
from grater.sheet import counted
from grater.tables import Judgments, parse_columns, read_decisions, read_items, write_table
from grater.tables.check import Duplicates

app = typer.Typer()


@app.command()
def judgments(
    files: Annotated[list[Path], typer.Argument(metavar="CORPUS", help="Annotated corpora of the same essays.")],
    decisions: Annotated[Path, typer.Option(metavar="FILE", help="The table of decisions whose items are judged.")],
    tags: Annotated[str, typer.Option(metavar="TAG,TAG", help="Tags that make an item an error.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The table of judgments to write.")],
    items: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where items stand, if the decisions do not say it.")
    ] = None,
    match: Annotated[
        Literal["tag", "any"],
        typer.Option(metavar="tag|any", help="Whether an edit of another tag leaves an item ok, or not."),
    ] = "tag",
    duplicates: Annotated[
        Duplicates,
        typer.Option(metavar="error|first|last", help="What to do where a system decided on an item twice."),
    ] = "error",
    columns: Columns = [],  # noqa: B006 (typer copies it)
    format_name: Format = None,
    as_json: Json = False,
) -> None:
    """Write one judgment for every item and each annotator of its essay: error or ok."""
    require_different(files)
    require_outputs([out], [*files, decisions, items])
    wanted = [tag.strip() for tag in tags.split(",") if tag.strip()]
    if not wanted:
        raise UsageError(f"expected --tags with a tag such as Wcip, or several with commas between, found {tags!r}")
    decided = read_decisions(decisions, columns=parse_columns(columns), duplicates=duplicates)
    places = items_of(decided, read_items(items) if items else None)
    judged = judgments_from_edits(read_merged(files, format_name=format_name), places, tags=wanted, match=match)
    write_table(judged, out)
    summary = _summary(judged, len(places))
    if as_json:
        print_json(summary)
        return
    sizes = [counted(summary[f"{noun}s"], noun) for noun in ("judgment", "item")]
    say(f"{out}: {' of '.join(sizes)} by {counted(summary['raters'], 'annotator')}")
    others = f"{summary['context']:,} of them with an edit of another tag there"
    say(f"error: {summary['error']:,}; ok: {summary['ok']:,}, {others}")
    for reason, n_dropped in judged.dropped.items():
        say(f"left out {n_dropped:,}: {reason}")


def _summary(judged: Judgments, n_items: int) -> dict[str, int]:
    frame = judged.frame
    return {
        "items": n_items,
        "judgments": len(frame),
        "raters": frame["rater"].n_unique(),
        "error": int((frame["label"] == "error").sum()),
        "ok": int((frame["label"] == "ok").sum()),
        "context": int((frame["flags"] == "context").sum()),
    }
