"""Systems from outside by name: `harper`, `languagetool:URL`, `command:LINE`, `corrected:FILE`, `edits:FILE`.

A name of one's own comes before an equals sign: `mine=command:./check.sh`; otherwise a system is called after its
file or command.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath

from grater.detect.external import SCHEMES
from grater.detect.external.command import Command
from grater.detect.external.corrected import Corrected
from grater.detect.external.corrector import Corrector
from grater.detect.external.detector import ExternalDetector
from grater.detect.external.edited import Edited
from grater.detect.external.harper import Harper
from grater.detect.external.languagetool import LanguageTool
from grater.errors import UsageError
from grater.model import Item


def is_external(name: str) -> bool:
    """Whether a name is that of a system from outside."""
    return _parts(name)[1] in SCHEMES


def external(name: str, *, places: Mapping[str, Sequence[Item]] | None = None) -> ExternalDetector:
    """The system of a name, deciding on these places, or on prepositions."""
    return ExternalDetector(_corrector(*_parts(name)), places)


def _parts(name: str) -> tuple[str, str, str]:
    own, equals, rest = name.partition("=")
    if not equals or ":" in own:
        own, rest = "", name
    scheme, _, value = rest.partition(":")
    return own, scheme, value


def _corrector(own: str, scheme: str, value: str) -> Corrector:
    if scheme == "harper":
        return Harper(own or "harper")
    if not value:
        raise UsageError(f"expected {scheme}:SOMETHING, found {scheme!r} alone")
    if scheme == "languagetool":
        return LanguageTool(value, own or "languagetool")
    if scheme == "command":
        words = shlex.split(value)
        return Command(value, own or PurePath(words[0]).stem)
    if scheme == "corrected":
        return Corrected(Path(value), own or Path(value).stem)
    file, _, annotator = value.partition("@")
    return Edited(Path(file), own or Path(file).stem, annotator)
