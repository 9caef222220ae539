"""The description of the API is whole: names, words, examples, shapes and errors of every call."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from grater.annotate.web.openapi import ERRORS, TAGS
from grater.annotate.web.security import API
from grater.errors import StoreBusy
from tests.annotate.web.json_schema import complaints
from tests.annotate.web.programs import JSON, Described, Program, description_of
from tests.annotate.web.studies import Study, served


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    with served(tmp_path_factory.mktemp("openapi"), tasks=["error"]) as found:
        yield found


@pytest.fixture(scope="module")
def described(shared: Study) -> Described:
    return description_of(shared)


def test_what_is_served_is_what_is_described(shared: Study, described: Described) -> None:
    assert shared.client().get(f"{API}/openapi.json").json() == json.loads(json.dumps(described.whole))


def test_every_call_has_a_name_of_its_own_words_a_known_tag_and_its_places(
    described: Described,
) -> None:
    for name, (_, path, call) in described.calls.items():
        assert re.fullmatch(r"[a-z]+(_[a-z]+)*", name), name
        assert call["description"].startswith(call["summary"]), name
        assert not call["summary"].istitle(), name  # FastAPI's own guess, from the name of the function
        assert set(call["tags"]) <= set(TAGS), name
        places = {each["name"] for each in call.get("parameters", ()) if each["in"] == "path"}
        assert places == set(re.findall(r"\{(\w+)\}", path)), name
    assert {tag for _, _, call in described.calls.values() for tag in call["tags"]} == set(TAGS)
    assert len(described.calls) == sum(len(methods) for methods in described.whole["paths"].values())


def test_every_body_is_closed_and_has_an_example_that_fits(described: Described) -> None:
    for name in described.calls:
        shape = described.body_of(name)
        if shape is None:
            continue
        assert shape["additionalProperties"] is False, name
        for example in shape["examples"]:
            assert complaints(shape, example, described.whole, name) == []


def test_every_answer_is_described_to_the_last_part(described: Described) -> None:
    """No call may answer with anything at all; only the study's own payloads are as free as they are stored."""
    for name, (_, _, call) in described.calls.items():
        content = call["responses"]["200"]["content"]
        if JSON in content:
            assert set(content[JSON]["schema"]) & {"$ref", "anyOf"}, name
    for title, shape in described.whole["components"]["schemas"].items():
        for part, each in shape.get("properties", {}).items():
            is_free = each.get("type") == "object" and each.get("additionalProperties") in (True, {}, None)
            assert not is_free or part == "payload" or title == "Error", f"{title}.{part}"


def test_every_reference_leads_somewhere_and_every_shape_is_used(described: Described) -> None:
    text = json.dumps(described.whole)
    used = set(re.findall(r'"#/components/schemas/([^"]+)"', text))
    assert used == set(described.whole["components"]["schemas"])
    assert [name for name in used if "__" in name] == []  # two of one name, which FastAPI tells apart by their files


def test_every_error_has_the_one_shape(described: Described) -> None:
    one = {"$ref": "#/components/schemas/Error"}
    for name, (_, _, call) in described.calls.items():
        errors = {status: each for status, each in call["responses"].items() if status >= "400"}
        assert {"401", "422", "503"} <= set(errors) <= set(map(str, ERRORS)), name
        assert all(each["content"][JSON]["schema"] == one for each in errors.values()), name


def replies(shared: Study) -> Mapping[int, Any]:
    """One reply for each kind of error."""
    manager, worker, client = Program(shared, "manager"), Program(shared, "worker"), shared.client()
    job = {"name": "error", "task": "error"}
    wide = {**worker.headers, "content-type": "application/json"}
    return {
        401: client.get(f"{API}/me"),
        403: client.get(f"{API}/people", headers=worker.headers),
        404: client.get(f"{API}/jobs/none", headers=worker.headers),
        409: client.post(f"{API}/jobs", headers=manager.headers, json=job),
        413: client.post(f"{API}/leases/x", headers=wide, content=b"x" * 3_000_000),
        422: client.post(f"{API}/jobs", headers=manager.headers, json={"name": "x" * 81, "task": 7, "tsk": 1}),
    }


def test_errors_look_as_they_are_described(shared: Study, described: Described) -> None:
    for status, reply in replies(shared).items():
        assert reply.status_code == status
        assert complaints(described.whole["components"]["schemas"]["Error"], reply.json(), described.whole) == []
        assert reply.json()["error"]["status"] == status
    assert len(replies(shared)[422].json()["error"]["message"].splitlines()) == 3


def test_a_busy_database_says_when_to_come_again(shared: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(_: object) -> None:
        raise StoreBusy("the database is busy")

    manager = Program(shared, "manager")
    monkeypatch.setattr("grater.annotate.people.all", busy)
    reply = manager.client.get(f"{API}/people", headers=manager.headers)
    manager.described.check("everybody", 503, reply)
    assert int(reply.headers["retry-after"]) > 0
