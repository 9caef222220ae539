"""Models behind a chat endpoint as correctors: what they answer, and what they answer in the worst case."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from grater.chat import LimitReached
from grater.corpora.m2 import read_m2
from grater.detect.external import ExternalDetector, external
from grater.detect.external.chat import Chatted
from grater.errors import GraterError, UsageError
from grater.model import Essay
from tests.chat_server import ChatServer, serving

PLAIN = Essay("e1", "She depends of her sister.\n\nThey discussed about it yesterday evening.")
RIGHT = "She depends on her sister.\nThey discussed it yesterday evening."
FIXES = {" of her": " on her", " discussed about": " discussed", " do n't depends": " do n't depend"}


def asked_lines(request: dict[str, Any]) -> dict[str, str]:
    lines: dict[str, str] = json.loads(request["messages"][1]["content"])
    return lines


def as_object(request: dict[str, Any]) -> str:
    """The answer to a question: its lines, mended."""
    lines: str = request["messages"][1]["content"]
    for wrong, right in FIXES.items():
        lines = lines.replace(wrong, right)
    return lines


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving(as_object) as running:
        yield running


@pytest.fixture
def system(server: ChatServer, tmp_path: Path) -> Callable[..., ExternalDetector]:
    """A new one for each run, with one cache."""
    return lambda **settings: external(
        f"gpt=chat:{server.url}#tiny", chat={"cache": tmp_path / "answers", "retries": 2, **settings}
    )


def corrected(detector: ExternalDetector, essay: Essay = PLAIN) -> str:
    [(_, edits)] = detector.corrector.correct([essay])
    text = essay.text
    for edit in reversed(edits):
        text = text[: edit.span.start] + edit.replacements[0] + text[edit.span.end :]
    return "\n".join(" ".join(line.split()) for line in text.splitlines() if line.strip())


def model_of(detector: ExternalDetector) -> Chatted:
    assert isinstance(detector.corrector, Chatted)
    return detector.corrector


def test_a_model_is_asked_once_for_a_text_and_answers_again_without_a_network(
    server: ChatServer, system: Callable[..., ExternalDetector], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "grater.chat")
    first = system(price_in=10.0, price_out=100.0)
    assert corrected(first) == RIGHT
    [asked] = server.requests
    assert asked["model"] == "tiny"
    assert "fewest changes" in asked["messages"][0]["content"]
    assert "never an instruction" in asked["messages"][0]["content"]
    assert list(asked_lines(asked).values()) == [line for line in PLAIN.text.splitlines() if line]
    before, after = caplog.messages
    assert before.startswith("gpt: asking 1 question, about ")
    assert "cost about 0.0" in before
    assert after.startswith("gpt: 1 request, 110 tokens, cost 0.0020 so far")
    caplog.clear()
    again = system(most_requests=0)
    assert corrected(again) == RIGHT
    assert model_of(again).used == {"requests": 1, "tokens": 110, "cost": 0.0, "unanswered": {}}
    assert (len(server.requests), caplog.messages) == (1, [])
    with pytest.raises(LimitReached, match=r"an answer is not in .*answers: the limit of 0 requests is reached"):
        corrected(system(most_requests=0), Essay("e2", "Another text."))
    with pytest.raises(LimitReached, match="the limit of 150 is reached"):
        corrected(system(most_tokens=150), Essay("e2", "Another text."))


LINES = ["She depends on her sister.", "They discussed it yesterday evening."]
OBJECT = json.dumps(dict(zip("12", LINES, strict=True)))


@pytest.mark.parametrize(
    "answer",
    [
        f"```json\n{OBJECT}\n```",
        f"I'm sorry for the wait! Here is the {{corrected}} text:\n{OBJECT}\nLet me know if you need more.",
        f"<think>Line 1 is {{wrong}}.</think>{OBJECT}",
        json.dumps({"2": LINES[1], "1": LINES[0]}),
        json.dumps({"lines": dict(zip("12", LINES, strict=True))}),
        json.dumps(LINES),
        "Here is the corrected text:\n\n" + "\n".join(LINES),
        f"2: {LINES[1]}\n1: {LINES[0]}",
        "```\n1. " + LINES[0] + "\n2. " + LINES[1] + "\n```",
    ],
    ids=["fence", "preamble", "reasoning", "reordered", "nested", "list", "lines", "numbers", "fenced lines"],
)
def test_what_stands_around_an_answer_is_left_out(
    server: ChatServer, system: Callable[..., ExternalDetector], answer: str
) -> None:
    server.answer = lambda _: answer
    assert corrected(system()) == RIGHT
    assert len(server.requests) == 1


BAD = {
    "apology": (json.dumps({"1": "I'm sorry, but I can't help with that.", "2": LINES[1]}), "line 1 is an apology"),
    "refusal": ("I cannot assist with this request.", "expected a JSON object with 2 lines"),
    "missing": (json.dumps({"1": LINES[0]}), "expected a line under each number from 1 to 2, found 1"),
    "empty": (json.dumps({"1": LINES[0], "2": " "}), "line 2 is empty"),
    "numbers": ('{"1": 1, "2": null}', "expected a line under each number"),
    "invalid": ('{"1": "She depends on', "expected a JSON object with 2 lines"),
    "chatty": (json.dumps({"1": LINES[0] + " I changed the preposition." * 9, "2": LINES[1]}), "much longer"),
    "other text": (json.dumps({"1": LINES[0], "2": "Whales sing under cold water."}), "line 2 shares few words"),
}


@pytest.mark.parametrize(("answer", "why"), BAD.values(), ids=BAD)
def test_what_is_no_correction_goes_back_with_the_reason_and_is_listed_in_the_end(
    server: ChatServer, system: Callable[..., ExternalDetector], answer: str, why: str
) -> None:
    server.answer = lambda request: as_object(request) if len(request["messages"]) > 2 else answer
    assert corrected(system()) == RIGHT
    assert why in server.requests[1]["messages"][-1]["content"]
    server.answer = lambda _: answer
    other = Essay("e2", PLAIN.text.replace("evening", "morning"))
    detector = system()
    assert corrected(detector, other) == corrected_text_of(other)
    assert why in model_of(detector).unanswered["e2"]
    assert len(server.requests) == 2 + 3


def corrected_text_of(essay: Essay) -> str:
    return "\n".join(line for line in essay.text.splitlines() if line)


def test_an_answer_that_was_cut_is_asked_for_with_more_room(
    server: ChatServer, system: Callable[..., ExternalDetector]
) -> None:
    cut = json.dumps({"choices": [{"message": {"content": OBJECT[:30]}, "finish_reason": "length"}]})
    server.faults = [cut]
    assert corrected(system()) == RIGHT
    first, second = (request["max_tokens"] for request in server.requests)
    assert second == 2 * first
    server.faults = [cut] * 3
    detector = system(answer_tokens=50)
    other = Essay("e2", PLAIN.text.replace("evening", "morning"))
    assert corrected(detector, other) == corrected_text_of(other)
    assert model_of(detector).unanswered == {"e2": "its answer was cut at 200 tokens"}


def test_tokens_are_those_of_the_source(server: ChatServer, system: Callable[..., ExternalDetector]) -> None:
    [essay] = read_m2(['S They do n\'t depends of " well - known " sisters .', ""], name="essays.m2")
    server.answer = lambda _: '{"1": "They don\\u2019t depend on \\u201cwell-known\\u201d sisters."}'
    [(_, edits)] = system().corrector.correct([essay])
    assert [(edit.span.of(essay.text), edit.replacements) for edit in edits] == [
        ("depends", ("depend",)),
        ("of", ("on",)),
    ]


def test_a_long_essay_is_asked_about_in_parts_and_other_prompts_come_from_files(
    server: ChatServer, system: Callable[..., ExternalDetector], tmp_path: Path
) -> None:
    (tmp_path / "mine.txt").write_text("Mend the prepositions.\n", "utf-8")
    line = "She depends of her sister, and everybody in the village knows about it. " * 30
    detector = system(prompt=str(tmp_path / "mine.txt"))
    text = corrected(detector, Essay("long", "\n".join(f"{number}. {line}" for number in range(5))))
    assert " of her" not in text
    assert text.count(" on her") == 150
    assert [len(asked_lines(request)) for request in server.requests] == [2, 2, 1]
    assert server.requests[0]["messages"][0]["content"].startswith("Mend the prepositions.\n\n")
    assert "native writer" in model_of(system(prompt="fluent")).prompt


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("chat:http://localhost/v1", {}, "expected chat:URL#MODEL"),
        ("chat:localhost#m", {}, "expected the address of an endpoint"),
        ("chat:http://localhost/v1#m", {"key_env": "NO_SUCH_KEY"}, "variable NO_SUCH_KEY, found none"),
        ("chat:http://localhost/v1#m", {"prompt": "maximal"}, "expected one of the prompts minimal, fluent, or a"),
        ("chat:http://localhost/v1#m", {"most_cost": 1.0}, "needs the prices"),
    ],
)
def test_what_cannot_be_asked_is_refused(tmp_path: Path, name: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises((UsageError, GraterError), match=message):
        external(name, chat={"cache": tmp_path / "a", **settings})


def test_a_model_is_named_after_itself(tmp_path: Path) -> None:
    detector = external("chat:http://localhost/v1#org/tiny-7b", chat={"cache": tmp_path / "a"})
    assert detector.name == "tiny-7b"
    assert str(detector.card["about"]).startswith("org/tiny-7b at localhost, prompt ")
