"""`grater-train tagger`: a part-of-speech tagger from CoNLL-U files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from grater.cli.command import Json, messages, print_json, say
from grater.corpora.source import open_source
from grater.corpora.text.tags import KIND, PerceptronTagger
from grater.model import Interval
from grater.model import Json as JsonValue
from grater.models import write_model
from grater.options import require_different
from grater.result import encode
from grater.sheet import counted, interval
from grater.uncertainty import generator
from grater_train.cli.card import Seed, card_of, sources
from grater_train.tagging import N_EPOCHS, Tagged, accuracy, cluster_words, read_conllu, train

FEATURES = "word, affixes, shape, clusters; two words on each side; pairs of words; the two tags before"
COLUMNS = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())


def tagger(
    treebanks: Annotated[
        list[Path], typer.Argument(metavar="CONLLU", help="Treebanks to learn from; may be compressed.")
    ],
    out: Annotated[Path, typer.Option(metavar="MODEL", help="The model file to write, NAME.model.")],
    test: Annotated[
        list[Path] | None,
        typer.Option(
            "--test-treebank", metavar="CONLLU", help="A treebank to test on, for the model card; repeatable."
        ),
    ] = None,
    leave_out: Annotated[
        list[str] | None,
        typer.Option(metavar="PREFIX", help="Leave out sentences whose sent_id starts with PREFIX; repeatable."),
    ] = None,
    text: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="TEXT",
            help="Plain text for word clusters; repeatable.",
        ),
    ] = None,
    text_size: Annotated[
        int, typer.Option(min=1, metavar="N", help="Read at most N million characters of each text.")
    ] = 12,
    data: Annotated[
        list[str] | None, typer.Option(metavar="NAME=LICENCE", help="A source to name in the model card; repeatable.")
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, metavar="N", help="Passes over the treebanks.")] = N_EPOCHS,
    date: Annotated[str, typer.Option(metavar="DATE", help="The date on the model card; default: today.")] = "",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Train a part-of-speech tagger on CoNLL-U files (words and XPOS tags)."""
    test, text, prefixes = test or [], text or [], tuple(leave_out or [])
    require_different([*treebanks, *test, *text, out])
    with _progress() as advance:
        advance("reading")
        sentences = [sentence for path in treebanks for sentence in _read(path, prefixes)]
        measured = {path.name: list(_read(path)) for path in test}
        plain = chain.from_iterable(_lines(path, text_size * 1_000_000) for path in text)
        clusters = cluster_words(plain, generator(seed, "clusters"), advance=advance)
        weights = train(
            sentences,
            generator(seed, "tagger"),
            card=_card(out, treebanks, text, prefixes, data or [], date),
            clusters=clusters,
            n_epochs=epochs,
            advance=advance,
        )
        figures = _figures(PerceptronTagger(weights), measured)
        shown: dict[str, JsonValue] = {name: encode(figure) for name, figure in figures.items()}
        weights = replace(weights, card={**weights.card, "figures": shown})
        write_model(out, kind=KIND, card=weights.card, arrays=weights.arrays, strings=weights.strings)
    if as_json:
        print_json({"model": str(out), "card": dict(weights.card)})
        return
    say(f"{out}: {counted(len(sentences), 'sentence')} learnt, {out.stat().st_size / 1e6:.1f} MB")
    for name, figure in figures.items():
        say(f"  {name}: {interval(figure, digits=4)} of the tags are right")
    if figures:
        say("95 % intervals generalise to other sentences like these.")


def _read(path: Path, leave_out: tuple[str, ...] = ()) -> Iterator[Tagged]:
    source = open_source(path)
    return read_conllu(source.lines(), name=source.name, keep=lambda sent_id: not sent_id.startswith(leave_out))


def _lines(path: Path, most: int) -> Iterator[str]:
    """The lines of a text, up to a number of characters."""
    n_read = 0
    for line in open_source(path).lines():
        n_read += len(line)
        if n_read > most:
            return
        yield line


def _figures(tagger: PerceptronTagger, measured: dict[str, list[Tagged]]) -> dict[str, Interval]:
    """The accuracy on each test treebank."""
    return {name: accuracy(tagger, sentences) for name, sentences in measured.items()}


def _card(
    out: Path, treebanks: list[Path], text: list[Path], leave_out: tuple[str, ...], data: list[str], date: str
) -> dict[str, JsonValue]:
    known = sources(data) or [{"name": path.name} for path in (*treebanks, *text)]
    options = [word for prefix in leave_out for word in ("--leave-out", prefix)]
    options += [word for path in text for word in ("--text", path.name)]
    command = ["tagger", *(path.name for path in treebanks), *options]
    return card_of(out, KIND, known, date, command, features=FEATURES)


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """A line that says what is being done, on a terminal."""
    with Progress(*COLUMNS, console=messages, transient=True, disable=not messages.is_terminal) as progress:
        task = progress.add_task("")
        yield lambda step: progress.update(task, description=step)
