"""Events kept in a file, so that a second model of the same text needs no second analysis.

The file says what its events were made from.  Asked for those of other text, another tagger or another rate of gaps,
it is refused, so a model is the same whether its events were kept or made.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NoReturn

import numpy as np

from grater.detect.learning.events import Events
from grater.detect.learning.vocabulary import Vocabulary
from grater.errors import BadInput, Problem
from grater.files import reason, replacing
from grater.model import Json
from grater.text.tags import load_tagger


def source_of(files: Iterable[Path], *, gap_rate: float, seed: int) -> dict[str, Json]:
    """What events are made from: the text files by name and size, the tagger, and what chance depends on."""
    texts: list[Json] = [f"{file.name}, {file.stat().st_size} bytes" for file in files]
    return {"text": texts, "tagger": load_tagger().card.get("hash"), "rate of gaps": gap_rate, "seed": seed}


def keep(events: Events, path: Path, source: Mapping[str, Json]) -> None:
    """Write events with what they were made from."""
    parts = {"words": list(events.vocabulary.words), "source": dict(source)}
    text = np.frombuffer(json.dumps(parts, sort_keys=True).encode("ascii"), np.uint8)
    with replacing(path) as stream:
        np.savez(stream, rows=events.rows, labels=events.labels, folds=events.folds, text=text)


def kept(path: Path, source: Mapping[str, Json]) -> Events:
    """Events that were kept; those of something else are refused."""
    try:
        with zipfile.ZipFile(path), np.load(path) as arrays:  # of what is no archive, numpy makes other things
            parts = json.loads(arrays["text"].tobytes())
            found = Events(arrays["rows"], arrays["labels"], arrays["folds"], Vocabulary(tuple(parts["words"])))
            made_from = dict(parts["source"])
    except OSError as error:
        _refuse(path, f"cannot be read: {reason(error)}")
    except (KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile) as error:
        _refuse(path, f"expected kept events, found something else ({error})")
    for name, expected in source.items():
        if made_from.get(name) != expected:
            _refuse(path, f"its events come from another {name}; delete the file to make them anew")
    return found


def _refuse(path: Path, message: str) -> NoReturn:
    raise BadInput(Problem(str(path), message))
