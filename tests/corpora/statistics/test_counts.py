from dataclasses import fields, replace

from grater.corpora.statistics.counts import CorpusCounts, total

NUMBERS = [field.name for field in fields(CorpusCounts) if not field.name.startswith("by_")]


def replace_number(counts: CorpusCounts, name: str, n: int) -> CorpusCounts:
    changes = {name: n}
    return replace(counts, **changes)  # type: ignore[arg-type]


def test_every_number_is_added_to_its_own() -> None:
    first, second = CorpusCounts(), CorpusCounts()
    for index, name in enumerate(NUMBERS):
        first, second = replace_number(first, name, 10 + index), replace_number(second, name, 100 * index)
    summed = first + second
    assert [getattr(summed, name) for name in NUMBERS] == [10 + 101 * index for index in range(len(NUMBERS))]


def test_tags_and_sentences_are_added_key_by_key_and_the_parts_stay_as_they_were() -> None:
    first = CorpusCounts(by_tag={"Nn": 1, "Vt": 2}, by_sentence={0: 3})
    second = CorpusCounts(by_tag={"Vt": 5}, by_sentence={0: 1, 4: 1})
    assert ((first + second).by_tag, (first + second).by_sentence) == ({"Nn": 1, "Vt": 7}, {0: 4, 4: 1})
    assert first.by_tag == {"Nn": 1, "Vt": 2}


def test_total_of_nothing_is_zero() -> None:
    assert total([]) == CorpusCounts()
