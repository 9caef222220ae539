"""A running LanguageTool server, over HTTP (`languagetool:http://localhost:8081`).

Its answer to POST /v2/check has `matches` with `offset` and `length` in UTF-16 units, as Java counts; they are turned
into code points, and `replacements` are alternatives.  One request an essay.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import Request, urlopen

from grater.errors import GraterError, UsageError
from grater.model import Edit, Essay, Span

MOST_REPLACEMENTS = 5
SECONDS = 60.0
PLANE = 0xFFFF


@dataclass(frozen=True, slots=True, eq=False)
class LanguageTool:
    """A server at `url`; `language` as LanguageTool names it."""

    url: str
    name: str = "languagetool"
    language: str = "en-US"

    def __post_init__(self) -> None:
        if urlsplit(self.url).scheme not in ("http", "https"):
            raise UsageError(f"expected languagetool:http://HOST:PORT, found {self.url!r}")

    @property
    def about(self) -> str:
        return f"a LanguageTool server, {self.language}"

    def correct(self, essays: Iterable[Essay]) -> Iterator[tuple[Essay, tuple[Edit, ...]]]:
        for essay in essays:
            yield essay, tuple(self._edits(essay))

    def _edits(self, essay: Essay) -> Iterator[Edit]:
        units = unit_places(essay.text)
        for match in self._ask(essay.text):
            start, end = match["offset"], match["offset"] + match["length"]
            if not 0 <= start <= end < len(units):
                raise GraterError(f"{self.url}: expected matches inside the text, found {start} to {end}")
            texts = tuple(str(each["value"]) for each in match.get("replacements", ())[:MOST_REPLACEMENTS])
            rule = match.get("rule", {})
            yield Edit(
                Span(units[start], units[end]),
                texts,
                str(rule.get("id", "")),
                self.name,
                str(match.get("message", "")),
            )

    def _ask(self, text: str) -> list[dict[str, Any]]:
        data = urlencode({"text": text, "language": self.language}).encode()
        request = Request(f"{self.url.rstrip('/')}/v2/check", data)
        try:
            with urlopen(request, timeout=SECONDS) as answer:
                matches: list[dict[str, Any]] = json.load(answer)["matches"]
                return matches
        except (URLError, TimeoutError) as error:
            why = getattr(error, "reason", error)
            raise GraterError(
                f"{self.url}: no LanguageTool server answers ({why}); start one, or name its address"
            ) from error
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise GraterError(
                f"{self.url}: expected the answer of LanguageTool's /v2/check, found something else"
            ) from error


def unit_places(text: str) -> list[int]:
    """For every UTF-16 unit of the text, and its end, the code point that it belongs to."""
    places = []
    for place, character in enumerate(text):
        places += [place, place] if ord(character) > PLANE else [place]
    return [*places, len(text)]
