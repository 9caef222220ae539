"""A second factor takes the codes of RFC 6238, and an authenticator can read its address."""

from __future__ import annotations

from base64 import b32encode
from urllib.parse import parse_qs, urlsplit

import pyotp
import pytest

from grater.annotate import people
from grater.annotate.second_factor import begin, confirm, uri, use_code
from grater.annotate.store import open_store
from grater.errors import UsageError

SECRET = b32encode(b"1234567890" * 2).decode()
VECTORS = {
    59: "94287082",
    1111111109: "07081804",
    1111111111: "14050471",
    1234567890: "89005924",
    2000000000: "69279037",
    20000000000: "65353130",
}
"""RFC 6238, appendix B, SHA-1: eight digits, of which a code of six digits has the last six."""


@pytest.mark.parametrize("seconds", VECTORS)
def test_codes_are_those_of_rfc_6238(location: str, seconds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pyotp, "random_base32", lambda: SECRET)
    with open_store(location, create=True, clock=lambda: seconds * 1000) as store, store.write() as tx:
        person = people.add(tx, name="Ann", role="owner", password_hash="hash")
        begin(tx, person)
        with pytest.raises(UsageError):
            confirm(tx, person, f"{(int(VECTORS[seconds]) + 1) % 10**6:06}")
        assert confirm(tx, person, VECTORS[seconds][2:])
        assert not use_code(tx, person, VECTORS[seconds][2:])


def test_an_authenticator_reads_the_uri(location: str) -> None:
    with open_store(location, create=True) as store, store.write() as tx:
        secret = begin(tx, people.add(tx, name="Ann", role="owner", password_hash="hash"))
    parts = urlsplit(uri(secret, "Ann / Bo & Co", issuer="a study"))
    assert (parts.scheme, parts.netloc, parts.path) == ("otpauth", "totp", "/a%20study:Ann%20%2F%20Bo%20%26%20Co")
    wanted = {"secret": [secret], "issuer": ["a study"], "algorithm": ["SHA1"], "digits": ["6"], "period": ["30"]}
    assert parse_qs(parts.query) == wanted
    assert len(secret) == 32
