"""The finished study of a corpus: its numbers, those of its parts, and the shape they take in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grater.corpora.statistics.summary import Summary
from grater.model import Json
from grater.signature import Signature


@dataclass(frozen=True, slots=True)
class Study:
    """The numbers of a corpus, and of its parts: by annotator, and by value of a metadata field where one was
    named."""

    name: str
    summary: Summary
    by_annotator: Mapping[str, Summary]
    field: str | None
    by_value: Mapping[str | None, Summary]

    def as_json(self) -> dict[str, Json]:
        parts: dict[str, Json] = {name: summary.as_json() for name, summary in self.by_annotator.items()}
        rows: list[Json] = [{"value": value, **summary.as_json()} for value, summary in self.by_value.items()]
        by: dict[str, Json] = {"by": {"field": self.field, "rows": rows}} if self.field else {}
        return {**self.summary.as_json(), "by_annotator": parts, **by}


@dataclass(frozen=True, slots=True)
class CorpusStatistics:
    """The study of all files together, of each, and how it was made; `same_text` names files of the same essays."""

    whole: Study
    files: tuple[Study, ...]
    same_text: tuple[tuple[str, ...], ...]
    signature: Signature

    def as_json(self) -> dict[str, Json]:
        files: list[Json] = [{"name": file.name, **file.as_json()} for file in self.files]
        same: list[Json] = [list(names) for names in self.same_text]
        return {**self.whole.as_json(), "files": files, "same_text": same, "signature": str(self.signature)}
