"""Tagged sentences of CoNLL-U files, as Universal Dependencies has them.

Ten columns: the second is the word, the fifth the language's own tag (XPOS; for English those of the Penn Treebank).
Lines of word ranges (`3-4`) and of empty nodes (`8.1`) are passed over, and words that the text leaves out (`_`).

Universal Dependencies cuts words at hyphens (`well | - | known`), grater's tokens do not.  `joined` makes one word of
such pieces where no space stands between them, with the tag of the last; a participle at the end makes an adjective
(*home-made*), and so does a noun after a number (*two-year*).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from grater.errors import Problems

OF_LAST = {"VBN": "JJ", "VBG": "JJ", "VBD": "JJ", "VB": "NN", "VBP": "NN", "RP": "NN", "IN": "JJ"}


@dataclass(frozen=True, slots=True)
class Tagged:
    """A sentence with its tags; `glued[i]` says that no space stands after word i."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    glued: tuple[bool, ...] = ()


def read_conllu(lines: Iterable[str], *, name: str, keep: Callable[[str], bool] = lambda _: True) -> Iterator[Tagged]:
    """The sentences whose `sent_id` is to be kept."""
    problems = Problems(name)
    rows: list[tuple[str, str, bool]] = []
    sent_id = ""
    for number, line in enumerate(lines, 1):
        line = line.rstrip("\n\r")
        if line.startswith("# sent_id"):
            sent_id = line.partition("=")[2].strip()
        elif not line and rows:
            if keep(sent_id):
                yield _tagged(rows)
            rows = []
        elif line and not line.startswith("#"):
            columns = line.split("\t")
            if len(columns) != 10:
                problems.add(f"expected 10 columns with tabs between them, found {len(columns)}", line=number)
            elif columns[0].isdecimal() and columns[1] != "_" and columns[4] != "_":
                rows.append((columns[1], columns[4], "SpaceAfter=No" in columns[9]))
    if rows and keep(sent_id):
        yield _tagged(rows)
    problems.done()


def _tagged(rows: list[tuple[str, str, bool]]) -> Tagged:
    words, tags, glued = zip(*rows, strict=True)
    return Tagged(words, tags, glued)


def joined(sentence: Tagged) -> Tagged:
    """The sentence with its hyphenated words whole; the same sentence if it has none."""
    words, tags = list(sentence.words), list(sentence.tags)
    for middle in range(len(words) - 2, 0, -1):
        if tags[middle] == "HYPH" and sentence.glued[middle - 1] and sentence.glued[middle]:
            tag = "JJ" if tags[middle - 1] == "CD" and tags[middle + 1] == "NN" else tags[middle + 1]
            words[middle - 1 : middle + 2] = ["".join(words[middle - 1 : middle + 2])]
            tags[middle - 1 : middle + 2] = [OF_LAST.get(tag, tag)]
    return sentence if len(words) == len(sentence.words) else Tagged(tuple(words), tuple(tags))
