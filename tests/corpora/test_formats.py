"""What every format owes, ours and those that join later, run over the whole registry; and the ids of essays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora import read_corpus, write_corpus
from grater.corpora.formats import FORMATS, FileFormat, FolderFormat, Loss, Report, Source, ignore_loss
from grater.demo import sample_path
from grater.errors import BadInput, GraterError, UsageError
from grater.model import Edit, Essay, Span
from tests.corpora.sources import TextSource, any_corpus
from tests.examples import examples

NAMES = FORMATS.names()
SAMPLE = tuple(read_corpus(sample_path()))


def written(name: str, essays: Iterable[Essay], report: Report = ignore_loss) -> dict[str, str]:
    """The files that a format makes of essays, by name."""
    chosen = FORMATS[name]
    if isinstance(chosen, FolderFormat):
        return dict(chosen.write(essays, report))
    return {"file": "".join(chosen.write(essays, report))}


def read(name: str, files: dict[str, str]) -> Iterator[Essay]:
    chosen = FORMATS[name]
    sources: list[Source] = [TextSource(text, file) for file, text in sorted(files.items())]
    return chosen.read(sources) if isinstance(chosen, FolderFormat) else chosen.read(sources[0])


@pytest.mark.parametrize("name", NAMES)
def test_what_was_read_is_written_as_it_was_and_every_edit_is_written_or_reported(name: str) -> None:
    assert FORMATS[name].name == name
    losses, again = list[Loss](), list[Loss]()
    once = written(name, SAMPLE, losses.append)
    essays = list(read(name, once))
    assert written(name, essays, again.append) == once
    assert [loss for loss in again if not loss.changed] == []
    n_left_out = sum(loss.what.startswith("edit") and not loss.changed for loss in losses)
    assert sum(len(essay.edits) for essay in essays) + n_left_out >= sum(len(essay.edits) for essay in SAMPLE)


LOSSES = {
    "essay_id": {"id", "essay"},
    "annotators": {"annotator", "edit"},
    "metadata": {"metadata"},
    "tag": {"tag", "edit"},
    "rater": {"rater", "annotator", "edit"},
    "comment": {"comment", "edit"},
    "replacements": {"alternatives", "edit"},
}
"""The word that a loss begins with, by what was lost."""


def lost(before: Essay, after: Essay) -> set[str]:
    """What of an essay is otherwise; of edits, where none was left out."""
    names = {"essay_id", "annotators", "metadata"}
    otherwise = {name for name in names if getattr(before, name) != getattr(after, name)}
    if len(before.edits) != len(after.edits):
        return otherwise
    of_edits = LOSSES.keys() - names
    pairs = [*zip(sorted(before.edits, key=place), sorted(after.edits, key=place), strict=True)]
    return otherwise | {name for name in of_edits if any(getattr(a, name) != getattr(b, name) for a, b in pairs)}


def place(edit: Edit) -> tuple[Span, str, tuple[str, ...]]:
    return edit.span, edit.rater, edit.replacements[:1]


@pytest.mark.parametrize("name", NAMES)
def test_what_does_not_come_back_is_reported(name: str) -> None:
    for essay in SAMPLE[:12]:
        losses: list[Loss] = []
        back = list(read(name, written(name, [essay], losses.append)))
        reported = {loss.what.split()[0] for loss in losses}
        if len(back) == 1:
            assert {what for what in lost(essay, back[0]) if not LOSSES[what] & reported} == set()
        else:
            assert reported


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_corpus_can_be_written_and_what_is_written_can_be_read(name: str) -> None:
    if files := written(name, []):
        assert [essay.text for essay in read(name, files) if essay.text] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_corpus_is_written_and_read_through_files(name: str, tmp_path: Path) -> None:
    chosen = FORMATS[name]
    path = tmp_path / ("corpus" if isinstance(chosen, FolderFormat) else "".join(("file", *chosen.suffixes[:1])))
    write_corpus(SAMPLE, path, lambda _: None, format_name=name)
    guessed = None if chosen.suffixes else name
    assert list(read_corpus(path, format_name=guessed)) == list(read(name, written(name, SAMPLE)))


LETTERS = FileFormat(
    name="letters",
    suffixes=(),
    read=lambda source: iter([Essay(source.name, "".join(source.lines()))]),
    write=lambda essays, _: (essay.text for essay in essays),
)


def test_a_format_without_a_suffix_is_always_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(FORMATS._places, "letters", f"{__name__}:LETTERS")
    for name in ("a.jsonl", "b"):
        (tmp_path / name).write_text(name)
    assert [essay.text for essay in read_corpus(tmp_path, format_name="letters")] == ["a.jsonl", "b"]
    with pytest.raises(UsageError, match=r"name the format, one of: .*jsonl \(\.jsonl\), letters, m2"):
        read_corpus(tmp_path / "b")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match="expected files, found none in this folder"):
        read_corpus(tmp_path / "empty", format_name="letters")


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@examples(40)
def test_a_damaged_file_is_refused_or_has_its_edits_inside_the_text(name: str, data: st.DataObject) -> None:
    files = written(name, SAMPLE[:2])
    file = data.draw(st.sampled_from(sorted(files)))
    files[file] = damaged(files[file], data)
    with suppress(GraterError):
        essays = list(read(name, files))
        for essay in essays:
            assert all(0 <= edit.span.start <= edit.span.end <= len(essay.text) for edit in essay.edits)


def damaged(text: str, data: st.DataObject) -> str:
    """The text with a few pieces cut out, doubled, or replaced by odd characters."""
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 40)))
        piece = data.draw(
            st.sampled_from(["", text[start:end] * 2, "|||", "<", "&x;", "\n\n", "\x00", "-1", "🙂", '"', "\t"])
        )
        text = text[:start] + piece + text[end:]
    return text


@pytest.mark.parametrize("name", NAMES)
@given(corpus=any_corpus)
@examples(120)
def test_any_corpus_comes_back_as_far_as_losses_do_not_say_otherwise(name: str, corpus: list[Essay]) -> None:
    losses: list[Loss] = []
    with suppress(GraterError):  # half a surrogate pair has no place in a file
        back, again = list(read(name, written(name, corpus, losses.append))), list[Loss]()
        if name == "brat":  # which has the order of its files
            back, corpus = sorted(back, key=by_id), sorted(corpus, key=by_id)
        assert losses or [*map(comparable, back, corpus)] == [*map(comparable, corpus, corpus)]
        n_left_out = sum(loss.what.startswith("edit") and not loss.changed for loss in losses)
        assert sum(len(essay.edits) for essay in back) + n_left_out >= sum(len(essay.edits) for essay in corpus)
        is_other_text = any(loss.what.startswith(("text", "NUL", "U+FEFF")) for loss in losses)
        assert letters(back) == letters(corpus) or is_other_text
        # what has come back can be held: it is written again without a further loss
        assert sorted(read(name, written(name, back, again.append)), key=by_id) == sorted(back, key=by_id)
        assert [loss for loss in again if not loss.changed and not loss.what.startswith("U+FEFF")] == []


def by_id(essay: Essay) -> str:
    return essay.essay_id


def comparable(essay: Essay, before: Essay) -> Essay:
    """The essay without the metadata that FCE adds, and its edits in one order, since FCE has that of the text."""
    metadata = {name: essay.metadata.get(name) for name in before.metadata}
    return replace(essay, metadata=metadata, edits=tuple(sorted(essay.edits, key=repr)))


def letters(essays: Iterable[Essay]) -> str:
    return "".join("".join(essay.text.split()) for essay in essays)


@pytest.mark.parametrize("name", NAMES)
@given(text=st.text(max_size=200))
@examples(40)
def test_any_text_is_read_or_refused(name: str, text: str) -> None:
    chosen = FORMATS[name]
    names = ("a.txt", "a.ann") if isinstance(chosen, FolderFormat) else ("file",)
    with suppress(GraterError):
        list(read(name, dict.fromkeys(names, text)))
