"""Checks of anybody's writing: a page for people, LanguageTool's protocol for editors; off unless switched on.

At `/check` a text goes in and marks with reasons come out, each to be accepted or rejected.  Nobody logs in, and
nothing is stored: the page carries the text and the answers, and every request checks the text anew.  Only *Send my
answers*, with the box ticked, keeps them (`grater.annotate.writing`).  With scripts the marks come while somebody
types: `/check/marks` gets the paragraphs that changed.  Without them a button sends the text, and a server that is
too busy answers with the same page: text and answers stand on it, to be sent again.

Whether checks are open to the public is set when the server starts, or by an owner of the study on a page of
their own; what nobody has opened is refused as if it were not there.

`/v2/check`, `/v2/languages`, `/v2/configinfo`, `/v2/maxtextlength` and `/v2/info` as LanguageTool has them, so that
its plug-ins for browsers, offices and editors can ask grater instead: parameters in a form (POST) or in the address
(GET); offsets and lengths in UTF-16 units, as Java counts; errors as one line of text with status 400, 413 or 429.
`data` is text with markup: its offsets count the markup as well.  Rules can be chosen by id and by category;
dictionaries, the mother tongue and the picky level have no meaning here.  There are no rules on whole texts, so that
`mode=textLevelOnly` finds nothing.  `language=auto` marks nothing in a text that is not English.

A match always covers some characters: a missing word is marked on the word that follows, and a word that is to go
takes its space with it (`grater.detect.marks.change`).  Requests are anonymous: no cookie is read, nothing is stored,
and any page may ask, as it may ask LanguageTool's own server.

The cost of one address is limited (P16): letters are counted, not requests; texts are checked in a process that can
be killed (`proofreading`); a reply has a number of marks by the length of the text, each with few words around it.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from fastapi import Depends
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse, Response

from grater import __version__
from grater.annotate.proofreading import LONGEST
from grater.annotate.requests import require_length
from grater.annotate.web.context import CHANGE_BYTES, Context, RequestContext, Routes
from grater.annotate.web.errors import lines_of
from grater.annotate.web.rendering import is_local
from grater.annotate.web.security import ANYBODY, EDITORS
from grater.annotate.writing import ACCEPT, CONSENT, LABELS, changed, keep, public_pages
from grater.corpora.text.lemmas import english_share
from grater.corpora.text.prepositions import PREPOSITIONS
from grater.corpora.text.sentences import sentence_spans
from grater.detect.explanations import BY_KIND
from grater.detect.feedback import Feedback
from grater.detect.marks import Mark, TextChange, advice, change, source, why
from grater.errors import BadInput, NotFound, OutOfTime, Problem, StoreBusy, StoreFull, TooBusy, UsageError
from grater.model import Json, Span


def require_open(context: RequestContext, name: str) -> None:
    """Answer as if the page did not exist where nobody has opened it."""
    if not is_open(context, name):
        raise NotFound("There is no such page.")


def editors_are_let_in(context: Context) -> None:
    require_open(context, "editors")


def is_open(context: RequestContext, name: str) -> bool:
    """Whether an owner, or the command that started the server, has opened the page."""
    if getattr(context.server.settings, name):
        return True
    with context.server.store.glance() as tx:
        return bool(getattr(public_pages(tx), name))


pages = Routes(ANYBODY)
for_editors = Routes(ANYBODY, prefix=EDITORS, dependencies=[Depends(editors_are_let_in)])

TOO_OFTEN = "Too much text from this address; wait {seconds} seconds and try again."
TOO_DENSE = "This text has too many prepositions and articles to be checked at once; send a part of it."
LEAST_LETTERS = 200
"""The letters that a shorter text counts as."""
PLACES, LETTERS_A_PLACE = re.compile(rf"\b(?:{'|'.join(PREPOSITIONS)}|an?|the)\b", re.IGNORECASE), 10
"""What systems look at, and the letters that each counts as at least.  Prose has one every 17 letters; a text of
nothing else takes two and a half times as long."""
LOOPBACK = "127.0.0.1"
NOTHING = "Nothing to check yet: paste or type a text, or choose a file."
NO_CONSENT = "Nothing was saved. To let us keep your text and answers, tick the box first."
LATER = "The server is too busy at the moment, and nothing was saved. Wait a little, then send it again."
ANSWER = "mark-"


@pages.get("/check")
def check_page(context: Context) -> Response:
    require_open(context, "check_page")
    return _page(context, text="")


@pages.post("/check")
def check(context: Context) -> Response:
    """The text with its marks, after the accepted changes if any came along."""
    return _answer(context, _applied)


@pages.post("/check/marks")
def marks_of_changed(context: Context) -> Response:
    """The marks of changed paragraphs, for the page that shows them in the text; places in UTF-16 units."""
    require_open(context, "check_page")
    text, found, at = _sent_text(context), list[Shown](), 0
    feedback = _feedback(context, text)
    for words, note in _stretches(text, marks_of(feedback)[0], {}):
        end = at + units(words)
        if note:
            example = [note["rule"].wrong, note["rule"].right] if note["rule"] and note["rule"].wrong else []
            found.append({**note, "rule": example, "words": words, "start": at, "end": end})
        at = end
    return JSONResponse({"marks": found})


@pages.post("/check/keep")
def keep_answers(context: Context) -> Response:
    return _answer(context, _kept)


Shown: TypeAlias = dict[str, Any]
"""What the page shows: `text`, `feedback`, `answers` by item, `n_kept`, `problems`."""


def _answer(context: RequestContext, work: Callable[[RequestContext, Feedback, dict[str, str]], Shown]) -> Response:
    """The result for a text; if anything goes wrong, the text and its answers stay on the page."""
    answers = {
        name.removeprefix(ANSWER): value
        for name, value in context.form.multi_items()
        if name.startswith(ANSWER) and isinstance(value, str) and value in LABELS
    }
    shown: Shown = {"text": context.text("text"), "answers": answers}
    status, problem = 200, list[str]()
    try:
        require_open(context, "check_page")
        shown["text"] = text = _sent_text(context)
        shown["feedback"] = feedback = _feedback(context, text)
        shown |= work(context, feedback, answers)
    except (BadInput, UsageError) as error:
        status, problem = 422, lines_of(error)
    except TooBusy as error:
        status, problem = 503, [str(error)]
    except (StoreBusy, StoreFull, OutOfTime):
        status, problem = 503, [LATER]
    except HTTPException as error:  # too much text
        status, problem = error.status_code, [error.detail]
    response = _page(context, **shown, problems=problem, status=status)
    if status in (429, 503):
        response.headers["retry-after"] = "60" if status == 429 else "5"
    return response


def _sent_text(context: RequestContext) -> str:
    """The typed text, else that of the file; browsers send line ends as two characters."""
    typed, file = context.form.get("text", ""), context.form.get("file")
    if not (isinstance(typed, str) and typed.strip()) and isinstance(file, UploadFile):
        try:
            typed = file.file.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise BadInput(Problem("file", "expected plain text in UTF-8; save it as text (.txt) first")) from error
    if not str(typed).strip():
        raise BadInput(Problem("form", NOTHING))
    return str(typed).replace("\r\n", "\n")


def _applied(context: RequestContext, feedback: Feedback, answers: dict[str, str]) -> Shown:
    accepted = [flag for flag in feedback.flags if answers.get(flag.item.item_id) == ACCEPT]
    if accepted:
        feedback = _feedback(context, changed(feedback.essay.text, accepted))
    return {"text": feedback.essay.text, "feedback": feedback, "answers": {}}


def _kept(context: RequestContext, feedback: Feedback, answers: dict[str, str]) -> Shown:
    if not context.text("consent"):
        raise UsageError(NO_CONSENT)
    changes, n_bytes = context.server.changes, len(feedback.essay.text.encode()) + CHANGE_BYTES * len(answers)
    if not changes.take(context.address, amount=min(changes.most, n_bytes)):
        raise TooBusy(LATER)
    return {"n_kept": keep(context.store, feedback, answers)}


def _feedback(context: RequestContext, text: str) -> Feedback:
    require_length("text", text, LONGEST)
    _take_letters(context, text)
    return context.server.proofreader.check(text)


def _take_letters(context: RequestContext, text: str) -> None:
    """Count the letters of a text for the person who is logged in, or for the address, before it is looked at.

    They do not count where somebody serves their own editor: on this machine, for this machine.
    """
    settings, who = context.server.settings, context.visitor.person_id if context.visitor else context.address
    if who == LOOPBACK and is_local(settings.base_url) and not settings.proxies:
        return
    checks, n = context.server.checks, max(LEAST_LETTERS, len(text))
    n_counted = max(n, LETTERS_A_PLACE * len(PLACES.findall(text)))
    if n <= checks.most < n_counted:
        raise HTTPException(413, TOO_DENSE)
    if not checks.take(who, amount=n_counted):
        seconds = checks.seconds_until(who, n_counted)
        raise HTTPException(429, TOO_OFTEN.format(seconds=seconds), {"retry-after": str(seconds)})


def marks_of(feedback: Feedback) -> tuple[Sequence[Mark], bool]:
    """The marks that a reply has room for, and whether that is all of them; no others are explained."""
    spans = list(dict.fromkeys(flag.item.span for flag in feedback.flags))
    shown = frozenset(spans[: 20 + len(feedback.essay.text) // 40])
    flags = tuple(flag for flag in feedback.flags if flag.item.span in shown)
    return replace(feedback, flags=flags).marks, len(shown) == len(spans)


def _page(context: RequestContext, *, feedback: Feedback | None = None, status: int = 200, **shown: Any) -> Response:
    answers = shown.pop("answers", {})
    marks, has_all = marks_of(feedback) if feedback else ((), True)
    stretches = _stretches(feedback.essay.text, marks, answers) if feedback else []
    on_page = {
        "feedback": feedback,
        "stretches": stretches,
        "notes": [note for _, note in stretches if note],
        "has_all": has_all,
        "unsent": {} if feedback else answers,
        "is_agreed": bool(context.text("consent")),
        "longest": LONGEST,
        "consent": CONSENT,
    }
    return context.page("check.html", {"problems": [], "n_kept": 0, **on_page, **shown}, status=status)


def _stretches(text: str, marks: Sequence[Mark], answers: Mapping[str, str]) -> list[tuple[str, Shown | None]]:
    """The text cut at its marks, with their notes; a change that touches the one before waits until that is made."""
    stretches, end = list[tuple[str, Shown | None]](), 0
    for mark in marks:
        finding, rule, made = mark.findings[0], mark.explanation, change(text, mark.findings[0])
        if not made.replacements or made.span.start < end:
            continue
        note = {
            "number": len(stretches) // 2 + 1,
            "item_id": finding.item.item_id,
            "better": made.replacements[0],
            "advice": advice(finding),
            "why": why(mark),
            "source": source(finding),
            "rule": rule,
            "answer": answers.get(finding.item.item_id, ""),
        }
        stretches += [(text[end : made.span.start], None), (made.span.of(text), note)]
        end = made.span.end
    return [*stretches, (text[end:], None)]


# LanguageTool's protocol

VARIANTS = {
    "en": "English",
    "en-AU": "English (Australian)",
    "en-CA": "English (Canadian)",
    "en-GB": "English (GB)",
    "en-NZ": "English (New Zealand)",
    "en-US": "English (US)",
    "en-ZA": "English (South African)",
}
AUTO, TEXT_LEVEL_ONLY = "auto", "textLevelOnly"
UNKNOWN_LANGUAGE = {"name": "not English", "code": "zz"}
"""The code is LanguageTool's for a text in no language that it checks."""

SOFTWARE: Mapping[str, Json] = {
    "name": "grater",
    "version": __version__,
    "buildDate": "",
    "apiVersion": 1,
    "premium": False,
    "premiumHint": "",
    "status": "",
}
AROUND = 40
"""Characters of the text on each side of a match in its context."""

LONGEST_SENTENCE, MOST_REPLACEMENTS = 300, 10
"""In a longer sentence, a match has only the part around it: otherwise each would repeat a text without a full
stop."""

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
CONFIG_KEYS = ("categoryId", "categoryName", "locQualityIssueType")
"""Category, its name and the type of issue (ITS 2.0) by the kind of a mark, with LanguageTool's names."""

ALLOW = {"access-control-allow-origin": "*"}
PLANE = 0xFFFF


@for_editors.get("/languages")
def languages() -> Response:
    known = [{"name": name, "code": "en", "longCode": code} for code, name in VARIANTS.items()]
    return JSONResponse(known, headers=ALLOW)


@for_editors.api_route("/info", methods=["GET", "POST"])
def info() -> Response:
    return JSONResponse({"software": SOFTWARE}, headers=ALLOW)


@for_editors.api_route("/maxtextlength", methods=["GET", "POST"])
def most_letters() -> Response:
    return PlainTextResponse(str(LONGEST), headers=ALLOW)


@for_editors.api_route("/configinfo", methods=["GET", "POST"])
def rules_for_editor() -> Response:
    """The rules by id, which an office program lists so that a writer can switch them off."""
    rules = {
        _rule_id(rule.name): {
            "ruleId": _rule_id(rule.name),
            "description": rule.title,
            **dict(zip(CONFIG_KEYS, CATEGORIES.get(kind, GRAMMAR), strict=True)),
        }
        for kind, of_kind in BY_KIND.items()
        for rule in of_kind
    }
    parameter = {"maxTextLength": LONGEST}
    return JSONResponse({"software": SOFTWARE, "parameter": parameter, "rules": list(rules.values())}, headers=ALLOW)


@for_editors.api_route("/check", methods=["GET", "POST"])
def check_for_editor(context: Context) -> Response:
    parameters = {**context.request.query_params, **context.first_values()}
    language = _language(parameters)
    # What was sent, as text or as text with markup; more than may be checked is refused before it is looked at.
    if "text" in parameters:
        pieces: Pieces = [(parameters["text"], None)]
    elif "data" in parameters:
        pieces = _with_markup(parameters["data"])
    else:
        raise HTTPException(400, "Missing 'text' or 'data' parameter")
    text = "".join(sent if read_as is None else read_as for sent, read_as in pieces)
    if len(text) > LONGEST:
        raise HTTPException(
            413, f"Your text exceeds the limit of {LONGEST} characters (it's {len(text)} characters)."
        )
    _take_letters(context, text)
    document = of_pieces(pieces)
    english = english_share(document.text) if parameters["language"] == AUTO else 1.0
    is_checked = english >= 0.5 and parameters.get("mode") != TEXT_LEVEL_ONLY
    variant = "" if parameters["language"] in (AUTO, "en") else language
    feedback = context.server.proofreader.check(document.text if is_checked else "", variant)
    takes, (marks, has_all) = _taker(parameters), marks_of(feedback)
    matches = [match for match in _matches(marks, document) if takes(match["rule"])]
    named = {"name": VARIANTS[language], "code": language} if english >= 0.5 else UNKNOWN_LANGUAGE
    sureness = round(max(english, 1 - english), 2)
    places = (document.place_of(span) for span in sentence_spans(document.text) if len(span))
    reply = {
        "software": {**SOFTWARE, "status": feedback.note},
        "warnings": {"incompleteResults": not has_all},
        "language": {**named, "detectedLanguage": {**named, "confidence": sureness, "source": "grater"}},
        "matches": matches,
        "sentenceRanges": [[start, start + length] for start, length in places],
    }
    return JSONResponse(reply, headers=ALLOW)


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
"""The text as sent, and as read; None where that is the same."""


def _with_markup(data: str) -> Pieces:
    try:
        pieces: Pieces = [
            (str(piece["text"]), None)
            if "text" in piece
            else (str(piece["markup"]), str(piece.get("interpretAs", "")))
            for piece in json.loads(data)["annotation"]
        ]
        for piece in pieces:
            "".join(filter(None, piece)).encode()  # half a surrogate pair is no text
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        wanted = '{"annotation": [{"text": "..."}, {"markup": "...", "interpretAs": "..."}]}'
        raise HTTPException(400, f"Expected 'data' as {wanted}") from error
    return pieces


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
            at += 1 + (ord(character) > PLANE)
            ends.append(at)
    return Document("".join(texts), starts, ends)


def units(text: str) -> int:
    """The length of a text in UTF-16 units."""
    return len(text) + sum(ord(character) > PLANE for character in text)


def _matches(marks: Iterable[Mark], document: Document) -> Iterator[dict[str, Any]]:
    text = document.text
    sentences = sentence_spans(text)
    starts = [span.start for span in sentences]
    for mark in marks:
        made = change(text, mark.findings[0])
        if not len(made.span):
            continue
        nearest = sentences[max(0, bisect_right(starts, made.span.start) - 1)]
        sentence = nearest if nearest.covers(made.span) else made.span
        if len(sentence) > LONGEST_SENTENCE:
            first = max(sentence.start, made.span.start - LONGEST_SENTENCE // 2)
            sentence = Span(first, min(sentence.end, first + LONGEST_SENTENCE))
        offset, length = document.place_of(made.span)
        yield {
            "message": f"{why(mark)} ({source(mark.findings[0])})",
            "shortMessage": mark.explanation.title if mark.explanation else "",
            "replacements": [{"value": value} for value in made.replacements[:MOST_REPLACEMENTS]],
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
    marked = Span(made.span.start, min(made.span.end, made.span.start + LONGEST_SENTENCE))
    start, end = max(0, marked.start - AROUND), marked.end + AROUND
    before, after = "..." * (start > 0), "..." * (end < len(text))
    words = " ".join(text[start:end].split("\n"))
    return {
        "text": f"{before}{words}{after}",
        "offset": units(before + text[start : marked.start]),
        "length": units(marked.of(text)),
    }


def _rule(mark: Mark) -> dict[str, Any]:
    kind = mark.findings[0].item.kind
    category, name, issue = CATEGORIES.get(kind, GRAMMAR)
    rule = mark.explanation
    return {
        "id": _rule_id(rule.rule if rule else f"{mark.findings[0].decision.system}-{kind}"),
        "description": rule.title if rule else kind,
        "issueType": issue,
        "category": {"id": category, "name": name},
    }


def _rule_id(name: str) -> str:
    return name.upper().replace("-", "_")


def _taker(parameters: Mapping[str, str]) -> Callable[[Mapping[str, Any]], bool]:
    """Whether a rule is on, by its id and its category; with `enabledOnly`, those that are on and no others."""
    names = (f"{word}{which}" for word in ("enabled", "disabled") for which in ("Rules", "Categories"))
    on_rules, on_categories, off_rules, off_categories = (
        frozenset(parameters.get(name, "").split(",")) for name in names
    )
    only = parameters.get("enabledOnly") in ("true", "yes")

    def takes(rule: Mapping[str, Any]) -> bool:
        name, category = rule["id"], rule["category"]["id"]
        is_off = only or name in off_rules or category in off_categories
        return name in on_rules or category in on_categories or not is_off

    return takes
