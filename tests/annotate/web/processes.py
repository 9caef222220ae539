"""`grater serve` in a process of its own, as it is shipped."""

from __future__ import annotations

import resource
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.ports import free_port


@contextmanager
def serving(location: Path | str, *options: str, **limits: int) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """The port of a server and its process, which has limits by their names in `resource`."""
    port = free_port()
    command = [sys.executable, "-m", "grater", "serve", str(location), "--port", str(port), *options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        for name, most in limits.items():
            resource.prlimit(process.pid, getattr(resource, name), (most, most))
        try:
            wait_until(lambda: is_open(port) or process.poll() is not None)
            assert process.poll() is None, "the server has ended"
            yield port, process
        finally:
            process.terminate()


def is_open(port: int) -> bool:
    with socket.socket() as line:
        return line.connect_ex(("127.0.0.1", port)) == 0


def wait_until(is_so: Callable[[], bool], *, seconds: float = 300) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "waited for nothing"
        time.sleep(0.05)
