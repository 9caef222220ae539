"""FCE XML: what the reader understands and what the writer keeps."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.fce import FORMAT
from grater.errors import BadInput
from grater.model import Edit, Essay, Json, Span, short_hash
from tests.corpora.sources import Tried
from tests.examples import examples

FCE = Tried(FORMAT, "script.xml")
read, write, problems_of = FCE.read, FCE.write, FCE.problems_of

SCRIPT = """<?xml version="1.0" encoding="UTF-8"?>
<learner><head sortkey="KX1*0200*2001*07">
  <candidate><personnel><language>Finnish</language><age>21-25</age></personnel><score>31.0</score></candidate>
  <text>
    <answer1>
      <question_number>1</question_number>
      <exam_score>3.2</exam_score>
      <coded_answer>
        <p>Dear Ms Aho,</p>
        <p>I <NS type="TV"><i>write</i><c>am writing</c></NS> about <NS type="MD"><c>the </c></NS>lamp.</p>
      </coded_answer>
    </answer1>
    <answer2>
      <question_number>4</question_number>
      <coded_answer><p>My aunt sails<NS type="UP"><i>,</i></NS> on <NS type="ID">the moon's</NS> day.</p>
      </coded_answer>
    </answer2>
  </text>
</head></learner>
"""


def script_of(coded: str) -> str:
    """A script, on one line, whose only answer is coded as given."""
    answer = f"<answer1><coded_answer>{coded}</coded_answer></answer1>"
    return f'<learner><head sortkey="K"><text>{answer}</text></head></learner>\n'


def paragraph(inner: str) -> Essay:
    (essay,) = read(script_of(f"<p>{inner}</p>"))
    return essay


def edits_of(inner: str) -> list[tuple[int, int, tuple[str, ...], str]]:
    return [(edit.span.start, edit.span.end, edit.replacements, edit.tag) for edit in paragraph(inner).edits]


def essay_of(text: str, *edits: Edit, annotators: tuple[str, ...] = ("0",)) -> Essay:
    return Essay("K/answer1", text, edits, annotators, metadata={"sortkey": "K", "answer": "answer1"})


def test_each_answer_is_an_essay_with_the_scripts_metadata_and_edits() -> None:
    first, second = read(SCRIPT)
    assert first.essay_id == "KX1*0200*2001*07/answer1"
    assert second.essay_id == "KX1*0200*2001*07/answer2"
    of_both = {"sortkey": "KX1*0200*2001*07", "language": "Finnish", "age": "21-25", "score": "31.0"}
    assert first.metadata == {**of_both, "question_number": "1", "exam_score": "3.2", "answer": "answer1"}
    assert second.metadata == {**of_both, "question_number": "4", "answer": "answer2"}
    assert first.text == "Dear Ms Aho,\nI write about lamp."
    assert second.text == "My aunt sails, on the moon's day."
    assert first.edits == (Edit(Span(15, 20), ("am writing",), "TV", "0"), Edit(Span(27, 27), ("the ",), "MD", "0"))
    assert second.edits == (Edit(Span(13, 14), ("",), "UP", "0"), Edit(Span(18, 28), (), "ID", "0"))
    assert first.annotators == second.annotators == ("0",)
    assert (first.line, second.line) == (5, 13)
    assert [edit.line for edit in first.edits] == [10, 10]


def test_an_error_is_read_by_its_parts_the_outer_one_first() -> None:
    found = edits_of('gave <NS type="FN"><i><NS type="RN"><i>a fright</i><c>a scare</c></NS></i><c>scares</c></NS>')
    assert found == [(5, 13, ("scares",), "FN"), (5, 13, ("a scare",), "RN")]
    found = edits_of('<NS type="W"><i>big <NS type="S"><i>blak</i><c>black</c></NS> cat</i><c>cat, black</c></NS>!')
    assert found == [(0, 12, ("cat, black",), "W"), (4, 8, ("black",), "S")]
    found = edits_of('<NS type="ID">over the <NS type="S"><i>mon</i><c>moon</c></NS></NS>')
    assert found == [(0, 12, (), "ID"), (9, 12, ("moon",), "S")]
    found = edits_of('<NS type="RV"><i>did</i><c>made</c><c>baked</c><c/></NS>')
    assert found == [(0, 3, ("made", "baked", ""), "RV")]
    assert edits_of('<NS type="RV">did<c>made</c></NS>') == [(0, 3, ("made",), "RV")]
    assert paragraph('a <NS type="S">\n  <i>ct</i>\n  <c>cat</c>\n</NS> sat').text == "a ct sat"


def test_a_correction_that_is_corrected_counts_with_its_corrected_side_and_is_written_back() -> None:
    corrected = 'w<NS type="S" n="2"><i>a</i><c>e</c><c>o</c></NS>nt<NS><i>ed</i></NS>'
    inner = f'<NS type="RV"><i>go</i><c>{corrected}</c></NS> &amp; out'
    essay = paragraph(inner)
    assert essay.edits[0].replacements == ("went",)
    text, losses = write(essay)
    assert f"<p>{inner}</p>" in text
    assert losses == []


def test_kept_corrections_too_deep_are_left_and_attributes_kept() -> None:
    content: Json = "went"
    for _ in range(150):
        content = ["NS", {}, content]
    _, losses = write(essay_of("go", Edit(Span(0, 2), ("went",), "R", "0", extra={"c": [[content]]})))
    assert [loss.what for loss in losses] == ["c of edit 0-2 R"]
    inner = '<NS type="S" sure="no &quot;&#10;"><i>ct</i><c>cat</c></NS>'
    essay = paragraph(inner)
    assert essay.edits[0].extra == {"attributes": {"sure": 'no "\n'}}
    assert inner in write(essay)[0]


def test_unknown_elements_and_attributes_are_kept_in_metadata_and_reported_when_written() -> None:
    answer = '<answer1 day="2"><topic>tea</topic><coded_answer><p>Hm</p></coded_answer></answer1>'
    personnel = "<personnel><sex>f</sex><sex>m</sex></personnel>"
    (essay,) = read(
        f'<learner id="9"><head sortkey="K" url="u"><candidate>{personnel}</candidate>'
        f'<text n="1">{answer}</text></head></learner>'
    )
    others: dict[str, Json] = {"learner@id": "9", "head@url": "u", "text@n": "1", "answer@day": "2"}
    others |= {"answer/topic": "tea", "head/candidate/personnel/sex": ["f", "m"]}
    assert essay.metadata == {"sortkey": "K", "answer": "answer1", **others}
    _, losses = write(essay)
    assert sorted(loss.what for loss in losses) == sorted(f"metadata {name}" for name in others)


def test_scripts_of_other_shapes_are_read() -> None:
    learner = SCRIPT.split("\n", 1)[1]
    both = f"<fce>{learner}{learner.replace('KX1', 'KX2')}</fce>"
    assert [essay.essay_id[:3] for essay in read(both)] == ["KX1", "KX1", "KX2", "KX2"]
    answer = "<answer1><coded_answer><p>Yes</p></coded_answer></answer1>"
    (essay,) = read(f'<learner><head sortkey="K"><candidate/></head><text>{answer}</text></learner>')
    assert (essay.essay_id, essay.text) == ("K/answer1", "Yes")
    (nameless,) = read(f"<learner><head><text>{answer}</text></head></learner>")
    assert nameless.essay_id == short_hash("Yes")
    (empty,) = read('<learner><head sortkey="K"><text><answer1><coded_answer/></answer1></text></head></learner>')
    assert (empty.text, empty.edits) == ("", ())
    for essay in (nameless, empty):
        assert read(write(essay)[0]) == [essay]


def test_byte_order_marks_line_ends_and_a_declared_encoding_change_nothing() -> None:
    assert read("\ufeff" + SCRIPT.replace("\n", "\r\n")) == read(SCRIPT)
    assert read(SCRIPT.rstrip("\n")) == read(SCRIPT + "\n\n\n") == read(SCRIPT)
    declared = SCRIPT.replace("UTF-8", "ISO-8859-1").replace("lamp", "lämp")
    assert read(declared)[0].text.endswith("lämp.")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (SCRIPT.replace("lamp", "caf&eacute;"), 10, "expected well-formed XML, found: undefined entity"),
        (SCRIPT[: SCRIPT.index("lamp")], 10, "expected well-formed XML, found: no element found"),
        ("", 1, "expected well-formed XML, found: no element found"),
        ("<html></html>", 1, "expected a <learner>, found <html> without any"),
        ("<learner>" + "<i>" * 100_000, 1, "expected at most 200 elements inside each other, found more"),
    ],
    ids=["entity", "cut", "empty", "html", "deep"],
)
def test_what_is_no_script_is_refused(text: str, line: int, message: str) -> None:
    assert problems_of(text) == [f"script.xml:{line}: {message}"]


def test_problems_of_all_learners_are_reported_with_their_lines() -> None:
    found = problems_of(f"<fce>\n{script_of('<p><u/></p>') * 2}<x/>text<learner/></fce>")
    assert [problem.split(": ")[0] for problem in found] == ["script.xml:2", "script.xml:3"] + ["script.xml:4"] * 3


def test_learners_come_back_in_order_and_repeated_ids_numbered_the_same() -> None:
    essays = [essay for n in "213" for essay in read(SCRIPT.replace("KX1", f"KX{n}"))]
    text, losses = write(*essays)
    assert read(text) == essays
    assert (losses, text.count("<learner>")) == ([], 3)
    first, second = read("<fce>" + SCRIPT.split("\n", 1)[1] * 2 + "</fce>")[::2]
    assert (first.essay_id, second.essay_id) == ("KX1*0200*2001*07/answer1", "KX1*0200*2001*07/answer1#2")
    text, losses = write(first, second)
    assert (read(text), losses, text.count("<learner>")) == ([first, second], [], 2)


def test_more_than_forty_errors_inside_each_other_are_reported() -> None:
    essay = essay_of("one", *[Edit(Span(0, 3), ("x",), "R", "0")] * 60)
    text, losses = write(essay)
    assert (len(read(text)[0].edits), len(losses)) == (40, 20)
    text, losses = write(essay_of("half \ud800"))
    assert (read(text)[0].text, len(losses)) == ("half \ufffd", 1)


MARKUP = st.recursive(
    st.sampled_from(["", " ", "a", "b c", "&lt;"]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map("".join),
        inner.map('<NS type="X">{}</NS>'.format),
        st.tuples(inner, inner).map(lambda pair: "<NS><i>{}</i><c>{}</c></NS>".format(*pair)),
        st.tuples(inner, inner).map(lambda pair: "<NS><c>{}</c><c>{}</c></NS>".format(*pair)),
        inner.map("<i>{}</i>".format),
    ),
    max_leaves=8,
)


@examples(200)
@given(inner=MARKUP)
def test_whatever_markup_is_accepted_comes_back_equal(inner: str) -> None:
    accepted: list[Essay] = []
    with suppress(BadInput):
        accepted.append(paragraph(inner))
    text, losses = write(*accepted)
    assert (read(text), losses) == (accepted, [])
