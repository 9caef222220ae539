"""A client of an application in this process, without a network and without a thread of its own.

Starlette's test client starts an event loop in a new thread for each request and crosses over to it eight times: more
work than most of our pages.  This one calls the application on a loop of the calling thread.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Iterable
from functools import cache

import httpx
from fastapi import FastAPI
from starlette.types import Message, Receive


class Client(httpx.Client):
    """Follows redirects unless told otherwise; what the application raises is raised here; no lifespan is run."""

    def __init__(
        self, app: FastAPI, *, base_url: str, address: str = "testclient", follow_redirects: bool = True
    ) -> None:
        transport = InProcess(app, address)
        super().__init__(transport=transport, base_url=base_url, follow_redirects=follow_redirects)
        self.app = app


class InProcess(httpx.BaseTransport):
    """Requests are answered by the application as if they came from the address."""

    def __init__(self, app: FastAPI, address: str) -> None:
        self._transport = httpx.ASGITransport(app=app, client=(address, 50_000))

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()  # a body that comes in pieces is sent as one
        if threading.current_thread() is threading.main_thread():
            return _runner().run(self._answer(request))
        with asyncio.Runner() as runner:
            return runner.run(self._answer(request))

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        answer = await self._transport.handle_async_request(request)
        assert isinstance(answer.stream, httpx.AsyncByteStream)
        body = b"".join([part async for part in answer.stream])
        return httpx.Response(answer.status_code, headers=answer.headers, stream=httpx.ByteStream(body))


async def spoken_to(
    app: FastAPI,
    path: str,
    receive: Receive,
    *,
    method: str = "POST",
    headers: Iterable[tuple[bytes, bytes]] = (),
    address: str = "192.0.2.1",
) -> list[Message]:
    """What the application says to somebody whose request comes message by message, as a server hands it on."""
    said: list[Message] = []

    async def send(message: Message) -> None:
        said.append(message)

    scope = {"type": "http", "http_version": "1.1", "method": method, "scheme": "http", "path": path, "root_path": ""}
    scope |= {"raw_path": path.encode(), "query_string": b"", "headers": [(b"host", b"testserver"), *headers]}
    await app(scope | {"server": ("testserver", 80), "client": (address, 50_000), "app": app}, receive, send)
    return said


@cache
def _runner() -> asyncio.Runner:
    """The loop of the main thread, kept from request to request."""
    runner = asyncio.Runner()
    atexit.register(runner.close)
    return runner
