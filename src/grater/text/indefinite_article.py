"""*a* or *an*: by the sound that a word begins with, as far as its spelling tells.

Silent *h* (*an hour*), vowels that sound like *you* or *one* (*a university*, *a one-way street*), letters that are
spelt out (*an MBA*, *a UFO*, *an X-ray*) and numbers (*an 8*, *an 11-year-old*, *an 1800s house*) are known.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

SILENT_H = re.compile(r"(?:hour|honest|honou?r|heir)")
LIKE_YOU_OR_ONE = re.compile(
    r"eu(?!\Z)|ew|on(?:e(?![a-z])|es?\Z|es[ei]|ce)|oui|uni(?![ndm]|r[or]|ss|m[^o])|unimo|unanim|us[aeu]|"
    r"ut(?:i|o|e(?![a-z]?t))|ub(?:i|er?(?:\Z|t))|ur(?:a|i|ea|o|u)|uk|uga|ufo|uvu|uyg|ute"
)
LETTERS_LIKE_VOWELS = frozenset("aefhilmnorsx")
NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+|\d+")
FIRST = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)*")
ONSETS = re.compile(r"S[CHKLMNPQTW]|F[LR]|RH|TH|CH|SH|PH|WH|[BCDGPT]R|[BCGP]L|TW|KN|WR")
SPELT_OUT = frozenset(
    [
        "ATM",
        "API",
        "CEO",
        "CFO",
        "CPU",
        "DNA",
        "EU",
        "FAA",
        "FAQ",
        "GPA",
        "GPU",
        "HIV",
        "HOA",
        "IPO",
        "LA",
        "LED",
        "MBA",
        "MEP",
        "MIT",
        "MOT",
        "NGO",
        "NIH",
        "NUS",
        "PIN",
        "RAF",
        "REM",
        "RNA",
        "SAT",
        "SOS",
        "SUV",
        "UFO",
        "UK",
        "UN",
        "URL",
        "US",
        "USA",
        "USB",
        "VIP",
        "NPO",
        "BA",
        "MA",
        "BSC",
        "PHD",
    ]
)


def indefinite_article(phrase: str) -> Literal["a", "an"]:
    """The article that goes before a phrase."""
    match = FIRST.search(phrase)
    if not match:
        return "a"
    word = unicodedata.normalize("NFD", match.group())
    return "an" if _starts_with_vowel(word) else "a"


def is_spelt_out(word: str) -> bool:
    """Whether a word is read letter by letter (*MBA*, *CD*), so far as it shows."""
    if not word.isalpha() or len(word) < 2 or not word.isupper():
        return False
    return word in SPELT_OUT or not re.search("[AEIOUY]", word)


def _starts_with_vowel(word: str) -> bool:
    if word[0].isdigit():
        return _number_starts_with_vowel(word)
    if _is_read_as_letters(word):
        return word[0].lower() in LETTERS_LIKE_VOWELS
    small = word.lower()
    if small[0] == "h":
        return SILENT_H.match(small) is not None
    if small[0] in "aeiou":
        return LIKE_YOU_OR_ONE.match(small) is None
    return small.startswith(("yt", "yps", "yvo"))


def _number_starts_with_vowel(word: str) -> bool:
    """*eight*, *eleven* and *eighteen*, with thousands and, in four figures, hundreds after them."""
    match = NUMBER.match(word)
    digits = match.group().replace(",", "") if match else word
    if digits[0] == "8":
        return True
    n_first = 2 if len(digits) == 4 else (len(digits) - 1) % 3 + 1
    return digits[:n_first] in ("11", "18")


def _is_read_as_letters(word: str) -> bool:
    """A single letter, letters with figures (*F16*, *mp3*), no vowel at all, or capitals that make no syllable."""
    letters = re.match(r"[A-Za-z]*", word)
    head = letters.group() if letters else ""
    if len(head) == 1 and head == word[: len(head)] and (len(word) == 1 or not word[1:2].isalpha()):
        return True
    if not head:
        return False
    if is_spelt_out(head) or not re.search("[aeiouyAEIOUY]", head):
        return True
    is_capitals = len(head) > 1 and head.isupper() and head == word
    return (
        is_capitals
        and len(head) <= 5
        and head[1] not in "AEIOUY"
        and head[0] not in "AEIOU"
        and not ONSETS.match(head)
    )
