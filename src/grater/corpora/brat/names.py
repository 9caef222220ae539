"""File names for essays and annotators that any file system takes, and that give the id back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count

from grater.model import short_hash

LONGEST = 150
"""Most file systems take 255 bytes; the suffix and a number must fit too."""

RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)
ESCAPED = re.compile(r"((?:%[0-9A-F]{2})+)")


def to_name(essay_id: str) -> str:
    """The id with every doubtful character as %XX; a hash where that is empty or too long."""
    name = re.sub(r"[^A-Za-z0-9._-]", lambda match: _percent(match[0]), essay_id)
    if name.startswith(".") or RESERVED.fullmatch(name):
        name = _percent(name[0]) + name[1:]
    if name.endswith("."):
        name = name[:-1] + _percent(".")
    return name if 0 < len(name) <= LONGEST else short_hash(essay_id)


def _percent(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))


def from_name(name: str) -> str:
    """The id that `to_name` made a name of; a name it would not make is an id as it stands."""
    try:
        decoded = ESCAPED.sub(lambda match: bytes.fromhex(match[1].replace("%", "")).decode("utf-8"), name)
    except UnicodeDecodeError:
        return name
    return decoded if to_name(decoded) == name else name


class FileNames:
    """Gives out names that differ in more than case, since some file systems see no other difference."""

    def __init__(self) -> None:
        self._taken: set[int] = set()
        self._folders: dict[str, str] = {}

    def folder(self, annotator: str) -> str:
        """The folder of an annotator, the same one for every essay."""
        if annotator not in self._folders:
            taken = {name.casefold() for name in self._folders.values()}
            self._folders[annotator] = next(
                name for name in _numbered(to_name(annotator)) if name.casefold() not in taken
            )
        return self._folders[annotator]

    def base(self, essay_id: str, folders: list[str]) -> str:
        """A name that is free in each of the folders (`""` is the top)."""
        names = _numbered(to_name(essay_id))
        name = next(name for name in names if not _places(folders, name) & self._taken)
        self._taken |= _places(folders, name)
        return name


def _places(folders: list[str], name: str) -> set[int]:
    return {hash(f"{folder}/{name}".casefold()) for folder in folders}


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}~{number}" for number in count(2))
