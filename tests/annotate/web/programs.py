"""Somebody's program, with their token: whatever it gets back is held to the OpenAPI description of the call."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from grater.annotate.web.openapi import schema
from grater.annotate.web.security import API
from tests.annotate.web.studies import BASE, Study

JSON = "application/json"


class Described:
    """The OpenAPI description of a served study, by operation id and by path; `description_of` keeps one."""

    def __init__(self, study: Study) -> None:
        self.whole = schema(study.client().app, url=BASE)
        self.calls: dict[str, tuple[str, str, dict[str, Any]]] = {
            call["operationId"]: (method.upper(), path, call)
            for path, methods in self.whole["paths"].items()
            for method, call in methods.items()
        }
        self.patterns = [
            (template.count("{"), name, method, re.compile(re.sub(r"\{\w+\}", "[^/]+", template)))
            for name, (method, template, _) in self.calls.items()
        ]

    def named(self, method: str, path: str) -> str:
        """The operation of a request; words of a path win over names in braces."""
        words = path.partition("?")[0]
        fitting = [
            (n_names, name)
            for n_names, name, its_method, pattern in self.patterns
            if its_method == method and pattern.fullmatch(words)
        ]
        return min(fitting)[1]

    def body_of(self, name: str) -> Mapping[str, Any] | None:
        """The schema of the JSON that a call is sent."""
        content = self.calls[name][2].get("requestBody", {}).get("content", {})
        return self.shape(content[JSON]["schema"]["$ref"].rpartition("/")[2]) if JSON in content else None

    def shape(self, name: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.whole["components"]["schemas"][name]
        return found

    def check(self, name: str, status: int, reply: Any) -> None:
        """Hold the status and kind of a reply to what its call says; its shape is held to its model by FastAPI."""
        responses = self.calls[name][2]["responses"]
        assert str(status) in responses, f"{name} does not say that it may answer {status}: {reply.text[:300]}"
        kinds = list(responses[str(status)].get("content", ()))
        kind = reply.headers["content-type"].partition(";")[0]
        assert kind in kinds if kinds else not reply.content, f"{name} answers {kind}, and says {kinds}"


KEPT: list[Described] = []


def description_of(study: Study) -> Described:
    """The description, worked out once: all studies of tests share their routes."""
    if not KEPT:
        KEPT.append(Described(study))
    return KEPT[0]


class Program:
    """Calls the API as a person (by role); `called` remembers what it used."""

    def __init__(self, study: Study, who: str = "", *, token: str = "") -> None:
        self.client = study.client()
        self.headers = {"authorization": f"Bearer {token}"} if token else study.bearer(who)
        self.described = description_of(study)
        self.called: set[str] = set()

    def get(self, path: str, status: int = 200) -> Any:
        return self._send("GET", path, None, status)

    def post(self, path: str, sent: object = None, status: int = 200) -> Any:
        return self._send("POST", path, {} if sent is None else sent, status)

    def call(self, name: str, body: object = None, *, status: int = 0, query: str = "", **names: str) -> Any:
        """A call by its operation id; without a body, with the example of its description.

        It is done, unless another status is expected.
        """
        method, path, described = self.described.calls[name]
        done = min(map(int, described["responses"]))
        status = status or done
        shape = self.described.body_of(name)
        if body is None and shape is not None:
            body = shape["examples"][0]
        self.called |= {name} if status == done else set()
        place = path.removeprefix(API).format(**names) + (f"?{query}" if query else "")
        return self._send(method, place, body, status)

    def upload(self, name: str, data: dict[str, str], file: tuple[str, bytes]) -> None:
        """A call that takes a form with a file."""
        _, path, _ = self.described.calls[name]
        reply = self.client.post(path, headers=self.headers, data=data, files=[("files", file)])
        assert reply.status_code == 200, reply.text
        self.described.check(name, 200, reply)
        self.called.add(name)

    def answer_all(self, job_id: str, label: str) -> list[str]:
        """Answer units with one label until there is no more; give the leases that have feedback."""
        leases = []
        while lease := self.call("next_unit", job_id=job_id)["lease"]:
            sent = {"fields": {"label": [label]}, "seconds": 2}
            if self.call("submit", sent, lease_id=lease["lease_id"])["has_feedback"]:
                leases.append(lease["lease_id"])
        return leases

    def _send(self, method: str, path: str, sent: object, status: int) -> Any:
        more = {} if sent is None else {"json": sent}
        reply = self.client.request(method, API + path, headers=self.headers, **more)  # type: ignore[arg-type]
        assert reply.status_code == status, reply.text
        self.described.check(self.described.named(method, API + path), status, reply)
        is_json = reply.content and reply.headers["content-type"].startswith(JSON)
        return reply.json() if is_json else reply.content


class Crew:
    """One program for each of four people."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.owner, self.manager = Program(study, "owner"), Program(study, "manager")
        self.annotator, self.worker = Program(study, "annotator"), Program(study, "worker")

    @property
    def called(self) -> set[str]:
        return self.owner.called | self.manager.called | self.annotator.called | self.worker.called

    def person_id(self, who: str) -> str:
        return self.study.people[who].person_id
