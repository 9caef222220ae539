"""Suggestions that a teacher would make, in place of what a detector or a checker offers mechanically.

A detector that chooses among the forms of one verb corrects *I am agree* to *I am agreeing*, although verbs of
knowing, wanting and having have no progressive and the *am* is wrong. A checker that offers the nearest dictionary
words corrects *him's* to *ham's*, although the writer regularised an irregular form. Both can be improved by general
rules on forms; marks are neither added nor removed.

`taught` returns a finding unchanged if no rule applies.
"""

from __future__ import annotations

import re
from dataclasses import replace

from grater.corpora.text.inflect import in_case_of, is_mass, plural, singular
from grater.corpora.text.lemmas import is_word
from grater.corpora.text.verbs import verb_base, verb_forms
from grater.detect.detector import Finding
from grater.detect.patterns import STATIVE
from grater.model import Item, Span

BE = re.compile(
    r"\b(?P<words>(?:(?P<who>\w+)['’](?P<short>m|re|s)|(?P<be>am|is|are|was|were))\s+"
    r"(?P<between>(?:(?:not|also|always|completely|fully|really|strongly|totally)\s+)*))\Z",
    re.IGNORECASE,
)
WINDOW = 80
"""Characters before a verb in which its *be* is looked for."""

POSSESSIVES = {
    "her's": ("hers", "her"),
    "him's": ("his",),
    "me's": ("my",),
    "our's": ("ours", "our"),
    "their's": ("theirs", "their"),
    "them's": ("their",),
    "they's": ("their",),
    "your's": ("yours", "your"),
}
PRONOUNS = {
    "hisself": ("himself",),
    "im": ("I'm",),
    "ive": ("I've",),
    "theirself": ("themselves",),
    "theirselves": ("themselves",),
    "themself": ("themselves",),
}
NOT_A_WORD = "“{}” is not an English word form: “{}”."


def taught(finding: Finding, text: str) -> Finding:
    """The finding with a teacher's suggestion."""
    if finding.item.kind == "verb-form":
        # *am agree* → *agree*, *is not agree* → *does not agree*, where the form that is offered is the *-ing* form.
        base = verb_base(finding.target.lower())
        end = finding.item.span.end
        be = BE.search(text[max(0, finding.item.span.start - WINDOW) : finding.item.span.start])
        if be is None or base not in STATIVE or finding.decision.suggestion not in _after_be(base):
            return finding
        words = " ".join(_plain(be, base))
        item = Item(finding.item.essay_id, Span(finding.item.span.start - len(be["words"]), end), finding.item.kind)
        decision = replace(finding.decision, item_id=item.item_id, suggestion=words)
        message = f"“{base}” is not used after “be”: “{words}”."
        return replace(finding, item=item, decision=decision, target=item.span.of(text), message=message)
    return _formed(finding) if finding.item.kind == "spelling" else finding


def _after_be(base: str) -> tuple[str, ...]:
    """Suggestions after *be* that treat only the form as wrong."""
    forms = verb_forms(base)
    return forms.ing, forms.past, forms.participle


def _plain(be: re.Match[str], base: str) -> list[str]:
    """The verb in the tense and person of the removed *be*, including a contracted subject."""
    forms, between = verb_forms(base), be["between"].split()
    do = {"is": "does", "s": "does", "was": "did", "were": "did"}.get((be["be"] or be["short"]).lower(), "do")
    who = [be["who"]] if be["who"] else []
    if "not" in between:
        return [*who, do, *between, base]
    return [*who, *between, {"does": forms.s, "did": forms.past}.get(do, base)]


def _formed(finding: Finding) -> Finding:
    words = _form_of(finding.target.lower(), (finding.decision.suggestion or "", *finding.alternatives))
    if not words or words == (finding.decision.suggestion, *finding.alternatives):
        return finding
    shown = tuple(in_case_of(finding.target, word) for word in words)
    message = NOT_A_WORD.format(finding.target, "” or “".join(shown))
    decision = replace(finding.decision, suggestion=shown[0])
    return replace(finding, decision=decision, alternatives=shown[1:], message=message)


def _form_of(word: str, offered: tuple[str, ...]) -> tuple[str, ...]:
    """The correct form of a word that the writer regularised; else the word with its apostrophe, if offered."""
    word = word.replace("’", "'")
    known = (POSSESSIVES | PRONOUNS).get(word)
    if known:
        return known
    same = tuple(better for better in offered if "'" in better and better.replace("'", "").lower() == word)
    return _plural_of(word) or _past_of(word) or same[:1]


def _plural_of(word: str) -> tuple[str, ...]:
    """*childrens* → *children*, *lifes* → *lives*, *homeworks* → *homework*."""
    stem = word.removesuffix("s")
    if stem == word:
        return ()
    if is_mass(stem):
        return (stem,)
    if is_word(stem) and not stem.endswith("s") and singular(stem) != stem:
        return (stem,)
    return (plural(stem),) if is_word(stem) and not plural(stem).startswith(stem) else ()


def _past_of(word: str) -> tuple[str, ...]:
    """*knowed* → *knew* or *known*."""
    stem = next((word[:-n] for n in (2, 1) if word.endswith("ed") and is_word(word[:-n])), "")
    forms = verb_forms(stem) if stem else None
    if forms is None or forms.past.endswith("ed"):
        return ()
    return tuple(dict.fromkeys((forms.past, forms.participle)))
