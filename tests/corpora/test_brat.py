"""brat standoff: other people's projects read, and ours shown in brat and read back."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.brat import from_name, make_note, parse_note, read_brat, to_name, write_brat
from grater.corpora.formats import Loss
from grater.errors import BadInput, GraterError
from grater.model import Edit, Essay, Span
from tests.corpora.sources import TextSource
from tests.examples import examples

TEXT = "My dog eated\nthe news paper.\n"
ANN = (
    "T1\tWform 7 12\teated\n"
    "#1\tAnnotatorNotes T1\t=> ate\n"
    "T2\tMec 17 27\tnews paper\n"
    "#2\tAnnotatorNotes T2\tone word, surely\n"
)


def read(files: dict[str, str]) -> list[Essay]:
    return list(read_brat(TextSource(text, name) for name, text in sorted(files.items())))


def read_one(ann: str, text: str = TEXT) -> Essay:
    (essay,) = read({"e.txt": text, "e.ann": ann})
    return essay


def write(*essays: Essay) -> tuple[dict[str, str], list[Loss]]:
    """The files, less brat's settings, and what was reported."""
    losses: list[Loss] = []
    files = dict(write_brat(essays, losses.append))
    files.pop("annotation.conf", None)
    return files, losses


def problems_of(files: dict[str, str]) -> list[str]:
    with pytest.raises(BadInput) as caught:
        read(files)
    return [str(problem) for problem in caught.value.problems]


def essay_of(*edits: Edit, text: str = TEXT) -> Essay:
    return Essay("e", text, edits, tuple(dict.fromkeys(edit.rater for edit in edits)) or ("0",))


def edit_of(start: int, end: int, *replacements: str, tag: str = "Mec", rater: str = "0", comment: str = "") -> Edit:
    return Edit(Span(start, end), replacements, tag, rater, comment)


def test_a_pair_of_files_is_an_essay_with_an_edit_for_every_mark_and_comes_back() -> None:
    essay = read_one(ANN)
    assert (essay.essay_id, essay.text, essay.annotators) == ("e", TEXT, ("0",))
    assert essay.edits == (edit_of(7, 12, "ate", tag="Wform"), edit_of(17, 27, comment="one word, surely"))
    assert [edit.line for edit in essay.edits] == [1, 3]
    assert write(essay) == ({"e.txt": TEXT, "e.ann": ANN}, [])


def test_who_read_a_text_shows_in_its_files() -> None:
    for files, annotators in (({"e.txt": TEXT}, ()), ({"e.txt": TEXT, "e.ann": ""}, ("0",))):
        (essay,) = read(files)
        assert (essay.annotators, essay.edits) == (annotators, ())
        assert write(essay) == (files, [])
    files = {"e.txt": TEXT, "annotation.conf": "[entities]\nMec\n", "README.md": "hello"}
    assert [essay.essay_id for essay in read(files)] == ["e"]


def test_folders_are_parts_of_a_corpus_or_annotators_of_one_essay() -> None:
    files = {"train/a.txt": "One.", "train/a.ann": "", "dev/b.txt": "Two.", "c.txt": "Three.", "dev/x/d.txt": "Four."}
    assert sorted(essay.essay_id for essay in read(files)) == ["c", "dev/b", "dev/x/d", "train/a"]
    files = {"train/1.txt": "One.", "train/1.ann": "", "dev/1.txt": "Two.", "dev/1.ann": ""}
    found = sorted((essay.essay_id, essay.annotators) for essay in read(files))
    assert found == [("dev/1", ("0",)), ("train/1", ("0",))]
    files = {f"{who}/e.txt": TEXT for who in ("alice", "bob", "carol")}
    (essay,) = read({**files, "alice/e.ann": ANN, "bob/e.ann": ""})
    assert (essay.essay_id, essay.annotators) == ("e", ("alice", "bob"))
    assert [edit.rater for edit in essay.edits] == ["alice", "alice"]
    edits = (edit_of(7, 12, "ate", rater="Zoe"), edit_of(7, 12, "has eaten", rater="Al"))
    essay = Essay("e", TEXT, edits, ("Zoe", "Al", "Mo"), metadata={"l1": "Thai"})
    files, losses = write(essay)
    assert sorted(files) == ["Al/e.ann", "Al/e.txt", "Mo/e.ann", "Mo/e.txt", "Zoe/e.ann", "Zoe/e.txt"]
    assert (losses, read(files)) == ([], [essay])


def test_copies_that_do_not_fit_each_other_are_refused_and_one_alone_is_read() -> None:
    files, _ = write(Essay("e", TEXT, (), ("A", "B")))
    (problem,) = problems_of(files | {"B/e.txt": "Another text."})
    assert problem == "B/e.txt: expected the text of A/e.txt, its other copy, found different text"
    (problem,) = problems_of(files | {"B/e.ann": files["A/e.ann"]})
    assert problem == "B/e.ann: expected one file of annotator 'A' for an essay, found another"
    (essay,) = read({name: text for name, text in files.items() if name.startswith("B/")})
    assert (essay.essay_id, essay.annotators) == ("e", ("B",))


def test_tags_are_shown_as_types_that_brat_takes() -> None:
    files, _ = write(essay_of(edit_of(7, 12, "ate", tag="R:VERB:INFL")))
    assert read_one(files["e.ann"].replace("R_VERB_INFL", "Spelling")).edits[0].tag == "Spelling"
    files = dict(write_brat([essay_of(edit_of(7, 12, tag="R:VERB"), edit_of(0, 2, tag="Mec"))], lambda _: None))
    assert files["annotation.conf"].startswith("[entities]\nMec\nR_VERB\n\n[relations]\n")


@pytest.mark.parametrize(
    ("note", "replacements", "comment"),
    [
        ("=> ate", ("ate",), ""),
        ("=>ate", ("ate",), ""),
        ("=> ate || has eaten", ("ate", "has eaten"), ""),
        ("=> -NONE-", ("",), ""),
        ("=> ate || -NONE- // if at all", ("ate", ""), "if at all"),
        ("=>", (), ""),
        ("=> // not // sure", (), "not // sure"),
        (r"=> \sthe\s", (" the ",), ""),
        (r"=> a\nb\tc\\d\|e\/f \-NONE- \u2028 \q", ("a\nb\tc\\d|e/f -NONE- \u2028 \\q",), ""),
        (r"=> \-NONE-", ("-NONE-",), ""),
        ("=> and/or | http://x", ("and/or | http://x",), ""),
        (r"see C:\new, => or not", (), r"see C:\new, => or not"),
    ],
)
def test_notes_are_understood(note: str, replacements: tuple[str, ...], comment: str) -> None:
    assert parse_note(note) == (replacements, comment)


@examples(300)
@given(
    replacements=st.lists(
        st.text(st.sampled_from("a |/\\-NOE=>\n\t\r\u2028\x85s🙂") | st.characters(), max_size=9), max_size=3
    ),
    comment=st.text(st.sampled_from("a |/\\=>\n\t\u00a0"), max_size=9),
)
def test_every_correction_and_comment_comes_back_from_its_note(replacements: list[str], comment: str) -> None:
    note = make_note(tuple(replacements), comment)
    assert parse_note(note) == (tuple(replacements), comment)
    assert len(note.splitlines()) <= 1


def test_what_a_person_changed_counts_rather_than_the_place_in_a_note() -> None:
    files, _ = write(essay_of(edit_of(17, 17, "a ")))
    changed = read_one(files["e.ann"].replace("=> a news", "=> newspapers")).edits[0]
    assert (changed.span, changed.replacements) == (Span(17, 21), ("newspapers",))
    moved = read_one(files["e.ann"].replace("Mec 17 21\tnews", "Mec 7 12\teated")).edits[0]
    assert (moved.span, moved.replacements) == (Span(7, 12), ("a news",))


def test_a_discontinuous_mark_covers_the_stretch_and_keeps_its_fragments_while_they_fit() -> None:
    ann = "T1\tMec 3 6;17 21\tdog news\n#1\tAnnotatorNotes T1\t=> bear\n"
    essay = read_one(ann)
    assert essay.edits[0].span == Span(3, 21)
    assert essay.edits[0].extra == {"brat": {"fragments": [[3, 6], [17, 21]]}}
    assert write(essay) == ({"e.txt": TEXT, "e.ann": ann}, [])
    assert read_one("T1\tMec 7 16\teated the\n").edits[0].span == Span(7, 16)


OTHERS = (
    "T3\tOrg 0 2\tMy\n"
    "T7\tOrg 3 6\tdog\n"
    "R1\tOwns Arg1:T3 Arg2:T7\n"
    "E1\tOrg:T3 Theme:T7\n"
    "A1\tNegated T3\n"
    "N1\tReference T7 Wiki:27\tDog\n"
    "*\tEquiv T3 T7\n"
    "#1\tAnnotatorNotes R1\tT7 is hers\n"
    "#2\tAnnotatorNotes T3\tfirst\n"
    "#3\tAnnotatorNotes T3\tsecond\n"
)


def test_relations_events_attributes_and_the_like_are_kept_and_written_back() -> None:
    essay = read_one(OTHERS)
    assert [edit.extra for edit in essay.edits] == [{"brat": {"id": "T3"}}, {"brat": {"id": "T7"}}]
    assert essay.edits[0].comment == "first"
    files, losses = write(essay)
    assert losses == []
    assert read(files) == [essay]
    kept = [line for line in OTHERS.splitlines() if line[0] in "REAN*"]
    assert [line for line in files["e.ann"].splitlines() if line[0] in "REAN*"] == kept
    assert read_one("#1\tAnnotatorNotes T9\tgone\n").metadata == {"brat": {"0": ["#1\tAnnotatorNotes T9\tgone"]}}


def test_problems_of_all_files_are_reported_together() -> None:
    files = {"a.ann": "x\n", "a.txt": "A", "b.ann": "y\n", "c.a1": "T1", "c.txt": "C", "d.ann": "\nz", "d.txt": "D"}
    assert [problem.split(": ")[0] for problem in problems_of(files)] == ["c.a1", "a.ann:1", "b.ann", "d.ann:2"]


@pytest.mark.parametrize(
    ("essay_id", "name"),
    [
        *(("e-1_b.2", "e-1_b.2"), ("../x", "%2E.%2Fx"), ("..", "%2E%2E"), ("/etc/passwd", "%2Fetc%2Fpasswd")),
        *(
            ("C:\\x", "C%3A%5Cx"),
            ("TR1*0100/answer1", "TR1%2A0100%2Fanswer1"),
            ("été 100%", "%C3%A9t%C3%A9%20100%25"),
        ),
        *(("nul", "%6Eul"), ("CON.txt", "%43ON.txt"), ("a.", "a%2E"), ("a\x00\n", "a%00%0A")),
    ],
)
def test_ids_become_safe_file_names_and_come_back(essay_id: str, name: str) -> None:
    assert (to_name(essay_id), from_name(name)) == (name, essay_id)
    assert read(write(Essay(essay_id, "x"))[0]) == [Essay(essay_id, "x")]


def test_no_two_essays_share_a_file_none_leaves_the_folder_and_ids_without_a_file_name_come_back_by_a_note() -> None:
    for essay_id in ("", "long" * 100, "語" * 60):
        files, _ = write(Essay(essay_id, "x"))
        assert all(5 < len(name) < 160 for name in files)
        assert read(files) == [Essay(essay_id, "x")]
    essays = [Essay("Essay", "one", (), ("A", "a")), Essay("essay", "two", (), ("A", "a")), Essay("ESSAY", "three")]
    files, _ = write(*essays)
    assert len({name.casefold() for name in files}) == len(files)
    assert sorted(read(files), key=lambda essay: essay.essay_id) == sorted(essays, key=lambda essay: essay.essay_id)
    files, _ = write(Essay("../../x", "one", (), ("..", "/abs", ".")), Essay("a/../../b", "two"))
    assert len(files) == 7
    assert all(part.strip(".") for name in files for part in name.split("/"))
    assert max(name.count("/") for name in files) == 1
    odd = read({"50%.txt": "", "a%zz.txt": "", "a b.txt": "", "%FF.txt": ""})
    assert [essay.essay_id for essay in odd] == ["%FF", "50%", "a b", "a%zz"]


def test_packed_files_byte_order_marks_and_other_line_ends_change_nothing() -> None:
    assert read({"e.txt.gz": TEXT, "e.ann.gz": ANN}) == [read_one(ANN)]
    assert read_one("\ufeff\n" + ANN.replace("\n", "\r\n\r\n")).edits == read_one(ANN).edits
    assert read_one(ANN.rstrip("\n")) == read_one(ANN)


def test_what_no_file_can_hold_is_refused() -> None:
    with pytest.raises(GraterError, match="essay e: cannot be written: it contains half a surrogate pair"):
        write(essay_of(text="\ud800"))
    with pytest.raises(GraterError, match="essay e: cannot be written as JSON"):
        write(replace(essay_of(), metadata={"q": float("inf")}))
