"""Changes must come from our own pages: an Origin that is ours, and a token that only our pages know.

A person who is logged in has the token of their session.  A visitor has a random cookie and its signature as the
token.  API requests carry a bearer token, which no foreign page can make a browser send, and need neither.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from grater.errors import Forbidden

FIELD = "csrf"
HEADER = "x-csrf-token"


def visitor_token(secret: str, nonce: str) -> str:
    """The token for the forms of a visitor with this cookie."""
    return hmac.new(secret.encode(), f"visitor|{nonce}".encode(), hashlib.sha256).hexdigest()


def require_token(expected: str, found: str) -> None:
    if not expected or not hmac.compare_digest(expected.encode(), found.encode("utf-8", "replace")):
        raise Forbidden(
            "this form is too old, or was not made for you; go back, load the page again and send it again"
        )


def require_own_origin(headers: Headers, origins: Collection[str]) -> None:
    """Refuse a change that another site sent; the Referer is asked where a browser sends no Origin."""
    origin = headers.get("origin")
    if origin is None:
        referer = urlsplit(headers.get("referer", ""))
        origin = f"{referer.scheme}://{referer.netloc}" if referer.netloc else ""
    if origin.lower() not in origins:
        raise Forbidden("changes are taken from this server's own pages only")
