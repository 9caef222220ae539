"""One-time passwords by the test vectors of RFC 4226 and RFC 6238."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from grater.annotate.study.second_factor import hotp, new_secret, totp, uri

DIGITS = b"1234567890"
SECRETS = {"sha1": DIGITS * 2, "sha256": DIGITS * 3 + DIGITS[:2], "sha512": DIGITS * 6 + DIGITS[:4]}
VECTORS = {
    59: ("94287082", "46119246", "90693936"),
    1111111109: ("07081804", "68084774", "25091201"),
    1111111111: ("14050471", "67062674", "99943326"),
    1234567890: ("89005924", "91819424", "93441116"),
    2000000000: ("69279037", "90698825", "38618901"),
    20000000000: ("65353130", "77737706", "47863826"),
}
"""RFC 6238, appendix B."""

COUNTED = ["755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489"]
"""RFC 4226, appendix D, counters 0 to 9."""


@pytest.mark.parametrize("seconds", VECTORS)
def test_codes_are_those_of_rfc_6238(seconds: int) -> None:
    computed = tuple(totp(secret, seconds, digits=8, algorithm=name) for name, secret in SECRETS.items())
    assert computed == VECTORS[seconds]


def test_codes_are_those_of_rfc_4226() -> None:
    assert [hotp(SECRETS["sha1"], counter) for counter in range(10)] == COUNTED


def test_an_authenticator_reads_the_uri() -> None:
    secret = new_secret()
    parts = urlsplit(uri(secret, "Ann / Bo & Co", issuer="a study"))
    assert (parts.scheme, parts.netloc, parts.path) == ("otpauth", "totp", "/a%20study:Ann%20%2F%20Bo%20%26%20Co")
    wanted = {"secret": [secret], "issuer": ["a study"], "algorithm": ["SHA1"], "digits": ["6"], "period": ["30"]}
    assert parse_qs(parts.query) == wanted
    assert len(secret) == 32
