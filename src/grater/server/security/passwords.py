"""Passwords: argon2id by its library's defaults (RFC 9106), and the same time for people who do not exist."""

from __future__ import annotations

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from grater.errors import BadInput, Problem

SHORTEST, LONGEST = 10, 200

HASHER = PasswordHasher()
NOBODY = HASHER.hash("nobody has this password")


def hash_password(password: str, *, name: str = "") -> str:
    """The hash to store; a password that is too short, too long or the person's own name is refused."""
    if not SHORTEST <= len(password) <= LONGEST:
        message = f"password: expected {SHORTEST} to {LONGEST} characters, found {len(password)}"
        raise BadInput(Problem("form", message))
    if password.strip().lower() == name.strip().lower():
        raise BadInput(Problem("form", "password: expected something else than your name"))
    return HASHER.hash(password)


def is_password(password_hash: str, password: str) -> bool:
    """Whether the password is right; without a hash it never is, and finding that out takes as long."""
    try:
        return HASHER.verify(password_hash or NOBODY, password[:LONGEST]) and bool(password_hash)
    except (VerificationError, InvalidHashError):
        return False
