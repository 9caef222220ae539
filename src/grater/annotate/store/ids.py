"""Names that tell nothing: 128 random bits, and the hashes under which secrets are kept."""

from __future__ import annotations

import hashlib
import secrets

from grater.annotate.store.schema import to_text
from grater.model import Json

PRIME = 2**31 - 1
"""Shuffle numbers live below this prime, so that the product of two fits into eight bytes on both engines."""


def new_id() -> str:
    """128 random bits, safe in a URL: says neither when nor from what the thing was made."""
    return secrets.token_urlsafe(16)


def new_secret() -> str:
    """256 random bits for a person to hold; the store keeps only `hashed` of it."""
    return secrets.token_urlsafe(32)


def new_pseudonym() -> str:
    """What exports call a person; the table refuses the same one twice."""
    return f"rater-{secrets.token_hex(4)}"


def new_shuffle() -> int:
    return 1 + secrets.randbelow(PRIME - 1)


def hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def body_hash(body: Json) -> str:
    """The same for two bodies that say the same, whatever the order of their keys."""
    return hashed(to_text(body))


def multiplier(key: str, *names: str) -> int:
    """A person's own factor for shuffle numbers, from the study's secret key: never 0."""
    return 1 + int(hashed("|".join((key, *names)))[:16], 16) % (PRIME - 1)
