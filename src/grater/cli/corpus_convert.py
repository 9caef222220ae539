"""`grater corpus convert`: from one format to another, naming everything that the new format cannot hold."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, TextIO

import typer

from grater.cli.options import FORMAT_HELP, Json
from grater.cli.output import print_json, require_different, say
from grater.cli.reading import reading, tell_left_out
from grater.corpora import Loss, format_for, read_corpus, write_corpus
from grater.corpora.documents import attach_documents
from grater.corpora.source import replacing
from grater.errors import UsageError
from grater.model import Essay
from grater.sheet import counted

app = typer.Typer()

MOST_SHOWN = 20


@dataclass(slots=True)
class Tally:
    """What went over and what did not; of each kind of loss it keeps `most`, and writes all of them to `stream`."""

    most: int
    stream: TextIO | None = None
    n_essays: int = 0
    n_edits: int = 0
    by_reason: Counter[tuple[str, str]] = field(default_factory=Counter)
    of_edits: list[Loss] = field(default_factory=list)
    of_the_rest: list[Loss] = field(default_factory=list)

    def counting(self, essays: Iterable[Essay]) -> Iterator[Essay]:
        for essay in essays:
            self.n_essays += 1
            self.n_edits += len(essay.edits)
            yield essay

    def report(self, loss: Loss) -> None:
        self.by_reason["changed" if loss.changed else "left out", loss.why] += 1
        kept = self.of_edits if loss.what.startswith("edit") else self.of_the_rest
        if len(kept) < self.most:
            kept.append(loss)
        if self.stream:
            self.stream.write(json.dumps(asdict(loss), ensure_ascii=False) + "\n")


@app.command()
def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="The corpus to read; '-' is standard input.")],
    target: Annotated[
        Path,
        typer.Argument(metavar="OUT", help="The file or folder to write, all or nothing; '-' is standard output."),
    ],
    from_format: Annotated[str | None, typer.Option("--from", metavar="FORMAT", help=FORMAT_HELP)] = None,
    to_format: Annotated[str | None, typer.Option("--to", metavar="FORMAT", help=FORMAT_HELP)] = None,
    documents: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The documents that M2 sentences were cut from, to name them.")
    ] = None,
    losses: Annotated[Path | None, typer.Option(metavar="FILE", help="Write every loss here, as JSON lines.")] = None,
    as_json: Json = False,
) -> None:
    """Convert a corpus; what the new format cannot hold is named, edit by edit and field by field."""
    _require_apart(source, target, losses, as_json=as_json)
    n_passes = format_for(source, from_format).n_passes
    with replacing(losses) if losses else nullcontext() as stream:
        tally = Tally(most=10**9 if as_json else MOST_SHOWN, stream=stream)
        with reading(f"reading {source}", source, n_passes=n_passes) as advance:
            essays = read_corpus(source, format_name=from_format, advance=advance)
            if documents:
                essays = attach_documents(essays, read_corpus(documents))
            write_corpus(tally.counting(essays), target, tally.report, format_name=to_format)
    tell_left_out([source], from_format)
    if as_json:
        losses_of_all = [asdict(loss) for loss in tally.of_edits + tally.of_the_rest]
        print_json({"essays": tally.n_essays, "edits": tally.n_edits, "losses": losses_of_all})
    else:
        _tell(tally, target, losses)


def _require_apart(source: Path, target: Path, losses: Path | None, *, as_json: bool) -> None:
    """Each file has one job, except that a corpus may be written over itself."""
    if losses:
        require_different([target, losses])
        require_different([source, losses])
    if as_json and "-" in (str(target), str(losses)):
        raise UsageError("expected one thing on standard output, found the corpus or its losses beside --json")


def _tell(tally: Tally, target: Path, losses: Path | None) -> None:
    n_losses = tally.by_reason.total()
    told = counted(n_losses, "loss", "losses") if n_losses else "no losses"
    say(f"{target}: {counted(tally.n_essays, 'essay')} with {counted(tally.n_edits, 'edit')}; {told}")
    for (verb, why), n_times in tally.by_reason.most_common():
        say(f"  {n_times} {verb}: {why}")
    if losses:
        say(f"all of them, one by one, are in {losses}")
        return
    shown = (tally.of_edits + tally.of_the_rest)[:MOST_SHOWN]
    for loss in shown:
        say(str(loss))
    if n_losses > len(shown):
        say(f"and {n_losses - len(shown)} more; name a file with --losses to have them all")
