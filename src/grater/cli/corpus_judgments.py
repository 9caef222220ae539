"""`grater corpus judgments`: annotators' edits as judgments of items, by the rule of docs/corpora.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from grater.cli.options import Format, Json
from grater.cli.output import print_json, say
from grater.corpora import read_corpus
from grater.corpora.judgments import items_of, judgments_from_edits
from grater.corpora.merge import Reread, merge_annotators, stems
from grater.model import Essay
from grater.tables import Judgments, read_decisions, read_items, write_table

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
        Literal["tag", "any"], typer.Option(help="Whether an edit of another tag leaves an item ok, or not.")
    ] = "tag",
    format_name: Format = None,
    as_json: Json = False,
) -> None:
    """Write one judgment for every item and each annotator of its essay: error or ok."""
    places = items_of(read_decisions(decisions), read_items(items) if items else None)
    wanted = [tag.strip() for tag in tags.split(",") if tag.strip()]
    judged = judgments_from_edits(_essays(files, format_name), places, tags=wanted, match=match)
    write_table(judged, out)
    summary = _summary(judged, len(places))
    if as_json:
        print_json(summary)
        return
    say(f"{out}: {summary['judgments']} judgments of {summary['items']} items by {summary['raters']} annotators")
    say(
        f"{summary['error']} say error, {summary['ok']} say ok, {summary['context']} of these with another edit there"
    )
    for reason, n_dropped in judged.dropped.items():
        say(f"left out: {n_dropped} {reason}")


def _essays(files: Sequence[Path], format_name: str | None) -> Iterator[Essay]:
    """The essays with the annotators of every file; where ids of annotators collide, the file's stem is the name."""
    if len(files) == 1:
        return read_corpus(files[0], format_name=format_name)
    short = stems(str(file) for file in files)
    again = {short[str(file)]: Reread(partial(read_corpus, file, format_name=format_name)) for file in files}
    return merge_annotators(again)


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
