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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from grater import __version__
from grater.detect.feedback import Feedback
from grater.detect.marks import Mark, TextChange, change, source, why
from grater.errors import NotFound
from grater.model import Json, Span
from grater.server.context import Context, RequestContext
from grater.server.roles import EDITORS
from grater.study.limits import LONGEST
from grater.text.sentences import sentence_spans

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

ALLOW = {"access-control-allow-origin": "*"}
PLANE = 0xFFFF


@router.get(f"{EDITORS}/languages")
def languages(context: Context) -> Response:
    _require_open(context)
    known = [{"name": name, "code": "en", "longCode": code} for code, name in VARIANTS.items()]
    return JSONResponse(known, headers=ALLOW)


@router.get(f"{EDITORS}/check")
def check_by_address(context: Context) -> Response:
    return _check(context, dict(context.request.query_params))


@router.post(f"{EDITORS}/check")
def check_by_form(context: Context) -> Response:
    fields = {name: values[0] for name, values in context.fields().items()}
    return _check(context, {**context.request.query_params, **fields})


def _require_open(context: RequestContext) -> None:
    if not context.server.settings.editors:
        raise NotFound("There is no such page.")


def _check(context: RequestContext, parameters: Mapping[str, str]) -> Response:
    _require_open(context)
    language = _language(parameters)
    document = _document(parameters)
    if len(document.text) > LONGEST["check.text"]:
        most, n = LONGEST["check.text"], len(document.text)
        raise HTTPException(413, f"Your text exceeds the limit of {most} characters (it's {n} characters).")
    if not context.server.checks.take(f"check {context.address}"):
        raise HTTPException(429, "Too many requests from here; wait a minute, then try again.", {"retry-after": "60"})
    feedback = context.server.proofreader.check(document.text)
    matches = [match for match in _matches(feedback, document) if _is_wanted(match["rule"], parameters)]
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


def _document(parameters: Mapping[str, str]) -> Document:
    if "text" in parameters:
        return of_pieces([(parameters["text"], None)])
    if "data" not in parameters:
        raise HTTPException(400, "Missing 'text' or 'data' parameter")
    try:
        return of_pieces([_piece(piece) for piece in json.loads(parameters["data"])["annotation"]])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        wanted = '{"annotation": [{"text": "..."}, {"markup": "...", "interpretAs": "..."}]}'
        raise HTTPException(400, f"Expected 'data' as {wanted}") from error


def _piece(piece: Mapping[str, Any]) -> tuple[str, str | None]:
    """What was sent, and what it is read as; None where that is the same."""
    if "text" in piece:
        return str(piece["text"]), None
    return str(piece["markup"]), str(piece.get("interpretAs", ""))


def of_pieces(pieces: list[tuple[str, str | None]]) -> Document:
    """Pieces of text one after the other; all that a piece of markup is read as has the place of the markup."""
    text, starts, ends, at = "", list[int](), list[int](), 0
    for sent, read_as in pieces:
        if read_as is not None:
            end = at + units(sent)
            text, starts, ends = text + read_as, starts + [at] * len(read_as), ends + [end] * len(read_as)
            at = end
            continue
        text += sent
        for character in sent:
            starts.append(at)
            at += units(character)
            ends.append(at)
    return Document(text, starts, ends)


def units(text: str) -> int:
    """The length of a text in UTF-16 units."""
    return len(text) + sum(ord(character) > PLANE for character in text)


def _matches(feedback: Feedback, document: Document) -> Iterator[dict[str, Any]]:
    text = document.text
    sentences = sentence_spans(text)
    for mark in feedback.marks:
        made = change(text, mark.findings[0])
        if not len(made.span):
            continue
        sentence = next((span for span in sentences if span.covers(made.span)), made.span)
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


def _is_wanted(rule: Mapping[str, Any], parameters: Mapping[str, str]) -> bool:
    """Whether the rules and categories that are switched on or off let a match through."""
    names = {"Rules": str(rule["id"]), "Categories": str(rule["category"]["id"])}
    lists = {name: parameters.get(name, "").split(",") for name in ("enabledRules", "enabledCategories")}
    off = any(name in parameters.get(f"disabled{which}", "").split(",") for which, name in names.items())
    on = any(name in lists[f"enabled{which}"] for which, name in names.items())
    return on or not (off or parameters.get("enabledOnly") == "true")


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
