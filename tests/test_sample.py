"""The bundled sample is a sound corpus: whole, well formed, varied, and its annotators disagree as people do."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pytest

from grater.corpora import read_corpus
from grater.corpora.check import check_essays
from grater.corpora.jsonl import write_jsonl
from grater.corpora.judgments import judgments_from_edits
from grater.corpora.tagsets import TAGSETS
from grater.corpora.text.prepositions import canonical
from grater.corpora.text.sentences import sentence_spans
from grater.corpora.text.tokens import token_spans
from grater.demo import __main__ as build
from grater.demo import sample_names, sample_path
from grater.demo.__main__ import read_marked
from grater.errors import UnknownName
from grater.model import Edit, Essay, Item
from tests.each import for_each

ESSAYS = list(read_corpus(sample_path("essays.jsonl"), format_name="jsonl"))
EDITS = [(essay, edit) for essay in ESSAYS for edit in essay.edits]
TAGS = Counter(edit.tag for _, edit in EDITS)
PAGE = (Path(__file__).parents[1] / "docs" / "sample.md").read_text("utf-8")
LEVELS = {"A2", "B1", "B2", "C1"}
MAIN_LANGUAGES = {"Chinese", "Korean", "Arabic", "Russian", "Spanish", "Japanese"} | {
    *("German", "French", "Turkish", "Hindi", "Vietnamese", "Portuguese")
}

each_essay = for_each(ESSAYS, name=lambda essay: essay.essay_id)


def by(rater: str, essay: Essay) -> list[Edit]:
    return sorted((edit for edit in essay.edits if edit.rater == rater), key=lambda edit: edit.span)


def corrected(text: str, edits: Iterable[Edit]) -> str:
    """The text with the first correction of every edit put in; edits without one leave it as it is."""
    for edit in sorted(edits, key=lambda edit: edit.span, reverse=True):
        if edit.replacements:
            text = text[: edit.span.start] + edit.replacements[0] + text[edit.span.end :]
    return text


def test_essays_are_many_and_numbered() -> None:
    assert len(ESSAYS) >= 64
    assert [essay.essay_id for essay in ESSAYS] == [f"sample-{number:02}" for number in range(1, len(ESSAYS) + 1)]


def test_no_two_essays_share_a_sentence() -> None:
    sentences = Counter(
        span.of(essay.text)
        for essay in ESSAYS
        for span in sentence_spans(essay.text)
        if len(span.of(essay.text).split()) > 4
    )
    assert [sentence for sentence, n in sentences.items() if n > 1] == []


def test_the_master_gives_the_same_essays() -> None:
    # Where this fails, the master was changed and `python -m grater.demo` not run, or the other way round.
    master = sample_path().with_name("essays.txt").read_text("utf-8")
    assert read_marked(master, name="essays.txt") == ESSAYS


def test_building_writes_the_corpus_that_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(sample_path().with_name("essays.txt"), tmp_path)
    monkeypatch.setattr(build, "files", lambda _: tmp_path)
    assert build.main() == 0
    assert (tmp_path / "essays.jsonl").read_bytes() == sample_path().read_bytes()


def test_building_from_a_broken_master_says_why_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "essays.txt").write_text("=== one\n---\nText.\n", "utf-8")
    monkeypatch.setattr(build, "files", lambda _: tmp_path)
    assert build.main() == 2
    assert capsys.readouterr().err.startswith("essays.txt:1: expected a head, a text and marks")
    assert not (tmp_path / "essays.jsonl").exists()


def test_the_file_is_byte_for_byte_what_our_writer_gives() -> None:
    losses: list[object] = []
    written = "".join(write_jsonl(ESSAYS, losses.append))
    assert sample_path().read_bytes() == written.encode()
    assert not losses


def test_an_unknown_sample_file_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"Did you mean 'essays\.jsonl'\?"):
        sample_path("essay.jsonl")


def test_every_sample_file_is_there() -> None:
    assert sample_names() == ["essays.jsonl"]
    assert all(sample_path(name).is_file() for name in sample_names())


@each_essay
def test_two_annotators_cover_every_essay(essay: Essay) -> None:
    assert essay.annotators == ("A", "B")
    assert {edit.rater for edit in essay.edits} <= {"A", "B"}


@each_essay
def test_an_essay_is_short_and_in_paragraphs(essay: Essay) -> None:
    assert 60 <= len(essay.text.split()) <= 200
    paragraphs = essay.text.split("\n")[bool(essay.metadata.get("titled")) :]
    assert 1 <= len(paragraphs) <= 8  # a letter has its greetings, a recipe its steps
    assert all(paragraph and paragraph == paragraph.strip() for paragraph in paragraphs)


@each_essay
def test_metadata_says_who_wrote_it_and_how_well(essay: Essay) -> None:
    assert essay.metadata.keys() - {"titled"} == {"language", "level", "prompt", "score", "course"}
    assert essay.metadata["level"] in LEVELS
    assert essay.metadata["score"] in range(6)


@each_essay
def test_edits_lie_inside_one_paragraph(essay: Essay) -> None:
    for edit in essay.edits:
        assert 0 <= edit.span.start < edit.span.end <= len(essay.text)
        assert "\n" not in edit.span.of(essay.text)


@each_essay
def test_every_edit_changes_something(essay: Essay) -> None:
    for edit in essay.edits:
        assert edit.span.of(essay.text) not in edit.replacements
        assert len(set(edit.replacements)) == len(edit.replacements)


@each_essay
def test_an_annotator_does_not_mark_a_place_twice(essay: Essay) -> None:
    for rater in ("A", "B"):
        for earlier, later in pairwise(by(rater, essay)):
            assert earlier.span.end <= later.span.start


@each_essay
def test_corrections_change_the_text_and_leave_clean_spacing(essay: Essay) -> None:
    for rater in ("A", "B"):
        corrections_are_clean(essay, by(rater, essay))


def corrections_are_clean(essay: Essay, edits: list[Edit]) -> None:
    text = corrected(essay.text, edits)
    assert (text != essay.text) == bool(edits)
    # A deletion that forgets its space, or a correction put in without one, shows as one of these.
    assert not [slip for slip in ("  ", " .", " ,", "\n ", " \n", "..", ",,", " ;") if slip in text]
    words = text.lower().split()
    assert not [word for word, after in pairwise(words) if word == after and word in {"the", "a", "to", "is", "of"}]


def test_the_check_finds_nothing_wrong_with_it() -> None:
    assert list(check_essays(ESSAYS, tagset=TAGSETS["nucle"])) == []


def test_all_tags_are_of_nucle_and_all_of_nucle_occur() -> None:
    assert TAGS.keys() == TAGSETS["nucle"].by_code.keys()


def test_frequent_tags_are_frequent_and_rare_ones_rare() -> None:
    # NUCLE section 5: Wcip leads; Figure 4: Pform, Smod and Wa end the list. Um is rare here: our texts are clear.
    assert TAGS.most_common(1)[0][0] == "Wcip"
    assert {tag for tag, _ in TAGS.most_common(7)} == {"Wcip", "ArtOrDet", "Rloc", "Vt", "Nn", "Vform", "Mec"}
    assert all(TAGS[tag] <= 5 for tag in ("Smod", "Wa", "Um", "Cit"))


def test_only_unclear_text_citations_and_acronyms_go_uncorrected() -> None:
    assert {edit.tag for _, edit in EDITS if not edit.replacements} == {"Um", "Cit", "Wa"}


def test_there_are_alternatives_comments_and_spans_inside_a_word() -> None:
    assert any(len(edit.replacements) > 1 for _, edit in EDITS)
    assert any(edit.comment for _, edit in EDITS)
    assert any(essay.text[edit.span.start - 1].isalpha() for essay, edit in EDITS if edit.span.start)


def test_in_some_essays_an_annotator_marks_nothing() -> None:
    silent = {rater: [essay.essay_id for essay in ESSAYS if not by(rater, essay)] for rater in ("A", "B")}
    assert silent == {"A": ["sample-40"], "B": ["sample-17", "sample-38"]}
    assert all(essay.edits for essay in ESSAYS)


def test_some_essays_have_emoji_curly_quotes_addresses_and_lists() -> None:
    with_emoji = [essay.essay_id for essay in ESSAYS if any(ord(character) > 0xFFFF for character in essay.text)]
    assert with_emoji == ["sample-13", "sample-31", "sample-43", "sample-46", "sample-68"]
    assert [essay.essay_id for essay in ESSAYS if "“" in essay.text] == ["sample-13"]
    assert [essay.essay_id for essay in ESSAYS if ".example" in essay.text] == ["sample-52", "sample-58", "sample-65"]
    lists = [essay.essay_id for essay in ESSAYS if "\n1. " in essay.text or "\n- " in essay.text]
    assert lists == ["sample-32", "sample-48", "sample-65"]


def test_every_first_language_has_several_essays() -> None:
    n_by_language = Counter(essay.metadata["language"] for essay in ESSAYS)
    assert len(n_by_language) == 18
    assert min(n_by_language.values()) >= 2
    assert {language for language, n in n_by_language.items() if n >= 5} == MAIN_LANGUAGES


def identification_kappa() -> float:
    """NUCLE section 3, on the tokens that an edit touches, before normalisation."""
    cells: Counter[tuple[bool, bool]] = Counter()
    for essay in ESSAYS:
        for token in token_spans(essay.text):
            marked = {edit.rater for edit in essay.edits if edit.span.touches(token)}
            cells["A" in marked, "B" in marked] += 1
    n_tokens = cells.total()
    share_a = (cells[True, True] + cells[True, False]) / n_tokens
    share_b = (cells[True, True] + cells[False, True]) / n_tokens
    observed = (cells[True, True] + cells[False, False]) / n_tokens
    chance = share_a * share_b + (1 - share_a) * (1 - share_b)
    return (observed - chance) / (1 - chance)


def test_annotators_agree_moderately_on_what_is_an_error() -> None:
    # The pairs of the NUCLE pilot study had .32 to .48 (Table 3); .41 to .60 is "moderate" for Landis and Koch.
    assert 0.41 < identification_kappa() < 0.60


def preposition_table() -> Counter[tuple[str, str]]:
    """How often A and B call a preposition an error or fine, by the strict rule: edits with the tag Wcip."""
    items = [
        Item(essay.essay_id, token, "prep")
        for essay in ESSAYS
        for token in token_spans(essay.text)
        if canonical(token.of(essay.text))
    ]
    judgments = judgments_from_edits(ESSAYS, {item.item_id: item for item in items}, tags=["Wcip"])
    labels = {(row["item"], row["rater"]): row["label"] for row in judgments.frame.iter_rows(named=True)}
    return Counter((labels[item.item_id, "A"], labels[item.item_id, "B"]) for item in items)


def test_annotators_agree_on_prepositions_as_trained_raters_do() -> None:
    # Tetreault and Chodorow 2008, section 5.2: two trained raters, kappa 0.630 on 1,336 contexts.
    cells = preposition_table()
    n_items = cells.total()
    both, only_a, only_b = cells["error", "error"], cells["error", "ok"], cells["ok", "error"]
    share_a, share_b = (both + only_a) / n_items, (both + only_b) / n_items
    chance = share_a * share_b + (1 - share_a) * (1 - share_b)
    kappa = (1 - (only_a + only_b) / n_items - chance) / (1 - chance)
    assert 0.60 < kappa < 0.70
    assert (
        f"Of {n_items:,} prepositions A calls {both + only_a} wrong and B {both + only_b}, {both} of them both"
        in PAGE
    )
    assert f"kappa is {kappa:.2f}" in PAGE


def test_annotators_differ_in_spans_tags_and_corrections() -> None:
    first = {(essay.essay_id, edit.span): edit for essay, edit in EDITS if edit.rater == "A"}
    second = {(essay.essay_id, edit.span): edit for essay, edit in EDITS if edit.rater == "B"}
    shared = first.keys() & second.keys()
    assert first.keys() - shared
    assert second.keys() - shared
    assert any(first[place].tag != second[place].tag for place in shared)
    assert any(first[place].replacements != second[place].replacements for place in shared)


def test_the_page_counts_essays_sentences_tokens_and_edits_right() -> None:
    n_sentences = sum(len(sentence_spans(essay.text)) for essay in ESSAYS)
    n_tokens = sum(len(token_spans(essay.text)) for essay in ESSAYS)
    by_rater = Counter(edit.rater for _, edit in EDITS)
    assert f"{len(ESSAYS)} essays, {n_sentences} sentences, {n_tokens} tokens" in PAGE
    assert f"{by_rater['A']} edits by annotator A and {by_rater['B']} by annotator B" in PAGE
    assert f"identification is {identification_kappa():.2f}" in PAGE


def test_the_page_counts_words_shares_and_oddities_right() -> None:
    shares = [sum(n for _, n in TAGS.most_common(most)) / TAGS.total() for most in (5, 10)]
    n_alternatives = sum(len(edit.replacements) > 1 for _, edit in EDITS)
    n_comments = sum(bool(edit.comment) for _, edit in EDITS)
    n_uncorrected = sum(not edit.replacements for _, edit in EDITS)
    assert f"{sum(len(essay.text.split()) for essay in ESSAYS)} words between spaces" in PAGE
    assert f"make up {shares[0]:.1%} of the edits and the first ten {shares[1]:.1%} (".replace("%", " %") in PAGE
    assert f"{n_alternatives} edits have alternatives, {n_comments} a comment, {n_uncorrected} no correction" in PAGE
