"""Trained models: one file each, with a card inside that says where it comes from.

The models that come with the package are in `shipped/`.  A model file holds arrays and strings, and detects damage:

    grater-model 1 <newline>            magic and version of the format
    {"kind": ..., "card": ..., ...}     one line of JSON: kind, card, table of parts, SHA-256 of the body
    body                                the parts, one after the other, each compressed by itself

A part is an array (little-endian, row by row) or a list of strings (JSON, so any string survives, half a surrogate
pair included).  Compression is `zlib` (loads at some 300 MB/s), `lzma` (smaller, slower to load) or `none`.  The
card's `hash` is set here: the first 16 hexadecimal digits of the body's SHA-256.  Equal models give equal bytes.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeAlias

import numpy as np

from grater.errors import BadInput, Problem, UnknownName, UsageError
from grater.files import reason, replacing
from grater.model import Json
from grater.registry import unknown

SHIPPED = Path(__file__).parent / "shipped"

MAGIC = b"grater-model"
VERSION = 1
MOST_HEADER = 1 << 24

Packing: TypeAlias = Literal["none", "zlib", "lzma"]
Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

PACK: dict[str, Callable[[bytes], bytes]] = {
    "none": bytes,
    "zlib": lambda raw: zlib.compress(raw, 9),
    "lzma": lambda raw: lzma.compress(raw, format=lzma.FORMAT_XZ, check=lzma.CHECK_NONE, preset=9),
}
UNPACK: dict[str, Callable[[bytes], bytes]] = {"none": bytes, "zlib": zlib.decompress, "lzma": lzma.decompress}


@dataclass(frozen=True, slots=True)
class Model:
    """What a model file holds; arrays are read-only."""

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
    """Write a model file, whole or not at all; the card gets its `hash` here."""
    parts: list[Json] = []
    body = bytearray()
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf":
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
    """Read a model of one kind; anything else at the path is refused with the reason."""
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
        _ = header["kind"], header["card"], header["sha256"], UNPACK[header["packing"]]
        _ = [part["size"] + 0 for part in header["parts"]]
    except (ValueError, KeyError, TypeError):
        _refuse(path, "damaged: its header cannot be read; get the file again")
    return header, memoryview(content)[end + 1 :]


def _unpacked(path: Path, header: dict[str, Any], body: memoryview) -> Model:
    unpack = UNPACK[header["packing"]]
    arrays: dict[str, Array] = {}
    strings: dict[str, tuple[str, ...]] = {}
    start = 0
    try:
        for part in header["parts"]:
            raw = unpack(body[start : start + part["size"]])  # type: ignore[arg-type]
            start += part["size"]
            if "array" in part:
                arrays[part["array"]] = np.frombuffer(raw, dtype=part["dtype"]).reshape(part["shape"])
            else:
                strings[part["strings"]] = tuple(json.loads(raw))
    except (ValueError, KeyError, TypeError, zlib.error, lzma.LZMAError, EOFError):
        _refuse(path, "damaged: its parts cannot be unpacked; get the file again")
    return Model(kind=header["kind"], card=header["card"], arrays=arrays, strings=strings)


def _refuse(path: Path, message: str) -> NoReturn:
    raise BadInput(Problem(str(path), message))


def shipped(name: str) -> Path:
    """The file of a model that comes with the package."""
    path = SHIPPED / f"{name}.model"
    if name not in shipped_names():
        raise UnknownName(unknown("model", name, shipped_names()))
    return path


def shipped_names() -> list[str]:
    return sorted(path.stem for path in SHIPPED.glob("*.model"))
