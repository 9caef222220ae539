"""NUCLE SGML: read as it is meant, written as it was, and refused with a reason."""

from __future__ import annotations

import pytest

from grater.corpora.formats import Loss
from grater.corpora.jsonl import read_jsonl, write_jsonl
from grater.corpora.nucle import FORMAT, read_nucle
from grater.errors import BadInput
from grater.model import Essay, short_hash
from tests.corpora.sources import TextSource, Tried
from tests.real_data import data_path

NUCLE = Tried(FORMAT)
read, write, problems_of = NUCLE.read, NUCLE.write_and_report, NUCLE.problems_of

ESSAY = """\
<DOC nid="7">
<TEXT>
<TITLE>
My first winter
</TITLE>
<P>
In Oslo I see snow first time.
</P>
<P>
It were cold & quiet.
</P>
</TEXT>
<ANNOTATION teacher_id="3">
<MISTAKE start_par="1" start_off="10" end_par="1" end_off="13">
<TYPE>Vt</TYPE>
<CORRECTION>saw</CORRECTION>
</MISTAKE>
<MISTAKE start_par="2" start_off="3" end_par="2" end_off="7">
<TYPE>SVA</TYPE>
<CORRECTION>was</CORRECTION>
<COMMENT>one thing, one verb</COMMENT>
</MISTAKE>
</ANNOTATION>
<ANNOTATION teacher_id="4">
</ANNOTATION>
</DOC>

"""


def read_one(text: str) -> Essay:
    (essay,) = read(text)
    return essay


def document(*paragraphs: str, mistakes: str = "", inside: str = "") -> str:
    """A document with these paragraphs and one annotator, as the writer lays it out."""
    text = "".join(f"<P>\n{paragraph}\n</P>\n" for paragraph in paragraphs)
    annotation = f'<ANNOTATION teacher_id="1">\n{mistakes}</ANNOTATION>\n'
    return f'<DOC nid="1">\n{inside}<TEXT>\n{text}</TEXT>\n{annotation}</DOC>\n\n'


def mistake(place: str, correction: str = "x", tag: str = "Nn", more: str = "") -> str:
    """A MISTAKE at `start_par:start_off-end_par:end_off`."""
    start_par, start_off, end_par, end_off = place.replace("-", ":").split(":")
    where = f'start_par="{start_par}" start_off="{start_off}" end_par="{end_par}" end_off="{end_off}"'
    return f"<MISTAKE {where}>\n<TYPE>{tag}</TYPE>\n<CORRECTION>{correction}</CORRECTION>\n{more}</MISTAKE>\n"


def comes_back(text: str) -> bool:
    return write(*read(text)) == (text, [])


def test_an_essay_is_its_title_and_paragraphs_with_offsets_into_the_whole_text() -> None:
    essay = read_one(ESSAY)
    assert essay.essay_id == "7"
    assert essay.text == "My first winter\nIn Oslo I see snow first time.\nIt were cold & quiet."
    assert essay.metadata == {"titled": True}
    assert [(edit.span.of(essay.text), edit.replacements, edit.tag, edit.rater) for edit in essay.edits] == [
        ("see", ("saw",), "Vt", "3"),
        ("were", ("was",), "SVA", "3"),
    ]
    assert essay.edits[1].comment == "one thing, one verb"
    assert comes_back(ESSAY)


def test_paragraphs_ids_and_lines_are_counted_as_in_the_file() -> None:
    essay = read_one(document("I has one.", "I has two.", mistakes=mistake("0:2-0:5") + mistake("1:6-1:9")))
    assert [edit.span.of(essay.text) for edit in essay.edits] == ["has", "two"]
    assert essay.metadata == {}
    first, second = read(ESSAY + ESSAY)
    assert (first.line, second.line) == (1, 28)
    assert [edit.line for edit in first.edits] == [14, 18]
    anonymous = read_one(ESSAY.replace(' nid="7"', ""))
    assert anonymous.essay_id == short_hash(anonymous.text)
    assert read(ESSAY.replace('nid="7"', 'nid=""')) == [anonymous]
    assert [essay.essay_id for essay in read(ESSAY + ESSAY)] == ["7", "7#2"]
    assert read("") == read("\n\n") == []


def test_an_empty_correction_deletes_but_where_the_tag_or_the_span_says_otherwise_and_a_text_may_be_empty() -> None:
    for tag in ("Rloc", "Um", "Cit", "Wa", "Nn"):
        text = document("Hi.", mistakes=mistake("0:2-0:2" if tag == "Nn" else "0:0-0:2", "", tag))
        assert read_one(text).edits[0].replacements == (("",) if tag == "Rloc" else ())
        assert comes_back(text)
    for text in ('<DOC nid="1">\n<TEXT>\n</TEXT>\n</DOC>\n\n', document(""), document("", "", "")):
        assert read_one(text).text.strip() == ""
        assert comes_back(text)


def test_layout_capitals_quotes_and_line_ends_do_not_matter() -> None:
    essays = read(ESSAY)
    assert read(ESSAY.rstrip("\n")) == essays
    assert read(ESSAY.replace("\n", "\r\n")) == essays
    assert read("\ufeff" + ESSAY) == essays
    assert read("\n" + ESSAY.replace(">\n<", ">\n \t\n<")) == essays
    flat = document("I has one.", mistakes=mistake("0:2-0:5")).replace("\n", "")
    flat = flat.replace("<P>", "<p>").replace("</MISTAKE>", "</Mistake >").replace("<TEXT>", "<TEXT >")
    assert read(flat) == read(document("I has one.", mistakes=mistake("0:2-0:5")))
    text = document("I has has one.", mistakes=mistake("0:6-0:9", ""))
    assert read(text.replace("<CORRECTION></CORRECTION>", "<CORRECTION />")) == read(text)
    assert read('<DOC nid="1"/>')[0].essay_id == "1"
    assert read(ESSAY.replace('"', "'")) == read(ESSAY)


def test_references_are_decoded_and_offsets_count_what_they_stand_for() -> None:
    essay = read_one(document("&lt;b&gt; &quot;a&apos; &amp;lt; &#233;&#xE9; x", mistakes=mistake("0:16-0:17")))
    assert essay.text == "<b> \"a' &lt; éé x"
    assert essay.edits[0].span.of(essay.text) == "x"
    assert read_one(document("x", inside="").replace('nid="1"', 'nid="a&amp;b&quot;"')).essay_id == 'a&b"'


@pytest.mark.parametrize(
    "words",
    ["R & D", "AT&T;", "&nbsp;", "&#0;", "&#xD800;", "&#x110000;", "&#99999999;", "5 < 6 > 4", "I <3 it", "<br>"],
)
def test_what_is_no_reference_and_no_tag_of_nucle_is_itself(words: str) -> None:
    text = document(words, mistakes=mistake("0:0-0:1", words, more=f"<COMMENT>{words}</COMMENT>\n"))
    essay = read_one(text)
    assert essay.text == essay.edits[0].replacements[0] == essay.edits[0].comment == words
    assert comes_back(text)


@pytest.mark.parametrize("declaration", ["<!DOCTYPE x [", '<!ENTITY lol "ha">', '<!doctype x SYSTEM "secret">'])
def test_declarations_are_refused_at_once_so_no_entity_ever_grows(declaration: str) -> None:
    bomb = f'{declaration}\n<!ENTITY b "&a;&a;&a;&a;">\n]>\n' + document("&b;")
    assert problems_of(bomb) == [
        "test:1: expected <DOC>, found a declaration; grater does not expand entities: remove it"
    ]


RICH = """\
<DOC nid="1" source="web & paper">
<FIRST_LANGUAGE>Thai</FIRST_LANGUAGE>
<NATIONALITY></NATIONALITY>
<GRADE scale="A-F">B <i>plus</i></GRADE>
<TEXT lang="en">
<P id="p0">
Hi.
</P>
<REFERENCE kind="book">
<P>
Grater, A.
</P>
</REFERENCE>
<REFERENCE>
<P>
Another.
</P>
</REFERENCE>
</TEXT>
<ANNOTATION teacher_id="1" round="2">
<NOTE>tired</NOTE>
<MISTAKE start_par="0" start_off="0" end_par="0" end_off="2" sure="no">
<TYPE level="1">Nn</TYPE>
<CORRECTION by="hand">Hello</CORRECTION>
<COMMENT></COMMENT>
<SEE>page 3</SEE>
</MISTAKE>
</ANNOTATION>
</DOC>

"""


def test_what_nobody_knows_is_kept_and_written_back() -> None:
    essay = read_one(RICH)
    assert (essay.metadata["first_language"], essay.metadata["nationality"]) == ("Thai", "")
    assert essay.metadata["sgml"] == {
        "attributes": {
            "DOC": {"source": "web & paper"},
            "TEXT": {"lang": "en"},
            "P 0": {"id": "p0"},
            "REFERENCE 0": {"kind": "book"},
            "ANNOTATION 1": {"round": "2"},
        },
        "elements": {
            "DOC": [{"name": "GRADE", "text": "B <i>plus</i>", "attributes": {"scale": "A-F"}}],
            "ANNOTATION 1": [{"name": "NOTE", "text": "tired"}],
        },
        "references": [[1, 2], [2, 3]],
    }
    assert essay.edits[0].extra == {
        "sgml": {
            "attributes": {
                "MISTAKE": {"sure": "no"},
                "TYPE": {"level": "1"},
                "CORRECTION": {"by": "hand"},
                "COMMENT": {},
            },
            "elements": {"MISTAKE": [{"name": "SEE", "text": "page 3"}]},
        }
    }
    assert comes_back(RICH)


def test_unknown_elements_of_one_place_are_kept_in_their_order() -> None:
    twice = document("Hi.", inside="<A>1</A>\n<A>&lt;/A> 2</A>\n", mistakes="<NOTE>one</NOTE>\n")
    assert comes_back(twice)
    parted = twice.replace("</DOC>", '<ANNOTATION teacher_id="1">\n<NOTE>two</NOTE>\n</ANNOTATION>\n</DOC>')
    assert write(*read(parted)) == (twice.replace("one</NOTE>\n", "one</NOTE>\n<NOTE>two</NOTE>\n"), [])


def test_the_slip_of_the_release_in_references_is_read_and_written_right() -> None:
    right = document("Hi.").replace("</TEXT>", "<REFERENCE>\n<P>\nGrater, A.\n</P>\n</REFERENCE>\n</TEXT>")
    slip = right.replace("A.\n</P>", "A.\n<P>")
    assert slip != right
    assert read(slip) == read(right)
    assert write(*read(slip)) == (right, [])


def test_long_numbers_and_words_are_shown_by_their_beginning() -> None:
    (problem,) = problems_of(document("Hi.", mistakes=mistake(f"0:{'9' * 5000}-0:2")))
    assert f"expected a whole number for start_off, found '{'9' * 40}' in" in problem
    assert problems_of("x" * 99) == [f"test:1: expected a NUCLE tag, found text outside <DOC>: '{'x' * 37}...'"]


def test_good_documents_around_a_bad_one_are_read_as_they_come_and_problems_collected() -> None:
    bad = document("Hi.", mistakes=mistake("9:0-9:0"))
    found: list[str] = []
    with pytest.raises(BadInput) as caught:
        found.extend(essay.essay_id for essay in read_nucle(TextSource(ESSAY + bad + bad + ESSAY).lines(), name="f"))
    assert found == ["7", "1", "1#2", "7#2"]
    assert [problem.line for problem in caught.value.problems] == [35, 49]
    assert len(problems_of(bad * 30)) == 21
    essays = read_nucle(iter([*TextSource(ESSAY).lines(), "broken"]), name="test")
    assert next(essays).essay_id == "7"


@pytest.mark.data
@pytest.mark.parametrize(("annotator", "n_edits"), [(0, 2397), (1, 3331)])
def test_the_conll_2014_files_come_back_byte_for_byte_also_by_way_of_jsonl(annotator: int, n_edits: int) -> None:
    text = data_path(f"conll14/official/official-2014.{annotator}.sgml").read_bytes().decode()
    corpus = read(text)
    assert (len(corpus), sum(len(essay.edits) for essay in corpus)) == (50, n_edits)
    assert write(*corpus) == (text, [])
    losses: list[Loss] = []
    jsonl = "".join(write_jsonl(corpus, losses.append))
    assert losses == []
    assert write(*read_jsonl(TextSource(jsonl).lines(), name="jsonl")) == (text, [])
