"""Reading, pairing and combining what is scored."""

from __future__ import annotations

import pytest

from grater.corpora.edits.engine import load_engine
from grater.corpora.m2 import read_m2
from grater.corpora.normalise import corrected_text
from grater.corpora.parallel import combine, parallel_essays
from grater.errors import BadInput, UsageError
from grater.measure.corrections.scores import (
    METRICS,
    MetricOptions,
    References,
    corrected_texts,
    fit_hypotheses,
    precision_recall_f,
    require_same_sources,
    rewritten,
    score_systems,
)
from grater.model import Essay, Span
from tests.each import for_each
from tests.measure.corrections.essays import SOURCE, TEXT, m2_system, references, text_system


def test_texts_as_references_are_annotators_who_rewrote_every_sentence() -> None:
    made = rewritten(SOURCE, {"r0": TEXT, "r1": SOURCE}, source_name="src")
    assert [corrected_texts(essay) for essay in made] == [
        {"r0": text, "r1": source} for text, source in zip(TEXT, SOURCE, strict=True)
    ]
    assert [len(essay.edits) for essay in made] == [1, 1, 1, 0]


@pytest.mark.parametrize("name", METRICS.names())
def test_every_metric_refuses_an_output_of_another_length_and_edits_of_other_sentences(name: str) -> None:
    short = m2_system("short", f"S {SOURCE[0]}\n\n") if name == "errant" else text_system("short", TEXT[:1])
    other = m2_system("other", "S She went home .\n\nS A .\n\nS B .\n\nS C .\n\n")
    for hypothesis, message in (
        (short, r"short\..*: expected 4 sentences, as in ref.m2, found 1; .*sentence 2"),
        (other, r"other.m2:1: .*sentence 1 .*found 'went' in place of 'go'"),
    ):
        with pytest.raises(BadInput, match=message):
            METRICS[name].count(references(), [hypothesis], MetricOptions())


GLUED = ["She goes to school every days.", "I am agree with it.", "We don't like it.", "He is in home ."]


def test_a_text_cut_into_other_words_is_refused_unless_it_may_be_cut() -> None:
    with pytest.raises(BadInput, match=r"glued.txt:1: .*found 'days\.'; 3 of 4 lines .*; pass `tokenise`"):
        fit_hypotheses(references(), [text_system("glued", GLUED)])
    [made], warnings = fit_hypotheses(references(), [text_system("glued", GLUED)], tokenise=True)
    assert made.texts == ["She goes to school every days .", SOURCE[1], "We do n't like it .", SOURCE[3]]
    assert warnings == []


@pytest.mark.parametrize("name", METRICS.names())
def test_a_corrected_word_boundary_is_an_edit_in_every_metric(name: str) -> None:
    source, better = ["My life style is good ."], {"0": ["My lifestyle is good ."]}
    essays = list(parallel_essays(source, better, load_engine()))
    if METRICS[name].references_are_texts:
        essays = rewritten(source, better, source_name="s")
    people = References("r", essays)
    for tokenise in (False, True):
        lines = ["My lifestyle is good." if tokenise else "My lifestyle is good ."]
        fitting, warnings = fit_hypotheses(people, [text_system("s", lines)], tokenise=tokenise)
        assert warnings == []
        [system] = score_systems(METRICS[name], people, fitting).systems
        assert list(system.overall.scores.values())[-1].value == 1


def corrected(*lines: str) -> dict[str, str]:
    filled = [line.replace("~", "|||REQUIRED|||-NONE-|||") + "\n" for line in lines]
    (essay,) = read_m2(filled, name="test")
    return corrected_texts(essay)


def test_every_annotator_gives_a_text_of_the_first_of_what_overlaps_or_is_offered() -> None:
    three = ("A 1 2|||R|||goes~0", "A 2 3|||U|||~0", "A 4 4|||M|||.~1", "A -1 -1|||noop|||-NONE-~2")
    texts = {"0": "He goes home", "1": "He go in home .", "2": "He go in home"}
    assert corrected("S He go in home", *three) == texts
    # Insertions come before the word they stand at.
    fruit = ("A 2 3|||R|||pear~0", "A 2 2|||M|||a~0", "A 2 2|||M|||ripe~0")
    assert corrected("S He eats apple", *fruit) == {"0": "He eats a ripe pear"}
    # Of overlapping edits the first counts.
    assert corrected("S a b c", "A 0 2|||R|||x~0", "A 1 3|||R|||y~0") == {"0": "x c"}
    # Alternatives give their first and uncorrected errors stay.
    assert corrected("S a b", "A 0 1|||R|||x||y~0", "A 1 2|||UNK|||b~0") == {"0": "x b"}
    # A sentence that nobody read stays as it is.
    assert corrected("S a  b") == {"0": "a b"}


def essay(text: str, line: int | None = None) -> Essay:
    return Essay("x", text, line=line)


TWO, CUT = [essay("It rains .", 1), essay("So what ?", 4)], Essay("x", "cannot", tokens=(Span(0, 3), Span(3, 6)))
DIFFERENT = {
    "other words": (TWO, [TWO[0], essay("So who ?", 9)], "hyp:9: .*sentence 2 .*ref.m2:4, found 'who' .* token 1"),
    "other tokens": ([essay("can not")], [essay("cannot")], "'cannot' in place of 'can' .*tokenised in different"),
    "tokens that came with the text": ([essay("cannot")], [CUT], "tokenised in different ways"),
    "a line too few": (TWO, ["It rained ."], "hyp: expected 2 sentences, .* nothing for sentence 2 of ref.m2:4: 'So"),
    "a line too many": (TWO[:1], ["It rained .", "No ."], "hyp:2: expected 1 sentence, .* sentence 2 is the first"),
}


@for_each(DIFFERENT)
def test_the_first_sentence_that_differs_is_shown(case: str) -> None:
    references, hypotheses, message = DIFFERENT[case]
    with pytest.raises(BadInput, match=message):
        require_same_sources(references, hypotheses, reference_name="ref.m2", hypothesis_name="hyp")
    require_same_sources([essay("can not")], [CUT])


def test_precision_recall_and_f_are_those_of_the_hand_and_0_over_0_is_1() -> None:
    # Precision recall and f are those of the hand.
    # P = 2/3, R = 2/5, F0.5 = 1.25 * (4/15) / (1/6 + 2/5) = (1/3) / (17/30) = 10/17
    assert precision_recall_f([2, 1, 3], beta=0.5) == pytest.approx([2 / 3, 2 / 5, 10 / 17])
    assert precision_recall_f([2, 1, 3], beta=1) == pytest.approx([2 / 3, 2 / 5, 0.5])
    # Nothing over nothing is one as in the official tools.
    assert precision_recall_f([0, 0, 0], beta=0.5).tolist() == [1, 1, 1]
    assert precision_recall_f([0, 0, 4], beta=0.5).tolist() == [1, 0, 0]
    assert precision_recall_f([0, 3, 0], beta=0.5).tolist() == [0, 1, 0]
    assert precision_recall_f([0, 3, 4], beta=0.5).tolist() == [0, 0, 0]


BUS = ["She go to school by a bus every days ."]
SYSTEMS = {
    "a": ["She goes to school by bus every day ."],
    "b": ["She goes to school by the bus every day ."],
    "c": ["She went to school by bus every days ."],
}


@pytest.mark.parametrize("at_least", [1, 2])
def test_an_edit_of_two_systems_is_kept_and_of_edits_that_overlap_the_one_with_more_votes(at_least: int) -> None:
    (essay,) = combine(BUS, SYSTEMS, at_least=at_least, engine=load_engine())
    assert corrected_text(essay.text, essay.edits) == "She goes to school by bus every day ."
    for wrong in (0, 4):
        with pytest.raises(UsageError, match="from 1 to 3"):
            list(combine(BUS, SYSTEMS, at_least=wrong, engine=load_engine()))
