"""Which data a number was made from, as a hash that does not mind the order of essays or their division into files.

Each essay is hashed, once by its id and text and once with its edits; the hashes are added up modulo 2^64, so
fingerprints add as counts do.  Two files with the same fingerprint of the text hold the same essays, annotated apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b

from grater.model import Essay

MODULUS = 1 << 64


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Of the texts alone, and of the texts with their edits."""

    text: int = 0
    data: int = 0

    def __add__(self, other: Fingerprint) -> Fingerprint:
        return Fingerprint((self.text + other.text) % MODULUS, (self.data + other.data) % MODULUS)

    def __str__(self) -> str:
        return f"{self.data:016x}"


def fingerprint(essay: Essay) -> Fingerprint:
    edits = [(edit.span.start, edit.span.end, edit.replacements, edit.tag, edit.rater) for edit in essay.edits]
    return Fingerprint(_hash(f"{essay.essay_id}\0{essay.text}"), _hash(f"{essay.text}\0{essay.annotators}\0{edits}"))


def _hash(content: str) -> int:
    return int.from_bytes(blake2b(content.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def same_text(by_name: Mapping[str, Fingerprint]) -> tuple[tuple[str, ...], ...]:
    """The names of corpora that hold the same essays, group by group."""
    by_text: dict[int, list[str]] = defaultdict(list)
    for name, mark in by_name.items():
        by_text[mark.text].append(name)
    return tuple(tuple(names) for text, names in by_text.items() if text and len(names) > 1)
