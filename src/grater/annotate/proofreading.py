"""Checks anonymous visitors' texts in a separate process with limits, which can be killed (P13, P16).

The process loads its systems when the first text comes, and checks one text at a time; a few requests may wait,
others must retry later. A text has a limit of CPU seconds that depends on its length, about three times what English
needs. Exceeding it ends the process, by its resource limit or, if it sleeps, by our timeout; the next text starts a
new process.

The process has no study data to lose.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from threading import Lock, Semaphore

from grater.annotate.requests import require_length
from grater.corpora.plain import read_text
from grater.detect.detector import Detector
from grater.detect.feedback import Feedback, feedback_on
from grater.detect.systems import default_systems, load_systems
from grater.errors import GraterError, TooBusy
from grater.model import Essay

try:
    import resource
except ImportError:  # Windows has no such limits; the time of the clock is limited everywhere
    resource = None  # type: ignore[assignment]

PROCESSES = get_context("spawn")
LONGEST = 20_000
MOST_WAITING = 6
SECONDS, SECONDS_A_LETTER = 3.0, 0.0006
NICENESS = 5
"""Raters, who wait for pages, go first."""
PATIENCE, STARTING_SECONDS = 5.0, 60.0
"""Seconds by the clock for each CPU second, on a machine that is busy; and for loading the systems."""

FIRST = "They was waiting of the bus."
"""Checked before any text, so that what systems load or build with their first text counts against nobody's limit."""

BUSY = "Many texts are being checked at this moment. Yours was not; wait a little, then send it again."
TOO_LONG = "Checking this text took too long and was stopped; send a part of it."


@dataclass(slots=True, eq=False)
class Proofreader:
    """Feedback on texts from the named systems, else from the default ones."""

    names: tuple[str, ...] = ()
    seconds: float = SECONDS
    _process: BaseProcess | None = None
    _line: Connection | None = None
    _lock: Lock = field(default_factory=Lock)
    _places: Semaphore = field(default_factory=lambda: Semaphore(MOST_WAITING))

    def check(self, text: str, language: str = "") -> Feedback:
        """Feedback on a text; refused if the text is too long or too many requests are waiting."""
        require_length("text", text, LONGEST)
        if not self._places.acquire(blocking=False):
            raise TooBusy(BUSY)
        try:
            with self._lock:
                reply = self._reply(text, language)
        finally:
            self._places.release()
        if isinstance(reply, GraterError):
            raise reply
        return reply

    def _reply(self, text: str, language: str) -> Feedback | GraterError:
        seconds = self.seconds + SECONDS_A_LETTER * len(text)
        try:
            line = self._started()
            line.send((text, language, seconds))
            if line.poll(STARTING_SECONDS + PATIENCE * seconds):
                reply: Feedback | GraterError = line.recv()
                return reply
        except (EOFError, OSError):
            pass
        self.stop()
        return TooBusy(TOO_LONG)

    def _started(self) -> Connection:
        if self._line is None or self._process is None or not self._process.is_alive():
            self.stop()
            self._line, theirs = PROCESSES.Pipe()
            self._process = PROCESSES.Process(target=_work, args=(theirs, self.names), daemon=True)
            self._process.start()
            theirs.close()
        return self._line

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
        if self._line is not None:
            self._line.close()
        self._process = self._line = None


def _work(line: Connection, names: Sequence[str]) -> None:
    """Check texts until the server has gone; an unexpected error ends the process."""
    systems: list[Detector] = []
    if resource:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.nice(NICENESS)
    while True:
        try:
            text, language, seconds = line.recv()
        except (EOFError, KeyboardInterrupt):
            return
        try:
            if not systems:
                systems = load_systems(names or default_systems())
                feedback_on(_essay(FIRST), systems, name="a first text")
            if resource:
                most = max(1, ceil(time.process_time() + seconds))
                resource.setrlimit(resource.RLIMIT_CPU, (most, resource.getrlimit(resource.RLIMIT_CPU)[1]))
            line.send(feedback_on(_essay(text), systems, name="your text", language=language))
        except GraterError as error:
            line.send(error)


def _essay(text: str) -> Essay:
    return replace(next(iter(read_text([text], name="text"))), text=text)
