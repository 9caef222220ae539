"""The notation of the sample's master: what a mark says, and what is answered to one that cannot be read."""

from __future__ import annotations

import pytest

from grater.demo.__main__ import read_marked
from grater.errors import BadInput
from grater.model import Edit, Essay, Json

HEAD = "=== one\nlanguage: Dutch\nscore: 3\ntitled: yes\n---\nMy Room\nI have three chair in my room.\n---\n"


def edits(*marks: str) -> tuple[Edit, ...]:
    [essay] = read_marked(HEAD + "".join(f"{mark}\n" for mark in marks), name="essays.txt")
    return essay.edits


def complaint(text: str) -> str:
    with pytest.raises(BadInput) as caught:
        read_marked(text, name="essays.txt")
    return str(caught.value)


def test_a_mark_of_both_is_one_edit_for_each_of_an_essay_with_head_and_text() -> None:
    [essay] = read_marked(HEAD, name="essays.txt")
    metadata: dict[str, Json] = {"language": "Dutch", "score": 3, "titled": True}
    assert essay == Essay("one", "My Room\nI have three chair in my room.", (), ("A", "B"), metadata=metadata)
    found = edits("AB Wcip | [in] my => around", "A Nn | [chair] => chairs")
    assert [(edit.rater, edit.tag) for edit in found] == [("A", "Nn"), ("A", "Wcip"), ("B", "Wcip")]


@pytest.mark.parametrize(
    ("correction", "replacements", "comment"),
    [
        (" =>", ("",), ""),
        (" => ?", (), ""),
        (" => near / around", ("near", "around"), ""),
        (" => near # A matter of taste.", ("near",), "A matter of taste."),
        (" => ? # Which room?", (), "Which room?"),
        (" => # Leave it out.", ("",), "Leave it out."),
    ],
)
def test_a_correction_deletes_chooses_leaves_open_and_comments(
    correction: str, replacements: tuple[str, ...], comment: str
) -> None:
    [edit] = edits(f"B Wcip | chair [in] my{correction}")
    assert (edit.replacements, edit.comment) == (replacements, comment)


def test_every_problem_is_reported_with_its_line() -> None:
    # The head of the first essay takes 5 lines, its text 2, the line before the marks 1.
    marks = "A Nn | chair => chairs\nA Nn | [chairs] => chair\n"
    text = f"{HEAD}{marks}{HEAD.replace('one', 'two')}B Mec | [m] => M\n"
    assert complaint(text).splitlines() == [
        "essays.txt:9: expected 'AB Tag | before [words] after => correction', found 'A Nn | chair => chairs'",
        "essays.txt:10: expected 'chairs' once in the text, found it 0 times",
        "essays.txt:19: expected 'm' once in the text, found it 3 times",
    ]
    marks = "A Nn | three [chair in] => chairs in\nA Wcip | chair [in] => around\nB Wcip | chair [in] => near\n"
    assert complaint(HEAD + marks) == (
        "essays.txt:10: expected marks side by side, found 'chair in' and 'in' of A on one place"
    )
    for field in ("language Dutch", "score: good", "titled: no"):
        assert complaint(f"=== one\n{field}\n---\nMy room.\n---\n").startswith("essays.txt:2: expected 'key: value'")
