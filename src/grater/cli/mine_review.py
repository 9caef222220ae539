"""Going through suspects on a terminal: one sentence at a time, one letter for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import typer
from rich.markup import escape

from grater.cli.output import messages, say
from grater.detect.mining.ranking import Suspect
from grater.detect.mining.review import NO, OPEN, YES

QUESTION = "one too many? [y]es, [n]o, [s]kip, [b]ack, [q]uit"
BACK, QUIT, SKIP = "b", "q", "s"


def review(
    suspects: Sequence[Suspect], verdicts: Mapping[str, str], keep: Callable[[Mapping[str, str]], None]
) -> dict[str, str]:
    """Ask about every suspect without a verdict; each answer is kept at once, so that nothing is lost on the way."""
    said = dict(verdicts)
    waiting = [suspect for suspect in suspects if said.get(suspect.words, OPEN) == OPEN]
    place = 0
    while place < len(waiting):
        answer = _answer(waiting[place], place, len(waiting))
        if answer == QUIT:
            break
        if answer in (YES, NO):
            said[waiting[place].words] = answer
            keep(said)
        place = max(0, place - 1) if answer == BACK else place + 1
    return said


def _answer(suspect: Suspect, place: int, n: int) -> str:
    use = suspect.uses[0]
    end = use.offset + len(use.target)
    before, after = escape(use.context[: use.offset]), escape(use.context[end:])
    say(f"\n{place + 1} of {n}: {suspect.words} ({suspect.n_trigram:g}; without {suspect.n_bigram:g})")
    messages.print(f"  {before}[bold reverse]{escape(use.target)}[/]{after}")
    while True:
        answer = str(typer.prompt(QUESTION, err=True)).strip().lower()[:1]
        if answer in (YES, NO, SKIP, BACK, QUIT):
            return answer
