"""Explains a mark by the first rule of `rules.toml` whose patterns match it and its neighbours.

A rule is written for learners: one sentence, and one example, wrong and right. It explains a system's suggestion; it
does not decide whether there is an error. A mark that no rule matches has no explanation.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from grater.detect import patterns
from grater.model import DELETE, Span
from grater.result import Data


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing to learn, and the marks that it explains; the head of `rules.toml` describes the fields."""

    name: str
    title: str
    reason: str
    example: str
    before: str | None = None
    word: str | None = None
    better: str | None = None
    after: str | None = None
    phrases: tuple[str, ...] = ()
    find: str = ""

    @property
    def explains(self) -> bool:
        """Whether it also explains marks made by other systems."""
        return any((self.before, self.better is not None, self.word, self.after, self.phrases)) or not self.find


def _rules_by_kind() -> dict[str, tuple[Rule, ...]]:
    groups = tomllib.loads((files("grater.detect") / "rules.toml").read_text(encoding="utf-8"))
    known = vars(patterns)
    rules = {
        kind: tuple(
            Rule(name=name, **{key: known.get(value, value) for key, value in fields.items()})
            for name, fields in of_kind.items()
        )
        for kind, of_kind in groups.items()
    }
    return rules | {"prep-missing": rules["prep"], "verb": rules["verb-form"], "agreement": rules["verb-form"]}


BY_KIND: Mapping[str, tuple[Rule, ...]] = _rules_by_kind()
"""The rules of every kind of mark, special ones before general ones."""

SENTENCE_END = re.compile(r"\n|(?<=[.!?])[\"”’)\]]*\s+(?=[A-Z“\"]|\Z)")
REACH = 80
"""Characters of the text, on each side of a mark and on its line, that patterns see."""

EXAMPLE = re.compile(r"\[(?P<wrong>[^\]→]*)→(?P<right>[^\]]*)\]")
LAST_WORD = re.compile(r"[\w'’-]+(?=\W*$)")
FIRST_WORD = re.compile(r"[\w'’-]+")


@dataclass(frozen=True, slots=True)
class Place:
    """A mark with its neighbours; `better` is the suggestion, empty for a deletion."""

    kind: str
    before: str
    word: str
    better: str
    after: str


@dataclass(frozen=True, slots=True)
class Explanation(Data):
    """A rule in the words of one mark, with its example."""

    rule: str
    title: str
    reason: str
    wrong: str
    right: str


def place_of(text: str, span: Span, kind: str, suggestion: str | None) -> Place:
    """The sentence context of a mark, for the rules."""
    before = SENTENCE_END.split(text[max(0, span.start - REACH) : span.start])[-1]
    after = SENTENCE_END.split(text[span.end : span.end + REACH])[0]
    better = "" if suggestion in (None, DELETE) else str(suggestion)
    return Place(
        kind=kind,
        before=before.rstrip(),
        word=span.of(text),
        better=better,
        after=after.lstrip(),
    )


def explain(place: Place, name: str = "") -> Explanation | None:
    """The rule that explains a mark: that of this name, if one of its patterns found the mark."""
    for rule in BY_KIND.get(place.kind, ()):
        slots = _match(rule, place) if rule.explains or rule.name == name else None
        if slots is None and rule.name == name:
            slots = _slots(place)
        if slots is not None and name in ("", rule.name):
            with suppress(KeyError):  # the reason names words that stand elsewhere
                return _explained(rule, place, slots)
    return None


def _explained(rule: Rule, place: Place, slots: Mapping[str, str]) -> Explanation:
    """A pair such as `arrive at` is its own example, unless the rule has one for it."""
    wrong, right = example_sides(rule)
    phrase = slots.get("phrase", "")
    if phrase and phrase.split()[0] not in right:
        head = phrase.rpartition(" ")[0]
        wrong, right = f"{head} {place.word.lower()}".strip(), phrase
    return Explanation(
        rule=rule.name, title=rule.title, reason=rule.reason.format_map(slots), wrong=wrong, right=right
    )


def _slots(place: Place) -> dict[str, str]:
    left, right = LAST_WORD.search(place.before), FIRST_WORD.match(place.after)
    slots = {"word": place.word, "better": place.better}
    return slots | {"left": left[0] if left else "", "right": right[0] if right else ""}


def example_sides(rule: Rule) -> tuple[str, str]:
    """The example with its error, and without."""
    match = EXAMPLE.search(rule.example)
    if match is None:
        raise ValueError(f"{rule.name}: expected an example with [wrong→right], found {rule.example!r}")
    before, after = rule.example[: match.start()], rule.example[match.end() :]
    sides = []
    for words in (match["wrong"], match["right"]):
        text = before + words + (after.lstrip(" ") if not words and before[-1:] in ("", " ") else after)
        sides.append(text[:1].upper() + text[1:])
    return sides[0], sides[1]


def _match(rule: Rule, place: Place) -> dict[str, str] | None:
    """The slots of a rule that applies; None if it does not."""
    if not _is(rule.word, place.word) or not _is(rule.better, place.better):
        return None
    slots = _slots(place)
    if rule.phrases:
        # The phrase whose last word is the suggestion, and whose others stand before the mark in some form.
        known = _phrase_patterns(rule.phrases, place.better.lower())
        phrase = next((phrase for phrase, pattern in known if pattern.search(place.before)), None)
        if phrase is None:
            return None
        slots["phrase"] = phrase
    around = ((rule.before, r"\b(?:{})$", place.before), (rule.after, "^(?:{})", place.after))
    for pattern, where, words in around:
        if pattern is not None:
            match = _compiled(where.format(pattern)).search(words)
            if match is None:
                return None
            slots |= {name: text for name, text in match.groupdict().items() if text}
    return slots


def _is(pattern: str | None, words: str) -> bool:
    return pattern is None or _compiled(pattern).fullmatch(words) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


@cache
def _phrase_patterns(phrases: tuple[str, ...], better: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    split = [(phrase, *phrase.rsplit(" ", 1)) for phrase in phrases]
    adverb = r"(?: \w+ly| more| most| mainly| very much| only)?"
    return tuple(
        (phrase, re.compile(rf"\b{_forms(head)}{adverb}$", re.IGNORECASE))
        for phrase, head, preposition in split
        if preposition == better
    )


def _forms(head: str) -> str:
    """A pattern for a word and its regular forms: depend, depends, depended, depending."""
    if head.endswith("e"):
        return rf"{head[:-1]}(?:e|es|ed|ing)"
    if head.endswith("y") and head[-2] not in "aeou":
        return rf"{head[:-1]}(?:y|ies|ied|ying)"
    return rf"{head}{head[-1]}?(?:s|es|ed|ing)?"
