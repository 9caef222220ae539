"""A command between lines of questions and lines of answers; it may answer as it reads, or at the end."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from threading import Thread
from typing import IO

from grater.errors import GraterError


def through(command: str, lines: Iterable[str]) -> Iterator[str]:
    """Run a command without a shell; a failed one is refused after its last answer."""
    with _started(command) as process:
        feeder = Thread(target=_feed, args=(process.stdin, lines), daemon=True)
        feeder.start()
        try:
            yield from process.stdout or ()
            feeder.join()
            status = process.wait()
        finally:
            process.kill()
            feeder.join()
    if status:
        raise GraterError(f"{command}: ended with exit status {status}; its own messages are above")


def _started(command: str) -> subprocess.Popen[str]:
    try:
        pipe = subprocess.PIPE
        return subprocess.Popen(shlex.split(command), stdin=pipe, stdout=pipe, text=True, encoding="utf-8")
    except (OSError, ValueError, IndexError) as error:
        raise GraterError(f"the command {command!r} cannot be started: {error}") from error


def _feed(stream: IO[str] | None, lines: Iterable[str]) -> None:
    """Write every line; that a command has gone away is noticed by whoever reads its answers."""
    if stream is None:
        return
    with suppress(BrokenPipeError):
        for line in lines:
            stream.write(line + "\n")
            stream.flush()
    with suppress(BrokenPipeError):
        stream.close()
