"""The two sides of a score: what the references say, and what a system made of the same sentences.

References are essays, one per sentence, with their annotators; a plain text file as a reference is an annotator who
rewrote every sentence.  A hypothesis is plain text, one sentence per line, or edits (M2).  A metric may have a faster
form of its own for edits (`edit_table.EditTable`).

**Side by side.** Every metric first requires the same sentences, in the same order, with the same words.  A
hypothesis with sources of its own (M2) must have the words of the reference; white space between them may differ.  A
hypothesis of plain text has no source to compare, only a number of lines.  The error shows the first sentence that
differs, in both files.

**Corrected texts.** Every annotator of a sentence gives one text: each edit's first alternative in place of its
words, words joined by single spaces.  An edit without a correction changes nothing.  Of edits that overlap, the first
in the text counts (of those that begin together, the first in the file); insertions at one point all count, in the
order of the file.

**Combined.** Several corrections of the same sentences become one: the edits that enough systems propose.  The way of
the best published ensembles (Tarnavskyi, Chernodub and Omelianchuk 2022, "Ensembling and knowledge distilling of
large sequence taggers for grammatical error correction", section 4: majority votes on span-level edits): the edits of
each system are extracted, and those with the same span and correction that at least `at_least` systems have are
applied.

Of edits that overlap, the one that more systems have is taken, then the one that stands first, then the shorter.
Insertions at one point count as overlapping: two words in place of one gap are rarely both meant.  Which system an
edit comes from does not matter, nor the order in which they are given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, NoReturn, Protocol, TypeAlias

from grater.corpora.normalise import corrected_text
from grater.errors import BadInput, Problem, UsageError
from grater.measure.corrections.edit_table import EditTable
from grater.model import Edit, Essay, Span, short_hash

if TYPE_CHECKING:
    from grater.corpora.edits.engine import Engine


Sentences: TypeAlias = Sequence[Essay] | EditTable
"""Sentences with the edits of annotators."""
MOST_SHOWN = 60
COMBINED = "combined"


@dataclass(frozen=True, slots=True, eq=False)
class References:
    """The sentences that all systems are scored on; `name` is for messages.

    `engine` is the full name of the engine that made their edits, where they were plain text.
    """

    name: str
    sentences: Sentences
    engine: str = ""

    @property
    def n_sentences(self) -> int:
        return len(_sourced(self))

    @property
    def essays(self) -> Sequence[Essay]:
        if isinstance(self.sentences, EditTable):
            raise UsageError(f"{self.name}: expected essays, found a table of edits; read the file as a corpus")
        return self.sentences


@dataclass(frozen=True, slots=True, eq=False)
class Hypothesis:
    """A system's output: lines of text, or sentences with its edits; `name` is the file, for messages."""

    system: str
    name: str
    texts: Sequence[str] | None = None
    sentences: Sentences = ()

    @property
    def essays(self) -> Sequence[Essay]:
        return References(self.name, self.sentences).essays

    @property
    def n_sentences(self) -> int:
        return len(self.essays if self.texts is None else self.texts)

    def only(self, places: Sequence[int]) -> Hypothesis:
        """The output for some of the sentences."""
        if self.texts is not None:
            return replace(self, texts=[self.texts[place] for place in places])
        return replace(self, sentences=[self.essays[place] for place in places])


def rewritten(sources: Sequence[str], texts: Mapping[str, Sequence[str]], *, source_name: str) -> list[Essay]:
    """Essays whose annotators rewrote each sentence as a whole; `texts` are their sentences by name."""
    for name, lines in texts.items():
        _require_as_many(sources, lines, source_name, name)
    return [
        Essay(
            short_hash(f"{number}:{source}"),
            source,
            tuple(_edits(source, number, texts)),
            tuple(texts),
            line=number + 1,
        )
        for number, source in enumerate(sources)
    ]


def _edits(source: str, number: int, texts: Mapping[str, Sequence[str]]) -> Iterator[Edit]:
    for name, lines in texts.items():
        if lines[number].split() != source.split():
            yield Edit(Span(0, len(source)), (lines[number],), "", name)


def _require_as_many(sources: Sequence[str], lines: Sequence[str], source_name: str, name: str) -> None:
    if len(lines) == len(sources):
        return
    at = min(len(lines), len(sources))
    first = (sources if len(sources) > at else lines)[at]
    message = (
        f"expected {len(sources)} sentences, as in {source_name}, found {len(lines)}; sentence {at + 1} is the first"
    )
    raise BadInput(Problem(name, f"{message} that only one of them has: {first!r}", at + 1))


def require_texts_fit(references: References, hypothesis: Hypothesis, texts: Sequence[str]) -> None:
    """Raise unless plain text has as many lines as the references, cut into words as they are."""
    require_same_sources(_sourced(references), texts, reference_name=references.name, hypothesis_name=hypothesis.name)
    _require_same_tokens(references, hypothesis, texts)


def _sourced(references: References) -> Sequence[Essay]:
    sentences = references.sentences
    return sentences.sentences if isinstance(sentences, EditTable) else sentences  # type: ignore[return-value]


def _require_same_tokens(references: References, hypothesis: Hypothesis, texts: Sequence[str]) -> None:
    """Lines that have every character of their source show how the text was cut; a few may be real corrections."""
    n_same, differing = 0, list[int]()
    for number, (essay, text) in enumerate(zip(_sourced(references), texts, strict=True)):
        words, given = source_words(essay), text.split()
        if words == given:
            n_same += 1
        elif "".join(words) == "".join(given):
            differing.append(number)
    if len(differing) > n_same:
        number = differing[0]
        words, given = source_words(_sourced(references)[number]), texts[number].split()
        pairs = zip_longest(words, given, fillvalue="nothing")
        expected, instead = next((one, other) for one, other in pairs if one != other)
        message = (
            f"expected words as in {references.name}, found {instead!r} in place of {expected!r}; {len(differing)}"
        )
        raise BadInput(
            Problem(hypothesis.name, f"{message} lines are tokenised differently, this one first", number + 1)
        )


class Sourced(Protocol):
    """A sentence as it was before anyone corrected it: an `Essay`, or what a metric makes of one."""

    @property
    def text(self) -> str: ...

    @property
    def tokens(self) -> tuple[Span, ...] | None: ...

    @property
    def line(self) -> int | None: ...


def require_same_sources(
    references: Sequence[Sourced],
    hypotheses: Sequence[Sourced | str],
    *,
    reference_name: str = "reference",
    hypothesis_name: str = "hypothesis",
) -> None:
    """Raise `BadInput` unless the hypotheses belong to the references, sentence by sentence."""
    for index, (reference, hypothesis) in enumerate(zip_longest(references, hypotheses)):
        if reference is None or hypothesis is None:
            _raise_unequal(references, hypotheses, reference_name, hypothesis_name)
        if not isinstance(hypothesis, str) and not _is_same(reference, hypothesis):
            message = _difference(index, reference, hypothesis, reference_name)
            if len(references) != len(hypotheses):
                message += f" ({len(references)} sentences there, {len(hypotheses)} here)"
            raise BadInput(Problem(hypothesis_name, message, hypothesis.line))


def source_words(sentence: Sourced) -> list[str]:
    """The tokens that came with the text, or else its words between white space, as in M2."""
    if sentence.tokens is None:
        return sentence.text.split()
    return [token.of(sentence.text) for token in sentence.tokens]


def _is_same(reference: Sourced, hypothesis: Sourced) -> bool:
    if reference.text == hypothesis.text and reference.tokens == hypothesis.tokens:
        return True
    return source_words(reference) == source_words(hypothesis)


def _raise_unequal(
    references: Sequence[Sourced], hypotheses: Sequence[Sourced | str], theirs: str, ours: str
) -> NoReturn:
    expected, n_given = len(references), len(hypotheses)
    message = f"expected {expected} sentence{'s' if expected != 1 else ''}, as in {theirs}, found {n_given}"
    if n_given > expected:
        first = hypotheses[expected]
        text, line = (first, None) if isinstance(first, str) else (first.text, first.line)
        more = f"; sentence {expected + 1} is the first too many: {_shown(text)}"
        raise BadInput(Problem(ours, message + more, expected + 1 if line is None else line))
    missing = references[n_given]
    more = f"; nothing for sentence {n_given + 1}{_at(missing, theirs)}: {_shown(missing.text)}"
    raise BadInput(Problem(ours, message + more))


def _difference(index: int, reference: Sourced, hypothesis: Sourced, theirs: str) -> str:
    expected, given = source_words(reference), source_words(hypothesis)
    at = next(
        place for place, (one, other) in enumerate(zip_longest(expected, given, fillvalue=None)) if one != other
    )
    why = "; the two are tokenised in different ways" if "".join(expected) == "".join(given) else ""
    return (
        f"expected in sentence {index + 1} the source of {theirs}{_at(reference, '')}, found {_word(given, at)} in "
        f"place of {_word(expected, at)} as token {at}{why}: {_shown(hypothesis.text)}"
    )


def _at(sentence: Sourced, name: str) -> str:
    where = "" if sentence.line is None else f":{sentence.line}"
    return f" of {name}{where}" if name else where


def _word(words: list[str], at: int) -> str:
    return repr(words[at]) if at < len(words) else "nothing"


def _shown(text: str) -> str:
    return repr(text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…")


def corrected_texts(essay: Essay) -> dict[str, str]:
    """The sentence as each annotator wants it; as it stands where nobody is known to have read it."""
    if not essay.annotators:
        return {"0": " ".join(essay.text.split())}
    return {
        annotator: corrected_text(essay.text, [edit for edit in essay.edits if edit.rater == annotator])
        for annotator in essay.annotators
    }


def hypothesis_texts(references: References, hypothesis: Hypothesis) -> Sequence[str]:
    """A hypothesis as lines of text, once it is known to fit the references."""
    texts = hypothesis.texts
    if texts is not None:
        require_texts_fit(references, hypothesis, texts)
        return texts
    require_same_sources(
        references.essays, hypothesis.essays, reference_name=references.name, hypothesis_name=hypothesis.name
    )
    return [next(iter(corrected_texts(essay).values())) for essay in hypothesis.essays]


def combine(
    sources: Sequence[str],
    systems: Mapping[str, Sequence[str]],
    *,
    at_least: int,
    engine: Engine,
    source_name: str = "source",
) -> Iterator[Essay]:
    """Sentences with the edits that at least `at_least` systems propose."""
    if not 1 <= at_least <= len(systems):
        raise UsageError(f"expected a number of systems from 1 to {len(systems)}, found {at_least}")
    from grater.corpora.parallel import parallel_essays  # the taggers behind it take longer than scoring M2

    for essay in parallel_essays(sources, systems, engine, source_name=source_name):
        yield replace(essay, edits=tuple(_agreed(essay.edits, at_least)), annotators=(COMBINED,))


def _agreed(edits: Iterable[Edit], at_least: int) -> Iterator[Edit]:
    votes = Counter(replace(edit, rater=COMBINED) for edit in edits)
    wanted = [edit for edit, n in votes.items() if n >= at_least]
    wanted.sort(key=lambda edit: (-votes[edit], edit.span.start, len(edit.span), edit.replacements))
    taken: list[Edit] = []
    for edit in wanted:
        if not any(_overlap(edit, other) for other in taken):
            taken.append(edit)
    yield from sorted(taken, key=lambda edit: (edit.span.start, edit.span.end))


def _overlap(one: Edit, other: Edit) -> bool:
    """Whether both change the same text; insertions at one point do."""
    if one.span == other.span:
        return True
    return max(one.span.start, other.span.start) < min(one.span.end, other.span.end)
