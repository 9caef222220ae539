"""A local server that speaks the protocol of chat endpoints, and can be told to fail as real ones do."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answering = Callable[[dict[str, Any]], str]


@dataclass
class ChatServer:
    """`answer` makes the content of a reply from a request; `faults` come first, one per request.

    A fault that is JSON is sent as the whole reply.
    """

    answer: Answering
    faults: list[str] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    usage: dict[str, int] | None = field(default_factory=lambda: {"prompt_tokens": 100, "completion_tokens": 10})
    url: str = ""
    released: threading.Event = field(default_factory=threading.Event)


def _handler(server: ChatServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_args: Any) -> None:
            """Silence."""

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.requests.append(asked)
            server.headers.append(dict(self.headers))
            if self.path != "/v1/chat/completions":
                self._send(404, {"error": {"message": "no such path"}})
            elif server.faults:
                self._fail(server.faults.pop(0))
            else:
                self._send(200, self._completion(asked))

        def _completion(self, asked: dict[str, Any]) -> dict[str, Any]:
            message = {"role": "assistant", "content": server.answer(asked)}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            completion = {"id": "c", "object": "chat.completion", "model": asked["model"], "choices": [choice]}
            return {**completion, **({"usage": server.usage} if server.usage else {})}

        def _fail(self, fault: str) -> None:
            if fault == "cut":
                self.send_response(200)
                self.send_header("Content-Length", "1000")
                self.end_headers()
                self.wfile.write(b'{"choices"')
                self.wfile.flush()
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
            elif fault == "malformed":
                self._raw(200, b'{"choices": [')
            elif fault[:1] in "{[":
                self._raw(200, fault.encode())
            elif fault == "slow":
                server.released.wait(300)
            elif fault == "moved":
                self._raw(302, b"", Location="http://127.0.0.1:9/v1/chat/completions")
            elif fault == "no response_format":
                self._send(400, {"error": {"message": "response_format is not supported"}})
            else:
                status, _, seconds = fault.partition(" after ")
                named = {"Retry-After": seconds} if seconds else {}
                self._raw(int(status), json.dumps({"error": {"message": "trouble"}}).encode(), **named)

        def _send(self, status: int, body: dict[str, Any]) -> None:
            self._raw(status, json.dumps(body).encode())

        def _raw(self, status: int, body: bytes, **named: str) -> None:
            self.send_response(status)
            for name, value in named.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler


@contextmanager
def serving(answer: Answering) -> Iterator[ChatServer]:
    """The server on a free port of this machine until the end of the block."""
    server = ChatServer(answer)
    http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(server))
    http.daemon_threads = True
    server.url = f"http://127.0.0.1:{http.server_address[1]}/v1"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        http.shutdown()
        http.server_close()
        thread.join()
