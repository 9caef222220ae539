"""A command as a system: JSON lines in, JSON lines out.

It is given a line `{"essay": ID, "text": TEXT}` for each essay, and answers with a line
`{"essay": ID, "edits": [{"start": 3, "end": 5, "replacements": ["in"]}]}` for each, in any order; offsets are code
points.  `tag` may be given with an edit.  The command may answer as it reads or after its input has ended.  A
command that fails, answers twice or not at all, or marks what is not in the text, is refused with the reason.
"""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread
from typing import IO, Any

from grater.errors import GraterError
from grater.model import Edit, Essay, Span

TAG = "command"


@dataclass(frozen=True, slots=True, eq=False)
class Command:
    """`line` is split as a shell would, and run without one."""

    line: str
    name: str

    @property
    def about(self) -> str:
        return f"the command {self.line}"

    def correct(self, essays: Iterable[Essay]) -> Iterator[tuple[Essay, tuple[Edit, ...]]]:
        asked: dict[str, Essay] = {}
        with self._start() as process:
            feeder = Thread(target=_feed, args=(process.stdin, essays, asked), daemon=True)
            feeder.start()
            try:
                answers = self._answers(process.stdout or (), asked)
                feeder.join()
                self._require_end(process)
            finally:
                process.kill()
                feeder.join()
        for essay_id, essay in asked.items():
            if essay_id not in answers:
                raise GraterError(f"{self.line}: expected an answer to essay {essay_id!r}, found none")
            yield essay, answers[essay_id]

    def _answers(self, lines: Iterable[str], asked: dict[str, Essay]) -> dict[str, tuple[Edit, ...]]:
        answers: dict[str, tuple[Edit, ...]] = {}
        for number, text in enumerate(lines, start=1):
            essay_id, edits = self._answer(text, number, asked)
            if essay_id in answers:
                raise self._refused(number, f"an answer to essay {essay_id!r} for the second time")
            answers[essay_id] = edits
        return answers

    def _start(self) -> subprocess.Popen[str]:
        try:
            return subprocess.Popen(
                shlex.split(self.line), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
            )
        except (OSError, ValueError, IndexError) as error:
            raise GraterError(f"the command {self.line!r} cannot be started: {error}") from error

    def _answer(self, text: str, number: int, asked: dict[str, Essay]) -> tuple[str, tuple[Edit, ...]]:
        try:
            answer = json.loads(text)
            essay = asked[answer["essay"]]
            return essay.essay_id, tuple(self._edit(each, essay, number) for each in answer["edits"])
        except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
            raise self._refused(number, repr(text.strip()[:80])) from error

    def _edit(self, each: Any, essay: Essay, number: int) -> Edit:
        start, end = each["start"], each["end"]
        if not (isinstance(start, int) and isinstance(end, int) and 0 <= start <= end <= len(essay.text)):
            raise self._refused(number, f"an edit from {start} to {end} in an essay of {len(essay.text)} characters")
        return Edit(
            Span(start, end), tuple(map(str, each.get("replacements", ()))), str(each.get("tag", TAG)), self.name
        )

    def _refused(self, number: int, found: str) -> GraterError:
        wanted = 'a JSON line {"essay": ID, "edits": [...]} for an essay that was asked about'
        return GraterError(f"{self.line}: answer {number}: expected {wanted}, found {found}")

    def _require_end(self, process: subprocess.Popen[str]) -> None:
        status = process.wait()
        if status:
            raise GraterError(f"{self.line}: ended with exit status {status}; its own messages are above")


def _feed(stream: IO[str] | None, essays: Iterable[Essay], asked: dict[str, Essay]) -> None:
    """Write every essay; that a command has gone away is noticed by whoever reads its answers."""
    if stream is None:
        return
    for essay in essays:
        asked[essay.essay_id] = essay
        with suppress(BrokenPipeError):
            stream.write(json.dumps({"essay": essay.essay_id, "text": essay.text}) + "\n")
            stream.flush()
    with suppress(BrokenPipeError):
        stream.close()
