"""Trained models: one file each, with a card inside that says where it comes from.

The tagger and the word list are part of the package, in `shipped/`. The detectors' models are a separate
distribution, `grater-models`; a checkout has them in `shipped/` too.

A model file contains arrays and strings, and a checksum:

    grater-model 1 <newline>            magic and version of the format
    {"kind": ..., "card": ..., ...}     one line of JSON: kind, card, table of parts, SHA-256 of the body
    body                                the parts, one after the other, each compressed by itself

A part is an array (little-endian, row by row) or a list of strings (JSON, so any string survives, half a surrogate
pair included).  Compression is `zlib` (loads at some 300 MB/s), `lzma` (smaller, slower to load) or `none`.  The
card's `hash` is set here: the first 16 hexadecimal digits of the body's SHA-256.  Equal models give equal bytes.

At most the size that the header states is unpacked from each part, and the whole file must not unpack to more than a
hundred times its size (or 100 MB), so that a small file cannot fill the memory. A loader lists the parts it needs
with `require_parts`, or reads them inside `expecting`, so a model with other parts is refused when it is loaded, not
when it is first used.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import math
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeAlias

import numpy as np

from grater.errors import BadInput, MissingExtra, Problem, UnknownName, UsageError, unknown
from grater.files import reason, replacing
from grater.model import Json

SHIPPED = Path(__file__).parent / "shipped"
PACKAGED = ("article", "context", "prep-both", "prep-lm", "prep-maxent", "prep-perceptron")
"""The models that `grater-models` has."""

MAGIC = b"grater-model"
NUMBERS = "biuf"
"""The kinds of arrays: booleans, whole numbers, decimals."""
VERSION = 1
MOST_HEADER = 1 << 24
MOST_TIMES = 100
"""How many times its size a model may unpack to; ours unpack to four times theirs."""

SMALL = 100_000_000
"""Bytes that any model may unpack to."""

FEW_STRINGS, STRINGS_TIMES = 1_000_000, 30
"""Bytes that any list of strings may unpack to, or as many times its size; ours unpack to five times theirs."""

Packing: TypeAlias = Literal["none", "zlib", "lzma"]
Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

PACK: dict[str, Callable[[bytes], bytes]] = {
    "none": bytes,
    "zlib": lambda raw: zlib.compress(raw, 9),
    "lzma": lambda raw: lzma.compress(raw, format=lzma.FORMAT_XZ, check=lzma.CHECK_NONE, preset=9),
}


def _inflate(packed: memoryview, most: int) -> bytes:
    unpacker = zlib.decompressobj()
    return _whole(unpacker.decompress(packed, most + 1), most, is_over=unpacker.eof)


def _unxz(packed: memoryview, most: int) -> bytes:
    unpacker = lzma.LZMADecompressor(memlimit=MOST_MEMORY)
    return _whole(unpacker.decompress(packed, most + 1), most, is_over=unpacker.eof)


def _whole(raw: bytes, most: int, *, is_over: bool) -> bytes:
    """The unpacked bytes, one more than `most` if there are more."""
    if not is_over and len(raw) <= most:
        raise EOFError("cut off")
    return raw


MOST_MEMORY = 1 << 28
"""The memory for unpacking itself; our own files need a quarter of it."""

UNPACK: dict[str, Callable[[memoryview, int], bytes]] = {
    "none": lambda packed, _: bytes(packed),
    "zlib": _inflate,
    "lzma": _unxz,
}


@dataclass(frozen=True, slots=True)
class Model:
    """The contents of a model file; arrays are read-only."""

    kind: str
    card: Mapping[str, Json]
    arrays: Mapping[str, Array]
    strings: Mapping[str, tuple[str, ...]]


def write_model(
    path: Path,
    *,
    kind: str,
    card: Mapping[str, Json],
    arrays: Mapping[str, Array],
    strings: Mapping[str, Sequence[str]],
    packing: Packing = "zlib",
) -> None:
    """Write a model file, complete or not at all; the card gets its `hash` here."""
    parts: list[Json] = []
    body = bytearray()
    for name, array in arrays.items():
        if array.dtype.kind not in NUMBERS:
            raise UsageError(f"array {name!r}: expected numbers, found {array.dtype}")
        dtype = array.dtype.newbyteorder("<")
        packed = PACK[packing](np.ascontiguousarray(array, dtype=dtype).tobytes())
        parts.append({"array": name, "dtype": dtype.str, "shape": list(array.shape), "size": len(packed)})
        body += packed
    for name, words in strings.items():
        packed = PACK[packing](json.dumps(list(words), separators=(",", ":")).encode("ascii"))
        parts.append({"strings": name, "size": len(packed)})
        body += packed
    digest = hashlib.sha256(body).hexdigest()
    whole_card = {**card, "hash": digest[:16]}
    header = {"kind": kind, "card": whole_card, "packing": packing, "parts": parts, "sha256": digest}
    with replacing(path) as stream:
        stream.write(MAGIC + b" %d\n" % VERSION)
        stream.write(json.dumps(header, separators=(",", ":")).encode("ascii") + b"\n")
        stream.write(body)


def read_model(path: Path | str, *, kind: str) -> Model:
    """Read a model of one kind; anything else is refused with the reason."""
    path = Path(path)
    header, body = _header(path, _content(path))
    if header["kind"] != kind:
        _refuse(path, f"expected a model of kind {kind!r}, found kind {header['kind']!r}")
    size = sum(part["size"] for part in header["parts"])
    if len(body) != size:
        _refuse(
            path, f"expected {size:,} bytes after the header, found {len(body):,}: the file is cut off or damaged"
        )
    if hashlib.sha256(body).hexdigest() != header["sha256"]:
        _refuse(path, "damaged: its contents do not have the hash that its header names; get the file again")
    return _unpacked(path, header, body)


def kind_of(path: Path) -> str:
    """The kind of model that a file holds."""
    return str(_header(path, _content(path))[0]["kind"])


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        _refuse(path, f"cannot be read: {reason(error)}")


def _header(path: Path, content: bytes) -> tuple[dict[str, Any], memoryview]:
    magic = content[:40].partition(b"\n")[0]
    name, _, version = magic.partition(b" ")
    if name != MAGIC:
        _refuse(path, "expected a model file of grater, found something else")
    if version != b"%d" % VERSION:
        written = version.decode("ascii", "replace")
        _refuse(
            path,
            f"expected version {VERSION} of the model format, found {written!r}; train or get the model anew",
        )
    start = len(magic) + 1
    end = content.find(b"\n", start, start + MOST_HEADER)
    try:
        header = json.loads(content[start : max(end, start)])
        _ = header["kind"], header["sha256"], UNPACK[header["packing"]], header["card"].items()
        if any(part["size"] < 0 for part in header["parts"]):
            raise ValueError("a part of less than nothing")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        _refuse(path, "damaged: its header cannot be read; get the file again")
    return header, memoryview(content)[end + 1 :]


def _unpacked(path: Path, header: dict[str, Any], body: memoryview) -> Model:
    unpack = UNPACK[header["packing"]]
    arrays: dict[str, Array] = {}
    strings: dict[str, tuple[str, ...]] = {}
    start, left = 0, max(SMALL, MOST_TIMES * len(body))
    try:
        for part in header["parts"]:
            packed = body[start : start + part["size"]]
            most = _size_of(part) if "array" in part else min(left, FEW_STRINGS + STRINGS_TIMES * part["size"])
            raw = unpack(packed, most) if most <= left else None
            if raw is None or len(raw) > most:
                _refuse(path, "damaged: it would unpack to far more than its size; get the file again")
            start, left = start + part["size"], left - len(raw)
            if "array" in part:
                arrays[part["array"]] = np.frombuffer(raw, dtype=part["dtype"]).reshape(part["shape"])
            else:
                strings[part["strings"]] = _strings(raw)
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError, zlib.error, lzma.LZMAError, EOFError):
        _refuse(path, "damaged: its parts cannot be unpacked; get the file again")
    return Model(kind=str(header["kind"]), card=header["card"], arrays=arrays, strings=strings)


def _size_of(part: Mapping[str, Any]) -> int:
    """The bytes of an array, by its header."""
    dtype = np.dtype(part["dtype"])
    if dtype.kind not in NUMBERS or any(type(length) is not int or length < 0 for length in part["shape"]):
        raise ValueError("no array of numbers")
    return int(math.prod(part["shape"]) * dtype.itemsize)


def _strings(raw: bytes) -> tuple[str, ...]:
    words = json.loads(raw)
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ValueError("no list of strings")
    return tuple(words)


def require_parts(model: Model, *, arrays: Mapping[str, int], strings: Sequence[str] = ()) -> None:
    """Raise a `ValueError` unless the model has these arrays, each with its number of dimensions, and strings."""
    for name, n_dimensions in arrays.items():
        if name not in model.arrays:
            raise ValueError(f"no array {name!r}")
        if model.arrays[name].ndim != n_dimensions:
            raise ValueError(f"array {name!r}: expected {n_dimensions} dimensions, found {model.arrays[name].ndim}")
    for name in strings:
        if name not in model.strings:
            raise ValueError(f"no strings {name!r}")


@contextmanager
def expecting(what: str, path: Path | str) -> Iterator[None]:
    """Read a model's parts inside: if one is missing or does not fit the others, the file is refused."""
    try:
        yield
    except (KeyError, ValueError, IndexError, TypeError, UsageError) as error:
        message = f"expected the parts of {what}, found others ({error}); train or get it anew"
        raise BadInput(Problem(str(path), message)) from error


def _refuse(path: Path, message: str) -> NoReturn:
    raise BadInput(Problem(str(path), message))


def shipped(name: str) -> Path:
    """The file of one of our models."""
    for folder in _folders():
        if (path := folder / f"{name}.model").is_file():
            return path
    if name in PACKAGED:
        raise MissingExtra(f"the model of {name} is not installed: pip install grater-models")
    raise UnknownName(unknown("model", name, shipped_names()))


def shipped_names() -> list[str]:
    """The models that are installed."""
    return sorted({path.stem for folder in _folders() for path in folder.glob("*.model")})


def _folders() -> list[Path]:
    apart = find_spec("grater_models")
    return [SHIPPED, *map(Path, (apart and apart.submodule_search_locations) or ())]
