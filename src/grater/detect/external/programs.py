"""Programs as systems: any command, a LanguageTool server, and Harper.

A command reads one line `{"essay": ID, "text": TEXT}` per essay, and answers with one line
`{"essay": ID, "edits": [{"start": 3, "end": 5, "replacements": ["in"]}]}` for each, in any order; offsets are code
points.  `tag` may be given with an edit.  The command may answer as it reads or after its input has ended.  A
command that fails, answers twice or not at all, or marks what is not in the text, is refused with the reason.

A running LanguageTool server answers over HTTP (`languagetool:http://localhost:8081`), one request per essay.  Its
answer to POST /v2/check has `matches` with `offset` and `length` in UTF-16 units, as Java counts; they are converted
to code points, and `replacements` are alternatives.

Harper, the offline grammar checker of Automattic, runs in its Python package (pip install 'grater[harper]'). Its
spans are code points, like ours. A suggestion may replace or remove the words it is about, or insert text after them.
Each finding has one of Harper's kinds; `harper:errors` leaves out matters of style, marks without a suggestion, and
unknown words, which `spelling` covers, except words of the other variant of English if one is requested. Words of
more than `LONGEST_WORD` characters are hidden from it: its time and memory grow with the square of a word's length,
and 200,000 characters without a blank crashed the process.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from threading import Lock, Thread
from typing import IO, Any
from urllib.error import URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import Request, urlopen

from grater.corpora.text.lemmas import is_word
from grater.corpora.text.verbs import verb_base
from grater.errors import GraterError, MissingExtra, UsageError
from grater.model import Edit, Essay, Json, Span

TAG = "command"

MOST_REPLACEMENTS = 5
SECONDS = 60.0
PLANE = 0xFFFF

REMOVE, INSERT_AFTER = 1, 2
LONGEST_WORD = 200
TOO_LONG = re.compile(rf"\S{{{LONGEST_WORD + 1},}}")


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
            return essay.essay_id, tuple(self._edit(edit, essay, number) for edit in answer["edits"])
        except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
            raise self._refused(number, repr(text.strip()[:80])) from error

    def _edit(self, edit: Any, essay: Essay, number: int) -> Edit:
        start, end = edit["start"], edit["end"]
        if not (isinstance(start, int) and isinstance(end, int) and 0 <= start <= end <= len(essay.text)):
            raise self._refused(number, f"an edit from {start} to {end} in an essay of {len(essay.text)} characters")
        return Edit(
            span=Span(start, end),
            replacements=tuple(map(str, edit.get("replacements", ()))),
            tag=str(edit.get("tag", TAG)),
            rater=self.name,
        )

    def _refused(self, number: int, reply: str) -> GraterError:
        wanted = 'a JSON line {"essay": ID, "edits": [...]} for an essay that was asked about'
        return GraterError(f"{self.line}: answer {number}: expected {wanted}, found {reply}")

    def _require_end(self, process: subprocess.Popen[str]) -> None:
        status = process.wait()
        if status:
            raise GraterError(f"{self.line}: ended with exit status {status}; its own messages are above")


def _feed(stream: IO[str] | None, essays: Iterable[Essay], asked: dict[str, Essay]) -> None:
    """Write every essay; a command that has exited is noticed when its answers are read."""
    if stream is None:
        return
    for essay in essays:
        asked[essay.essay_id] = essay
        with suppress(BrokenPipeError):
            stream.write(json.dumps({"essay": essay.essay_id, "text": essay.text}) + "\n")
            stream.flush()
    with suppress(BrokenPipeError):
        stream.close()


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
        units = code_point_of_units(essay.text)
        for match in self._ask(essay.text):
            start, end = match["offset"], match["offset"] + match["length"]
            if not 0 <= start <= end < len(units):
                raise GraterError(f"{self.url}: expected matches inside the text, found {start} to {end}")
            texts = tuple(str(text["value"]) for text in match.get("replacements", ())[:MOST_REPLACEMENTS])
            rule = match.get("rule", {})
            yield Edit(
                span=Span(units[start], units[end]),
                replacements=texts,
                tag=str(rule.get("id", "")),
                rater=self.name,
                comment=str(match.get("message", "")),
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


def code_point_of_units(text: str) -> list[int]:
    """For every UTF-16 unit of the text, and its end, the code point that it belongs to."""
    indices = []
    for index, character in enumerate(text):
        indices += [index, index] if ord(character) > PLANE else [index]
    return [*indices, len(text)]


ERRORS = "errors"
STYLE = {"Enhancement", "Nonstandard", "Readability", "Redundancy", "Regionalism", "Style", "WordChoice"}
"""Harper's kinds of marks that are advice on style."""

KINDS = {
    "Agreement": "agreement",
    "BoundaryError": "compound",
    "Capitalization": "capital",
    "Formatting": "spacing",
    "Punctuation": "punctuation",
    "Repetition": "repetition",
    "Spelling": "spelling",
    "Typo": "spelling",
}
"""Our names of Harper's kinds of marks; others keep their names."""

SPELLING = "Spelling"
DIALECTS = {"en-AU": "Australian", "en-CA": "Canadian", "en-US": "American"} | dict.fromkeys(
    ("en-GB", "en-NZ", "en-ZA"), "British"
)
"""Harper's names of the variants of English."""

RESPELT = (
    *(("grey", "gray"), ("aero", "air"), ("our", "or"), ("re", "er"), ("ise", "ize"), ("isi", "izi"), ("isa", "iza")),
    *(("yse", "yze"), ("ysi", "yzi"), ("ae", "e"), ("oe", "e"), ("ogue", "og"), ("ence", "ense"), ("ll", "l")),
)
"""What British spelling has for American, in this order."""

SHARE, OTHER, TYPO = "share", "other", 0.3
SHARES = {
    "agreement": 0.33,
    "article": 0.33,
    "capital": 0.6,
    "compound": 0.66,
    "grammar": 0.66,
    "number": 0.36,
    "prep": 0.6,
    "prep-missing": 0.3,
    "punctuation": 0.47,
    "repetition": 0.25,
    "spacing": 0.28,
    "other": 0.66,
}
"""The share of Harper's marks of a kind that touch a correction, in the half of CoNLL-2014 that is not reported and
2,500 sentences of CWEB-G; at most two thirds where there are fewer than 30 marks."""

NO_ERROR = frozenset(" \t\n\r\xa0.…")
"""Characters of which spaces and ellipses consist, which people type as they like."""

ABBREVIATED = re.compile(r"(?:\b[A-Z]\w*|\.\w+|\b(?:approx|cf|eg|etc|ie|vs)|\.\s*\.|…)\.?[ \t]*\Z")
"""What ends in a full stop and may stand in the middle of a sentence: *Mr.*, *p.m.*, dots."""

INITIALS, AT_THE_START, SPELT_AS_NAME = "initialism", "This sentence does not start", "Did you mean to spell"
ONE_OF_SOME = ("any one", "every one", "some one")
EXCLAIMED = re.compile(r"[!?][ \t]*\Z")
NATIONS = frozenset(("english", "german"))
"""Languages that are words in small letters, too, and that Harper marks; its other such marks are on common nouns."""

LINTING = Lock()
"""A linter takes one text at a time."""

OUR_KINDS = {"mass noun": "number", "plural noun": "number", "indefinite article": "article", "preposition": "prep"}
OUR_KINDS |= {"closed compound": "compound", "Discourse markers": "punctuation"}
"""What a message of Harper's is about, by words in it, whatever its kind."""


@dataclass(frozen=True, slots=True, eq=False)
class Harper:
    """Harper as a corrector, optionally for one variant of English."""

    name: str = "harper"
    without_style: bool = False
    language: str = ""

    @property
    def about(self) -> str:
        return "Harper, by harper-py"

    def correct(self, essays: Iterable[Essay]) -> Iterator[tuple[Essay, tuple[Edit, ...]]]:
        for essay in essays:
            text, hidden = _without_long_words(essay.text)
            lints = self._lints(text)
            kept = [
                lint
                for lint in lints
                if not any(lint.span.start <= end and start <= lint.span.end for start, end in hidden)
                and (not self.without_style or _is_error(lint, text))
            ]
            yield essay, tuple(_edit(lint, essay, self.name, has_share=self.without_style) for lint in kept)

    def _lints(self, text: str) -> list[Any]:
        """All marks; without style those of both variants, with the other's spellings if a variant is named."""
        dialect = DIALECTS.get(self.language, "American")
        lints = _lint(text, dialect)
        if not self.without_style or not lints:
            return lints
        theirs = _lint(text, "American" if dialect == "British" else "British")
        shared = {(lint.span.start, lint.span.end, lint.lint_kind) for lint in theirs}
        return [
            lint
            for lint in lints
            if ((lint.span.start, lint.span.end, lint.lint_kind) in shared) != _is_unknown(lint)
            and (not _is_unknown(lint) or (self.language in DIALECTS and _respelt(lint)))
        ]


def _is_unknown(lint: Any) -> bool:
    """Whether a word is on none of its lists, in any case."""
    better = (suggestion.replacement_text for suggestion in lint.suggestions if suggestion.kind != REMOVE)
    small = lint.problem_text.lower()
    return str(lint.lint_kind) == SPELLING and all(str(text).lower() != small for text in better)


def _respelt(lint: Any) -> tuple[str, ...]:
    """The suggestions that spell the same word in the other variant: *colour*, but not *cloud*."""
    better = (str(suggestion.replacement_text) for suggestion in lint.suggestions)
    return tuple(word for word in better if _same_on_both_sides(word) == _same_on_both_sides(lint.problem_text))


def _same_on_both_sides(word: str) -> str:
    word = word.lower()
    for british, american in RESPELT:
        word = word.replace(british, american)
    return word


def _without_long_words(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The text with blanks in place of overlong words, and their positions."""
    return TOO_LONG.sub(lambda word: " " * len(word[0]), text), [word.span() for word in TOO_LONG.finditer(text)]


def _is_error(lint: Any, text: str) -> bool:
    """Whether a mark is a known error, not a matter of style, white space, compounds or the spelling of names."""
    words = lint.problem_text
    better = [_replacement(suggestion, words) for suggestion in lint.suggestions]
    if not better or lint.lint_kind in STYLE or NO_ERROR.issuperset(words) or INITIALS in lint.message:
        return False
    if any(text.lower() == words.lower() for text in better):
        before = text[: lint.span.start]
        if lint.message.startswith(SPELT_AS_NAME) and words not in NATIONS and is_word(words):
            return False
        if lint.message.startswith(AT_THE_START) and (verb_base(words) != words or EXCLAIMED.search(before)):
            return False  # what is left of a sentence without its subject, or *Oh! how good*
        return words.islower() and (not before or before[-1].isspace()) and not ABBREVIATED.search(before)
    is_one_of_some = words.lower() in ONE_OF_SOME and text.startswith(" of ", lint.span.end)
    return not is_one_of_some and all(text.replace(" ", "") != words for text in better)


def _edit(lint: Any, essay: Essay, rater: str, *, has_share: bool) -> Edit:
    span = Span(lint.span.start, lint.span.end)
    words = span.of(essay.text)
    texts = tuple(dict.fromkeys(_replacement(suggestion, words) for suggestion in lint.suggestions))
    texts = tuple(text for text in texts if text != words and text.lower() == words.lower())[:1] or texts
    texts = (_respelt(lint) if has_share and lint.lint_kind == SPELLING else ()) or texts
    about = (kind for words, kind in OUR_KINDS.items() if words in lint.message)
    kind = next(about, KINDS.get(lint.lint_kind, lint.lint_kind.lower()))
    extra: dict[str, Json] = {"kind": kind} | (
        {SHARE: TYPO if lint.lint_kind == "Typo" else SHARES.get(kind, SHARES[OTHER])} if has_share else {}
    )
    return Edit(span=span, replacements=texts, tag=lint.lint_kind, rater=rater, comment=lint.message, extra=extra)


def _replacement(suggestion: Any, words: str) -> str:
    if suggestion.kind == REMOVE:
        return ""
    text = str(suggestion.replacement_text)
    return words + text if suggestion.kind == INSERT_AFTER else text


def _lint(text: str, dialect: str) -> list[Any]:
    """Harper's results, without its printed output: some of its rules write to file descriptor 1."""
    linter = _linter(dialect)
    with LINTING, _silence():
        lints: list[Any] = linter.lint(text, language="plaintext")
        return lints


@contextmanager
def _silence() -> Iterator[None]:
    sys.stdout.flush()
    kept, nothing = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nothing)


@cache
def _linter(dialect: str) -> Any:
    """One linter per dialect for the whole process, because loading its dictionary takes a second."""
    try:
        import harper
    except ImportError as error:
        raise MissingExtra("the system 'harper' needs the package harper-py: pip install 'grater[harper]'") from error
    return harper.Linter(dialect=getattr(harper.Dialect, dialect.upper()))
