"""`grater-train prepositions` and `grater-train combination`: preposition detectors from well-formed text.

A combination is several preposition detectors as one, tuned on text that none of them learnt from.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from grater.cli.command import Json, print_json, reading, say
from grater.corpora.source import open_source
from grater.detect.ngrams.counts import HELD_OUT, fold_of, text_lines
from grater.detect.prepositions.engines import COMBINED, LINEAR, CombinedEngine, parts_of, save_linear
from grater.detect.prepositions.engines import save_combined as save_combination
from grater.detect.prepositions.features import TEMPLATES
from grater.errors import UsageError
from grater.model import Json as JsonValue
from grater.options import require_different
from grater.scale.jobs import holds_results, read_parts
from grater.sheet import counted
from grater_train.cli.card import CardDate, Data, ModelFile, Seed, card_of, require_model_name, sources
from grater_train.events import Events, keep, kept, source_of
from grater_train.fitting import Size
from grater_train.jobs import ARTICLE_EVENTS, EVENTS, read_events
from grater_train.prepositions import (
    GAP_RATE,
    SIZES,
    HeldOutLines,
    Method,
    PrepositionOptions,
    batches_of,
    gathered,
    train,
    tuned,
)

TEXTS = (".txt", ".gz", ".bz2", ".xz")
PARTS = ["prep-maxent", "prep-lm"]


def prepositions(
    texts: Annotated[
        list[Path],
        typer.Argument(
            metavar="TEXT",
            help="Files or folders, one paragraph per line, compressed or not; or one made by grater-train events.",
        ),
    ],
    out: ModelFile,
    method: Annotated[
        Method, typer.Option(metavar="maxent|perceptron", help="How the weights are fitted.")
    ] = "maxent",
    features: Annotated[int | None, typer.Option(min=1, metavar="N", help="Keep at most N features.")] = None,
    weights: Annotated[
        int | None,
        typer.Option("--max-weights", min=1, metavar="N", help="Keep at most N weights."),
    ] = None,
    min_count: Annotated[int, typer.Option(min=1, metavar="N", help="Drop features seen fewer than N times.")] = 3,
    epochs: Annotated[int | None, typer.Option(min=1, metavar="N", help="Passes over the text.")] = None,
    gap_rate: Annotated[
        float,
        typer.Option(min=0, max=1, metavar="SHARE", help="Share of gaps used as examples of no preposition."),
    ] = GAP_RATE,
    data: Data = [],  # noqa: B006 (typer copies it)
    kept_events: Annotated[
        Path | None,
        typer.Option(
            "--events",
            metavar="FILE",
            help="Cache the analysed text in this file.",
        ),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, metavar="N", help="Processes that analyse the text.")] = 2,
    date: CardDate = "",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Train a preposition detector; needs about 300 bytes of memory per preposition."""
    require_model_name(out)
    is_made = [holds_results(path, EVENTS) or holds_results(path, ARTICLE_EVENTS) for path in texts]
    files = list(texts) if any(is_made) else _files(texts)
    require_different([*files, out])
    size = _size(SIZES[method], features, weights)
    options = PrepositionOptions(method=method, size=size, min_count=min_count, epochs=epochs, seed=seed)
    if any(is_made):
        if len(texts) > 1 or kept_events:
            raise UsageError("expected a folder of events only, found other text or a file of events too")
        events, held_out = read_events(read_parts(texts[0], job=EVENTS))
    else:
        events, held_out = _events_of(files, kept_events, gap_rate=gap_rate, seed=seed, workers=workers)
    card = _card(out, files, data, date, options)
    engine = train(events, held_out, options, card=card, tell=say)
    save_linear(engine, out)
    if as_json:
        print_json({"model": str(out), "card": dict(engine.card)})
        return
    figures = engine.card["figures"]
    say(f"{out}: {counted(len(engine.keys), 'feature')}, {out.stat().st_size / 1e6:.1f} MB; {figures}")


def _events_of(
    files: list[Path], kept_events: Path | None, *, gap_rate: float, seed: int, workers: int
) -> tuple[Events, list[str]]:
    """The events of text, made now or kept from another time, and the lines that are held out."""
    held_out = HeldOutLines()
    with reading("analysing", *files) as advance:
        lines = held_out.keeping(_lines(files, advance))
        source = source_of(files, gap_rate=gap_rate, seed=seed)
        if kept_events and kept_events.exists():
            events = kept(kept_events, source)
            deque(lines, maxlen=0)  # those held out are remembered as they pass
        else:
            events = gathered(batches_of(lines, gap_rate=gap_rate, seed=seed, n_workers=workers))
    if kept_events and not kept_events.exists():
        keep(events, kept_events, source)
    return events, held_out.in_order()


def _size(default: Size, features: int | None, weights: int | None) -> Size:
    """The default size of a method, but for what was given."""
    n_features = default.n_features if features is None else features
    return replace(default, n_features=n_features, n_weights=default.n_weights if weights is None else weights)


def _files(paths: list[Path]) -> list[Path]:
    """The text files of folders, in the order of their names; other paths as they are."""
    files: list[Path] = []
    for path in paths:
        inside = sorted(file for file in path.rglob("*") if file.is_file() and file.suffix in TEXTS)
        if path.is_dir() and not inside:
            raise UsageError(f"{path}: expected text files ({', '.join(TEXTS)}) in the folder, found none")
        files += inside if path.is_dir() else [path]
    return files


def _lines(files: list[Path], advance: object) -> Iterator[str]:
    for file in files:
        yield from open_source(file, advance=advance).lines()  # type: ignore[arg-type]


def _card(
    out: Path, files: list[Path], data: list[str], date: str, options: PrepositionOptions
) -> dict[str, JsonValue]:
    chosen = ["--method", options.method, "--features", str(options.kept.n_features)]
    chosen += ["--max-weights", str(options.kept.n_weights)] if options.kept.n_weights else []
    chosen += ["--min-count", str(options.min_count), "--epochs", str(options.n_epochs)]
    known = sources(data) or [{"name": file.name} for file in files]
    command = ["prepositions", *(file.name for file in files), *chosen]
    return card_of(out, LINEAR, known, date, command, features=[template.name for template in TEMPLATES])


def combination(
    texts: Annotated[
        list[Path],
        typer.Argument(
            metavar="TEXT",
            help="The text that the parts were trained on, for its held-out lines; with --unseen, other text.",
        ),
    ],
    out: ModelFile,
    system: Annotated[list[str], typer.Option(metavar="NAME", help="A detector or model file; repeatable.")] = PARTS,
    unseen: Annotated[bool, typer.Option("--unseen", help="Use all of the text: no part was trained on it.")] = False,
    data: Data = [],  # noqa: B006 (typer copies it)
    date: CardDate = "",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Combine several detectors by adding their scores: choose costs and thresholds."""
    require_model_name(out)
    if len(set(system)) < 2:
        raise UsageError(f"expected two systems or more to combine, found {', '.join(system)}")
    require_different([*texts, out, *(Path(name) for name in system if Path(name).exists())])
    parts = parts_of(system)
    with reading("reading", *texts) as advance:
        lines = [line for line in text_lines(texts, advance=advance) if unseen or fold_of(line) < HELD_OUT]
    say("choosing thresholds")
    engine, thresholds = tuned(CombinedEngine(tuple(part.engine for part in parts)), lines, seed=seed)
    card: dict[str, JsonValue] = {
        **_combination_card(out, texts, system, ["--unseen"] if unseen else [], data, date),
        "seed": seed,
        "thresholds": thresholds.as_json(),
        "figures": {"lines": len(lines)},
    }
    save_combination(engine, system, out, card)
    if as_json:
        print_json({"model": str(out), "card": card})
    else:
        say(f"{out}: {' and '.join(system)}, thresholds chosen on {counted(len(lines), 'line')} not trained on")


def _combination_card(
    out: Path, texts: Sequence[Path], systems: Sequence[str], options: list[str], data: list[str], date: str
) -> dict[str, JsonValue]:
    known: list[JsonValue] = [*({"name": name} for name in systems), *sources(data)]
    parts = [word for name in systems for word in ("--system", name)]
    return card_of(out, COMBINED, known, date, ["combination", *(text.name for text in texts), *parts, *options])
