"""Check my writing, at `/check`: a text in, marks with reasons out, each to be accepted or rejected.

Nobody logs in, and nothing is stored: the page carries the text and the answers, and every request checks the text
anew.  Only *Send my answers*, with the box ticked, keeps them (`grater.annotate.study.writing`).  The page works
without scripts; with them a file can be dropped on it, and accepted changes show at once.  A server that is too busy
answers with the same page: text and answers stand on it, to be sent again.

Whether checks are open to the public is said by the start of the server, or by an owner of the study on a page of
their own; what nobody has opened is refused as if it were not there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass

from fastapi import APIRouter
from starlette.datastructures import UploadFile
from starlette.responses import Response

from grater.annotate.study.limits import LONGEST
from grater.annotate.study.writing import ACCEPT, CONSENT, LABELS, Public, changed, keep, open_to_public, public_pages
from grater.annotate.web.context import Context, RequestContext
from grater.annotate.web.errors import lines_of
from grater.detect.feedback import Feedback
from grater.detect.marks import Mark, TextChange, advice, change, source, why
from grater.errors import BadInput, NotFound, OutOfTime, Problem, StoreBusy, StoreFull, TooBusy, UsageError

router = APIRouter()

TOO_OFTEN = "Too many texts from this address; wait a minute and try again."
NOTHING = "Nothing to check yet: paste or type a text, or choose a file."
NO_CONSENT = "Nothing was saved. To let us keep your text and answers, tick the box first."
LATER = "The server is too busy at the moment, and nothing was saved. Wait a little, then send it again."
UNAVAILABLE = (StoreBusy, StoreFull, OutOfTime)
ANSWER = "mark-"


@dataclass(frozen=True, slots=True)
class MarkNote:
    """A mark as the page shows it: the words, what they become, and what is said about it."""

    number: int
    item_id: str
    words: str
    better: str
    advice: str
    why: str
    source: str
    title: str = ""
    wrong: str = ""
    right: str = ""
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of the text, with its note where it is marked."""

    text: str
    note: MarkNote | None = None


@router.get("/check")
def check_page(context: Context) -> Response:
    require_open(context, "check_page")
    return _page(context, text="")


@router.post("/check")
def check(context: Context) -> Response:
    """The text with its marks, after the accepted changes if any came along."""
    return _answer(context, _checked)


@router.post("/check/keep")
def keep_answers(context: Context) -> Response:
    """Store the text and the answers, with the writer's consent."""
    return _answer(context, _kept)


def _answer(context: RequestContext, work: Callable[[RequestContext, str], Response]) -> Response:
    """What comes of a text; one that cannot be checked comes back with the reason and with its answers."""
    text = context.text("text")
    try:
        require_open(context, "check_page")
        text = _text(context)
        return work(context, text)
    except (BadInput, UsageError) as error:
        status, problems = 422, lines_of(error)
    except TooBusy as error:
        status, problems = 503, [str(error)]
    except UNAVAILABLE:
        status, problems = 503, [LATER]
    except _TooOften:
        status, problems = 429, [TOO_OFTEN]
    return _page(context, text=text, answers=_answers(context), problems=problems, status=status)


def _checked(context: RequestContext, text: str) -> Response:
    feedback, answers = _feedback(context, text), _answers(context)
    accepted = [flag for flag in feedback.flags if answers.get(flag.item.item_id) == ACCEPT]
    if accepted:
        feedback = context.server.proofreader.check(changed(feedback.essay.text, accepted))
    return _page(context, text=feedback.essay.text, feedback=feedback)


def _kept(context: RequestContext, text: str) -> Response:
    """What is not kept stays on the page, with its answers."""
    feedback, answers = _feedback(context, text), _answers(context)
    n_kept, problems, status = 0, [NO_CONSENT], 422
    if context.text("consent"):
        try:
            n_kept, problems, status = keep(context.store, feedback, answers), [], 200
        except UsageError as error:
            problems = lines_of(error)
        except UNAVAILABLE:
            problems, status = [LATER], 503
    return _page(
        context,
        text=feedback.essay.text,
        feedback=feedback,
        answers=answers,
        n_kept=n_kept,
        problems=problems,
        status=status,
    )


class _TooOften(Exception):
    pass


def _feedback(context: RequestContext, text: str) -> Feedback:
    if not text.strip():
        raise BadInput(Problem("form", NOTHING))
    if not context.server.checks.take(f"check {context.address}"):
        raise _TooOften
    return context.server.proofreader.check(text)


def _text(context: RequestContext) -> str:
    """What was typed, else what is in the file; browsers send line ends as two characters."""
    typed = context.form.get("text", "")
    file = context.form.get("file")
    if not (isinstance(typed, str) and typed.strip()) and isinstance(file, UploadFile):
        try:
            typed = file.file.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise BadInput(Problem("file", "expected plain text in UTF-8; save it as text (.txt) first")) from error
    return str(typed).replace("\r\n", "\n")


def _answers(context: RequestContext) -> dict[str, str]:
    return {
        name.removeprefix(ANSWER): value
        for name, value in context.form.multi_items()
        if name.startswith(ANSWER) and isinstance(value, str) and value in LABELS
    }


def _page(
    context: RequestContext,
    *,
    text: str,
    feedback: Feedback | None = None,
    answers: dict[str, str] | None = None,
    n_kept: int = 0,
    problems: list[str] | None = None,
    status: int = 200,
) -> Response:
    stretches = _stretches(feedback, answers or {}) if feedback else []
    return context.page(
        "check.html",
        status=status,
        text=text,
        feedback=feedback,
        stretches=stretches,
        notes=[stretch.note for stretch in stretches if stretch.note],
        unsent={} if feedback else answers or {},
        is_agreed=bool(context.text("consent")),
        problems=problems or [],
        n_kept=n_kept,
        longest=LONGEST["check.text"],
        consent=CONSENT,
    )


def _stretches(feedback: Feedback, answers: dict[str, str]) -> list[Stretch]:
    """The text cut at its marks; a change that touches the one before waits until that is made."""
    text, stretches, end, shown = feedback.essay.text, [], 0, set[str]()
    for mark in feedback.marks:
        made = change(text, mark.findings[0])
        if not made.replacements or made.span.start < end:
            continue
        note = _note(text, len(shown) + 1, mark, made, answers)
        shown.add(note.item_id)
        stretches += [Stretch(text[end : made.span.start]), Stretch(note.words, note)]
        end = made.span.end
    return [*stretches, Stretch(text[end:])]


def _note(text: str, number: int, mark: Mark, made: TextChange, answers: dict[str, str]) -> MarkNote:
    finding, rule = mark.findings[0], mark.explanation
    return MarkNote(
        number=number,
        item_id=finding.item.item_id,
        words=made.span.of(text),
        better=made.replacements[0],
        advice=advice(finding),
        why=why(mark),
        source=source(finding),
        title=rule.title if rule else "",
        wrong=rule.wrong if rule else "",
        right=rule.right if rule else "",
        answer=answers.get(finding.item.item_id, ""),
    )


# What is open to the public


def opened_at_start(context: RequestContext) -> Public:
    """What the command that started the server opened."""
    settings = context.server.settings
    return Public(check_page=settings.check_page, editors=settings.editors)


def require_open(context: RequestContext, name: str) -> None:
    """Refuse what nobody has opened, as if it were not there."""
    if not is_open(context, name):
        raise NotFound("There is no such page.")


def is_open(context: RequestContext, name: str) -> bool:
    """Whether an owner, or whoever started the server, has opened it."""
    if asdict(opened_at_start(context))[name]:
        return True
    with context.server.store.read() as tx:
        return bool(asdict(public_pages(tx))[name])


@router.get("/manage/public")
def public_page(context: Context) -> Response:
    return _public_page(context)


@router.post("/manage/public")
def set_public(context: Context) -> Response:
    """Open and close; what the start of the server opened keeps its own switch."""
    wanted = Public(check_page=bool(context.text("check_page")), editors=bool(context.text("editors")))
    with context.changing() as tx:
        open_to_public(tx, wanted, actor=context.person.person_id)
    return _public_page(context, is_saved=True)


def _public_page(context: RequestContext, *, is_saved: bool = False) -> Response:
    with context.server.store.read() as tx:
        chosen = public_pages(tx)
    shown = {
        "chosen": chosen,
        "at_start": opened_at_start(context),
        "check_link": context.server.settings.link("/check"),
        "editors_link": context.server.settings.link("/v2"),
        "most": context.server.settings.checks_a_minute,
        "is_saved": is_saved,
    }
    return context.page("manage_public.html", shown)
