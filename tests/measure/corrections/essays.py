"""Small references of our own for the tests of scores."""

from __future__ import annotations

from collections.abc import Sequence

from grater.corpora.m2 import FORMAT
from grater.measure.corrections.scores import Hypothesis, References
from grater.model import Essay
from tests.corpora.sources import TextSource

REFERENCE = """S She go to school every days .
A 1 2|||R:VERB:SVA|||goes|||REQUIRED|||-NONE-|||0
A 5 6|||R:NOUN:NUM|||day|||REQUIRED|||-NONE-|||0
A 1 2|||R:VERB:SVA|||goes|||REQUIRED|||-NONE-|||1

S I am agree with it .
A 1 2|||U:VERB||||||REQUIRED|||-NONE-|||0
A 1 3|||R:VERB|||agree|||REQUIRED|||-NONE-|||1

S We like it .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1

S He is in home .
A 2 3|||R:PREP|||at|||REQUIRED|||-NONE-|||0
A 2 3|||R:PREP|||at|||REQUIRED|||-NONE-|||1

"""

SYSTEM = """S She go to school every days .
A 1 2|||R:VERB:SVA|||goes|||REQUIRED|||-NONE-|||0

S I am agree with it .
A 1 2|||U:VERB||||||REQUIRED|||-NONE-|||0

S We like it .
A 1 2|||R:VERB|||love|||REQUIRED|||-NONE-|||0

S He is in home .

"""

TEXT = ["She goes to school every days .", "I agree with it .", "We love it .", "He is in home ."]
SOURCE = ["She go to school every days .", "I am agree with it .", "We like it .", "He is in home ."]


def essays(text: str = REFERENCE, *, name: str = "ref.m2") -> list[Essay]:
    return list(FORMAT.read(TextSource(text, name)))


def references(text: str = REFERENCE) -> References:
    return References("ref.m2", essays(text))


def text_system(name: str, lines: Sequence[str] = TEXT) -> Hypothesis:
    return Hypothesis(name, f"{name}.txt", texts=list(lines))


def m2_system(name: str, text: str = SYSTEM) -> Hypothesis:
    return Hypothesis(name, f"{name}.m2", sentences=essays(text, name=f"{name}.m2"))
