"""Finds errors that patterns of words and tags reliably show: *made me to wait*, *everybody know*, *by foot*.

The patterns are in `rules.toml`, each next to the lesson that it teaches; a line of `find` is a pattern and what to
write in place of its bracketed words.  An element of a pattern is a token:

    waited|waits      one of these words           <wait>       any form of the verb
    :NNS?             a tag, a regular expression   in:IN        word and tag
    N=:NN  =N         a name, the same word again        [ ... ]      what is marked; `[ ]` is a gap
    ( ... )?  ( ... )*  groups                      ^            the beginning of a clause
    !and|or           anything but these words (or tags, `!:NN.*`), which may be the end of the sentence

Replacements may use a named token in a form: `{V:ing}`, `{V:base}`, `{V:s}`, `{V:past}`, `{N:plural}`, `{N:a}` (its
article), `{P:object}`. If the form equals the written word, nothing is marked.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from grater.corpora.text.analysis import Sentence
from grater.corpora.text.inflect import in_case_of, indefinite_article, plural
from grater.corpora.text.sentences import STOPS, paragraph_spans
from grater.corpora.text.verbs import verb_base, verb_forms
from grater.detect.detector import Finding, analysed
from grater.detect.explanations import BY_KIND
from grater.detect.patterns import LISTS
from grater.model import DELETE, Decision, Essay, Item, Json, Span

NAME = "grammar"
SHARE = 0.73
"""The share of its marks that touch a correction (`python -m benchmarks feedback`)."""

CONVENTIONS = {"compound": 0.75, "punctuation": 0.75}
"""The same for kinds that the words alone decide, so that they are right as often in a text with few other errors."""

KINDS = ("prep", "prep-missing", "article", "number", "verb-form", "comparison", "repetition", *CONVENTIONS)

NO_SPACE = re.compile(
    r"(?<![^\s\"'“‘(])[A-Za-z][a-z]+(?:(?P<mark>[,?!;])(?=[A-Za-z][a-z]+(?![^\s,.;:?!)\"'”’]))"
    r"|(?P<stop>\.)(?=(?:I|The|This|That|It|He|She|We|They|But|And|In|So|My|You|There|When|If)\s))"
    r"|(?<=\b[12]\d{3})(?P<comma>,)(?=[a-z]+\s)|(?<=[a-z][.!?])(?P<quote>[\"”])(?=[A-Z][a-z]+\s)"
)
"""A mark between two words that no space follows; a full stop only before a word that often begins a sentence."""

SAYING = (
    "said|says|explained|explains|added|adds|asked|asks|replied|answered|noted|notes|recalled|continued|told|tells"
)
SPEAKER = r"(?:I|he|she|they|we|the [a-z]+|[A-Z][\w'’-]+(?: [A-Z][\w'’-]+){0,3})"
SAID_AFTER = re.compile(
    rf"(?P<first>[\w'’-]+)[^\"]*(?<!{')(?<!'.join(SAYING.split('|'))})[,?!] ?\" ?"
    rf"(?:{SPEAKER} (?:{SAYING})|(?:{SAYING}) {SPEAKER})\b"
)
"""A paragraph that begins with speech, of which only the end has a quotation mark."""

OBJECTS = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them"}
CLAUSE = r"(?:^|(?<=^, )|(?<= because/IN/because )|(?<= but/CC/but )|(?<= ;/:/; ))"
WORD, TAG, BASE = r"[^/ ]+", r"[^/ ]+", r"[^ ]+"
ELEMENT = re.compile(
    r"(?:(?P<name>[A-Z])=)?(?P<is_not>!)?(?:<(?P<verb>[^>]+)>|(?P<word>[^:<>\s]+))?(?::(?P<tag>\S+))?"
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern and its replacement, for a rule of a kind."""

    rule: str
    kind: str
    regex: re.Pattern[str]
    better: str
    needs: tuple[frozenset[str], ...]
    """A sentence is searched only if it has a word of each of these, unchanged or as a verb."""


@cache
def patterns() -> tuple[Pattern, ...]:
    """Every pattern of the rules, in their order."""
    kinds = {"verb": "verb-form", "agreement": "verb-form"}
    found = {}
    for kind, rules in BY_KIND.items():
        if kind in kinds or kind == "prep-missing":
            continue
        for rule in rules:
            for line in filter(None, map(str.strip, rule.find.splitlines())):
                pattern, _, better = line.partition(" =>")
                found[line] = Pattern(rule.name, kind, re.compile(_regex(pattern)), better.strip(), _needs(pattern))
    return tuple(found.values())


def _regex(pattern: str) -> str:
    parts = []
    for element in pattern.split():
        if element in ("[", "]"):
            parts.append("(?P<from_>)" if element == "[" else "(?P<to_>)")
        elif element == "^":
            parts.append(CLAUSE)
        elif element[0] == "=":
            parts.append(f"(?P={element[1:]})/{TAG}/{BASE} ")
        elif element[0] in "()" or element == "|":
            parts.append(element.replace("(", "(?:"))
        else:
            parts.append(_token(element))
    return ("" if pattern.startswith("^") else "(?:^|(?<= ))") + "".join(parts)


def _needs(pattern: str) -> tuple[frozenset[str], ...]:
    needed, depth = [], 0
    for element in pattern.split():
        depth += element.startswith("(") - element.startswith(")")
        words = _element(element)["word"] or _element(element)["verb"] if element[0] not in "()[]^!=" else None
        if words and not depth:
            needed.append(frozenset(_listed(words).split("|")))
    return tuple(needed)


def _listed(words: str) -> str:
    return "|".join(LISTS.get(word, word) for word in words.split("|"))


def _element(element: str) -> re.Match[str]:
    match = ELEMENT.fullmatch(element)
    if match is None:
        raise ValueError(f"expected an element of a pattern, found {element!r}")
    return match


def _token(element: str) -> str:
    match = _element(element)
    word = f"(?:{_listed(match['word'])})" if match["word"] else WORD
    base = f"(?:{_listed(match['verb'])})" if match["verb"] else BASE
    tag = f"(?:{match['tag'].replace('.', '[^/ ]')})" if match["tag"] else TAG
    if match["is_not"]:
        return f"(?!{word}/{tag}/{base} )"
    name = f"(?P<{match['name']}>{word})" if match["name"] else word
    return f"{name}/{tag}/{base} "


@dataclass(frozen=True, slots=True, eq=False)
class Grammar:
    """The patterns as a checker of whole texts."""

    name: str = NAME
    kinds: tuple[str, ...] = KINDS
    card: Mapping[str, Json] = field(default_factory=dict, repr=False)

    def find(self, essays: Iterable[Essay]) -> Iterator[Finding]:
        """Its marks only: patterns have no unflagged candidates."""
        for essay, sentences in analysed(essays):
            yield from (finding for sentence in sentences for finding in _in_sentence(essay, sentence, self.name))
            yield from _spaces(essay, self.name)
            yield from _quotation_marks(essay, self.name)

    def marks(self, essay: Essay) -> Iterator[Finding]:
        return self.find([essay])


def _spaces(essay: Essay, system: str) -> Iterator[Finding]:
    for match in NO_SPACE.finditer(essay.text):
        name = next(name for name in ("mark", "stop", "comma", "quote") if match[name])
        rule = "comma-space" if match[name] == "," else "space-after"
        yield _finding(essay, Span(*match.span(name)), "punctuation", f"{match[name]} ", system, rule)


def _quotation_marks(essay: Essay, system: str) -> Iterator[Finding]:
    """The marks of a paragraph that has one too many at its end, or lacks the first before *she said*."""
    for paragraph in paragraph_spans(essay.text):
        text = paragraph.of(essay.text)
        parts = text.split('"')
        if len(parts) % 2 or any(part[-1:].isdigit() for part in parts[:-1]):  # in pairs, or inches
            continue
        is_in_pairs = all(
            (not before or before[-1] in " ([—-") and inside.strip() == inside != ""
            for before, inside in zip(parts[:-2:2], parts[1:-2:2], strict=True)
        )
        if len(parts) > 2 and not parts[-1] and is_in_pairs and parts[-2].rstrip()[-1:] in STOPS:
            end = paragraph.end
            yield _finding(essay, Span(end - 1, end), "punctuation", "", system, "quotation-marks")
        elif len(parts) == 2 and (said := SAID_AFTER.match(text)):
            span = Span(paragraph.start, paragraph.start + said.end("first"))
            yield _finding(essay, span, "punctuation", f'"{said["first"]}', system, "quotation-marks")


def _finding(essay: Essay, span: Span, kind: str, words: str, system: str, rule: str) -> Finding:
    item = Item(essay.essay_id, span, kind)
    type_ = "missing" if not len(span) else "choice" if words else "extraneous"
    decision = Decision(item.item_id, system, flagged=True, score=1.0, type=type_, suggestion=words or DELETE)
    return Finding(item, decision, span.of(essay.text), (), confidence=CONVENTIONS.get(kind, SHARE), rule=rule)


def _in_sentence(essay: Essay, sentence: Sentence, system: str) -> Iterator[Finding]:
    small = [word.lower().replace("/", "|") for word in sentence.words]
    bases = list(map(verb_base, small))
    tokens = [f"{word}/{tag}/{base} " for word, tag, base in zip(small, sentence.tags, bases, strict=True)]
    there = {*small, *bases}
    starts = [0]
    for token in tokens:
        starts.append(starts[-1] + len(token))
    text, done = "".join(tokens), list[Span]()
    for pattern in patterns():
        if any(there.isdisjoint(needed) for needed in pattern.needs):
            continue
        for match in pattern.regex.finditer(text):
            first, last = bisect_left(starts, match.start("from_")), bisect_left(starts, match.start("to_"))
            start = sentence.spans[first].start
            span = Span(start, sentence.spans[last - 1].end if last > first else start)
            words = _written(pattern.better, match, span.of(essay.text), is_first=first == 0)
            if (
                words.lower() == span.of(essay.text).lower()
                or "|" in words
                or any(own == span or (own.start < span.end and span.start < own.end) for own in done)
            ):
                continue
            done.append(span)
            kind = "prep-missing" if pattern.kind == "prep" and not len(span) else pattern.kind
            yield _finding(essay, span, kind, words, system, pattern.rule)


def _written(better: str, match: re.Match[str], written: str, *, is_first: bool) -> str:
    words = re.sub(r"\{(\w):?(\w*)\}", lambda slot: _form(match[slot[1]], slot[2]), better)
    if words.replace("-", " ") == written.lower():  # capitals of names stay
        return written.replace(" ", "-")
    has_capital = is_first or (written[:1].isupper() and better[:1] != "{" and written.split()[0] != "I")
    return in_case_of(written, words) if written and has_capital else words


def _form(word: str, form: str) -> str:
    if form == "plural":
        return plural(word)
    if form == "a":
        return indefinite_article(word)
    if form == "object":
        return OBJECTS.get(word, word)
    return str(getattr(verb_forms(verb_base(word)), form)) if form else word
