"""LanguageTool's protocol: our own questions, and those of a client that was written for LanguageTool."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from grater.annotate.web import Settings, create_app
from grater.annotate.web.check import of_pieces, units
from tests.annotate.web.client import Client
from tests.annotate.web.processes import wait_until
from tests.annotate.web.studies import Study, application, served

TEXT = "The girl waited on the bus. The boy discussed about the film. The king listened the music."


@pytest.fixture(scope="module")
def shared(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    folder = tmp_path_factory.mktemp("editors")
    with served(folder, editors=True, check_systems=(str(tiny_model),), check_letters=1_000_000) as study:
        yield study


@pytest.fixture(scope="module")
def client(shared: Study) -> Client:
    return shared.client()


def sent(units_of: str, match: dict[str, Any]) -> str:
    """The words of a match in what was sent, cut by UTF-16 units."""
    raw, start = units_of.encode("utf-16-le"), 2 * match["offset"]
    return raw[start : start + 2 * match["length"]].decode("utf-16-le")


def test_a_form_and_an_address_get_the_same_answer_and_an_empty_text_has_no_matches(client: Client) -> None:
    parameters = {"text": TEXT, "language": "en-US"}
    by_form = client.post("/v2/check", data=parameters)
    assert by_form.status_code == 200
    assert by_form.headers["content-type"].startswith("application/json")
    assert by_form.headers["access-control-allow-origin"] == "*"
    assert client.get("/v2/check", params=parameters).json() == by_form.json()
    assert client.post("/v2/check", data={"text": "", "language": "en"}).json()["matches"] == []


def test_an_answer_has_the_keys_of_languagetool(client: Client) -> None:
    # Keys of LanguageTool's own description of its API, https://languagetool.org/http-api/
    answered = client.post("/v2/check", data={"text": TEXT, "language": "en-US"}).json()
    assert {"software", "warnings", "language", "matches"} <= set(answered)
    assert {"name", "version", "buildDate", "apiVersion", "premium", "status"} <= set(answered["software"])
    assert {"name", "code", "detectedLanguage"} <= set(answered["language"])
    for match in answered["matches"]:
        keys = {"message", "shortMessage", "replacements", "offset", "length", "context", "sentence", "rule", "type"}
        assert keys <= set(match)
        assert {"text", "offset", "length"} <= set(match["context"])
        assert {"id", "description", "issueType", "category"} <= set(match["rule"])
        assert set(match["rule"]["category"]) == {"id", "name"}
        assert sent(match["context"]["text"], match["context"]) == sent(TEXT, match)
        assert sent(TEXT, match) in match["sentence"]


def test_offsets_count_utf16_units(client: Client) -> None:
    text = "🙂 𝒳 The girl waited on the 🚌 bus. " + TEXT
    matches = client.post("/v2/check", data={"text": text, "language": "en-GB"}).json()["matches"]
    assert [sent(text, match) for match in matches] == ["on", "on", "about ", "the"]
    assert matches[0]["offset"] == units("🙂 𝒳 The girl waited ") == len("🙂 𝒳 The girl waited ") + 2
    for match in matches:
        assert sent(match["context"]["text"], match["context"]) == sent(text, match)


def test_markup_is_counted_and_not_checked(client: Client) -> None:
    pieces = [
        {"text": "The girl 🙂 waited "},
        {"markup": "<b title='on'>"},
        {"text": "on"},
        {"markup": "</b>"},
        {"text": " the bus."},
        {"markup": "<p>", "interpretAs": "\n\n"},
        {"text": "The boy discussed about the film."},
    ]
    whole = "".join(piece.get("text", "") + piece.get("markup", "") for piece in pieces)
    data = json.dumps({"annotation": pieces})
    matches = client.post("/v2/check", data={"data": data, "language": "en-US"}).json()["matches"]
    assert [sent(whole, match) for match in matches] == ["on", "about "]


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"disabledRules": "VERB_PREPOSITION"}, ["about "]),
        ({"enabledRules": "VERB_PREPOSITION", "enabledOnly": "true"}, ["on", "the"]),
        ({"disabledCategories": "GRAMMAR"}, []),
        ({"disabledCategories": "GRAMMAR", "enabledRules": "VERB_PREPOSITION"}, ["on", "the"]),
        ({"level": "picky", "motherTongue": "de"}, ["on", "about ", "the"]),
        ({"enabledRules": "VERB_WITHOUT_PREPOSITION", "enabledOnly": "yes"}, ["about "]),
        ({"mode": "textLevelOnly"}, []),
    ],
)
def test_rules_can_be_switched_off(client: Client, choice: dict[str, str], words: list[str]) -> None:
    matches = client.post("/v2/check", data={"text": TEXT, "language": "en-US", **choice}).json()["matches"]
    assert [sent(TEXT, match) for match in matches] == words


DEEP = "[" * 100_000
WRONG_DATA = ("{}", "nonsense", "7", DEEP, '{"annotation": ' + DEEP, '{"annotation": [{"text": "\\ud800."}]}')


@pytest.mark.parametrize(
    ("parameters", "status", "words"),
    [
        ({"text": TEXT}, 400, "Missing 'language'"),
        ({"language": "en-US"}, 400, "Missing 'text' or 'data'"),
        ({"text": TEXT, "language": "xx"}, 400, "'xx' is not a language code"),
        *(({"data": data, "language": "en-US"}, 400, "Expected 'data' as") for data in WRONG_DATA),
        ({"text": "a " * 10_001, "language": "en-US"}, 413, "exceeds the limit of 20000 characters"),
    ],
)
def test_a_wrong_request_gets_a_line(client: Client, parameters: dict[str, str], status: int, words: str) -> None:
    reply = client.post("/v2/check", data=parameters)
    assert (reply.status_code, reply.text.startswith("Error: "), words in reply.text) == (status, True, True)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Das ist ein sehr guter Tag, und wir gehen nach Hause.", "zz"),
        ("De man is in het water en de vrouw was op het land.", "zz"),
        ("Hej, jag heter Anna och jag bor i Stockholm.", "zz"),
        ("My favorit hoby is to play futbol wiht my frends.", "en-US"),
        ("Angela waited on the bus.", "en-US"),
    ],
)
def test_other_languages_are_detected_and_english_is_the_variant_wanted(client: Client, text: str, code: str) -> None:
    answered = client.post("/v2/check", data={"text": text, "language": "auto"}).json()
    assert answered["language"]["code"] == answered["language"]["detectedLanguage"]["code"] == code
    assert answered["language"]["detectedLanguage"]["confidence"] < 1
    assert code == "en-US" or answered["matches"] == []
    parameters = {"text": text, "language": "auto", "preferredVariants": "de-DE,en-GB"}
    preferred = client.post("/v2/check", data=parameters).json()["language"]["code"]
    assert preferred == ("zz" if code == "zz" else "en-GB")


def test_an_office_program_learns_what_there_is(client: Client) -> None:
    # LibreOffice's extension posts to both (RemoteLanguageTool.java), and needs `maxTextLength` and strings in rules.
    answered = client.post("/v2/configinfo", data={"language": "en-US"}).json()
    assert answered["parameter"]["maxTextLength"] == int(client.post("/v2/maxtextlength", data={}).text) == 20_000
    assert {"ruleId", "description", "categoryId", "categoryName", "locQualityIssueType"} == set(answered["rules"][0])
    assert "VERB_PREPOSITION" in [rule["ruleId"] for rule in answered["rules"]]
    assert client.get("/v2/info").json()["software"]["name"] == answered["software"]["name"] == "grater"


def test_too_many_requests_wait(tmp_path: Path, shared: Study) -> None:
    with served(tmp_path, editors=True, check_systems=shared.settings.check_systems, check_letters=400) as study:
        client, parameters = study.client(), {"text": TEXT, "language": "en-US"}
        assert [client.post("/v2/check", data=parameters).status_code for _ in range(3)] == [200, 200, 429]
        study.clock.now += 60_000
        assert client.post("/v2/check", data=parameters).status_code == 200
        settings = replace(study.settings, base_url="http://localhost:8081")  # for one's own editor
        own = Client(application(settings, study.store), base_url="http://localhost:8081", address="127.0.0.1")
        assert [own.post("/v2/check", data=parameters).status_code for _ in range(4)] == [200] * 4


# A client that was written for LanguageTool


@pytest.fixture
def address(shared: Study) -> Iterator[str]:
    """The server at a port of its own, for a client that speaks HTTP."""
    settings = Settings(editors=True, check_systems=shared.settings.check_systems, trusted_hosts=("127.0.0.1",))
    server = uvicorn.Server(uvicorn.Config(create_app(settings, shared.store), port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_until(lambda: server.started)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(300)


def test_language_tool_python_asks_and_corrects(address: str) -> None:
    client = pytest.importorskip("language_tool_python", reason="pip install language_tool_python")
    with client.LanguageTool("en-US", remote_server=address) as tool:
        text = "🙂 " + TEXT
        matches = tool.check(text)
        # The client turns offsets into code points; the place in the context it leaves as it comes.
        words = [text[match.offset : match.offset + match.error_length] for match in matches]
        assert words == ["on", "about ", "the"]
        assert [match.replacements[0] for match in matches] == ["for", "", "to the"]
        corrected = "The girl waited for the bus. The boy discussed the film. The king listened to the music."
        assert tool.correct(TEXT) == corrected


def test_a_hundred_thousand_pieces_of_markup_are_read_in_one_pass() -> None:
    document = of_pieces([("a " * 9000, None), *[("<b>", "x")] * 100_000])
    assert (len(document.starts), document.starts[-1], document.ends[-1]) == (118_000, 317_997, 318_000)
