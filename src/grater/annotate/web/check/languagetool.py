"""LanguageTool's HTTP protocol, so that its plug-ins for browsers, offices and editors can ask grater instead.

`/v2/check` and `/v2/languages` as LanguageTool's description of its API has them: parameters in a form (POST) or in
the address (GET); offsets and lengths in UTF-16 units, as Java counts; errors as one line of text with status 400,
413 or 429.  `data` is text with markup: its offsets count the markup as well.  Of the parameters that choose rules,
those by id and by category are followed; dictionaries, the mother tongue and the picky level have no meaning here.

A match always covers some characters: a missing word is marked on the word that follows, and a word that is to go
takes its space with it (`grater.detect.marks.change`).  Who asks is not known: no cookie is read, nothing is stored,
and any page may ask, as it may ask LanguageTool's own server.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from grater import __version__
from grater.annotate.study.limits import LONGEST
from grater.annotate.web.check.pages import require_open
from grater.annotate.web.context import Context, RequestContext
from grater.annotate.web.roles import EDITORS
from grater.corpora.text.sentences import sentence_spans
from grater.detect.feedback import Feedback
from grater.detect.marks import Mark, TextChange, change, source, why
from grater.model import Json, Span

router = APIRouter()

VARIANTS = {
    "en": "English",
    "en-AU": "English (Australian)",
    "en-CA": "English (Canadian)",
    "en-GB": "English (GB)",
    "en-NZ": "English (New Zealand)",
    "en-US": "English (US)",
    "en-ZA": "English (South African)",
}
AUTO = "auto"
API_VERSION = 1
AROUND = 40
"""Characters of the text on each side of a match in its context."""

CATEGORIES = {
    "capital": ("CASING", "Capitalization", "typographical"),
    "compound": ("COMPOUNDING", "Compounding", "misspelling"),
    "punctuation": ("PUNCTUATION", "Punctuation", "typographical"),
    "readability": ("STYLE", "Style", "style"),
    "repetition": ("REPETITIONS", "Repetitions", "duplication"),
    "spacing": ("TYPOGRAPHY", "Typography", "whitespace"),
    "spelling": ("TYPOS", "Possible Typo", "misspelling"),
    "style": ("STYLE", "Style", "style"),
}
GRAMMAR = ("GRAMMAR", "Grammar", "grammar")
"""Category, its name and the type of issue (ITS 2.0) by the kind of a mark, with LanguageTool's names."""

WHICH = ("Rules", "Categories")
ALLOW = {"access-control-allow-origin": "*"}
PLANE = 0xFFFF


@router.get(f"{EDITORS}/languages")
def languages(context: Context) -> Response:
    require_open(context, "editors")
    known = [{"name": name, "code": "en", "longCode": code} for code, name in VARIANTS.items()]
    return JSONResponse(known, headers=ALLOW)


@router.get(f"{EDITORS}/check")
def check_by_address(context: Context) -> Response:
    return _check(context, dict(context.request.query_params))


@router.post(f"{EDITORS}/check")
def check_by_form(context: Context) -> Response:
    fields = {name: values[0] for name, values in context.fields().items()}
    return _check(context, {**context.request.query_params, **fields})


def _check(context: RequestContext, parameters: Mapping[str, str]) -> Response:
    require_open(context, "editors")
    language = _language(parameters)
    if not context.server.checks.take(f"check {context.address}"):
        raise HTTPException(429, "Too many requests; wait a minute and try again.", {"retry-after": "60"})
    document = of_pieces(_pieces(parameters))
    feedback = context.server.proofreader.check(document.text)
    choice = RuleChoice.of(parameters)
    matches = [match for match in _matches(feedback, document) if choice.takes(match["rule"])]
    return JSONResponse(_answer(language, matches, feedback, document), headers=ALLOW)


def _language(parameters: Mapping[str, str]) -> str:
    """The variant that is asked for; for `auto` the preferred one."""
    asked = parameters.get("language", "")
    if not asked:
        raise HTTPException(400, "Missing 'language' parameter")
    if asked == AUTO:
        preferred = [code for code in parameters.get("preferredVariants", "").split(",") if code in VARIANTS]
        return preferred[0] if preferred else "en-US"
    by_small = {code.lower(): code for code in VARIANTS}
    if asked.lower() not in by_small:
        known = ", ".join(VARIANTS)
        raise HTTPException(
            400, f"'{asked[:20]}' is not a language code known to grater. Supported codes are: {known}"
        )
    return by_small[asked.lower()]


@dataclass(frozen=True, slots=True)
class Document:
    """The text that is checked, with the places of its characters in what was sent, in UTF-16 units."""

    text: str
    starts: list[int]
    ends: list[int]

    def place_of(self, span: Span) -> tuple[int, int]:
        """Offset and length of a span in what was sent; all spans have characters."""
        start = self.starts[span.start]
        return start, self.ends[span.end - 1] - start


Pieces: TypeAlias = list[tuple[str, str | None]]
"""What was sent, and what it is read as; None where that is the same."""


def _pieces(parameters: Mapping[str, str]) -> Pieces:
    """What was sent, as text or as text with markup; more than may be checked is refused before it is looked at."""
    if "text" in parameters:
        pieces: Pieces = [(parameters["text"], None)]
    elif "data" in parameters:
        pieces = _with_markup(parameters["data"])
    else:
        raise HTTPException(400, "Missing 'text' or 'data' parameter")
    n = sum(len(sent if read_as is None else read_as) for sent, read_as in pieces)
    if n > LONGEST["check.text"]:
        most = LONGEST["check.text"]
        raise HTTPException(413, f"Your text exceeds the limit of {most} characters (it's {n} characters).")
    return pieces


def _with_markup(data: str) -> Pieces:
    try:
        pieces = [_piece(piece) for piece in json.loads(data)["annotation"]]
        for piece in pieces:
            "".join(filter(None, piece)).encode()  # half a surrogate pair is no text
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        wanted = '{"annotation": [{"text": "..."}, {"markup": "...", "interpretAs": "..."}]}'
        raise HTTPException(400, f"Expected 'data' as {wanted}") from error
    return pieces


def _piece(piece: Mapping[str, Any]) -> tuple[str, str | None]:
    if "text" in piece:
        return str(piece["text"]), None
    return str(piece["markup"]), str(piece.get("interpretAs", ""))


def of_pieces(pieces: Pieces) -> Document:
    """Pieces of text one after the other; all that a piece of markup is read as has the place of the markup."""
    texts, starts, ends, at = list[str](), list[int](), list[int](), 0
    for sent, read_as in pieces:
        texts.append(sent if read_as is None else read_as)
        if read_as is not None:
            end = at + units(sent)
            starts += [at] * len(read_as)
            ends += [end] * len(read_as)
            at = end
            continue
        for character in sent:
            starts.append(at)
            at += units(character)
            ends.append(at)
    return Document("".join(texts), starts, ends)


def units(text: str) -> int:
    """The length of a text in UTF-16 units."""
    return len(text) + sum(ord(character) > PLANE for character in text)


def _matches(feedback: Feedback, document: Document) -> Iterator[dict[str, Any]]:
    text = document.text
    sentences = sentence_spans(text)
    starts = [span.start for span in sentences]
    for mark in feedback.marks:
        made = change(text, mark.findings[0])
        if not len(made.span):
            continue
        nearest = sentences[max(0, bisect_right(starts, made.span.start) - 1)]
        sentence = nearest if nearest.covers(made.span) else made.span
        offset, length = document.place_of(made.span)
        yield {
            "message": f"{why(mark)} ({source(mark.findings[0])})",
            "shortMessage": mark.explanation.title if mark.explanation else "",
            "replacements": [{"value": value} for value in made.replacements],
            "offset": offset,
            "length": length,
            "context": _context(text, made),
            "sentence": sentence.of(text),
            "type": {"typeName": "Other"},
            "rule": _rule(mark),
            "ignoreForIncompleteSentence": False,
            "contextForSureMatch": 0,
        }


def _context(text: str, made: TextChange) -> dict[str, Json]:
    start, end = max(0, made.span.start - AROUND), made.span.end + AROUND
    before, after = "..." * (start > 0), "..." * (end < len(text))
    words = " ".join(text[start:end].split("\n"))
    return {
        "text": f"{before}{words}{after}",
        "offset": units(before + text[start : made.span.start]),
        "length": units(made.span.of(text)),
    }


def _rule(mark: Mark) -> dict[str, Any]:
    kind = mark.findings[0].item.kind
    category, name, issue = CATEGORIES.get(kind, GRAMMAR)
    rule = mark.explanation
    return {
        "id": (rule.rule if rule else f"{mark.findings[0].decision.system}-{kind}").upper().replace("-", "_"),
        "description": rule.title if rule else kind,
        "issueType": issue,
        "category": {"id": category, "name": name},
    }


@dataclass(frozen=True, slots=True)
class RuleChoice:
    """Rules and categories that are switched on and off; with `only`, those that are on and no others."""

    on: frozenset[tuple[str, str]]
    off: frozenset[tuple[str, str]]
    only: bool

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> RuleChoice:
        on, off = (
            frozenset((which, name) for which in WHICH for name in parameters.get(f"{word}{which}", "").split(","))
            for word in ("enabled", "disabled")
        )
        return cls(on=on, off=off, only=parameters.get("enabledOnly") == "true")

    def takes(self, rule: Mapping[str, Any]) -> bool:
        names = set(zip(WHICH, (str(rule["id"]), str(rule["category"]["id"])), strict=True))
        return bool(names & self.on) or not (names & self.off or self.only)


def _answer(language: str, matches: list[dict[str, Any]], feedback: Feedback, document: Document) -> dict[str, Any]:
    named = {"name": VARIANTS[language], "code": language}
    places = (document.place_of(span) for span in sentence_spans(document.text) if len(span))
    return {
        "software": {
            "name": "grater",
            "version": __version__,
            "buildDate": "",
            "apiVersion": API_VERSION,
            "premium": False,
            "premiumHint": "",
            "status": feedback.note,
        },
        "warnings": {"incompleteResults": False},
        "language": {**named, "detectedLanguage": {**named, "confidence": 1.0, "source": "grater"}},
        "matches": matches,
        "sentenceRanges": [[start, start + length] for start, length in places],
    }
