"""`grater-train articles`: a detector of article and number errors from well-formed text, one paragraph per line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import typer

from grater.cli.command import Json, print_json, reading, say
from grater.corpora.source import open_source
from grater.detect.articles.detector import KIND, save
from grater.detect.articles.features import TEMPLATES
from grater.detect.ngrams.counts import HELD_OUT, fold_of
from grater.errors import UsageError
from grater.model import Json as JsonValue
from grater.options import require_different
from grater.scale.jobs import holds_results, read_parts
from grater.sheet import counted
from grater_train.articles import ArticleOptions, batch_of, gathered, passages, train
from grater_train.cli.card import CardDate, Data, ModelFile, Seed, card_of, require_model_name, sources
from grater_train.events import Batch, Events
from grater_train.jobs import ARTICLE_EVENTS, EVENTS, read_article_events


@dataclass(slots=True)
class HeldOutPassages:
    """Passages that nothing is trained on, kept as they pass."""

    passages: list[list[str]] = field(default_factory=list)

    def batches(self, shares: Mapping[Path, float], advance: Callable[[int], None]) -> Iterator[Batch]:
        for text, share in shares.items():
            for passage in passages(open_source(text, advance=advance).lines(), share=share):
                if fold_of(passage[0]) < HELD_OUT:
                    self.passages.append(passage)
                yield batch_of(passage)


def articles(
    texts: Annotated[
        list[Path],
        typer.Argument(
            metavar="TEXT", help="Files, one paragraph per line; or a folder made by grater-train events."
        ),
    ],
    out: ModelFile,
    most: Annotated[
        list[str],
        typer.Option(
            "--text-limit",
            metavar="NAME=N",
            help="Use at most N million characters of the text NAME; repeatable.",
        ),
    ] = [],  # noqa: B006 (typer copies it)
    features: Annotated[
        int, typer.Option(min=1, metavar="N", help="Keep at most N features.")
    ] = ArticleOptions().size.n_features,
    min_count: Annotated[
        int, typer.Option(min=1, metavar="N", help="Drop features seen fewer than N times.")
    ] = ArticleOptions().min_count,
    epochs: Annotated[int, typer.Option(min=1, metavar="N", help="Passes over the text.")] = ArticleOptions().epochs,
    data: Data = [],  # noqa: B006 (typer copies it)
    date: CardDate = "",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Train an article detector; needs about 600 bytes of memory per noun phrase."""
    require_model_name(out)
    require_different([*texts, out])
    size = replace(ArticleOptions().size, n_features=features)
    options = ArticleOptions(size=size, min_count=min_count, epochs=epochs, seed=seed)
    shares = shares_of(texts, most)
    events, held_out = _events_of(shares)
    model = train(events, held_out, options, card=card(out, shares, data, date, most), tell=say)
    save(model, out)
    if as_json:
        print_json({"model": str(out), "card": dict(model.card)})
        return
    figures = model.card["figures"]
    say(f"{out}: {counted(len(model.keys), 'feature')}, {out.stat().st_size / 1e6:.1f} MB; {figures}")


def _events_of(shares: Mapping[Path, float]) -> tuple[Events, list[list[str]]]:
    """The events of text or of a folder, and the passages that are held out."""
    if any(map(_is_made, shares)):
        if len(shares) > 1:
            raise UsageError("expected a folder of events only, found other text too")
        (folder,) = shares
        return read_article_events(read_parts(folder, job=ARTICLE_EVENTS))
    held_out = HeldOutPassages()
    with reading("analysing", *shares) as advance:
        return gathered(held_out.batches(shares, advance)), held_out.passages


def _is_made(path: Path) -> bool:
    return holds_results(path, ARTICLE_EVENTS) or holds_results(path, EVENTS)


def shares_of(texts: list[Path], most: list[str]) -> dict[Path, float]:
    """The share of each text that is read; a text with a maximum is read twice, first for its length."""
    most_of = dict(_most(setting) for setting in most)
    unknown = sorted(most_of.keys() - {_name(text) for text in texts})
    if unknown:
        raise UsageError(f"--text-limit {unknown[0]}: expected one of {', '.join(map(_name, texts))}")
    made = next((text for text in texts if _name(text) in most_of and _is_made(text)), None)
    if made:
        raise UsageError(f"--text-limit {_name(made)}: expected text to limit, found a folder of events")
    return {text: _share(text, most_of[_name(text)]) if _name(text) in most_of else 1.0 for text in texts}


def _most(setting: str) -> tuple[str, float]:
    name, equals, number = setting.partition("=")
    try:
        millions = float(number)
    except ValueError:
        millions = 0.0
    if not equals or not 0 < millions < float("inf"):
        raise UsageError(f"--text-limit {setting}: expected NAME=N with N above 0, as in gutenberg=24")
    return name, millions


def _name(text: Path) -> str:
    return text.name.split(".")[0]


def _share(text: Path, millions: float) -> float:
    n_characters = sum(map(len, open_source(text).lines()))
    return min(1.0, millions * 1_000_000 / max(1, n_characters))


def card(
    out: Path, shares: Mapping[Path, float], data: list[str], date: str, most: list[str]
) -> dict[str, JsonValue]:
    """The card without its figures."""
    known = sources(data) or [{"name": text.name} for text in shares]
    command = [
        "articles",
        *(text.name for text in shares),
        *(word for setting in most for word in ("--text-limit", setting)),
    ]
    read: dict[str, JsonValue] = {_name(text): share for text, share in shares.items()}
    return card_of(out, KIND, known, date, command, shares=read, features=[template.name for template in TEMPLATES])
