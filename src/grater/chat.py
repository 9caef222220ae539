"""A chat endpoint that speaks the OpenAI protocol: one question, one answer, within limits, never paid for twice.

`POST URL/chat/completions` with `model`, `messages`, `temperature`, `max_tokens`, `seed`, and `response_format` JSON,
each where the endpoint takes it.  Language models judge (`annotate.programs`) and correct (`detect.external.chat`)
through this door.  Every hosted service and every local server (llama.cpp, vLLM, Ollama) speaks it.  The
standard library sends it: one POST at a time needs no client of HTTP, and the core has none.

- **Retries.**  429, 408 and 5xx, a cut connection, a time-out and an answer that is not JSON are tried again, after
  the seconds of `Retry-After` or 1, 2, 4, ... of them; other statuses end the run with the endpoint's message.
- **Rate.**  Requests are spread out: at most `per_minute` of them.
- **Spending.**  Requests, tokens and money are counted as the endpoint reports them (by four characters a token where
  it does not), over all runs with one cache.  A request is not sent if its worst case would exceed a limit: the
  highest price per character so far, and the longest answer.
- **Cache.**  Answers lie in a file of JSON lines under the hash of what was asked: endpoint, model, messages,
  settings, number of the sample.  A killed run resumes where it was; a line that the kill cut short is
  ignored.  With at most 0 requests answers come from the file alone.
- **The key** goes into the header and nowhere else.  A redirect, which would carry it to another host, is refused;
  so is plain HTTP to another machine.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from hashlib import sha256
from http.client import HTTPException
from math import ceil
from pathlib import Path
from typing import Any, TypeAlias
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from grater.errors import GraterError, UsageError
from grater.files import complaining
from grater.model import Json
from grater.sheet import counted

Message: TypeAlias = Mapping[str, str]

PATH = "/chat/completions"
AGAIN = frozenset((408, 409, 425, 429, 500, 502, 503, 504, 529))
LONGEST_WAIT = 120.0
LONGEST_ANSWER = 4_000_000
"""Bytes of a reply that are read."""

OPTIONAL = ("response_format", "seed", "temperature", "max_tokens")
"""Parts of a request that some endpoints refuse; newer models want `max_completion_tokens` for the last."""

CHARACTERS_PER_TOKEN = 4
LOCAL = ("localhost", "127.0.0.1", "::1")


class LimitReached(GraterError):
    """The next request could exceed what may be spent."""


class Unanswered(GraterError):
    """The endpoint refused a request, or failed at it too often."""


class _Retry(Exception):
    """Something that may succeed next time, after `seconds` if the endpoint names them."""

    def __init__(self, what: str, seconds: float | None = None) -> None:
        super().__init__(what)
        self.seconds = seconds


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to ask and how; prices are for a million tokens, a limit of None is none.

    An address that cannot be asked, or would give the key away, is refused; so is a limit of money without prices.
    """

    url: str
    model: str
    key: str = field(default="", repr=False)
    temperature: float = 0.0
    max_tokens: int = 300
    timeout: float = 60.0
    retries: int = 5
    per_minute: float | None = None
    most_requests: int | None = None
    most_tokens: int | None = None
    most_cost: float | None = None
    price_in: float = 0.0
    price_out: float = 0.0

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"expected the address of an endpoint, as in https://HOST/v1, found {self.url[:80]!r}")
        if self.key and parts.scheme == "http" and parts.hostname not in LOCAL:
            raise UsageError(f"{parts.hostname}: a key is sent over https only, or to this machine")
        if self.most_cost is not None and not (self.price_in or self.price_out):
            raise UsageError("a cost limit needs the prices per million tokens, for input and output")

    @property
    def address(self) -> str:
        base = self.url.rstrip("/")
        return base if base.endswith(PATH) else base + PATH

    def cost(self, n_in: int, n_out: int) -> float:
        return (n_in * self.price_in + n_out * self.price_out) / 1e6


def endpoint_of(
    url: str, model: str, *, key_env: str = "", answer_tokens: int | None = None, **settings: Any
) -> Endpoint:
    """An endpoint by the options of a command; its key is in the environment and nowhere else."""
    key = os.environ.get(key_env, "") if key_env else ""
    if key_env and not key:
        raise UsageError(f"expected a key in the environment variable {key_env}, found none")
    longest = {} if answer_tokens is None else {"max_tokens": answer_tokens}
    return Endpoint(url=url, model=model, key=key, **longest, **settings)


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer; `is_cut` where it had no room for its end."""

    text: str
    is_cut: bool = False


@dataclass(slots=True)
class Spent:
    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out


class Cache:
    """Answers by the hash of their question, in a file that only grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.answers: dict[str, Reply] = {}
        self.spent = Spent()
        with complaining(path):
            lines = path.read_text("utf-8").splitlines() if path.exists() else []
        for line in lines:
            try:
                row = json.loads(line)
                reply = Reply(row["answer"], bool(row.get("cut")))
                self._note(row["key"], reply, int(row["in"]), int(row["out"]))
            except (ValueError, KeyError, TypeError):  # a line that a kill cut short
                continue

    def keep(self, key: str, reply: Reply, n_in: int, n_out: int) -> None:
        cut = {"cut": True} if reply.is_cut else {}
        row = json.dumps({"key": key, "in": n_in, "out": n_out, **cut, "answer": reply.text}, ensure_ascii=False)
        with complaining(self.path), self.path.open("ab+") as stream:
            if stream.tell():
                stream.seek(-1, 2)
                row = row if stream.read(1) == b"\n" else f"\n{row}"
            stream.write(f"{row}\n".encode())
        self._note(key, reply, n_in, n_out)

    def _note(self, key: str, reply: Reply, n_in: int, n_out: int) -> None:
        self.answers[key] = reply
        self.spent = Spent(self.spent.requests + 1, self.spent.tokens_in + n_in, self.spent.tokens_out + n_out)


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_args: Any, **_named: Any) -> None:
        return None


class Chat:
    """Asks an endpoint; `sleep` and `clock` come from outside, so that tests need not wait."""

    def __init__(
        self,
        endpoint: Endpoint,
        cache: Cache,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.endpoint, self.cache = endpoint, cache
        self.sleep, self.clock, self.tell = sleep, clock, tell
        self._refused: set[str] = set()
        self._opener = build_opener(_NoRedirects())
        self._last: float | None = None
        self._dearest = 0.0
        self._has_warned_of_cut = False

    @property
    def cost(self) -> float:
        return self.endpoint.cost(self.cache.spent.tokens_in, self.cache.spent.tokens_out)

    def ask(self, messages: Sequence[Message], *, sample: int = 0) -> str:
        """The answer to a conversation; the same question, as the same sample, is answered from the cache."""
        reply = self.reply(messages, sample=sample)
        if reply.is_cut and not self._has_warned_of_cut:
            self._has_warned_of_cut = True
            self.tell(f"an answer was cut at {self.endpoint.max_tokens:,} tokens; allow longer ones")
        return reply.text

    def reply(self, messages: Sequence[Message], *, sample: int = 0, max_tokens: int | None = None) -> Reply:
        """The same, with whether it is whole; `max_tokens` is for this answer alone."""
        longest = max_tokens or self.endpoint.max_tokens
        key = self._key(messages, sample, longest)
        if key not in self.cache.answers:
            self._require_means(messages, longest)
            answer, n_in, n_out = self._tried(messages, sample, longest)
            self.cache.keep(key, answer, n_in, n_out)
            self._dearest = max(self._dearest, n_in / max(_length(messages), 1))
        return self.cache.answers[key]

    def knows(self, messages: Sequence[Message], *, max_tokens: int) -> bool:
        """Whether the answer is in the cache."""
        return self._key(messages, 0, max_tokens) in self.cache.answers

    def _key(self, messages: Sequence[Message], sample: int, longest: int) -> str:
        of = [self.endpoint.address, self.endpoint.model, self.endpoint.temperature, longest, sample]
        return sha256(json.dumps([*of, list(map(dict, messages))], sort_keys=True).encode()).hexdigest()

    def _require_means(self, messages: Sequence[Message], longest: int) -> None:
        """Refuse a request whose worst case would exceed a limit."""
        spent, most = self.cache.spent, self.endpoint
        n_in, n_out = max(n_tokens(messages), ceil(self._dearest * _length(messages))), longest
        if most.most_requests is not None and spent.requests >= most.most_requests:
            raise LimitReached(
                f"an answer is not in {self.cache.path}: the limit of {counted(most.most_requests, 'request')} "
                "is reached"
            )
        if most.most_tokens is not None and spent.tokens + n_in + n_out > most.most_tokens:
            raise LimitReached(
                f"{spent.tokens:,} tokens used, and the next question may need {n_in + n_out:,}: "
                f"the limit of {most.most_tokens:,} is reached"
            )
        cost = most.cost(n_in, n_out)
        if most.most_cost is not None and self.cost + cost > most.most_cost:
            raise LimitReached(
                f"{self.cost:.4f} spent, and the next question may cost {cost:.4f}: "
                f"the limit of {most.most_cost:g} is reached"
            )

    def _tried(self, messages: Sequence[Message], sample: int, longest: int) -> tuple[Reply, int, int]:
        turn = 0
        while True:
            if self.endpoint.per_minute and self._last is not None:
                wait = 60 / self.endpoint.per_minute - (self.clock() - self._last)
                if wait > 0:
                    self.sleep(wait)
            self._last = self.clock()
            try:
                return self._read(self._post(messages, sample, longest), messages)
            except _Retry as trouble:
                turn += 1
                if turn > self.endpoint.retries:
                    raise Unanswered(
                        f"{self.endpoint.address}: {trouble}; tried {counted(turn, 'time')}"
                    ) from trouble
                wait = min(trouble.seconds if trouble.seconds is not None else 2.0 ** (turn - 1), LONGEST_WAIT)
                self.tell(f"{self.endpoint.address}: {trouble}; again in {wait:g} s")
                self.sleep(wait)

    def _post(self, messages: Sequence[Message], sample: int, longest: int) -> bytes:
        most = self.endpoint
        optional: dict[str, Json] = {
            "temperature": most.temperature,
            "max_tokens": longest,
            "seed": sample,
            "response_format": {"type": "json_object"},
        }
        body: dict[str, Json] = {"model": most.model, "messages": [dict(message) for message in messages]}
        body |= {name: value for name, value in optional.items() if name not in self._refused}
        if "max_tokens" in self._refused:
            body["max_completion_tokens"] = longest
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if most.key:
            headers["Authorization"] = f"Bearer {most.key}"
        request = Request(most.address, json.dumps(body).encode(), headers, method="POST")
        try:
            with self._opener.open(request, timeout=most.timeout) as reply:
                return bytes(reply.read(LONGEST_ANSWER))
        except HTTPError as error:
            with error:
                reason = _reason(error.read(LONGEST_ANSWER))
            name = next((name for name in OPTIONAL if name in reason and name not in self._refused), None)
            if error.code == 400 and name:
                self._refused.add(name)
                raise _Retry(f"the endpoint does not accept {name}; asking without it", 0.0) from error
            status = f"status {error.code} {reason}".strip()
            if error.code in AGAIN:
                raise _Retry(status, _retry_after(error.headers)) from error
            raise Unanswered(f"{most.address}: {status}") from error
        except (OSError, HTTPException) as error:
            raise _Retry(f"{type(error).__name__}: {getattr(error, 'reason', None) or error}") from error

    def _read(self, reply: bytes, messages: Sequence[Message]) -> tuple[Reply, int, int]:
        """The answer, and the tokens of question and answer."""
        try:
            completion = json.loads(reply)
            choice = completion["choices"][0]
            # The text of an answer, a string or a list of parts; halves of surrogate pairs are replaced.
            content = choice["message"]["content"]
            parts = content if isinstance(content, list) else [content]
            text = "".join(part["text"] if isinstance(part, dict) else str(part) for part in parts if part)
            answer = text.encode("utf-8", "replace").decode()
        except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
            raise _Retry(f"expected a chat completion, found {reply[:80]!r}") from error
        usage = completion.get("usage") if isinstance(completion.get("usage"), dict) else {}
        counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
        n_in, n_out = (n if type(n) is int and n >= 0 else None for n in counts)
        estimated = len(answer) // CHARACTERS_PER_TOKEN + 1
        answered = Reply(answer, choice.get("finish_reason") == "length")
        return answered, n_tokens(messages) if n_in is None else n_in, estimated if n_out is None else n_out


def _length(messages: Sequence[Message]) -> int:
    return sum(len(message["content"]) for message in messages)


def n_tokens(messages: Sequence[Message]) -> int:
    """Roughly how many tokens a question has."""
    return _length(messages) // CHARACTERS_PER_TOKEN + 8 * len(messages)


def _reason(body: bytes) -> str:
    """What an endpoint says of an error, in one line."""
    try:
        reply = json.loads(body)
        error = reply.get("error", reply)
        words = error.get("message", error) if isinstance(error, dict) else error
    except (ValueError, AttributeError):
        words = body.decode("utf-8", "replace")
    return " ".join(str(words).split())[:200]


def _retry_after(headers: Any) -> float | None:
    """Seconds, or the time until a date; None where the header is missing or says neither."""
    value = (headers.get("Retry-After") if headers else None) or ""
    try:
        return max(float(value), 0.0)
    except ValueError:
        pass
    try:
        return max(parsedate_to_datetime(value).timestamp() - time.time(), 0.0)
    except ValueError:
        return None
