"""`grater-train lm`: a language model from well-formed text, or from an ARPA file of another tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from grater.cli.command import Json, print_json, reading, say
from grater.corpora.source import open_source
from grater.detect.ngrams.counts import sentences_of_lines, text_lines
from grater.detect.ngrams.language_model import KIND, LanguageModel, save
from grater.detect.prepositions.engines import NgramEngine
from grater.errors import UsageError
from grater.model import Json as JsonValue
from grater.options import require_different
from grater.scale.counting import held_out_lines
from grater.scale.jobs import holds_results, read_parts
from grater.sheet import counted
from grater_train.arpa import read_arpa
from grater_train.cli.card import CardDate, Data, ModelFile, Seed, card_of, require_model_name, sources
from grater_train.kneser_ney import language_model, perplexity
from grater_train.ngrams import MOST_WORDS, PRUNE, HoldOutSplit, ModelSize, model_from_counts, train
from grater_train.prepositions import tuned


@dataclass(frozen=True, slots=True)
class NewModel:
    """A model with the text that was held out from it, and the figures of its card."""

    model: LanguageModel
    held_out: Sequence[str]
    figures: Mapping[str, JsonValue]


def lm(
    texts: Annotated[
        list[Path],
        typer.Argument(
            metavar="TEXT",
            help="Text files or folders, one paragraph per line, compressed or not; one ARPA file; or a folder that "
            "grater lab count made.",
        ),
    ],
    out: ModelFile,
    order: Annotated[
        int, typer.Option(min=1, max=8, metavar="N", help="The longest n-gram, in words.")
    ] = ModelSize().order,
    prune: Annotated[
        str, typer.Option(metavar="N,N,...", help="For each order, drop n-grams seen at most this often.")
    ] = ",".join(map(str, PRUNE)),
    vocabulary: Annotated[int, typer.Option(min=4, metavar="N", help="Keep the N most frequent words.")] = MOST_WORDS,
    held_out: Annotated[
        Path | None,
        typer.Option(metavar="TEXT", help="Text for choosing thresholds; default: 2 % of the lines."),
    ] = None,
    data: Data = [],  # noqa: B006 (typer copies it)
    date: CardDate = "",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Train an n-gram language model."""
    require_model_name(out)
    require_different([*texts, out])
    size = ModelSize(order=order, n_words=vocabulary, prune=_thresholds(prune))
    made = _imported(texts[0]) if _is_arpa(texts) else _trained(texts, size)
    lines = list(text_lines([held_out])) if held_out else made.held_out
    card = {**_card(out, texts, data, date, size), "figures": {**made.figures, **_perplexity(made.model, lines)}}
    card |= _tuning(made.model, lines, seed)
    save(made.model, out, card)
    if as_json:
        print_json({"model": str(out), "card": card})
    else:
        _say(made.model, out, card)


def _is_arpa(texts: list[Path]) -> bool:
    are_arpa = [".arpa" in [suffix.lower() for suffix in path.suffixes] for path in texts]
    if any(are_arpa) and len(texts) > 1:
        raise UsageError("expected one ARPA file, or text; found several files, an ARPA file among them")
    return any(are_arpa)


def _is_counted(texts: list[Path]) -> bool:
    are_counted = [holds_results(path, "count") for path in texts]
    if any(are_counted) and len(texts) > 1:
        raise UsageError("expected one folder of counts, or text; found several, a folder of counts among them")
    return any(are_counted)


def _trained(texts: list[Path], size: ModelSize) -> NewModel:
    if _is_counted(texts):
        trained = model_from_counts(read_parts(texts[0], job="count"), size, tell=say)
        lines_held: Sequence[str] = held_out_lines(texts[0])
    else:
        held_out = HoldOutSplit()
        with reading("reading", *texts) as advance:
            lines = held_out.left(text_lines(texts, advance=advance))
            trained = train(sentences_of_lines(lines), size, tell=say)
        lines_held = held_out.lines
    figures: dict[str, JsonValue] = {
        "tokens": trained.n_tokens,
        "sentences": trained.n_sentences,
        "types": trained.n_types,
        "discounts": [[round(discount, 6) for discount in discounts] for discounts in trained.smoothed.discounts],
    }
    model = language_model(trained.smoothed, trained.vocabulary)
    return NewModel(model, lines_held, {**figures, "ngrams": [len(table) for table in model.tables]})


def _imported(path: Path) -> NewModel:
    source = open_source(path)
    arpa = read_arpa(source.lines(), name=source.name)
    say(f"{path}: left out {counted(arpa.n_words_left_out, 'word')}, {counted(arpa.n_ngrams_left_out, 'n-gram')}")
    model = language_model(arpa.smoothed, arpa.vocabulary)
    return NewModel(model, (), {"ngrams": [len(table) for table in model.tables]})


def _perplexity(model: LanguageModel, lines: Sequence[str]) -> dict[str, JsonValue]:
    if not lines:
        return {}
    say("measuring")
    measured = perplexity(model, sentences_of_lines(lines))
    share = measured.n_unknown / measured.n_words
    return {"held_out_perplexity": round(measured.value, 2), "held_out_unknown": round(share, 4)}


def _tuning(model: LanguageModel, lines: Sequence[str], seed: int) -> dict[str, JsonValue]:
    """Costs and thresholds; without text to choose them on, the model is not a detector."""
    if not lines:
        say("no thresholds: name text with --held-out to make this model a detector")
        return {}
    say("choosing thresholds")
    engine, thresholds = tuned(NgramEngine(model), lines, seed=seed)
    return {"costs": engine.costs.tolist(), "thresholds": thresholds.as_json()}


def _card(out: Path, texts: list[Path], data: list[str], date: str, size: ModelSize) -> dict[str, JsonValue]:
    known = sources(data) or [{"name": path.name} for path in texts]
    pruned = ",".join(map(str, size.prune))
    options = ["--order", str(size.order), "--prune", pruned, "--vocabulary", str(size.n_words)]
    command = ["lm", *(path.name for path in texts), *options]
    features = f"n-grams of up to {size.order} words in normal form, modified Kneser-Ney, 8-bit numbers"
    return card_of(out, KIND, known, date, command, features=features)


def _thresholds(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(threshold) for threshold in text.split(","))
    except ValueError:
        raise UsageError(f"expected whole numbers for --prune, found {text!r}; as in 0,0,1,1") from None


def _say(model: LanguageModel, out: Path, card: Mapping[str, JsonValue]) -> None:
    sizes = " + ".join(f"{len(table):,}" for table in model.tables)
    figures = card["figures"]
    value = figures.get("held_out_perplexity") if isinstance(figures, Mapping) else None
    measured = f"; perplexity {value} on held-out text" if value else ""
    say(f"{out}: {sizes} n-grams, {out.stat().st_size / 1e6:.1f} MB{measured}")
