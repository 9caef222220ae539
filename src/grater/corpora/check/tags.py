"""Tags that the corpus's tag set does not have: one finding for each, with its number and first place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from difflib import get_close_matches

from grater.corpora.check.finding import Finding
from grater.corpora.tagsets import TagSet, all_tagsets, guess_tagset
from grater.model import Essay


def exempt_tags(tagset: TagSet | None) -> frozenset[str]:
    """The tags that owe no correction, in the given set or in any that we know."""
    tagsets = (tagset,) if tagset else all_tagsets()
    return frozenset(tag.code for known in tagsets for tag in known if not tag.owes_correction)


class UnknownTags:
    """Counts tags while a corpus goes by; without a given set, the one that fits best is guessed at the end."""

    def __init__(self, tagset: TagSet | None) -> None:
        self._tagset = tagset
        self._counts: Counter[str] = Counter()
        self._first: dict[str, tuple[str, int | None]] = {}

    def see(self, essay: Essay) -> None:
        for edit in essay.edits:
            self._counts[edit.tag] += 1
            self._first.setdefault(edit.tag, (essay.essay_id, edit.line))

    def findings(self) -> Iterator[Finding]:
        tagset = self._tagset or guess_tagset(self._counts)
        for tag, (essay_id, line) in self._first.items():
            if tag not in tagset:
                yield Finding("unknown-tag", essay_id, line, self._message(tag, tagset))

    def _message(self, tag: str, tagset: TagSet) -> str:
        near = get_close_matches(tag, list(tagset.by_code), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        how = "" if self._tagset else ", the set that fits this corpus best"
        n_edits = self._counts[tag]
        return f"the tag {tag!r} of {n_edits:,} {_edits(n_edits)}, here first, is not in {tagset.name}{how}{hint}"


def _edits(n_edits: int) -> str:
    return "edit" if n_edits == 1 else "edits"
