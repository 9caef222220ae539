from grater.corpora.statistics.portion import N_BLOCKS, block_of
from tests.corpora.statistics.essays import edit, m2_block, two_sentences


def test_sentences_of_one_document_are_in_one_block() -> None:
    blocks = {block_of(m2_block(f"Number {number} .", document="d7")) for number in range(20)}
    assert len(blocks) == 1


def test_essay_falls_in_the_same_block_whoever_marked_it_and_wherever_it_is_read() -> None:
    # zlib.crc32(b"one") % 1024, the same on every machine
    assert block_of(two_sentences()) == block_of(two_sentences(edit(11, 15, "likes", rater="B"))) == 0x7A6C86F1 % 1024


def test_many_units_are_spread_over_all_blocks() -> None:
    blocks = [block_of(two_sentences(essay_id=str(number))) for number in range(20 * N_BLOCKS)]
    assert set(blocks) == set(range(N_BLOCKS))
