"""One POST to a receiver outside, whatever the receiver does.

`destination` checks an address when a webhook is added and again before every delivery.  The name is looked up once,
and the socket is opened to the very IP address that was checked: a name server that answers otherwise a moment later
(DNS rebinding) changes nothing.  The Host header and the name in TLS stay those of the address.

Outside of the server's own network is what the public Internet routes.  An IPv4 address inside an IPv6 one
(IPv4-mapped, NAT64 of RFC 6052) is judged as itself; tunnels (6to4, Teredo), IPv4-compatible and site-local addresses
are inside.  One machine is meant: multicast and 0.0.0.0 are refused even where the inside is allowed.

The whole exchange has `TIMEOUT_SECONDS`, however many small steps it takes.  Of the answer only the status is read,
then the connection is closed, so an endless answer costs nothing.  Redirects are not followed, and the proxies of the
environment are not asked.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import SplitResult, urlsplit

from grater.errors import BadInput, Problem

TIMEOUT_SECONDS = 10.0
LONGEST_HEAD = 1 << 16
PORTION = 1 << 12
LAST_WORDS_SECONDS = 0.5
"""How long a receiver may go on talking after its status: one that is cut off mid-sentence complains in its log."""

PORTS = {"http": 80, "https": 443}
VISIBLE = re.compile(r"[!-~]+")
LABEL = r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
NAME = re.compile(rf"(?=.{{1,253}}$){LABEL}(\.{LABEL})*\.?")
STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})[ \r\n]")

NAT64 = ipaddress.ip_network("64:ff9b::/96")
NOT_OUTSIDE = tuple(
    ipaddress.ip_network(network)
    for network in (
        *("192.0.0.0/24", "192.88.99.0/24"),
        *("::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16", "3fff::/20", "fec0::/10"),
    )
)
"""Beside what Python knows: older versions of it take some of these for public."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A checked address; `sockets` are the families and socket addresses that its name had when it was checked."""

    scheme: str
    host: str
    port: int
    target: str
    sockets: tuple[tuple[int, Any], ...]

    @property
    def host_header(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Reply:
    """The HTTP status, 0 where there was none; `problem` says why an event does not count as told."""

    status: int
    problem: str = ""

    @property
    def is_heard(self) -> bool:
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES


def destination(url: str, *, allow_private: bool) -> Destination:
    """Where an address leads now; one that cannot be used, or leads inside, is refused with the reason."""
    parts, port = _parts(url)
    host = str(parts.hostname)
    sockets = _looked_up(host, port)
    texts = [str(address[0]).partition("%")[0] for _, address in sockets]
    if not all(_is_one_machine(text) for text in texts):
        raise _refused(f"{host}: expected the address of one machine")
    if not allow_private and not all(is_outside(text) for text in texts):
        raise _refused(f"{host}: inside the server's own network")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Destination(scheme=parts.scheme, host=host, port=port, target=target, sockets=sockets)


def _parts(url: str) -> tuple[SplitResult, int]:
    """The parts of a web address and its port."""
    shown = ascii(url[:100])
    if not VISIBLE.fullmatch(url):
        raise _refused(f"expected an address without spaces and in ASCII (encode the rest with %), found {shown}")
    try:
        parts = urlsplit(url)
        port = PORTS.get(parts.scheme, 0) if parts.port is None else parts.port
    except ValueError as error:
        raise _refused(f"expected an http(s) address, found {shown}: {error}") from error
    if parts.scheme not in PORTS or not parts.hostname:
        raise _refused(f"expected an http(s) address, found {shown}")
    if not port or "@" in parts.netloc:
        raise _refused("expected an address without name and password, and a port from 1 to 65535")
    if ":" not in parts.hostname and not NAME.fullmatch(parts.hostname):
        raise _refused(f"expected a host name of labels of 1 to 63 letters, digits and hyphens, found {shown}")
    return parts, port


def _looked_up(host: str, port: int) -> tuple[tuple[int, Any], ...]:
    try:
        known = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, ValueError) as error:
        raise _refused(f"{host}: no such host") from error
    return tuple((int(family), address) for family, _, _, _, address in known)


def is_outside(text: str) -> bool:
    """Whether an IP address belongs to the public Internet."""
    address = ipaddress.ip_address(text)
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return is_outside(str(address.ipv4_mapped))
        if address in NAT64:
            return is_outside(str(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)))
    if any(address in network for network in NOT_OUTSIDE):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved)


def _is_one_machine(text: str) -> bool:
    address = ipaddress.ip_address(text)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return not any(each.is_multicast or each.is_unspecified for each in (address, mapped) if each is not None)


def _refused(words: str) -> BadInput:
    return BadInput(Problem("webhook", words))


def post_outside(url: str, body: bytes, headers: Mapping[str, str], *, allow_private: bool) -> Reply:
    """One POST; whatever goes wrong on the way is an answer without a status, and its reason."""
    try:
        there = destination(url, allow_private=allow_private)
        status = _exchange(there, _request(there, body, headers), time.monotonic() + TIMEOUT_SECONDS)
    except BadInput as error:
        return Reply(0, error.problems[0].message)
    except TimeoutError:
        return Reply(0, f"no answer within {TIMEOUT_SECONDS:g} seconds")
    except ssl.SSLError as error:
        return Reply(0, f"no secure connection: {error.reason or error}")
    except OSError as error:
        return Reply(0, f"no connection: {error.strerror or error}")
    return _judged(status)


def _judged(status: int | None) -> Reply:
    if status is None:
        return Reply(0, "the answer is not HTTP")
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return Reply(status, "redirects are not followed")
    return Reply(status, "" if Reply(status).is_heard else "refused by the receiver")


def _request(there: Destination, body: bytes, headers: Mapping[str, str]) -> bytes:
    sent = {
        "host": there.host_header,
        "content-type": "application/json",
        "content-length": str(len(body)),
        "user-agent": "grater",
        "connection": "close",
        **headers,
    }
    lines = [f"POST {there.target} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items()), "", ""]
    return "\r\n".join(lines).encode("ascii") + body


def _exchange(there: Destination, request: bytes, deadline: float) -> int | None:
    """The status that answers a request; None where the answer is not HTTP."""
    with _connected(there, deadline) as plain:
        plain.settimeout(_left(deadline))
        with _secured(plain, there) as line:
            line.settimeout(_left(deadline))
            line.sendall(request)
            status = _status(_received(line, deadline))
            _hear_out(line, min(deadline, time.monotonic() + LAST_WORDS_SECONDS))
            return status


def _connected(there: Destination, deadline: float) -> socket.socket:
    """A connection to the first of the checked addresses that takes one."""
    trouble: OSError = OSError("no address")
    for family, address in there.sockets:
        line = socket.socket(family, socket.SOCK_STREAM)
        try:
            line.settimeout(_left(deadline))
            line.connect(address)
        except OSError as error:
            line.close()
            trouble = error
        else:
            return line
    raise trouble


def _secured(plain: socket.socket, there: Destination) -> socket.socket:
    if there.scheme == "http":
        return plain
    return ssl.create_default_context().wrap_socket(plain, server_hostname=there.host)


def _received(line: socket.socket, deadline: float) -> Iterator[bytes]:
    """What comes, piece by piece, until the receiver closes or has said more than a head can be."""
    n_bytes = 0
    while n_bytes < LONGEST_HEAD:
        line.settimeout(_left(deadline))
        piece = line.recv(PORTION)
        if not piece:
            return
        n_bytes += len(piece)
        yield piece


def _status(pieces: Iterator[bytes]) -> int | None:
    """The first status that is final: those below 200 announce another."""
    head = b""
    for piece in pieces:
        head += piece
        while match := STATUS.match(head):
            if int(match[1]) >= HTTPStatus.OK:
                return int(match[1])
            _, end, rest = head.partition(b"\r\n\r\n")
            if not end:
                break
            head = rest
        if len(head) >= len("HTTP/1.1 200 ") and not STATUS.match(head):
            return None
    return None


def _hear_out(line: socket.socket, deadline: float) -> None:
    """Let a receiver finish a short answer; what it says is dropped."""
    try:
        for _ in _received(line, deadline):
            pass
    except OSError:
        return


def _left(deadline: float) -> float:
    """The seconds until a deadline, of which some must be left."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
