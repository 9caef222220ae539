"""MaxMatch on sentences worked by hand."""

from __future__ import annotations

import pytest

from grater.corpora.m2 import FORMAT, read_m2
from grater.errors import UsageError
from grater.measure.corrections.maxmatch import (
    GoldEdit,
    GoldSentence,
    choose_references,
    corrected_words,
    count_systems,
    gold_of,
    maxmatch_counts,
    read_gold,
)
from grater.model import Essay
from tests.corpora.sources import TextSource

SOURCE = ["she", "like", "walk", "in", "rain", "every", "day"]


def edit(start: int, end: int, *replacements: str) -> GoldEdit:
    return GoldEdit(start, end, tuple(tuple(text.split()) for text in replacements))


def counts(source: str, hypothesis: str, *edits: GoldEdit, max_unchanged: int = 2) -> tuple[int, int, int]:
    gold = {"0": edits}
    return maxmatch_counts(source.split(), hypothesis.split(), gold, max_unchanged=max_unchanged)["0"]


def essays(*lines: str) -> list[Essay]:
    return list(read_m2([f"{line}\n" for line in lines], name="own.m2"))


def test_sentence_left_as_it_was_proposes_nothing() -> None:
    assert counts("he sleep", "he sleep", edit(1, 2, "sleeps")) == (0, 0, 1)


def test_edit_that_is_gold_is_correct() -> None:
    assert counts("he sleep late", "he sleeps late", edit(1, 2, "sleeps")) == (1, 1, 1)


def test_any_alternative_is_correct() -> None:
    assert counts("he sleep late", "he slept late", edit(1, 2, "sleeps", "slept")) == (1, 1, 1)


def test_deletion_and_insertion_match_by_their_place() -> None:
    gold = (edit(1, 2, ""), edit(3, 3, "the"))
    assert counts("we must go to sea", "we go to the sea", *gold) == (1, 2, 2)
    assert counts("we must go to sea", "we go to the sea", edit(1, 2, ""), edit(4, 4, "the")) == (2, 2, 2)


def test_neighbouring_changes_are_read_as_the_annotator_wrote_them() -> None:
    source, hypothesis = "they discuss about it", "they talked of it"
    assert counts(source, hypothesis, edit(1, 3, "talked of")) == (1, 1, 1)
    assert counts(source, hypothesis, edit(1, 2, "talked"), edit(2, 3, "of")) == (2, 2, 2)


def test_changes_with_two_words_between_are_one_edit_and_with_three_are_two() -> None:
    assert counts("a b c d", "x b c y") == (0, 1, 0)
    assert counts("a b c d e", "x b c d y") == (0, 2, 0)
    assert counts("a b c d e", "x b c d y", max_unchanged=3) == (0, 1, 0)


def test_gold_edit_over_more_unchanged_words_than_allowed_is_missed() -> None:
    gold = edit(0, 5, "x b c d y")
    assert counts("a b c d e", "x b c d y", gold) == (0, 2, 1)
    assert counts("a b c d e", "x b c d y", gold, max_unchanged=3) == (1, 1, 1)


def test_annotators_are_counted_apart() -> None:
    gold = {"0": [edit(1, 2, "likes"), edit(2, 3, "walking")], "1": [edit(1, 3, "likes to walk")], "2": []}
    hypothesis = ["she", "likes", "walking", "in", "rain", "every", "day"]
    assert maxmatch_counts(SOURCE, hypothesis, gold) == {"0": (2, 2, 2), "1": (0, 1, 1), "2": (0, 1, 0)}


def test_one_edit_counts_for_each_of_two_gold_edits_that_are_the_same() -> None:
    # The official scorer's quirk: its loop over gold edits goes on after a match.
    assert counts("he sleep late", "he sleeps late", edit(1, 2, "sleeps"), edit(1, 2, "sleeps")) == (2, 1, 2)


def test_gold_edits_out_of_order_may_be_missed() -> None:
    # Also the official scorer's: a gold edit listed before the last one that matched is not looked at again.
    gold = (edit(6, 7, "days"), edit(1, 2, "likes"))
    assert counts("she like walk in rain every day", "she likes walk in rain every days", *gold) == (1, 2, 2)


def test_one_gold_insertion_rewards_one_of_two_words_put_in() -> None:
    assert counts("it is good", "it is very very good", edit(2, 2, "very")) == (1, 2, 1)


def test_empty_sentence_and_empty_correction_are_counted() -> None:
    assert counts("", "so it goes") == (0, 1, 0)
    assert counts("so it goes", "", edit(0, 3, "")) == (1, 1, 1)
    assert counts("", "", edit(0, 0, "so")) == (0, 0, 1)


def test_gold_edits_come_back_in_token_numbers() -> None:
    (essay,) = essays(
        "S she like walk in rain .",
        "A 1 3|||V|||likes to walk||likes walking|||REQUIRED|||-NONE-|||1",
        "A 4 4|||D|||the|||REQUIRED|||-NONE-|||1",
        "A 6 6|||P|||!|||REQUIRED|||-NONE-|||1",
        "A 5 6|||P|||-NONE-|||REQUIRED|||-NONE-|||0",
        "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||10",
    )
    assert gold_of(essay).edits == {
        "0": (edit(5, 6, ""),),
        "1": (edit(1, 3, "likes to walk", "likes walking"), edit(4, 4, "the"), edit(6, 6, "!")),
        "10": (),
    }
    assert list(gold_of(essay).edits) == ["0", "1", "10"]


def test_block_without_lines_has_one_annotator_who_found_nothing() -> None:
    (essay,) = essays("S all is well")
    assert gold_of(essay).edits == {"0": ()}


def test_correction_with_doubled_spaces_matches_nothing() -> None:
    (essay,) = essays("S she like it", "A 1 2|||V|||does  like|||REQUIRED|||-NONE-|||0")
    assert maxmatch_counts(["she", "like", "it"], ["she", "does", "like", "it"], gold_of(essay).edits) == {
        "0": (0, 1, 1)
    }


def test_edit_without_a_correction_asks_for_the_words_that_stand_there() -> None:
    (essay,) = essays("S she like it", "A 1 2|||UNK|||like|||REQUIRED|||-NONE-|||0")
    assert gold_of(essay).edits == {"0": (edit(1, 2, "like"),)}


def test_hypothesis_in_m2_is_corrected_by_its_first_alternatives() -> None:
    (essay,) = essays(
        "S she like walk in rain",
        "A 1 3|||V|||likes to walk||walks|||REQUIRED|||-NONE-|||0",
        "A 4 4|||D|||the|||REQUIRED|||-NONE-|||0",
        "A 3 4|||UNK|||in|||REQUIRED|||-NONE-|||0",
    )
    assert " ".join(corrected_words(gold_of(essay))) == "she likes to walk in the rain"


def test_hypothesis_with_overlapping_edits_is_refused() -> None:
    (essay,) = essays(
        "S she like it", "A 0 2|||V|||they like|||REQUIRED|||-NONE-|||0", "A 1 2|||V|||likes|||REQUIRED|||-NONE-|||0"
    )
    with pytest.raises(UsageError, match=r"do not overlap.*line 1.*token 1"):
        corrected_words(gold_of(essay))


def test_hypothesis_of_two_annotators_is_refused() -> None:
    (essay,) = essays(
        "S she like it", "A 1 2|||V|||likes|||REQUIRED|||-NONE-|||0", "A 2 3|||N|||them|||REQUIRED|||-NONE-|||1"
    )
    with pytest.raises(UsageError, match="one annotator"):
        corrected_words(gold_of(essay))


def test_essay_without_tokens_is_refused() -> None:
    with pytest.raises(UsageError, match="tokens"):
        gold_of(Essay("e1", "she like it"))


def test_annotator_with_the_best_running_score_is_chosen() -> None:
    # After one correct edit of one, annotator 0 of the second sentence gives F0.5 = 1.25 * 1 / (.25 * 2 + 2) = .5,
    # annotator 1 gives 1.25 * 1 / (.25 * 1 + 2) = .556.
    chosen = choose_references([{"0": (1, 1, 1)}, {"0": (0, 1, 1), "1": (0, 1, 0)}])
    assert chosen.annotators == ("0", "1")
    assert chosen.counts.tolist() == [[1, 0, 0], [0, 1, 0]]


def test_more_correct_edits_win_at_equal_scores() -> None:
    # F0.5 is 1 both ways: nothing proposed and nothing gold, or all of one correct.
    assert choose_references([{"0": (0, 0, 0), "1": (1, 1, 1)}]).annotators == ("1",)


def test_fewer_gold_edits_win_where_nothing_is_correct() -> None:
    assert choose_references([{"0": (0, 1, 3), "1": (0, 1, 2)}]).annotators == ("1",)


def test_first_annotator_wins_where_all_is_equal() -> None:
    assert choose_references([{"3": (0, 1, 2), "1": (0, 1, 2)}]).annotators == ("3",)


def test_no_sentences_give_an_empty_table() -> None:
    assert choose_references([]).counts.shape == (0, 3)


REFERENCE = (
    "S she like walk in rain",
    "A 1 2|||V|||likes|||REQUIRED|||-NONE-|||0",
    "A 1 3|||V|||walks|||REQUIRED|||-NONE-|||1",
    "",
    "S all is well",
)


def golds(*lines: str) -> list[GoldSentence]:
    return read_gold(TextSource("\n".join(lines) + "\n", "ref.m2"))


def test_systems_are_counted_against_the_same_references() -> None:
    systems = [
        [["she", "likes", "walk", "in", "rain"], ["all", "was", "well"]],
        [["she", "walks", "in", "rain"], []],
    ]
    first, second = map(choose_references, count_systems(golds(*REFERENCE), systems))
    assert (first.annotators, first.counts.tolist()) == (("0", "0"), [[1, 0, 0], [0, 1, 0]])
    assert (second.annotators, second.counts.tolist()) == (("1", "0"), [[1, 0, 0], [0, 1, 0]])


def test_a_file_and_the_essays_of_it_are_the_same_gold() -> None:
    lines = (
        *REFERENCE,
        "",
        "S she like  it !",
        "A 1 2|||UNK|||like|||REQUIRED|||-NONE-|||1",
        "A 2 2|||R|||does  so||-NONE-|||REQUIRED|||-NONE-|||0",
        "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||10",
    )
    made = [gold_of(essay) for essay in FORMAT.read(TextSource("\n".join(lines) + "\n", "ref.m2"))]
    assert [(each.words, each.edits) for each in golds(*lines)] == [(each.words, each.edits) for each in made]
    assert [list(each.edits) for each in golds(*lines)] == [["0", "1"], ["0"], ["0", "1", "10"]]


def test_negative_number_of_unchanged_words_is_refused() -> None:
    with pytest.raises(UsageError, match="found -1"):
        count_systems(golds(*REFERENCE), [], max_unchanged=-1)
