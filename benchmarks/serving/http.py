"""HTTP/1.1 over one socket kept open, and nothing more: a client that costs about a tenth of what the server does.

Raters share the machine with the server that is to be measured, so they should take little of it.  This client knows
what grater's server says: a status line, headers, a body with its length.  Where the server has hung up meanwhile,
as it does after five idle seconds, the request goes out again on a new socket; every request of a rater may safely be
repeated.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes


class Line:
    """One rater's connection; `headers` go with every request."""

    def __init__(self, host: str, port: int, headers: dict[str, str]) -> None:
        self.host, self.port = host, port
        own = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self._headers = f"host: {host}:{port}\r\n{own}"
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: bytes = b"", kind: str = "application/json") -> Reply:
        head = f"{method} {path} HTTP/1.1\r\n{self._headers}"
        if method != "GET":
            head += f"content-type: {kind}\r\ncontent-length: {len(body)}\r\n"
        sent = head.encode() + b"\r\n" + body
        try:
            return await self._exchange(sent)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.close()
            return await self._exchange(sent)

    async def _exchange(self, sent: bytes) -> Reply:
        reader, writer = await self._open()
        writer.write(sent)
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines if line)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        if headers.get("connection") == "close":
            self.close()
        return Reply(int(first.split(" ", 2)[1]), headers, body)

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._streams is None or self._streams[0].at_eof():
            self.close()
            self._streams = await asyncio.open_connection(self.host, self.port)
        return self._streams

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
        self._streams = None
