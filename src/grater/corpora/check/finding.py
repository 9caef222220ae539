"""What the check says: one defect, the rule that found it, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass

from grater.model import Edit, Essay

MOST_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Finding:
    """A defect of a corpus; `line` is that of the edit or essay in its file, where the format has lines."""

    rule: str
    essay_id: str
    line: int | None
    message: str

    def __str__(self) -> str:
        return f"{self.message} [{self.rule}]"


def shown(words: str) -> str:
    """Words in quotes, with what cannot be seen spelt out, cut where they are long."""
    return repr(words if len(words) <= MOST_CHARACTERS else words[: MOST_CHARACTERS - 1] + "…")


def described(edit: Edit, essay: Essay) -> str:
    """The edit in a few words: `Mec 'teh' → 'the'`, or `Mec after 'So' → ','` where it covers no character."""
    corrections = " or ".join(map(shown, edit.replacements)) or "no correction"
    if len(edit.span):
        return f"{edit.tag} {shown(edit.span.of(essay.text))} → {corrections}"
    words = essay.text[: edit.span.start][-MOST_CHARACTERS:].split()
    where = f"after {shown(words[-1])}" if words else "at the start"
    return f"{edit.tag} {where} → {corrections}"
