"""Essays are cut into tokenised sentences, and every edit lands on whole tokens of its own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.formats import EssayIds, Loss
from grater.corpora.normalise import Block, cut, tokens_of_edit
from grater.model import Edit, Essay, Span, short_hash
from tests.examples import examples

TEXT = "My cat doesn't sleeps well. It dream of fishs!"


def blocks_of(text: str, *edits: Edit, tokens: tuple[Span, ...] | None = None) -> tuple[list[Block], list[Loss]]:
    losses: list[Loss] = []
    essay = Essay("doc 1", text, edits, ("0", "1"), tokens, {"title": "Cats"})
    return list(cut(essay, EssayIds(), losses.append)), losses


def edit_of(text: str, words: str, *replacements: str, tag: str = "X") -> Edit:
    """An edit of the first place where these words stand."""
    start = text.index(words)
    return Edit(Span(start, start + len(words)), replacements, tag, "0")


def placed(text: str, edit: Edit) -> list[tuple[str, str, tuple[str, ...]]]:
    """The sentence, the words, and the replacements of every edit."""
    blocks, _ = blocks_of(text, edit)
    return [(b.essay.text, e.span.of(b.essay.text), e.replacements) for b in blocks for e in b.essay.edits]


def test_a_block_is_a_sentence_with_its_words_joined_by_single_spaces() -> None:
    blocks, losses = blocks_of("My  cat sleeps.\nIt doesn't dream.")
    essays = [block.essay for block in blocks]
    assert [essay.text for essay in essays] == ["My cat sleeps .", "It does n't dream ."]
    assert essays[0].tokens == (Span(0, 2), Span(3, 6), Span(7, 13), Span(14, 15))
    assert [essay.essay_id for essay in essays] == [short_hash("My cat sleeps ."), short_hash("It does n't dream .")]
    assert [dict(essay.metadata) for essay in essays] == [
        {"document": "doc 1", "document_start": 0},
        {"document": "doc 1", "document_start": 16},
    ]
    assert [essay.annotators for essay in essays] == [("0", "1"), ("0", "1")]
    assert losses == []


@pytest.mark.parametrize(
    ("words", "replacement", "changed", "into"),
    [
        ("sleeps", "sleep", "sleeps", "sleep"),
        ("doesn't sleeps", "sleep", "does n't sleeps", "sleep"),
        (" well", "", "well", ""),
        ("cat ", "dog ", "cat", "dog"),
        ("well.", "soundly.", "well", "soundly"),
        ("n't", "n't ever", "", "ever"),
        ("doesn't sleeps", "doesn't sleep", "sleeps", "sleep"),
    ],
)
def test_an_edit_is_placed_on_the_tokens_that_it_changes(
    words: str, replacement: str, changed: str, into: str
) -> None:
    ((_, found, replacements),) = placed(TEXT, edit_of(TEXT, words, replacement))
    assert (found, replacements) == (changed, (into,))


def test_insertions_uncorrected_edits_and_edits_inside_words_land_on_whole_tokens() -> None:
    text = "It sleeps.  It dreams."
    assert placed(text, Edit(Span(11, 11), ("Yes",), "X", "0")) == [("It sleeps .", "", ("Yes",))]
    assert placed(text, Edit(Span(12, 12), ("Yes",), "X", "0")) == [("It dreams .", "", ("Yes",))]
    assert placed(TEXT, Edit(Span(30, 33), (), "Um", "0")) == [("It dream of fishs !", "dream", ())]
    edit = Edit(Span(44, 45), ("",), "Nn", "0")  # the s of fishs
    blocks, losses = blocks_of(TEXT, edit)
    (kept,) = blocks[1].essay.edits
    assert (kept.span.of(blocks[1].essay.text), kept.replacements) == ("fishs", ("fish",))
    assert blocks[1].originals == (edit,)
    assert [str(loss) for loss in losses] == [
        "essay doc 1: edit 44-45 Nn changed: it begins or ends inside a token, and was widened to whole tokens"
    ]


@examples(100)
@given(st.text(st.one_of(st.sampled_from("abc .!?\n'\u00a0é🐈"), st.characters()), max_size=40), st.data())
def test_every_word_and_every_edit_is_in_a_block_or_reported(text: str, data: st.DataObject) -> None:
    bounds = st.tuples(*[st.integers(0, len(text))] * 2).map(lambda pair: Span(*sorted(pair)))
    edits = data.draw(
        st.lists(st.builds(Edit, bounds, st.just(("new words",)), st.just("X"), st.just("0")), max_size=4)
    )
    blocks, losses = blocks_of(text, *edits)
    assert "".join("".join(block.essay.text.split()) for block in blocks) == "".join(text.split())
    n_left_out = sum(not loss.changed for loss in losses)
    assert sum(len(block.essay.edits) for block in blocks) == len(edits) - n_left_out
    for block in blocks:
        assert block.essay.tokens == tuple(Span(s, e) for s, e in _words(block.essay.text))
        assert all(tokens_of_edit(edit, block.essay.text, block.essay.tokens) for edit in block.essay.edits)


def _words(text: str) -> list[tuple[int, int]]:
    ends = [index for index in range(len(text) + 1) if index == len(text) or text[index] == " "]
    return [(end - len(word), end) for word, end in zip(text.split(" "), ends, strict=True)] if text else []
