"""A chat endpoint is asked through faults, within limits, and never twice for the same answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from grater.chat import Cache, Chat, Endpoint, LimitReached
from grater.errors import GraterError, UsageError
from tests.chat_server import ChatServer, serving

HELLO = [{"role": "user", "content": "Say hello."}]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving(lambda _: "hello") as running:
        yield running


class Waits:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def clock(self) -> float:
        return sum(self.slept)


def chat_with(server: ChatServer, cache: Path, waits: Waits | None = None, **settings: Any) -> Chat:
    waits = waits or Waits()
    endpoint = Endpoint(url=server.url, model="tiny", **settings)
    return Chat(endpoint, Cache(cache), sleep=waits.sleep, clock=waits.clock)


def test_the_request_is_the_protocols(server: ChatServer, tmp_path: Path) -> None:
    assert chat_with(server, tmp_path / "c", key="secret").ask(HELLO) == "hello"
    [asked] = server.requests
    assert (asked["model"], asked["messages"], asked["temperature"]) == ("tiny", HELLO, 0.0)
    assert asked["response_format"] == {"type": "json_object"}
    assert server.headers[0]["Authorization"] == "Bearer secret"
    assert "secret" not in (tmp_path / "c").read_text("utf-8")
    assert "secret" not in repr(Endpoint(url="http://localhost", model="m", key="secret"))


@pytest.mark.parametrize(
    ("faults", "slept"),
    [
        (["429 after 7"], [7.0]),
        (["500", "503"], [1.0, 2.0]),
        (["malformed"], [1.0]),
        (["cut"], [1.0]),
        (["no response_format"], [0.0]),
        (["429 after 9999"], [120.0]),
    ],
)
def test_a_fault_is_waited_out(server: ChatServer, tmp_path: Path, faults: list[str], slept: list[float]) -> None:
    server.faults = list(faults)
    waits = Waits()
    assert chat_with(server, tmp_path / "c", waits).ask(HELLO) == "hello"
    assert waits.slept == slept
    assert len(server.requests) == len(faults) + 1


def test_silence_is_a_fault_given_up_after_all_retries_and_dates_are_understood(
    server: ChatServer, tmp_path: Path
) -> None:
    server.faults = [f"429 after {format_datetime(datetime.now(UTC) + timedelta(seconds=50), usegmt=True)}"]
    waits = Waits()
    chat_with(server, tmp_path / "c", waits).ask(HELLO)
    assert 40 < waits.slept[0] <= 50
    server.faults = ["500"] * 3
    with pytest.raises(GraterError, match=r"status 500 trouble; tried 3 times"):
        chat_with(server, tmp_path / "d", retries=2).ask(HELLO)
    server.faults = ["slow"]
    assert chat_with(server, tmp_path / "e", timeout=3).ask(HELLO) == "hello"


@pytest.mark.parametrize("fault", ["401", "404", "moved"])
def test_a_refusal_is_not_repeated(server: ChatServer, tmp_path: Path, fault: str) -> None:
    server.faults = [fault]
    with pytest.raises(GraterError, match=r"status (401|404|302)"):
        chat_with(server, tmp_path / "c", key="secret").ask(HELLO)
    assert len(server.requests) == 1


def test_the_same_question_is_paid_once_even_after_a_kill(server: ChatServer, tmp_path: Path) -> None:
    chat_with(server, tmp_path / "c").ask(HELLO)
    with (tmp_path / "c").open("a", encoding="utf-8") as stream:
        stream.write('{"key": "cut sho')  # the line that was being written
    again = chat_with(server, tmp_path / "c")
    assert again.ask(HELLO) == "hello"
    assert len(server.requests) == 1
    again.ask(HELLO, sample=1)
    assert len(server.requests) == 2
    kept = [json.loads(line) for line in (tmp_path / "c").read_text("utf-8").splitlines() if line.endswith("}")]
    assert len(kept) == 2
    assert Cache(tmp_path / "c").spent.tokens == 220


def test_requests_keep_their_pace(server: ChatServer, tmp_path: Path) -> None:
    waits = Waits()
    chat = chat_with(server, tmp_path / "c", waits, per_minute=30)
    for sample in range(3):
        chat.ask(HELLO, sample=sample)
    assert waits.slept == [2.0, 2.0]


def test_the_limit_of_tokens_holds_and_tokens_are_estimated_without_usage(server: ChatServer, tmp_path: Path) -> None:
    chat = chat_with(server, tmp_path / "c", most_tokens=400, max_tokens=50)
    for sample in range(3):  # 110 tokens each; a fourth could take 150
        chat.ask(HELLO, sample=sample)
    with pytest.raises(LimitReached, match=r"330 tokens used, .* the limit of 400 is reached"):
        chat.ask(HELLO, sample=3)
    assert chat.cache.spent.tokens == 330
    assert chat.ask(HELLO) == "hello", "what is known costs nothing"
    server.usage = None
    chat = chat_with(server, tmp_path / "d")
    chat.ask(HELLO)
    assert chat.cache.spent.tokens_in > 0
    assert chat.cache.spent.tokens_out == 2


def test_the_limit_of_money_holds_over_runs(server: ChatServer, tmp_path: Path) -> None:
    prices: dict[str, Any] = {"price_in": 1000.0, "price_out": 10_000.0, "most_cost": 0.45, "max_tokens": 10}
    chat_with(server, tmp_path / "c", **prices).ask(HELLO)  # 100 in, 10 out: .10 + .10
    chat = chat_with(server, tmp_path / "c", **prices)
    assert chat.cost == pytest.approx(0.2)
    chat.ask(HELLO, sample=1)
    with pytest.raises(LimitReached):
        chat.ask(HELLO, sample=2)


def test_a_key_goes_over_https_only(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="over https only"):
        Chat(Endpoint(model="m", url="http://example.org/v1", key="k"), Cache(tmp_path / "c"))
