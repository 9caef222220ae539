"""`grater-train context`: a neural detector from well-formed text, one paragraph per line.

Every step is kept in a folder, so that a run which was stopped goes on (`detect.context.train.run`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from grater.cli.command import Json, messages, print_json, say
from grater.corpora import read_corpus
from grater.corpora.source import open_source
from grater.detect.context.calibration import NAMES, SILENT, Calibration
from grater.detect.context.detector import KIND, ContextDetector, save
from grater.detect.context.network import Network
from grater.detect.context.pieces import PieceVocabulary
from grater.errors import MissingExtra
from grater.model import Json as JsonValue
from grater.options import require_different
from grater_train.cli.card import CardDate, Data, ModelFile, Seed, card_of, require_model_name, sources
from grater_train.context.tuning import calibrated

if TYPE_CHECKING:
    from grater_train.context.run import Prepared, TrainingOptions


N_STEPS = 20_000
SIZES = {"n_blocks": 12, "width": 384, "inner": 1024, "n_heads": 6, "n_shared": 3, "n_pieces": 12_000}
SMALL = {"n_blocks": 2, "width": 96, "inner": 256, "n_heads": 4, "n_shared": 2, "n_pieces": 4_000}


def context(
    texts: Annotated[
        list[Path], typer.Argument(metavar="TEXT", help="Files, one paragraph per line; may be compressed.")
    ],
    out: ModelFile,
    folder: Annotated[
        Path, typer.Option(metavar="FOLDER", help="The folder for every step; an interrupted run resumes from it.")
    ],
    steps: Annotated[int, typer.Option(min=1, metavar="N", help="Number of batches to learn from.")] = N_STEPS,
    batch_words: Annotated[int, typer.Option(min=100, metavar="N", help="Number of words in a batch.")] = 64_000,
    small: Annotated[bool, typer.Option("--small", help="Train a small network (1 MB), to try things out.")] = False,
    teacher: Annotated[
        Path | None,
        typer.Option(metavar="GGUF", help="A language model of Llama's architecture that the network learns from."),
    ] = None,
    learners: Annotated[
        Path | None,
        typer.Option(
            metavar="CORPUS",
            help="Corrected essays to calibrate on; default: held-out text with inserted errors.",
        ),
    ] = None,
    device: Annotated[
        str, typer.Option(metavar="NAME", help="The device that PyTorch runs on, such as cuda.")
    ] = "cpu",
    data: Data = [],  # noqa: B006 (typer copies it)
    date: CardDate = "",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Train a neural detector and write it; needs PyTorch, and a GPU for anything but a small network."""
    require_model_name(out)
    require_different([*texts, out, *([teacher] if teacher else []), *([learners] if learners else [])])
    if find_spec("torch") is None:
        raise MissingExtra("training a model of kind 'context' needs PyTorch: pip install 'grater-train[context]'")
    from grater_train.context import run

    sizes = SMALL if small else SIZES
    options = run.TrainingOptions(steps=steps, n_words=batch_words, seed=seed, device=device, **sizes)
    lines = chain.from_iterable(open_source(text).lines() for text in texts)
    prepared = run.prepare(lines, folder, options)
    with _progress(steps) as progress:
        accuracy = run.train_network(prepared, folder, options, teacher=teacher, progress=progress)
    card = _card(out, texts, teacher, learners, data, date, options)
    card["figures"] = {"masked prepositions": accuracy}
    calibrations = _calibrations(prepared, folder, learners, seed)
    graph = (folder / "context.onnx").read_bytes()
    save(out, graph=graph, pieces=prepared.pieces, calibrations=calibrations, card=card)
    if as_json:
        print_json({"model": str(out), "card": card})
        return
    share = "no held-out preposition" if accuracy is None else f"{accuracy:.3f} of held-out prepositions found"
    say(f"{out}: {out.stat().st_size / 1e6:.1f} MB; {share}")
    silent = [name for name in NAMES if calibrations[name] == SILENT]
    if silent:
        say(f"too few errors to calibrate, so never flagged: {', '.join(silent)}")


def _calibrations(prepared: Prepared, folder: Path, learners: Path | None, seed: int) -> dict[str, Calibration]:
    detector = ContextDetector(
        name=KIND,
        network=Network((folder / "context.onnx").read_bytes()),
        vocabulary=PieceVocabulary(prepared.pieces),
        calibrations=dict.fromkeys(NAMES, SILENT),
        card={},
    )
    essays = list(read_corpus(learners)) if learners else prepared.corrupted(seed=seed)
    return calibrated(detector, essays, prepared.well_formed())


def _card(
    out: Path,
    texts: Sequence[Path],
    teacher: Path | None,
    learners: Path | None,
    data: list[str],
    date: str,
    options: TrainingOptions,
) -> dict[str, JsonValue]:
    known = sources(data) or [{"name": path.name} for path in (*texts, *([teacher] if teacher else []))]
    command = ["context", *(text.name for text in texts), "--steps", str(options.steps), "--seed", str(options.seed)]
    command += ["--teacher", teacher.name] if teacher else []
    command += ["--learners", learners.name] if learners else []
    shape: dict[str, JsonValue] = {name: getattr(options, name) for name in SIZES}
    calibrated_on = learners.name if learners else "held-out text with errors put in"
    return card_of(out, KIND, known, date, command, shape=shape, calibrated_on=calibrated_on)


@contextmanager
def _progress(steps: int) -> Iterator[Callable[[Mapping[str, float]], None]]:
    """A bar with the losses of the heads, on a terminal."""
    columns = (TextColumn("training"), BarColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=messages, transient=True, disable=not messages.is_terminal) as progress:
        task = progress.add_task("", total=steps)

        def show(figures: Mapping[str, float]) -> None:
            losses = ", ".join(f"{name} {figures[name]:.3f}" for name in figures if name not in ("step", "seconds"))
            progress.update(task, completed=figures["step"], description=losses)

        yield show
