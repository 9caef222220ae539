"""Two-factor login: a code from a telephone beside the password, recovery codes, and for whom it is required.

Time-based one-time passwords (TOTP, RFC 6238) over HMAC (HOTP, RFC 4226, section 5.3), with the parameters that every
authenticator knows: SHA-1, six digits, steps of 30 seconds, a secret of 160 bits.  A code of the step before or after
is taken as well, for clocks that differ (RFC 6238, section 5.2); a step counts once, so a code that somebody saw is
worth nothing.
"""

from __future__ import annotations

import hmac
import secrets
from base64 import b32encode
from collections.abc import Collection
from urllib.parse import quote, urlencode

import pyotp

from grater.annotate.store import Tx, credentials, dump, events, people
from grater.annotate.store.people import Person
from grater.errors import Forbidden, NotFound, UsageError
from grater.registry import unknown

STEP_SECONDS = 30
DIGITS = 6
TOLERANCE = 1
"""Steps before and after the present one that are taken."""

N_RECOVERY_CODES = 10
RECOVERY_BYTES = 10
ROLES = ("owner", "manager")
"""For whom it can be required."""

REQUIRED = "second_factor_roles"
WRONG = "this code is wrong, already used or expired; wait for the next one"


def uri(secret: str, name: str, *, issuer: str = "grater") -> str:
    """What an authenticator reads, also from a QR code; pyotp leaves out the last three parameters."""
    parameters = {"secret": secret, "issuer": issuer, "algorithm": "SHA1", "digits": DIGITS, "period": STEP_SECONDS}
    return f"otpauth://totp/{quote(issuer, safe='')}:{quote(name, safe='')}?{urlencode(parameters, quote_via=quote)}"


def can_have_one(person: Person) -> bool:
    """Only who logs in with a password is asked for more."""
    return person.kind == "human" and bool(person.password_hash)


def begin(tx: Tx, person: Person) -> str:
    """A new secret to put into a telephone; it is asked for once a code from there has confirmed it."""
    if not can_have_one(person):
        raise Forbidden("a second factor is for people who log in with a password")
    if credentials.is_on(tx, person.person_id):
        raise UsageError("your second factor is already on; turn it off first")
    secret = pyotp.random_base32()
    credentials.begin(tx, person.person_id, secret)
    return secret


def confirm(tx: Tx, person: Person, code: str) -> list[str]:
    """Turn it on by a code from the telephone; returns the recovery codes, told this once.

    Sessions that began without it end.
    """
    factor = credentials.find(tx, person.person_id)
    if factor is None or factor.confirmed_at is not None:
        raise NotFound("setup was not started here; start again")
    if not _is_fresh_code(tx, person.person_id, code):
        raise UsageError(WRONG)
    credentials.confirm(tx, person.person_id)
    credentials.end_all_sessions(tx, person.person_id)
    events.write(tx, person.person_id, "factor.on", person.person_id)
    letters = [b32encode(secrets.token_bytes(RECOVERY_BYTES)).decode() for _ in range(N_RECOVERY_CODES)]
    codes = ["-".join(each[start : start + 4] for start in range(0, len(each), 4)) for each in letters]
    credentials.set_recovery_codes(tx, person.person_id, [_plain(code) for code in codes])
    return codes


def use_code(tx: Tx, person: Person, code: str) -> bool:
    """Whether this is a code of the person's telephone, or a recovery code, that was not used before; now it is."""
    if not credentials.is_on(tx, person.person_id):
        return False
    if _is_fresh_code(tx, person.person_id, code):
        return True
    is_recovery = credentials.use_recovery_code(tx, person.person_id, _plain(code))
    if is_recovery:
        events.write(tx, person.person_id, "factor.recovered", person.person_id)
    return is_recovery


def turn_off(tx: Tx, person: Person, code: str) -> None:
    """For oneself, by a code; refused where the role requires it."""
    if person.role in required_roles(tx):
        raise Forbidden(f"the owner of the study requires a second factor for every {person.role}")
    if not use_code(tx, person, code):
        raise UsageError(WRONG)
    credentials.remove(tx, person.person_id)
    events.write(tx, person.person_id, "factor.off", person.person_id)


def reset(tx: Tx, person_id: str, *, actor: str | None = None) -> None:
    """Take the second factor of somebody who lost telephone and codes away; their sessions and tokens end."""
    person = people.get(tx, person_id)
    if not credentials.remove(tx, person_id):
        raise NotFound(f"{person.name} has no second factor")
    credentials.end_access(tx, person_id, actor=actor)
    events.write(tx, actor, "factor.off", person_id)


def required_roles(tx: Tx) -> tuple[str, ...]:
    kept = dump.meta_value(tx, REQUIRED).split()
    return tuple(role for role in ROLES if role in kept)


def require_of(tx: Tx, roles: Collection[str], *, actor: str | None = None) -> None:
    """Require it of these roles and no others; who has none is led to the set-up at the next page."""
    for role in roles:
        if role not in ROLES:
            raise UsageError(unknown("role", role[:20], list(ROLES)))
    wanted = [role for role in ROLES if role in roles]
    dump.set_meta(tx, REQUIRED, " ".join(wanted))
    events.write(tx, actor, "factor.required", "", {"roles": wanted})


def is_missing(tx: Tx, person: Person) -> bool:
    """Whether the person must set up a second factor before anything else."""
    if person.role not in ROLES or not can_have_one(person) or person.role not in required_roles(tx):
        return False
    return not credentials.is_on(tx, person.person_id)


def _is_fresh_code(tx: Tx, person_id: str, code: str) -> bool:
    """Whether the code is of a step near now that is later than any that was used; then it is used."""
    factor = credentials.find(tx, person_id)
    sent = "".join(code.split())
    if factor is None or len(sent) != DIGITS or not sent.isascii():
        return False
    codes, now = pyotp.HOTP(factor.secret, digits=DIGITS), tx.now // 1000 // STEP_SECONDS
    near = range(now - TOLERANCE, now + TOLERANCE + 1)
    steps = [step for step in near if hmac.compare_digest(codes.at(step), sent)]
    return any(credentials.use_step(tx, person_id, step) for step in steps)


def _plain(code: str) -> str:
    return "".join(letter for letter in code.upper() if letter.isalnum())
