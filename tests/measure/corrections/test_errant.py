"""ERRANT's comparison: its rules by hand, against a slow twin, and against numbers that errant_compare printed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora import read_corpus
from grater.corpora.m2 import annotators_of, read_m2
from grater.corpora.source import open_source
from grater.errors import BadInput, UnknownName, UsageError
from grater.measure.corrections.edit_table import MODES, Mode, Tier, read_table
from grater.measure.corrections.errant import ErrantScore, errant_signature, score_errant
from grater.measure.corrections.scores import precision_recall_f
from grater.model import Edit, Essay, Span
from tests.examples import examples
from tests.measure.corrections import slow_errant

GOLDENS = Path(__file__).parent / "goldens"
TIERS: tuple[Tier, ...] = ("op", "main", "full")


def essays(m2: str) -> list[Essay]:
    """Blocks with A lines cut short: `A 1 2|||tag|||correction|||annotator`."""
    lines = []
    for line in m2.strip().splitlines():
        if line.startswith("A "):
            span, tag, correction, annotator = line.split("|||")
            line = f"{span}|||{tag}|||{correction}|||REQUIRED|||-NONE-|||{annotator}"
        lines.append(f"{line}\n")
    return list(read_m2(lines, name="test", annotators=annotators_of(lines)))


def one(m2: str) -> Essay:
    (essay,) = essays(m2)
    return essay


def types(score: ErrantScore, tier: Tier = "full") -> dict[str, tuple[int, ...]]:
    """For each type tp, fp, fn of all sentences."""
    return {name: tuple(counts.sum(axis=0).tolist()) for name, counts in score.by_type.dense(tier).items()}


def totals(score: ErrantScore) -> tuple[int, ...]:
    return tuple(score.counts.sum(axis=0).tolist())


def counts_of(hypothesis: str, reference: str, *, mode: Mode = "cs") -> tuple[int, ...]:
    return totals(score_errant([one(reference)], [one(hypothesis)], mode=mode))


REFERENCE = """
S We was at home since two week .
A 1 2|||R:VERB:SVA|||were|||0
A 4 5|||R:PREP|||for|||0
A 6 7|||R:NOUN:NUM|||weeks|||0
"""
HYPOTHESIS = """
S We was at home since two week .
A 1 2|||R:VERB:TENSE|||were|||0
A 4 5|||R:PREP|||during|||0
A 5 7|||R:OTHER|||two weeks|||0
"""


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("cs", (1, 2, 2)),  # "were" is the same correction of the same token, whatever its type
        ("cse", (0, 3, 3)),  # ... but its type differs
        ("ds", (2, 1, 1)),  # tokens 1 and 4 are marked by both
        ("dt", (3, 1, 0)),  # and token 6, inside the hypothesis's 5-7
    ],
)
def test_modes_differ_in_what_must_agree(mode: Mode, expected: tuple[int, int, int]) -> None:
    assert counts_of(HYPOTHESIS, REFERENCE, mode=mode) == expected


def test_types_are_the_references_where_edits_meet_and_the_hypothesiss_where_they_do_not() -> None:
    score = score_errant([one(REFERENCE)], [one(HYPOTHESIS)])
    assert types(score) == {
        "R:NOUN:NUM": (0, 0, 1),
        "R:OTHER": (0, 1, 0),
        "R:PREP": (0, 1, 1),
        "R:VERB:SVA": (1, 0, 0),
    }
    assert types(score, "op") == {"R": (1, 2, 2)}
    assert types(score, "main")["VERB:SVA"] == (1, 0, 0)


def test_an_insertion_is_detected_on_the_token_after_it() -> None:
    reference, hypothesis = (
        "S He ate apple .\nA 2 2|||M:DET|||an|||0",
        "S He ate apple .\nA 2 3|||R:NOUN|||apples|||0",
    )
    assert counts_of(hypothesis, reference, mode="dt") == (1, 0, 0)
    assert counts_of(hypothesis, reference, mode="ds") == (0, 1, 1)


def test_uncorrected_errors_count_in_detection_only() -> None:
    reference, hypothesis = "S It rain .\nA 1 2|||UNK|||rain|||0", "S It rain .\nA 1 2|||R:VERB|||rains|||0"
    assert counts_of(hypothesis, reference, mode="cs") == (0, 1, 0)
    assert counts_of(hypothesis, reference, mode="ds") == (1, 0, 0)
    assert types(score_errant([one(reference)], [one(hypothesis)], mode="dt"), "op") == {"UNK": (1, 0, 0)}


def test_an_annotator_with_a_noop_makes_every_hypothesis_edit_a_false_alarm() -> None:
    reference = "S It rain .\nA -1 -1|||noop|||-NONE-|||0"
    hypothesis = "S It rain .\nA 1 2|||R:VERB|||rains|||0"
    assert counts_of(hypothesis, reference) == (0, 1, 0)
    assert counts_of(reference, hypothesis) == (0, 0, 1)


def test_the_reference_is_chosen_by_the_f_of_the_corpus_so_far() -> None:
    # Alone, sentence 2 has F 0 against both annotators.  After sentence 1 (tp 1, nothing wrong), annotator 0 gives
    # P 1/2, R 1 (F .5556), annotator 1 gives P 1/2, R 1/3 (F .4545).
    references = essays(
        "S It rain .\nA 1 2|||R:VERB|||rains|||0\n\n"
        "S He go .\nA 0 1|||R:PRON|||She|||1\nA 2 3|||R:PUNCT|||!|||1\nA -1 -1|||noop|||-NONE-|||0"
    )
    hypotheses = essays("S It rain .\nA 1 2|||R:VERB|||rains|||0\n\nS He go .\nA 1 2|||R:VERB|||goes|||0")
    score = score_errant(references, hypotheses)
    assert score.reference_annotators == ("0", "0")
    assert score.counts.tolist() == [[1, 0, 0], [0, 1, 0]]


def test_a_tie_goes_to_the_annotator_who_comes_first_in_the_block() -> None:
    reference = one("S He go .\nA 1 2|||R:VERB|||goes|||7\nA 1 2|||R:VERB:SVA|||goes|||3")
    score = score_errant([reference], [one("S He go .\nA 1 2|||R:VERB|||goes|||0")])
    assert score.reference_annotators == ("7",)


def test_the_best_pair_of_annotators_is_chosen_on_both_sides() -> None:
    reference = one("S He go .\nA 1 2|||R:VERB|||goes|||a\nA -1 -1|||noop|||-NONE-|||b")
    hypothesis = one("S He go .\nA 1 2|||R:VERB|||went|||x\nA 1 2|||R:VERB|||goes|||y")
    score = score_errant([reference], [hypothesis])
    assert (score.hypothesis_annotators, score.reference_annotators) == (("y",), ("a",))
    assert totals(score) == (1, 0, 0)


def test_two_edits_of_the_reference_at_one_place_count_twice_as_in_errant() -> None:
    reference = "S He go .\nA 1 2|||R:VERB|||goes|||0\nA 1 2|||R:OTHER|||went|||0"
    assert counts_of("S He go .\nA 1 2|||R:VERB|||gone|||0", reference, mode="ds") == (2, 0, 0)


def test_a_repeated_edit_counts_once_and_is_told() -> None:
    repeated = "A 3 3|||M:PUNCT|||.|||0\n"
    score = score_errant([one(f"S He goes home\n{repeated * 3}")], [one(f"S He goes home\n{repeated * 2}")])
    assert totals(score) == (1, 0, 0)
    assert score.n_duplicates == 3


def test_deletions_are_compared_as_they_are_spelt() -> None:
    # As in errant_compare, for which they are two strings.
    spelt, empty = (f"S A a dog\nA 1 2|||U:DET|||{correction}|||0" for correction in ("-NONE-", ""))
    assert counts_of(spelt, empty) == (0, 1, 1)
    assert counts_of(empty, empty) == (1, 0, 0)


def test_white_space_between_the_words_of_the_source_does_not_matter() -> None:
    spaced = Essay(
        "x",
        "It  rain .",
        (Edit(Span(4, 8), ("rains",), "R:VERB", "0"),),
        ("0",),
        (Span(0, 2), Span(4, 8), Span(9, 10)),
    )
    assert totals(score_errant([one("S It rain .\nA 1 2|||R:VERB|||rains|||0")], [spaced])) == (1, 0, 0)


def test_no_sentence_at_all_gives_empty_counts() -> None:
    score = score_errant([], [])
    assert score.counts.shape == (0, 3)
    assert types(score) == {}
    assert score.by_type.dense() == {}


def test_dense_counts_of_types_add_up_to_the_counts_of_sentences() -> None:
    references, hypotheses = (list(read_corpus(GOLDENS / f"errant-{side}.m2")) for side in ("ref", "hyp"))
    for mode in MODES:
        score = score_errant(references, hypotheses, mode=mode)
        for tier in TIERS:
            by_type = score.by_type.dense(tier)
            assert np.array_equal(sum(by_type.values()), score.counts)


def test_precision_recall_and_f_of_nothing_are_one() -> None:
    # 3 of 4 and 3 of 8: P .75, R .375, F0.5 = 1.25 * .28125 / (.1875 + .375) = .625
    scores = precision_recall_f([[3, 1, 5], [0, 0, 0], [0, 1, 0], [0, 1, 1]], beta=0.5)
    assert scores.tolist() == [[0.75, 0.375, 0.625], [1.0, 1.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]


def test_the_signature_names_mode_beta_the_mended_defect_and_the_reference() -> None:
    first, second = (errant_signature([one(m2)], mode="cs", beta=0.5) for m2 in (REFERENCE, HYPOTHESIS))
    assert "duplicates:once" in str(first)
    assert "mode:cs" in str(first)
    assert first.options["reference"] != second.options["reference"]


def test_an_unknown_mode_is_refused_by_name() -> None:
    with pytest.raises(UnknownName, match="cs, cse, ds, dt"):
        score_errant([one(REFERENCE)], [one(HYPOTHESIS)], mode="sc")  # type: ignore[arg-type]


def test_essays_without_tokens_and_edits_inside_words_are_refused() -> None:
    plain = Essay("p", "It rain .")
    inside = Essay(
        "i", "It rain .", (Edit(Span(4, 7), ("x",), "R", "0"),), ("0",), (Span(0, 2), Span(3, 7), Span(8, 9))
    )
    with pytest.raises(UsageError, match="no tokens"):
        score_errant([plain], [plain])
    with pytest.raises(UsageError, match="inside a token"):
        score_errant([inside], [inside])


def test_different_sources_are_refused() -> None:
    with pytest.raises(BadInput, match="'goes' in place of 'go'"):
        score_errant([one("S He go .")], [one("S He goes .")])


GOLDEN = json.loads((GOLDENS / "errant.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("mode", MODES)
def test_files_of_our_own_get_the_numbers_of_errant_compare(mode: Mode) -> None:
    # goldens/errant.json: errant 3.0.2, errant_compare -hyp errant-hyp.m2 -ref errant-ref.m2 -MODE -cat 1|2|3
    references, hypotheses = (GOLDENS / f"errant-{side}.m2" for side in ("ref", "hyp"))
    score = score_errant(list(read_corpus(references)), list(read_corpus(hypotheses)), mode=mode)
    assert list(totals(score)) == GOLDEN["plain"][mode]["overall"]
    for tier in TIERS:
        assert {name: list(n) for name, n in types(score, tier).items()} == GOLDEN["plain"][mode][tier]


@pytest.mark.parametrize("mode", MODES)
def test_duplicates_are_where_we_differ_from_errant_compare(mode: Mode) -> None:
    references, hypotheses = (list(read_corpus(GOLDENS / f"errant-duplicates-{side}.m2")) for side in ("ref", "hyp"))
    score = score_errant(references, hypotheses, mode=mode)
    # ERRANT counts the full stop that the hypothesis sets once as two true positives, and so on.
    assert GOLDEN["duplicates"][mode]["overall"] == [3, 2, 4]
    assert totals(score) == (2, 1, 3)
    assert score.n_duplicates == 3


@pytest.mark.parametrize("name", ["errant", "errant-duplicates"])
def test_files_read_straight_give_the_same_as_essays(name: str) -> None:
    paths = [GOLDENS / f"{name}-{side}.m2" for side in ("ref", "hyp")]
    straight, by_essays = (
        [read_table(open_source(path)) for path in paths],
        [list(read_corpus(path)) for path in paths],
    )
    for mode in MODES:
        first, second = score_errant(*straight, mode=mode), score_errant(*by_essays, mode=mode)
        assert np.array_equal(first.counts, second.counts)
        assert types(first) == types(second)
        assert first.reference_annotators == second.reference_annotators
        assert first.hypothesis_annotators == second.hypothesis_annotators
    signatures = [errant_signature(side[0], mode="cs", beta=0.5) for side in (straight, by_essays)]
    assert signatures[0] == signatures[1]


WORDS = ("Rain", "fell", "on", "the", "roof")
EDITS = st.tuples(
    st.integers(0, len(WORDS)),
    st.integers(0, 2),
    st.sampled_from(["R:A", "M:B", "UNK"]),
    st.sampled_from(["x", "", "y z"]),
).map(lambda drawn: (drawn[0], min(drawn[0] + drawn[1], len(WORDS)), drawn[2], drawn[3]))
SENTENCES = st.dictionaries(st.sampled_from("012"), st.lists(EDITS, max_size=4), max_size=3)
PAIRS = st.lists(st.tuples(SENTENCES, SENTENCES), max_size=5)


def as_essay(sentence: slow_errant.Sentence) -> Essay:
    text, tokens, start = " ".join(WORDS), [], 0
    for word in WORDS:
        tokens.append(Span(start, start + len(word)))
        start += len(word) + 1
    edits = [
        Edit(
            Span(_at(a, tokens, text), tokens[b - 1].end if a < b else _at(a, tokens, text)),
            (correction,),
            tag,
            rater,
        )
        for rater, marked in sentence.items()
        for a, b, tag, correction in marked
    ]
    return Essay("e", text, tuple(edits), tuple(sentence), tuple(tokens))


def _at(index: int, tokens: Sequence[Span], text: str) -> int:
    return tokens[index].start if index < len(tokens) else len(text)


@examples(150)
@given(pairs=PAIRS, mode=st.sampled_from(MODES), beta=st.sampled_from([0.5, 1.0, 2.0]))
def test_counts_types_and_choices_equal_those_of_the_slow_twin(
    pairs: list[tuple[slow_errant.Sentence, slow_errant.Sentence]], mode: Mode, beta: float
) -> None:
    references, hypotheses = [reference for reference, _ in pairs], [hypothesis for _, hypothesis in pairs]
    expected = slow_errant.score(references, hypotheses, mode, beta)
    marked = [[as_essay(sentence) for sentence in side] for side in (references, hypotheses)]
    score = score_errant(marked[0], marked[1], mode=mode, beta=beta)
    assert score.counts.tolist() == [list(slow_errant.totals(found)) for *_, found in expected]
    names = {tag for *_, found in expected for _, tag in found}
    assert types(score) == {
        name: tuple(sum(found.get((kind, name), 0) for *_, found in expected) for kind in ("tp", "fp", "fn"))
        for name in names
    }
    if len({name for sentence in references for name in sentence}) > 1:
        assert score.reference_annotators == tuple(theirs for _, theirs, _ in expected)


def test_scoring_never_loads_spacy() -> None:
    program = (
        "import sys; sys.modules['spacy'] = sys.modules['errant'] = None\n"
        "from grater.corpora import read_corpus\n"
        "from grater.measure.corrections import errant, gleu\n"
        "essays = list(read_corpus(sys.argv[1]))\n"
        "errant.score_errant(essays, essays)\n"
        "loaded = [name for name in sys.modules if name.split('.')[0] in ('spacy', 'errant') and sys.modules[name]]\n"
        "print(*loaded)"
    )
    command = [sys.executable, "-c", program, str(GOLDENS / "errant-ref.m2")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "\n"
